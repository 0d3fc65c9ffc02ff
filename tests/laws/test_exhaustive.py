"""The proof at 16 bits, on the code that runs with 64: all words, all codes, every structure."""

import numpy as np
import pytest

import bistochastic as bs
from tests.exhaustive import assert_counts_are_the_integers, assert_law_is_the_integers


def channel(number):
    """A random channel with columns that do not sum to one, zeros and certain rows among it."""
    choose = np.random.default_rng([1965, number])
    n = round(2 ** choose.uniform(1, 6))
    rows = choose.dirichlet(np.full(n, choose.choice([0.05, 0.5, 5.0])), size=n)
    rows[choose.random((n, n)) < choose.choice([0.0, 0.3])] = 0
    sure = (choose.random(n) < 0.1) | (rows.sum(axis=1) == 0)
    rows[sure] = np.eye(n)[choose.integers(0, n, sure.sum())]
    return bs.Stochastic(rows / rows.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_random_channels(first):
    """Three hundred of them, of 2 to 64 categories."""
    for number in range(first, first + 50):
        assert_counts_are_the_integers(channel(number).exact(word_bits=16, allow_zeros=True))


FALLING = [[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]]
ONE_DRAW = {
    "mixture": bs.Mixture(5, truth=0.6),
    "mixture, two": bs.Mixture(2, truth=0.9),
    "mixture, seldom true": bs.Mixture(2, truth=0.01),
    "always true": bs.identity(6),
    "randomised response": bs.randomised_response(12, epsilon=1),
    "circulant": bs.Circulant([0.5, 0.3, 0.0, 0.15, 0.05]),
    "many steps": bs.Circulant(np.arange(1, 201) / 20100),
    "certain step": bs.Circulant([0.0, 0.0, 1.0]),
    "tridiagonal": bs.Tridiagonal([0.25, 0.5, 0.0, 0.125, 0.7]),
    "certain exchange": bs.Tridiagonal([0.3, 0.0, 1.0, 0.0, 0.6]),
    "blocks": bs.Blocks([3, 1, 5, 7]),
    "blocks of one": bs.Blocks([1, 1, 1]),
    "secrecy": bs.secrecy(11),
    "secrecy, a power": bs.secrecy(16),
    "permutation": bs.Permutation([2, 0, 3, 1]),
    "birkhoff": bs.Birkhoff([0.5, 0.3, 0.2], [[0, 1, 2, 3], [1, 2, 3, 0], [3, 1, 0, 2]]),
    "dense": bs.Dense(FALLING),
    "window": bs.Window(9, width=2),
    "reflected": bs.diffusion(path=8, time=1.0),
    "ordered": bs.optimal([[abs(i - j) for j in range(6)] for i in range(6)], beta=0.6),
    "transposed": bs.Dense(FALLING).T,
    "one factor": bs.Kronecker(bs.Dense(FALLING), bs.Permutation([1, 0])),
    "joint": bs.Kronecker(bs.Permutation([1, 0]), bs.Mixture(3, truth=0.5)),
}


@pytest.mark.parametrize("name", ONE_DRAW)
def test_structures_of_one_word(name):
    """Every structure that consumes a single word."""
    form = ONE_DRAW[name].exact(word_bits=16, allow_zeros=True)
    assert form.draws <= 1
    assert_counts_are_the_integers(form)


TWO_DRAWS = {
    "never true": bs.Mixture(4, truth=0.0),
    "seldom true": bs.Mixture(7, truth=0.01),
    "rare lies": bs.Mixture(9, truth=0.99),
    "joint": bs.Kronecker(bs.Dense(FALLING), bs.Circulant([0.5, 0.3, 0.2])),
    "joint, one rejects": bs.Kronecker(bs.Dense(FALLING), bs.Blocks([3, 2])),
    "the other rejects": bs.Kronecker(bs.secrecy(3), bs.Tridiagonal([0.25, 0.5])),
    "composed": bs.Dense(FALLING) @ bs.Circulant([0.5, 0.3, 0.2]),
    "taxonomy": bs.Taxonomy({"a": "x", "b": "x", "c": "y", "d": "y", "x": "z", "y": "z"}, time=1),
    "combination": bs.Combination([0.25, 0.75], [bs.Dense(FALLING), bs.secrecy(3)]),
    "ergodic": bs.Tridiagonal([0.25, 0.5]).ergodic(0.1),
}


@pytest.mark.parametrize("name", TWO_DRAWS)
def test_structures_of_two_words(name):
    """Structures that consume two words, at 8 bits each."""
    form = TWO_DRAWS[name].exact(word_bits=8, allow_zeros=True)
    assert form.draws <= 2
    assert_law_is_the_integers(form)


@pytest.mark.parametrize("n", [255, 256, 257, 300])
def test_reports_beyond_a_byte(n):
    """Where the type of the codes is too narrow for the reports, the reports are wider."""
    choose = np.random.default_rng(n)
    form = bs.Stochastic(choose.dirichlet(np.ones(n), size=n)).exact(word_bits=16, allow_zeros=True)
    codes = np.full(1 << 16, 200, np.uint8)
    reports = form.sample(codes, np.arange(1 << 16, dtype=np.uint64))
    assert reports.dtype == (np.uint8 if n <= 256 else np.uint16)
    assert np.bincount(reports, minlength=n).tolist() == form.integer_row(200)[0]
