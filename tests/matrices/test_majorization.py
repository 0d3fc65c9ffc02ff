import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bistochastic.errors import MatrixError
from bistochastic.matrices.majorization import (
    falling_order,
    majorizes,
    transfer_array,
    transforms,
)

laws = settings(derandomize=True, max_examples=100, deadline=None)
seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 12)
reals = st.one_of(
    st.floats(-1e300, 1e300),
    st.floats(-2.0, 2.0),
    st.integers(-3, 3).map(float),
    st.sampled_from([1e-9, 1 / 3, 5e-324, 1.7e308, -1.7e308]),
)
vectors = st.lists(reals, min_size=1, max_size=12).map(np.array)


def mixing(n, seed):
    """A random bistochastic array with zeros: a few permutations, mixed."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(rng.integers(1, 6)))
    return sum(weight * np.eye(n)[rng.permutation(n)] for weight in weights)


def assume_precise(p):
    """Leave out vectors so small that their products are no longer right to some digits."""
    assume(not p.any() or np.abs(p).max() > 1e-280)


def scale(*several):
    """The greatest absolute value: what errors are measured by."""
    return max(float(np.abs(values).max()) for values in several)


def assert_transfers(p, q):
    """The array of p and q is bistochastic to the last digits and turns p into q."""
    array = transfer_array(p, q)
    assert array.shape == (len(p), len(p))
    assert array.min() >= 0
    # Exact sums: those of NumPy err by more than the array does.
    assert all(abs(math.fsum(line) - 1) <= 1e-15 for line in (*array, *array.T))
    # Halved, the products of values near the largest float do not overflow.
    half = array.T @ (p / 2) - q / 2
    assert np.abs(half).max() <= 1e-13 * scale(p, q)


def entropy(p):
    """The bits of a distribution."""
    positive = p[p > 0]
    return -float((positive * np.log2(positive)).sum())


@laws
@given(vectors, seeds)
def test_bistochastic_matrices_only_lower(p, seed):
    """A vector majorizes what any bistochastic matrix makes of it."""
    assume_precise(p)
    assert majorizes(p, mixing(len(p), seed).T @ p)


@laws
@given(vectors, seeds)
def test_what_is_lower_is_reached(p, seed):
    """Whatever p majorizes is p times some bistochastic matrix, here constructed."""
    assume_precise(p)
    assert_transfers(p, mixing(len(p), seed).T @ p)


@laws
@given(vectors, vectors)
def test_the_definition_decides(p, q):
    """Two vectors compare as their sums of the largest k do, for every k."""
    n = min(len(p), len(q))
    p, q = np.round(np.clip(p[:n], -9, 9), 3), np.round(np.clip(q[:n], -9, 9), 3)
    q[0] += round(p.sum() - q.sum(), 3)
    tops = [(np.sort(p)[n - k :].sum(), np.sort(q)[n - k :].sum()) for k in range(1, n + 1)]
    assert majorizes(p, q) == all(in_p >= in_q - 1e-6 for in_p, in_q in tops)


@laws
@given(vectors, vectors, vectors)
def test_majorization_is_an_order(p, q, r):
    """It holds of a vector and itself in any order of entries, and passes on."""
    n = min(map(len, (p, q, r)))
    p, q, r = p[:n], q[:n], r[:n]
    assert majorizes(p, p[::-1])
    if majorizes(p, q, tolerance=1e-13) and majorizes(q, r, tolerance=1e-13):
        assert majorizes(p, r, tolerance=1e-12)


@laws
@given(vectors, seeds)
def test_both_ways_only_the_same_values(p, seed):
    """Two vectors that majorize each other hold the same values."""
    q = mixing(len(p), seed).T @ p
    if majorizes(q, p):
        assert np.abs(np.sort(p) / 2 - np.sort(q) / 2).max() <= 2e-12 * len(p) * scale(p, q)


@laws
@given(sizes, seeds)
def test_entropy_never_falls(n, seed):
    """The entropy is Schur-concave: it is no less in whatever is majorized."""
    p = np.random.default_rng(seed).dirichlet(np.full(n, 0.3))
    q = mixing(n, seed).T @ p
    assert entropy(q) >= entropy(p) - 1e-12
    assert entropy(transfer_array(p, q).T @ p) >= entropy(p) - 1e-12


@laws
@given(vectors, seeds)
def test_convex_sums_never_rise(p, seed):
    """The sum of any convex function is Schur-convex: squares and hinges do not rise."""
    p = np.clip(p, -10, 10)
    q = mixing(len(p), seed).T @ p
    for convex in (np.square, np.abs, lambda v: np.maximum(v - 0.5, 0)):
        assert convex(q).sum() <= convex(p).sum() + 1e-9


@laws
@given(vectors, seeds)
def test_same_values_give_a_permutation(p, seed):
    """A vector in another order is reached by exchanging, without any mixing."""
    order = np.random.default_rng(seed).permutation(len(p))
    array = transfer_array(p, p[order])
    assert set(array.ravel()) <= {0.0, 1.0}
    assert (p[array.argmax(axis=0)] == p[order]).all()
    assert (transfer_array(p, p) == np.eye(len(p))).all()


@laws
@given(vectors, seeds)
def test_at_most_n_minus_one_transforms(p, seed):
    """The chain has fewer transforms than there are values, each with a share up to a half."""
    assume(scale(p) < 1e300)
    q = mixing(len(p), seed).T @ p
    steps = list(transforms(p[falling_order(p)], q[falling_order(q)]))
    assert len(steps) <= len(p) - 1
    assert all(j < k and 0 < share <= 0.5 + 1e-12 for j, k, share in steps)


def test_everything_majorizes_its_mean():
    """The vector of means is the least of all, and reached by any vector."""
    p = np.array([5.0, -2.0, 0.0, 1.0, 1.0])
    assert majorizes(p, np.full(5, 1.0))
    assert not majorizes(np.full(5, 1.0), p)
    assert_transfers(p, np.full(5, 1.0))


def test_tolerance_is_relative():
    """Sums may miss by a share of the whole, wherever the decimal point is."""
    for unit in (1e-200, 1.0, 1e200):
        p, q = np.array([0.5, 0.5]) * unit, np.array([0.5 + 1e-6, 0.5 - 1e-6]) * unit
        assert not majorizes(p, q)
        assert majorizes(p, q, tolerance=1e-5)
    assert not majorizes([1.0, 0.0], [1.0, 1e-6])
    assert not majorizes([1.0, 1e-6], [1.0, 0.0])


def test_zeros_and_single_values():
    """Vectors with nothing to move give the identity."""
    assert transfer_array([0.0, 0.0], [0.0, 0.0]).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert transfer_array([3], [3]).tolist() == [[1.0]]


def test_ties_keep_their_places():
    """A long vector full of ties is turned into itself by the identity, not by an exchange."""
    p = np.random.default_rng(0).integers(0, 3, 200)
    assert (transfer_array(p, p) == np.eye(200)).all()


def test_what_is_not_lower_is_refused():
    """The first sum that falls short is named by its position, and no value is."""
    with pytest.raises(MatrixError, match="the sum of the 2 largest of 4 values is less") as caught:
        transfer_array([0.625, 0.125, 0.125, 0.125], [0.0, 0.5, 0.0625, 0.4375])
    assert "0." not in str(caught.value)
    with pytest.raises(MatrixError, match="the totals of all 2 values differ"):
        transfer_array([0.75, 0.5], [0.5, 0.5])
    with pytest.raises(MatrixError, match="the totals of all 1 values differ"):
        transfer_array([1.0], [2.0])


@pytest.mark.parametrize("call", [majorizes, transfer_array])
@pytest.mark.parametrize(
    ("p", "q", "text"),
    [
        ([1.0, 2.0], [1.0], "same length; got 2 and 1"),
        ([], [], "p is empty"),
        ([1.0], [], "q is empty"),
        ([[1.0]], [1.0], "p must be one vector; got shape"),
        ([1.0], 1.0, "q must be one vector; got shape"),
        ([1.0, np.nan], [1.0, 0.0], "p holds 1 entries that are NaN or infinite"),
        ([1.0, 0.0], [np.inf, -np.inf], "q holds 2 entries that are NaN or infinite"),
        ([1.0, "two"], [1.0, 2.0], "p must hold real numbers only"),
        ([[1.0], [1.0, 2.0]], [1.0], "p must hold real numbers only"),
    ],
)
def test_incomparable_vectors_are_refused(call, p, q, text):
    """What is no pair of finite vectors of one length is told apart from a plain no."""
    with pytest.raises(MatrixError, match=text):
        call(p, q)


@pytest.mark.parametrize("tolerance", [-1e-12, np.nan, np.inf])
def test_senseless_tolerances_are_refused(tolerance):
    """A tolerance is a finite share, zero or more."""
    with pytest.raises(MatrixError, match="tolerance must be a number >= 0"):
        majorizes([1.0], [1.0], tolerance=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hub", "cauchy", "ties"])
def test_two_thousand_values(kind):
    """Two thousand values take a moment, and stay bistochastic to the last digits."""
    rng = np.random.default_rng(0)
    p = {
        "hub": np.eye(2000)[7],
        "cauchy": rng.standard_cauchy(2000),
        "ties": rng.integers(0, 4, 2000).astype(np.float64),
    }[kind]
    assert_transfers(p, mixing(2000, 0).T @ p)
    assert_transfers(p, np.full(2000, p.mean()))
