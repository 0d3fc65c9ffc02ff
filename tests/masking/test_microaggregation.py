"""Microaggregation: published losses, plain twins, bounds, ties and everything degenerate."""

import csv
import math
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.masking import approx, farthest, mdav, neighbours, remaining, univariate
from bistochastic.masking.distances import standardised
from bistochastic.masking.numeric import permute
from tests.many import Many
from tests.pages import ROOT

DATA = ROOT.parent / "shared" / "data"
ELECTRICITY = [
    "UTILITYID",
    *(
        f"{who}{what}"
        for who in ("RES", "COM", "IND", "OTH", "TOT")
        for what in ("REVENUE", "RSALES" if who == "OTH" else "SALES")
    ),
]


def columns_of(path: Path, names=None):
    """Numeric columns of a CSV file, all of them unless some are named."""
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    return np.array([[float(line[name]) for name in names or lines[0]] for line in lines])


@pytest.mark.parametrize(
    ("file", "names", "losses"),
    [
        ("census.csv", None, (5.6922, 9.0884, 14.1559)),
        ("tarragona.csv", None, (16.9326, 22.4619, 33.1929)),
        ("eia.csv", ELECTRICITY, (0.4829, 1.6667, 3.8397)),
    ],
)
def test_published_losses(file, names, losses):
    """MDAV loses what the literature says it does, with the trees and without them."""
    array = columns_of(DATA / file, names)
    for k, loss in zip((3, 5, 10), losses, strict=True):
        found = bs.microaggregate(array, k)
        assert round(found.loss, 4) == loss
        with mock.patch.object(mdav, "FEW", 0):
            np.testing.assert_array_equal(bs.microaggregate(array, k).groups, found.groups)


def plain_mdav(points, k, tie=1e-10):
    """MDAV as it is written down, over all distances; distances within `tie` are the same."""
    left, groups = list(range(len(points))), []

    def distances(place):
        return np.array([math.dist(points[row], place) for row in left])

    def farthest_from(place):
        apart = distances(place)
        return left[int(np.flatnonzero(apart >= apart.max() * (1 - tie))[0])]

    def gather(center):
        apart = distances(points[center])
        last = np.sort(apart)[k - 1]
        sure = [row for row, far in zip(left, apart, strict=True) if far < last * (1 - tie)]
        tied = [
            row
            for row, far in zip(left, apart, strict=True)
            if last * (1 - tie) <= far <= last * (1 + tie)
        ]
        group = sure + tied[: k - len(sure)]
        left[:] = [row for row in left if row not in group]
        groups.append(group)

    def centre():
        return points[left].mean(axis=0)

    while len(left) >= 3 * k:
        r = farthest_from(centre())
        gather(r)
        gather(farthest_from(points[r]))
    if len(left) >= 2 * k:
        gather(farthest_from(centre()))
    return partition_of(len(points), [*groups, left])


def partition_of(n, groups):
    """Groups as labels, numbered by the lowest row of each."""
    labels = np.empty(n, dtype=int)
    for label, rows in enumerate(sorted((g for g in groups if len(g)), key=min)):
        labels[list(rows)] = label
    return labels


def tables(*, most=60, columns=4, values=None):
    """Tables of few rows: whole numbers, so with many ties and duplicates, or others."""
    cell = values or st.one_of(st.integers(0, 3), st.integers(-20, 20))
    return st.integers(1, columns).flatmap(
        lambda d: st.lists(st.lists(cell, min_size=d, max_size=d), min_size=1, max_size=most)
    )


@pytest.mark.parametrize("few", [0, 6000])
@settings(max_examples=250)
@given(tables(), st.integers(1, 7))
def test_mdav_is_the_plain_algorithm(few, table, k):
    """All labels agree with the plain one: ties, duplicates and constant columns included."""
    array = np.array(table, dtype=float)
    if len(array) < k:
        return
    kept = array[:, np.ptp(array, axis=0) > 0]
    points = (kept - kept.mean(axis=0)) / kept.std(axis=0)
    expected = plain_mdav(points, k) if k > 1 else np.arange(len(array))
    with mock.patch.object(mdav, "FEW", few):
        np.testing.assert_array_equal(bs.microaggregate(array, k).groups, expected)


