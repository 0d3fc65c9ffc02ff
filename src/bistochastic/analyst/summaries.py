"""Within cells: means, totals, quantiles and shares in groups that only reports tell of.

From a release and nothing else. What the manifest says became of a column decides how it is read:
a number that was published as it is, one that was permuted or drawn, or a category.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.analyst.analysis import MOVED, Asked, Numbers, beside, codes_of, folded, told
from bistochastic.analyst.reported import Reported
from bistochastic.analyst.sides import Side
from bistochastic.errors import BistochasticError, MatrixError, TableError
from bistochastic.estimate.correction import Correction
from bistochastic.estimate.moved import Restored, bounds, restored
from bistochastic.estimate.quantiles import of_cells, of_column
from bistochastic.estimate.shares import Variance
from bistochastic.estimate.within import Sums, means, shares, totals
from bistochastic.manifest import Manifest
from bistochastic.tables.kinds import in_kind_of

__all__ = ["STATISTICS", "Statistic", "within"]

Array = NDArray[np.float64]
Statistic = Literal["mean", "total", "quantile", "share", "bounds"]

STATISTICS = ("mean", "total", "quantile", "share", "bounds")
NOBODYS = {
    "permuted": "whose numbers these are is not known well enough for a quantile within cells. "
    "Ask for that of everybody, without `by`.",
    "drawn": "nobody can tell whose numbers these are. Ask for the quantile of everybody, without "
    "`by`.",
    "averaged": "its numbers are means of several people, of whom only these means are left. Its "
    "mean over everybody can be read off the release as it is.",
}
FELL = "its distribution function is estimated as falling there, further than its error allows"


def within(
    data: Any,
    manifest: Manifest | str | Path | None = None,
    column: str = "",
    *,
    by: str | Sequence[str] = (),
    statistic: Statistic = "mean",
    share: float = 0.5,
    weight: str | None = None,
    variance: Variance = "sample",
    level: float = 0.95,
) -> Any:
    """What a column amounts to within the true cells of others, from a release alone.

    Records whose number is missing are left out. The answer is a dataframe of the kind that came
    in, a row for each cell, with its `estimate`, `se`, and the interval from `low` to `high`.

    Args:
        data: A release, its folder, or a table with its manifest.
        manifest: The manifest of the release; may be None where the data bring theirs.
        column: The column: numeric or, for shares, a category.
        by: The columns that make the cells, protected or not; none for everybody.
        statistic: "mean", "total" or "quantile" of a number; "share" of each category; "bounds",
            between which the mean of a number must lie that changed places within blocks or a few
            ranks.
        share: Which quantile, 0.5 for the median.
        weight: A column of weights that was published as it is.
        variance: Of a "sample" of respondents, or only what masking added to the "file".
        level: How often the interval holds.
    """
    if statistic not in STATISTICS:
        raise TableError(
            f"No statistic is called {statistic!r}; there are {', '.join(map(repr, STATISTICS))}."
        )
    if variance not in ("sample", "file"):
        raise TableError(
            f'The variance is that of the "sample" or of the "file"; got {variance!r}.'
        )
    if not column:
        raise TableError("Name the column whose mean, total, quantile or shares are wanted.")
    reported = Reported.of(data, manifest)
    cells = [by] if isinstance(by, str) else list(by)
    if column in cells:
        raise TableError(f"Column {column!r} cannot be told within cells of its own.")
    asked = Asked(reported, column, cells, weight, variance, level)
    if statistic == "share":
        frame = _shares(asked)
    elif statistic == "quantile":
        frame = _quantiles(asked, share)
    elif statistic == "bounds":
        frame = _bounds(asked)
    else:
        frame = _moments(asked, statistic)
    return in_kind_of(reported.given, frame)


def _moments(asked: Asked, statistic: str) -> pl.DataFrame:
    sides = asked.sides()
    correction = Correction(tuple(side.axis for side in sides))
    there = asked.numbers(sides)
    stands = _restored(asked, there)
    # Numbers far from zero lose no digits if they are told from their mean.
    centre = float(there.values.mean()) if statistic == "mean" else 0.0
    values = (there.values if stands is None else stands.values) - centre
    squares = None
    if stands is not None:
        squares = stands.squares - 2 * centre * stands.values + centre**2
    sums = Sums.of(
        there.reports, values, correction.reports, weights=there.weights, squares=squares
    )
    moved = np.zeros(correction.size)
    if stands is not None:
        moved = np.array(list(_moved(stands, correction, there)))
    made = means if statistic == "mean" else totals
    found = made(sums, correction, moved=moved, **asked.statement)
    return told(sides, found, shift=centre)


def _restored(asked: Asked, there: Numbers) -> Restored | None:
    """What stands for numbers that changed places; none for those that did not."""
    said = asked.said
    whole = not asked.by and there.weights is None  # of which permuting loses nothing
    if said.treatment == "untouched" or (said.treatment == "permuted" and whole):
        return None
    if said.treatment != "permuted":
        raise TableError(f"Column {asked.column!r} was {said.treatment}: {NOBODYS[said.treatment]}")
    matrix = asked.matrix(there.values.size)
    _refuse_hidden_order(asked, there)
    with _named(asked.column):
        return restored(there.values, matrix, there.ranks)


def _refuse_hidden_order(asked: Asked, there: Numbers) -> None:
    order = asked.said.by
    from bistochastic.matrices.mixture import Mixture  # which asks for no order

    if order in (None, "value") or there.ranks is not None:
        return
    if isinstance(asked.reported.manifest.channel(asked.column), Mixture):
        return
    raise TableError(
        f"Column {asked.column!r} was permuted in the order of {order!r}, which was not published "
        f"as it is: who was next to whom is not known, so nothing can be undone."
    )


def _moved(stands: Restored, correction: Correction, there: Numbers) -> Iterator[float]:
    """What the permutation adds to the variance of the total of each cell."""
    weights = 1.0 if there.weights is None else there.weights
    for line in correction.dense():
        yield stands.spread(line[there.reports] * weights)


def _bounds(asked: Asked) -> pl.DataFrame:
    """Between the means of what each value can have been least and most."""
    sides = asked.sides()
    correction = Correction(tuple(side.axis for side in sides))
    there = asked.numbers(sides)
    if asked.said.treatment != "permuted":
        raise TableError(
            f"Column {asked.column!r} was {asked.said.treatment}; bounds are for columns that were "
            f'permuted. Ask for its "mean".'
        )
    matrix = asked.matrix(there.values.size)
    _refuse_hidden_order(asked, there)
    with _named(asked.column):
        ends = bounds(there.values, matrix, there.ranks)
    lowest, highest = (
        means(
            Sums.of(there.reports, values, correction.reports, weights=there.weights),
            correction,
            **asked.statement,
        )
        for values in ends
    )
    columns = {
        "least": lowest.estimate, "most": highest.estimate,
        "low": lowest.low, "high": highest.high,
    }  # fmt: skip
    return beside(sides, columns)


def _quantiles(asked: Asked, share: float) -> pl.DataFrame:
    sides = asked.sides()
    correction = Correction(tuple(side.axis for side in sides))
    there = asked.numbers(sides)
    treatment = asked.said.treatment
    if treatment == "averaged" or (treatment in MOVED and sides):
        raise TableError(f"Column {asked.column!r} was {treatment}: {NOBODYS[treatment]}")
    if there.weights is None and not sides:
        drawn = asked.matrix(there.values.size) if treatment == "drawn" else None
        ordered = asked.said.by in (None, "value")
        found = of_column(there.values, share, drawn=drawn, ordered=ordered, **asked.statement)
        return told(sides, found)
    if treatment == "drawn":
        raise TableError(
            f"Column {asked.column!r} was drawn, and a drawn value has no weight of its own. Ask "
            f"for the quantile without weights."
        )
    found, fell = of_cells(
        there.reports, there.values, share, correction, weights=there.weights, **asked.statement
    )
    return told(sides, found, notes=[FELL if one else "" for one in fell])


def _shares(asked: Asked) -> pl.DataFrame:
    names = [*asked.by, asked.column]
    sides = asked.reported.sides(names)
    for side in sides:
        if side.axis.lost and len(side.asked) > 1:
            raise TableError(
                f"Reports do not tell apart the cells of {', '.join(map(repr, side.asked))}, which "
                f"were protected together, so no share within them is estimated."
            )
    correction = Correction(tuple(side.axis for side in sides))
    read = asked.read(sides, [])
    weights = None if asked.weight is None else read.numbers[asked.weight]
    reports = folded(read, sides)
    sums = Sums.of(reports, np.zeros(read.rows), correction.reports, weights=weights)
    found = shares(sums, correction, _groups(sides, asked.by), **asked.statement)
    return told(sides, found).select(*names, pl.exclude(names))


def _groups(sides: Sequence[Side], by: Sequence[str]) -> NDArray[np.int64]:
    """The cell of some columns that each cell of all of them lies in."""
    codes = codes_of(sides)
    sizes = {name: len(side.values(name)) for side in sides for name in side.asked}
    group = np.zeros(len(next(iter(codes.values()))), np.int64)
    for name in by:
        group = group * sizes[name] + codes[name]
    return np.unique(group, return_inverse=True)[1].ravel()


class _named:  # noqa: N801  # a context, read as a word
    """A refusal of a column's matrix, with the name of the column before it."""

    def __init__(self, column: str) -> None:
        self.column = column

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, BistochasticError):
            raise MatrixError(f"Column {self.column!r}: {error}") from None
