"""The worst case is never exceeded, is attained, and lies within what ε promises."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.errors import MatrixError
from bistochastic.matrices.bounds import AtMost
from bistochastic.measures.capacity import capacity
from bistochastic.measures.distances import kullback_leibler
from bistochastic.measures.worst import EpsilonBound, largest_increase, worst_case
from bistochastic.testing import SIZES, distributions, of_size, stochastic

dit = pytest.importorskip("dit")


@st.composite
def channels(draw):
    """Any channel."""
    n = draw(SIZES)
    return draw(stochastic(st.just(n)) if draw(st.integers(0, 3)) == 0 else of_size(n))


def brute_increase(channel):
    """The largest increase of a guess over priors that a simple family has to contain.

    For every column and every number of small entries, priors of equal shares with one share
    split, on a fine grid: no formula, only Bayes.
    """
    array, best = channel.to_dense(), 0.0
    n = len(array)
    for column in array.T:
        order = np.argsort(column)
        for top in np.linspace(1 / n, 1, 2001):
            prior, left = np.zeros(n), 1.0
            for u in [order[-1], *order[:-1]]:
                prior[u] = min(top, left)
                left -= prior[u]
            joint = column * prior
            if joint.sum() > 0:
                best = max(best, joint.max() / joint.sum() - prior.max())
    return best


@given(channels(), st.data())
def test_no_prior_exceeds_the_worst(channel, data):
    """Over all priors means over every prior there is."""
    worst = worst_case(channel)
    prior = data.draw(distributions(channel.size))
    found = worst_case(channel, [prior])
    assert found.odds <= worst.odds * (1 + 1e-9)
    assert found.increase <= worst.increase + 1e-9
    assert found.information <= worst.information_at_most + 1e-9
    assert found.factor <= worst.factor * (1 + 1e-9)


@given(channels())
def test_epsilon_promises_no_less(channel):
    """The bound that ε gives is a bound, and the exact number lies within."""
    worst = worst_case(channel)
    bound = worst.by_epsilon
    assert worst.odds <= bound.odds
    assert 0 <= worst.increase <= bound.increase <= 1
    assert -1e-12 <= worst.information <= worst.information_at_most <= bound.information + 1e-9
    assert worst.information_at_most - worst.information <= 1e-6
    assert 1 <= worst.factor <= bound.factor * (1 + 1e-9)
    assert worst.information <= math.log2(worst.factor) + 1e-9  # Shannon's is below min-capacity


@settings(max_examples=15)
@given(stochastic(st.integers(1, 4)))
def test_the_increase_is_attained(channel):
    """A search among the priors of one kind comes as near as its grid is fine."""
    exact, found = worst_case(channel).increase, brute_increase(channel)
    assert found - 1e-12 <= exact <= found + 2e-3


@given(stochastic(st.integers(1, 5)), st.integers(0, 2**32 - 1))
def test_no_prior_of_a_crowd_exceeds_the_increase(channel, start):
    """Among ten thousand random priors none does more harm."""
    priors = np.random.default_rng(start).dirichlet(np.full(channel.size, 0.7), 10_000)
    exact = worst_case(channel).increase
    for column in channel.to_dense().T:
        joint = priors * column
        total = joint.sum(axis=1)
        seen = total > 0
        rise = joint[seen].max(axis=1) / total[seen] - priors[seen].max(axis=1)
        assert rise.max(initial=0) <= exact + 1e-9


@pytest.mark.parametrize("n", [2, 3, 10, 10**6])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 5.0])
def test_randomised_response_is_as_bad_as_its_epsilon_allows(n, epsilon):
    """For a mixture of enough categories the bounds of ε are met exactly."""
    worst = worst_case(bs.randomised_response(n, epsilon=epsilon))
    assert worst.odds == pytest.approx(math.exp(epsilon))
    assert worst.factor == pytest.approx(worst.by_epsilon.factor)
    if n >= 1 + math.exp(epsilon / 2):
        assert worst.increase == pytest.approx(math.tanh(epsilon / 4))
    if n == 2:
        # The best guess of a coin of bias 1/(1 + e^-ε), seen under equal priors.
        assert worst.increase == pytest.approx(math.tanh(epsilon / 2) / 2)


@pytest.mark.parametrize(
    ("channel", "bits"),
    [
        (bs.identity(8), 3.0),
        (bs.secrecy(8), 0.0),
        (bs.Blocks([5, 3, 1]), math.log2(3)),
        (bs.Stochastic([[1, 0], [0.5, 0.5]]), math.log2(5 / 4)),  # the Z-channel at one half
        (bs.Stochastic([[1, 0], [1, 0]]), 0.0),
        (bs.Mixture(2, truth=0.89), 1 - bs.Mixture(2, truth=0.89).bits),
        (bs.Kronecker(bs.Blocks([2, 1]), bs.identity(4)), 3.0),
    ],
    ids=repr,
)
def test_capacities_that_are_known(channel, bits):
    """Shannon's examples, in closed form."""
    found = capacity(channel)
    assert found.at_least <= bits + 1e-12
    assert found.at_most >= bits - 1e-12
    assert found.gap <= 1e-9


@settings(max_examples=15)
@given(stochastic(st.integers(2, 4)))
def test_an_independent_tool_finds_the_same_capacity(channel):
    """`dit` runs Blahut and Arimoto's steps too, without a certificate."""
    array = channel.to_dense()
    theirs, _ = dit.algorithms.channel_capacity(array)
    found = capacity(channel)
    assert found.at_least - 1e-4 <= theirs <= found.at_most + 1e-9  # where theirs stops


