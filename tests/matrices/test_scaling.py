import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bistochastic.errors import MatrixError, SupportError
from bistochastic.matrices.dual import descend
from bistochastic.matrices.scaling import defect, scale, scaled, sinkhorn_array

laws = settings(derandomize=True, max_examples=60, deadline=None)
seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 12)
spreads = st.sampled_from([0.5, 5.0, 40.0, 300.0])


def kernel_of(seed, n, spread):
    """Logarithms drawn uniformly from a range."""
    return np.random.default_rng(seed).uniform(-spread, spread, (n, n))


def supported(seed, n, terms):
    """Logarithms on the union of a few permutations: zeros elsewhere, total support for sure."""
    rng = np.random.default_rng(seed)
    log_kernel = np.full((n, n), -np.inf)
    for _ in range(terms):
        log_kernel[np.arange(n), rng.permutation(n)] = rng.uniform(-30, 30, n)
    return log_kernel


def alternated(log_kernel, rounds):
    """Plain alternation in long arithmetic: slow, and independent of the code under test."""
    n = len(log_kernel)
    with mpmath.workdps(40):
        kernel = [[mpmath.exp(mpmath.mpf(float(x))) for x in row] for row in log_kernel]
        columns = [mpmath.mpf(1)] * n
        for _ in range(rounds):
            rows = [1 / mpmath.fdot(kernel[u], columns) for u in range(n)]
            columns = [1 / mpmath.fsum(kernel[u][v] * rows[u] for u in range(n)) for v in range(n)]
        return np.array(
            [[float(rows[u] * kernel[u][v] * columns[v]) for v in range(n)] for u in range(n)]
        )


@laws
@given(seeds, sizes, spreads)
def test_every_positive_kernel_is_scaled(seed, n, spread):
    """Sums are one to the last digits, and the potentials describe the matrix."""
    log_kernel = kernel_of(seed, n, spread)
    matrix, (rows, columns) = scaled(log_kernel)
    assert defect(matrix) <= 1e-13
    assert matrix.min() >= 0
    described = np.exp(log_kernel + (rows[:, None] + columns[None, :]))
    assert np.abs(described - matrix).max() <= 5e-13


@laws
@given(seeds, sizes, st.sampled_from([0.5, 5.0, 100.0]))
def test_potentials_alone_suffice(seed, n, spread):
    """The sums of exp(log_kernel + f + g) are within 1e-13 of one."""
    log_kernel = kernel_of(seed, n, spread)
    rows, columns = scale(log_kernel)
    assert defect(np.exp(log_kernel + (rows[:, None] + columns[None, :]))) <= 1e-13


@laws
@given(seeds, sizes, spreads)
def test_symmetric_kernels_stay_symmetric(seed, n, spread):
    """One potential serves rows and columns, and the matrix equals its transpose exactly."""
    log_kernel = kernel_of(seed, n, spread)
    log_kernel = log_kernel + log_kernel.T
    matrix, (rows, columns) = scaled(log_kernel)
    assert np.array_equal(rows, columns)
    assert np.array_equal(matrix, matrix.T)
    assert defect(matrix) <= 1e-13


@laws
@given(seeds, st.integers(2, 12), st.integers(1, 4))
def test_zeros_stay_zeros(seed, n, terms):
    """Decomposable and sparse supports are scaled on their support."""
    log_kernel = supported(seed, n, terms)
    matrix, _ = scaled(log_kernel)
    assert defect(matrix) <= 1e-13
    assert not matrix[np.isneginf(log_kernel)].any()


@laws
@given(seeds, sizes, st.sampled_from([1.0, 20.0]))
def test_factors_of_rows_and_columns_do_not_matter(seed, n, spread):
    """Kernels that differ by row and column factors have one scaling."""
    log_kernel = kernel_of(seed, n, spread)
    rng = np.random.default_rng(seed)
    moved = log_kernel + rng.uniform(-200, 200, (n, 1)) + rng.uniform(-200, 200, n)
    assert np.abs(scaled(moved)[0] - scaled(log_kernel)[0]).max() <= 1e-10


@settings(derandomize=True, max_examples=8, deadline=None)
@given(seeds, st.integers(2, 5), st.sampled_from([1.0, 4.0]))
def test_alternation_in_long_arithmetic_agrees(seed, n, spread):
    """Two thousand plain rounds with forty digits reach the same matrix."""
    log_kernel = kernel_of(seed, n, spread)
    assert np.abs(scaled(log_kernel)[0] - alternated(log_kernel, 2000)).max() <= 1e-12


