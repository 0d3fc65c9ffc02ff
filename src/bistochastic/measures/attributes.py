"""Attributes of two files as points, so that distances between their records mean something.

Numbers and ordered codes are coordinates. A nominal attribute adds 1 where it differs, as much as
the whole range of ranks does. A missing number stands in the middle of its attribute, half a range
away from all that is there; a missing category is one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MeasureError

__all__ = ["METRICS", "Attribute", "Metric", "Points", "Scale", "grouped", "midranks", "points"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Metric = Literal["euclidean", "manhattan", "chebyshev"]
Scale = Literal["ranks", "values"]

METRICS: dict[str, float] = {"manhattan": 1.0, "euclidean": 2.0, "chebyshev": np.inf}
AWAY = 0.5  # of what is missing from what is there


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attribute:
    """One attribute in both files: numbers with NaN for missing, or codes with -1 for missing.

    Codes of a nominal attribute are of one code list; those of an ordinal one are numbers.
    """

    original: NDArray[Any]
    masked: NDArray[Any]
    nominal: bool = False

    @classmethod
    def of(cls, original: ArrayLike, masked: ArrayLike, *, nominal: bool = False) -> "Attribute":
        """An attribute, checked."""
        pair = [_column(values, nominal=nominal) for values in (original, masked)]
        return cls(pair[0], pair[1], nominal)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Points:
    """The records of both files: coordinates of what has an order, codes of what has none."""

    original: Floats
    masked: Floats
    before: Integers  # one row for each record, one column for each nominal attribute
    after: Integers

    @property
    def nominal(self) -> int:
        """How many attributes have no order."""
        return int(self.before.shape[1])

    def between(self, rows: Integers, others: Integers, power: float) -> Floats:
        """The distances of pairs of records, one of each file."""
        apart = np.abs(self.original[rows] - self.masked[others])
        unlike = np.count_nonzero(self.before[rows] != self.after[others], axis=1)
        return joined(summed(apart, power), unlike, power)


def summed(apart: Floats, power: float) -> Floats:
    """The distance that differences of coordinates amount to."""
    if power == 1:
        return np.asarray(apart.sum(axis=1), dtype=np.float64)
    if power == 2:
        return np.sqrt(np.einsum("ij,ij->i", apart, apart))
    return np.asarray(apart.max(axis=1, initial=0.0), dtype=np.float64)


def joined(far: Floats, unlike: Any, power: float) -> Floats:
    """The distance with so many nominal attributes that differ."""
    if power == 1:
        return np.asarray(far + unlike, dtype=np.float64)
    if power == 2:
        return np.sqrt(far * far + unlike)
    return np.maximum(far, np.minimum(unlike, 1))


def points(attributes: Sequence[Attribute], scale: Scale) -> Points:
    """Both files as points."""
    placed = [_placed(one, scale) for one in attributes if not one.nominal]
    crossed = [(one.original, one.masked) for one in attributes if one.nominal]
    sizes = attributes[0].original.size, attributes[0].masked.size
    sides = []
    for side in (0, 1):
        there = [np.empty((sizes[side], 0)), *(pair[side] for pair in placed)]
        sides.append(np.ascontiguousarray(np.hstack(there) + 0.0))  # a zero has one sign
    codes = []
    for side in (0, 1):
        columns = [pair[side].astype(np.int64) for pair in crossed]
        held = np.column_stack(columns) if columns else np.empty((sizes[side], 0), dtype=np.int64)
        codes.append(np.ascontiguousarray(held))
    return Points(sides[0], sides[1], codes[0], codes[1])


def grouped(lines: NDArray[Any]) -> tuple[Integers, Integers, Integers]:
    """Equal rows of a table: the first of each kind, the kind of each row, and their sizes."""
    if lines.shape[1] == 0:
        one = np.zeros(len(lines), dtype=np.int64)
        return one[:1], one, np.array([len(lines)][: len(lines)])
    whole = np.ascontiguousarray(lines)
    if lines.shape[1] > 1:
        whole = whole.view(np.dtype((np.void, lines.dtype.itemsize * lines.shape[1])))
    _, firsts, which, sizes = np.unique(
        whole.ravel(), return_index=True, return_inverse=True, return_counts=True
    )
    return firsts, which, sizes


def midranks(values: NDArray[Any]) -> Floats:
    """Ranks from 0, equal values sharing the mean of theirs; missing values have none.

    >>> midranks(np.array([5.0, 1.0, 5.0, np.nan])).tolist()
    [1.5, 0.0, 1.5, nan]
    """
    ranks = np.full(values.size, np.nan)
    present = np.flatnonzero(values == values)
    order = present[np.argsort(values[present])]
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[: order.size])
    sizes = np.diff(np.append(starts, order.size))
    ranks[order] = np.repeat(starts + (sizes - 1) / 2, sizes)
    return ranks


def _column(values: ArrayLike, *, nominal: bool) -> NDArray[Any]:
    column = np.asarray(values)
    if column.ndim != 1 or column.dtype.kind not in "biuf":
        raise MeasureError(
            f"An attribute is one column of numbers or codes; got {column.dtype} of shape "
            f"{column.shape}."
        )
    if not nominal:
        column = column.astype(np.float64)
        if np.isinf(column).any():
            raise MeasureError(
                f"An attribute holds {int(np.isinf(column).sum())} infinite numbers. Make them "
                f"missing, or finite."
            )
    elif column.dtype.kind == "f":
        raise MeasureError("Categories are told by whole numbers, -1 for missing; got decimals.")
    return column


def _placed(attribute: Attribute, scale: Scale) -> tuple[Floats, Floats]:
    """Numbers by their ranks in their own file, as shares of it, or by standard deviations."""
    before, after = attribute.original, attribute.masked
    if scale == "ranks":
        middle = 0.5
        sides = [midranks(side) / _length(side) for side in (before, after)]
    else:
        middle = 0.0
        centre, spread = moments(before[before == before])
        sides = [(side - centre) / spread for side in (before, after)]
    gaps = [side != side for side in sides]
    if not any(gap.any() for gap in gaps):
        return sides[0][:, None], sides[1][:, None]
    first, second = (
        np.column_stack([np.where(gap, middle, side), AWAY * gap])
        for side, gap in zip(sides, gaps, strict=True)
    )
    return first, second


def _length(side: Floats) -> int:
    """The greatest rank, or one where there is none."""
    return max(int(np.count_nonzero(side == side)) - 1, 1)


def moments(there: Floats) -> tuple[float, float]:
    """Mean and standard deviation, the latter one where all are the same."""
    if not there.size:
        return 0.0, 1.0
    size = float(np.abs(there).max()) or 1.0
    scaled = there / size  # so that the squares of large numbers are numbers
    spread = float(scaled.std()) * size if scaled.min() < scaled.max() else 0.0
    return float(scaled.mean()) * size, spread if spread > 0 else 1.0
