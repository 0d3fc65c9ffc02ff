"""Permuting a column: the law of every individual, by enumeration and by many columns."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import bistochastic as bs
from bistochastic.masking.matching import _wanted
from bistochastic.masking.permute import draws_spent, joint_bits, one_for_all, permutation
from bistochastic.masking.subset import _size
from bistochastic.masking.swapping import Swapping, hats
from bistochastic.matrices.bounds import AtLeast
from tests.many import Many

COLUMNS = 4000
TAIL = 1e-13  # of each cell; some thousand cells are looked at, so false alarms stay below 1e-9

STEPS = bs.Tridiagonal([0.4, 0.2, 0.3])
RECIPES = {
    "blocks": bs.Blocks([1, 2, 3]),
    "one block": bs.secrecy(4),
    "mixture": bs.Mixture(5, truth=0.55),
    "mixture, whole mean": bs.Mixture(4, truth=0.5),
    "mixture of two": bs.Mixture(2, truth=0.8),
    "little truth": bs.Mixture(4, truth=0.1),
    "no truth": bs.Mixture(4, truth=0.0),
    "tridiagonal": bs.Tridiagonal([0.5, 0.3, 0.6, 0.1]),
    "tridiagonal, no rest": bs.Tridiagonal([0.7, 0.3, 0.7]),
    "certain swap": bs.Tridiagonal([1.0, 0.0, 0.4]),
    "window 1": bs.Window(5, width=1),
    "window 2": bs.Window(7, width=2),
    "window 3": bs.Window(9, width=3),
    "window 5": bs.Window(12, width=5),
    "window 8": bs.Window(19, width=8),
    "window over all": bs.Window(4, width=9),
    "window of none": bs.Window(3, width=0),
    "composed": STEPS @ bs.Blocks([2, 2]),
    "lottery": bs.Birkhoff([0.2, 0.3, 0.5], [[0, 1, 2], [1, 2, 0], [2, 1, 0]]),
    "combination": bs.Combination([0.25, 0.75], [bs.Blocks([2, 1]), bs.Permutation([1, 2, 0])]),
    "tossed window": bs.Combination([0.5, 0.5], [bs.Window(9, 3), bs.identity(9)]),
    "ergodic": bs.Tridiagonal([0.3, 0.2]).ergodic(0.1),
    "same steps again": STEPS @ STEPS,
    "nested": bs.Combination([0.9, 0.1], [STEPS, bs.identity(4)]) @ STEPS,
    "nested deeper": bs.Combination([0.5, 0.5], [bs.Composed(STEPS, STEPS), STEPS.ergodic(0.01)])
    @ STEPS,
}


@pytest.mark.parametrize("name", RECIPES)
def test_the_mean_of_permutations_is_the_matrix(name):
    """Cell by cell over 4000 columns, against the tails of the binomial law."""
    matrix = RECIPES[name]
    form = matrix.exact(allow_zeros=True)
    n = matrix.size
    counts = np.zeros((n, n))
    for column in range(COLUMNS):
        order = permutation(form, Many(column, size=n))
        assert sorted(order) == list(range(n))
        counts[np.arange(n), order] += 1
    p = np.clip(matrix.to_dense(), 0, 1)
    assert (counts[p < 1e-15] == 0).all()
    assert (binom.cdf(counts, COLUMNS, p) >= TAIL).all()
    assert (binom.sf(counts - 1, COLUMNS, p) >= TAIL).all()


def integer_law(form):
    """The integer matrix as fractions."""
    rows = [form.integer_row(u) for u in range(form.size)]
    return [[Fraction(weight, whole) for weight in row] for row, whole in rows]


def no_more(draw, attempt, cells):
    """Words of which a second attempt is told by an error."""
    raise AssertionError


@pytest.mark.parametrize(
    "alphas", [[0.4, 0.3, 0.5, 0.2], [0.7, 0.3, 0.7], [1 - 2**-8, 2**-8], [0.0, 1.0, 0.0, 0.5]]
)
def test_the_matching_of_a_path_has_the_integer_law(alphas):
    """The production code over all 8-bit words of every edge, then by the rule of the path."""
    form = bs.Tridiagonal(alphas).exact(word_bits=8, allow_zeros=True)
    edges = form.weights.size
    accepted, wanted = np.zeros(edges, dtype=int), np.zeros(edges, dtype=int)
    for word in range(256):
        again = []

        def words(draw, attempt, cells, word=word, again=again):
            if attempt:
                again.extend(cells)
            return np.full(len(cells), 0 if attempt else word, dtype=np.uint64)

        drawn = _wanted(form, words)
        kept = np.ones(edges, dtype=bool)
        kept[again] = False
        accepted += kept
        wanted += drawn & kept
    chances = [Fraction(int(w), int(a)) for w, a in zip(wanted, accepted, strict=True)]
    law = [[Fraction(0)] * form.size for _ in range(form.size)]
    for taken in itertools.product([False, True], repeat=edges):
        chance, free = Fraction(1), True
        for i, happens in enumerate(taken):
            share = chances[i] if free else Fraction(0)
            chance *= share if happens else 1 - share
            free = not happens
        order = list(range(form.size))
        for i in np.flatnonzero(taken):
            order[i], order[i + 1] = i + 1, i
        for u, v in enumerate(order):
            law[u][v] += chance
    assert law == integer_law(form)
    assert (accepted >= 128).all()  # so no word is waited for longer than a coin


@pytest.mark.parametrize("n", [2, 3, 5, 12])
@pytest.mark.parametrize("truth", [0.9, 0.5, 0.34])
def test_the_size_of_the_subset_has_the_integer_mean(n, truth):
    """Its mean over all words of the toss is 1 + n(1-p) on the integers, whatever the whole."""
    form = bs.Mixture(n, truth=max(truth, 1 / n)).exact(word_bits=8)
    assert form.truth * n >= form.whole
    wanted = 1 + Fraction(n * (n - 1) * form.lie, form.whole)
    sizes = {
        _size(form, lambda d, a, c, w=w: np.array([w if a == 0 else 0], dtype=np.uint64))
        for w in range(256)
    }
    assert sizes <= {math.floor(wanted), math.floor(wanted) + 1}
    assert math.floor(wanted) in sizes


@settings(max_examples=60)
@given(st.integers(1, 300))
def test_hats_add_up_to_a_box(width):
    """Height 1 at the distances 1 … width, 0 beyond; cells divide distances."""
    distance = np.arange(2 * width + 4)
    height = np.zeros(distance.size)
    for hat in hats(width):
        assert hat.distance % hat.cell == 0
        height += hat.halves / 2 * np.maximum(1 - np.abs(distance - hat.distance) / hat.cell, 0)
    np.testing.assert_array_equal(height[1:], distance[1:] <= width)


@pytest.mark.parametrize(("n", "width"), [(4, 1), (7, 1), (6, 2), (9, 3), (11, 4), (13, 5)])
@pytest.mark.parametrize("word_bits", [8, 16])
def test_swapping_has_the_integer_law_of_the_window(n, width, word_bits):
    """By hand over every cut and hat: who is where, and meets whom in what share."""
    form = bs.Window(n, width).exact(word_bits=word_bits)
    plan = Swapping.of(form)
    assert sum(plan.chances) <= 1
    law = [[Fraction(u == v) for v in range(n)] for u in range(n)]
    for hat, chance in zip(plan.hats, plan.chances, strict=True):
        tile = 2 * hat.distance
        used = plan.length // tile * tile
        for cut in range(plan.length):
            for u in range(n):
                inside = (u + cut) % plan.length
                if inside >= used:
                    continue
                up = inside % tile < hat.distance
                first = u - inside % hat.cell + (hat.distance if up else -hat.distance)
                for v in range(first, first + hat.cell):
                    if 0 <= v < n:
                        part = chance / plan.length / hat.cell
                        law[u][v] += part
                        law[u][u] -= part
    assert law == integer_law(form)


def test_a_wide_window_is_cut_into_regions_only_as_long_as_it_takes():
    """The lots fill what a window leaves of the whole, and regions are a fraction of width²."""
    for width in (10, 100, 1000):
        plan = Swapping.of(bs.Window(10**6, width).exact())
        assert 0.95 < sum(plan.chances) <= 1
        assert plan.length < width**2


def test_regions_have_lots_of_their_own():
    """Within one column some regions stay and others move, by different hats."""
    order = permutation(bs.Window(20_000, 8).exact(), Many(1, size=20_000))
    steps = np.abs(order - np.arange(order.size))
    assert steps.max() == 8
    assert set(range(9)) == set(steps.tolist())
    quiet = steps.reshape(-1, 20).max(axis=1)
    assert len(set(quiet.tolist())) > 5


def brute_bits(matrix, columns=20000):
    """The entropy of σ by counting, with Miller and Madow's correction."""
    form = matrix.exact(allow_zeros=True)
    seen = {}
    for column in range(columns):
        key = tuple(permutation(form, Many(column, size=matrix.size)))
        seen[key] = seen.get(key, 0) + 1
    shares = np.array(list(seen.values())) / columns
    return -(shares * np.log2(shares)).sum() + (len(seen) - 1) / (2 * columns * math.log(2))


