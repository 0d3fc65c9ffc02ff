"""Several columns as one: folding is a bijection that agrees with the Kronecker product."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.masking.joint import CHUNK


@st.composite
def columns(draw):
    """Sizes with a product of at most 2^63, and codes below them."""
    sizes = draw(st.lists(st.integers(1, 2**20), min_size=1, max_size=6))
    while prod(sizes) > 2**63:
        sizes.pop()
    count = draw(st.integers(0, 20))
    codes = [draw(st.lists(st.integers(0, n - 1), min_size=count, max_size=count)) for n in sizes]
    return sizes, [np.array(line, np.int64) for line in codes]


@given(columns())
def test_folding_is_undone(case):
    """What was folded unfolds, and each cell has the number that the definition gives it."""
    sizes, codes = case
    folded = bs.fold(codes, sizes)
    for one, other in zip(bs.unfold(folded, sizes), codes, strict=True):
        assert np.array_equal(one, other)
    for row in range(len(codes[0])):
        number = 0
        for line, n in zip(codes, sizes, strict=True):
            number = number * n + int(line[row])
        assert int(folded[row]) == number


def test_the_first_column_is_the_first_factor():
    """A Kronecker product sees its factors' own codes."""
    P, Q = bs.Permutation([1, 2, 0]), bs.Permutation([3, 0, 1, 2])
    first, second = (cells.ravel() for cells in np.indices((3, 4)))
    form = bs.Kronecker(P, Q).exact()
    reported = bs.unfold(form.sample(bs.fold([first, second], [3, 4]), lambda *_: None), [3, 4])
    assert np.array_equal(reported[0], P.order[first])
    assert np.array_equal(reported[1], Q.order[second])


@pytest.mark.parametrize("sizes", [[2] * 63, [2**63], [2**31, 2**32], [1, 2**63, 1], [2**62, 2]])
def test_as_many_cells_as_there_are_numbers(sizes):
    """The last cell of 2^63 has the last number."""
    last = [np.array([0, n - 1], np.uint64) for n in sizes]
    folded = bs.fold(last, sizes)
    assert folded.tolist() == [0, 2**63 - 1]
    assert folded.dtype == np.int64
    assert [int(part[1]) for part in bs.unfold(folded, sizes)] == [n - 1 for n in sizes]


@pytest.mark.parametrize("n", [255, 256, 257, 65_536, 65_537, 2**32, 2**32 + 1])
def test_unfolded_codes_are_as_narrow_as_they_can_be(n):
    """The last code still fits, and nothing wider would be needed for it."""
    (column,) = bs.unfold([0, n - 1], [n])
    assert column.tolist() == [0, n - 1]
    assert column.dtype == np.min_scalar_type(n - 1)
    _, last = bs.unfold([n - 1, 2 * n - 1], [2, n])
    assert last.tolist() == [n - 1, n - 1]


def test_more_rows_than_a_chunk():
    """Chunks do not show."""
    choose, sizes = np.random.default_rng(1), [300, 2, 70_000]
    codes = [choose.integers(0, n, CHUNK + 5) for n in sizes]
    parts = bs.unfold(bs.fold(codes, sizes), sizes)
    assert [part.dtype for part in parts] == [np.uint16, np.uint8, np.uint32]
    for one, other in zip(parts, codes, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: bs.fold([], []), "no column to fold"),
        (lambda: bs.fold([[0]], [2, 3]), "1 columns, but 2 sizes"),
        (lambda: bs.fold([[0], [0, 1]], [2, 3]), r"equally long; got lengths \[1, 2\]"),
        (
            lambda: bs.fold([[0], [3]], [2, 3]),
            "Column 1 of those folded: 1 codes lie outside 0 … 2",
        ),
        (lambda: bs.fold([[0]], [0]), "Each column needs a whole number"),
        (lambda: bs.fold([[0], [0]], [2**62, 3]), "2 columns have 1.38e.19 cells together"),
        (lambda: bs.unfold([6], [2, 3]), "no folded codes: 1 codes lie outside 0 … 5"),
        (lambda: bs.unfold([0.5], [2, 3]), "whole numbers"),
        (lambda: bs.unfold([0], [2**62, 3]), "more than the 2.63"),
    ],
)
def test_what_does_not_fold(call, text):
    """Each refusal says what was found."""
    with pytest.raises(bs.MaskingError, match=text):
        call()
