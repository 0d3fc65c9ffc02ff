from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bistochastic.errors import ExactnessError, MatrixError, NotBistochasticError, SupportError
from bistochastic.matrices import rounding
from bistochastic.matrices.alias import AliasTable
from bistochastic.matrices.rounding import (
    round_bistochastic,
    round_stochastic,
    round_vector,
    vanished,
)

laws = settings(derandomize=True, max_examples=60, deadline=None)
word_sizes = st.sampled_from([12, 16, 32, 53, 63, 64])


def mixed(rng, n, terms, alpha):
    """A bistochastic array that mixes a few random permutations, with zeros if they are few."""
    shares = rng.dirichlet(np.full(terms, alpha))
    return sum(share * np.eye(n)[rng.permutation(n)] for share in shares)


def balanced(rng, n):
    """A positive array, balanced by Sinkhorn steps."""
    p = rng.random((n, n)) + 0.05
    while np.abs(p.sum(axis=1) - 1).max() > 4e-16 * n:
        p /= p.sum(axis=1, keepdims=True)
        p /= p.sum(axis=0)
    return p


def tridiagonal(rng, n, scale):
    """A random walk on a line, with steps as improbable as wished."""
    p = np.zeros((n, n))
    steps, at = rng.random(n - 1) * scale / 2, np.arange(n - 1)
    p[at, at + 1] = p[at + 1, at] = steps
    np.fill_diagonal(p, 1 - p.sum(axis=1))
    return p


def blocks(rng, n):
    """Two blocks and a sure column, with rows and columns in random order."""
    p = np.eye(n + 5)
    p[:n, :n] = balanced(rng, n)
    p[n : n + 4, n : n + 4] = balanced(rng, 4)
    return p[rng.permutation(n + 5)][:, rng.permutation(n + 5)]


def nearly_sure(rng, n):
    """One entry of 1 - 1e-15 beside a balanced block."""
    p = np.full((n + 1, n + 1), 1e-15 / n)
    p[1:, 1:] = balanced(rng, n)
    p[0, 0] = 1 - 1e-15
    return p


