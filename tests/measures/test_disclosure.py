"""What a report tells: Bayes on the dense twin, the theory's inequalities, and golden values."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.errors import MatrixError, NotBistochasticError, TooLargeError
from bistochastic.matrices.entries import entropy_bits
from bistochastic.testing import SIZES, distributions, of_size, stochastic, structures

dit = pytest.importorskip("dit")

CLOSE = dict(rtol=1e-11, atol=1e-11)


@st.composite
def readings(draw, zeros=True):
    """Any channel, bistochastic or not, with a prior."""
    n = draw(SIZES)
    channel = draw(stochastic(st.just(n)) if draw(st.integers(0, 4)) == 0 else of_size(n))
    return channel, draw(distributions(n, zeros=zeros))


def by_hand(channel, prior):
    """Reported shares and posteriors of the dense twin, NaN where nothing is reported."""
    joint = channel.to_dense() * prior[:, None]
    reported = joint.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return reported, np.where(reported > 0, joint / reported, np.nan)


@given(readings())
def test_posteriors_are_those_of_bayes(given_):
    """Every structure, zero priors too; what nobody reports is not a number."""
    channel, prior = given_
    reported, posterior = by_hand(channel, prior)
    assume((reported[reported > 0] > 1e-12).all())  # a Fourier transform leaves dust
    told = bs.disclosure(channel, prior)
    bits = np.array([entropy_bits(column) for column in posterior.T])
    np.testing.assert_allclose(told.reported, reported, **CLOSE)
    np.testing.assert_allclose(told.posterior.to_dense(), posterior, **CLOSE)
    np.testing.assert_allclose(told.deniability, bits, **CLOSE)
    np.testing.assert_allclose(told.sides, np.exp2(bits), rtol=1e-10)
    np.testing.assert_allclose(told.guess, posterior.max(axis=0), **CLOSE)
    np.testing.assert_array_equal(np.isnan(told.deniability), reported == 0)


@given(readings())
def test_means_are_those_of_the_joint_distribution(given_):
    """The chain rule: H(X) - I(X; Y) is the mean deniability; guesses average to vulnerability."""
    channel, prior = given_
    reported, posterior = by_hand(channel, prior)
    told = bs.disclosure(channel, prior)
    seen = reported > 0
    bits = [entropy_bits(column) for column in posterior.T[seen]]
    assert told.prior_bits == pytest.approx(entropy_bits(prior))
    assert told.remaining_bits == pytest.approx(np.dot(reported[seen], bits), abs=1e-11)
    assert told.prior_vulnerability == prior.max()
    guesses = np.dot(reported[seen], posterior[:, seen].max(axis=0))
    assert told.posterior_vulnerability == pytest.approx(guesses)


@given(readings())
def test_the_theory_s_inequalities(given_):
    """No report leaves more doubt on average, none but a misinformative one leaves more at all."""
    channel, prior = given_
    told = bs.disclosure(channel, prior)
    assert -1e-12 <= told.mutual_information <= told.prior_bits + 1e-12
    assert told.mutual_information <= float(channel.epsilon) / math.log(2) + 1e-9
    assert told.posterior_vulnerability >= told.prior_vulnerability
    more = told.deniability > told.prior_bits + 1e-11
    assert (told.misinformative >= more).all()
    assert not told.misinformative.all()  # somewhere it must be paid back
    if (prior == prior[0]).all():
        assert not told.misinformative.any()  # nothing is more uncertain than not knowing at all
    if math.isfinite(channel.epsilon):
        known, seen = prior > 0, told.reported > 0
        odds = told.posterior.to_dense()[known][:, seen] / prior[known, None]
        factor = (odds.max(axis=0) / odds.min(axis=0)).max()
        assert factor <= math.exp(channel.epsilon) * (1 + 1e-9)


@given(readings(), st.data())
def test_processing_a_report_tells_no_more(given_, data):
    """The data-processing inequality, for information and for guesses."""
    channel, prior = given_
    second = data.draw(of_size(channel.size, depth=1))
    once, twice = bs.disclosure(channel, prior), bs.disclosure(channel @ second, prior)
    assert twice.mutual_information <= once.mutual_information + 1e-11
    assert twice.posterior_vulnerability <= once.posterior_vulnerability + 1e-12


@given(structures())
def test_equal_priors_are_the_default(channel):
    """With no prior all truths are equally likely, and the shortcuts for that tell the same."""
    n = channel.size
    short, long = bs.disclosure(channel), bs.disclosure(channel, np.full(n, 1 / n))
    for name in ("prior", "reported", "deniability", "sides", "guess"):
        np.testing.assert_allclose(getattr(short, name), getattr(long, name), **CLOSE)
    for name in ("prior_bits", "mutual_information", "posterior_vulnerability", "secret"):
        assert getattr(short, name) == pytest.approx(getattr(long, name), abs=1e-11)
    np.testing.assert_allclose(short.posterior.to_dense(), channel.to_dense(), **CLOSE)
    worst = min(entropy_bits(column) for column in channel.to_dense().T)
    assert short.deniability.min() == pytest.approx(worst, abs=1e-11)


@given(readings(zeros=False))
def test_secrecy_is_equal_rows(given_):
    """Perfect secrecy, ε = 0 and no information under one full prior are the same thing."""
    channel, prior = given_
    told = bs.disclosure(channel, prior)
    dense = channel.to_dense()
    if told.secret:
        np.testing.assert_allclose(dense, np.broadcast_to(dense[0], dense.shape), atol=1e-11)
        assert told.mutual_information == pytest.approx(0, abs=1e-11)
        assert not told.misinformative.any()
    elif np.ptp(dense, axis=0).max() > 1e-6:
        assert told.mutual_information > 0


def test_secrecy_is_not_a_matter_of_the_prior():
    """A prior that knows the truth leaves nothing to tell, but the channel is no secret-keeper."""
    told = bs.disclosure(bs.identity(3), [1, 0, 0])
    assert told.mutual_information == 0
    assert not told.secret
    rows = bs.Stochastic([[0.7, 0.3, 0.0]] * 3)
    assert bs.disclosure(rows, [0.2, 0.3, 0.5]).secret
    assert bs.disclosure(bs.secrecy(7) @ bs.Window(7, width=1)).secret
    assert bs.disclosure(bs.identity(1)).secret


@given(readings())
def test_an_independent_tool_finds_the_same_information(given_):
    """`dit` computes entropies and mutual information of the joint distribution alike."""
    channel, prior = given_
    joint = channel.to_dense() * prior[:, None]
    where = np.argwhere(joint > 0)
    weights = joint[tuple(where.T)]
    theirs = dit.Distribution([tuple(map(int, cell)) for cell in where], weights / weights.sum())
    told = bs.disclosure(channel, prior)
    assert told.prior_bits == pytest.approx(dit.shannon.entropy(theirs, [0]), abs=1e-9)
    information = dit.shannon.mutual_information(theirs, [0], [1])
    assert told.mutual_information == pytest.approx(information, abs=1e-9)
    assert told.remaining_bits == pytest.approx(
        dit.shannon.conditional_entropy(theirs, [0], [1]), abs=1e-9
    )


@given(readings(), readings())
def test_independent_columns_add(one, other):
    """Bits add and guesses multiply, as they do with the joint prior written out."""
    assume(isinstance(one[0], bs.Bistochastic) and isinstance(other[0], bs.Bistochastic))
    (first, p), (second, q) = one, other
    joint = bs.Kronecker(first, second)
    apart, whole = bs.disclosure(joint, [p, q]), bs.disclosure(joint, np.kron(p, q))
    np.testing.assert_allclose(apart.reported, whole.reported, **CLOSE)
    seen = np.asarray(apart.reported) > 1e-12
    for name in ("deniability", "guess"):
        np.testing.assert_allclose(getattr(apart, name)[seen], getattr(whole, name)[seen], **CLOSE)
    for name in ("prior_bits", "mutual_information", "posterior_vulnerability"):
        assert getattr(apart, name) == pytest.approx(getattr(whole, name), abs=1e-11)
    np.testing.assert_allclose(
        apart.posterior.to_dense()[:, seen], whole.posterior.to_dense()[:, seen], **CLOSE
    )


def test_golden_values():
    """The prior (0.7, 0.2, 0.1) through the mixture of three at ε = 2."""
    told = bs.disclosure(bs.randomised_response(3, epsilon=2), [0.7, 0.2, 0.1])
    np.testing.assert_allclose(
        told.reported, [0.5828423232, 0.2426027916, 0.1745548852], atol=1e-10
    )
    golden = [0.356876223932093, 1.1260555404100014, 1.4126798659061985]
    np.testing.assert_allclose(told.deniability, golden, atol=1e-14)
    np.testing.assert_array_equal(told.misinformative, [False, False, True])
    assert told.prior_bits == pytest.approx(1.1567796494470395)


def test_example_1_of_the_paper():
    """Domingo-Ferrer & Soria-Comas: a column of 0.7389 and 0.1 leaves half a bit of doubt."""
    channel = bs.Stochastic([[0.73890560989, 1 - 0.73890560989], [0.1, 0.9]])
    told = bs.disclosure(channel)
    assert channel.epsilon == pytest.approx(2)
    assert told.posterior[0, 0] == pytest.approx(0.8807970779774469, abs=1e-14)
    assert told.deniability[0] == pytest.approx(0.5270653410044183, abs=1e-14)
    assert told.guess[0] == told.posterior[0, 0]


MILLION = {
    "mixture": bs.Mixture(10**6, truth=0.5),
    "tridiagonal": bs.Tridiagonal(np.full(10**6 - 1, 0.2)),
    "blocks": bs.Blocks([10**5] * 10),
    "window": bs.Window(10**6, width=50),
    "kronecker": bs.Kronecker(bs.Mixture(1000, truth=0.3), bs.Window(1000, width=3)),
    "circulant": bs.Circulant(np.r_[0.5, np.full(10**6 - 1, 0.5 / (10**6 - 1))]),
}


@pytest.mark.parametrize("name", MILLION)
def test_a_million_categories(name):
    """Everything but the whole posterior, without an array of the size of the matrix."""
    channel = MILLION[name]
    prior = np.arange(10**6) / (5e5 * (10**6 - 1))
    told = bs.disclosure(channel, prior)
    v = 123_456
    column = told.posterior[:, v]
    assert column.sum() == pytest.approx(1)
    assert told.deniability[v] == pytest.approx(entropy_bits(column), abs=1e-9)
    assert told.guess[v] == pytest.approx(column.max())
    assert 0 < told.mutual_information < told.prior_bits
    assert "reported as *123456*" in told.sentence(v)
    with pytest.raises(TooLargeError, match="This part of a posterior"):
        told.posterior.to_dense()


def test_a_joint_domain_of_a_million_million_cells():
    """Mixtures side by side, and one mixture over all: lines that answer for any combination."""
    joint = bs.Kronecker(*[bs.Mixture(10, truth=0.7)] * 12)
    told = bs.disclosure(joint, [[0.5, *[0.5 / 9] * 9]] * 12)
    one = bs.disclosure(bs.Mixture(10, truth=0.7), [0.5, *[0.5 / 9] * 9])
    assert told.deniability[[0, 5]].shape == (2,)
    assert told.deniability[0] == pytest.approx(12 * one.deniability[0])
    assert told.guess[0] == pytest.approx(one.guess[0] ** 12)
    assert told.posterior[0, 0] == pytest.approx(one.posterior[0, 0] ** 12)
    assert told.mutual_information == pytest.approx(12 * one.mutual_information)
    assert told.sentence(0).startswith("Of 100 people reported as *0*")
    wide = bs.disclosure(bs.Mixture(10**12, truth=0.5))
    assert wide.guess[7] == 0.5
    assert wide.deniability[7] == pytest.approx(bs.Mixture(10**12, truth=0.5).bits)
    assert not bool(wide.misinformative[7])
    with pytest.raises(TooLargeError):
        bs.disclosure(bs.Blocks([10**11, 10**12])).guess[0]


def test_parts_of_a_posterior():
    """Entries that broadcast, rows, columns, slices, and positions counted from the end."""
    told = bs.disclosure(bs.Window(5, width=1), [0.4, 0.3, 0.2, 0.1, 0.0])
    dense = np.asarray(told.posterior)
    assert told.posterior.shape == dense.shape == (5, 5)
    assert told.posterior[1, 2] == dense[1, 2]
    for at in [(slice(None), 3), (2, slice(None)), (slice(1, 4), slice(0, 5, 2)), (-1, -2)]:
        np.testing.assert_array_equal(told.posterior[at], dense[at])
    np.testing.assert_array_equal(told.posterior[[0, 1], [2, 3]], dense[[0, 1], [2, 3]])
    np.testing.assert_array_equal(told.posterior[[0, 1], 1:], dense[[0, 1], 1:])
    for wrong in (3, (1, 5), (-6, 0), (0.5, 1), (1, 2, 3)):
        with pytest.raises(IndexError):
            told.posterior[wrong]


def test_sentences():
    """Words that anybody understands, and that claim no more than they know."""
    labels = ["married", "divorced", "widowed"]
    told = bs.disclosure(bs.randomised_response(3, epsilon=1), [0.8, 0.15, 0.05])
    assert list(told.sentences(labels)) == [
        "Of 100 people reported as *married*, about 92 are.",
        "Of 100 people reported as *divorced*, about 32 are; about 64 are *married*.",
        "Of 100 people reported as *widowed*, about 13 are; about 74 are *married*.",
    ]
    assert told.summary == (
        "Before a report the best guess is right for about 80 of 100 people, after it for about 80."
    )
    certain = bs.disclosure(bs.identity(3), [0.5, 0.5, 0])
    assert certain.sentence(0) == "Of 100 people reported as *0*, all are."
    assert certain.sentence(2, labels) == "Under this prior nobody is reported as *widowed*."
    swapped = bs.disclosure(bs.Permutation([1, 0]))
    assert swapped.sentence(0, "ab") == "Of 100 people reported as *a*, none is; all are *b*."
    rare = bs.disclosure(bs.Mixture(2, truth=0.9), [0.9999, 0.0001])
    assert rare.sentence(0) == "Of 100 people reported as *0*, more than 99 are."
    assert rare.sentence(1).startswith("Of 100 people reported as *1*, fewer than 1 is; more than")
    assert "says nothing" in bs.disclosure(bs.secrecy(4)).summary


@pytest.mark.parametrize(
    ("channel", "prior", "error", "words"),
    [
        (bs.identity(3), [0.5, 0.5], MatrixError, "needs 3 probabilities; got 2"),
        (bs.identity(2), [0.5, 0.6], NotBistochasticError, "sum to 1"),
        (bs.identity(2), [1.5, -0.5], MatrixError, "negative"),
        (bs.Kronecker(bs.identity(2)), [[0.5, 0.5], [1.0]], MatrixError, "1 factors needs as many"),
    ],
)
def test_what_is_no_prior_is_refused(channel, prior, error, words):
    """A prior has a probability for each category."""
    with pytest.raises(error, match=words):
        bs.disclosure(channel, prior)


def test_labels_are_as_many_as_categories():
    """One too few is a mistake, not a shift."""
    with pytest.raises(MatrixError, match="3 categories need as many labels; got 2"):
        bs.disclosure(bs.identity(3)).sentence(0, ["a", "b"])
