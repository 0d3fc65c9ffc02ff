"""Uniform choices from random words: permutations of groups, lotteries and whole numbers.

A group is ordered by its words. Given that they all differ, every order of them is equally likely,
whatever the words are; where two tie, all words of that group are drawn again. So each order is
uniform exactly, not nearly, and groups do not depend on each other.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import ExactnessError
from bistochastic.matrices.words import Words

__all__ = ["drawn_lots", "shuffled", "tossed", "whole_number"]

Integers = NDArray[np.int64]
Unsigned = NDArray[np.uint64]

FIRST = np.zeros(1, dtype=np.int64)  # a choice for a whole column is made by its first place
AT_ONCE = 1 << 21  # places ordered together, so that no copy of them is as long as the column


def shuffled(sizes: Integers, draw: int, words: Words, *, word_bits: int) -> Integers:
    """A uniform permutation of each of several consecutive groups, as one order of all places.

    Args:
        sizes: The sizes of the groups.
        draw: The only draw that is used, in as many attempts as ties ask for.
        words: The words of all places.
        word_bits: Their size; a group must be so small that its words can be told apart.
    """
    if int(sizes.max()) ** 2 > 1 << (word_bits + 3):
        raise ExactnessError(
            f"{word_bits}-bit words cannot order {int(sizes.max())} places: too many would tie."
        )
    starts = np.cumsum(sizes) - sizes
    keys = words(draw, 0, None)
    order = np.arange(keys.size)
    late = np.flatnonzero(sizes > 1)
    attempt = 0
    while late.size:
        late = late[_order_groups(keys, starts[late], sizes[late], order, word_bits)]
        attempt += 1
        if attempt == 1 and late.size:
            keys = keys.copy()
        if late.size:
            places = np.concatenate([np.arange(starts[g], starts[g] + sizes[g]) for g in late])
            keys[places] = words(draw, attempt, places)
    return order


def _order_groups(
    keys: Unsigned, starts: Integers, sizes: Integers, order: Integers, word_bits: int
) -> NDArray[np.bool_]:
    """Write the order of each group, all groups of one size at once; which of them hold ties."""
    tied = np.zeros(sizes.size, dtype=bool)
    for size in np.unique(sizes):
        some = np.flatnonzero(sizes == size)
        for part in np.array_split(some, -(-some.size * int(size) // AT_ONCE)):
            places = starts[part][:, None] + np.arange(size)
            ranks, equal = _ranked(keys[places], word_bits)
            order[places] = starts[part][:, None] + ranks
            tied[part] = equal
    return tied


def _ranked(words: Unsigned, word_bits: int) -> tuple[Integers, NDArray[np.bool_]]:
    """Each line's places in the order of its words, and whether two of them are the same.

    Sorting numbers is several times as fast as sorting their places, so the place rides in the low
    bits; the few that differ in the bits it displaces only are put right afterwards.
    """
    size = words.shape[1]
    place_bits = max(int(size - 1).bit_length(), 1)
    kept = min(word_bits, 64 - place_bits)
    low = np.uint64(place_bits)
    packed = (words >> np.uint64(word_bits - kept)) << low | np.arange(size, dtype=np.uint64)
    packed.sort(axis=1)
    ranks = (packed & np.uint64((1 << place_bits) - 1)).astype(np.int64)
    packed >>= low
    alike = packed[:, 1:] == packed[:, :-1]
    equal = np.zeros(len(words), dtype=bool)
    for line in np.flatnonzero(alike.any(axis=1)):
        close = np.flatnonzero(np.append(alike[line], False) | np.append(False, alike[line]))
        among = ranks[line, close]
        among = among[np.argsort(words[line, among])]
        ranks[line, close] = among
        whole = words[line, among]
        equal[line] = (whole[1:] == whole[:-1]).any()
    return ranks, equal


def whole_number(below: int, draw: int, words: Words, *, word_bits: int) -> int:
    """A uniform number from 0 up to, not including, `below`: one for the whole column."""
    digits = max(-(-(below - 1).bit_length() // word_bits), 1)
    limit = (1 << (digits * word_bits)) // below * below
    attempt = 0
    while True:
        value = 0
        for digit in range(digits):
            word = int(words(draw, attempt * digits + digit, FIRST)[0])
            value = value << word_bits | word
        if value < limit:
            return value % below
        attempt += 1


def tossed(chance: Fraction, draw: int, words: Words, *, word_bits: int) -> bool:
    """An exact toss, for the whole column as one."""
    return whole_number(chance.denominator, draw, words, word_bits=word_bits) < chance.numerator


def drawn_lots(
    chances: Sequence[Fraction], draw: int, words: Words, *, lots: int, word_bits: int
) -> Integers:
    """Independent lots of a lottery with exactly these chances, which sum to at most one.

    The number of a chance, or that of chances if none has won. A uniform real number is compared
    with the sums of the chances digit by digit, as far as it takes: one word nearly always.
    """
    marks = [sum(chances[: k + 1], Fraction(0)) for k in range(len(chances))]
    first = words(draw, 0, np.arange(lots))
    whole = 1 << word_bits
    digits = np.array([min(int(mark * whole), whole - 1) for mark in marks], dtype=np.uint64)
    # Below its first digit a lot is under a mark for certain, and above it beyond it for certain.
    result = np.searchsorted(digits, first, side="right").astype(np.int64)
    for lot in np.flatnonzero(np.isin(first, digits)):
        result[lot] = _lot(marks, draw, words, int(lot), word_bits)
    return result


def _lot(marks: Sequence[Fraction], draw: int, words: Words, lot: int, word_bits: int) -> int:
    """One lot, with as many digits as it takes to tell it from every mark."""
    value, digit = Fraction(0), 0
    while True:
        value += Fraction(int(words(draw, digit, np.array([lot]))[0]), 1 << word_bits * (digit + 1))
        width = Fraction(1, 1 << word_bits * (digit + 1))
        if not any(value < mark < value + width for mark in marks):
            return sum(mark <= value for mark in marks)
        digit += 1
