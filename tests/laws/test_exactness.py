"""Laws of the integer forms: what is declared is what is sampled, proved by rational arithmetic."""

import math
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bistochastic import Exact
from bistochastic.testing import stochastic, structures
from tests.exhaustive import assert_law_is_the_integers

getcontext().prec = 50


def fractions(form: Exact) -> list[list[Fraction]]:
    """The integer matrix as exact fractions."""
    rows = (form.integer_row(u) for u in range(form.size))
    return [[Fraction(weight, whole) for weight in row] for row, whole in rows]


def log2(value: Fraction) -> Decimal:
    """The binary logarithm to fifty digits."""
    return (Decimal(value.numerator) / Decimal(value.denominator)).ln() / Decimal(2).ln()


def row_bits(row: list[Fraction]) -> Decimal:
    """The entropy of a row to fifty digits."""
    terms = (Decimal(p.numerator) / Decimal(p.denominator) * log2(p) for p in row if p)
    return -sum(terms, Decimal(0))


def epsilon(rows: list[list[Fraction]]) -> Decimal:
    """The largest log ratio within a column, to fifty digits."""
    worst = Fraction(1)
    for column in zip(*rows, strict=True):
        if max(column) and not min(column):
            return Decimal("Infinity")
        if max(column):
            worst = max(worst, max(column) / min(column))
    return (Decimal(worst.numerator) / Decimal(worst.denominator)).ln()


WORDS = st.sampled_from([8, 12, 16, 32, 64])


@given(structures(st.integers(1, 6)), WORDS)
def test_integer_rows_and_columns_sum_exactly(matrix, word_bits):
    """Every row and every column of the integer matrix sums to its denominator, without error."""
    rows = fractions(matrix.exact(word_bits=word_bits, allow_zeros=True))
    assert all(weight >= 0 for row in rows for weight in row)
    assert all(sum(row) == 1 for row in rows)
    assert all(sum(column) == 1 for column in zip(*rows, strict=True))


@given(structures(st.integers(1, 6)), st.sampled_from([16, 64]))
def test_declared_numbers_are_those_of_the_integers(matrix, word_bits):
    """Epsilon is rounded up and bits are rounded down, both by a hair."""
    form = matrix.exact(word_bits=word_bits, allow_zeros=True)
    rows = fractions(form)
    bits = [row_bits(row) for row in rows]
    mean, least = sum(bits) / len(bits), min(bits)
    assert Decimal(form.bits) <= mean <= Decimal(form.bits) + Decimal("1e-11")
    assert Decimal(form.min_row_bits) <= least <= Decimal(form.min_row_bits) + Decimal("1e-11")
    true = epsilon(rows)
    assert Decimal(form.epsilon) >= true
    assert true == Decimal("Infinity") or Decimal(form.epsilon) <= true + Decimal("1e-11")
    if form.size > 1:
        assert Decimal(form.beta) <= mean / log2(Fraction(form.size)) or form.epsilon == 0


@given(structures(st.integers(1, 6)))
def test_integers_are_close_to_the_matrix(matrix):
    """At 64 bits the integers are the matrix, and zeros stay zeros."""
    form = matrix.exact(allow_zeros=True)
    array = np.array([[float(weight) for weight in row] for row in fractions(form)])
    np.testing.assert_allclose(array, matrix.to_dense(), rtol=1e-9, atol=1e-14)
    structural = matrix.to_dense() == 0
    assert (array[structural] == 0).all()


@given(stochastic(st.integers(1, 6)), WORDS)
def test_stochastic_rows_sum_exactly(channel, word_bits):
    """A general channel keeps its rows; its columns are free."""
    form = channel.exact(word_bits=word_bits, allow_zeros=True)
    rows = fractions(form)
    assert all(sum(row) == 1 for row in rows)
    assert Decimal(form.epsilon) >= epsilon(rows)


@settings(max_examples=250)
@given(structures(st.integers(1, 6)), st.sampled_from([8, 16]))
def test_sampling_over_all_words_gives_the_integer_row(matrix, word_bits):
    """Exhaustively: each report occurs for exactly as many words as its weight says."""
    form = matrix.exact(word_bits=word_bits, allow_zeros=True)
    if form.draws * word_bits > 16:
        form = matrix.exact(word_bits=8, allow_zeros=True)
    if form.draws > 2:
        return
    assert_law_is_the_integers(form)


@settings(max_examples=60)
@given(structures(st.integers(2, 6)), st.integers(0, 2**32))
def test_sampling_is_a_pure_function_of_code_and_word(matrix, seed):
    """Any cutting of a column into parts gives the same reports, in the dtype of the codes."""
    form = matrix.exact(allow_zeros=True)
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, matrix.size, 64).astype(np.uint8)
    words = generator.integers(0, 2**64, (max(form.draws, 1), 64), dtype=np.uint64)
    whole = form.sample(codes, words)
    assert whole.dtype == np.uint8
    parts = [form.sample(codes[part], words[:, part]) for part in (slice(0, 7), slice(7, 64))]
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    order = generator.permutation(64)
    np.testing.assert_array_equal(form.sample(codes[order], words[:, order]), whole[order])


@given(structures(st.integers(1, 5)))
def test_the_digest_tells_matrices_apart(matrix):
    """One integer matrix, one digest: the same when made again, another at another word size."""
    form = matrix.exact(allow_zeros=True)
    assert form.digest() == matrix.exact(allow_zeros=True).digest()
    assert form.digest() != matrix.exact(allow_zeros=True, word_bits=32).digest()
    assert form.certificate.digest == form.digest()


@pytest.mark.parametrize("n", [2, 3, 5, 12, 100, 999, 10**6, 10**12])
@pytest.mark.parametrize("requested", [1e-6, 0.01, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0])
def test_a_requested_epsilon_is_never_exceeded(n, requested):
    """Randomised response declares at most the epsilon asked for, and hardly less."""
    from bistochastic import randomised_response

    form = randomised_response(n, epsilon=requested).exact(max_epsilon=requested)
    assert form.epsilon <= requested
    if n <= 1000 and requested <= 10:
        assert form.epsilon >= requested - 1e-9 * max(1.0, math.exp(requested - 8))
