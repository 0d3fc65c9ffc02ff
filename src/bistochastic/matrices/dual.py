r"""Newton's method on the dual of bistochastic scaling, for the matrices alternation stalls on.

With rows normalised, $f_u = -\ln\sum_v e^{L_{uv}+g_v}$, what is left is to minimise the convex
$h(g) = -\sum_u f_u - \sum_v g_v$. Its gradient is the column sums less one, its Hessian
$\mathrm{diag}(c) - P^\top P$: the Laplacian of a graph whose weights are the overlaps of columns.
"""

from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from bistochastic.errors import SupportError

__all__ = ["column_sums", "descend", "exponential", "log_sums"]

Floats = NDArray[np.float64]

SUBNORMAL = -660.0  # e^-660 times a modest factor is still a normal number
NO_OVERLAP = 1e-40  # an entry this small adds nothing to a Hessian damped by 1e-15

MOST_STEPS = 200
MOST_HALVINGS = 40
ROUNDED = 5e-13  # defects below this may be rounding, if they resist
LARGEST_DEFECT = 1e-9  # what is left when rounding ends the descent must be below this
LARGEST_MOVE = 60.0  # of a potential in one step: a factor e^60 on an entry


@final
class Point(NamedTuple):
    """One place on the way: potentials and the matrix they give, its rows summing to one."""

    row_potentials: Floats
    column_potentials: Floats
    matrix: Floats
    gradient: Floats

    @property
    def defect(self) -> float:
        """How far the worst column sum is from one."""
        return float(np.abs(self.gradient).max())


def log_sums(log_kernel: Floats, axis: int) -> Floats:
    """The logarithms of the row sums (axis 1) or column sums (axis 0) of exp(log_kernel)."""
    top = log_kernel.max(axis=axis, keepdims=True)
    if np.isneginf(top).any():
        line = "column" if axis == 0 else "row"
        empty = int(np.argmax(np.isneginf(top)))
        raise SupportError(
            f"{line.capitalize()} {empty} has no positive entry; no {line} may be empty."
        )
    sums: Floats = np.log(np.exp(log_kernel - top).sum(axis=axis)) + top.squeeze(axis)
    return sums


def exponential(exponents: Floats) -> Floats:
    """The exponential, in place, without subnormal numbers: they slow all arithmetic down."""
    exponents[exponents < SUBNORMAL] = -np.inf
    np.minimum(exponents, -SUBNORMAL, out=exponents)  # a useless start must not overflow
    return np.exp(exponents, out=exponents)


def column_sums(matrix: Floats) -> Floats:
    """Column sums, in two levels so that rounding does not grow with the number of rows."""
    parts = np.add.reduceat(matrix, np.arange(0, matrix.shape[0], 64), axis=0)
    sums: Floats = parts.sum(axis=0)
    return sums


def descend(log_kernel: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """Potentials that make exp(log_kernel + f + g) bistochastic, by damped Newton steps."""
    here = place(log_kernel, np.zeros(log_kernel.shape[0]))
    for _ in range(MOST_STEPS):
        if here.defect <= tolerance:
            break
        there = search(log_kernel, here, direction(here))
        if there is None:
            break
        # This close, a step that does not halve the defect has met the rounding of the sums.
        idle = here.defect < ROUNDED and there.defect > 0.5 * here.defect
        here = there
        if idle:
            break
    if here.defect > max(tolerance, LARGEST_DEFECT):
        raise SupportError(
            f"The scaling came to a halt with a column sum {here.defect:.3g} away from one: zeros "
            f"or the range of the entries leave no bistochastic matrix within reach."
        )
    return here.row_potentials, here.column_potentials


def place(log_kernel: Floats, column_potentials: Floats) -> Point:
    """Normalise the rows for given column potentials."""
    exponents = log_kernel + column_potentials[None, :]
    top = exponents.max(axis=1)
    exponents -= top[:, None]
    matrix = exponential(exponents)
    sums = matrix.sum(axis=1)
    matrix /= sums[:, None]
    return Point(-top - np.log(sums), column_potentials, matrix, column_sums(matrix) - 1)


def direction(here: Point) -> Floats:
    """The Newton step, damped by the size of the gradient.

    The damping keeps quadratic convergence, bounds the step where the Hessian is nearly flat, and
    makes the disconnected parts of a decomposable matrix (each flat along its constant) harmless.
    """
    matrix = np.where(here.matrix < NO_OVERLAP, 0.0, here.matrix)
    hessian = matrix.T @ matrix
    np.fill_diagonal(hessian, 0.0)
    # The diagonal as a sum of positive weights, not as a difference: near a permutation the
    # difference c - p² would keep no correct digit.
    degree = hessian.sum(axis=1)
    np.negative(hessian, out=hessian)
    relative = 1e-12
    while True:
        damped = degree * (1 + relative) + 0.1 * here.defect
        np.fill_diagonal(hessian, damped)
        try:
            factor = cho_factor(hessian, lower=True, check_finite=False)
        except LinAlgError:
            relative *= 100
            continue
        step: Floats = cho_solve(factor, -here.gradient, check_finite=False)
        step -= step.mean()
        return step


def search(log_kernel: Floats, here: Point, step: Floats) -> Point | None:
    """A point further down along the step, or None where rounding ends the descent."""
    length = min(1.0, LARGEST_MOVE / float(np.abs(step).max()))
    slope = float(here.gradient @ step)
    for _ in range(MOST_HALVINGS):
        there = place(log_kernel, here.column_potentials + length * step)
        if improves(here, there, length * slope):
            break
        length /= 2
    else:
        return None
    # Entries that tend to zero do so like e^-x, for which Newton moves x by one each time: as long
    # as one step leaves much of the gradient, a doubled one costs far less than a new Hessian.
    while there.defect > 0.2 * here.defect and length * float(np.abs(step).max()) < LARGEST_MOVE:
        length *= 2
        beyond = place(log_kernel, here.column_potentials + length * step)
        if beyond.defect >= there.defect or not improves(here, beyond, length * slope):
            break
        there = beyond
    return there


def improves(here: Point, there: Point, expected: float) -> bool:
    """Whether the dual fell by a fair part of what the slope promises, or the defect clearly."""
    if there.defect <= 0.5 * here.defect:
        return True
    change = -float(
        (there.row_potentials - here.row_potentials).sum()
        + (there.column_potentials - here.column_potentials).sum()
    )
    return change <= 1e-4 * expected
