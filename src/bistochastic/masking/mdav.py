"""MDAV: the record farthest from the centre and the one opposite gather their neighbours."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bistochastic.masking.few import Few
from bistochastic.masking.remaining import Remaining

__all__ = ["mdav"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Records below which measuring all distances takes no longer than a search: 4000 of thirty
# columns, 10,000 of one.
FEW = 6000


def mdav(points: Floats, k: int) -> Integers:
    """Groups of k to 2k - 1 records by maximum distance to the average vector.

    While at least 3k records are left: r is the one farthest from their centre and forms a group
    with its k - 1 nearest; s is the one of the rest farthest from r and does the same. Of 2k to
    3k - 1 records that are left, the one farthest from their centre still forms a group, and the
    rest is the last one, number 0 (Domingo-Ferrer and Torra 2005). Of records at the same distance
    the lowest row comes first, everywhere.

    >>> mdav(np.array([[0.0], [1.0], [5.0], [6.0], [7.0]]), 2)
    array([1, 1, 0, 0, 0])
    """
    groups = np.zeros(len(points), dtype=np.int64)
    for label, rows in enumerate(gathered(points, k), start=1):
        groups[rows] = label
    return groups


def gathered(points: Floats, k: int) -> Iterator[Any]:
    """The rows of each group in turn, but not those of the rest."""
    rows = np.arange(len(points))
    if rows.size > FEW:
        many = Remaining(points)
        while many.count >= max(FEW, 3 * k):
            yield from many.opposite_pair(k)
        rows = many.records
    few = Few(points, rows)
    while few.count >= 3 * k:
        yield from few.opposite_pair(k)
    if few.count >= 2 * k:
        yield few.take(few.farthest(few.centre), k)
