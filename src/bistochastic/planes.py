"""The plane of a table: its trade-off, and where a plan and the usual methods lie on it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.attributes import (
    Attribute,
    Measure,
    attribute,
    declared,
    numeric,
    together,
)
from bistochastic.errors import MatrixError, PlanError, TableError, TargetError
from bistochastic.keystream import Key
from bistochastic.matrices.calibration import calibrate
from bistochastic.plan.plan import Plan
from bistochastic.plan.treatments import domain_of
from bistochastic.run import protect
from bistochastic.tables.connections import is_database
from bistochastic.tables.local import as_numbers
from bistochastic.tables.opening import from_place
from bistochastic.tables.sources import Source, from_file, from_frame
from bistochastic.tradeoff.distortions import weighted
from bistochastic.tradeoff.function import Tradeoff, tradeoff
from bistochastic.tradeoff.information import estimated_information
from bistochastic.tradeoff.placed import Placed
from bistochastic.tradeoff.problem import Floats

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
        rows: How many rows count.
        left_out: How many do not, because a number is missing.
        plan: Where the plan lies, if there is one.
    """

    tradeoff: Tradeoff
    keys: tuple[Attribute, ...]
    secrets: tuple[Attribute, ...]
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
    key: Key | None = None,
) -> Plane:
    """The plane of a table, with a plan on it if there is one.

    What is computed here describes the confidential file and is as confidential as it is.

    Args:
        data: The path of a file, or a dataframe.
        keys: The columns that others may know; several are taken together.
        confidential: The columns that nobody may learn.
        plan: What would be done. Domains and kinds are then those it declares.
        measure: "hamming", 1 for each wrong value; or "squared", of steps between labels and of
            numbers in units of their variance. Unless given, squared for numbers and ordinal
            labels, hamming for others. Columns are added up.
        units: What risks are told in.
        bins: Into how many cells numbers with more different values are put.
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
    columns = source.frame.select(names[0] + names[1]).collect(engine="streaming")
    parts = [
        [_coded(columns[name], source, plan, bins, measure) for name in some] for some in names
    ]
    combinations = math.prod(one.size for one in parts[0])
    if combinations > LARGEST:
        raise TableError(
            f"The key columns have {combinations} combinations; a trade-off takes up to {LARGEST}. "
            f"Take fewer columns or cells."
        )
    told, here = together(parts[0])
    secret, there = together(parts[1])
    kept = here & there
    if not kept.any():
        raise TableError("No row has all of these columns.")
    joint = _counted(secret[kept], told[kept], combinations)
    function = tradeoff(joint, weighted([one.costs for one in parts[0]]), units=units)
    made = Plane(function, tuple(parts[0]), tuple(parts[1]), int(kept.sum()), int((~kept).sum()))
    if plan is None:
        return made
    return replace(made, plan=_placed(made, plan, data, columns, source, key))


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
    if len(set(both)) < len(both):
        raise TableError("A column is named twice. For W = X give a copy of it another name.")


def _coded(
    series: pl.Series, source: Source, plan: Plan | None, bins: int, measure: Measure | None
) -> Attribute:
    said = None if plan is None else plan.columns.get(series.name)
    if said is not None and said.categorical and said.labels:
        ordinal = said.kind == "ordinal"
        return declared(series, source, domain_of(said), ordinal=ordinal, measure=measure)
    if said is not None and said.kind == "numeric":
        values, there = as_numbers(series, source)
        return numeric(series.name, values.astype(np.float64), there, bins, measure)
    return attribute(series, source, bins, measure)


def _counted(secret: NDArray[np.int64], told: NDArray[np.int64], size: int) -> Floats:
    """Counts of pairs, a row for each confidential value that occurs."""
    _, rows = np.unique(secret, return_inverse=True)
    counts = np.bincount(rows * size + told, minlength=(int(rows.max()) + 1) * size)
    return counts.reshape(-1, size).astype(np.float64)


def _placed(
    made: Plane, plan: Plan, data: Any, columns: pl.DataFrame, source: Source, key: Key | None
) -> Placed:
    """Where a plan lies: exactly if it has a channel, else by masking once."""
    name = plan.said.release
    for one in made.keys:
        if one.name not in plan.columns:
            raise PlanError(f"The plan says nothing of the key column {one.name!r}.")
        if plan.columns[one.name].role == "identifier":
            raise PlanError(f"The plan leaves out the key column {one.name!r}: nothing to place.")
    ranked = [
        one
        for one in made.keys
        if plan.columns[one.name].kind == "numeric" and plan.columns[one.name].matrix
    ]
    if not ranked:
        return made.tradeoff.place(_channel(made.keys, plan), name)
    masked = protect(data, plan, key).data
    return _sampled(made, from_frame(masked), plan, columns, source, name)


def _channel(keys: tuple[Attribute, ...], plan: Plan) -> Floats:
    """The joint channel of the key columns, in their order."""
    names = [one.name for one in keys]
    sizes = {one.name: one.size for one in keys}
    order: list[str] = []
    whole: NDArray[Any] = np.ones((1, 1))
    for part in plan.treated.values():
        shared = [name for name in part.columns if name in sizes]
        if shared and len(shared) < len(part.columns):
            raise PlanError(
                f"The plan treats {' × '.join(map(repr, part.columns))} as one; name all of them "
                f"as key columns."
            )
        if shared:
            whole = np.kron(whole, part.matrix.to_dense())
            order += shared
    for name in names:
        if name not in order:
            whole = np.kron(whole, np.eye(sizes[name]))
            order.append(name)
    shape = [sizes[name] for name in order]
    places = [order.index(name) for name in names]
    turned = whole.reshape(*shape, *shape).transpose(*places, *(len(shape) + p for p in places))
    return turned.reshape(whole.shape)


def _sampled(
    made: Plane, masked: Source, plan: Plan, columns: pl.DataFrame, source: Source, name: str
) -> Placed:
    """A plan by what it made of the rows, with the error of one file."""
    after = masked.frame.select([one.name for one in made.keys]).collect()
    distortion, codes = np.zeros(columns.height), []
    for one in made.keys:
        if one.edges is not None:
            before, _ = as_numbers(columns[one.name], source)
            now, _ = as_numbers(after[one.name], masked)
            distortion += (now - before.astype(np.float64)) ** 2 / one.unit
            codes.append(replace(one, codes=one.again(now)))
        else:
            again = _coded(after[one.name], masked, plan, 2, None)
            distortion += one.costs[one.codes, again.codes]
            codes.append(again)
    _, here = together(made.keys)
    reported, still = together(codes)
    secret, there = together(made.secrets)
    kept = here & there & still
    return estimated(made.tradeoff, name, distortion[kept], secret[kept], reported[kept])


def estimated(
    function: Tradeoff,
    name: str,
    distortion: NDArray[np.floating[Any]],
    secret: NDArray[np.int64],
    reported: NDArray[np.int64],
) -> Placed:
    """A method by what it did to each record: the risk is estimated, and has an error."""
    units = function.units
    codes = np.unique(reported, return_inverse=True)[1]
    counts = _counted(secret, codes, int(codes.max()) + 1)
    told = estimated_information(counts, units=units)
    at = float(distortion.mean())
    least = function.least_at(at)
    return Placed(name, at, told.value, told.error, least, units, told.thin)