@st.composite
def bistochastic(draw, largest=24):
    """Arrays of all the shapes that have a reason to go wrong."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(2, largest))
    kind = draw(st.sampled_from(["mixed", "balanced", "line", "blocks", "sure", "certain", "flat"]))
    if kind == "mixed":
        return mixed(rng, n, draw(st.integers(2, 6)), draw(st.sampled_from([0.1, 1.0])))
    if kind == "line":
        return tridiagonal(rng, n, draw(st.sampled_from([1.0, 1e-6, 1e-12, 1e-15])))
    if kind == "certain":
        return np.eye(n)[rng.permutation(n)]
    if kind == "flat":
        return np.full((n, n), 1 / n)
    return {"balanced": balanced, "blocks": blocks, "sure": nearly_sure}[kind](rng, n)


def whole(weights, sure, word_bits):
    """The integers with sure columns filled in, as Python integers."""
    assert weights.dtype == np.uint64
    integers = weights.astype(object)
    for row, column in enumerate(np.atleast_1d(sure).tolist()):
        if column >= 0:
            assert not weights[row].any()
            integers[row, column] = 1 << word_bits
    return integers


def exact(p, word_bits):
    """N p without any rounding."""
    return np.vectorize(lambda x: Fraction(float(x)) * (1 << word_bits), otypes=[object])(p)


def assert_margins(integers, word_bits, *, axes=(0, 1)):
    """Every line sums to N in Python integers."""
    for axis in axes:
        assert set(integers.sum(axis=axis).tolist()) == {1 << word_bits}


@given(bistochastic(), word_sizes)
@laws
def test_margins_are_exact_and_zeros_stay(p, word_bits):
    """Rows and columns sum to N, no entry is negative, and zeros are zeros."""
    integers = whole(*round_bistochastic(p, word_bits=word_bits), word_bits)
    assert_margins(integers, word_bits)
    assert (integers >= 0).all()
    assert not integers[p == 0].any()


@given(bistochastic(), st.sampled_from([8, 12, 16, 32]))
@laws
def test_entries_move_less_than_a_unit(p, word_bits):
    """Where doubles are finer than the grid, each entry is a floor or a ceiling."""
    integers = whole(*round_bistochastic(p, word_bits=word_bits), word_bits)
    assert (np.abs(integers - exact(p, word_bits)) < 1).all()


@given(bistochastic())
@laws
def test_the_defect_of_the_input_bounds_the_moves(p):
    """At 64 bits entries move about as far as the margins of the input are off."""
    ideal = exact(p, 64)
    integers = whole(*round_bistochastic(p), 64)
    off = [abs((1 << 64) - total) for axis in (0, 1) for total in ideal.sum(axis=axis)]
    assert np.abs(integers - ideal).max() <= 1 + sum(off)


@given(st.integers(2, 20), st.integers(0, 2**32))
@laws
def test_the_defect_is_spread_in_proportion(n, seed):
    """The relative move of every entry at 64 bits is as small as the relative defect."""
    p = mixed(np.random.default_rng(seed), n, 6, 1.0) * 0.9 + 0.1 / n
    p *= 1 + 1e-14
    for rounded in (round_bistochastic(p), round_stochastic(p)):
        moved = np.abs(whole(*rounded, 64) - exact(p, 64)) / exact(p, 64)
        assert float(moved.max()) < 2e-14


@pytest.mark.parametrize("seed", range(6))
def test_a_small_defect_hardly_widens_the_choice(seed):
    """With a defect of a few units in all, each entry is still next to N p plus its share."""
    p = balanced(np.random.default_rng(seed), 20)
    integers = whole(*round_bistochastic(p, word_bits=45), 45)
    assert (np.abs(integers - exact(p, 45)) < 1.2).all()


def test_a_negligible_defect_is_not_spread(monkeypatch):
    """Where floor and ceiling of N p suffice, N p itself is rounded."""
    monkeypatch.delattr(rounding, "_spread")
    p = balanced(np.random.default_rng(1), 30)
    assert_margins(whole(*round_bistochastic(p, word_bits=32), 32), 32)


@pytest.mark.parametrize("shape", [balanced, blocks, nearly_sure])
@pytest.mark.parametrize("coupling", [0.0, 1e-8, 1e-14])
def test_the_spread_has_the_margins_asked_for(shape, coupling):
    """Whatever the components, margins are met to far less than a unit and zeros stay."""
    rng = np.random.default_rng(2)
    p = shape(rng, 40)
    p = p * (1 - coupling) + coupling / len(p)
    share = p * rng.uniform(-1e4, 1e4, p.shape)
    change = rounding._spread(p, share.sum(axis=1), share.sum(axis=0), 64)
    off = sum(np.abs((change - share).sum(axis=axis)).sum() for axis in (0, 1))
    assert off < rounding.NEGLIGIBLE
    assert not change[p == 0].any()


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e-14])
def test_the_spread_crosses_weak_links(scale):
    """Along a line of hardly moving categories the margins are met as well."""
    p = tridiagonal(np.random.default_rng(3), 40, scale)
    base, part = rounding._split(p, 64)
    lack = [rounding._missing(base, 64, axis=axis) - part.sum(axis=axis) for axis in (1, 0)]
    change = rounding._spread(p, *lack, 64)
    off = [np.abs(change.sum(axis=axis) - lack[1 - axis]).sum() for axis in (1, 0)]
    assert sum(off) < rounding.NEGLIGIBLE


def test_the_spread_never_takes_half_of_an_entry():
    """A defect that no proportion can meet stops before an entry could become negative."""
    p = np.eye(6) * (1 - 1e-15) + np.random.default_rng(0).random((6, 6)) * 1e-17
    change = rounding._spread(p, np.linspace(-3e3, 3e3, 6), np.linspace(3e3, -3e3, 6), 64)
    assert (change >= -0.5 * np.ldexp(p, 64)).all()


@pytest.mark.parametrize("word_bits", [16, 32])
def test_sparse_arrays_need_long_exchanges(word_bits):
    """Where each row has three entries only, floors and ceilings still suffice."""
    for seed in range(5):
        p = (
            sum(np.eye(150)[np.random.default_rng([seed, i]).permutation(150)] for i in range(3))
            / 3
        )
        integers = whole(*round_bistochastic(p, word_bits=word_bits), word_bits)
        assert_margins(integers, word_bits)
        assert (np.abs(integers - exact(p, word_bits)) < 1).all()


@given(bistochastic(), word_sizes)
@laws
def test_the_integers_make_an_alias_table(p, word_bits):
    """Rounded rows, sure ones too, are what an alias table asks for."""
    for weights, sure in (
        round_bistochastic(p, word_bits=word_bits),
        round_stochastic(p, word_bits=word_bits),
    ):
        AliasTable.build(weights, sure=sure, word_bits=word_bits).certify()


@given(bistochastic(), word_sizes)
@laws
def test_rows_alone(p, word_bits):
    """Rows sum to N, zeros stay, and entries move by less than a unit plus the row's defect."""
    p = p[: len(p) // 2 + 1]
    ideal = exact(p, word_bits)
    integers = whole(*round_stochastic(p, word_bits=word_bits), word_bits)
    assert_margins(integers, word_bits, axes=(1,))
    assert not integers[p == 0].any()
    off = np.array([abs((1 << word_bits) - total) for total in ideal.sum(axis=1)])
    off = np.where(off < rounding.NEGLIGIBLE, 0, off)
    assert (np.abs(integers - ideal) < 1 + off[:, np.newaxis]).all()


@given(st.integers(1, 300), st.integers(0, 2**32), word_sizes)
@laws
def test_vectors_get_their_largest_remainders(n, seed, word_bits):
    """One distribution sums to N, and no remainder rounded down exceeds one rounded up."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(n, 0.5)) * (rng.random(n) < 0.8)
    p = p / p.sum() if p.any() else np.eye(n)[0]
    weights, sure = round_vector(p, word_bits=word_bits)
    integers = whole(weights[np.newaxis], sure, word_bits)
    assert_margins(integers, word_bits, axes=(1,))
    assert not integers[0, p == 0].any()
    if word_bits <= 32:
        up = integers[0] - exact(p, word_bits)
        assert max(up) - min(up) <= 1


def test_equal_remainders_go_to_the_first():
    """The answer is fixed by the numbers, not by how a machine sorts them."""
    weights, _ = round_vector(np.full(7, 1 / 7), word_bits=8)
    assert weights.tolist() == [37, 37, 37, 37, 36, 36, 36]


@pytest.mark.parametrize("word_bits", [8, 16, 32, 53, 64])
def test_permutations_are_sure(word_bits):
    """A permutation has no weights, only sure columns."""
    order = np.random.default_rng(0).permutation(9)
    weights, sure = round_bistochastic(np.eye(9)[order], word_bits=word_bits)
    assert not weights.any()
    assert sure.tolist() == order.tolist()


@pytest.mark.parametrize("word_bits", [8, 64])
@pytest.mark.parametrize("p", [[[1.0]], [[1, 0], [0, 1]], [[1, 1e-30], [1e-30, 1]]])
def test_entries_that_round_to_the_unit_are_sure(p, word_bits):
    """N itself never stands among the weights."""
    weights, sure = round_bistochastic(p, word_bits=word_bits)
    assert not weights.any()
    assert sure.tolist() == list(range(len(p)))
    assert vanished(p, weights, sure) == (2 if len(p) == 2 and p[0][1] else 0)


def test_entries_without_a_partner_vanish():
    """An entry on no permutation of the support is 0 in every exact array."""
    p = np.eye(4)
    p[0, 1] = p[1, 2] = p[3, 0] = 1e-12
    weights, sure = round_bistochastic(p)
    assert sure.tolist() == [0, 1, 2, 3]
    assert vanished(p, weights, sure) == 3


def test_vanished_counts_what_a_unit_is_too_large_for():
    """Positive entries that became 0 are counted, sure columns are not."""
    p = np.array([[1 - 3e-4, 2e-4, 1e-4], [0, 1, 0]])
    assert vanished(p, *round_stochastic(p, word_bits=10)) == 2
    assert vanished(p, *round_stochastic(p, word_bits=30)) == 0


@pytest.mark.parametrize("exponent", [-1074, -1030, -300, -64, -60, -30, -11, -1, 0])
@pytest.mark.parametrize("word_bits", [8, 32, 53, 63, 64])
def test_floor_and_remainder_are_exact(exponent, word_bits):
    """Shifts of the significand give the floor of N p and what is left, for any double."""
    significands = np.array([2**52, 2**52 + 1, 3 * 2**51, 2**53 - 1], np.float64) / 2**53
    p = np.ldexp(significands, exponent)
    base, part = rounding._split(p[p < 1], word_bits)
    for x, floor, rest in zip(exact(p[p < 1], word_bits), base, part, strict=True):
        assert int(floor) == x // 1
        assert Fraction(float(rest)) == x % 1


@pytest.mark.parametrize("coupling", [1e-6, 1e-13, 1e-16, 1e-19])
def test_weakly_coupled_blocks(coupling):
    """Blocks that hardly communicate keep exact margins, and no cell moves beyond the defect."""
    rng = np.random.default_rng(4)
    p = blocks(rng, 20) * (1 - coupling) + coupling / 25
    integers = whole(*round_bistochastic(p), 64)
    assert_margins(integers, 64)
    assert np.abs(integers - exact(p, 64)).max() < 20_000


def test_defects_as_large_as_the_entries_are_repaired():
    """If margins can only be met by cells as small as the defect, they are met nevertheless."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p = np.eye(12) * (1 - 1e-15) + rng.random((12, 12)) * 2e-16
        integers = whole(*round_bistochastic(p), 64)
        assert_margins(integers, 64)
        assert (integers >= 0).all()


def test_a_defect_within_tolerance_is_spread():
    """Rows off by 1e-10 move each entry by about 1e-10 of itself."""
    rng = np.random.default_rng(5)
    p = balanced(rng, 30) * (1 + 1e-10 * rng.uniform(-1, 1, (30, 1)))
    integers = whole(*round_bistochastic(p), 64)
    assert_margins(integers, 64)
    assert float(np.abs(integers / exact(p, 64) - 1).max()) < 5e-10


def test_repair_takes_the_last_unit_only_if_it_must():
    """Wider and wider moves end in exact columns, or in a refusal that names the support."""
    base = np.array([[5, 5], [5, 5]], np.uint64)
    moves = np.zeros((2, 2), np.int64)
    rounding._repair(moves, np.array([10, -10]), base, np.zeros((2, 2), bool))
    assert moves.sum(axis=0).tolist() == [10, -10]
    assert not moves.sum(axis=1).any()
    stuck = np.array([[5, 0], [0, 5]], np.uint64)
    with pytest.raises(SupportError, match="2 columns cannot be balanced"):
        rounding._repair(
            np.zeros((2, 2), np.int64), np.array([1, -1]), stuck, np.zeros((2, 2), bool)
        )


def test_repair_prefers_floors_and_ceilings():
    """A column is completed at the ceilings before anything moves further."""
    moves = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1]])
    open_cells = np.array([[False, True, True], [True, True, False], [False, True, True]])
    rounding._repair(moves, np.array([0, 1, -1]), np.full((3, 3), 9, np.uint64), open_cells)
    assert moves.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_repair_keeps_a_last_unit():
    """Of two cells that could give a unit, the one that has more gives it."""
    moves = np.zeros((2, 2), np.int64)
    base = np.array([[1, 5], [5, 5]], np.uint64)
    rounding._repair(moves, np.array([-1, 1]), base, np.zeros((2, 2), bool))
    assert moves.tolist() == [[0, 0], [-1, 1]]


