r"""Chance: what the measures say of a uniformly random permutation, the line to read them against.

Over all permutations of n ranks a distance of k occurs with probability $2(n-k)/n^2$, and 0 with
$1/n$; so $E\,D(1) = (n^2-1)/3n$. For other orders the line is the mean of that law: that of all
permutations pooled, which a single long file comes close to.
"""

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import MeasureError
from bistochastic.measures.histogram import Histogram
from bistochastic.measures.permutation import Displacement, shared_records

__all__ = ["random_distances", "random_relative_distances"]

Integers = NDArray[np.int64]


def random_distances(n: int) -> Histogram:
    """How often each |r| occurs among n records on average, if they are permuted at random.

    >>> float(random_distances(5).means(1).round(12))  # (n² - 1)/3n
    1.6
    """
    if n < 1:
        raise MeasureError(f"A permutation needs at least one record; got {n}.")
    values = np.arange(n)
    counts = 2.0 * (n - values) / n
    counts[0] = 1.0
    return Histogram(values, counts)


def random_relative_distances(one: Displacement, other: Displacement) -> Histogram:
    """How often each |r - r'| occurs on average, if both columns are permuted independently.

    It is conditional on the file: ranks before are what they are, ranks after are random.
    """
    mine, theirs = shared_records(one, other)
    if one.by == "rank":
        apart = one.ranking.original[mine] - other.ranking.original[theirs]
        sizes = one.size, other.size
    elif one.blanks.total or other.blanks.total:
        raise MeasureError("By position, the random line needs columns without missing values.")
    else:
        apart = np.zeros(one.size, dtype=np.int64)  # who goes where does not matter
        sizes = one.records, one.records
    return _spread(apart, *sizes)


def _spread(apart: Integers, n: int, m: int) -> Histogram:
    """The law of |T - d|, d one of those given, T the difference of uniform ranks of n and of m.

    Its second differences are four copies of the counts of d; whole numbers, so nothing is lost.
    """
    reach = n + m
    counts = np.bincount(reach - apart, minlength=2 * reach + 1)
    bend = np.zeros(counts.size + 2, dtype=np.int64)
    for sign, shift in ((1, 1 - m), (-1, 1), (-1, n - m + 1), (1, n + 1)):
        low, high = max(-shift, 0), min(counts.size, bend.size - shift)
        bend[low + shift : high + shift] += sign * counts[low:high]
    height = np.cumsum(np.cumsum(bend))
    folded = height[reach : 2 * reach].copy()
    folded[1:] += height[reach - 1 : 0 : -1]
    values = np.flatnonzero(folded)
    return Histogram(values, folded[values] / (n * m))
