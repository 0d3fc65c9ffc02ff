r"""Numbers that changed places between records: what stands for a number without bias.

The value of rank u went to the record of rank v with probability $p_{uv}$, so what a record of true
rank v now shows has the expectation $(P^\top y)_v$. Two cases can be undone.

*The ranks of the records are known*: they follow from their positions or from a column that was
published as it is. Then $h = (P^\top)^{-1} y^*$ has the expectation y.

*The values were ordered by themselves.* Then the rank of a record is not known, but which rank it
shows is, for no value was lost: it is a report of the true rank through the channel $P^\top$. With
h the solution of $P^\top h = y$ over the sorted values, $h$ at the rank shown has the expectation
of the value that was there.

A mixture treats all ranks alike, so no order is needed. Which permutation was drawn is one event
for all records; what it adds to a variance follows from its recipe.
"""

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_banded
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from bistochastic.errors import MatrixError, SingularMatrixError
from bistochastic.matrices.base import Bistochastic, refuse_singular
from bistochastic.matrices.blocks import Blocks
from bistochastic.matrices.mixture import Mixture
from bistochastic.matrices.tridiagonal import Tridiagonal
from bistochastic.matrices.window import Window

__all__ = ["Restored", "bounds", "restored"]

Array = NDArray[Any]
Order = NDArray[np.int64]

LOST = 1e9  # times the range of the values: beyond it, what stands for them is rounding


@final
@dataclass(frozen=True, slots=True, eq=False)
class Restored:
    """What stands for the numbers of a permuted column, and for their squares, in row order."""

    values: NDArray[Any]
    squares: Array
    matrix: Mixture | Tridiagonal
    order: Order  # the row of each rank
    line: Array  # by rank, the numbers that the permutation moves
    solved: bool  # whether the weights are what is solved, since these numbers are not

    def spread(self, weights: ArrayLike) -> float:
        r"""The variance of $\sum_i \alpha_i h_i$ that comes from the permutation, for weights α."""
        alpha = np.asarray(weights, dtype=np.float64)[self.order]
        if isinstance(self.matrix, Mixture):
            return _subset_spread(alpha, self.line, self.matrix)
        if self.solved:
            return _matching_spread(self.matrix.solve(alpha), self.line, self.matrix)
        return _matching_spread(alpha, self.line, self.matrix)


def restored(values: ArrayLike, matrix: Bistochastic, order: Order | None = None) -> Restored:
    """What stands for the numbers of a column that was permuted.

    Args:
        values: The column as it was published, nothing missing.
        matrix: What it was permuted with.
        order: The row of each rank, where the ranks are known; by value if not given.

    >>> h = restored([1.0, 2.0, 4.0], Mixture(3, truth=0.8)).values
    >>> [round(float(number), 3) for number in h], round(float(h.mean()), 3)
    ([0.429, 1.857, 4.714], 2.333)
    """
    column = np.asarray(values, dtype=np.float64)
    if column.size != matrix.size:
        raise MatrixError(f"{column.size} values do not go with {matrix!r}.")
    if isinstance(matrix, Mixture):
        refuse_singular(matrix)
        keep = (matrix.size * matrix.truth - 1) / (matrix.size - 1) if matrix.size > 1 else 1.0
        h, g = (line.mean() + (line - line.mean()) / keep for line in (column, column**2))
        return Restored(h, g, matrix, np.arange(column.size), h, solved=False)
    if not isinstance(matrix, Tridiagonal):
        raise MatrixError(_unknown(matrix))
    if order is not None:
        line = column[order]
        h, g = np.empty_like(column), np.empty_like(column)
        h[order], g[order] = matrix.rsolve(np.stack((line, line**2), axis=1)).T
        _refuse_lost(h, column, matrix)
        return Restored(h, g, matrix, order, line, solved=True)
    distinct, place, counts = np.unique(column, return_inverse=True, return_counts=True)
    by_class = _solved_classes(distinct, counts, matrix.alphas)
    h, g = by_class[place.ravel()].T
    _refuse_lost(h, column, matrix)
    sorted_ = np.argsort(column, kind="stable")
    return Restored(h, g, matrix, sorted_, h[sorted_], solved=False)