def test_exchanges_stay_within_the_room():
    """A path carries no more than its narrowest cell takes."""
    moves, ones = np.zeros((2, 2), np.int64), np.ones((2, 2), np.int64)
    rounding._exchange(moves, np.array([2, -2]), ones, 5 * ones)
    assert moves.tolist() == [[1, -1], [1, -1]]


def test_an_entry_without_support_goes_with_its_last_unit():
    """Blocks joined in one direction only lose that entry, down to its last unit."""
    p = np.zeros((4, 4))
    p[:2, :2] = p[2:, 2:] = 0.5
    p[0, 2] = 1e-17
    weights, sure = round_bistochastic(p)
    assert_margins(whole(weights, sure, 64), 64)
    assert vanished(p, weights, sure) == 1


def test_a_lost_unit_is_noticed():
    """The last check refuses margins that are off by one, and zeros that are not kept."""
    p = np.full((2, 2), 0.5)
    short = np.array([[128, 127], [128, 128]], np.uint64)
    with pytest.raises(ExactnessError, match=r"Rounding 2 x 2 entries to 2\*\*8 left a margin"):
        rounding._finish(p, short, 8, axes=(0, 1))
    with pytest.raises(ExactnessError, match="zero inexact"):
        rounding._finish(np.eye(2), np.full((2, 2), 128, np.uint64), 8, axes=(0, 1))


