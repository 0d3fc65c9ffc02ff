"""Laws that every bistochastic structure keeps, simple or nested, against its dense twin."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bistochastic import (
    AtLeast,
    AtMost,
    Bistochastic,
    Composed,
    Dense,
    Kronecker,
    SingularMatrixError,
    TooLargeError,
    majorizes,
)
from bistochastic.testing import LEAVES, of_size, stochastic, structures, vectors

CLOSE = {"rtol": 1e-9, "atol": 1e-11}
WELL = 1e6  # condition numbers up to which a solution is compared digit by digit


def twin(matrix: Bistochastic) -> np.ndarray:
    """The matrix formed row by row through matvec alone, a way that `entry` does not share."""
    return np.column_stack([matrix.matvec(unit) for unit in np.eye(matrix.size)])


def entropies(array: np.ndarray) -> np.ndarray:
    """Row entropies in bits, the slow way."""
    return np.array([sum(-p * math.log2(p) for p in row if p > 0) for row in array])


@given(structures())
def test_rows_and_columns_sum_to_one(matrix):
    """Every structure is bistochastic, and none of its entries is negative."""
    array = matrix.to_dense()
    assert array.shape == (matrix.size, matrix.size)
    assert array.min() >= 0
    np.testing.assert_allclose(array.sum(axis=0), 1, rtol=1e-9)
    np.testing.assert_allclose(array.sum(axis=1), 1, rtol=1e-9)


@given(structures())
def test_entry_and_matvec_tell_of_one_matrix(matrix):
    """What `entry` says and what `matvec` does are the same matrix."""
    np.testing.assert_allclose(matrix.to_dense(), twin(matrix), **CLOSE)


@given(structures(), st.data())
def test_products_agree_with_the_dense_twin(matrix, data):
    """Px and Pᵀx, for one vector and for two side by side."""
    array = matrix.to_dense()
    x = data.draw(vectors(matrix.size))
    pair = np.column_stack((x, x[::-1] + 1))
    np.testing.assert_allclose(matrix.matvec(x), array @ x, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(matrix.rmatvec(x), array.T @ x, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(matrix.matvec(pair), array @ pair, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(matrix.rmatvec(pair), array.T @ pair, rtol=1e-9, atol=1e-8)


@given(structures(), st.data())
def test_solving_undoes_multiplying(matrix, data):
    """What P and Pᵀ did to a vector is undone where the matrix can be undone."""
    assume(matrix.condition < WELL)
    x = data.draw(vectors(matrix.size))
    pair = np.column_stack((x, x[::-1] + 1))
    near = {"rtol": 1e-7, "atol": 1e-7}
    np.testing.assert_allclose(matrix.solve(matrix.matvec(pair)), pair, **near)
    np.testing.assert_allclose(matrix.rsolve(matrix.rmatvec(x)), x, **near)


@given(structures())
def test_singular_means_a_refusal_to_solve(matrix):
    """A singular matrix refuses to be undone; one well away from singular does not."""
    values = np.linalg.svd(matrix.to_dense(), compute_uv=False)
    if values[-1] > 1e-6:
        assert not matrix.singular
        assert matrix.condition == pytest.approx(values[0] / values[-1], rel=1e-4)
    elif values[-1] < 1e-17:
        assert matrix.condition > 1e12
        with pytest.raises(SingularMatrixError):
            matrix.rsolve(np.arange(matrix.size) + 1.0)


@given(structures())
def test_lines_are_those_of_the_array(matrix):
    """Rows, columns and the diagonal agree with the array."""
    array = matrix.to_dense()
    for u in {0, matrix.size // 2, matrix.size - 1}:
        np.testing.assert_allclose(matrix.row(u), array[u], rtol=1e-14)
        np.testing.assert_allclose(matrix.column(u), array[:, u], rtol=1e-14)
    np.testing.assert_allclose(matrix.diagonal(), array.diagonal(), **CLOSE)


@given(structures())
def test_entries_account_for_every_cell(matrix):
    """The distinct values and their counts are the cells of the array, zeros included."""
    values, counts = matrix.entries().flat()
    n = matrix.size
    assert counts.sum() == n**2
    assert (values * counts).sum() == pytest.approx(n, rel=1e-9)
    cells = np.sort(matrix.to_dense().ravel())
    np.testing.assert_allclose(np.repeat(values, counts.astype(int)), cells, **CLOSE)
    assert counts[values == 0].sum() == pytest.approx((cells == 0).sum(), abs=0)


@given(structures())
def test_quantities_agree_with_their_definitions(matrix):
    """Bits, beta, least row bits, epsilon and truthfulness, each from the array by definition."""
    array = matrix.to_dense()
    rows = entropies(array)
    n = matrix.size
    assert matrix.bits == pytest.approx(rows.mean(), abs=1e-9)
    assert matrix.min_row_bits == pytest.approx(rows.min(), abs=1e-9)
    assert matrix.beta == pytest.approx(rows.mean() / math.log2(n) if n > 1 else 1, abs=1e-9)
    assert 0 <= matrix.bits <= matrix.max_bits + 1e-9
    low, high = array.min(axis=0), array.max(axis=0)
    expected = math.inf if (low == 0).any() else float(np.log(high / low).max())
    assert matrix.epsilon == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert matrix.truthfulness.min == pytest.approx(array.diagonal().min(), abs=1e-12)
    assert matrix.truthfulness.mean == pytest.approx(array.diagonal().mean(), abs=1e-12)
    bounds = (matrix.bits, matrix.min_row_bits, matrix.epsilon)
    assert not any(isinstance(quantity, AtLeast | AtMost) for quantity in bounds)


@given(structures())
def test_the_transpose_mirrors(matrix):
    """Pᵀ is the mirrored array, has the bits of its columns, and mirrors back."""
    np.testing.assert_allclose(matrix.T.to_dense(), matrix.to_dense().T, **CLOSE)
    np.testing.assert_allclose(matrix.T.T.to_dense(), matrix.to_dense(), **CLOSE)
    assert matrix.T.bits == pytest.approx(matrix.bits, abs=1e-9)


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(of_size(n), of_size(n))))
def test_composing_never_loses_bits_nor_costs_privacy(pair):
    """PQ is the product in this order, with at least the bits and at most the epsilon of each."""
    first, second = pair
    product = first @ second
    np.testing.assert_allclose(
        product.to_dense(), first.to_dense() @ second.to_dense(), rtol=1e-8, atol=1e-10
    )
    possible = (first.to_dense() > 0).astype(int) @ (second.to_dense() > 0)
    np.testing.assert_array_equal(product.to_dense() > 0, possible > 0)
    assert product.bits >= max(first.bits, second.bits) - 1e-9
    assert product.min_row_bits >= max(first.min_row_bits, second.min_row_bits) - 1e-9
    assert product.epsilon <= min(first.epsilon, second.epsilon) + 1e-9


@given(structures(st.integers(1, 4)), structures(st.integers(1, 4)))
def test_bits_and_epsilon_add_side_by_side(left, right):
    """A Kronecker product is numpy's, and its bits, epsilon and condition follow from the two."""
    joint = Kronecker(left, right)
    np.testing.assert_allclose(
        joint.to_dense(), np.kron(left.to_dense(), right.to_dense()), **CLOSE
    )
    dense = Dense(joint.to_dense())
    assert joint.bits == pytest.approx(dense.bits, abs=1e-9)
    assert joint.min_row_bits == pytest.approx(dense.min_row_bits, abs=1e-9)
    assert joint.epsilon == pytest.approx(dense.epsilon, abs=1e-8)


