r"""Bistochastic scaling: row and column factors that make every line of a matrix sum to one.

Everything works on logarithms, $P_{uv} = \exp(L_{uv} + f_u + g_v)$, so that entries from 1e-300 to
1e300 meet in one matrix. Alternating normalisation (Sinkhorn and Knopp, 1967) comes first; where it
would crawl, Newton's method on the dual takes over.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.matrices.assignment import require_total_support
from bistochastic.matrices.checks import as_square
from bistochastic.matrices.dual import column_sums, descend, exponential, log_sums

__all__ = ["scale", "scaled", "sinkhorn_array"]

Floats = NDArray[np.float64]
Potentials = tuple[Floats, Floats]

ROUNDS = 20  # of alternation between two looks at how fast it converges
MOST_BLOCKS = 6  # of such rounds, before a Newton step is the cheaper way
WIDE = 10.0  # a spread of logarithms that alternation and Newton's method manage unprepared
COARSE = 1e-4  # the defect asked of a mere start; a looser one would cost more steps later
SETTLED = 0.05  # the defect at which a start that was given is taken for a good one
LEAST_SUM = 1e-250  # of a row or column that alternation may divide by
RELAXATION = 2 / 3  # the exponent of the symmetric step, see `symmetric_rounds`


def scale(
    log_kernel: Floats, *, start: Potentials | None = None, tolerance: float = 1e-14
) -> Potentials:
    r"""The potentials f, g for which exp(log_kernel + f_u + g_v) is bistochastic.

    Entries of -inf are zeros. A symmetric kernel gets f equal to g, so that the scaled matrix is
    exactly symmetric too, provided that f_u + g_v is added up first. The potentials are as good as
    their own rounding: `scaled` gives a matrix whose sums are right to the last digits even where
    the potentials are large.

    >>> f, g = scale(np.log([[1.0, 2.0], [3.0, 4.0]]))
    >>> float(np.exp(np.log(2.0) + f[0] + g[1]).round(4))
    0.5505
    """
    log_kernel = np.asarray(log_kernel, dtype=np.float64)
    if np.array_equal(log_kernel, log_kernel.T):
        return scale_symmetric(log_kernel, start, tolerance)
    return scale_general(log_kernel, start, tolerance)


def scaled(log_kernel: Floats, *, start: Potentials | None = None) -> tuple[Floats, Potentials]:
    """The bistochastic matrix itself, polished in place, and its potentials."""
    log_kernel = np.asarray(log_kernel, dtype=np.float64)
    row_potentials, column_potentials = scale(log_kernel, start=start)
    # Large potentials round to more than the tolerance. Around them the corrections are small, so
    # a second scaling of what they leave gives the missing digits.
    rest = apply(log_kernel, row_potentials, column_potentials)
    matrix = np.exp(rest)
    if defect(matrix) > 1e-14:
        nought = np.zeros(matrix.shape[0])
        matrix = np.exp(apply(rest, *scale(rest, start=(nought, nought))))
    symmetric = row_potentials is column_potentials
    return polish(matrix, symmetric=symmetric), (row_potentials, column_potentials)


def apply(log_kernel: Floats, row_potentials: Floats, column_potentials: Floats) -> Floats:
    """The logarithms of the scaled matrix; adding the potentials first keeps symmetry exact."""
    exponents = row_potentials[:, None] + column_potentials[None, :]
    exponents += log_kernel
    return exponents


def defect(matrix: Floats) -> float:
    """How far the worst row or column sum is from one."""
    rows = np.abs(matrix.sum(axis=1) - 1).max()
    return float(max(rows, np.abs(column_sums(matrix) - 1).max()))


def polish(matrix: Floats, *, symmetric: bool) -> Floats:
    """Remove the last digits of the defect by multiplication, which keeps zeros and symmetry."""
    for _ in range(2):
        if symmetric:
            factors = 1 / np.sqrt(matrix.sum(axis=1))
            matrix *= factors[:, None] * factors[None, :]
        else:
            matrix /= column_sums(matrix)[None, :]
            matrix /= matrix.sum(axis=1)[:, None]
    return matrix


def scale_symmetric(log_kernel: Floats, start: Potentials | None, tolerance: float) -> Potentials:
    """Scale a symmetric kernel by one potential for rows and columns."""
    potentials = -log_sums(log_kernel, 1) / 2 if start is None else (start[0] + start[1]) / 2
    left = np.inf
    for _ in range(MOST_BLOCKS):
        matrix = exponential(apply(log_kernel, potentials, potentials))
        factors, left, rate = symmetric_rounds(matrix, tolerance)
        if not np.isfinite(left):
            break
        potentials = potentials + np.log(factors)
        if left <= tolerance:
            return potentials, potentials
        if hopeless(left, rate, tolerance):
            break
    kept = (potentials, potentials) if np.isfinite(left) else None
    row_potentials, column_potentials = scale_general(log_kernel, kept, tolerance)
    # With (f, g) the pair (g, f) is optimal too, hence their mean, as the dual is convex.
    potentials = (row_potentials + column_potentials) / 2
    return potentials, potentials


def symmetric_rounds(matrix: Floats, tolerance: float) -> tuple[Floats, float, float]:
    r"""Factors from some rounds of $s \leftarrow s\,(s\,Ks)^{-2/3}$, the defect left and the rate.

    Each round multiplies the error along an eigenvector of eigenvalue λ by 1 − ⅔(1+λ): at most a
    third in size for a positive semidefinite kernel, where the exponent ½ would give a half.
    """
    factors = np.ones(matrix.shape[0])
    lefts = []
    for _ in range(ROUNDS):
        sums = factors * (matrix @ factors)
        if not tame(sums):
            return factors, np.inf, 1.0
        lefts.append(float(np.abs(sums - 1).max()))
        if lefts[-1] <= tolerance:
            break
        factors *= sums**-RELAXATION
    return factors, lefts[-1], rate_of(lefts)


def tame(sums: Floats) -> bool:
    """Whether sums can be divided by without leaving the range of floating point."""
    return bool((sums > LEAST_SUM).all() and (sums < 1 / LEAST_SUM).all())


def rate_of(lefts: list[float]) -> float:
    """By what factor a round shrinks the defect, from the later half of those done."""
    half = len(lefts) // 2
    if len(lefts) < 2 or lefts[half] == 0:
        return 0.0
    return float((lefts[-1] / lefts[half]) ** (1 / max(len(lefts) - 1 - half, 1)))


def hopeless(left: float, rate: float, tolerance: float) -> bool:
    """Whether alternation would need more rounds than Newton's method is worth."""
    return rate >= 1 or left * rate ** (ROUNDS * (MOST_BLOCKS - 1)) > tolerance


