"""The least singular value of a matrix that is known only by what it does to vectors."""

import math
from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from bistochastic.errors import SingularMatrixError
from bistochastic.matrices.base import HOPELESS, Channel, Vector

__all__ = ["dense_condition", "inverse_norm", "lost_pivot", "plausible"]

SMALL = 512  # below this a dense decomposition is quicker than asking for vectors


def dense_condition(array: Vector) -> float:
    """The 2-norm condition number of an array; ∞ where rounding alone explains its inverse."""
    values = np.linalg.svd(array, compute_uv=False)
    rounding = np.finfo(np.float64).eps * len(array) * values[0]
    return float(values[0] / values[-1]) if values[-1] > rounding else math.inf


def inverse_norm(matrix: Channel, solve: Callable[[Vector], Vector]) -> float:
    """The condition of a symmetric bistochastic matrix: the largest |eigenvalue| of its inverse.

    Lanczos on the inverse, to six digits; ∞ where the solver itself meets a singular matrix.
    """
    if matrix.size <= SMALL:
        return dense_condition(matrix.to_dense())

    def undo(y: Vector) -> Vector:
        return plausible(matrix, solve(y.ravel()), y)

    operator = LinearOperator((matrix.size, matrix.size), matvec=undo, dtype=np.float64)
    start = np.cos(np.arange(matrix.size) ** 1.5)  # fixed, and orthogonal to no smooth mode
    try:
        value = eigsh(operator, k=1, which="LM", v0=start, tol=1e-6, return_eigenvectors=False)
    except SingularMatrixError:
        return math.inf
    except ArpackNoConvergence as unfinished:
        value = unfinished.eigenvalues
        if not len(value):
            return math.inf
    norm = float(np.abs(value).max())
    return norm if norm < HOPELESS else math.inf


def lost_pivot(pivots: Vector) -> bool:
    """Whether elimination met a pivot that is nothing but rounding."""
    sizes = np.abs(pivots)
    return bool(sizes.min() <= 16 * np.finfo(np.float64).eps * sizes.max())


def plausible(matrix: Channel, solution: Vector, given: Vector) -> Vector:
    """The solution, refused where it has grown so much that no digit of it can be right."""
    largest = float(np.abs(given).max())
    growth = float(np.abs(solution).max()) if np.isfinite(solution).all() else math.inf
    if growth > HOPELESS / 16 * largest and growth > 0:
        raise SingularMatrixError(
            f"{matrix!r} is singular to working precision: it cannot be undone. Estimate what is "
            f"identifiable, or choose a more truthful matrix."
        )
    return solution
