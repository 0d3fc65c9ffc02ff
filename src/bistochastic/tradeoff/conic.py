r"""The same by a general conic solver: the dual, with an exponential cone for each (w, x̂).

$$\max_{\nu,t}\ \sum_x p(x)t_x \quad\text{over}\quad t_x \le \kappa d(x,\hat x) +
\sum_w p(w|x)\nu(w,\hat x),\quad \sum_w p(w)e^{\nu(w,\hat x)} \le 1.$$

The multipliers of the first constraints are the joint law of X and X̂. It is an independent witness
for `solver`, which is faster because it knows how the problem is built.
"""

import numpy as np
from scipy import sparse

from bistochastic.errors import MatrixError
from bistochastic.matrices.checks import guard_cells
from bistochastic.tradeoff.problem import Floats, Problem

__all__ = ["conic"]


def conic(problem: Problem, slope: float) -> tuple[Floats, Floats]:
    """A channel and a ν of least κD + R, as Clarabel finds them."""
    import clarabel  # which takes a moment to load, and most never need it

    x, reports = problem.charges.shape
    w = len(problem.behind)
    guard_cells(w * x * reports, "The conic form")
    matrix, right = _constraints(problem, slope)
    cells = w * reports
    cost = np.concatenate((np.zeros(cells), -problem.prior, np.zeros(cells)))
    cones = [clarabel.NonnegativeConeT(x * reports + reports)]
    cones += [clarabel.ExponentialConeT()] * cells
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    quadratic = sparse.csc_matrix((cost.size, cost.size))
    solution = clarabel.DefaultSolver(quadratic, cost, matrix, right, cones, settings).solve()
    law = np.maximum(np.asarray(solution.z[: x * reports]).reshape(x, reports), 0.0)
    totals = law.sum(axis=1, keepdims=True)
    if not np.isfinite(law).all() or totals.min() <= 0:
        raise MatrixError(f"The conic solver stopped without an answer: {solution.status}.")
    return law / totals, np.asarray(solution.x[:cells]).reshape(w, reports)


def _constraints(problem: Problem, slope: float) -> tuple[sparse.csc_matrix, Floats]:
    """Rows of A with Ax + s = b, over (ν, t, e): linear ones first, then (ν, 1, e) in cones."""
    x, reports = problem.charges.shape
    w = len(problem.behind)
    cells = w * reports
    each = sparse.eye_array(reports)
    below = sparse.hstack(
        (
            -sparse.kron(problem.behind.T, each),
            sparse.kron(sparse.eye_array(x), np.ones((reports, 1))),
            sparse.coo_array((x * reports, cells)),
        )
    )
    summed = sparse.hstack(
        (sparse.coo_array((reports, cells + x)), sparse.kron(problem.secret[None, :], each))
    )
    places = np.arange(cells)
    ones = np.full(cells, -1.0)
    first = sparse.coo_array((ones, (3 * places, places)), shape=(3 * cells, 2 * cells + x))
    last = sparse.coo_array(
        (ones, (3 * places + 2, cells + x + places)), shape=(3 * cells, 2 * cells + x)
    )
    cone = np.tile([0.0, 1.0, 0.0], cells)
    right = np.concatenate((slope * problem.charges.ravel(), np.ones(reports), cone))
    return sparse.csc_matrix(sparse.vstack((below, summed, first + last))), right
