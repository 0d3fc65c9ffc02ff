"""What a manifest promises of its matrices and its plan, recomputed from what it says itself.

Each finding is what was promised, whether it holds, and what was found. What a manifest says of
sizes is compared with how many labels and rows there are before anything of that length is built.
"""

import math
from collections.abc import Iterator
from typing import Any

from bistochastic import __version__
from bistochastic.errors import ReleaseError
from bistochastic.manifest import Explanation, Guarantee, Manifest, Published, guarantee
from bistochastic.masking.numeric import uncertainty
from bistochastic.matrices.base import Bistochastic, Channel
from bistochastic.matrices.closed import rebuilt
from bistochastic.matrices.exact import Exact
from bistochastic.plan.plan import Plan
from bistochastic.plan.treatments import individuals

__all__ = ["RANKED", "Finding", "asked", "channels", "of_channel", "of_plan"]

Finding = tuple[str, bool, str]

PROVABLE = 2000  # rows whose every integer is summed one by one
CLOSE = 1e-9  # how far numbers of two machines may be apart, relative to them
SOLVED = 1e-6  # and where a solver found one of them
RANKED = ("permuted", "drawn", "averaged")
HOW: dict[str, Any] = {"permuted": "permute", "drawn": "draw"}
ASKED = {"name", "role", "kind", "treatment", "matrix", "labels", "missing", "by"}


def channels(manifest: Manifest, rows: int) -> Iterator[tuple[str, Any, Guarantee, int, Any]]:
    """The name, closed form, guarantee and size of every channel, and its column if it has one."""
    sizes = {column.name: _size(column, rows) for column in manifest.columns}
    for column in manifest.columns:
        if column.channel is not None and column.guarantee is not None:
            size = sizes[column.name]
            yield repr(column.name), column.channel, column.guarantee, size, column
    for group in manifest.together:
        size = math.prod(sizes.get(name, 0) for name in group.columns)
        yield " × ".join(map(repr, group.columns)), group.channel, group.guarantee, size, None


def _size(column: Published, rows: int) -> int:
    """How many categories or individuals the channel of a column has."""
    if column.treatment in ("randomised", "together"):
        return len(column.labels or ()) + (column.missing == "category")
    return min(column.individuals or 0, rows)


def of_channel(
    name: str, closed: Any, declared: Guarantee, size: int, column: Published | None
) -> Iterator[Finding]:
    """A matrix, rebuilt from its closed form, is the one declared and costs what is declared."""
    wanted = f"the matrix of {name} is over its categories or individuals"
    if _claimed(closed) > size:
        yield wanted, False, f"there are {size}, and its closed form tells of more"
        return
    matrix = rebuilt(closed)
    if matrix.size != size:
        yield wanted, False, f"there are {size}, and it is over {matrix.size}"
        return
    exact = matrix.exact(word_bits=declared.word_bits, allow_zeros=True)
    same = exact.digest() == declared.digest
    yield (
        f"the integers of {name} are those declared",
        same,
        "digest as in the manifest" if same else "its digest differs from the manifest's",
    )
    yield from _margins(name, matrix, exact)
    yield _costs(name, matrix, exact, declared, column)


def _claimed(told: Any) -> int:
    """The largest size or run that a closed form tells of, wherever it stands in it."""
    if isinstance(told, list):
        return max(map(_claimed, told), default=0)
    if not isinstance(told, dict):
        return 0
    size = told.get("n")
    runs = told.get("runs")
    length = sum(abs(times) for _, times in runs) if runs is not None else 0
    own = abs(size) if isinstance(size, int) else 0
    return max(own, length, *map(_claimed, told.values()), 0)


def _margins(name: str, matrix: Channel, exact: Exact) -> Iterator[Finding]:
    """Every row sums to its denominator, and every column of a bistochastic matrix too."""
    if exact.size > PROVABLE:
        return
    rows = [exact.integer_row(u) for u in range(exact.size)]
    sound = all(sum(row) == whole and min(row) >= 0 for row, whole in rows)
    what = "rows"
    if isinstance(matrix, Bistochastic) and len({whole for _, whole in rows}) == 1:
        sound &= all(
            sum(column) == rows[0][1] for column in zip(*(r for r, _ in rows), strict=True)
        )
        what = "rows and columns"
    yield (
        f"the {what} of {name} sum to one exactly",
        sound,
        f"{exact.size} × {exact.size} integers summed" if sound else "some do not",
    )


