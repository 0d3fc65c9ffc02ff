"""The records that no group has yet, and which of them are farthest from and nearest to a place.

Equal records share one point. A tree over the points answers who is near; points that are used up
stay in it until so many are that it is worth growing anew.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from bistochastic.masking.distances import TIE
from bistochastic.masking.farthest import Farthest

__all__ = ["Remaining", "distinct"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# The share of its points below which a tree is grown anew: 0.6 to 0.85 take the same time.
WITHERED = 0.7

# Neighbours asked for at first, beyond two for each that is wanted.
SPARE = 4


def distinct(points: Floats) -> tuple[Integers, Integers]:
    """Rows in an order that puts equal points together, each kind by row; where each kind begins.

    >>> distinct(np.array([[2.0], [1.0], [2.0]]))
    (array([1, 0, 2]), array([0, 1]))
    """
    order = np.lexsort(points.T[::-1])
    ordered = points[order]
    new = np.concatenate(([True], (ordered[1:] != ordered[:-1]).any(axis=1)))
    return order, np.flatnonzero(new)


class Remaining:
    """Records without a group, as distinct points with a queue of rows each."""

    def __init__(self, records: Floats) -> None:
        order, starts = distinct(records)
        self.count = len(records)
        self.firsts = order[starts]
        self.points = records[self.firsts]
        # Single entries are read often, and those of lists are read three times as fast.
        self.rows: list[int] = order.tolist()
        self.heads: list[int] = starts.tolist()
        self.left: list[int] = np.diff(np.append(starts, self.count)).tolist()
        self.grow()

    def grow(self) -> None:
        """Grow tree and cells over the points that are left, and sum those anew too."""
        left = np.array(self.left)
        alive = np.flatnonzero(left)
        points = self.points[alive]
        self.tree = cKDTree(points, leafsize=12, balanced_tree=False)
        self.far = Farthest(points, self.tree.indices)
        self.grown = alive
        self.places: list[int] = alive.tolist()
        self.index = np.zeros(len(left), dtype=np.int64)
        self.index[alive] = np.arange(alive.size)
        self.total = left[alive] @ points
        self.alive = alive.size

    def tend(self) -> None:
        """Grow anew when too much of the tree is used up; tree indices lose their meaning."""
        if self.alive < WITHERED * len(self.places):
            self.grow()

    @property
    def records(self) -> Integers:
        """The rows that are left, ascending."""
        queues = zip(self.heads, self.left, strict=True)
        return np.sort([row for head, left in queues for row in self.rows[head : head + left]])

    @property
    def centre(self) -> Floats:
        """The mean of the records."""
        return np.asarray(self.total / self.count)

    def opposite_pair(self, k: int) -> tuple[list[int], list[int]]:
        """The rows of two groups: around the record farthest from the centre, and opposite it."""
        self.tend()
        r = self.farthest(self.centre)
        s = self.farthest(self.points[r])
        records = self.left[s]
        # Both at once, because a call costs as much as the search.
        (near_r, near_s), (at_r, at_s) = self.near([r, s], k)
        around_r = self.take(r, k, near_r, at_r)
        if self.left[s] == records:
            return around_r, self.take(s, k, near_s, at_s)
        # The first group took from the point opposite: many records are equally far, or equal.
        s = self.farthest(self.points[r])
        near, at = self.near([s], k)
        return around_r, self.take(s, k, near[0], at[0])

    def farthest(self, place: Floats) -> int:
        """The point farthest from a place; among several the one that holds the lowest row."""
        found = self.far.search(place)
        if found.size == 1:
            return self.places[int(found[0])]
        points = self.grown[found]
        return int(points[self.firsts[points].argmin()])

    def near(self, points: list[int], k: int) -> tuple[list[list[float]], list[list[int]]]:
        """Distances and tree indices of neighbours of each point, the nearest first."""
        distances, indices = self.tree.query(self.points[points], 2 * k + SPARE)
        return distances.tolist(), indices.tolist()

    def take(self, point: int, k: int, distances: list[float], indices: list[int]) -> list[int]:
        """Take the k records nearest to a point away, given its neighbours: their rows."""
        chosen = self.nearest(k, distances, indices)
        asked = len(indices)
        while chosen is None:  # too many of the neighbours are used up, or at one distance
            asked *= 4
            more = self.tree.query(self.points[point], asked)
            chosen = self.nearest(k, more[0].tolist(), more[1].tolist())
        return self.remove(chosen)

    def nearest(self, k: int, distances: list[float], indices: list[int]) -> dict[int, int] | None:
        """How many records of which points are the k nearest; None if the neighbours run out."""
        found: list[tuple[float, int]] = []
        count, bound = 0, np.inf
        for distance, index in zip(distances, indices, strict=True):
            if distance > bound:
                break
            point = self.places[index]
            if not self.left[point]:
                continue
            found.append((distance, point))
            count += self.left[point]
            if count >= k and bound == np.inf:
                bound = distance * (1 + TIE)
        else:
            return None
        if count == k:
            return {point: self.left[point] for _, point in found}
        return self.lowest(k, found, bound * (1 - 2 * TIE))

    def lowest(self, k: int, found: list[tuple[float, int]], bound: float) -> dict[int, int]:
        """All records nearer than the bound, and the lowest rows of those at it."""
        chosen = {point: self.left[point] for distance, point in found if distance < bound}
        need = k - sum(chosen.values())
        tied = []
        for point in (point for distance, point in found if distance >= bound):
            head = self.heads[point]
            queue = self.rows[head : head + min(need, self.left[point])]
            tied += [(row, point) for row in queue]
        for _, point in sorted(tied)[:need]:
            chosen[point] = chosen.get(point, 0) + 1
        return chosen

    def remove(self, chosen: dict[int, int]) -> list[int]:
        """Take the lowest rows of some points away, so many of each."""
        rows: list[int] = []
        for point, count in chosen.items():
            head = self.heads[point]
            rows += self.rows[head : head + count]
            self.heads[point] = head + count
            self.left[point] -= count
            if self.left[point]:
                self.firsts[point] = self.rows[head + count]
        points = list(chosen)
        self.total -= np.array(list(chosen.values())) @ self.points[points]
        self.count -= len(rows)
        gone = [point for point in points if not self.left[point]]
        if gone:
            self.far.remove(self.index[gone])
            self.alive -= len(gone)
        return rows
