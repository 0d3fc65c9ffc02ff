"""Ten thousand releases: intervals hold the truth as often as they say, and nothing is biased.

The words are fixed, so these tests never change their answer. Among ten thousand releases the share
of intervals that hold has a standard error of 0.0022.
"""

import numpy as np
import pytest

from tests.estimate import coverage

NARROW = (0.94, 0.96)
SMALL = (0.93, 0.97)  # counts of a handful of people jump, and with them what is covered


@pytest.mark.slow
@pytest.mark.parametrize("name", coverage.SCENARIOS)
def test_score_intervals_cover_what_they_say(name):
    """At every channel, size and share; and the mean error is within four standard errors."""
    held, bias, error = coverage.shares(coverage.SCENARIOS[name], "score")
    assert NARROW[0] <= held.min()
    assert held.max() <= NARROW[1]
    assert (np.abs(bias) <= 4 * error).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", coverage.SMALL)
def test_small_cells_need_the_score_interval(name):
    """Where a few people were reported the normal one fails, and this is said on the page."""
    scenario = coverage.SMALL[name]
    held = coverage.shares(scenario, "score")[0]
    assert SMALL[0] <= held.min()
    assert held.max() <= SMALL[1]
    assert coverage.shares(scenario, "normal")[0].min() < 0.93


@pytest.mark.slow
@pytest.mark.parametrize("name", coverage.WEIGHTED)
def test_weighted_intervals_cover_what_they_say(name):
    """Where weights depend on the cell, intervals hold the shares that they make up for."""
    held = coverage.weighted(coverage.SCENARIOS[name], "score")
    assert NARROW[0] <= held.min()
    assert held.max() <= NARROW[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", coverage.LIKELY)
def test_intervals_around_the_likelihood_estimate_cover(name):
    """They are the same intervals, as far as shares are possible, and reach the estimate."""
    held = coverage.likely(coverage.SCENARIOS[name])
    assert NARROW[0] <= held.min()
    assert held.max() <= NARROW[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", coverage.TABLES)
def test_comparisons_cover_what_they_say(name):
    """Differences, ratios, conditional shares and odds ratios."""
    held = coverage.compared(coverage.TABLES[name])
    assert NARROW[0] <= held.min()
    assert held.max() <= NARROW[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", coverage.TESTED)
def test_the_test_of_independence_keeps_its_level(name):
    """It rejects five in a hundred independent tables, and far more of those that are not."""
    false, true = coverage.rejected(coverage.TESTED[name])
    assert 0.04 <= false <= 0.06
    assert true > 3 * false
