"""Displacing: the target is met, the values stay, and only the key says who met whom."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.displacing import _laid, _lowered, _sizes, displace, displace_together
from bistochastic.measures.permutation import displacement, information_loss
from tests.many import Many

KEY = bs.Key(bytes(range(32)))
NAMED = {"release": "2026", "column": "income"}


def by_position(before, after):
    """The displacements of columns, in places."""
    return [displacement(x, y, by="position") for x, y in zip(before, after, strict=True)]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 12, 13, 24, 31])
def test_every_even_sum_of_moves_is_met(n):
    """From nobody moved to halves exchanged: an order of all ranks with exactly that sum."""
    for half in range((n // 2) * ((n + 1) // 2) + 1):
        order, starts, sizes = _laid(n, half, Many(half, size=n))
        assert sorted(order) == list(range(n))
        assert sizes.sum() == n
        assert abs(order - np.arange(n)).sum() >= 2 * half
        if half >= (n + 1) // 2:
            assert (order != np.arange(n)).all()
        order = _lowered(order, starts, sizes, half)
        if sizes.size > 4 and half >= (n + 1) // 2:
            assert (order != np.arange(n)).all()
        assert sorted(order) == list(range(n))
        assert abs(order - np.arange(n)).sum() == 2 * half


@given(st.integers(2, 10**5), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_blocks_exceed_a_sum_by_little(n, share):
    """What has to be taken back is less than some two blocks are long, so few lose distance."""
    half = round(share * (n // 2) * ((n + 1) // 2))
    sizes = _sizes(n, half)
    reached = int((sizes // 2) @ (sizes - sizes // 2))
    assert sizes.sum() == n
    assert half <= reached <= half + 3 * sizes.max()
    if half > n // 2:
        assert np.sort(sizes)[1:].max(initial=0) - np.sort(sizes)[1:].min(initial=n) <= 3


@given(st.integers(1, 400), st.floats(0, 0.49), st.integers(0, 10))
@settings(max_examples=60, deadline=None)
def test_a_mean_distance_is_met_as_measured(n, share, number):
    """D(1), as the measures see it, is the even sum next to what was asked, by n."""
    x = np.random.default_rng(number).permutation(n)
    target = share * n * (1 - 1 / n**2)
    told = displace(x, target, KEY, release=str(number), column="income")
    found = displacement(x, told.columns[0])
    assert sorted(told.columns[0]) == sorted(x)
    assert abs(found.moves).mean() == pytest.approx(told.protection, abs=1e-7)
    assert told.protection == pytest.approx(target, abs=1 / n + 1e-7)


@pytest.mark.parametrize("alpha", [0.5, 0, -1])
@pytest.mark.parametrize("target", [1.5, 7.3, 40.0])
def test_other_orders_are_met_closely(alpha, target):
    """D(α) within two in a thousand on three thousand records, as the measures see it."""
    x = np.random.default_rng(7).normal(size=3001)
    told = displace(x, target, KEY, alpha=alpha, **NAMED)
    assert told.protection == pytest.approx(target, rel=2e-3)
    assert displacement(x, told.columns[0]).protection(alpha) == pytest.approx(told.protection)


def test_everybody_moves():
    """From a mean of one rank on nobody stays, also where their number is odd."""
    for n in (60, 61, 998, 999):
        for target in (1.1, 1.77, 2.3, 3.7, 5.01, n / 9):
            told = displace(np.arange(n), target, KEY, **NAMED)
            assert displacement(np.arange(n), told.columns[0]).moved == 1


def test_the_key_says_who_met_whom():
    """The same key, release and column give the same; another of any gives another."""
    x = np.arange(500.0)
    first = displace(x, 20, KEY, **NAMED).columns[0]
    assert np.array_equal(first, displace(x, 20, KEY, **NAMED).columns[0])
    for other in (
        displace(x, 20, bs.Key(bytes(32)), **NAMED),
        displace(x, 20, KEY, release="2027", column="income"),
        displace(x, 20, KEY, release="2026", column="age"),
    ):
        assert (first != other.columns[0]).mean() > 0.8


def test_another_target_has_words_of_its_own():
    """Targets that differ by next to nothing, of either kind, do not move alike."""
    x = np.arange(400)
    first = displace(x, 20, KEY, **NAMED).columns[0]
    again = displace(x, 20 + 1e-9, KEY, **NAMED)
    assert again.protection == 20
    assert np.mean(again.columns[0] == first) < 0.2
    pair = [
        displace_together([x, x], 20, KEY, by=x, information_loss=loss, **NAMED).columns
        for loss in (4, 4 + 1e-9)
    ]
    assert np.array_equal(pair[0][0], pair[1][0])
    assert np.mean(pair[0][1] == pair[1][1]) < 0.4


def test_whoever_meets_whom_is_uniform():
    """In a block of four either way with probability one half: 4000 keys, false alarm 1e-9."""
    seen = np.array([_laid(4, 4, Many(number, size=4))[0] for number in range(4000)])
    assert set(map(tuple, seen)) == {
        (2, 3, 0, 1), (3, 2, 0, 1), (2, 3, 1, 0), (3, 2, 1, 0),
    }  # fmt: skip
    for number in range(2):
        assert abs((seen[:, 2 * number] == seen[:, 2 * number].max()).mean() - 0.5) < 0.05


def test_missing_values_stay():
    """They have no rank, and the target is that of those who have one."""
    x = np.array([5.0, np.nan, 1.0, 3.0, np.nan, 2.0])
    told = displace(x, 2, KEY, **NAMED)
    assert np.isnan(told.columns[0]).nonzero()[0].tolist() == [1, 4]
    assert abs(displacement(x, told.columns[0]).moves).mean() == told.protection == 2


def test_columns_that_move_together_lose_nothing():
    """The same permutation for all: the joint distribution is kept, I is 0 by position."""
    age, income = np.arange(60), np.random.default_rng(2).permutation(60)
    work = np.array(list("abc") * 20)
    told = displace_together([age, income, work], 6, KEY, by=age, **NAMED)
    before, after = zip(age, income, work, strict=True), zip(*told.columns, strict=True)
    assert sorted(before) == sorted(after)
    assert told.information_loss == (0.0, 0.0)
    moves = by_position((age, income), told.columns[:2])
    assert information_loss(*moves, np.inf) == 0
    assert moves[0].protection(1) == pytest.approx(told.protection)


@pytest.mark.parametrize("theta", [1.0, 2.0])
def test_an_information_loss_is_met_by_position(theta):
    """In a file in the order of `by`, I(θ) of the first column with another is what was asked."""
    age, income = np.arange(400), np.random.default_rng(2).permutation(400)
    told = displace_together(
        [age, income], 25, KEY, by=age, information_loss=4.0, theta=theta, **NAMED
    )
    moves = by_position((age, income), told.columns)
    assert information_loss(*moves, theta) == pytest.approx(told.information_loss[0])
    assert told.information_loss[0] == pytest.approx(4.0, rel=5e-3)


def test_a_given_permutation_is_a_masking():
    """Table 4 of Ruiz: two records masked, their third column exchanged, is one matrix."""
    original = np.array([3707, 826, -1317, 2419, -1008])
    masked = bs.Permutation([0, 1, 4, 3, 2]).matvec(original)
    assert masked.tolist() == [3707, 826, -1008, 2419, -1317]
    assert displacement(original, masked, by="position").moves.tolist() == [0, 0, 2, 0, -2]


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: displace(np.arange(9), 5, KEY, **NAMED), "9 records .* by 4.44444 on average"),
        (lambda: displace([np.nan], 0, KEY, **NAMED), "nothing to move"),
        (lambda: displace(np.arange(9), -1, KEY, **NAMED), "number of ranks; got -1"),
        (lambda: displace(np.arange(9), np.nan, KEY, **NAMED), "number of ranks; got nan"),
        (lambda: displace(np.arange(9), 1, KEY, alpha=2, **NAMED), "alpha of at most 1; got 2"),
        (
            lambda: displace(np.arange(9), 5, KEY, alpha=0, **NAMED),
            "exchanging the halves of 9 records",
        ),
        (lambda: displace_together([[1], [1, 2]], 0, KEY, by=[1], **NAMED), "equally long"),
        (
            lambda: displace_together([[1]], 0, KEY, by=[1], theta=0.5, **NAMED),
            "alpha <= 1 <= theta",
        ),
    ],
)
def test_what_cannot_be_attained_is_refused(attempt, message):
    """Each refusal says what was asked and what there is."""
    with pytest.raises(bs.BistochasticError, match=message):
        attempt()