@given(structures(), st.data())
def test_the_order_never_rises(matrix, data):
    """A bistochastic matrix only ever evens a vector out: x ≻ Pᵀx (BP, Theorem 2)."""
    x = data.draw(vectors(matrix.size))
    assert majorizes(x, matrix.rmatvec(x), tolerance=1e-9)


@given(structures(), st.floats(0, 1))
def test_ergodic_lifts_every_entry(matrix, share):
    """(1-nγ)P + γJ, with no entry below γ, and finite epsilon once γ is positive."""
    gamma = share / matrix.size
    lifted = matrix.ergodic(gamma)
    expected = (1 - share) * matrix.to_dense() + gamma
    np.testing.assert_allclose(lifted.to_dense(), expected, rtol=1e-9, atol=1e-12)
    assert lifted.to_dense().min() >= gamma * (1 - 1e-12)
    if share > 1e-6 and matrix.size > 1:
        assert math.isfinite(lifted.epsilon)


@given(stochastic(), st.data())
def test_stochastic_channels_keep_their_half_of_the_laws(channel, data):
    """A general channel: rows sum to one, pushing forward is the transpose, solving undoes."""
    array = channel.to_dense()
    x = data.draw(vectors(channel.size))
    np.testing.assert_allclose(array.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(channel.matvec(x), array @ x, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(channel.rmatvec(x), array.T @ x, rtol=1e-9, atol=1e-9)
    assert channel.bits == pytest.approx(entropies(array).mean(), abs=1e-9)
    alive = array.max(axis=0) > 0
    low, high = array.min(axis=0)[alive], array.max(axis=0)[alive]
    expected = math.inf if (low == 0).any() else float(np.log(high / low).max())
    assert channel.epsilon == pytest.approx(expected, abs=1e-9)
    if channel.condition < WELL:
        np.testing.assert_allclose(channel.rsolve(channel.rmatvec(x)), x, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(channel.solve(channel.matvec(x)), x, rtol=1e-6, atol=1e-6)


def test_every_structure_enters_the_laws():
    """No subclass of Bistochastic is missing from the strategies."""
    nested = {"Combination", "Composed", "Ergodic", "Kronecker"}
    large_only = {"Graph"}  # its laws stand in tests/matrices/test_graph.py
    known = {cls.__name__ for cls in _subclasses(Bistochastic)}
    covered = {
        "Birkhoff",
        "Blocks",
        "Circulant",
        "Dense",
        "Mixture",
        "Ordered",
        "Permutation",
        "Reflected",
        "Taxonomy",
        "Tridiagonal",
        "Window",
    }
    assert known == covered | nested | large_only


def _subclasses(cls):
    found = set()
    for sub in cls.__subclasses__():
        found |= {sub} | _subclasses(sub)
    return found


def test_composition_is_not_commutative_here():
    """The order of a product is told by partners that do not commute."""
    from bistochastic import Circulant, Permutation

    first, second = Permutation([1, 0, 2]), Circulant([0.7, 0.3, 0.0])
    assert not np.allclose((first @ second).to_dense(), (second @ first).to_dense())
    assert isinstance(first @ second, Composed)


def test_what_cannot_be_formed_is_refused():
    """A dense twin that would not fit is refused with a remedy."""
    from bistochastic import Mixture

    with pytest.raises(TooLargeError, match="more than the 64000000 that are ever formed"):
        Mixture(10**6, truth=0.5).to_dense()


@pytest.mark.parametrize("name", sorted(LEAVES))
@given(data=st.data())
def test_a_single_category_is_no_secret_and_has_none(name, data):
    """Over one category every structure is the number one: no bits, no epsilon, nothing to undo."""
    matrix = data.draw(LEAVES[name](1))
    assert matrix.to_dense() == pytest.approx(np.ones((1, 1)))
    assert matrix.bits == pytest.approx(0, abs=1e-9)
    assert (matrix.epsilon, matrix.beta) == (0, 1)
    assert matrix.condition == pytest.approx(1)
    assert matrix.exact(allow_zeros=True).epsilon == 0