def scale_general(log_kernel: Floats, start: Potentials | None, tolerance: float) -> Potentials:
    """Scale any kernel: alternation where it is quick, else by way of its flatter powers."""
    row_potentials, column_potentials, left = alternate(log_kernel, start, tolerance)
    if left <= tolerance:
        return row_potentials, column_potentials
    if start is not None and left > SETTLED:
        return scale_general(log_kernel, None, tolerance)  # the start was of no use
    if start is None and spread(log_kernel) > WIDE:
        row_potentials, column_potentials = approach(log_kernel)
    rest = apply(log_kernel, row_potentials, column_potentials)
    more_rows, more_columns = descend(rest, tolerance)
    return row_potentials + more_rows, column_potentials + more_columns


def approach(log_kernel: Floats) -> Potentials:
    """Good starting potentials for a kernel of wide range, from those of its roots.

    The 2^k-th roots of the entries span a small range for some k. From there the entries are
    squared stage by stage.
    """
    halvings = int(np.ceil(np.log2(spread(log_kernel) / WIDE)))
    latest = settle(log_kernel / 2.0**halvings, None)
    earlier: Potentials | None = None
    for halving in range(halvings - 1, 0, -1):
        start = squared(latest, earlier)
        earlier, latest = latest, settle(log_kernel / 2.0**halving, start)
    return squared(latest, earlier)


def settle(log_kernel: Floats, start: Potentials | None) -> Potentials:
    """Potentials good enough to start the next stage."""
    rows, columns, left = alternate(log_kernel, start, COARSE)
    if left <= COARSE:
        return rows, columns
    more_rows, more_columns = descend(apply(log_kernel, rows, columns), COARSE)
    return rows + more_rows, columns + more_columns


def squared(latest: Potentials, earlier: Potentials | None) -> Potentials:
    """Potentials of the squared entries: twice the latest, nearly, plus the trend of the error."""
    rows, columns = latest
    if earlier is None:
        return 2 * rows, 2 * columns
    return 3 * rows - 2 * earlier[0], 3 * columns - 2 * earlier[1]


def alternate(
    log_kernel: Floats, start: Potentials | None, tolerance: float
) -> tuple[Floats, Floats, float]:
    """Potentials after alternating normalisation, and the defect left; stops where it crawls."""
    if start is None:
        row_potentials = -log_sums(log_kernel, 1)
        column_potentials = -log_sums(log_kernel + row_potentials[:, None], 0)
    else:
        row_potentials, column_potentials = start
    left = np.inf
    for _ in range(MOST_BLOCKS):
        matrix = exponential(apply(log_kernel, row_potentials, column_potentials))
        rows, columns, left, rate = rounds(matrix, tolerance)
        if not np.isfinite(left):
            break
        row_potentials = row_potentials + np.log(rows)
        column_potentials = column_potentials + np.log(columns)
        if left <= tolerance or hopeless(left, rate, tolerance):
            break
    return row_potentials, column_potentials, left


def rounds(matrix: Floats, tolerance: float) -> tuple[Floats, Floats, float, float]:
    """Row and column factors from some rounds of alternation, the defect left and the rate."""
    columns = np.ones(matrix.shape[0])
    rows = columns
    lefts = []
    for _ in range(ROUNDS):
        row_sums = matrix @ columns
        if not tame(row_sums):
            return rows, columns, np.inf, 1.0
        lefts.append(float(np.abs(rows * row_sums - 1).max()))
        if len(lefts) > 1 and lefts[-1] <= tolerance:
            break
        rows = 1 / row_sums
        sums = rows @ matrix
        if not tame(sums):
            return rows, columns, np.inf, 1.0
        columns = 1 / sums
    return rows, columns, lefts[-1], rate_of(lefts)


def spread(log_kernel: Floats) -> float:
    """The range of the logarithms of the positive entries."""
    return float(np.ptp(log_kernel[np.isfinite(log_kernel)]))


def sinkhorn_array(array: ArrayLike) -> Floats:
    """The bistochastic scaling of a non-negative square array.

    It exists iff every positive entry lies in some perfect matching of positive entries (Sinkhorn
    and Knopp, 1967), which is checked.

    >>> sinkhorn_array([[1.0, 1e200], [1e-200, 1.0]]).round(12).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    square = as_square(array, "The array to scale")
    support = square > 0
    if not support.all():
        require_total_support(support)
    with np.errstate(divide="ignore"):
        log_kernel = np.log(square)
    return scaled(log_kernel)[0]
