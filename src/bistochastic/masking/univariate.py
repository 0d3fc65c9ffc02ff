r"""Optimal microaggregation of one column: a shortest path along its sorted values.

Some best grouping has groups of k to 2k - 1 values that follow each other (Hansen and Mukherjee
2003), so the least sum of squares of the first $j$ values is $D_j = \min_s D_{j-s} + c_{j,s}$, with
$c_{j,s}$ that of the $s$ values before $j$. To go fast, the line is cut into parts that are all
walked at once. Where a part begins, $D$ is not known yet; but after a run-up the paths from all
beginnings have mostly met, and then only a constant is missing. Where they have not met, the part
is walked again from what its predecessor found.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["optimal"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Groups after which the paths from all beginnings have mostly met.
RUN_UP = 16

# Parts walked side by side, and sums held at once: what a step of NumPy does well.
PARTS = 256
CELLS = 1 << 15

# By what share two costs may differ and count as one.
SAME = 1e-12


def optimal(values: Floats, k: int) -> Integers:
    """Groups of k to 2k - 1 values with the least sum of squares within groups.

    Among equals the smaller group comes later; equal values keep the order of their rows.

    >>> optimal(np.array([7.0, 0.0, 1.0, 6.0, 5.0]), 2)
    array([1, 0, 0, 1, 1])
    """
    order = np.argsort(values, kind="stable")
    sizes = last_sizes(values[order], k).tolist()
    ends = [values.size]
    while ends[-1] > 0:
        ends.append(ends[-1] - sizes[ends[-1] - 1])
    groups = np.empty(values.size, dtype=np.int64)
    lengths = np.diff(np.array(ends[::-1]))
    groups[order] = np.repeat(np.arange(lengths.size), lengths)
    return groups


def last_sizes(ordered: Floats, k: int) -> Integers:
    """The size of the last group in a best grouping of the first 1, 2, ... values."""
    n, window = ordered.size, 2 * k - 1
    run_up = RUN_UP * window
    length = max(-(-n // PARTS), 2 * run_up, 2 * window)
    parts = -(-n // length)
    # Before the first value stand copies of it, which no group may reach; after the last as well.
    padded = np.pad(ordered, (run_up + window, parts * length - n), mode="edge")
    starts = np.arange(parts) * length
    lines = np.lib.stride_tricks.sliding_window_view(padded, run_up + window + length)[starts]
    begin = np.zeros((parts, window))
    met, _ = walk(lines[:, : run_up + window], begin, k)
    met[0] = np.inf
    met[0, -1] = 0.0
    ends, sizes = walk(lines[:, run_up:], met, k)
    while True:
        wrong = np.flatnonzero(differ(met[1:], ends[:-1])) + 1
        if wrong.size == 0:
            return sizes.ravel()[:n]
        wrong = wrong[np.diff(wrong, prepend=-1) > 1]  # what follows a wrong part would be again
        met[wrong] = ends[wrong - 1]
        ends[wrong], sizes[wrong] = walk(lines[wrong, run_up:], met[wrong], k)


def walk(lines: Floats, begin: Floats, k: int) -> tuple[Floats, Integers]:
    """Walk along several lines of values at once, from the last costs before each of them.

    A line holds the 2k - 1 values before its beginning too. What comes out are the last 2k - 1
    costs, the least of them zero, and the best size of the last group at each value.
    """
    window = 2 * k - 1
    parts, length = len(lines), lines.shape[1] - window
    costs = np.concatenate((begin, np.empty((parts, length))), axis=1)
    # From the smallest group to the largest, so that the smallest of equals is found first.
    before = np.lib.stride_tricks.sliding_window_view(costs, k, axis=1)[:, :, ::-1]
    sizes = np.empty((parts, length), dtype=np.int64)
    stretch = max(CELLS // (parts * window), k)
    for start in range(0, length, stretch):
        stop = min(start + stretch, length)
        within = spreads(lines[:, start + 1 : stop + window], k)
        for at in range(start, stop, k):  # no group that ends here begins after `at`
            end = min(at + k, stop)
            totals = before[:, at:end] + within[:, at - start : end - start]
            sizes[:, at:end] = totals.argmin(axis=2)
            costs[:, at + window : end + window] = totals.min(axis=2)
            # Only differences matter; small ones must not drown in what has been walked.
            costs[:, end : end + window] -= costs[:, end : end + window].min(axis=1, keepdims=True)
    return costs[:, length:], sizes + k


def spreads(values: Floats, k: int) -> Floats:
    """Sums of squares of the k to 2k - 1 values that end at each position.

    Measured from the last value of the group, so nothing cancels but within the group itself.
    """
    runs = np.lib.stride_tricks.sliding_window_view(values, 2 * k - 1, axis=1)[:, :, ::-1]
    apart = runs[:, :, :1] - runs
    sums = np.cumsum(apart, axis=2)[:, :, k - 1 :]
    squares = np.cumsum(apart * apart, axis=2)[:, :, k - 1 :]
    return np.maximum(squares - sums * sums / np.arange(k, 2 * k), 0.0)


def differ(one: Floats, other: Floats) -> NDArray[np.bool_]:
    """Which rows of costs are not the same: each cost by itself, as they may differ vastly."""
    return np.asarray((np.abs(one - other) > SAME * np.maximum(one, other)).any(axis=1))
