"""Folding columns by formula is folding the columns of the array."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.errors import TooLargeError
from bistochastic.measures.columns import gathered, itself, legible, peaks, surprise
from bistochastic.testing import SIZES, distributions, of_size, stochastic


@st.composite
def channels(draw):
    """Any channel with a vector of weights, zeros among them, or two side by side."""
    n = draw(SIZES)
    one = stochastic(st.just(n)) if draw(st.integers(0, 4)) == 0 else of_size(n)
    weights = draw(distributions(n))
    if draw(st.booleans()):
        weights = np.stack([weights, draw(distributions(n))], axis=1)
    return legible(draw(one)), weights


FUNCTIONS = [itself, surprise, lambda p: p**2, lambda p: np.where(p == 0, 3.0, -p)]
RISING = [itself, lambda p: p**2, lambda p: 0.25 + 0.5 * p]


@given(channels())
@pytest.mark.parametrize("of", FUNCTIONS)
def test_sums_are_those_of_the_array(of, given_):
    """Structured or not, any function of the entries, zeros included."""
    channel, x = given_
    expected = of(channel.to_dense()).T @ x
    np.testing.assert_allclose(gathered(channel, x, of), expected, rtol=1e-12, atol=1e-13)


@given(channels())
@pytest.mark.parametrize("of", RISING)
def test_peaks_are_those_of_the_array(of, given_):
    """The largest product in each column, whatever stands where the matrix is zero."""
    channel, x = given_
    array = of(channel.to_dense())
    products = np.einsum("uv,u...->uv...", array, x)
    expected = products.max(axis=0)
    np.testing.assert_allclose(peaks(channel, x, of), expected, rtol=1e-13, atol=1e-15)


def test_a_product_of_three_factors():
    """Each factor in turn is the one that surprises, after those before it have acted."""
    factors = bs.Circulant([0.6, 0.3, 0.1]), bs.Mixture(2, truth=0.9), bs.Circulant([0.2, 0.8])
    joint = bs.Kronecker(*factors)
    x = np.random.default_rng(1).dirichlet(np.ones(12))
    array = joint.to_dense()
    np.testing.assert_allclose(gathered(joint, x), array.T @ x, rtol=1e-13)
    np.testing.assert_allclose(gathered(joint, x, surprise), surprise(array).T @ x, rtol=1e-13)
    np.testing.assert_allclose(peaks(joint, x), (array * x[:, None]).max(axis=0), rtol=1e-13)


@pytest.mark.parametrize("n", [100, 601])
def test_circulants_of_every_kind(n):
    """Few steps that differ, or many; the usual step the rarest, or not."""
    numbers = np.random.default_rng(n)
    laws = [np.r_[0.5, np.full(n - 1, 0.5 / (n - 1))], numbers.dirichlet(np.ones(n))]
    laws.append(np.r_[0.0, np.full(n - 1, 1 / (n - 1))])
    x = numbers.dirichlet(np.ones(n)) * (numbers.random(n) < 0.3)
    for law in laws:
        array = bs.Circulant(law).to_dense()
        for of in (itself, surprise):
            np.testing.assert_allclose(
                gathered(bs.Circulant(law), x, of), of(array).T @ x, rtol=1e-11
            )
        np.testing.assert_allclose(
            peaks(bs.Circulant(law), x), (array * x[:, None]).max(axis=0), rtol=1e-13
        )


def test_long_circulants_go_through_the_transform():
    """Beyond any array the sums come from Fourier, and a structural zero stays one."""
    n = 1 << 15
    law = np.zeros(n)
    law[:100] = np.arange(100, 0, -1) / 5050
    x = np.zeros(n)
    x[5] = 1.0
    found = gathered(bs.Circulant(law), x)
    np.testing.assert_allclose(found[5:105], law[:100], rtol=1e-9)
    assert not found[200:].any()
    with pytest.raises(TooLargeError, match="The likeliest truths behind"):
        peaks(bs.Circulant(law), np.linspace(0, 1, n))


@pytest.mark.parametrize(
    "channel",
    [
        bs.Mixture(10**6, truth=0.5),
        bs.Tridiagonal(np.full(10**6 - 1, 0.2)),
        bs.Blocks([10**5] * 10),
        bs.Window(10**6, width=50),
        bs.Kronecker(bs.Mixture(1000, truth=0.3), bs.Window(1000, width=3)),
        bs.Mixture(10**6, truth=0.5).ergodic(1e-9),
    ],
    ids=repr,
)
def test_nothing_is_formed_at_a_million(channel):
    """A million categories are an ordinary size; probability is kept."""
    x = np.arange(10**6) / (5e5 * (10**6 - 1))
    assert legible(channel).size == 10**6
    assert gathered(channel, x).sum() == pytest.approx(1)
    assert peaks(channel, x).max() <= x.max()
    assert (gathered(channel, x, surprise) >= 0).all()


def test_what_has_no_folds_is_refused_where_its_array_would_not_fit():
    """A product of ten thousand categories would be multiplied out."""
    with pytest.raises(TooLargeError, match="Ask for single"):
        legible(bs.Mixture(10**4, truth=0.5) @ bs.Window(10**4, width=2))
