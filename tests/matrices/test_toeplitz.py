import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bistochastic.errors import MatrixError, SupportError
from bistochastic.matrices import toeplitz
from bistochastic.matrices.scaling import scaled
from bistochastic.matrices.toeplitz import convolve, scale_toeplitz, truncated

laws = settings(derandomize=True, max_examples=60, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def falling(seed, length, steepness):
    """A profile that does not increase, with flat pieces."""
    rng = np.random.default_rng(seed)
    return -np.cumsum(rng.exponential(steepness, length) * rng.integers(0, 2, length))


def dense(log_profile, n):
    """The whole kernel, with zeros beyond the profile."""
    line = np.full(n, -np.inf)
    line[: len(log_profile)] = log_profile[:n]
    lags = np.abs(np.arange(n)[:, None] - np.arange(n))
    return line[lags]


@laws
@given(seeds, st.integers(1, 90), st.integers(1, 90))
def test_convolution_is_the_product_with_the_matrix(seed, n, length):
    """Both ways of multiplying, by lags and by transform, agree with the whole matrix."""
    rng = np.random.default_rng(seed)
    profile, vector = rng.random(min(length, n)), rng.normal(size=n)
    with np.errstate(divide="ignore"):
        whole = np.exp(dense(np.log(profile), n))
    assert np.abs(convolve(profile, vector) - whole @ vector).max() <= 1e-12


@laws
@given(seeds, st.integers(1, 80), st.integers(1, 80), st.sampled_from([0.01, 0.5, 20.0]))
def test_the_scaling_is_that_of_the_whole_matrix(seed, n, length, steepness):
    """Structured and dense scaling give one matrix, and its sums are one."""
    log_profile = falling(seed, length, steepness) + 3.0
    f = scale_toeplitz(log_profile, n)
    kernel = dense(truncated(log_profile, n), n)
    matrix = np.exp(kernel + (f[:, None] + f[None, :]))
    assert np.abs(matrix.sum(axis=1) - 1).max() <= 1e-13
    assert np.array_equal(f, f[::-1])
    assert np.abs(matrix - scaled(kernel)[0]).max() <= 1e-12


@pytest.mark.parametrize("n", [9000, 20_001])
@pytest.mark.parametrize("width", [0.3, 8.0, 120.0])
def test_a_drawn_out_middle_is_as_good_as_the_whole_line(n, width):
    """Row sums, added up one by one without rounding, are one at the ends, in the middle, between.

    The seam between the shorter line and its drawn-out middle is looked at too.
    """
    log_profile = truncated(-((np.arange(n) / width) ** 2), n)
    f = scale_toeplitz(log_profile, n)
    assert np.array_equal(f, f[::-1])
    for u in (0, 1, 700, n // 4, 2047, 2048, n // 2, n - 2049, n - 2048, n - 1):
        low, high = max(0, u - log_profile.size + 1), min(n, u + log_profile.size)
        lags = np.abs(np.arange(low, high) - u)
        row = math.fsum(np.exp(f[u] + f[low:high] + log_profile[lags]))
        assert abs(row - 1) <= 1e-13


def test_a_start_does_not_change_the_scaling():
    """Warm and cold give the same potentials, whatever the profile's first entry."""
    log_profile = falling(1, 50, 0.1) - 7.0
    cold = scale_toeplitz(log_profile, 60)
    warm = scale_toeplitz(log_profile, 60, start=cold + 0.1)
    assert np.abs(cold - warm).max() <= 1e-13


def test_entries_below_the_least_are_cut():
    """Zeros at the far end are not carried along."""
    assert truncated(-1000.0 * np.arange(5), 5).tolist() == [0.0]
    assert truncated(-100.0 * np.arange(9) + 50, 9).size == 7
    assert truncated(np.zeros(9), 4).size == 4


def test_a_rising_profile_is_refused():
    """The lag at which it rises is named."""
    with pytest.raises(MatrixError, match="The profile rises at lag 2"):
        scale_toeplitz(np.array([0.0, -1.0, -0.5]), 5)


def test_an_iteration_that_turns_in_circles_is_refused():
    """Weights far from falling have the eigenvalue -1, which the iteration cannot calm."""
    with pytest.raises(SupportError, match="came to a halt with a row sum"):
        toeplitz.solve(np.array([0.0, 1.0]), 5, None)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1e-3, 3.0, 1e3, 1e5, 1e7])
def test_a_million_ranks_are_scaled(width):
    """Row sums hold at a million ranks, checked one by one on some of them."""
    n = 10**6
    log_profile = truncated(-((np.arange(n) / width) ** 2), n)
    f = scale_toeplitz(log_profile, n)
    for u in (0, 5, 4000, 123_456, n // 2, n - 1):
        low, high = max(0, u - log_profile.size + 1), min(n, u + log_profile.size)
        lags = np.abs(np.arange(low, high) - u)
        assert abs(math.fsum(np.exp(f[u] + f[low:high] + log_profile[lags])) - 1) <= 1e-13
