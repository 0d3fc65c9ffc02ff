"""Numeric columns: three ways with one expectation, their traps and their missing values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.masking.numeric import (
    Individuals,
    average,
    determined,
    draw,
    permute,
    permuted_bits,
)
from bistochastic.testing import of_size
from tests.many import Many

COLUMNS = 4000


@pytest.mark.parametrize(
    "matrix",
    [
        bs.Tridiagonal([0.5, 0.3, 0.4]) @ bs.Blocks([2, 2]),
        bs.Birkhoff([0.6, 0.4], [[1, 2, 3, 0], [0, 1, 3, 2]]),
        bs.Mixture(4, truth=0.4),
    ],
)
def test_all_three_ways_agree_on_average(matrix):
    """E[draw] = E[permute] = average, for matrices that are not symmetric too (six sigma)."""
    values = np.array([10.0, 1.0, 4.0, 2.0])
    mean = average(values, matrix, insist=True)
    drawn = np.mean([draw(values, matrix, Many(c, size=4)) for c in range(COLUMNS)], axis=0)
    moved = np.mean([permute(values, matrix, Many(c, size=4)) for c in range(COLUMNS)], axis=0)
    spread = 6 * 4.5 / np.sqrt(COLUMNS)
    np.testing.assert_allclose(drawn, mean, atol=spread)
    np.testing.assert_allclose(moved, mean, atol=spread)
    assert mean.mean() == pytest.approx(values.mean())


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(of_size(n), st.just(n))))
def test_average_is_the_transpose_times_the_sorted_values(pair):
    """By definition, with the individuals in order of value."""
    matrix, n = pair
    values = np.arange(n)[::-1] ** 2.0
    expected = np.empty(n)
    expected[::-1] = matrix.to_dense().T @ np.sort(values)
    np.testing.assert_allclose(average(values, matrix, insist=True), expected, atol=1e-9)


@settings(max_examples=50)
@given(
    st.lists(st.one_of(st.integers(-5, 5), st.none()), min_size=1, max_size=12), st.integers(0, 99)
)
def test_permuting_keeps_margins_and_missing_places(cells, column):
    """Every value is still there exactly once, every missing one where it was, ties harmless."""
    values = np.array([np.nan if cell is None else cell for cell in cells], dtype=float)
    present = int((~np.isnan(values)).sum())
    if not present:
        assert Individuals.of(values).present == 0
        return
    moved = permute(values, bs.secrecy(present), Many(column, size=present))
    np.testing.assert_array_equal(np.isnan(moved), np.isnan(values))
    np.testing.assert_array_equal(np.sort(moved), np.sort(values))
    again = permute(values, bs.secrecy(present), Many(column, size=present))
    np.testing.assert_array_equal(moved, again)


def test_integers_stay_integers():
    """Drawing and permuting keep the type of the column."""
    values = np.array([5, 3, 9], dtype=np.int32)
    assert draw(values, bs.Mixture(3, truth=0.5), Many(1, size=3)).dtype == np.int32
    assert permute(values, bs.secrecy(3), Many(1, size=3)).dtype == np.int32
    assert average(values, bs.secrecy(3)).dtype == np.float64


def test_another_column_may_order_the_individuals():
    """Blocks of neighbours by age, not by income."""
    income, age = np.array([1.0, 100.0, 2.0, 50.0]), np.array([30, 31, 70, 71])
    np.testing.assert_allclose(average(income, bs.Blocks([2, 2]), by=age), [50.5, 50.5, 26, 26])
    by_position = average(income, bs.Blocks([2, 2]), by=np.arange(4))
    np.testing.assert_allclose(by_position, [50.5, 50.5, 26, 26])


@pytest.mark.parametrize(
    ("matrix", "bare"),
    [
        (bs.identity(4), 4),
        (bs.Blocks([2, 1, 1]), 2),
        (bs.Blocks([2, 2]), 0),
        (bs.Mixture(4, truth=0.9), 4),
        (bs.secrecy(4), 0),
        (bs.Kronecker(bs.secrecy(2), bs.identity(2)), 0),
        (bs.Combination([0.5, 0.5], [bs.Blocks([2, 1, 1]), bs.Blocks([2, 1, 1])]), 2),
        (bs.Circulant([0.5, 0.0, 0.5, 0.0]), 0),
    ],
)
def test_who_is_determined_by_an_average(matrix, bare):
    """Singular alone is not enough: blocks(2, 1, 1) publishes two values."""
    assert determined(matrix) == bare
    if bare:
        with pytest.raises(bs.MaskingError, match=f"determines {bare} of 4 values"):
            average(np.arange(4.0), matrix)
    else:
        average(np.arange(4.0), matrix)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: permute(["a"], bs.secrecy(1), Many(1)), "numeric column is needed"),
        (lambda: permute([1.0, np.inf], bs.secrecy(2), Many(1)), "1 infinite values"),
        (
            lambda: permute([1.0, np.nan], bs.secrecy(2), Many(1)),
            r"1 rows have a value \(1 have none\)",
        ),
        (lambda: draw([1.0, 2.0], bs.secrecy(3), Many(1)), "2 rows have a value"),
        (lambda: average([1.0, 2.0], bs.secrecy(2), by=[1]), "order by has 1 rows"),
        (lambda: average(np.arange(2001.0), bs.Window(2001, 1)), "too large to see|determines"),
    ],
)
def test_refusals_of_numeric_columns(call, message):
    """One readable sentence each, without a value."""
    with pytest.raises(bs.MaskingError, match=message):
        call()


def test_the_joint_entropy_is_reported():
    """What permuting leaves open about all places together."""
    assert permuted_bits(bs.Blocks([2, 2])) == pytest.approx(2)
