"""Permuting a column: the law of every individual, proved by enumeration and by many columns."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.masking.permute import joint_bits, permutation
from bistochastic.masking.shuffle import shuffled
from tests.many import Many

COLUMNS = 4000


RECIPES = {
    "blocks": bs.Blocks([1, 2, 3]),
    "one block": bs.secrecy(4),
    "mixture": bs.Mixture(5, truth=0.55),
    "mixture, whole mean": bs.Mixture(4, truth=0.5),
    "little truth": bs.Mixture(4, truth=0.1),
    "no truth": bs.Mixture(4, truth=0.0),
    "tridiagonal": bs.Tridiagonal([0.5, 0.3, 0.6, 0.1]),
    "certain swap": bs.Tridiagonal([1.0, 0.0, 0.4]),
    "composed": bs.Tridiagonal([0.4, 0.2, 0.3]) @ bs.Blocks([2, 2]),
    "lottery": bs.Birkhoff([0.2, 0.3, 0.5], [[0, 1, 2], [1, 2, 0], [2, 1, 0]]),
    "combination": bs.Combination([0.25, 0.75], [bs.Blocks([2, 1]), bs.Permutation([1, 2, 0])]),
    "ergodic": bs.Tridiagonal([0.3, 0.2]).ergodic(0.1),
}


@pytest.mark.parametrize("name", RECIPES)
def test_the_mean_of_permutations_is_the_matrix(name):
    """Cell by cell over 4000 columns, within six standard errors (false alarms below 1e-7)."""
    matrix = RECIPES[name]
    form = matrix.exact(allow_zeros=True)
    n = matrix.size
    counts = np.zeros((n, n))
    for column in range(COLUMNS):
        order = permutation(form, Many(column, size=n))
        assert sorted(order) == list(range(n))
        counts[np.arange(n), order] += 1
    p = matrix.to_dense()
    error = np.sqrt(p * (1 - p) / COLUMNS)
    assert (np.abs(counts / COLUMNS - p) <= 6 * error + 1e-12).all()


def enumerated(matrix, word_bits):
    """The exact law of a tridiagonal recipe over all words of its edges, ignoring rejections."""
    form = matrix.exact(word_bits=word_bits, allow_zeros=True)
    n, top = form.size, 1 << word_bits
    weights = [int(w) for w in form.weights]
    law = [[Fraction(0)] * n for _ in range(n)]
    for taken in itertools.product([False, True], repeat=n - 1):
        chance, free = Fraction(1), True
        for i, happens in enumerate(taken):
            share = (
                Fraction(weights[i], top - (weights[i - 1] if i else 0)) if free else Fraction(0)
            )
            chance *= share if happens else 1 - share
            free = not happens
        order = list(range(n))
        for i, happens in enumerate(taken):
            if happens:
                order[i], order[i + 1] = i + 1, i
        for u, v in enumerate(order):
            law[u][v] += chance
    return form, law


def test_the_matching_of_a_path_has_the_integer_law():
    """Edge i out of N - a_{i-1}, nothing after a taken edge: exactly the integer matrix."""
    form, law = enumerated(bs.Tridiagonal([0.4, 0.3, 0.5, 0.2]), 8)
    for u in range(5):
        row, whole = form.integer_row(u)
        assert law[u] == [Fraction(weight, whole) for weight in row]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 10**6))
def test_shuffles_stay_inside_their_groups(sizes, column):
    """Every place goes to one of its own group, ties or not."""
    n = sum(sizes)
    order = shuffled(np.array(sizes), 0, Many(column, bits=8, size=n), word_bits=8)
    assert sorted(order) == list(range(n))
    group = np.repeat(np.arange(len(sizes)), sizes)
    np.testing.assert_array_equal(group[order], group)


def test_shuffles_are_uniform_over_all_words():
    """Three places and 4-bit words by enumeration: all six orders equally often, ties left out."""
    seen = {}
    for words in itertools.product(range(16), repeat=3):
        if len(set(words)) == 3:
            fixed = np.array(words, dtype=np.uint64)
            order = shuffled(np.array([3]), 0, lambda d, a, c, w=fixed: w, word_bits=8)
            seen[tuple(order)] = seen.get(tuple(order), 0) + 1
    assert len(seen) == 6
    assert len(set(seen.values())) == 1


def brute_bits(matrix, columns=20000):
    """The entropy of σ by counting, with Miller and Madow's correction."""
    form = matrix.exact(allow_zeros=True)
    seen = {}
    for column in range(columns):
        key = tuple(permutation(form, Many(column, size=matrix.size)))
        seen[key] = seen.get(key, 0) + 1
    shares = np.array(list(seen.values())) / columns
    return -(shares * np.log2(shares)).sum() + (len(seen) - 1) / (2 * columns * math.log(2))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["blocks", "mixture", "mixture, whole mean", "little truth", "no truth", "tridiagonal"]
)
def test_joint_entropies_agree_with_counting(name):
    """The closed forms against 20,000 columns."""
    matrix = RECIPES[name]
    form = matrix.exact(allow_zeros=True)
    assert joint_bits(form) == pytest.approx(brute_bits(matrix), abs=0.03)


def test_joint_entropies_by_hand():
    """Factorials for blocks; a swap of two is one coin; a uniform mixture is one block."""
    assert joint_bits(bs.Blocks([3, 2]).exact()) == pytest.approx(math.log2(12))
    assert joint_bits(bs.Tridiagonal([0.5]).exact()) == pytest.approx(1)
    assert joint_bits(bs.Mixture(6, truth=1 / 6).exact()) == pytest.approx(math.log2(720), rel=1e-9)
    assert joint_bits(bs.identity(5).exact()) == 0
    assert joint_bits(bs.Permutation([1, 0]).exact()) == 0


def test_a_circulant_is_not_permuted_by_one_shift():
    """One cyclic shift has the right law for each, but one known record reveals all: refused."""
    for matrix in (bs.Circulant([0.5, 0.3, 0.2]), bs.diffusion(path=4, time=1.0)):
        with pytest.raises(bs.MaskingError, match="no recipe for permuting"):
            permutation(matrix.exact(), Many(1))


@settings(max_examples=25)
@given(st.integers(2, 60), st.floats(0.02, 0.99), st.integers(0, 10**6))
def test_mixtures_move_as_many_as_they_should(n, truth, column):
    """The subset has one place more than the mean that moves, or the next number."""
    matrix = bs.Mixture(n, truth=max(truth, 1 / n))
    order = permutation(matrix.exact(), Many(column, size=n))
    assert (order != np.arange(n)).sum() <= n * (1 - matrix.truth) + 2