def _unknown(matrix: Bistochastic) -> str:
    if isinstance(matrix, Blocks):
        return (
            f"Within the {matrix.sizes.size} blocks in which it was permuted, nobody can tell who "
            f"had which of the values: only sums over whole blocks are left, and so only bounds of "
            f'a mean within other cells. Ask for statistic "bounds".'
        )
    if isinstance(matrix, Window):
        return (
            f"A window of width {matrix.width} can only be undone by magnifying every irregularity "
            f"without limit, so no mean or total within cells is estimated. How far a value can "
            f'have moved gives bounds of a mean. Ask for statistic "bounds".'
        )
    return (
        f"No mean or total within cells is estimated of a column that was permuted with "
        f"{matrix!r}: what its recipe adds to an error is known for mixtures and tridiagonal "
        f"matrices only."
    )


def _refuse_lost(h: Array, column: Array, matrix: Bistochastic) -> None:
    reach = float(np.ptp(column)) if column.size else 0.0
    if not np.isfinite(h).all() or np.abs(h - column.mean()).max(initial=0.0) > LOST * reach:
        raise SingularMatrixError(
            f"{matrix!r} cannot be undone on these values: what would stand for them has no "
            f'correct digit. Ask for statistic "bounds".'
        )


def _solved_classes(distinct: Array, counts: Order, alphas: Array) -> Array:
    """What stands for each distinct value and for its square, where equal values are one class.

    Ranks of equal values cannot be told apart, so a record of such a class is at each of its ranks
    alike: it leaves the class with the α at its border, divided by the size of the class.
    """
    ends = np.cumsum(counts)[:-1] - 1
    flow = alphas[ends]
    system = np.zeros((3, distinct.size))
    system[1] = counts
    system[1, :-1] -= flow
    system[1, 1:] -= flow
    system[0, 1:] = system[2, :-1] = flow
    wanted = counts[:, None] * np.stack((distinct, distinct**2), axis=1)
    if distinct.size == 1:
        return wanted / system[1, :, None]
    try:
        solved: Array = solve_banded((1, 1), system, wanted)
    except np.linalg.LinAlgError:
        return np.full_like(wanted, np.nan)
    return solved


def _subset_spread(alpha: Array, beta: Array, matrix: Mixture) -> float:
    r"""The variance of $T = \sum_v \alpha_v \beta_{\sigma^{-1}(v)}$ when a subset changes places.

    With a and b centred, $E[T^2] = c_Y\sum a^2b^2 + c_X(\sum ab)^2 + c_N\sum a^2\sum b^2$ and
    $E[T] = k\sum ab$, where b is how the numbers stood. The first sum is read off through the
    mixture, the last one no permutation changes, and so $T^2$ tells the second without bias.
    """
    n = alpha.size
    if n < 2:
        return 0.0
    keep = (n * matrix.truth - 1) / (n - 1)
    a, b = alpha - alpha.mean(), beta - beta.mean()
    both = float(a @ a) * float(b @ b)
    if n * matrix.truth < 1:  # next to a uniform permutation
        return both / (n - 1)
    single, crossed, apart = _second_moment(n, matrix)
    alone = single * float((a * a) @ _unmixed(b * b, keep)) + apart * both
    squared = float(a @ b) ** 2
    crosses = squared / keep**2
    if crossed > keep**2 / 2:  # which fails where hardly anything is told
        crosses = (squared - alone) / crossed
    return max(alone + (crossed - keep**2) * crosses, 0.0)


def _second_moment(n: int, matrix: Mixture) -> tuple[float, float, float]:
    """What the sums of products count for, from the chances that two values go to two places.

    These depend only on which of the four coincide: both stay, they swap, one stays, one takes the
    place of the other, or both go elsewhere. Sums over distinct places follow from a and b being
    centred.
    """
    moving = n * (1 - matrix.truth)
    fewer = math.floor(moving)
    chances = np.zeros(3)
    for size, share in ((1 + fewer, 1 - (moving - fewer)), (2 + fewer, moving - fewer)):
        chances += share * np.array(_pairs(n, min(size, n)))
    paired, one, none = chances  # both stay or swap; one of them stays or follows; neither
    return (
        matrix.truth - matrix.lie - paired + 4 * one - 6 * none,
        paired - 2 * one + 2 * none,
        matrix.lie + none,
    )


def _pairs(n: int, size: int) -> tuple[float, float, float]:
    """The chances for a subset of one size, whose members change places uniformly."""
    if size < 2:
        return 1.0, 0.0, 0.0  # everybody stays
    pairs, rest = n * (n - 1), n - size
    stay = rest * (rest - 1) / pairs + 2 * rest / pairs + 1 / pairs
    one = ((size - 1) * rest + 2 * (size - 2)) / (pairs * (n - 2)) if n > 2 else 0.0
    none = (size - 2) * (size - 3) / (pairs * (n - 2) * (n - 3)) if n > 3 else 0.0
    return stay + 1 / pairs, one, none