@laws
@given(seeds, sizes, spreads)
def test_a_start_changes_the_way_and_not_the_matrix(seed, n, spread):
    """A good start, a poor one and none lead to the same matrix."""
    log_kernel = kernel_of(seed, n, min(spread, 40.0))
    matrix, (rows, columns) = scaled(log_kernel)
    rng = np.random.default_rng(seed)
    for size in (0.0, 1e-3, 10.0, 2000.0):
        start = (rows + size * rng.normal(size=n), columns + size * rng.normal(size=n))
        assert np.abs(scaled(log_kernel, start=start)[0] - matrix).max() <= 1e-11


@pytest.mark.parametrize("n", [2, 30, 150])
def test_a_nearly_triangular_kernel_does_not_stall(n):
    """Alternation closes in like one over the rounds here; the scaling takes no time."""
    kernel = np.where(np.tri(n, k=-1) > 0, -460.0, 0.0)
    matrix, _ = scaled(kernel)
    assert defect(matrix) <= 1e-13
    steps = np.log(matrix[1:, :-1].diagonal() / matrix[0, 0]) if n > 2 else None
    assert steps is None or np.isfinite(steps).all()


def test_two_by_two_has_a_closed_form():
    """The odds of the diagonal are the root of the odds ratio, however extreme."""
    for ratio in (1e-250, 1e-20, 0.3, 7.0, 1e20, 1e250):
        matrix = sinkhorn_array([[ratio, 1.0], [1.0, 1.0]])
        truth = np.sqrt(ratio) / (1 + np.sqrt(ratio))
        assert np.abs(matrix - [[truth, 1 - truth], [1 - truth, truth]]).max() <= 1e-14


def test_a_permutation_is_itself():
    """A support of one entry a row leaves nothing to choose, and gives exact ones."""
    order = [2, 0, 3, 1]
    array = np.zeros((4, 4))
    array[np.arange(4), order] = [1e-200, 5.0, 1e200, 0.1]
    assert np.array_equal(sinkhorn_array(array), np.eye(4)[order])


def test_swaps_without_a_diagonal_are_scaled():
    """A symmetric kernel of eigenvalue -1, on which the symmetric iteration alone would turn."""
    matrix, _ = scaled(np.array([[-50.0, 3.0, 1.0], [3.0, -60.0, -40.0], [1.0, -40.0, -50.0]]))
    assert np.array_equal(matrix, matrix.T)
    assert defect(matrix) <= 1e-13


def test_entries_from_1e_minus_200_to_1e200_are_scaled():
    """The range of the entries is no obstacle, and cross-ratios survive."""
    rng = np.random.default_rng(3)
    array = 10.0 ** rng.uniform(-200, 200, (40, 40))
    matrix = sinkhorn_array(array)
    assert defect(matrix) <= 1e-13
    scaled_back = sinkhorn_array(array * 1e90)
    assert np.abs(matrix - scaled_back).max() <= 1e-9


@pytest.mark.parametrize(
    ("array", "message"),
    [
        ([[1.0, 2.0]], "must be square"),
        ([[1.0, np.nan], [1.0, 1.0]], "1 entries that are NaN or infinite"),
        ([[1.0, np.inf], [1.0, 1.0]], "1 entries that are NaN or infinite"),
        ([[1.0, -2.0], [1.0, 1.0]], "negative entries, the least -2"),
        ([[1.0, 1.0], [0.0, 0.0]], "Row 1 holds only zeros"),
        ([[1.0, 1.0], [0.0, 1.0]], "1 positive entries lie in no perfect matching, the first at"),
    ],
)
def test_arrays_without_a_scaling_are_refused(array, message):
    """Each refusal says what was found and where."""
    with pytest.raises(MatrixError, match=message):
        sinkhorn_array(array)


@pytest.mark.parametrize(("axis", "line"), [(0, "Row"), (1, "Column")])
def test_an_empty_line_of_a_kernel_is_refused(axis, line):
    """A row or column of zeros is named."""
    kernel = np.arange(9.0).reshape(3, 3)
    kernel[(1, slice(None)) if axis == 0 else (slice(None), 1)] = -np.inf
    with pytest.raises(SupportError, match=f"{line} 1 has no positive entry"):
        scale(kernel)


def test_a_kernel_without_matching_ends_in_a_refusal():
    """Where no scaling exists the descent says so instead of returning what it has."""
    kernel = np.array([[0.0, -np.inf, -np.inf], [0.0, -np.inf, -np.inf], [0.0, 0.0, 0.0]])
    with pytest.raises(SupportError, match="came to a halt with a column sum"):
        descend(kernel, 1e-14)
    with pytest.raises(SupportError, match="came to a halt with a column sum"):
        scale(kernel)


@pytest.mark.slow
@pytest.mark.parametrize("spread", [1.0, 100.0, 460.0])
def test_a_thousand_rows_are_scaled(spread):
    """Large kernels of any range reach the same precision."""
    assert defect(scaled(kernel_of(1, 1000, spread))[0]) <= 1e-13
