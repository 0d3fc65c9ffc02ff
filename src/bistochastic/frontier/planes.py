"""The plane of a table: its trade-off, and where a plan and the usual methods lie on it."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike

from bistochastic.errors import MatrixError, TableError, TargetError
from bistochastic.frontier.attributes import Attribute, Measure, coded, together
from bistochastic.frontier.placing import counted, placed
from bistochastic.keystream import Key
from bistochastic.matrices.calibration import calibrate
from bistochastic.plan.plan import Plan
from bistochastic.tables.connections import is_database
from bistochastic.tables.opening import from_place
from bistochastic.tables.sources import Source, from_file, from_frame
from bistochastic.tradeoff.distortions import weighted
from bistochastic.tradeoff.function import Tradeoff, tradeoff
from bistochastic.tradeoff.placed import Placed

__all__ = ["Plane", "plane"]

LARGEST = 250  # combinations of key values that a trade-off is computed for
FAMILIES = ("mixture", "tridiagonal", "window", "diffusion", "optimal")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """Distortion and risk of a table, with everything that can be placed on it.

    Attributes:
        tradeoff: The privacy–distortion function of the table.
        keys: The columns that others may know, as codes.
        secrets: The confidential ones.
        weights: What the distortion of each key column counts for.
        rows: How many rows count.
        left_out: How many do not, because a number is missing.
        plan: Where the plan lies, if there is one.
    """

    tradeoff: Tradeoff
    keys: tuple[Attribute, ...]
    secrets: tuple[Attribute, ...]
    weights: tuple[float, ...]
    rows: int
    left_out: int
    plan: Placed | None = None

    def families(self, betas: Sequence[float] = (0.25, 0.5, 0.75)) -> tuple[Placed, ...]:
        """The usual matrices at some budgets, and the least distortion for their bits.

        A family that does not reach a budget is left out. For "optimal" the distances are those of
        this table, weighted by how often each value occurs.
        """
        found: list[Placed] = []
        problem = self.tradeoff.problem
        n = len(problem.costs)
        weights = np.zeros(n)
        weights[problem.alive] = problem.prior * n
        for beta in betas:
            for family in FAMILIES:
                distances = {"distances": weights[:, None] * problem.costs}
                extra: Any = distances if family == "optimal" else {}
                try:
                    matrix = calibrate(family, n, beta=beta, **extra)
                except (TargetError, MatrixError):
                    continue
                found.append(self.tradeoff.place(matrix, f"{family}, beta {beta:g}"))
        return tuple(found)

    @property
    def sentence(self) -> str:
        """How far from optimal the plan is."""
        return "" if self.plan is None else self.plan.sentence


def plane(
    data: Any,
    keys: str | Sequence[str],
    confidential: str | Sequence[str],
    *,
    plan: Plan | None = None,
    measure: Measure | None = None,
    units: Literal["nats", "bits"] = "bits",
    bins: int = 25,
    distances: Mapping[str, ArrayLike | Mapping[Hashable, Hashable]] | None = None,
    weights: Mapping[str, float] | None = None,
    key: Key | None = None,
) -> Plane:
    """The plane of a table, with a plan on it if there is one.

    What is computed here describes the confidential file and is as confidential as it is.

    Args:
        data: The path of a file, or a dataframe.
        keys: The columns that others may know; several are taken together.
        confidential: The columns that nobody may learn; they may be key columns too.
        plan: What would be done. Domains and kinds are then those it declares.
        measure: "hamming", 1 for each wrong value; or "squared", of steps between labels and of
            numbers in units of their variance. Unless given, squared for numbers and ordinal
            labels, and hamming, or steps up the taxonomy of a plan, for others.
        units: What risks are told in.
        bins: Into how many cells numbers with more different values are put.
        distances: For some key columns, what it costs to report a label as another: a matrix in the
            order of the labels, or a taxonomy child → parent.
        weights: What the distortion of a key column counts for, 1 unless given; they are added up.
        key: The secret for placing a plan that masks numbers; a fresh one unless given.

    >>> import polars as pl
    >>> people = pl.DataFrame({"area": ["n", "n", "s", "s"] * 50, "ill": [1, 0, 0, 0] * 50})
    >>> seen = plane(people, "area", "ill")
    >>> seen.tradeoff.point(distortion=0.5).risk
    0.0
    """
    source = _opened(data, plan)
    names = [_listed(keys), _listed(confidential)]
    _refuse_unknown(source, names)
    if bins < 2:
        raise TableError(f"Numbers need at least 2 cells; got {bins}.")
    wanted = list(dict.fromkeys(names[0] + names[1]))
    columns = source.frame.select(wanted).collect(engine="streaming")
    if not columns.height:
        raise TableError(f"{source.where} has no rows, so there is nothing to trade.")
    known, secret = (
        [coded(columns[name], source, plan, bins, measure) for name in some] for some in names
    )
    known = _measured(known, plan, distances or {}, measure)
    joint, left_out = _joint(known, secret)
    counts_for = _weights(names[0], weights or {})
    function = tradeoff(joint, weighted([one.costs for one in known], counts_for), units=units)
    rows = columns.height - left_out
    made = Plane(function, tuple(known), tuple(secret), tuple(counts_for), rows, left_out)
    if plan is None:
        return made
    return replace(made, plan=placed(made, plan, data, columns, source, key))


def _joint(known: Sequence[Attribute], secret: Sequence[Attribute]) -> tuple[ArrayLike, int]:
    """How often each secret meets each combination of key values, and how many rows lack one."""
    combinations = math.prod(one.size for one in known)
    if combinations > LARGEST:
        raise TableError(
            f"The key columns have {combinations} combinations; a trade-off takes up to {LARGEST}. "
            f"Take fewer columns or cells."
        )
    told, here = together(known)
    hidden, there = together(secret)
    kept = here & there
    if not kept.any():
        raise TableError("No row has all of these columns.")
    return counted(hidden[kept], told[kept], combinations), int((~kept).sum())


def _opened(data: Any, plan: Plan | None) -> Source:
    if not isinstance(data, str | Path):
        return from_frame(data)
    if is_database(data):
        return from_place(data, ordered=False)
    if plan is not None:
        file = plan.said.file
        return from_file(Path(data), delimiter=file.delimiter, missing=file.missing)
    from bistochastic.inspection import guessed_delimiter
    from bistochastic.tables.sources import format_of

    where = Path(data)
    text = where.is_file() and format_of(where).startswith("csv")
    return from_file(where, delimiter=guessed_delimiter(where) if text else ",")


def _listed(names: str | Sequence[str]) -> list[str]:
    listed = [names] if isinstance(names, str) else list(names)
    if not listed:
        raise TableError("A trade-off needs at least one key and one confidential column.")
    return listed


def _refuse_unknown(source: Source, names: list[list[str]]) -> None:
    both = names[0] + names[1]
    unknown = [name for name in both if name not in source.names]
    if unknown:
        raise TableError(
            f"{source.where} has no column {', '.join(map(repr, unknown))}. It has "
            f"{', '.join(map(repr, source.names))}."
        )
    if any(len(set(some)) < len(some) for some in names):
        raise TableError("A column is named twice, among the key or the confidential ones.")


def _measured(
    keys: list[Attribute],
    plan: Plan | None,
    distances: Mapping[str, ArrayLike | Mapping[Hashable, Hashable]],
    measure: Measure | None,
) -> list[Attribute]:
    """The key columns with the distances that are given, or told by the taxonomy of a plan."""
    told: dict[str, Any] = dict(distances)
    others = set(told) - {one.name for one in keys}
    if others:
        raise TableError(
            f"There are distances for {', '.join(map(repr, sorted(others)))}, no key column."
        )
    for one in keys:
        said = None if plan is None else plan.columns.get(one.name)
        if measure is None and said is not None and said.parents is not None:
            told.setdefault(one.name, said.parents)
    return [one.measured(told[one.name]) if one.name in told else one for one in keys]


def _weights(keys: list[str], weights: Mapping[str, float]) -> list[float]:
    strangers = set(weights) - set(keys)
    if strangers or any(not 0 <= share < math.inf for share in weights.values()):
        raise TableError("Weights are for key columns, finite and not negative.")
    return [float(weights.get(name, 1.0)) for name in keys]