@given(channels())
def test_the_capacity_is_the_best_of_priors(channel):
    """Its certificate holds: the climb never reports what no prior attains."""
    found = capacity(channel)
    assert -1e-12 <= found.at_least <= found.at_most <= math.log2(channel.size) + 1e-9
    equal = bs.disclosure(channel).mutual_information
    assert equal <= found.at_most + 1e-9
    assert found.gap <= 1e-6


@given(channels())
def test_a_structure_has_the_capacity_of_its_array(channel):
    """However its rows are read, and whichever way round it is."""
    found, array = capacity(channel), capacity(bs.Stochastic(np.abs(channel.to_dense())))
    assert found.at_least <= array.at_most + 1e-9
    assert array.at_least <= found.at_most + 1e-9


def test_rows_are_not_columns():
    """A matrix whose rows are less even than its columns, and its transpose."""
    array = np.array([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5], [0.25, 0.25, 0.5]])
    for one in (array, array.T):
        found, general = capacity(bs.Dense(one)), capacity(bs.Stochastic(one))
        assert found.at_least == pytest.approx(general.at_least, abs=2e-9)
        assert found.at_most == pytest.approx(general.at_most, abs=2e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_divergence_that_epsilon_allows_is_that_of_two_answers(epsilon):
    """Randomised response with two answers reaches the bound on information between two truths."""
    rows = bs.randomised_response(2, epsilon=epsilon).to_dense()
    allowed = EpsilonBound.of(epsilon, 10**6).information
    assert kullback_leibler(rows[0], rows[1]) == pytest.approx(allowed)
    assert worst_case(bs.randomised_response(10**6, epsilon=epsilon)).information <= allowed


def test_a_list_of_priors_names_the_worst():
    """Each quantity says which prior attains it."""
    channel = bs.randomised_response(3, epsilon=1)
    priors = [[1, 0, 0], [0.5, 0.5, 0], [0.8, 0.1, 0.1], [1 / 3] * 3]
    worst = bs.worst_case(channel, priors)
    assert worst.attained["information"] == 3
    assert worst.information == bs.disclosure(channel, priors[3]).mutual_information
    assert worst.information_at_most == worst.information
    assert worst.odds == pytest.approx(math.e)
    certain = bs.worst_case(channel, [[1, 0, 0]])
    assert (certain.odds, certain.increase, certain.information, certain.factor) == (1, 0, 0, 1)
    blocks = bs.worst_case(bs.Blocks([2, 2]), [[0.5, 0.5, 0, 0]])
    assert (blocks.odds, blocks.information) == (1, 0)
    assert bs.worst_case(bs.Blocks([2, 2]), [[0.5, 0, 0.5, 0]]).odds == math.inf


def test_a_joint_domain_of_a_million_million_cells():
    """Nothing of the size of the domain is formed."""
    joint = bs.Kronecker(*[bs.Mixture(10, truth=0.3)] * 12)
    one = worst_case(bs.Mixture(10, truth=0.3))
    worst = worst_case(joint)
    assert worst.information == pytest.approx(12 * one.information)
    assert worst.factor == pytest.approx(one.factor**12)
    assert one.increase < worst.increase <= worst.by_epsilon.increase


def test_what_is_too_large_to_search_is_bounded():
    """A product of thousands of categories answers with ε's bound, which says that it is one."""
    composed = bs.Mixture(1200, truth=0.5) @ bs.Window(1200, width=1)
    worst = worst_case(composed)
    assert isinstance(worst.odds, AtMost)
    assert worst.odds >= bs.disclosure(composed).guess.max()


def test_columns_too_many_to_sort_answer_with_the_bound(monkeypatch):
    """Where the exact increase is not looked for, what comes back says that it is a bound."""
    monkeypatch.setattr("bistochastic.measures.worst.SEARCHED", 2)
    for channel in (bs.Stochastic([[0.5, 0.2, 0.3]] * 2 + [[0.4, 0.4, 0.2]]), bs.Window(3, 1)):
        found = largest_increase(channel)
        assert isinstance(found, AtMost)
        assert found == EpsilonBound.of(channel.epsilon, 3).increase


def test_the_worst_in_words():
    """Odds, guesses and bits, over all priors or over some."""
    told = list(worst_case(bs.randomised_response(3, epsilon=2)).sentences)
    assert told == [
        "Whatever is believed beforehand, a report makes one value at most 7.39 times as likely "
        "against another as it was.",
        "The most telling report makes the best guess right for at most 46 more of 100 people.",
        "Reports carry at most 0.625 bits on average.",
    ]
    listed = list(worst_case(bs.identity(2), [[0.5, 0.5]]).sentences)
    assert listed[0] == "At worst, a report can rule values out altogether."


def test_bounds_at_the_ends():
    """Nothing at ε = 0, everything at infinity, and no overflow on the way."""
    nothing, everything = EpsilonBound.of(0.0, 5), EpsilonBound.of(math.inf, 5)
    assert (nothing.odds, nothing.increase, nothing.information, nothing.factor) == (1, 0, 0, 1)
    assert everything == EpsilonBound(math.inf, 1.0, math.log2(5), 5.0)
    assert EpsilonBound.of(2000.0, 5).factor == 5


def test_an_empty_list_is_refused():
    """None stands for all priors; an empty list stands for nothing."""
    with pytest.raises(MatrixError, match="list of priors is empty"):
        worst_case(bs.identity(2), [])


def test_larger_epsilon_is_worse():
    """The worst of a weaker channel is worse, in every quantity."""
    weaker = [worst_case(bs.randomised_response(6, epsilon=e)) for e in (0.5, 1.0, 2.0)]
    for name in ("odds", "increase", "information", "factor"):
        numbers = [getattr(worst, name) for worst in weaker]
        assert numbers == sorted(numbers)
        assert len(set(numbers)) == 3
