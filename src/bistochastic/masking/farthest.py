r"""The points farthest from a place, among points that vanish one by one.

Of the distance $|x-q|^2 = |x|^2 - 2\,x\cdot q + |q|^2$ only the first two terms depend on $x$. Over
a cell of neighbours the first is bounded by the longest $x$ in it and the second by its box, so
one product of a matrix with a vector bounds all cells, and few of them need to be opened.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bistochastic.masking.distances import TIE, squares

__all__ = ["Farthest"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# What may be lost when the terms cancel, in units of the largest of them.
ROUNDING = 1e-13

# Stands for minus infinity where a product with zero must be zero.
NOWHERE = -1e300


class Farthest:
    """Points in cells of neighbours, each cell with bounds on its points that are left."""

    def __init__(self, points: Floats, order: NDArray[Any]) -> None:
        """Cut the points, in an order that keeps neighbours together, into cells."""
        n, d = points.shape
        self.width = min(n, max(32, int(n**0.5 / 8)))
        cells = -(-n // self.width)
        self.ids = np.concatenate((order, np.repeat(order[-1:], cells * self.width - n)))
        self.slots = np.empty(n, dtype=np.int64)
        self.slots[order] = np.arange(n)
        self.origin = points.mean(axis=0)
        self.points = points[self.ids] - self.origin
        self.norms = np.einsum("nd,nd->n", self.points, self.points)
        self.longest = float(self.norms.max())
        self.reach = np.concatenate((self.points, -self.points, self.norms[:, None]), axis=1)
        self.norms[n:], self.reach[n:] = -np.inf, NOWHERE  # the last cell is filled up
        self.cells = self.reach.reshape(cells, self.width, 2 * d + 1)
        self.bounds = self.cells.max(axis=1)

    def remove(self, points: Integers) -> None:
        """Take points away and bound their cells by what is left in them."""
        slots = self.slots[points]
        self.norms[slots], self.reach[slots] = -np.inf, NOWHERE
        cells = slots // self.width
        self.bounds[cells] = self.cells[cells].max(axis=1)

    def search(self, place: Floats) -> Integers:
        """All points at the greatest distance from a place, in no order."""
        towards = place - self.origin
        double, length = 2.0 * towards, float(towards @ towards)
        weights = np.concatenate((np.maximum(-double, 0.0), np.maximum(double, 0.0), (1.0,)))
        bounds = self.bounds @ weights
        # The most promising cell first: it sets the mark for all others.
        slots, values = self.open(bounds.argmax(keepdims=True), double)
        cells = np.flatnonzero(bounds >= self.mark(values, length))
        if cells.size > 1:
            slots, values = self.open(cells, double)
        slots = slots[values >= self.mark(values, length)]
        if slots.size > 1:
            exact = squares(self.points[slots], towards)
            slots = slots[exact >= exact.max() * (1 - TIE) ** 2]
        return self.ids[slots]

    def open(self, cells: Integers, double: Floats) -> tuple[Integers, Floats]:
        """The slots of some cells and how far their points are, |q|² left out."""
        if 2 * cells.size > len(self.bounds):  # copying so many would cost more than all
            return np.arange(self.norms.size), self.norms - self.points @ double
        slots = (cells[:, None] * self.width + np.arange(self.width)).ravel()
        return slots, self.norms[slots] - self.points[slots] @ double

    def mark(self, values: Floats, length: float) -> float:
        """What a point must reach to be as far as the farthest, ties and rounding allowed for."""
        best = float(values.max())
        slack = 4 * TIE * max(best + length, 0.0) + ROUNDING * (self.longest + length)
        return best - slack
