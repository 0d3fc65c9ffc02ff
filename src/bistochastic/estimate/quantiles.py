r"""Quantiles: where a distribution function that is estimated reaches a share.

An interval holds all t at which the data allow $F(t) = p$ (Woodruff 1952): whatever the shape of
the distribution, no density has to be estimated.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, bdtrik

from bistochastic.errors import MatrixError
from bistochastic.estimate.correction import Correction
from bistochastic.estimate.intervals import quantile
from bistochastic.estimate.shares import Variance
from bistochastic.estimate.within import Estimates
from bistochastic.matrices.base import Bistochastic

__all__ = ["drawn_spread", "of_cells", "of_column"]

Array = NDArray[Any]

NEAR = 2  # times the interval is found anew with the spread at its ends
TINY = 1e-9  # shares that differ by less are the same


def of_column(
    values: ArrayLike,
    share: float,
    *,
    drawn: Bistochastic | None = None,
    ordered: bool = True,
    variance: Variance = "sample",
    level: float = 0.95,
) -> Estimates:
    """A quantile of a whole column, by its order statistics.

    Of a column that was not masked, or only permuted, the file's own quantile is known: for the
    file there is no error, for a sample the interval is that of the binomial. Of a column that was
    drawn the number of reports up to t is a sum of independent tosses, one for each place; its
    expectation is that of the original, and its variance follows from the matrix.

    Args:
        values: The column.
        share: Which quantile, 0.5 for the median.
        drawn: The matrix it was drawn with, if it was drawn.
        ordered: Whether that matrix met it in the order of its values.
        variance: Of a sample of respondents, or of the masking of this file alone.
        level: How often the interval holds.

    >>> of_column(range(1, 100), 0.5).low, of_column(range(1, 100), 0.5).high
    (array([40.]), array([60.]))
    """
    line = np.sort(np.asarray(values, dtype=np.float64))
    n, z = line.size, quantile(level)
    if not 0 < share < 1:
        raise MatrixError(f"A quantile is asked for by a share between 0 and 1; got {share!r}.")
    if not n:
        raise MatrixError("There is no value, so there is no quantile.")
    rank = _rank(share, n)
    if drawn is None and variance == "file":
        first = last = rank
    elif drawn is None:
        tail = (1 - level) / 2
        first = _successes(tail, n, share)
        last = _successes(1 - tail, n, share) + 1
    else:
        below, above = _reach(drawn, ordered, share if variance == "sample" else None, rank, n, z)
        first, last = math.floor(rank + 0.5 - below), math.ceil(rank - 0.5 + above)
    low = -np.inf if first < 1 else line[first - 1]
    high = np.inf if last > n else line[last - 1]
    middle = line[rank - 1]
    ends = np.clip([first, last], 1, n)
    se = (line[ends[1] - 1] - line[ends[0] - 1]) / (2 * z)
    middle, se, low, high = (np.array([number]) for number in (middle, se, low, high))
    return Estimates(middle, se, low, high)


def _successes(chance: float, n: int, share: float) -> int:
    """The least number of successes in n tosses that is not exceeded with at least this chance."""
    found = max(math.ceil(float(bdtrik(chance, n, share))), 0)
    return found - 1 if found and float(bdtr(found - 1, n, share)) >= chance else found


def _rank(share: float, n: int) -> int:
    """The rank of the least value that a share of all does not exceed."""
    return min(max(math.ceil(share * n - TINY), 1), n)


def _reach(
    drawn: Bistochastic, ordered: bool, share: float | None, rank: int, n: int, z: float
) -> tuple[float, float]:
    """How many ranks the interval reaches down and up, with the spread as it is at its ends."""
    sampled = 0.0 if share is None else n * share * (1 - share)

    def spread(at: float) -> float:
        place = min(max(round(at), 0), n)
        return math.sqrt(sampled + drawn_spread(drawn, place, ordered))

    here = spread(rank)
    reaches = []
    for side in (-1, 1):
        reach = z * here
        for _ in range(NEAR):
            reach = z * max(here, spread(rank + side * reach))
        reaches.append(reach)
    return reaches[0], reaches[1]


def drawn_spread(matrix: Bistochastic, rank: int, ordered: bool = True) -> float:
    r"""The variance of how many of the values drawn are among the least of the original.

    Place v draws one of them with probability $q_v = \sum_{u < r} p_{uv}$, so it is
    $\sum_v q_v(1 - q_v)$. If the matrix met the values in another order, whose values these are
    is not known, and it is at most $r(1 - r/n)$.

    >>> from bistochastic import Blocks
    >>> drawn_spread(Blocks([4, 4]), 2), drawn_spread(Blocks([4, 4]), 4)
    (1.0, 0.0)
    """
    n = matrix.size
    if not ordered:
        return rank * (1 - rank / n)
    chance = matrix.rmatvec((np.arange(n) < rank).astype(np.float64))
    return float(np.maximum(chance * (1 - chance), 0.0).sum())


def of_cells(
    reports: ArrayLike,
    values: ArrayLike,
    share: float,
    correction: Correction,
    *,
    weights: ArrayLike | None = None,
    variance: Variance = "sample",
    level: float = 0.95,
) -> tuple[Estimates, NDArray[np.bool_]]:
    """A quantile within each true cell, and where its distribution function falls too far.

    The weight of a record in a cell is its entry of the inverse, which may be negative; so the
    estimated distribution function may fall. The quantile is where the middle between the least
    function above it and the greatest below, neither of which falls, reaches the share. It falls
    too far where that middle is further from it than its own error allows. The interval spans all
    t that a test of its level does not exclude.

    Args:
        reports: The reported cell of each record.
        values: Its number.
        share: Which quantile, 0.5 for the median.
        correction: What undoes the channel of the cells.
        weights: The weight of each record; one each unless given.
        variance: Of a sample of respondents, or of the masking of this file alone.
        level: How often the interval holds.
    """
    if not 0 < share < 1:
        raise MatrixError(f"A quantile is asked for by a share between 0 and 1; got {share!r}.")
    numbers = np.asarray(values, dtype=np.float64)
    order = np.argsort(numbers, kind="stable")
    line, cells = numbers[order], np.asarray(reports)[order]
    w = np.ones(line.size) if weights is None else np.asarray(weights, dtype=np.float64)[order]
    last = np.append(line[1:] != line[:-1], True)  # of equal values, the last one counts them all
    z = quantile(level)
    inverse = correction.dense()
    found = [_of_cell(line, w, row[cells], last, share, z, variance) for row in inverse]
    columns: list[Any] = [np.array(column) for column in zip(*found, strict=True)]
    return Estimates(*columns[:4]), columns[4].astype(bool)


def _of_cell(
    line: Array,
    w: Array,
    q: Array,
    last: NDArray[np.bool_],
    share: float,
    z: float,
    variance: Variance,
) -> tuple[float, float, float, float, bool]:
    """The quantile in one cell, its error, its interval, and whether the function falls too far."""
    weight, n = w * q, line.size
    up = np.cumsum(weight)
    size = up[-1] if n else 0.0
    if not size > 0:
        return math.nan, math.nan, -math.inf, math.inf, False
    heavy = w * w * (q * q if variance == "sample" else q * q - q)
    below, whole = np.cumsum(heavy), float(heavy.sum())
    # Σ heavy (1(y ≤ t) - p)², for each t
    spread = np.maximum(below * (1 - share) ** 2 + (whole - below) * share**2, 0.0)
    away = up - share * size
    if variance == "sample":
        spread = np.maximum(spread - away**2 / n, 0.0) * n / max(n - 1, 1)
    values, mended = line[last], _mended(up[last])
    at = int(np.argmax(mended >= (share - TINY) * size))
    distance, reach = away[last], z * np.sqrt(spread[last])
    fell = bool(abs(mended[at] - up[last][at]) > reach[at] + TINY * size)
    open_ = np.abs(distance) <= reach + TINY * size
    low, high = _ends(values, distance, open_, at, reach, share, size, whole, z, variance, n)
    start, stop = max(low, values[0]), min(high, values[-1])
    return float(values[at]), float((stop - start) / (2 * z)), low, high, fell


def _mended(up: Array) -> Array:
    """A function that never falls: the middle of the least above it and the greatest below."""
    above = np.maximum.accumulate(up)
    below = np.minimum.accumulate(up[::-1])[::-1]
    return (above + below) / 2


def _ends(
    values: Array,
    distance: Array,
    open_: NDArray[np.bool_],
    at: int,
    reach: Array,
    share: float,
    size: float,
    whole: float,
    z: float,
    variance: Variance,
    n: int,
) -> tuple[float, float]:
    """The first value that is not excluded, and the one after the last."""
    # Before the least value the function is 0: can it reach the share already there?
    none = max(whole, 0.0) * share**2
    if variance == "sample":
        none = max(none - (share * size) ** 2 / n, 0.0) * n / max(n - 1, 1)
    low_open = share * size <= z * math.sqrt(none)
    places = np.flatnonzero(open_)
    first = min(int(places[0]), at) if places.size else at
    final = max(int(places[-1]) + 1, at) if places.size else at
    low = -math.inf if low_open else float(values[first])
    high = math.inf if final >= values.size else float(values[final])
    return low, high