CLOSED = ["blocks", "mixture", "mixture, whole mean", "little truth", "no truth", "tridiagonal"]
BOUNDED = ["window 1", "window 2", "window 3", "composed", "combination", "ergodic"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CLOSED, "lottery", "window over all"])
def test_joint_entropies_agree_with_counting(name):
    """The closed forms against 20,000 columns."""
    assert joint_bits(RECIPES[name].exact(allow_zeros=True)) == pytest.approx(
        brute_bits(RECIPES[name]), abs=0.03
    )


@pytest.mark.parametrize("name", BOUNDED)
def test_bounds_on_joint_entropies_hold_and_say_so(name):
    """What is no closed form is labelled, and not more than counting finds."""
    told = joint_bits(RECIPES[name].exact(allow_zeros=True))
    assert isinstance(told, AtLeast)
    assert 0 < told <= brute_bits(RECIPES[name], 4000) + 0.05


def test_joint_entropies_by_hand():
    """Factorials for blocks; a swap of two is one coin; a uniform mixture is one block."""
    assert joint_bits(bs.Blocks([3, 2]).exact()) == pytest.approx(math.log2(12))
    assert joint_bits(bs.Tridiagonal([0.5]).exact()) == pytest.approx(1)
    assert joint_bits(bs.Mixture(6, truth=1 / 6).exact()) == pytest.approx(math.log2(720), rel=1e-9)
    assert joint_bits(bs.identity(5).exact()) == 0
    assert joint_bits(bs.Permutation([1, 0]).exact()) == 0
    assert joint_bits(bs.Window(3, 0).exact()) == 0
    twice = bs.Birkhoff([0.5, 0.5], [[1, 0], [1, 0]])
    assert joint_bits(twice.exact()) == 0


