"""Tally: how many reports fell into which cell of a table, told for the cells that occur only."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import TableError

__all__ = ["MOST_CELLS", "Tally"]

Floats = NDArray[Any]
Cells = NDArray[np.int64]

MOST_CELLS = 1 << 63  # whose numbers are signed integers of 64 bits


@final
@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Counts of cells, numbered with the last column fastest, and the weights of their rows.

    >>> tally = Tally.of((2, 3), np.array([5, 0, 5]))
    >>> tally.cells.tolist(), tally.counts.tolist(), tally.rows
    ([0, 5], [1, 2], 3)
    """

    sizes: tuple[int, ...]
    cells: Cells  # ascending
    counts: Cells
    weights: Floats | None = None  # sums of the weights of their rows
    squares: Floats | None = None  # and of the squares of these

    @classmethod
    def of(cls, sizes: Sequence[int], codes: NDArray[np.integer]) -> Self:
        """The tally of rows, each with its cell."""
        cells, counts = np.unique(codes.astype(np.int64, copy=False), return_counts=True)
        return cls(tuple(sizes), cells, counts)

    @classmethod
    def from_table(cls, table: NDArray[np.integer]) -> Self:
        """The tally that a table of counts holds, an axis for each column."""
        flat = np.asarray(table).ravel()
        cells = np.flatnonzero(flat)
        return cls(np.asarray(table).shape, cells, flat[cells].astype(np.int64))

    @property
    def rows(self) -> int:
        """How many rows were counted."""
        return int(self.counts.sum())

    @property
    def size(self) -> int:
        """How many cells there could be."""
        return math.prod(self.sizes)

    @property
    def total(self) -> float:
        """The sum of all weights; without any, the number of rows."""
        return float(self.mass.sum())

    @property
    def mass(self) -> Floats:
        """The weight of each cell that occurs."""
        return self.counts.astype(np.float64) if self.weights is None else self.weights

    @property
    def squared(self) -> Floats:
        """The sum of the squared weights of each cell that occurs."""
        return self.counts.astype(np.float64) if self.squares is None else self.squares

    def shares(self) -> Floats:
        """The reported share of each cell that occurs."""
        if not self.rows or not self.total > 0:
            raise TableError(
                "There is nobody to estimate from: the table has no row, or no weight above zero."
            )
        return self.mass / self.total

    def laid_out(self, values: Floats) -> Floats:
        """Values of the cells that occur, in a table of all cells."""
        table = np.zeros(self.size)
        table[self.cells] = values
        return table.reshape(self.sizes)
