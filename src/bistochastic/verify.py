"""Whether what was promised of a release is what is there: everything that can be recomputed."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import final

from bistochastic.errors import BistochasticError
from bistochastic.keystream import Key
from bistochastic.manifest import Guarantee, Manifest, guarantee
from bistochastic.matrices.base import Bistochastic, Channel
from bistochastic.matrices.closed import rebuilt
from bistochastic.matrices.exact import Exact
from bistochastic.plan.explain import totals
from bistochastic.plan.plan import Plan
from bistochastic.release import MANIFEST, fingerprint
from bistochastic.run import protect
from bistochastic.tables.base import Domain, Recode
from bistochastic.tables.local import Local
from bistochastic.tables.sources import from_file

__all__ = ["Check", "as_json", "verify"]

PROVABLE = 2000  # rows whose every integer is summed one by one


@final
@dataclass(frozen=True, slots=True)
class Check:
    """One promise: what was looked at, whether it holds, and what was found."""

    promise: str
    holds: bool
    found: str


def verify(
    folder: str | Path, *, key: Key | None = None, original: str | Path | None = None
) -> list[Check]:
    """Every promise of a release that can be checked, with the key and the original to the byte.

    Args:
        folder: The folder of the release.
        key: The secret it was made with.
        original: The file it was made of.
    """
    where = Path(folder)
    manifest = Manifest.read(where)
    checks = [*_folder(where, manifest), *_matrices(manifest), *_rows(where, manifest)]
    checks += _plan(manifest)
    if key is not None and original is not None:
        checks += _again(where, manifest, key, Path(original))
    return checks


def as_json(checks: list[Check]) -> str:
    """Checks for machines."""
    return json.dumps([asdict(check) for check in checks], ensure_ascii=False, indent=1)


def _folder(where: Path, manifest: Manifest) -> Iterator[Check]:
    """The files are those that were published, and no others."""
    data = manifest.data
    if data is None:
        yield Check("the data are there", False, "the manifest names no data")
        return
    path = where / Path(data.name).name
    if not path.is_file():
        yield Check("the data are there", False, f"{data.name} is missing")
        return
    same = fingerprint(path) == data.sha256
    yield Check(
        "the data are those that were published",
        same,
        "SHA-256 as in the manifest" if same else "SHA-256 differs: the file was changed",
    )
    known = {data.name, MANIFEST, "report.html"}
    others = sorted(entry.name for entry in where.iterdir() if entry.name not in known)
    yield Check(
        "nothing else is in the folder",
        not others,
        f"{len(others)} other files" if others else "data, manifest and report only",
    )


def _matrices(manifest: Manifest) -> Iterator[Check]:
    """Each matrix, rebuilt from its closed form, is the one declared and costs what is declared."""
    told = [(repr(c.name), c.channel, c.guarantee) for c in manifest.columns]
    told += [(" × ".join(map(repr, g.columns)), g.channel, g.guarantee) for g in manifest.together]
    for name, closed, declared in told:
        if closed is None or declared is None:
            continue
        try:
            matrix = rebuilt(closed)
            exact = matrix.exact(word_bits=declared.word_bits, allow_zeros=True)
        except BistochasticError as error:
            yield Check(f"the matrix of {name} can be rebuilt", False, str(error))
            continue
        yield _digest(name, exact, declared)
        yield from _margins(name, matrix, exact)
        yield _costs(name, matrix, exact, declared)


def _digest(name: str, exact: Exact, declared: Guarantee) -> Check:
    same = exact.digest() == declared.digest
    found = "digest as in the manifest" if same else "its digest differs from the manifest's"
    return Check(f"the integers of {name} are those declared", same, found)


def _margins(name: str, matrix: Channel, exact: Exact) -> Iterator[Check]:
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
    yield Check(
        f"the {what} of {name} sum to one exactly",
        sound,
        f"{exact.size} × {exact.size} integers summed" if sound else "some do not",
    )


def _costs(name: str, matrix: Channel, exact: Exact, declared: Guarantee) -> Check:
    again = guarantee(matrix, exact)
    kept = again.epsilon <= declared.epsilon and again.bits >= declared.bits
    found = f"{declared.bits:.4g} bits, epsilon {declared.epsilon:.4g}"
    return Check(
        f"bits and epsilon of {name} are those declared",
        kept,
        found if kept else f"recomputed: {again.bits:.6g} bits, epsilon {again.epsilon:.6g}",
    )


def _rows(where: Path, manifest: Manifest) -> Iterator[Check]:
    """The table has the rows, the columns and no other labels than the manifest says."""
    data = manifest.data
    if data is None or not (where / Path(data.name).name).is_file():
        return
    gaps = (data.gap or "", "") if data.gap is not None else ("",)
    try:
        source = from_file(
            where / Path(data.name).name, delimiter=data.delimiter or ",", missing=gaps
        )
        wanted = tuple(c.name for c in manifest.columns if c.treatment != "dropped")
        same = set(source.names) == set(wanted)
        yield Check(
            "the columns are those of the manifest",
            same,
            f"{len(wanted)} columns" if same else "names differ",
        )
        looked = Local(source, tuple(_lookers(manifest, source.names)))
        rows = looked.counted()
        yield Check("the rows are as many as declared", rows == manifest.rows, f"{rows} rows")
        faults = looked.surveyed()
        yield Check(
            "every reported value is in its declared domain",
            not faults,
            "; ".join(fault.sentence for fault in faults) or "all of them",
        )
    except BistochasticError as error:
        yield Check("the data can be read", False, str(error))


def _lookers(manifest: Manifest, names: tuple[str, ...]) -> Iterator[Recode]:
    """Steps that only look whether values are in their domain."""
    for column in manifest.columns:
        if (
            column.labels
            and column.treatment in ("randomised", "together")
            and (column.name in names)
        ):
            domain = Domain(column.labels, column.missing or "refuse")
            yield Recode((column.name,), (domain,), lambda codes, start, ids: codes)


def _plan(manifest: Manifest) -> Iterator[Check]:
    """What was asked for gives what was done."""
    try:
        again = totals(Plan(**manifest.plan))
    except (BistochasticError, TypeError) as error:
        yield Check("the plan in the manifest can be read", False, str(error))
        return
    told = manifest.totals
    kept = again.epsilon <= told.epsilon and again.bits >= told.bits - 1e-9
    yield Check(
        "the plan amounts to the totals declared",
        kept,
        f"{told.bits:.4g} of {told.max_bits:.4g} bits" if kept else "recomputed totals differ",
    )


def _again(where: Path, manifest: Manifest, key: Key, original: Path) -> Iterator[Check]:
    """The very bytes, made once more."""
    promise = "key and original give the very bytes"
    data = manifest.data
    if data is None:
        yield Check(promise, False, "the manifest names no data")
        return
    try:
        with TemporaryDirectory() as space:
            made = protect(original, Plan(**manifest.plan), key)
            made.write(Path(space) / "again")
            found = Manifest.read(Path(space) / "again")
    except BistochasticError as error:
        yield Check(promise, False, str(error))
        return
    same = found.data is not None and found.data.sha256 == data.sha256
    yield Check(promise, same, "identical" if same else "another file comes out")
    told = found.model_copy(update={"version": manifest.version}) == manifest
    yield Check(
        "and the very manifest", told, "identical" if told else "another manifest comes out"
    )
