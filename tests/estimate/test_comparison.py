"""Differences, ratios and odds ratios are told with the errors that the delta method gives."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bistochastic.estimate.comparison import difference, odds_ratio, plain, ratio

Z = 1.96
POSITIVE = st.floats(0.05, 0.6)


@st.composite
def covariances(draw, n, scale=1e-4):
    """A positive definite matrix of small numbers."""
    numbers = draw(st.lists(st.floats(-1, 1), min_size=n * n, max_size=n * n))
    root = np.array(numbers).reshape(n, n)
    return scale * (root @ root.T + 0.1 * np.eye(n))


def by_hand(function, estimate, covariance):
    """The delta method with a gradient by differences."""
    steps = 1e-6 * np.eye(estimate.size)
    slope = np.array([(function(estimate + s) - function(estimate - s)) / 2e-6 for s in steps])
    return math.sqrt(slope @ covariance @ slope)


@given(st.lists(POSITIVE, min_size=4, max_size=4), covariances(4))
def test_errors_are_those_of_the_delta_method(shares, covariance):
    """For a gradient that is taken by differences."""
    shares = np.array(shares)
    two = (shares[:2], covariance[:2, :2])
    found = difference(*two, Z)
    assert found.se == pytest.approx(by_hand(lambda x: x[0] - x[1], *two), rel=1e-4)
    assert found.high - found.low == pytest.approx(2 * Z * found.se)
    found = ratio(*two, Z)
    assert found.se == pytest.approx(by_hand(lambda x: x[0] / x[1], *two), rel=1e-4)
    found = odds_ratio(shares, covariance, Z)
    wanted = by_hand(lambda x: x[0] * x[3] / (x[1] * x[2]), shares, covariance)
    assert found.se == pytest.approx(wanted, rel=1e-3)
    assert found.low <= found.estimate <= found.high


@given(st.lists(POSITIVE, min_size=2, max_size=2), covariances(2), st.floats(0.01, 5))
def test_the_interval_of_a_ratio_is_a_test_turned_round(shares, covariance, value):
    """It holds a ratio iff the first minus that times the second is not far from zero."""
    shares = np.array(shares)
    found = ratio(shares, covariance, Z)
    turn = np.array([1, -value])
    far = abs(turn @ shares) / math.sqrt(turn @ covariance @ turn)
    if math.isfinite(found.high) and abs(far - Z) > 1e-6:
        assert (found.low <= value <= found.high) == (far <= Z)


def test_the_ends_of_an_interval_of_a_ratio():
    """At either end the first minus that times the second is just so far from zero."""
    shares, covariance = np.array([0.2, 0.4]), np.array([[4e-4, 3e-4], [3e-4, 9e-4]])
    found = ratio(shares, covariance, Z)
    for end in (found.low, found.high):
        turn = np.array([1, -end])
        assert abs(turn @ shares) == pytest.approx(Z * math.sqrt(turn @ covariance @ turn))


def test_a_denominator_that_may_be_zero():
    """Then nothing bounds the ratio."""
    found = ratio(np.array([0.1, 0.01]), np.diag([1e-4, 1e-4]), Z)
    assert (found.low, found.high) == (0.0, math.inf)


def test_odds_of_what_is_not_positive():
    """A share that is estimated below zero has no odds."""
    found = odds_ratio(np.array([0.3, -0.01, 0.4, 0.2]), np.eye(4) * 1e-4, Z)
    assert math.isnan(found.estimate)
    assert (found.low, found.high) == (0.0, math.inf)
    tiny = odds_ratio(np.array([0.3, 1e-9, 0.4, 0.2]), np.eye(4) * 1e-4, Z)
    assert (tiny.low, tiny.high) == (0.0, math.inf)


def test_a_number_by_itself():
    """An estimate, its error and the limits on either side."""
    assert plain(0.5, 0.01, 2.0) == (0.5, 0.1, 0.3, 0.7)
    assert plain(0.5, -1e-20, 2.0).se == 0.0
