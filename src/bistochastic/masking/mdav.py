"""MDAV: the record farthest from the centre and the one opposite gather their neighbours."""

import numpy as np
from numpy.typing import NDArray

from bistochastic.masking.remaining import Remaining

__all__ = ["mdav"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def mdav(points: Floats, k: int) -> Integers:
    """Groups of k to 2k - 1 records by maximum distance to the average vector.

    While at least 3k records are left: r is the one farthest from their centre and forms a group
    with its k - 1 nearest; s is the one of the rest farthest from r and does the same. Of 2k to
    3k - 1 records that are left, the one farthest from their centre still forms a group, and the
    rest is the last one (Domingo-Ferrer and Torra 2005). Of records at the same distance the
    lowest row comes first, everywhere.

    >>> mdav(np.array([[0.0], [1.0], [5.0], [6.0], [7.0]]), 2)
    array([0, 0, 1, 1, 1])
    """
    groups = np.zeros(len(points), dtype=np.int64)
    left = Remaining(points)
    label = 1
    while left.count >= 3 * k:
        left.tend()
        for rows in opposite_pair(left, k):
            groups[rows] = label
            label += 1
    if left.count >= 2 * k:
        point = left.farthest(left.centre)
        distances, indices = left.near([point], k)
        groups[left.take(point, k, distances[0], indices[0])] = label
    return groups


def opposite_pair(left: Remaining, k: int) -> tuple[list[int], list[int]]:
    """The rows of two groups: around the record farthest from the centre, and opposite to it."""
    r = left.farthest(left.centre)
    s = left.farthest(left.points[r])
    records = left.left[s]
    # Both at once, because a call costs as much as the search.
    (near_r, near_s), (at_r, at_s) = left.near([r, s], k)
    around_r = left.take(r, k, near_r, at_r)
    if left.left[s] == records:
        return around_r, left.take(s, k, near_s, at_s)
    # The first group took from the point opposite: many records are equally far, or equal.
    s = left.farthest(left.points[r])
    near, at = left.near([s], k)
    return around_r, left.take(s, k, near[0], at[0])
