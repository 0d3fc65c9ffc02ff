"""Design effects: variances of the dense twin, what theory allows, and what surveys would need."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.errors import MatrixError, SingularMatrixError, TooLargeError
from bistochastic.matrices.inverse import inverse_squares
from bistochastic.measures.design import design_effect, largest_design_effect, sample_size
from bistochastic.testing import SIZES, distributions, of_size, stochastic, structures


@st.composite
def undone(draw):
    """A channel that can be undone, with a prior."""
    n = draw(SIZES)
    channel = draw(stochastic(st.just(n)) if draw(st.integers(0, 4)) == 0 else of_size(n))
    assume(float(channel.condition) < 1e4)
    return channel, draw(distributions(n))


@given(undone())
def test_squares_of_the_inverse_are_those_of_the_array(given_):
    """For every structure, one vector and two side by side."""
    channel, x = given_
    expected = np.linalg.inv(channel.to_dense().T) ** 2
    np.testing.assert_allclose(inverse_squares(channel, x), expected @ x, rtol=1e-6, atol=1e-9)
    pair = np.stack([x, x[::-1]], axis=1)
    np.testing.assert_allclose(
        inverse_squares(channel, pair), expected @ pair, rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("top", [0.24, 0.4])
def test_tridiagonals_by_elimination_and_by_columns(top):
    """Positive definite, where elimination tells it at once, or not."""
    alphas = np.random.default_rng(1).uniform(0.05, top, 30)
    channel = bs.Tridiagonal(alphas)
    x = np.random.default_rng(2).dirichlet(np.ones(31))
    expected = np.linalg.inv(channel.to_dense()) ** 2 @ x
    np.testing.assert_allclose(inverse_squares(channel, x), expected, rtol=1e-9)


@given(undone())
def test_variances_are_those_of_the_estimator(given_):
    """The diagonal of the dispersion matrix, over the variance of counting true answers."""
    channel, prior = given_
    inverse = np.linalg.inv(channel.to_dense().T)
    reported = channel.to_dense().T @ prior
    variance = np.diag(inverse @ (np.diag(reported) - np.outer(reported, reported)) @ inverse.T)
    direct = prior * (1 - prior)
    inner = direct > 0
    found = design_effect(channel, prior)
    expected = np.maximum(variance[inner], 0) / direct[inner]
    np.testing.assert_allclose(found[inner], expected, rtol=1e-6, atol=1e-6)
    if channel.size > 1:
        assert np.isinf(found[~inner]).all()


@given(undone())
def test_nobody_estimates_better_from_less(given_):
    """A randomised answer is worth at most a true one, and the identity is worth exactly that."""
    channel, prior = given_
    assert (design_effect(channel, prior) >= 1 - 1e-6).all()
    inner = (prior > 0) & (prior < 1)
    np.testing.assert_allclose(design_effect(bs.identity(channel.size), prior)[inner], 1)


@given(undone(), st.floats(0.001, 0.5))
def test_a_sample_of_that_size_is_as_precise_as_wanted(given_, error):
    """And one respondent fewer is not enough."""
    channel, prior = given_
    inner = (prior > 0) & (prior < 1)
    each = design_effect(channel, prior)[inner] * (prior * (1 - prior))[inner]
    needed = sample_size(channel, prior, standard_error=error)[inner]
    assert (np.sqrt(each / needed) <= error * (1 + 1e-9)).all()
    more = needed > 1
    assert (np.sqrt(each[more] / (needed[more] - 1)) >= error * (1 - 1e-9)).all()
    relative = sample_size(channel, prior, relative=error)[inner]
    assert (np.sqrt(each / relative) <= error * prior[inner] * (1 + 1e-9)).all()


@given(structures())
def test_the_category_that_suffers_most(channel):
    """Under equal frequencies, by shortcut and by all categories."""
    assume(float(channel.condition) < 1e4)
    assert largest_design_effect(channel) == pytest.approx(design_effect(channel).max(), rel=1e-6)


@given(undone(), undone())
def test_columns_side_by_side(one, other):
    """One prior for each factor, or their product over all combinations."""
    assume(isinstance(one[0], bs.Bistochastic) and isinstance(other[0], bs.Bistochastic))
    joint = bs.Kronecker(one[0], other[0])
    apart = design_effect(joint, [one[1], other[1]])
    whole = design_effect(joint, np.kron(one[1], other[1]))
    np.testing.assert_allclose(apart, whole, rtol=1e-6, atol=1e-6)


def test_warner_s_survey():
    """Warner 1965: the variance of a yes is that of counting plus p(1-p)/(2p-1)²."""
    p, share = 0.8, 0.1
    found = design_effect(bs.Mixture(2, truth=p), [share, 1 - share])
    extra = p * (1 - p) / (2 * p - 1) ** 2
    np.testing.assert_allclose(found, 1 + extra / (share * (1 - share)), rtol=1e-12)
    assert sample_size(bs.Mixture(2, truth=p), [share, 1 - share], standard_error=0.01)[
        0
    ] == math.ceil((share * (1 - share) + extra) / 1e-4)


def test_simulated_surveys_scatter_as_foretold():
    """20,000 surveys of 500 answers; the ratio of variances is within 5 % (9 standard errors)."""
    channel, prior, n = bs.Tridiagonal([0.2, 0.1]), np.array([0.5, 0.3, 0.2]), 500
    numbers = np.random.default_rng(3)
    counts = numbers.multinomial(n, channel.rmatvec(prior), size=20_000)
    estimates = channel.rsolve(counts.T / n)
    ratio = estimates.var(axis=1) * n / (prior * (1 - prior))
    np.testing.assert_allclose(design_effect(channel, prior), ratio, rtol=0.09)


def test_a_joint_domain_of_a_million_million_cells():
    """One cell of a dozen columns, or of one mixture over all combinations."""
    joint = bs.Kronecker(*[bs.Mixture(10, truth=0.7)] * 12)
    one = inverse_squares(bs.Mixture(10, truth=0.7), np.full(10, 0.1))[0]
    assert design_effect(joint)[5] == pytest.approx(one**12 * 1e12, rel=1e-9)
    assert largest_design_effect(joint) == pytest.approx(one**12 * 1e12, rel=1e-9)
    assert design_effect(bs.Mixture(10**12, truth=0.5))[7] == pytest.approx(4)


@pytest.mark.parametrize(
    "channel",
    [
        bs.Tridiagonal(np.full(10**6 - 1, 0.2)),
        bs.Circulant(np.r_[0.7, np.full(10**6 - 1, 0.3 / (10**6 - 1))]),
        bs.Kronecker(bs.Mixture(1000, truth=0.3), bs.Tridiagonal(np.full(999, 0.2))),
        bs.Tridiagonal(np.full(10**6 - 1, 0.2)).ergodic(1e-8),
    ],
    ids=repr,
)
def test_nothing_is_formed_at_a_million(channel):
    """A million categories are an ordinary size."""
    found = inverse_squares(channel, np.full(10**6, 1e-6))
    assert (found > 1e-6 * (1 - 1e-9)).all()


@pytest.mark.parametrize("channel", [bs.secrecy(4), bs.Blocks([2, 1]), bs.Mixture(4, truth=0.25)])
def test_what_is_lost_is_not_a_matter_of_numbers(channel):
    """A singular channel is refused in words: no number of respondents brings the table back."""
    for ask in (design_effect, largest_design_effect):
        with pytest.raises(SingularMatrixError, match=r"singular.*identifiable"):
            ask(channel)
    with pytest.raises(SingularMatrixError):
        sample_size(channel, relative=0.1)


def test_edges():
    """One category is known, an impossible one has no relative error, huge inverses are refused."""
    assert design_effect(bs.identity(1)) == largest_design_effect(bs.identity(1)) == 1
    assert sample_size(bs.identity(2), [1, 0], relative=0.1).tolist() == [0, math.inf]
    with pytest.raises(TooLargeError, match="The inverse of this channel"):
        design_effect(bs.Window(10**5, width=1))
    for wrong in ({}, {"relative": 0.1, "standard_error": 0.1}):
        with pytest.raises(MatrixError, match="one target"):
            sample_size(bs.identity(2), **wrong)
    with pytest.raises(MatrixError, match="must be positive"):
        sample_size(bs.identity(2), relative=0)