def _unmixed(line: Array, keep: float) -> Array:
    mean = line.mean()
    undone: Array = mean + (line - mean) / keep
    return undone


def _matching_spread(alpha: Array, beta: Array, matrix: Tridiagonal) -> float:
    r"""The variance of $\sum_v \alpha_v \beta_{\sigma^{-1}(v)}$ when neighbours change places.

    A pair e that does adds $d_e = -(\alpha_{e+1}-\alpha_e)(\beta_{e+1}-\beta_e)$. Pairs are
    taken one after the other, the next one only where this one was not: with $p_e$ the chance of
    pair e, $Cov(m_e, m_{e+k}) = p_e(1-p_e)\prod_{j=1}^{k} -p_{e+j}/(1-p_{e+j-1})$. Both sides are
    taken as they stand after the exchange, which leaves every pair itself as it was.
    """
    p = matrix.alphas
    if not p.size:
        return 0.0
    d = -np.diff(alpha) * np.diff(beta)
    with np.errstate(divide="ignore", invalid="ignore"):
        link = np.where(p[:-1] < 1, -p[1:] / (1 - p[:-1]), 0.0)
    # What follows e: r_e = link_e (d_{e+1} + r_{e+1}), solved from the end.
    system = np.ones((2, d.size))
    system[0, 1:] = -link
    wanted = np.append(link * d[1:], 0.0)
    following = solve_banded((0, 1), system, wanted)
    return float(max((p * (1 - p) * d * (d + 2 * following)).sum(), 0.0))


def bounds(
    values: ArrayLike, matrix: Bistochastic, order: Order | None = None
) -> tuple[Array, Array]:
    """The least and the greatest that the true value of each record can be.

    The arguments are those of `restored`. A value was moved within its block, or by a few ranks at
    most, so the true one is among those of the block, or of the ranks around.

    >>> low, high = bounds([3.0, 1.0, 2.0, 9.0], Blocks([2, 2]))
    >>> low.tolist(), high.tolist()
    ([3.0, 1.0, 1.0, 3.0], [9.0, 2.0, 2.0, 9.0])
    """
    column = np.asarray(values, dtype=np.float64)
    if column.size != matrix.size:
        raise MatrixError(f"{column.size} values do not go with {matrix!r}.")
    if not isinstance(matrix, Blocks | Tridiagonal | Window):
        raise MatrixError(
            f"{matrix!r} may move a value anywhere, so it sets no bounds but the least and the "
            f"greatest value of all."
        )
    sorted_ = np.sort(column)
    if order is None:  # of equal values, any of their ranks may be the one
        first = np.searchsorted(sorted_, column, side="left")
        last = np.searchsorted(sorted_, column, side="right") - 1
        low, high = _reached(first, last, matrix)
        return sorted_[low], sorted_[high]
    line = column[order]
    low_line, high_line = np.empty_like(line), np.empty_like(line)
    if isinstance(matrix, Blocks):
        least = np.minimum.reduceat(line, matrix.starts)
        most = np.maximum.reduceat(line, matrix.starts)
        low_line[order], high_line[order] = (
            np.repeat(ends, matrix.sizes) for ends in (least, most)
        )
    else:
        reach = 2 * _width(matrix) + 1
        low_line[order] = minimum_filter1d(line, reach, mode="nearest")
        high_line[order] = maximum_filter1d(line, reach, mode="nearest")
    return low_line, high_line


def _width(matrix: Tridiagonal | Window) -> int:
    width = 1 if isinstance(matrix, Tridiagonal) else int(matrix.width)
    return min(width, matrix.size - 1)


def _reached(
    first: Order, last: Order, matrix: Blocks | Tridiagonal | Window
) -> tuple[Order, Order]:
    """The least and the greatest rank from which values of these ranks can have come."""
    if isinstance(matrix, Blocks):
        starts, sizes = matrix.starts, matrix.sizes
        final = matrix.block_of(last)
        return starts[matrix.block_of(first)], starts[final] + sizes[final] - 1
    width = _width(matrix)
    return np.maximum(first - width, 0), np.minimum(last + width, matrix.size - 1)
