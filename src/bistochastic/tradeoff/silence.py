"""The least distortion at which nothing at all need be told: a linear program."""

import numpy as np
from scipy import sparse

from bistochastic.errors import MatrixError
from bistochastic.tradeoff.problem import Problem

__all__ = ["silent"]

LARGEST = 200_000  # coefficients of a program that is still solved while one waits


def silent(problem: Problem) -> float:
    r"""The least E d of reports independent of W, more than need be, in units of the span.

    For each w and x̂, $\sum_x (p(w|x) - p(w))\,u(x, \hat x) = 0$. Where that is too large a program,
    the constant report stands for it, which is never less.
    """
    x, reports = problem.charges.shape
    if problem.span <= 0:
        return 0.0
    surplus = problem.behind[:-1] - problem.secret[:-1, None]  # the last w follows
    if surplus.size * reports > LARGEST or np.linalg.matrix_rank(surplus) >= x - 1:
        return 1.0  # only a constant is independent where p(w|x) tells every two laws of x apart
    from scipy.optimize import linprog  # which takes a moment to load

    each = sparse.eye_array(reports)
    sums = sparse.kron(sparse.eye_array(x), np.ones((1, reports)))
    equal = sparse.vstack((sums, sparse.kron(sparse.csr_array(surplus), each)), format="csr")
    right = np.concatenate((problem.prior, np.zeros(len(surplus) * reports)))
    solution = linprog(problem.charges.ravel(), A_eq=equal, b_eq=right, method="highs")
    if solution.status:
        raise MatrixError("The least distortion of reports that tell nothing was not found.")
    return float(min(max(solution.fun, 0.0), 1.0))