KINDS = {
    "normal": lambda draw, n, d: draw.standard_normal((n, d)),
    "lognormal": lambda draw, n, d: np.exp(2 * draw.standard_normal((n, d))),
    "few values": lambda draw, n, d: draw.integers(0, 4, (n, d)).astype(float),
    "circle": lambda draw, n, d: np.column_stack(
        [f(np.arange(n) * 2 * np.pi / n) for f in (np.cos, np.sin)]
    ),
    "clusters": lambda draw, n, d: 9 * draw.integers(0, 9, (n, d)) + draw.standard_normal((n, d)),
    "one far": lambda draw, n, d: np.where(
        np.arange(n)[:, None] == 7, 1e6, draw.standard_normal((n, d))
    ),
}


@pytest.mark.parametrize("d", [1, 3, 9])
@pytest.mark.parametrize("kind", KINDS)
def test_mdav_with_trees_is_the_plain_algorithm(kind, d):
    """On samples where trees are grown anew several times, and with small cells to search."""
    draw = np.random.default_rng([d, len(kind)])
    points = standardised(KINDS[kind](draw, 700, d))
    for k in (2, 5, 40):
        expected = plain_mdav(points, k)
        with mock.patch.object(mdav, "FEW", 0):
            labels = mdav.mdav(points, k)
        np.testing.assert_array_equal(partition(labels), expected)
        with mock.patch.object(mdav, "FEW", 300):
            np.testing.assert_array_equal(mdav.mdav(points, k), labels)


@pytest.mark.parametrize("few", [0, 6000])
def test_ties_are_ties_in_spite_of_rounding(few):
    """Distances that differ in the twelfth digit; records all equally far from each other."""
    draw = np.random.default_rng(13)
    near_ties = [
        draw.integers(0, 3, (40, 2)) + 1e-12 * draw.integers(-9, 10, (40, 2)) for _ in range(30)
    ]
    with mock.patch.object(mdav, "FEW", few):
        for points in (*near_ties, np.eye(19), np.repeat(np.eye(6), 5, axis=0)):
            for k in (2, 3, 5):
                labels = mdav.mdav(points, k)
                np.testing.assert_array_equal(partition(labels), plain_mdav(points, k))


def test_withered_trees_are_grown_anew():
    """Points that are used up do not stay in the way: what is left is searched, not what was."""
    points = np.random.default_rng(2).standard_normal((700, 2))
    with mock.patch.object(mdav, "FEW", 0):
        grow = remaining.Remaining.grow
        with mock.patch.object(
            remaining.Remaining, "grow", autospec=True, side_effect=grow
        ) as grown:
            mdav.mdav(points, 3)
    # A tree for every 0.7 of what there was: 700 * 0.7^n = 9 after twelve.
    assert 10 <= grown.call_count <= 14


def partition(labels):
    """Labels numbered by their lowest rows."""
    return partition_of(len(labels), [np.flatnonzero(labels == one) for one in np.unique(labels)])


@settings(max_examples=100)
@given(tables(most=40), st.integers(2, 4), st.randoms(use_true_random=False))
def test_units_and_the_order_of_columns_do_not_matter(table, k, chance):
    """Another unit, another origin, another order of columns and a constant one: same groups."""
    array = np.array(table, dtype=float)
    if len(array) < k:
        return
    order = list(range(array.shape[1]))
    chance.shuffle(order)
    units = np.array([chance.choice([1 / 3, -7.0, 1e6, 1e-30, 1e300]) for _ in order])
    other = np.column_stack([array[:, order] * units, np.full(len(array), 0.1)])
    for method in ("mdav", "mu-approx"):
        one, two = (bs.microaggregate(table, k, method) for table in (array, other))
        np.testing.assert_array_equal(one.groups, two.groups)
        assert one.loss == pytest.approx(two.loss, abs=1e-9)


@settings(max_examples=600)
@given(tables(most=45), st.integers(1, 8))
def test_mu_approx_keeps_within_its_sizes(table, k):
    """Groups of k to max(2k - 1, 3k - 5); all records in one where they are fewer than 2k."""
    array = np.array(table, dtype=float)
    if len(array) < k:
        return
    sizes = bs.microaggregate(array, k, "mu-approx").sizes
    assert sizes.min() >= k
    assert sizes.max() <= (1 if k == 1 else max(2 * k - 1, 3 * k - 5))
    assert sizes.sum() == len(array)


