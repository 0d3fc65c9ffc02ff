import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bistochastic.errors import SupportError
from bistochastic.matrices.decomposition import birkhoff_terms

laws = settings(derandomize=True, max_examples=60, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def scaled(positive, sweeps=3000):
    """A non-negative array brought to margins of one by Sinkhorn's sweeps."""
    for _ in range(sweeps):
        positive = positive / positive.sum(axis=1, keepdims=True)
        positive = positive / positive.sum(axis=0)
        if np.abs(positive.sum(axis=1) - 1).max() < 1e-15:
            break
    return positive


def dense(n, rng):
    """A positive array whose entries spread over many orders of magnitude."""
    return scaled(np.exp(rng.uniform(0, 4) * rng.standard_normal((n, n))))


def mixed(n, rng):
    """A few random permutations, mixed, so that most cells are zero."""
    weights = rng.dirichlet(np.ones(rng.integers(1, 6)))
    return sum(weight * np.eye(n)[rng.permutation(n)] for weight in weights)


def tridiagonal(n, rng):
    """A walk on a line, some of its steps tiny, some missing."""
    steps = rng.choice([0.5, 0.2, 1e-3, 1e-9, 1e-15, 0.0], n - 1) * rng.random(n - 1)
    array = np.diag(steps, 1) + np.diag(steps, -1)
    return array + np.diag(1 - array.sum(axis=1))


def blocks(n, rng):
    """Blocks of equal entries on the diagonal, their columns in random order."""
    cuts = np.flatnonzero(np.append(rng.random(n - 1) < 0.3, True)) + 1
    array = np.zeros((n, n))
    for start, stop in zip([0, *cuts[:-1]], cuts, strict=True):
        array[start:stop, start:stop] = 1 / (stop - start)
    return array[:, rng.permutation(n)]


def nearly_identity(n, rng):
    """The identity with a little of everything, down to what floats can hold."""
    little = rng.choice([1e-3, 1e-9, 1e-12, 1e-13, 1e-15])
    return (1 - little) * np.eye(n) + little / n


@st.composite
def bistochastic_arrays(draw, kinds=(dense, mixed, tridiagonal, blocks, nearly_identity)):
    """Bistochastic arrays of one to a dozen categories."""
    rng = np.random.default_rng(draw(seeds))
    array = draw(st.sampled_from(kinds))(draw(st.integers(1, 12)), rng)
    assume(np.abs(array.sum(axis=1) - 1).max() < 1e-14)  # the sweeps may have been too few
    return array


def rebuilt(weights, permutations):
    """The array that the terms add up to."""
    n = permutations.shape[1]
    array = np.zeros((n, n))
    for weight, permutation in zip(weights, permutations, strict=True):
        array[np.arange(n), permutation] += weight
    return array


def assert_decomposed(array, error=1e-12):
    """All that is promised about the terms of one array; returns their number."""
    n = len(array)
    weights, permutations = birkhoff_terms(array)
    assert permutations.shape == (len(weights), n)
    assert np.issubdtype(permutations.dtype, np.integer)
    assert (np.sort(permutations, axis=1) == np.arange(n)).all()
    assert (array[np.arange(n), permutations] > 0).all()
    assert (weights > 0).all()
    assert (np.diff(weights) <= 0).all()
    assert abs(weights.sum() - 1) <= 1e-15
    assert 1 <= len(weights) <= n * n - 2 * n + 2
    assert np.abs(rebuilt(weights, permutations) - array).max() <= error
    return len(weights)


@laws
@given(bistochastic_arrays())
def test_terms_rebuild_the_array(array):
    """Few enough permutations inside the non-zero cells, with weights, give the array back."""
    assert_decomposed(array)


@laws
@given(bistochastic_arrays())
def test_permutations_are_independent(array):
    """No permutation occurs twice, and none is a combination of the others."""
    _, permutations = birkhoff_terms(array)
    flat = np.eye(len(array))[permutations].reshape(len(permutations), -1)
    assert np.linalg.matrix_rank(flat) == len(permutations)


@laws
@given(bistochastic_arrays(), st.sampled_from([1e-13, 1e-12, 1e-9]), seeds)
def test_error_follows_the_margins(array, defect, seed):
    """Margins that miss one by d cost an error of no more than (2n + 6) d."""
    off = array * (1 + defect * np.random.default_rng(seed).uniform(-1, 1, (len(array), 1)))
    assert_decomposed(off, error=1e-12 + (2 * len(array) + 6) * defect)


@laws
@given(bistochastic_arrays(kinds=(dense,)), seeds)
def test_margins_missed_a_little_cost_little(array, seed):
    """On positive arrays, margins within 1e-13 leave the error below 1e-12."""
    noise = np.random.default_rng(seed).uniform(-1, 1, (len(array), 1))
    assert_decomposed(array * (1 + 1e-13 * noise))


@pytest.mark.parametrize("seed", range(5))
def test_margins_are_repaired_in_proportion(seed):
    """What the margins miss is spread over all cells, not left to those that come last."""
    rng = np.random.default_rng(seed)
    array = scaled(rng.random((64, 64))) * (1 + 1e-9 * rng.uniform(-1, 1, (64, 1)))
    assert_decomposed(array, error=1e-10)


@laws
@given(bistochastic_arrays())
def test_the_array_is_left_alone(array):
    """Decomposing an array does not write into it, and does the same twice."""
    array.flags.writeable = False
    for first, second in zip(birkhoff_terms(array), birkhoff_terms(array), strict=True):
        assert (first == second).all()


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_one_permutation_is_one_term(n):
    """A permutation matrix is its own decomposition."""
    order = np.random.default_rng(n).permutation(n)
    weights, permutations = birkhoff_terms(np.eye(n)[order])
    assert weights.tolist() == [1.0]
    assert permutations.tolist() == [order.tolist()]


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("n", [2, 5, 30])
def test_mixtures_take_n_terms(n, keep):
    """A constant off the diagonal and another on it are covered by n disjoint permutations."""
    assert assert_decomposed(keep * np.eye(n) + (1 - keep) / n) == n


def test_circulants_take_a_term_for_each_shift():
    """The shifts of a circulant are found, each with its own weight."""
    row = np.random.default_rng(0).dirichlet(np.ones(24))
    array = np.array([np.roll(row, shift) for shift in range(24)])
    assert assert_decomposed(array) == 24
    assert np.abs(birkhoff_terms(array)[0] - np.sort(row)[::-1]).max() < 1e-15


def test_dense_arrays_take_some_ten_terms_a_category():
    """A dense array is exhausted by far fewer terms than the bound of 3,970 allows."""
    assert assert_decomposed(scaled(np.random.default_rng(1).random((64, 64)))) < 850


def test_cells_of_no_permutation_are_left_out():
    """A cell that only the tolerance of the margins allowed is in no permutation."""
    weights, permutations = birkhoff_terms(np.array([[1.0, 1e-10], [0.0, 1.0]]))
    assert weights.tolist() == [1.0]
    assert permutations.tolist() == [[0, 1]]


@pytest.mark.parametrize("array", [[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]])
def test_no_permutation_is_refused(array):
    """Without a permutation in its non-zero cells an array has no decomposition."""
    with pytest.raises(SupportError, match="2 by 2 array has no permutation inside its non-zero"):
        birkhoff_terms(np.array(array))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "most"), [(128, 1500), (300, 3300)])
def test_large_dense_arrays(n, most):
    """Hundreds of categories, all cells random, margins only within 1e-13."""
    rng = np.random.default_rng(n)
    array = scaled(rng.random((n, n))) * (1 + 1e-13 * rng.uniform(-1, 1, (n, 1)))
    assert assert_decomposed(array) <= most


@pytest.mark.slow
@pytest.mark.parametrize("kind", [mixed, tridiagonal, blocks, nearly_identity])
def test_large_structured_arrays(kind):
    """Hundreds of categories in structures that are mostly zeros, ties or nothing."""
    assert_decomposed(kind(300, np.random.default_rng(0)))
