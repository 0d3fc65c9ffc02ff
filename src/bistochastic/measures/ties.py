r"""Ties: what the measures are if chance breaks them, and what they are at least.

The tie rule of `ranking` gives the least displacement: an order-preserving coarsening shows none at
all, though whoever is in a group is open. If ties are broken at random instead, before and after,
the displacement of a record of groups G and H is the difference of two independent uniform ranks:
$k$ occurs $\#\{(s, t) \in G \times H: |t-s| = k\} / (|G|\,|H|)$ times.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bistochastic.measures.histogram import Histogram
from bistochastic.measures.ranking import Ranking

__all__ = ["least_moved", "tied_at_random"]

Integers = NDArray[np.int64]


def least_moved(ranking: Ranking) -> float:
    r"""The least share of records moved, of all ways to break ties.

    $1 - \sum_{G,H}\min(n_{GH}, |G \cap H|)/n$, with groups as intervals of ranks.

    >>> least_moved(Ranking.of(np.array([3, 1, 2]), np.array([1, 2, 2])))
    0.6666666666666667
    """
    kept = np.minimum(ranking.cells[:, 2], _overlaps(ranking)).sum()
    return 1.0 - float(kept / ranking.original.size)


def _overlaps(ranking: Ranking) -> Integers:
    """How many ranks the groups of each cell share."""
    g, h = ranking.cells[:, 0], ranking.cells[:, 1]
    starts, ends = ranking.before.starts, ranking.after.starts
    first = np.maximum(starts[g], ends[h])
    last = np.minimum(starts[g + 1], ends[h + 1])
    return np.maximum(last - first, 0)


def tied_at_random(ranking: Ranking) -> Histogram:
    """How often each distance occurs on average, if ties are broken uniformly at random.

    >>> told = tied_at_random(Ranking.of(np.array([1, 2, 3]), np.array([5, 5, 5])))
    >>> told.values.tolist(), told.counts.round(12).tolist()
    ([0, 1, 2], [1.0, 1.333333333333, 0.666666666667])
    """
    n = ranking.original.size
    g, h, counts = ranking.cells.T
    sizes = ranking.before.sizes[g], ranking.after.sizes[h]
    single = (sizes[0] == 1) & (sizes[1] == 1)
    moves = ranking.after.starts[h[single]] - ranking.before.starts[g[single]]
    weights = np.bincount(np.abs(moves), minlength=n).astype(np.float64)
    if not single.all():
        area = sizes[0].astype(np.float64) * sizes[1]
        chances = counts / area
        tied = ~single
        corners = _corners(ranking, g[tied], h[tied])
        spread = _trapezoids(corners, chances[tied], n)
        # Sums of sums lose digits, so which distances occur at all is counted in whole numbers.
        occurs = _trapezoids(corners, np.ones(int(tied.sum()), dtype=np.int64), n) > 0
        weights += np.where(occurs, np.maximum(spread, chances.min()), 0.0)
        weights[0] = float((chances * _overlaps(ranking)).sum())
    values = np.flatnonzero(weights)
    return Histogram(values, weights[values])


def _corners(ranking: Ranking, g: Integers, h: Integers) -> tuple[Integers, Integers]:
    """Where the second differences of each cell's number of pairs rise and fall.

    Over t - s, the number of pairs of an s of one interval and a t of another is a trapezoid.
    """
    a, b = ranking.before.starts[g], ranking.before.starts[g + 1]
    c, d = ranking.after.starts[h], ranking.after.starts[h + 1]
    rises = np.concatenate([c - b, d - a])
    falls = np.concatenate([d - b, c - a])
    return rises + 1, falls + 1


def _trapezoids(
    corners: tuple[Integers, Integers], heights: NDArray[Any], n: int
) -> NDArray[np.float64]:
    """The sum of all trapezoids at distances 0 … n - 1, of either sign."""
    twice = np.concatenate([heights, heights])
    rises, falls = (np.bincount(at + n, weights=twice, minlength=2 * n + 2) for at in corners)
    kind = np.int64 if heights.dtype.kind == "i" else np.longdouble
    height = np.cumsum(np.cumsum((rises - falls).astype(kind)))
    folded = height[n : 2 * n].copy()
    folded[1:] += height[n - 1 : 0 : -1]
    return folded.astype(np.float64)
