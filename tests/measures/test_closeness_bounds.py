"""t-closeness by ratios and ε are one promise, and a cluster leaves something to deny."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.errors import MatrixError, NotBistochasticError
from bistochastic.measures.closeness_bounds import (
    closeness_epsilon,
    cluster_deniability,
    epsilon_closeness,
    largest_share,
    raised,
)
from bistochastic.measures.distances import ratio
from bistochastic.testing import distributions

EPSILONS = st.floats(0, 30)


@given(EPSILONS)
def test_both_ways(epsilon):
    """From ε to t and back."""
    assert closeness_epsilon(epsilon_closeness(epsilon)) == pytest.approx(epsilon, abs=1e-12)


def test_the_ends():
    """No distance is no ε, and what is infinite stays so."""
    assert (closeness_epsilon(1), epsilon_closeness(0)) == (0, 1)
    assert (closeness_epsilon(math.inf), epsilon_closeness(math.inf)) == (math.inf, math.inf)


@given(st.integers(2, 7).flatmap(distributions), EPSILONS, st.data())
def test_a_raised_value_is_as_frequent_as_closeness_allows(file, epsilon, data):
    """The cluster is close enough, and one with more of the value is not."""
    value = data.draw(st.integers(0, len(file) - 1))
    cluster, t = raised(file, value, epsilon), epsilon_closeness(epsilon)
    assert cluster.sum() == pytest.approx(1)
    assert cluster[value] == largest_share(file[value], epsilon)
    assert ratio(cluster, file) <= t * (1 + 1e-9)
    if 0 < file[value] < 1:
        assert ratio(cluster, file) == pytest.approx(t)


@given(st.integers(2, 6).flatmap(lambda n: st.tuples(*[distributions(n, zeros=False)] * 4)))
def test_views_of_close_clusters_are_indistinguishable(given_):
    """Proposition 1: between any two clusters of a t-close file no probability differs by e^ε."""
    file, *clusters = given_
    told = cluster_deniability(clusters, file)
    assert told.closeness == max(ratio(cluster, file) for cluster in clusters)
    factor = max(ratio(one, other) for one in clusters for other in clusters)
    assert math.log(factor) <= told.epsilon + 1e-9
    assert told.deniability.shape == told.guess.shape == (3,)


@given(st.integers(2, 6).flatmap(lambda n: st.tuples(*[distributions(n, zeros=False)] * 2)))
def test_a_cluster_is_a_report(given_):
    """Two clusters that make up a file are the reports of a channel, with the same deniability."""
    one, other = given_
    file = 0.5 * one + 0.5 * other
    rows = np.zeros((len(file), len(file)))
    rows[:, 0], rows[:, 1] = 0.5 * one / file, 0.5 * other / file
    told = bs.disclosure(bs.Stochastic(rows), file)
    apart = cluster_deniability([one, other], file)
    np.testing.assert_allclose(told.deniability[:2], apart.deniability, atol=1e-12)
    np.testing.assert_allclose(told.guess[:2], apart.guess, atol=1e-12)
    assert told.prior_bits == pytest.approx(apart.file_bits)


def test_example_2_of_the_paper():
    """Domingo-Ferrer & Soria-Comas: at ε = 2 a value grows by a factor of e in a cluster."""
    assert epsilon_closeness(2) == pytest.approx(math.e, abs=1e-15)
    assert largest_share(0.1, 2) / 0.1 == pytest.approx(2.718, abs=5e-4)


def test_example_3_of_the_paper():
    """One of five equally frequent values takes more than half of a cluster that ε = 2 allows."""
    cluster = raised([0.2] * 5, 0, 2)
    np.testing.assert_allclose(cluster, [0.5436563657, *[0.1140859086] * 4], atol=1e-10)
    told = cluster_deniability(cluster, [0.2] * 5)
    assert told.deniability == pytest.approx(1.9071810577713253, abs=1e-14)
    assert told.sides == pytest.approx(2**1.9071810577713253)
    assert told.ratio == pytest.approx(math.e, abs=1e-14)
    assert told.epsilon == pytest.approx(2, abs=1e-14)
    assert told.file_bits == pytest.approx(math.log2(5))
    assert told.guess > 0.5


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: closeness_epsilon(0.5), MatrixError, "at least 1"),
        (lambda: closeness_epsilon(math.nan), MatrixError, "at least 1"),
        (lambda: epsilon_closeness(-1), MatrixError, "at least 0"),
        (lambda: largest_share(1.5, 1), MatrixError, "between 0 and 1"),
        (lambda: raised([0.5, 0.5], 2, 1), MatrixError, "values 0 … 1; got 2"),
        (lambda: cluster_deniability([3, 4], [0.5, 0.5]), NotBistochasticError, "their sum"),
        (lambda: cluster_deniability([1], [0.5, 0.5]), MatrixError, "1 and 2 categories"),
    ],
)
def test_what_means_nothing_is_refused(call, error, words):
    """Ratios below one, negative ε, counts in place of shares."""
    with pytest.raises(error, match=words):
        call()
