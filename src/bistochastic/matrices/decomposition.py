r"""The decomposition of Birkhoff and von Neumann: $P = \sum_j \lambda_j P_j$ over permutations."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from bistochastic.errors import SupportError

__all__ = ["birkhoff_terms"]

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.int64]

# Cells are whole multiples of 1 / GRID: subtracting them is exact, so a cell that is used up is
# exactly zero, never 1e-17. 2**60 leaves room for the sums of rows in 64 bits.
GRID = 2**60

# The mass that may stay undecomposed. Rounding hides what is much below it.
REST = 1e-13

# How far the threshold falls when no permutation lies above it. Nearer to one finds better
# permutations and so fewer of them; beyond 0.99 the searches cost more than they save.
FALL = 0.99

# Margins as good as sums of floats can be.
ROUNDING = 4 * float(np.finfo(np.float64).eps)


def birkhoff_terms(array: Floats) -> tuple[Floats, Integers]:
    r"""Weights $\lambda_j > 0$ and permutations with $P = \sum_j \lambda_j P_j$.

    `permutations[j, u]` is the column in which $P_j$ has the one of its row $u$. The terms are
    sorted by falling weight; the weights sum to one. There are never more than $n^2 - 2n + 2$,
    because each permutation owns a cell that no later one uses, which makes them linearly
    independent. No permutation uses a zero cell of the array. Each step takes a permutation
    whose least cell is within one percent of the greatest possible (the greedy rule of Dufossé
    and Uçar 2016), so that a dense array needs some $10 n$ terms to be exhausted.

    The terms give the array back within 1e-12. They leave out at most 1e-13 of the mass of each
    row, so a cell below that may be missing from all permutations. Where the margins of the array
    miss one by $d$, rows and columns are scaled first; the error is then of the order of $d$ in
    general and by Hall's theorem below $(2n + 6)d + 10^{-12}$ always.

    Args:
        array: A bistochastic array, its margins within 1e-9 of one.

    Raises:
        SupportError: The non-zero cells hold no permutation, so the array is not bistochastic.

    >>> weights, permutations = birkhoff_terms(np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> weights.tolist(), permutations.tolist()
    ([0.75, 0.25], [[0, 1], [1, 0]])
    """
    left = skewed(np.rint(balanced(array) * GRID).astype(np.int64))
    rows = np.arange(len(left))
    mass, threshold = GRID, float(GRID)
    amounts: list[int] = []
    permutations: list[Integers] = []
    while mass > REST * GRID:
        permutation, threshold = permutation_above(left, threshold)
        if permutation is None:  # the margins disagree by more than what is left
            break
        cells = rows, (permutation - rows) % len(left)
        amount = int(left[cells].min())
        left[cells] -= amount
        mass -= amount
        amounts.append(amount)
        permutations.append(permutation)
    if not permutations:
        raise SupportError(
            f"The {len(left)} by {len(left)} array has no permutation inside its non-zero cells, "
            "so its rows and columns cannot all sum to one. Check the array."
        )
    order = np.argsort(amounts, stable=True)[::-1]
    return shares(np.array(amounts, dtype=np.float64)[order]), np.array(permutations)[order]


def balanced(array: Floats) -> Floats:
    """The array with its rows and columns scaled to one while that at least halves their defect.

    Scaling that stops halving would move cells by much more than the defect it removes.
    """
    array = np.maximum(array, 0.0)
    before, defect = 1.0, margin_defect(array)  # from one half on there may be an empty row
    while ROUNDING < defect <= before / 2:
        scaled = array / array.sum(axis=1, keepdims=True)
        scaled /= scaled.sum(axis=0)
        before, defect = defect, margin_defect(scaled)
        if defect < before:
            array = scaled
    return array


def margin_defect(array: Floats) -> float:
    """How far the worst row or column sum is from one."""
    return max(float(np.abs(array.sum(axis=axis) - 1.0).max()) for axis in (0, 1))


def skewed(array: Integers) -> Integers:
    """Each row from its diagonal on: column v of row u comes to stand at (v - u) mod n.

    The search for a permutation tries the cells of a row in their order. Rows that each begin at
    another column seldom want the same one, which makes it 13 times faster on J/n of size 300.
    """
    rows = np.arange(len(array))
    return np.take_along_axis(array, (rows[:, None] + rows) % len(array), axis=1)


def permutation_above(left: Integers, threshold: float) -> tuple[Integers | None, float]:
    """A permutation of cells not below a threshold, the first that exists as it falls to one.

    The greatest possible threshold never rises while cells are only subtracted from, so the one
    returned is where the next search may start.
    """
    while True:
        # A permutation passes through every row, so it cannot beat the least of their maxima.
        threshold = min(threshold, float(left.max(axis=1).min()))
        if threshold < 1:
            return None, threshold
        columns = maximum_bipartite_matching(graph_above(left, threshold), perm_type="column")
        if columns.min() >= 0:
            return columns.astype(np.int64), threshold
        threshold *= FALL


def graph_above(left: Integers, threshold: float) -> csr_array:
    """The cells not below a threshold, as a bipartite graph of rows and columns."""
    rows, shifts = np.nonzero(left >= threshold)
    columns = (rows + shifts) % len(left)
    starts = np.zeros(len(left) + 1, dtype=np.int32)
    np.cumsum(np.bincount(rows, minlength=len(left)), out=starts[1:])
    edges = np.ones(len(columns), dtype=np.bool_)
    # From its three parts: several times faster than from the dense mask.
    return csr_array((edges, columns.astype(np.int32), starts), shape=left.shape)


def shares(amounts: Floats) -> Floats:
    """Amounts, the greatest first, as weights whose sum is one in floating point too."""
    weights: Floats = amounts / math.fsum(amounts)
    weights[0] += 1.0 - math.fsum(weights)
    return weights