@pytest.mark.parametrize(("n", "width"), [(60, 7), (200, 12), (9, 1)])
def test_the_bound_of_a_window_counts_whole_cells(n, width):
    """Over every cut by hand: what is open of whole cells, and a little for the lots."""
    form = bs.Window(n, width).exact()
    plan = Swapping.of(form)
    open_bits = 0.0
    for hat, chance in zip(plan.hats, plan.chances, strict=True):
        tile, pairs = 2 * hat.distance, 0
        for cut in range(plan.length):
            for begin in range(-cut, n, plan.length):
                for start in range(begin, begin + plan.length // tile * tile, tile):
                    firsts = range(start, start + hat.distance, hat.cell)
                    ends = [(first, first + hat.distance + hat.cell) for first in firsts]
                    pairs += sum(low >= 0 and high <= n for low, high in ends)
        open_bits += float(chance) * pairs / plan.length * 2 * math.log2(math.factorial(hat.cell))
    lots = max(n - plan.length + 1, 0) / plan.length
    assert open_bits - 1e-6 <= joint_bits(form) <= open_bits + lots + 1e-6


def test_joint_entropies_grow_with_the_column():
    """Ten times as many individuals have ten times as much to guess."""
    for make in (
        lambda n: bs.Window(n, 20),
        lambda n: bs.Tridiagonal(np.full(n - 1, 0.3)),
        lambda n: bs.Blocks(np.full(n // 5, 5)),
    ):
        short, long = (joint_bits(make(n).exact()) for n in (20_000, 200_000))
        assert 9.5 < long / short < 10.5
        assert long > 0.3 * 200_000


@pytest.mark.parametrize(
    "matrix",
    [
        bs.Circulant([0.5, 0.3, 0.2]),
        bs.diffusion(path=4, time=1.0),
        bs.Dense([[0.5, 0.5], [0.5, 0.5]]),
        bs.Kronecker(bs.secrecy(2), bs.secrecy(2)),
    ],
)
def test_a_matrix_without_a_recipe_is_refused(matrix):
    """One cyclic shift has the right law for each, but one known record reveals all."""
    with pytest.raises(bs.MaskingError, match="no recipe for permuting"):
        permutation(matrix.exact(), no_more)
    with pytest.raises(bs.MaskingError, match="no recipe for permuting"):
        joint_bits(matrix.exact())


def test_who_moves_everybody_by_one_of_a_few_permutations():
    """A lottery over listed permutations, however it is dressed."""
    shifts = bs.Birkhoff([0.5, 0.5], [[0, 1, 2], [1, 2, 0]])
    listed = [
        shifts,
        shifts @ bs.Permutation([2, 0, 1]),
        shifts @ bs.identity(3),
        bs.Combination([0.5, 0.5], [bs.identity(3), bs.Permutation([1, 2, 0])]),
        bs.Combination([1.0, 0.0], [shifts, bs.secrecy(3)]),
    ]
    free = [
        bs.identity(3),
        bs.Permutation([1, 2, 0]),
        bs.Birkhoff([1.0, 0.0], [[0, 1, 2], [1, 2, 0]]),
        bs.Permutation([1, 2, 0]) @ bs.Permutation([1, 2, 0]),
        shifts @ bs.secrecy(3),
        shifts.ergodic(0.1),
        bs.Combination([0.5, 0.5], [bs.identity(3), bs.secrecy(3)]),
    ]
    assert all(one_for_all(matrix.exact(allow_zeros=True)) for matrix in listed)
    assert not any(one_for_all(matrix.exact(allow_zeros=True)) for matrix in free)


class Recorded(Many):
    """Words that remember which draws were asked for."""

    def __call__(self, draw, attempt, cells):
        self.asked = getattr(self, "asked", set()) | {draw}
        return super().__call__(draw, attempt, cells)


@pytest.mark.parametrize("name", RECIPES)
def test_recipes_stay_within_their_draws(name):
    """What comes after a recipe begins where its draws end, so parts never share a word."""
    form = RECIPES[name].exact(allow_zeros=True)
    for column in range(20):
        words = Recorded(column, size=form.size)
        permutation(form, words)
        assert max(getattr(words, "asked", {0})) < draws_spent(form)


@settings(max_examples=25)
@given(st.integers(2, 60), st.floats(0.02, 0.99), st.integers(0, 10**6))
def test_mixtures_move_as_many_as_they_should(n, truth, column):
    """The subset has one place more than the mean that moves, or the next number."""
    matrix = bs.Mixture(n, truth=max(truth, 1 / n))
    order = permutation(matrix.exact(), Many(column, size=n))
    assert (order != np.arange(n)).sum() <= n * (1 - matrix.truth) + 2


@settings(max_examples=40)
@given(st.integers(1, 80), st.integers(0, 90), st.integers(0, 10**6))
def test_swapping_stays_within_the_window(n, width, column):
    """Every rank goes somewhere once, at most w away, at any size."""
    order = permutation(bs.Window(n, width).exact(allow_zeros=True), Many(column, size=n))
    assert sorted(order) == list(range(n))
    assert np.abs(order - np.arange(n)).max() <= width


def test_a_chance_close_to_one_is_not_waited_for():
    """After an exchange that nearly always happens, the next one is drawn without delay."""
    matrix = bs.Tridiagonal([1 - 2**-50, 2**-50])
    assert permutation(matrix.exact(), Many(3, size=3)).tolist() == [1, 0, 2]
