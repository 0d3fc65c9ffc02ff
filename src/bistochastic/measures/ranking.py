r"""Ranking: two columns of the same records in order, with ties broken to the intruder's favour.

σ ranks records by (original, then masked), τ by (masked, then original); records that are equal in
both keep one common order. So τ − σ depends on the pairs of values alone, not on the order of rows,
and of all ways to break ties it makes $\sum_i\varphi(\tau_i-\sigma_i)$ least, for every even convex
φ at once. Records of the same pair of values are a *cell*; ranks start at 0.
"""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Groups", "Ranking"]

Integers = NDArray[np.int64]

DENSE = 4  # counting beats sorting up to this many possible whole numbers per record


@final
@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """A column as groups of equal values, in order: group g holds the ranks from `starts[g]` on."""

    codes: Integers  # the group of each record
    starts: Integers  # one more than groups, the last is the number of records

    @classmethod
    def of(cls, values: NDArray[Any]) -> Self:
        """The groups of values that have an order.

        >>> Groups.of(np.array([20, 10, 20])).codes
        array([1, 0, 1])
        """
        if values.dtype.kind in "biu":
            low, high = int(values.min()), int(values.max())
            if high - low <= DENSE * values.size:
                wide = np.uint64 if values.dtype.kind == "u" else np.int64
                return cls._counted((values.astype(wide, copy=False) - wide(low)).astype(np.int64))
        order = np.argsort(values)
        ordered = values[order]
        new = np.append(True, ordered[1:] != ordered[:-1])
        codes = np.empty(values.size, dtype=np.int64)
        codes[order] = np.cumsum(new) - 1
        return cls(codes, np.append(np.flatnonzero(new), values.size))

    @classmethod
    def _counted(cls, numbers: Integers) -> Self:
        counts = np.bincount(numbers)
        present = counts > 0
        codes = (np.cumsum(present) - 1)[numbers]
        return cls(codes, np.append(0, np.cumsum(counts[present])))

    @property
    def size(self) -> int:
        """How many groups there are."""
        return int(self.starts.size - 1)

    @property
    def sizes(self) -> Integers:
        """How many records each group has."""
        return np.diff(self.starts)

    @property
    def tied(self) -> int:
        """How many records share their value with another."""
        sizes = self.sizes
        return int(sizes[sizes > 1].sum())


@final
@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The ranks of records in the original and in the masked column, and what ties they have.

    Attributes:
        original: σ, from 0.
        masked: τ, from 0.
        before: The groups of the original column.
        after: The groups of the masked column.
    """

    original: Integers
    masked: Integers
    before: Groups
    after: Groups
    _cells: Integers | None  # None if each record is one by itself

    @classmethod
    def of(cls, original: NDArray[Any], masked: NDArray[Any]) -> Self:
        """By the tie rule, of two columns of which every value has a place in its order.

        >>> told = Ranking.of(np.array([3, 1, 2]), np.array([1, 2, 2]))
        >>> told.original, told.masked
        (array([2, 0, 1]), array([0, 1, 2]))
        """
        before, after = Groups.of(original), Groups.of(masked)
        n = original.size
        if before.size == n and after.size == n:  # nothing to break
            return cls(before.codes, after.codes, before, after, None)
        order = _by_cell(before, after)
        g, h = before.codes[order], after.codes[order]
        first = np.flatnonzero(np.append(True, (g[1:] != g[:-1]) | (h[1:] != h[:-1])))
        counts = np.diff(np.append(first, n))
        cells = np.stack([g[first], h[first], counts], axis=1)
        # Records by (original, masked) have their σ; those of a cell follow each other in τ too.
        ranks = np.empty((2, n), dtype=np.int64)
        place = np.arange(n)
        ranks[0, order] = place
        ranks[1, order] = place + np.repeat(_starts_after(cells, after.size) - first, counts)
        return cls(ranks[0], ranks[1], before, after, cells)

    @property
    def cells(self) -> Integers:
        """One row for each cell: its group before, its group after, how many records it has."""
        if self._cells is not None:
            return self._cells
        alone = np.ones(self.original.size, dtype=np.int64)
        return np.stack([self.before.codes, self.after.codes, alone], axis=1)

    @property
    def order(self) -> Integers:
        """Whose original value comes to each record, in the order of the masked ones."""
        holders = np.empty_like(self.original)
        holders[self.original] = np.arange(self.original.size)
        return holders[self.masked]


def _by_cell(before: Groups, after: Groups) -> Integers:
    """The records by (original, then masked, then row), by one sort of numbers where they fit."""
    n = before.codes.size
    low, high = int(n - 1).bit_length(), int(after.size - 1).bit_length()
    if int(before.size - 1).bit_length() + high + low > 63:
        return np.lexsort((after.codes, before.codes))
    packed = (before.codes << (high + low)) | (after.codes << low) | np.arange(n)
    packed.sort()
    return packed & ((1 << low) - 1)


def _starts_after(cells: Integers, groups: int) -> Integers:
    """The first masked rank of each cell, cells being ordered by (masked, then original)."""
    low = int(len(cells) - 1).bit_length()
    if int(groups - 1).bit_length() + low > 63:
        order = np.argsort(cells[:, 1], kind="stable")
    else:
        packed = (cells[:, 1] << low) | np.arange(len(cells))
        packed.sort()
        order = packed & ((1 << low) - 1)
    counts = cells[order, 2]
    starts = np.empty(len(cells), dtype=np.int64)
    starts[order] = np.cumsum(counts) - counts
    return starts
