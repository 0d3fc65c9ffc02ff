r"""Permuted privacy: each record's masked value is far from the one that looks like it.

For each record and column let $y_*$ be the masked value closest to the original one. (d, v)
permuted privacy (Domingo-Ferrer & Muralidhar 2016) asks that the record's own masked value is d
ranks or more away from it, and that the masked values within d ranks of $y_*$ are more diverse than
v. So whoever links by value is wrong by d ranks, and those nearby do not tell either. A subject can
check it herself, from her own record.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MeasureError
from bistochastic.measures.ranking import Groups
from bistochastic.measures.values import Blanks, as_values, both_present
from bistochastic.measures.windows import Criterion, Sorted

__all__ = ["PermutedColumn", "own_privacy", "permuted_privacy", "records_failing"]

Integers = NDArray[np.int64]
Vector = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PermutedColumn:
    """What permuted privacy one column attains, record by record.

    Attributes:
        rows: The records that have a value before and after, by row number.
        distances: How many ranks each one's masked value is away from the one closest to its
            original; of ranks that ties leave open, the least.
        blanks: How many records have no value, before or after.
    """

    rows: Integers
    distances: Integers
    blanks: Blanks
    _masked: Sorted
    _order: Integers  # of the records by their originals, so that what is near is looked up so
    _closest: tuple[Integers, Integers]  # in that order

    @classmethod
    def of(
        cls,
        rows: Integers,
        blanks: Blanks,
        released: NDArray[Any],
        mine: NDArray[Any],
        own: Integers,
    ) -> Self:
        """Records with these originals, whose masked values are the released ones at `own`."""
        groups = Groups.of(released)
        masked = Sorted.of(released, groups)
        order = np.argsort(mine)
        closest = masked.nearest(mine[order])
        group = groups.codes[own[order]]
        distances = np.empty_like(rows)
        distances[order] = np.minimum(*(_apart(masked, group, place) for place in closest))
        return cls(rows, distances, blanks, masked, order, closest)

    def distance(self, shares: ArrayLike = 1.0) -> Integers:
        """The largest d that this share of the records attains; 1 is all of them.

        >>> told = permuted_privacy([1, 2, 3, 4], [3, 4, 1, 2])
        >>> told.distance([1.0, 0.5])
        array([2, 2])
        """
        return _attained(self.distances, shares)

    def diversities(self, d: int, criterion: Criterion = "variance") -> Vector:
        """How diverse the masked values within d ranks of the closest one are, record by record.

        "variance", "distinct" values, two to the "entropy" (the l of entropy l-diversity), or
        "closeness", the earth mover's distance to all masked values: there less is more diverse.
        """
        if d < 0:
            raise MeasureError(f"A distance in ranks is not negative; got {d}.")
        one, two = self._closest
        found = self._diversity(one, d, criterion)
        both = np.flatnonzero(one != two)  # a value in the middle between two
        if both.size:
            worse = np.maximum if criterion == "closeness" else np.minimum
            found[both] = worse(found[both], self._diversity(two[both], d, criterion))
        diverse = np.empty_like(found)
        diverse[self._order] = found
        return diverse

    def diversity(
        self, d: int, shares: ArrayLike = 1.0, criterion: Criterion = "variance"
    ) -> Vector:
        """The v that this share of the records attains with d: they are as diverse or more."""
        diverse = self.diversities(d, criterion)
        less = criterion == "closeness"
        found = _attained(-diverse if less else diverse, shares)
        return -found if less else found

    def failing(
        self, d: int, v: float | None = None, criterion: Criterion = "variance"
    ) -> Integers:
        """The records for which (d, v) does not hold, by row number; without v, d alone is asked.

        Their diversity must be above v, or their closeness at most v.

        >>> permuted_privacy([1, 2, 3, 4], [3, 4, 2, 1]).failing(2)
        array([2])
        """
        fails = self.distances < d
        if v is not None:
            diverse = self.diversities(d, criterion)
            fails |= diverse > v if criterion == "closeness" else diverse <= v
        return self.rows[fails]

    def holds(
        self,
        d: int,
        v: float | None = None,
        *,
        share: float = 1.0,
        criterion: Criterion = "variance",
    ) -> bool:
        """Whether (d, v) holds for this share of the records."""
        allowed = float(1 - _as_share(share)) * self.rows.size
        return self.failing(d, v, criterion).size <= allowed + 1e-9

    def _diversity(self, place: Integers, d: int, criterion: Criterion) -> Vector:
        # Of equal values the one in the middle stands for all: its window holds most of them.
        rank = (self._masked.starts[place] + self._masked.starts[place + 1] - 1) // 2
        low, high = np.maximum(rank - d, 0), np.minimum(rank + d + 1, self._masked.size)
        return self._masked.diversity(low, high, criterion)

    def __repr__(self) -> str:
        return f"<PermutedColumn of {self.rows.size} records>"


def permuted_privacy(
    original: ArrayLike,
    masked: ArrayLike,
    *,
    missing_before: ArrayLike | None = None,
    missing_after: ArrayLike | None = None,
) -> PermutedColumn:
    """What permuted privacy a masked column attains, of numbers, dates or ordinal codes.

    Whatever is masked there can be met by whoever links, so ranks are those of all masked values;
    records without a value before or after have nothing to link, and are counted.

    >>> told = permuted_privacy([10, 20, 30, 40], [21, 12, 38, 31])
    >>> told.distances, told.distance()
    (array([1, 1, 1, 1]), np.int64(1))
    """
    before, after = _as_numbers(original, "original"), _as_numbers(masked, "masked")
    rows, blanks = both_present(before, after, missing_before, missing_after)
    there = both_present(after, after, missing_after, None)[0]
    released, mine = _alike(after[there], before[rows])
    return PermutedColumn.of(rows, blanks, released, mine, np.searchsorted(there, rows))


def own_privacy(value: Any, row: int, masked: ArrayLike) -> PermutedColumn:
    """The same for one subject, who knows her own value and which released record is hers.

    >>> own_privacy(20, row=1, masked=[21, 12, 38, 31]).distances
    array([1])
    """
    after = _as_numbers(masked, "masked")
    if not 0 <= row < after.size:
        raise MeasureError(f"There are {after.size} released records; row {row} is none of them.")
    mine = _as_numbers([value], "original")
    rows, blanks = both_present(mine, after[row : row + 1], None, None)
    there = both_present(after, after, None, None)[0]
    released, mine = _alike(after[there], mine)
    return PermutedColumn.of(rows + row, blanks, released, mine, np.searchsorted(there, rows + row))


def records_failing(
    columns: Mapping[str, PermutedColumn],
    d: Mapping[str, int],
    v: Mapping[str, float] | None = None,
    *,
    criterion: Criterion = "variance",
) -> Integers:
    """The records for which (d, v) does not hold in every column that it is asked of."""
    unknown = sorted({*d, *(v or {})} - {*columns})
    if unknown or not d:
        raise MeasureError(
            f"Distances are asked of columns that were measured; not of {unknown or 'none'}."
        )
    failing = [columns[name].failing(d[name], (v or {}).get(name), criterion) for name in d]
    return np.unique(np.concatenate(failing))


def _apart(masked: Sorted, one: Integers, other: Integers) -> Integers:
    """How many ranks two groups of equal values are apart, at least."""
    low, high = np.minimum(one, other), np.maximum(one, other)
    return np.where(low == high, 0, masked.starts[high] - masked.starts[low + 1] + 1)


def _attained(each: NDArray[Any], shares: ArrayLike) -> NDArray[Any]:
    """The value that so large a share of the records reaches or exceeds."""
    asked = _as_share(shares)
    needed = np.ceil(asked * each.size - 1e-9).astype(np.int64)
    return np.sort(each)[each.size - np.maximum(needed, 1)]


def _as_share(shares: ArrayLike) -> Vector:
    asked = np.asarray(shares, dtype=np.float64)
    if not ((asked >= 0) & (asked <= 1)).all():
        raise MeasureError("A share of the records lies between 0 and 1.")
    return asked


def _as_numbers(values: ArrayLike, name: str) -> NDArray[Any]:
    """A column whose values have distances: numbers, or dates as numbers."""
    column = as_values(values, name)
    if column.dtype.kind in "US":
        raise MeasureError(
            f"The {name} column holds texts, which are neither close nor far. Give numbers, or the "
            f"codes of an ordered domain."
        )
    return column


def _alike(*columns: NDArray[Any]) -> Sequence[NDArray[Any]]:
    """Columns as numbers that can be subtracted: dates in one unit, whole numbers signed."""
    kinds = {column.dtype.kind for column in columns}
    if len(kinds & {"m", "M"}) > 1 or (kinds & {"m", "M"} and len(kinds) > 1):
        raise MeasureError(
            "Dates are close to dates only: one column holds them, another does not."
        )
    kind = np.result_type(*columns)
    if kind.kind in "mM":
        return [column.astype(kind).astype(np.int64) for column in columns]
    wide = np.float64 if kind.kind == "f" or kind == np.uint64 else np.int64
    return [column.astype(wide) for column in columns]