def _costs(
    name: str, matrix: Channel, exact: Exact, declared: Guarantee, column: Published | None
) -> Finding:
    """Every number of a guarantee is the one that the integers have."""
    again = guarantee(matrix, exact)
    wrong = _differing(again, declared, CLOSE)
    if column is not None and column.treatment in HOW and isinstance(matrix, Bistochastic):
        joint = float(uncertainty(matrix, HOW[column.treatment]).joint_bits)
        wrong += [] if _alike(joint, column.joint_bits, CLOSE) else ["joint_bits"]
    found = f"{declared.bits:.4g} bits, epsilon {declared.epsilon:.4g}"
    if wrong:
        found = f"recomputed: {again.bits:.6g} bits, epsilon {again.epsilon:.6g}; "
        found += f"wrong: {', '.join(wrong)}"
    return (f"bits and epsilon of {name} are those declared", not wrong, found)


def _differing(one: Any, two: Any, close: float) -> list[str]:
    """The fields in which two statements differ by more than machines do; not their digests."""
    fields = [name for name in type(one).model_fields if name != "digest"]
    loose = {"condition": max(close, SOLVED)}
    return [
        name
        for name in fields
        if not _alike(getattr(one, name), getattr(two, name), loose.get(name, close))
    ]


def _alike(one: Any, two: Any, close: float) -> bool:
    if isinstance(one, float) and isinstance(two, int | float):
        return math.isclose(one, two, rel_tol=close, abs_tol=close)
    return bool(one == two)


def of_plan(manifest: Manifest, rows: int) -> Iterator[Finding]:
    """What was asked for is what was done and what is declared."""
    plan = asked(manifest)
    said = plan.explain(rows=0)
    same = _stated_alike(manifest, plan, said)
    yield (
        "the columns are what the plan says they are",
        same,
        f"{len(said.columns)} columns" if same else "they differ from the plan",
    )
    if manifest.version == __version__:
        lost = set(said.warnings) - set(manifest.warnings)
        yield (
            "no warning is left out",
            not lost,
            f"{len(lost)} are" if lost else f"{len(said.warnings)} are told",
        )
    unlike = list(_unlike(manifest, plan, said, rows))
    yield (
        "what was asked for is what was done",
        not unlike,
        f"not for {', '.join(unlike)}" if unlike else "matrices as the plan asks",
    )
    wrong = _differing(said.totals, manifest.totals, SOLVED)
    yield (
        "the plan amounts to the totals declared",
        not wrong,
        f"wrong: {', '.join(wrong)}"
        if wrong
        else f"{said.totals.bits:.4g} of {said.totals.max_bits:.4g} bits",
    )


def _stated_alike(manifest: Manifest, plan: Plan, said: Explanation) -> bool:
    """Whether names, roles, labels and treatments are those of the plan."""
    same = manifest.release == plan.said.release
    same &= (manifest.addressed_by == "records") == (plan.said.records is not None)
    data = manifest.data
    if data is not None and data.format.startswith("csv"):
        read_as = (plan.said.file.delimiter, next(iter(plan.said.file.missing), ""))
        same &= (data.delimiter, data.gap) == read_as
    same &= [_stated(column) for column in manifest.columns] == [
        _stated(column) for column in said.columns
    ]
    same &= [(g.columns, g.matrix) for g in manifest.together] == [
        (g.columns, g.matrix) for g in said.together
    ]
    same &= all(
        (column.channel is None) == (column.guarantee is None) for column in manifest.columns
    )
    return bool(same)


def asked(manifest: Manifest) -> Plan:
    """The plan in the manifest, unless it is longer than what was published, or reads a file."""
    sizes = {column.name: len(column.labels or ()) for column in manifest.columns}
    if any("joint_file" in group for group in manifest.plan.get("together", ())):
        raise ReleaseError("It names a file beside it, which a published plan never does.")
    for name, column in manifest.plan["columns"].items():
        domain = column.get("domain")
        if "domain_file" in column or "joint_file" in column:
            raise ReleaseError("It names a file beside it, which a published plan never does.")
        if isinstance(domain, dict) and domain["last"] - domain["first"] >= sizes[name]:
            raise ReleaseError(f"Column {name!r} has more labels in it than in the manifest.")
    return Plan(**manifest.plan)


def _stated(column: Published) -> dict[str, Any]:
    """What is said of a column without regard to how many rows there are."""
    said: dict[str, Any] = column.model_dump(mode="json", include=ASKED)
    return said


def _unlike(manifest: Manifest, plan: Plan, said: Explanation, rows: int) -> Iterator[str]:
    """The columns and groups whose guarantees are not those that the plan asks for."""
    for one, two in zip(manifest.columns, said.columns, strict=True):
        wanted = two.guarantee
        if one.treatment in RANKED and one.individuals and one.individuals <= rows:
            matrix = individuals(plan.columns[one.name], one.individuals)
            wanted = guarantee(matrix, matrix.exact(allow_zeros=True))
        if wanted is not None and (
            one.guarantee is None or _differing(wanted, one.guarantee, SOLVED)
        ):
            yield repr(one.name)
    for group, asked_ in zip(manifest.together, said.together, strict=True):
        if _differing(asked_.guarantee, group.guarantee, SOLVED):
            yield " × ".join(map(repr, group.columns))