def test_mu_approx_keeps_within_its_sizes_on_thousands_of_samples():
    """Samples of many sizes, of one column up to six, with and without ties."""
    draw = np.random.default_rng(5)
    for _ in range(3000):
        n, d, k = draw.integers(2, 80), draw.integers(1, 7), draw.integers(2, 9)
        array = draw.standard_normal((n, d)) if draw.random() < 0.5 else draw.integers(0, 3, (n, d))
        if n >= 2 * k:
            sizes = np.bincount(approx.mu_approx(np.asarray(array, dtype=float), int(k)))
            assert k <= sizes.min()
            assert sizes.max() <= approx.largest(int(k))


@pytest.mark.parametrize("shape", ["star", "path", "broom", "random"])
@pytest.mark.parametrize("k", [2, 3, 4, 5, 9])
def test_any_tree_is_cut_within_the_bounds(shape, k):
    """Trees that no data would ever make; every record lands in one group."""
    draw = np.random.default_rng(k)
    for n in range(k, 12 * k):
        parents = {
            "star": [-1] + [0] * (n - 1),
            "path": list(range(-1, n - 1)),
            "broom": [-1, *range(min(k - 1, n - 1)), *[0] * (n - 1 - min(k - 1, n - 1))],
            "random": [-1] + [int(draw.integers(0, row)) for row in range(1, n)],
        }[shape]
        children = [[row for row in range(n) if parents[row] == one] for one in range(n)]
        groups = approx.decompose(0, children, k)
        assert sorted(row for rows in groups for row in rows) == list(range(n))
        assert min(map(len, groups)) >= k
        assert max(map(len, groups)) <= approx.largest(k)


@settings(max_examples=100)
@given(tables(most=40), st.integers(2, 6))
def test_the_forest_is_one(table, k):
    """Trees of at least k records, no edge longer than to the k - 1st nearest other record."""
    points = np.array(table, dtype=float)
    if len(points) < 2 * k:
        return
    parents = approx.forest(points, k)
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    roots = []
    for row, parent in enumerate(parents):
        if parent >= 0:
            assert parent != row
            assert apart[row, parent] <= np.sort(apart[row])[k - 1] * (1 + 1e-9)
        steps = 0
        while parents[row] >= 0:
            row, steps = parents[row], steps + 1
            assert steps < len(parents)
        roots.append(row)
    assert np.unique(roots, return_counts=True)[1].min() >= k


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_the_nearest_rows_are_the_lowest_of_those_that_tie(k):
    """On a grid, where more places are equally far than are asked for at first, and duplicates."""
    draw = np.random.default_rng(k)
    points = draw.integers(0, 3, (150, 4)).astype(float)
    rows, kinds = neighbours.nearest_rows(points, k)
    for row, point in enumerate(points):
        apart = ((points - point) ** 2).sum(axis=1)  # whole numbers, so ties are exact
        expected = np.lexsort((np.arange(len(points)), apart))[:k]
        np.testing.assert_array_equal(rows[kinds[row]], expected)


def test_an_edge_goes_to_the_nearest_outside():
    """Of records at the same distance the lowest row; then the nearest that is in another tree."""
    points = np.array([[0.0], [-1.0], [1.0], [3.0], [3.5]])
    assert approx.forest(points, 2) == [1, -1, 0, 4, -1]
    assert approx.forest(points, 3)[:2] == [1, 2]


def least_loss(points, k):
    """The least sum of squares of all groupings into groups of at least k, by trying them all."""
    n = len(points)
    costs = {}

    def spread(rows):
        group = points[list(rows)]
        return float(((group - group.mean(axis=0)) ** 2).sum())

    def best(rows):
        if not rows:
            return 0.0
        if rows not in costs:
            first, others = rows[0], rows[1:]
            tries = [
                spread((first, *some)) + best(tuple(row for row in others if row not in some))
                for size in range(k, min(2 * k, len(rows) + 1))
                if len(rows) - size == 0 or len(rows) - size >= k
                for some in combinations(others, size - 1)
            ]
            costs[rows] = min(tries)
        return costs[rows]

    return best(tuple(range(n)))


