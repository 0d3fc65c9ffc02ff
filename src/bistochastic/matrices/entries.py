"""The entries of a matrix, told by kind of row: which values, how often, in how many rows.

Most structures have few kinds of row, so every question that is a sum over entries (bits, any other
entropy, the check that rows sum to one) is answered from here, and 0·log 0 is handled in one place.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

__all__ = ["Entries", "Part", "entropy_bits"]

LN2 = float(np.log(2.0))
CHUNK = 1 << 16  # rows or cells handled at a time, so that temporaries stay small


class Part(NamedTuple):
    """Some of the entries of each kind of row: values and how often each stands in one row.

    Both broadcast to (kinds, width).
    """

    values: NDArray[np.floating[Any]]
    counts: NDArray[Any]


def entropy_bits(distribution: ArrayLike) -> float:
    """Shannon entropy in bits of one probability vector, with 0·log 0 = 0.

    >>> entropy_bits([0.5, 0.25, 0.25])
    1.5
    """
    return float(entr(np.asarray(distribution, dtype=np.float64)).sum() / LN2) + 0.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """All n² entries of a matrix, by kind of row.

    `repeats[k]` rows are of kind k; in such a row the values of each part's line k occur as often
    as its counts say. Zeros are entries like any other.
    """

    parts: tuple[Part, ...]
    repeats: NDArray[Any]

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.repeats.sum())

    def row_bits(self) -> NDArray[np.float64]:
        """The entropy of each kind of row, in bits."""
        total = np.zeros(self.repeats.size)
        for part in self.parts:
            for rows, values, counts in _chunks(part, self.repeats.size):
                total[rows] += (counts * entr(values)).sum(axis=-1)
        return np.maximum(total / LN2, 0.0)

    @property
    def bits(self) -> float:
        r"""The mean row entropy $\frac1n\sum_{uv} -p_{uv}\log_2 p_{uv}$."""
        return float(np.dot(self.row_bits(), self.repeats / self.size))

    @property
    def min_row_bits(self) -> float:
        """The entropy of the least uncertain row."""
        return float(self.row_bits().min())

    def affine(self, factor: float, constant: float) -> "Entries":
        """The entries after p → factor·p + constant."""
        moved = tuple(Part(factor * part.values + constant, part.counts) for part in self.parts)
        return Entries(moved, self.repeats)

    def flat(self) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """The distinct values of the whole matrix and how often each occurs.

        >>> from bistochastic import Blocks
        >>> Blocks([2, 1]).entries().flat()
        (array([0. , 0.5, 1. ]), array([4., 4., 1.]))
        """
        values, counts = [], []
        for part in self.parts:
            shape = np.broadcast_shapes(np.shape(part.values), (self.repeats.size, 1))
            shape = np.broadcast_shapes(shape, np.shape(part.counts))
            values.append(np.broadcast_to(part.values, shape).ravel())
            weights = np.broadcast_to(part.counts, shape) * self.repeats[:, None]
            counts.append(weights.ravel())
        distinct, where = np.unique(np.concatenate(values), return_inverse=True)
        occurring = np.bincount(where, weights=np.concatenate(counts).astype(np.float64))
        return distinct[occurring > 0], occurring[occurring > 0]


def _chunks(part: Part, kinds: int) -> Iterator[tuple[slice, NDArray[Any], NDArray[Any]]]:
    """Slices of a part small enough for the cache, by rows or, in a single kind, by cells."""
    values = np.atleast_2d(part.values)
    counts = np.atleast_2d(part.counts)
    if kinds == 1:
        width = max(values.shape[1], counts.shape[1])
        for start in range(0, width, CHUNK):
            cells = slice(start, start + CHUNK)
            yield slice(0, 1), _cut(values, 1, cells), _cut(counts, 1, cells)
        return
    step = max(1, CHUNK // max(values.shape[1], counts.shape[1]))
    for start in range(0, kinds, step):
        rows = slice(start, start + step)
        yield rows, _cut(values, 0, rows), _cut(counts, 0, rows)


def _cut(array: NDArray[Any], axis: int, where: slice) -> NDArray[Any]:
    """A slice along an axis, or the whole where that axis only broadcasts."""
    if array.shape[axis] == 1:
        return array
    return array[where] if axis == 0 else array[:, where]
