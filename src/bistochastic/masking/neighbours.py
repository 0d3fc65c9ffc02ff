"""The nearest other records of every record, by distance and then by row."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from bistochastic.masking.distances import TIE
from bistochastic.masking.remaining import distinct

__all__ = ["nearest_rows"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Distances held at once.
CELLS = 1 << 22


def nearest_rows(points: Floats, k: int) -> tuple[Integers, Integers]:
    """For every kind of equal records the k nearest rows, nearest first; the kind of each row.

    The rows of a kind are the nearest to itself, so a record may or may not be among its own.

    >>> rows, kinds = nearest_rows(np.array([[4.0], [0.0], [3.0], [4.0]]), 3)
    >>> rows[kinds[0]].tolist(), rows[kinds[1]].tolist()
    ([0, 3, 2], [1, 2, 0])
    """
    order, starts = distinct(points)
    counts = np.diff(np.append(starts, len(points)))
    kinds = np.empty(len(points), dtype=np.int64)
    kinds[order] = np.repeat(np.arange(starts.size), counts)
    places = points[order[starts]]
    tree = cKDTree(places)
    # More than k rows of a kind are never needed.
    queue = np.minimum(counts, k)
    nearest = np.empty((starts.size, k), dtype=np.int64)
    asked, open_ = min(k + 2, starts.size), np.arange(starts.size)
    while open_.size:
        later = []
        share = max(1, CELLS // (asked * k))
        for at in range(0, open_.size, share):
            some = open_[at : at + share]
            distances, found = tree.query(places[some], [*range(1, asked + 1)])
            bound, enough = reach(distances, queue[found], k)
            enough |= asked == starts.size
            later.append(some[~enough])
            classes = tie_classes(distances[enough])
            classes[distances[enough] > bound[enough, None]] = -1
            nearest[some[enough]] = lowest(classes, found[enough], order, starts, queue, k)
        open_ = np.concatenate(later)
        asked = min(4 * asked, starts.size)
    return nearest, kinds


def reach(distances: Floats, rows: Integers, k: int) -> tuple[Floats, NDArray[np.bool_]]:
    """How far the k-th nearest row is, ties allowed for, and whether all such places were found."""
    last = (np.cumsum(rows, axis=1) >= k).argmax(axis=1)
    bound = distances[np.arange(len(distances)), last] * (1 + TIE)
    known = rows.sum(axis=1) >= k
    return bound, known & (distances[:, -1] > bound)


def tie_classes(distances: Floats) -> Integers:
    """Numbers that rise along each line wherever the distance does."""
    rises = distances[:, 1:] > distances[:, :-1] * (1 + TIE)
    return np.pad(np.cumsum(rises, axis=1), ((0, 0), (1, 0)))


def lowest(
    classes: Integers, found: Integers, order: Integers, starts: Integers, queue: Integers, k: int
) -> Integers:
    """The first k rows of each line by class of distance and row; a class of -1 is too far."""
    line, column = np.nonzero(classes >= 0)
    kind, near = found[line, column], classes[line, column]
    rows = queue[kind]
    within = np.arange(rows.sum()) - np.repeat(np.cumsum(rows) - rows, rows)
    row = order[np.repeat(starts[kind], rows) + within]
    line, near = np.repeat(line, rows), np.repeat(near, rows)
    row = row[np.lexsort((row, near, line))]
    sizes = np.bincount(line, minlength=len(classes))
    firsts = np.cumsum(sizes) - sizes
    return np.asarray(row[firsts[:, None] + np.arange(k)])
