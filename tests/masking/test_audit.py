"""The audit finds nothing in the package, and finds what is planted where it can be seen at all."""

import numpy as np
import pytest

import bistochastic as bs
from tests import audit
from tests.audit import ALPHA, MECHANISMS, epsilon_below, examined, frequencies, repeats

KEY = bs.Key(bytes(range(7, 39)))
ROWS = 300_000


def test_every_mechanism_is_sound():
    """With fixed keys; with fresh ones this would fail once in 1e9 runs."""
    keys = iter(range(len(MECHANISMS)))
    found = list(audit.audit(ROWS, lambda: bs.Key(bytes([next(keys)] * 32))))
    assert len(found) == 2 * len(MECHANISMS)
    assert [finding for finding in found if not finding.sound] == []


def test_the_bound_for_epsilon_is_close():
    """It is no formality: at this size it comes within a tenth of the declared epsilon."""
    for name in ("response, ε 1", "response, ε 4", "dense", "general"):
        for finding in examined(name, MECHANISMS[name], KEY, 2_000_000, ALPHA):
            assert 0.9 * finding.declared < finding.epsilon <= finding.declared


def sound(channel, instead):
    """Whether the audit believes that a sampler is the channel."""
    (finding,) = examined("planted", channel, KEY, ROWS, ALPHA, instead)
    return finding.sound


def test_an_outcome_under_one_input_only():
    """The worst there is: a report that only one truth can have, whatever ratios say of zeros."""
    counts = np.array([[0, 500_000, 500_000], [5000, 495_000, 500_000], [0, 500_000, 500_000]])
    assert epsilon_below(counts, ALPHA) > 0.5
    counts[1] = [20_000, 480_000, 500_000]
    assert epsilon_below(counts, ALPHA) > 6
    law = np.array([[0, 0.5, 0.5]] * 3)
    assert frequencies(counts, law) == 0
    channel = bs.randomised_response(3, epsilon=1)
    choose = np.random.default_rng(8)

    def silent(codes):
        reports = channel.exact().sample(codes, choose.integers(0, 2**64, codes.size, np.uint64))
        return np.where((reports == 2) & (codes != 2), codes, reports)

    (finding,) = examined("planted", channel, KEY, ROWS, ALPHA, silent)
    assert finding.epsilon > 5
    assert not finding.sound


def test_what_seldom_happens_is_no_alarm():
    """Once in a thousand audits a report of probability 1e-9 is among a million: no finding."""
    law = np.array([[1e-9, 0.5, 0.5 - 1e-9], [0.5, 0.5, 0], [1e-4, 2e-4, 0.9997]])
    counts = np.array([[1, 499_999, 500_000], [500_000, 500_000, 0], [110, 195, 999_695]])
    assert frequencies(counts, law) > 0.01
    counts[2] = 600, 195, 999_205
    assert frequencies(counts, law) < ALPHA
    few = np.array([[1, 2, 3]] * 3)
    assert frequencies(few, np.full((3, 3), 1 / 3)) > ALPHA


def test_what_an_audit_sees():
    """A noisier or less noisy channel, another one, and words that come twice."""
    channel, choose = bs.randomised_response(12, epsilon=1), np.random.default_rng(9)

    def through(other):
        form = other.exact()
        return lambda codes: form.sample(codes, choose.integers(0, 2**64, codes.size, np.uint64))

    def again(codes):
        words = np.resize(choose.integers(0, 2**64, 1 << 16, np.uint64), codes.size)
        return channel.exact().sample(codes, words)

    assert sound(channel, through(channel))
    assert not sound(channel, through(bs.randomised_response(12, epsilon=1.3)))
    assert not sound(channel, through(bs.randomised_response(12, epsilon=0.7)))
    assert not sound(channel, again)
    assert not sound(bs.Dense(audit.SKEWED), through(bs.Dense(audit.SKEWED).T))


@pytest.mark.parametrize("lag", [1, 12])
def test_repeats_are_seen(lag):
    """One report in twenty that is the one before it is too many; independent ones are not."""
    row, choose = np.array([0.5, 0.3, 0.2]), np.random.default_rng(3)
    reports = choose.choice(3, 200_000, p=row)
    assert repeats(reports, row) > ALPHA
    assert repeats(np.array([0, 0]), np.array([1.0, 0.0])) == 1
    copied = np.flatnonzero(choose.random(reports.size) < 0.05)
    copied = copied[copied >= lag]
    reports[copied] = reports[copied - lag]
    assert repeats(reports, row) < ALPHA
