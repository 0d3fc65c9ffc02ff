"""What a joint channel does to one of its columns by itself."""

import math

import numpy as np

from bistochastic.errors import MatrixError
from bistochastic.matrices.blocks import Blocks
from bistochastic.matrices.dense import Dense
from bistochastic.matrices.mixture import Mixture
from bistochastic.matrices.stochastic import Stochastic
from bistochastic.plan.treatments import Treated

__all__ = ["marginal"]


def marginal(part: Treated, place: int) -> float:
    """The bits that one column of a group gets, the others' true values being equally likely."""
    sizes = [domain.size for domain in part.domains]
    n, matrix = sizes[place], part.matrix
    if len(sizes) == 1:
        return float(part.exact.bits)
    if isinstance(matrix, Blocks) and matrix.sizes.size == 1:
        return math.log2(n)
    if isinstance(matrix, Mixture):
        # Of the other cells, as many share this column's value as the other columns have cells.
        same = matrix.truth + (math.prod(sizes) // n - 1) * matrix.lie
        return Mixture(n, truth=min(same, 1.0)).bits if n > 1 else 0.0
    if not isinstance(matrix, Dense | Stochastic):
        raise MatrixError(f"{matrix!r} has no marginal that is known here.")
    cells = matrix.array.reshape(*sizes, *sizes)
    others = tuple(axis for axis in range(len(sizes)) if axis != place)
    summed = cells.sum(axis=tuple(len(sizes) + axis for axis in others))
    return Stochastic(np.mean(summed, axis=others)).bits
