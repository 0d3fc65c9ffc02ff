r"""μ-Approx: trees of near records, cut into groups (Domingo-Ferrer, Sebé and Solanas 2008).

Forest: while a tree has fewer than k records, the one of them without an outgoing edge sends one
to the nearest of its k - 1 nearest that lies outside. There is one, and no edge is longer than the
distance to the farthest record of any group of k around where it starts.

Decomposition: a tree of more than $m = \max(2k-1, 3k-5)$ records is cut. An edge with at least k
records on either side can simply go. Where no such edge is left, every edge has its fewer than k
records on one side; towards the other sides the edges lead to one record, all of whose branches
have fewer than k. Branches then form groups of k to 2k - 2, as long as 3k - 2 records are there.
With fewer, but more than m: if a branch has k - 1, the record joins it, and at least k are left.
Otherwise branches are put together up to the first time there are k - 1; that is at most 2k - 4,
so at least k - 1 are in the others, and the record joins the smaller side. The paper cuts in two
again and again, with the record standing in for itself on both sides; this does it at once.
"""

import numpy as np
from numpy.typing import NDArray

from bistochastic.masking.neighbours import nearest_rows

__all__ = ["forest", "largest", "mu_approx"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def largest(k: int) -> int:
    """The most records a group of μ-Approx can have."""
    return max(2 * k - 1, 3 * k - 5)


def mu_approx(points: Floats, k: int) -> Integers:
    """Groups of k to max(2k - 1, 3k - 5) records; of equal distances the lowest row comes first.

    >>> mu_approx(np.array([[0.0], [1.0], [5.0], [6.0], [7.0]]), 2)
    array([0, 0, 1, 1, 1])
    """
    parents = forest(points, k)
    children: list[list[int]] = [[] for _ in parents]
    for row, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(row)
    groups = np.empty(len(parents), dtype=np.int64)
    label = 0
    for root in (row for row, parent in enumerate(parents) if parent < 0):
        for rows in decompose(root, children, k):
            groups[rows] = label
            label += 1
    return groups


def forest(points: Floats, k: int) -> list[int]:
    """The record each record has an edge to, -1 for the root of each tree."""
    nearest, kinds = (array.tolist() for array in nearest_rows(points, k))
    parents = [-1] * len(kinds)
    leader = list(range(len(kinds)))
    roots, sizes = leader.copy(), [1] * len(kinds)

    def find(row: int) -> int:
        while leader[row] != row:
            leader[row] = leader[leader[row]]
            row = leader[row]
        return row

    for row in range(len(kinds)):
        tree = find(row)
        while sizes[tree] < k:
            root = roots[tree]
            # A tree of fewer than k records cannot hold all k that are nearest.
            parents[root] = next(near for near in nearest[kinds[root]] if find(near) != tree)
            other = find(parents[root])
            root, size = roots[other], sizes[tree] + sizes[other]
            # The smaller points to the larger, so that finding takes few steps.
            tree, other = (tree, other) if sizes[tree] > sizes[other] else (other, tree)
            leader[other], roots[tree], sizes[tree] = tree, root, size
    return parents


def decompose(root: int, children: list[list[int]], k: int) -> list[list[int]]:
    """Cut one tree into groups."""
    rows = below(root, children)
    if len(rows) <= largest(k):
        return [rows]
    sizes: dict[int, int] = {}
    kept: dict[int, list[int]] = {}
    groups: list[list[int]] = []
    left = len(rows)
    for row in reversed(rows):
        kept[row] = []
        sizes[row] = 1
        for child in children[row]:
            if left > largest(k) and k <= sizes[child] <= left - k:
                left -= sizes[child]
                groups += share(child, [below(start, kept) for start in kept[child]], k)
            else:
                kept[row].append(child)
                sizes[row] += sizes[child]
    return groups + share(*branches(root, kept, sizes, k), k)


def below(root: int, children: list[list[int]] | dict[int, list[int]]) -> list[int]:
    """A record and all from which its edges lead to it, those nearer to it first."""
    rows = [root]
    for row in rows:
        rows += children[row]
    return rows


def branches(
    root: int, kept: dict[int, list[int]], sizes: dict[int, int], k: int
) -> tuple[int, list[list[int]]]:
    """The record from which every edge leads to fewer than k others, and where each leads."""
    hub, whole = root, below(root, kept)
    while True:
        large = [child for child in kept[hub] if sizes[child] >= k]
        if not large:
            break
        hub = large[0]
    parts = [below(child, kept) for child in kept[hub]]
    inside = {hub}.union(*parts)
    above = [row for row in whole if row not in inside]
    return hub, [part for part in [above, *parts] if part]


def share(hub: int, parts: list[list[int]], k: int) -> list[list[int]]:
    """Share a record and its branches, each of fewer than k records, out into groups."""
    left = 1 + sum(map(len, parts))
    groups = []
    parts = parts[::-1]
    while left >= 3 * k - 2 and left > largest(k):
        groups.append(gathered(parts, k))
        left -= len(groups[-1])
    if left <= largest(k):
        return [*groups, [hub, *gathered(parts, left - 1)]]
    parts.sort(key=lambda part: len(part) == k - 1)  # taken from the end
    one, other = gathered(parts, k - 1), gathered(parts, left)
    min(one, other, key=len).append(hub)
    return [*groups, one, other]


def gathered(parts: list[list[int]], enough: int) -> list[int]:
    """Records of parts taken from the end until there are enough, or no parts."""
    rows: list[int] = []
    while parts and len(rows) < enough:
        rows += parts.pop()
    return rows