@settings(max_examples=60)
@given(tables(most=9, columns=2), st.integers(2, 3))
def test_losses_lie_between_the_least_and_its_multiple(table, k):
    """Nothing beats the optimum, and mu-approx is within (2k - 1) m² of it."""
    array = np.array(table, dtype=float)
    if len(array) < 2 * k or not np.ptp(array, axis=0).any():
        return
    points = standardised(array)
    least = 100 * least_loss(points, k) / points.size
    for method in ("mdav", "mu-approx"):
        assert bs.microaggregate(array, k, method).loss >= least - 1e-9
    bound = (2 * k - 1) * approx.largest(k) ** 2
    assert bs.microaggregate(array, k, "mu-approx").loss <= bound * least + 1e-9


@settings(max_examples=120)
@given(st.lists(st.integers(-9, 9), min_size=2, max_size=10), st.integers(2, 4))
def test_optimal_is_optimal(values, k):
    """One column against all groupings there are, of neighbours or not."""
    if len(values) < k or len(set(values)) == 1:
        return
    points = standardised(np.array(values, dtype=float)[:, None])
    found = bs.microaggregate(values, k, "optimal")
    assert found.loss == pytest.approx(100 * least_loss(points, k) / len(values), abs=1e-9)
    assert k <= found.sizes.min()
    assert found.sizes.max() <= 2 * k - 1


def exact_least(values, k):
    """The least sum of squares by dynamic programming in O(nk), in whole numbers and fractions."""
    ordered = sorted(map(int, values))
    sums, squares = [0], [0]
    for value in ordered:
        sums.append(sums[-1] + value)
        squares.append(squares[-1] + value * value)
    least = [Fraction(0)] + [None] * len(ordered)
    for end in range(k, len(ordered) + 1):
        tries = [
            least[end - size]
            + (squares[end] - squares[end - size])
            - Fraction((sums[end] - sums[end - size]) ** 2, size)
            for size in range(k, min(2 * k, end + 1))
            if least[end - size] is not None
        ]
        least[end] = min(tries, default=None)
    return least[-1]


def exact_loss(values, groups):
    """The sum of squares within groups of whole numbers, as a fraction."""
    loss = Fraction(0)
    starts = np.cumsum(np.bincount(groups))[:-1]
    for rows in np.split(np.argsort(groups, kind="stable"), starts):
        group = [int(value) for value in values[rows]]
        loss += sum(value * value for value in group) - Fraction(sum(group) ** 2, len(group))
    return loss