@pytest.mark.parametrize(
    ("array", "word_bits", "match"),
    [
        (np.full((2, 3), 0.5), 64, r"shape \(2, 3\)"),
        (np.zeros((0, 0)), 64, r"shape \(0, 0\)"),
        (np.ones(1), 64, r"shape \(1,\)"),
        (np.full((2, 2), 0.5), 65, "word_bits from 8 to 64"),
        (np.full((129, 129), 1 / 129), 8, "at most half"),
        ([[np.nan, 0.5], [0.5, 0.5]], 64, "finite entries"),
        ([[1.5, -0.5], [-0.5, 1.5]], 64, "at least 0"),
    ],
)
def test_refuses_what_is_no_matrix(array, word_bits, match):
    """Shape, word size and signs are checked first."""
    with pytest.raises(MatrixError, match=match):
        round_bistochastic(array, word_bits=word_bits)


def test_refuses_margins_beyond_rounding_error():
    """Rows and columns must sum to one, of a stochastic array only the rows."""
    p = np.array([[0.5, 0.5], [0.4, 0.6]])
    with pytest.raises(NotBistochasticError, match=r"columns that sum to 1 .* off by 0.1"):
        round_bistochastic(p)
    with pytest.raises(NotBistochasticError, match="rows that sum to 1"):
        round_stochastic(p.T)
    with pytest.raises(MatrixError, match="one distribution"):
        round_vector(p)


@pytest.mark.slow
@pytest.mark.parametrize("word_bits", [16, 53, 64])
def test_a_thousand_categories(word_bits):
    """Large arrays, positive or nearly empty, keep their promises too."""
    rng = np.random.default_rng(6)
    for p in (balanced(rng, 1000), tridiagonal(rng, 1000, 1.0), mixed(rng, 1000, 3, 1.0)):
        integers = whole(*round_bistochastic(p, word_bits=word_bits), word_bits)
        assert_margins(integers, word_bits)
        assert not integers[p == 0].any()


@pytest.mark.slow
def test_a_long_vector():
    """Ten million probabilities sum to N exactly."""
    p = np.random.default_rng(7).random(10**7)
    weights, sure = round_vector(p / p.sum())
    assert sure == -1
    assert sum(weights.tolist()) == 2**64
