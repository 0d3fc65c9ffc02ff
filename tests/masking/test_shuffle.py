"""Uniform choices from words: orders, lots and whole numbers, by enumeration."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.masking.shuffle import _ranked, drawn_lots, shuffled, tossed, whole_number
from tests.many import Many


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(0, 10**6))
def test_shuffles_stay_inside_their_groups(sizes, column):
    """Every place goes to one of its own group, ties or not."""
    n = sum(sizes)
    order = shuffled(np.array(sizes), 0, Many(column, bits=8, size=n), word_bits=8)
    assert sorted(order) == list(range(n))
    group = np.repeat(np.arange(len(sizes)), sizes)
    np.testing.assert_array_equal(group[order], group)


def test_shuffles_are_uniform_over_all_words():
    """Groups of 2 and 1 and all 8-bit words: half of them tie never, each order as often."""
    seen, again = {}, 0
    for first, second in itertools.product(range(256), repeat=2):
        asked = []

        def words(draw, attempt, cells, pair=(first, second), asked=asked):
            asked.append(attempt)
            fixed = np.array([0, *pair] if attempt == 0 else [0, 0, 1], dtype=np.uint64)
            return fixed if cells is None else fixed[cells]

        order = tuple(shuffled(np.array([1, 2]), 0, words, word_bits=8))
        if asked == [0]:
            seen[order] = seen.get(order, 0) + 1
        again += asked == [0, 1]
    assert seen == {(0, 1, 2): 128 * 255, (0, 2, 1): 128 * 255}
    assert again == 256


def test_shuffles_of_three_are_uniform():
    """All orders equally often over the words of three places that differ."""
    seen = {}
    for words in itertools.permutations(range(12), 3):
        fixed = np.array(words, dtype=np.uint64)
        order = shuffled(np.array([3]), 0, lambda d, a, c, w=fixed: w, word_bits=8)
        seen[tuple(order)] = seen.get(tuple(order), 0) + 1
    assert set(seen.values()) == {220}
    assert len(seen) == 6


@pytest.mark.parametrize("word_bits", [8, 64])
def test_ranks_follow_all_bits_of_a_word(word_bits):
    """Words that differ in their last bits only are in order; words that do not are told."""
    top = np.uint64((1 << word_bits) - 8)
    words = np.array([[5, 3, 7, 1, 0, 6], [0, 1, 1, 2, 3, 4]], dtype=np.uint64) + top
    words[1] -= np.uint64(3)
    ranks, tied = _ranked(words, word_bits)
    np.testing.assert_array_equal(ranks[0], np.argsort(words[0]))
    assert tied.tolist() == [False, True]


def test_ties_are_drawn_again_for_their_group_alone():
    """All words of a tied group, none of another, with the next attempt."""
    asked = []

    def words(draw, attempt, cells):
        asked.append((draw, attempt, None if cells is None else tuple(cells)))
        fixed = np.array([1, 0, 5, 5, 2] if attempt == 0 else [9, 9, 3, 1, 2], dtype=np.uint64)
        return fixed if cells is None else fixed[cells]

    order = shuffled(np.array([2, 3]), 7, words, word_bits=8)
    assert order.tolist() == [1, 0, 3, 4, 2]
    assert asked == [(7, 0, None), (7, 1, (2, 3, 4))]


def test_too_many_places_for_small_words_are_refused():
    """Where ties would never end."""
    with pytest.raises(bs.ExactnessError, match="8-bit words cannot order 100 places"):
        shuffled(np.array([100]), 0, Many(0), word_bits=8)


@pytest.mark.parametrize("below", [1, 2, 3, 100, 256, 257, 1000])
def test_whole_numbers_are_uniform(below):
    """Every number as often over all words of its digits, the words left over drawn again."""
    digits = 1 if below <= 256 else 2
    seen = np.zeros(below, dtype=int)
    firsts = range(256) if digits == 1 else range(0, 256, 5)
    for word in itertools.product(firsts, *[range(256)] * (digits - 1)):
        asked = []

        def words(draw, attempt, cells, word=word, asked=asked):
            asked.append(attempt)
            return np.array([word[attempt] if attempt < len(word) else 0], dtype=np.uint64)

        number = whole_number(below, 0, words, word_bits=8)
        if len(asked) == digits:
            seen[number] += 1
    if digits == 1:
        assert set(seen) == {256 // below}
    else:
        assert seen.max() - seen.min() <= 52  # a fifth of the first digits


def test_a_toss_is_exact():
    """Of the numbers below 3 · 5, four fall under 4/15."""
    tossed_up = sum(
        tossed(Fraction(4, 15), 0, lambda d, a, c, w=w: np.array([w], dtype=np.uint64), word_bits=8)
        for w in range(255)
    )
    assert tossed_up == 17 * 4


def test_lots_have_exactly_their_chances():
    """Over all first and second digits: as many as the chance says, to the third digit."""
    chances = [Fraction(1, 3), Fraction(1, 5), Fraction(7, 16)]
    counts = np.zeros(4, dtype=int)
    for second in range(256):

        def words(draw, attempt, cells, second=second):
            if attempt == 0:
                return np.asarray(cells, dtype=np.uint64)
            return np.full(len(cells), second if attempt == 1 else 0, dtype=np.uint64)

        lots = drawn_lots(chances, 0, words, lots=256, word_bits=8)
        counts += np.bincount(lots, minlength=4)
    exact = [chance * 2**16 for chance in [*chances, 1 - sum(chances)]]
    assert [abs(int(count) - share) < 1 for count, share in zip(counts, exact, strict=True)] == [
        True
    ] * 4


def test_a_lot_that_cannot_lose_never_does():
    """Chances that sum to one leave nothing over, for the largest word too."""
    fixed = np.array([0, 127, 128, 255], dtype=np.uint64)
    halves = [Fraction(1, 2), Fraction(1, 2)]
    lots = drawn_lots(halves, 0, lambda d, a, c: fixed[c], lots=4, word_bits=8)
    assert lots.tolist() == [0, 0, 1, 1]