LINES = {
    "even": lambda draw, n: np.arange(n),
    "normal": lambda draw, n: np.round(1e6 * draw.standard_normal(n)),
    "heavy": lambda draw, n: np.round(np.exp(4 * draw.standard_normal(n))),
    "plateaus": lambda draw, n: np.repeat(np.arange(n // 7 + 1), 7)[:n],
    "far ends": lambda draw, n: np.concatenate((np.arange(n // 2), 10**9 + np.arange(n - n // 2))),
}


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize(("n", "k"), [(7000, 2), (6001, 3), (3000, 11)])
def test_optimal_is_the_exact_dynamic_programme(kind, n, k):
    """At sizes where the line is cut into parts: the loss to nine digits of the exact one."""
    values = LINES[kind](np.random.default_rng(n), n)
    with mock.patch.object(univariate, "PARTS", 40), mock.patch.object(univariate, "RUN_UP", 3):
        groups = univariate.optimal(values.astype(float), k)
    sizes = np.bincount(groups)
    assert k <= sizes.min()
    assert sizes.max() <= 2 * k - 1
    least = exact_least(values, k)
    assert least <= exact_loss(values, groups) <= least * (1 + Fraction(1, 10**9))


def test_one_far_value_drowns_nothing():
    """Beside a loss of 10^18 that cannot be helped, the others are still the least there are."""
    values = np.round(100 * np.random.default_rng(9).standard_normal(3000))
    values[1234] = -1e9
    assert exact_loss(values, univariate.optimal(values, 3)) == exact_least(values, 3)


def test_optimal_agrees_however_the_line_is_cut():
    """Few parts or many, with a run-up or hardly any: the same groups."""
    values = np.random.default_rng(8).standard_normal(5000)
    expected = univariate.optimal(values, 4)
    for parts, run_up, cells in ((1, 16, 1 << 15), (60, 1, 1 << 9), (300, 2, 1 << 20)):
        with mock.patch.multiple(univariate, PARTS=parts, RUN_UP=run_up, CELLS=cells):
            np.testing.assert_array_equal(univariate.optimal(values, 4), expected)


def test_paths_have_met_when_all_their_costs_agree():
    """Each cost by itself, in proportion: a small one that differs is not the same."""
    costs = np.array([[0.0, 1e-9, 1e9], [0.0, 1.0, np.inf]])
    for factor, same in ((1 + 1e-14, True), (1 + 1e-10, False)):
        for column in (1, 2):
            other = costs.copy()
            other[0, column] *= factor
            assert univariate.differ(costs[:1], other[:1]).tolist() == [not same]
    assert univariate.differ(costs, costs[::-1]).tolist() == [True, True]


@pytest.mark.parametrize("method", ["mdav", "mu-approx", "optimal"])
def test_everything_degenerate_has_an_answer(method):
    """Fewer than 2k records, k = 1, equal records, a constant column, a single record."""
    one_group = bs.microaggregate([3.0, 1.0, 2.0], 2, method)
    assert (one_group.groups.tolist(), one_group.loss) == ([0, 0, 0], pytest.approx(100))
    alone = bs.microaggregate([3.0, 1.0, 2.0], 1, method)
    assert (alone.groups.tolist(), alone.loss) == ([0, 1, 2], 0.0)
    assert alone.centroids.tolist() == [3.0, 1.0, 2.0]
    equal = bs.microaggregate(np.full(40, 0.1), 3, method)
    assert equal.loss == 0.0
    assert equal.sizes.min() >= 3
    assert (equal.centroids == 0.1).all()
    assert bs.microaggregate([5], 1, method).groups.tolist() == [0]
    huge = bs.microaggregate([1.7e308, -1.7e308, 1.6e308, -1.6e308], 2, method)
    assert huge.groups.tolist() == [0, 1, 0, 1]
    assert np.isfinite(huge.centroids).all()
    assert np.isfinite(huge.loss)
    apart = bs.microaggregate([1.7e308, -1.7e308], 2, method)
    assert (apart.centroids.tolist(), apart.loss) == ([0.0], pytest.approx(100))


def test_a_grouping_says_what_it_is():
    """Numbered by the lowest row; centroids in the units of the data; arrays are frozen."""
    found = bs.microaggregate([[7.0, 70.0], [0.0, 0.0], [1.0, 10.0], [6.0, 60.0], [5.0, 50.0]], 2)
    assert found.groups.tolist() == [0, 1, 1, 0, 0]
    assert found.sizes.tolist() == [3, 2]
    assert found.order.tolist() == [0, 3, 4, 1, 2]
    assert found.centroids.tolist() == [[6.0, 60.0], [0.5, 5.0]]
    assert found.loss == pytest.approx(100 * 2.5 / 38.8)
    assert found.matrix.sizes.tolist() == [3, 2]
    assert found.matrix.min_row_bits == 1.0
    assert repr(found) == "Grouping(5 records, 2 groups of 2 to 3, loss 6.4433)"
    for array in (found.groups, found.centroids):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@settings(max_examples=50)
@given(tables(most=30), st.integers(2, 4), st.integers(0, 99))
def test_a_group_is_a_block(table, k, column):
    """Averaging and permuting within groups is what the matrix does to the records in order."""
    array = np.array(table, dtype=float)
    if len(array) < k:
        return
    found = bs.microaggregate(array, k)
    values = np.arange(len(array)) ** 2.0
    mean = np.empty(len(array))
    mean[found.order] = found.matrix.to_dense().T @ values[found.order]
    np.testing.assert_allclose(found.average(values), mean)
    np.testing.assert_allclose(found.average(array[:, 0]), found.centroids[found.groups, 0])
    words = Many(column, size=len(array))
    moved = found.permute(values, words)
    np.testing.assert_array_equal(moved, permute(values, found.matrix, words, by=found.groups))
    for group in range(found.sizes.size):
        inside = found.groups == group
        np.testing.assert_array_equal(np.sort(moved[inside]), np.sort(values[inside]))


def test_missing_values_stay_missing_in_a_group():
    """They count in no mean and change no place; who is left alone is refused."""
    found = bs.microaggregate([1.0, 2.0, 3.0, 11.0, 12.0], 2)
    values = np.array([5.0, np.nan, 7.0, 1.0, 3.0])
    np.testing.assert_array_equal(found.average(values), [6.0, np.nan, 6.0, 2.0, 2.0])
    assert np.isnan(found.permute(values, Many(1, size=4))[1])
    values[3] = np.nan
    with pytest.raises(bs.MaskingError, match="determines 1 of 3 values"):
        found.average(values)
    assert found.average(values, insist=True)[4] == 3.0
    whole, absent = np.array([5, 0, 7, 1, 3]), np.array([False, True, False, False, False])
    np.testing.assert_array_equal(found.average(whole, missing=absent), [6, 0, 6, 2, 2])
    moved = found.permute(whole, Many(1, size=4), missing=absent)
    assert (moved[1], moved[:3].sum(), moved[3:].sum()) == (0, 12, 4)


def test_a_key_permutes_within_groups():
    """The words are those of the column and the release: the same again, or others."""
    found = bs.microaggregate(np.arange(200.0), 50)
    key, values = bs.Key(bytes(32)), np.arange(200)
    moved = found.permute(values, key, release="r", column="c")
    again = permute(values, found.matrix, key, release="r", column="c", by=found.groups)
    np.testing.assert_array_equal(moved, again)
    for names in ({"release": "s", "column": "c"}, {"release": "r", "column": "d"}):
        assert (moved != found.permute(values, key, **names)).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bs.microaggregate([1.0, 2.0], 3), "2 records cannot form a group of k = 3"),
        (lambda: bs.microaggregate([1.0], 0), "whole number k >= 1 of records; got k = 0"),
        (lambda: bs.microaggregate([1.0], True), "got k = True"),
        (lambda: bs.microaggregate([1.0], 1.5), "got k = 1.5"),
        (lambda: bs.microaggregate([1.0], 1, "kmeans"), "one of mdav, mu-approx, optimal"),
        (lambda: bs.microaggregate([[1, 2]], 1, "optimal"), "groups one column; got 2"),
        (lambda: bs.microaggregate([np.nan, np.inf, 1.0], 1), "2 entries that are NaN or infinite"),
        (lambda: bs.microaggregate(["77"], 1), "needs numbers; got an array of <U2"),
        (lambda: bs.microaggregate([None, "77x"], 1), "numbers only, in a regular shape"),
        (lambda: bs.microaggregate([], 1), r"got shape \(0,\)"),
        (lambda: bs.microaggregate(np.zeros((3, 0)), 1), r"got shape \(3, 0\)"),
        (lambda: bs.microaggregate(np.zeros((2, 2, 2)), 1), r"got shape \(2, 2, 2\)"),
        (
            lambda: bs.microaggregate([1.0, 2.0], 2).average([1.0]),
            "2 records were grouped, but the column has 1 rows",
        ),
        (
            lambda: bs.microaggregate([1.0, 2.0], 2).permute([np.nan] * 2, Many(0, size=2)),
            "All values of the column are missing",
        ),
    ],
)
def test_refusals(call, message):
    """Each says what was found and what to do, and quotes no value."""
    with pytest.raises(bs.MaskingError, match=message) as refusal:
        call()
    assert "77" not in str(refusal.value)


def test_the_farthest_are_all_of_them():
    """The search finds every point at the greatest distance, among those not removed."""
    draw = np.random.default_rng(3)
    for _ in range(40):
        points = draw.integers(-3, 4, (200, 2)).astype(float)
        tree = remaining.cKDTree(points)
        search = farthest.Farthest(points, tree.indices)
        alive = np.ones(200, dtype=bool)
        for _ in range(6):
            place = draw.integers(-3, 4, 2) * draw.choice([0.0, 1.0, 100.0])
            apart = np.linalg.norm(points - place, axis=1)
            expected = np.flatnonzero(alive & (apart >= apart[alive].max() * (1 - 1e-10)))
            np.testing.assert_array_equal(np.sort(search.search(place)), expected)
            gone = draw.choice(np.flatnonzero(alive), 20, replace=False)
            search.remove(gone)
            alive[gone] = False
            np.testing.assert_array_equal(search.bounds, search.cells.max(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 3, 8])
def test_a_hundred_thousand_records(d):
    """Sizes, and every record in one group, where the plain algorithm takes a minute."""
    array = np.exp(np.random.default_rng(d).standard_normal((100_000, d)))
    for method in ("mdav", "mu-approx"):
        found = bs.microaggregate(array, 5, method)
        assert found.sizes.min() == 5
        assert found.sizes.max() <= (9 if method == "mdav" else 10)
        assert found.matrix.size == 100_000
