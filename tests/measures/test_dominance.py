"""Dominance: against root isolation with 60 digits, and by the laws of an order."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.measures import halflines
from bistochastic.measures.crossings import MOST, Terms, signs
from bistochastic.measures.difference import Difference
from bistochastic.measures.dominance import dominance, dominates
from bistochastic.measures.histogram import ZERO, Histogram
from bistochastic.measures.permutation import displacement, relative_distances
from bistochastic.measures.preference import agreed, preference
from tests.measures.isolation import changes

SIDES = ("protection", "information")
distances = st.lists(st.integers(0, 9), min_size=1, max_size=6)

# Pairs by what is special about them.
SPECIAL = {
    "a grid of doubles is fooled": ([0, 3, 6, 6], [0, 4, 4, 5]),
    "sums are not needed": ([1, 1, 6], [0, 2, 4]),
    "only the tail": ([2, 5, 9, 30], [2, 6, 6, 29]),
    "tail of close distances": ([1000, 1003, 1004], [1001, 1001, 1006]),
    "crosses at the geometric mean": ([8, 7, 2], [4, 4, 7]),
    "touches at 1 in information": ([3, 0, 3, 2, 4], [6, 1, 2, 1, 2]),
    "equal means": ([1, 5, 6], [3, 4, 5]),
    "equal means, zeros apart": ([1, 3, 4, 0, 0], [2, 2, 2, 2, 0]),
    "one more zero": ([0, 9, 9, 9], [1, 1, 1, 2]),
    "other lengths": ([0, 6], [1, 4, 5]),
    "other lengths, same shares": ([1, 2], [1, 1, 2, 2]),
    "crosses twice": ([1, 1, 4, 6, 6], [1, 2, 2, 7, 7]),
    "crosses twice in information": ([1] * 15 + [4], [0] * 8 + [2] * 8),
    "exact beyond 53 bits": ([2**52, 2**52 + 3, 2**52 + 3], [2**52 + 1, 2**52 + 2, 2**52 + 3]),
    "far": ([1, 10**6], [500, 500_001]),
}


def agrees(a, b, side):
    """Verdict and crossing points, against 60 digits."""
    verdict, crossings, touches = changes(a, b, side)
    told = dominance(a, b, in_=side)
    if touches and told.verdict == "undecided":
        assert verdict in ("first", "second")
        return told
    assert told.verdict == verdict
    assert told.crossings == pytest.approx(crossings, rel=1e-9, abs=1e-9)
    return told


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", SPECIAL)
def test_special_pairs_agree_with_sixty_digits(name, side):
    """Each known trap, both ways round."""
    a, b = SPECIAL[name]
    told = agrees(a, b, side)
    turned = dominance(b, a, in_=side)
    assert turned.verdict == told.turned.verdict
    assert [stretch.sign for stretch in turned.stretches] == [
        stretch.sign for stretch in told.turned.stretches
    ]
    assert turned.crossings == pytest.approx(told.crossings, rel=1e-9, abs=1e-9)


@given(distances, distances, st.sampled_from(SIDES))
@settings(max_examples=150, deadline=None)
def test_random_pairs_agree_with_sixty_digits(a, b, side):
    """Small distances, so that everything that can coincide does."""
    agrees(a, b, side)


@pytest.mark.slow
@pytest.mark.parametrize(("top", "pairs"), [(4, 700), (12, 400), (10**4, 150)])
def test_thousands_of_pairs_agree_with_sixty_digits(top, pairs):
    """Files of up to six records, of one length or not, close and far."""
    generator = np.random.default_rng(top)
    crossed = {0: 0, 1: 0, 2: 0}
    for _ in range(pairs):
        n, m = generator.integers(2, 7, 2)
        m = n if generator.random() < 0.7 else m
        a, b = (generator.integers(0, top, size).tolist() for size in (n, m))
        for side in SIDES:
            crossed[min(len(agrees(a, b, side).crossings), 2)] += 1
    assert crossed[0] > 80
    assert crossed[1] > 20
    assert sum(crossed.values()) == 2 * pairs


@given(distances, distances, st.sampled_from(SIDES))
def test_shortcuts_are_shortcuts(a, b, side):
    """What sums of distances or the rule of signs decide, bounds on intervals never deny."""
    told = dominance(a, b, in_=side)
    orders = [*np.linspace(-6, 1, 29)] if side == "protection" else [*np.linspace(1, 12, 29)]
    zero = ZERO if side == "protection" else 0.0
    means = [Histogram.of(given).means(orders, zero=zero) for given in (a, b)]
    better = means[0] - means[1] if side == "protection" else means[1] - means[0]
    for order, ahead, size in zip(orders, better, means[0] + means[1], strict=True):
        if abs(ahead) > 1e-12 * size and told.better(order):
            assert told.better(order) == math.copysign(1, ahead)


@pytest.mark.parametrize("side", SIDES)
def test_every_way_to_decide_says_the_same(side, monkeypatch):
    """Without the sums, and without the rule of signs too, verdicts and crossings are the same."""
    generator = np.random.default_rng(8)
    pairs = [generator.integers(0, top, (2, 6)).tolist() for top in (4, 9, 60) for _ in range(100)]
    told = [dominance(a, b, in_=side) for a, b in pairs]
    reasons = {found.reason for found in told}
    assert len(reasons) >= 3
    monkeypatch.setattr(Difference, "sums_decide", lambda self, largest: 0)
    again = [dominance(a, b, in_=side) for a, b in pairs]
    monkeypatch.setattr(
        halflines, "sign_changes", lambda signed: 9 if min(signed) < 0 < max(signed) else 0
    )
    slowly = [dominance(a, b, in_=side) for a, b in pairs]
    assert sum(found.reason == "bounds on intervals" for found in slowly) > 200
    for first, *others in zip(told, again, slowly, strict=True):
        for other in others:
            assert other.verdict == first.verdict
            assert other.crossings == pytest.approx(first.crossings, rel=1e-9, abs=1e-9)


@given(distances, distances, distances, st.sampled_from(SIDES))
def test_dominance_is_a_partial_order(a, b, c, side):
    """Everybody is as good as himself, turning turns, and who is above one above is above."""
    assert dominates(a, a, in_=side)
    assert dominance(a, b, in_=side).turned.verdict == dominance(b, a, in_=side).verdict
    if dominates(a, b, in_=side) and dominates(b, c, in_=side):
        assert dominates(a, c, in_=side)
    if dominates(a, b, in_=side) and dominates(b, a, in_=side):
        assert sorted(a * len(b)) == sorted(b * len(a))


@given(distances, distances, st.lists(st.integers(0, 9), max_size=4), st.sampled_from(SIDES))
def test_records_that_both_share_do_not_matter(a, b, shared, side):
    """They cancel exactly, zeros too, for files of one length."""
    b = (b * len(a))[: len(a)]
    alone, together = dominance(a, b, in_=side), dominance(a + shared, b + shared, in_=side)
    assert alone.verdict == together.verdict
    assert alone.crossings == pytest.approx(together.crossings, rel=1e-9, abs=1e-9)


@given(distances, distances, st.sampled_from(SIDES))
def test_a_file_twice_is_the_same_file(a, b, side):
    """Shares count, not numbers of records."""
    assert dominance(a + a, b, in_=side).verdict == dominance(a, b, in_=side).verdict


@given(distances, st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_moving_everybody_further_protects_everybody(a, more):
    """Larger distances, record by record, dominate in protection and are dominated in the other."""
    b = [x + y for x, y in zip(a, more, strict=False)]
    assert dominates(b, a)
    assert dominates(a, b, in_="information")


def test_the_counterexample_of_the_grid():
    """{0,3,6,6} is worse below -1.90525, where doubles with zeros of 1e-8 see nothing."""
    told = dominance([0, 3, 6, 6], [0, 4, 4, 5])
    assert told.verdict == "neither"
    assert told.crossings == pytest.approx([-1.90525], abs=5e-6)
    assert (told.better(-2), told.better(-1.9), told.better(1)) == (-1, 1, 1)
    grid = [Histogram.of(x).means(-3, zero=ZERO) for x in ([0, 3, 6, 6], [0, 4, 4, 5])]
    assert grid[0] == pytest.approx(grid[1], rel=1e-15)


def test_sums_are_sufficient_only():
    """{1,1,6} dominates {0,2,4}, although 1 + 1 is less than 2 and what a zero counts as."""
    told = dominance([1, 1, 6], [0, 2, 4])
    assert (told.verdict, told.reason) == ("first", "bounds on intervals")
    assert dominance([1, 1, 6], [0, 2, 4], zero=0).reason == "sums of extreme distances"


def test_the_example_of_the_paper_by_position():
    """The third column against the second: for zeros that are nothing it dominates.

    At 1e-8 the two zeros of the second weigh 1e-8 more than the one of the third, so its mean is
    larger at α = 1, and below 1 - 1e-9 it is not.
    """
    two, three = [3, 0, 0, 1, -4], [0, 2, 2, -2, -2]
    assert dominance(three, two, zero=0).verdict == "first"
    told = dominance(three, two)
    assert told.verdict == "neither"
    assert told.crossings == pytest.approx([1], abs=1e-8)
    assert told.better(1 - 1e-6) == 1


@given(distances, distances)
def test_zeros_as_small_as_you_like(a, b):
    """Below 0 the one with more zeros is worse; with equally many it is as if there were none."""
    told = dominance(a, b, zero=0)
    zeros = [x.count(0) / len(x) for x in (a, b)]
    if zeros[0] != zeros[1]:
        assert told.better(-1) == (1 if zeros[0] < zeros[1] else -1)
    for alpha in (0.1, 0.5, 0.9):
        means = [Histogram.of(x).means(alpha) for x in (a, b)]
        if abs(means[0] - means[1]) > 1e-12 * (means[0] + means[1]):
            assert told.better(alpha) in (0, math.copysign(1, means[0] - means[1]))


def test_curves_that_touch_are_undecided():
    """4·8^α - 8·4^α + 5·2^α - 1 touches 0 at α = -1: who is better there is not claimed."""
    a, b = [2] * 5 + [8] * 4, [1] + [4] * 8
    assert changes(a, b, "protection") == ("first", [], pytest.approx([-1]))
    told = dominance(a, b)
    assert (told.verdict, told.crossings) == ("undecided", ())
    assert told.undecided == pytest.approx([-1], abs=1e-5)
    assert dominates(a, b) is None
    assert told.better(-1.01) == told.better(-0.99) == 1


def test_crossing_twice_is_found_twice():
    """-(1)(y - 1)(y - 1.3)(y - 1.9) in y = 2^α, scaled: two crossings below 1, both located."""
    y = np.array([1, 1.3, 1.9])
    coefficients = np.rint(-np.poly(y)[::-1] * 1000).astype(int)  # of 1, 2, 4, 8
    a = [2**k for k, c in enumerate(coefficients) for _ in range(max(c, 0))]
    b = [2**k for k, c in enumerate(coefficients) for _ in range(max(-c, 0))]
    told = dominance(a, b)
    assert told.verdict == "neither"
    assert told.crossings == pytest.approx(np.log2([1.3, 1.9]), abs=1e-9)
    assert told.verdict == changes(a, b, "protection")[0]


def test_a_long_file_is_decided():
    """Two maskings of 200 000 records, by noise of two sizes and by the same twice."""
    generator = np.random.default_rng(5)
    x = generator.normal(size=200_000)
    one, other, again = (
        displacement(x, x + scale * generator.normal(size=x.size)) for scale in (0.5, 0.1, 0.1)
    )
    told = dominance(one, other)
    assert told.verdict in ("first", "neither")
    assert told.better(1) == told.better(0.5) == 1
    close = dominance(other, again)
    for alpha in (-0.4, 0.3, 0.8, 1):
        means = [column.protection(alpha) for column in (other, again)]
        assert close.better(alpha) == math.copysign(1, means[0] - means[1])


def test_bounds_never_prove_what_is_not_so():
    """Every stretch that is proved has that sign at places inside, in 50 000 looks."""
    generator = np.random.default_rng(3)
    for _ in range(50):
        values = np.sort(generator.choice(np.arange(1, 200), 9, replace=False)).astype(float)
        coefficients = generator.integers(-20, 21, 9).astype(float)
        if (coefficients >= 0).all() or (coefficients <= 0).all():
            continue
        keep = coefficients != 0
        terms = Terms.of(values[keep], coefficients[keep], reference=float(values[keep][0]))
        found = list(signs(terms, -8.0, 3.0))
        assert found[0].low == -8
        assert found[-1].high == 3
        assert all(one.high == two.low for one, two in itertools.pairwise(found))
        assert len(found) < MOST
        for low, high, sign in found:
            alphas = np.linspace(low, high, 20)[:, None]
            scaled = coefficients[keep] * np.exp(alphas * np.log(values[keep] / values[keep][0]))
            f = scaled.sum(axis=1)
            sure = abs(f) > 1e-12 * abs(scaled).sum(axis=1)
            assert sign == 0 or (np.sign(f[sure]) == sign).all()


def test_information_of_pairs():
    """Two pairs of columns, compared by how differently their records moved."""
    x, y = np.arange(8), np.array([1, 0, 3, 2, 5, 4, 7, 6])
    together = relative_distances(displacement(x, y), displacement(x, y))
    apart = relative_distances(displacement(x, y), displacement(x, x[::-1]))
    assert dominates(together, apart, in_="information")
    assert not dominates(apart, together, in_="information")


def test_a_partial_order_of_maskings():
    """Who stands directly above whom, with ties and with those that nobody can compare."""
    told = preference(
        {
            "none": [[0, 0, 0], [0, 0, 0]],
            "weak": [[0, 1, 1], [1, 0, 1]],
            "same": [[1, 1, 0], [1, 1, 0]],
            "strong": [[2, 2, 2], [2, 1, 1]],
            "other": [[0, 9, 9], [2, 2, 2]],
        }
    )
    assert told.edges == (
        ("other", "same"), ("other", "weak"), ("same", "none"),
        ("strong", "same"), ("strong", "weak"), ("weak", "none"),
    )  # fmt: skip
    assert told.best == ("strong", "other")
    assert told.verdict("weak", "same") == "equal"
    assert told.verdict("strong", "other") == told.verdict("other", "strong") == "neither"
    assert told.verdict("none", "strong") == "second"
    assert told.undecided == ()


def test_a_verdict_over_columns():
    """One dominates a file if it is nowhere worse; what is undecided stays so."""
    first, second = dominance([2], [1]), dominance([1], [2])
    equal, open_ = dominance([1], [1]), dominance([2] * 5 + [8] * 4, [1] + [4] * 8)
    assert agreed([first, equal]) == "first"
    assert agreed([equal, equal]) == "equal"
    assert agreed([first, second]) == "neither"
    assert agreed([first, open_]) == "undecided"
    assert agreed([second, second, equal]) == "second"
    told = preference({"a": [[2] * 5 + [8] * 4], "b": [[1] + [4] * 8]})
    assert told.undecided == (("a", "b"),)


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: dominance([1], [2], in_="risk"), "\"information\"; got 'risk'"),
        (lambda: dominance([1], [2], zero=1), "between 0 and 1; got 1"),
        (lambda: dominance([], [2]), "one or more numbers"),
        (
            lambda: dominance(displacement([1], [2]), [1], in_="information"),
            "relative distances of two columns",
        ),
        (
            lambda: dominance(displacement([1, 1], [2, 2]).tied_at_random(), [1]),
            "expected numbers",
        ),
        (lambda: preference({}), "nothing to compare"),
        (lambda: preference({"a": [[1]], "b": [[1], [2]]}), r"\[1, 2\] of them"),
    ],
)
def test_what_cannot_be_compared_is_refused(attempt, message):
    """Each refusal says what was found."""
    with pytest.raises(bs.MeasureError, match=message):
        attempt()
