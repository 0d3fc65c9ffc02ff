"""Linkage through channels: against Bayes' rule over all pairs, for tables and for pairs."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.measures import likelihood
from bistochastic.measures.likelihood import Through, likelihood_linkage


def dense(channel):
    """A channel with one more code for what is missing and stays so."""
    whole = np.eye(channel.size + 1)
    whole[:-1, :-1] = channel.to_dense()
    return whole


def plain(through, kept, true):
    """Chances and true weights by Bayes' rule, each pair of records by itself."""
    n, m = len(through[0].original), len(through[0].masked)
    chances, weights = [], []
    for i in range(n):
        if true[i] < 0:
            chances.append(np.nan)
            continue
        y = true[i]
        likely = [1.0] * n
        for one in through:
            table = dense(one.channel)
            likely = [w * table[one.original[k], one.masked[y]] for k, w in enumerate(likely)]
        for before, after in kept:
            likely = [w * (before[k] == after[y]) for k, w in enumerate(likely)]
        best, own = max(likely), likely[i]
        right = own > 0 and own >= best * (1 - 1e-9)
        chances.append(1 / sum(w >= best * (1 - 1e-9) for w in likely) if right else 0.0)
        weights.append(own / sum(likely) if own > 0 else 0.0)
    assert m
    return chances, np.mean(weights) if weights else np.nan


CHANNELS = [
    bs.Mixture(3, truth=0.6),
    bs.Tridiagonal([0.3, 0.2]),
    bs.Stochastic([[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]]),
    bs.identity(3),
    bs.secrecy(3),
]


@st.composite
def files(draw):
    """Records before and after a few channels, some of them in blocks."""
    n, m = draw(st.integers(1, 10)), draw(st.integers(1, 10))

    def codes(size):
        return np.array(draw(st.lists(st.integers(-1, 2), min_size=size, max_size=size)))

    channels = draw(st.lists(st.sampled_from(CHANNELS), min_size=1, max_size=3))
    through = [Through(channel, codes(n), codes(m)) for channel in channels]
    kept = [(codes(n), codes(m))] if draw(st.booleans()) else []
    true = draw(st.lists(st.integers(-1, m - 1), min_size=n, max_size=n))
    return through, kept, true


@given(files())
def test_weights_are_those_of_bayes(file):
    """A table of all combinations, and pairs of those that occur, give what every pair gives."""
    through, kept, true = file
    chances, weight = plain(through, kept, true)
    for tables, step in ((True, 1), (False, 1), (False, likelihood.STEP)):
        with (
            mock.patch.object(likelihood._Weights, "_tables", lambda *_, t=tables: t),
            mock.patch.object(likelihood, "STEP", step),
        ):
            found, told = likelihood_linkage(through, kept=kept, true=true)
        np.testing.assert_allclose(found.chances, chances)
        np.testing.assert_allclose(told, weight)


def test_perfect_secrecy_leaves_chance():
    """Behind a report that says nothing everybody is equally likely."""
    codes = np.arange(12) % 4
    found, weight = likelihood_linkage([Through(bs.secrecy(4), codes, codes[::-1])])
    assert weight == found.expected == pytest.approx(1 / 12)


def test_an_untouched_file_is_linked_whole():
    """Reports that are the truth of distinct records name everybody."""
    codes = np.arange(9)
    found, weight = likelihood_linkage([Through(bs.identity(9), codes, codes)])
    assert (found.expected, weight) == (1.0, 1.0)


def test_weights_are_calibrated():
    """On average the true record has the weight that the intruder's best guess is right with.

    Of 20 000 records drawn through the channel, within six standard errors.
    """
    draw = np.random.default_rng(11)
    n, channel = 20_000, bs.Mixture(5, truth=0.7)
    true = draw.integers(0, 5, (3, n))
    kept = draw.random((3, n)) < 0.7
    reports = np.where(kept, true, (true + draw.integers(1, 5, (3, n))) % 5)
    found, weight = likelihood_linkage(
        [Through(channel, x, y) for x, y in zip(true, reports, strict=True)]
    )
    # The best guess is 1/80 or so of those who would report that; its error is theirs.
    assert found.expected == pytest.approx(0.7**3 / (n / 125), rel=0.1)
    assert weight < found.expected


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: likelihood_linkage([]), "at least one channel"),
        (lambda: likelihood_linkage([Through(bs.identity(2), [0.5], [0])]), "whole numbers"),
        (lambda: likelihood_linkage([Through(bs.identity(2), [2], [0])]), "lie outside"),
        (lambda: likelihood_linkage([Through(bs.identity(2), [1], [0])], true=[3]), "-1, for each"),
        (
            lambda: likelihood_linkage(
                [Through(bs.identity(2), [1], [0]), Through(bs.identity(2), [1, 1], [0, 0])]
            ),
            "same records",
        ),
        (
            lambda: likelihood_linkage([Through(bs.identity(2), [1], [0])], kept=[([1, 2], [1])]),
            "same records",
        ),
    ],
)
def test_refusals(call, says):
    """What cannot be weighed is refused in words."""
    with pytest.raises(bs.MeasureError, match=says):
        call()


def test_too_many_pairs_are_refused():
    """Neither a table nor pairs of that size are begun."""
    through = [Through(bs.identity(2), [0, 1], [0, 1])]
    with (
        mock.patch.object(likelihood, "CELLS", 0),
        mock.patch.object(likelihood, "PAIRS", 1),
        pytest.raises(bs.TooLargeError, match="Leave some"),
    ):
        likelihood_linkage(through)
