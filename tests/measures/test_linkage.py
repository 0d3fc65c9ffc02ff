"""Record linkage: against all distances, at both ends, and where ties and gaps make it odd."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.measures import nearest
from bistochastic.measures.attributes import METRICS, Attribute, midranks
from bistochastic.measures.linkage import interval, linkage

TIE = 1e-9


def plain_ranks(column):
    """Ranks from 0 by their definition, equal values sharing the mean of theirs."""
    there = [x for x in column if x == x]
    scale = max(len(there) - 1, 1)
    return [
        (sum(y < x for y in there) + (sum(y == x for y in there) - 1) / 2) / scale
        if x == x
        else None
        for x in column
    ]


def plain_sides(one, scale):
    """Both files of an attribute on the scale, None where there is nothing, and the middle."""
    if one.nominal:
        return one.original.tolist(), one.masked.tolist(), None
    if scale == "ranks":
        return plain_ranks(one.original), plain_ranks(one.masked), 0.5
    there = one.original[one.original == one.original]
    spread = (there.std() if there.size else 0.0) or 1.0
    centre = there.mean() if there.size else 0.0
    sides = (
        [(x - centre) / spread if x == x else None for x in side]
        for side in (one.original.tolist(), one.masked.tolist())
    )
    return (*sides, 0.0)


def plain_distance(placed, i, j, power):
    """The distance of an original and a masked record, attribute by attribute."""
    parts = []
    for before, after, middle in placed:
        x, y = before[i], after[j]
        if middle is None:
            parts.append(float(x != y))
            continue
        gap = (x is None) != (y is None)
        x, y = (middle if v is None else v for v in (x, y))
        parts += [abs(x - y), 0.5 * gap]
    if power == 1:
        return sum(parts)
    return sum(p * p for p in parts) ** 0.5 if power == 2 else max(parts)


def plain_chances(attributes, scale="ranks", metric="euclidean", true=None):
    """The probability of a right link for each record, over all pairs."""
    n, m = attributes[0].original.size, attributes[0].masked.size
    placed = [plain_sides(one, scale) for one in attributes]
    chances = []
    for i in range(n):
        partner = i if true is None else true[i]
        if partner < 0:
            chances.append(np.nan)
            continue
        far = [plain_distance(placed, i, j, METRICS[metric]) for j in range(m)]
        own = far[partner]
        nearer = any(d < own * (1 - TIE) for d in far)
        chances.append(0.0 if nearer else 1 / sum(d <= own * (1 + TIE) for d in far))
    return chances


@st.composite
def files(draw, *, same=True):
    """Attributes of a few records: numbers with gaps and ties, and categories."""
    n = draw(st.integers(1, 12))
    m = n if same else draw(st.integers(1, 12))
    number = st.one_of(st.just(float("nan")), st.integers(0, 4).map(float))
    made = []
    for nominal in draw(st.lists(st.booleans(), min_size=1, max_size=4)):
        cell = st.integers(-1, 2) if nominal else number
        sides = [draw(st.lists(cell, min_size=k, max_size=k)) for k in (n, m)]
        if same and draw(st.booleans()):
            sides[1] = [a if draw(st.booleans()) else b for a, b in zip(*sides, strict=True)]
        kind = np.int64 if nominal else np.float64
        made.append(Attribute.of(*(np.array(side, kind) for side in sides), nominal=nominal))
    return made


@given(files(), st.sampled_from(["ranks", "values"]), st.sampled_from(list(METRICS)))
def test_links_are_those_of_all_distances(attributes, scale, metric):
    """Trees, blocks and the rough look decide as comparing everybody with everybody does."""
    expected = plain_chances(attributes, scale, metric)
    found = linkage(attributes, scale=scale, metric=metric)
    np.testing.assert_allclose(found.chances, expected)
    with mock.patch.object(nearest, "TREE", 0):  # trees at any price
        np.testing.assert_allclose(
            linkage(attributes, scale=scale, metric=metric).chances, expected
        )
    with mock.patch.object(nearest, "TREE", 1 << 40):  # no tree at any price
        np.testing.assert_allclose(
            linkage(attributes, scale=scale, metric=metric).chances, expected
        )


@given(files(same=False), st.data())
def test_records_may_be_missing_and_stand_elsewhere(attributes, data):
    """With other numbers of records each is linked to the row that is said to be its own."""
    n, m = attributes[0].original.size, attributes[0].masked.size
    true = data.draw(st.lists(st.integers(-1, m - 1), min_size=n, max_size=n))
    found = linkage(attributes, true=true)
    np.testing.assert_allclose(found.chances, plain_chances(attributes, true=true))
    assert found.records == sum(row >= 0 for row in true)
    assert found.candidates == m


@given(files(), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(attributes, chance):
    """Both files shuffled alike, or the masked one alone with its partners told: the same links."""
    n = attributes[0].original.size
    order = list(range(n))
    chance.shuffle(order)
    both = [Attribute(a.original[order], a.masked[order], a.nominal) for a in attributes]
    one = [Attribute(a.original, a.masked[order], a.nominal) for a in attributes]
    plain = linkage(attributes)
    np.testing.assert_allclose(linkage(both).chances, plain.chances[order])
    np.testing.assert_allclose(linkage(one, true=np.argsort(order)).chances, plain.chances)


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=30), st.data())
def test_ranks_do_not_mind_increasing_transformations(values, data):
    """A logarithm, another unit, another origin of a column: linkage by ranks stays."""
    other = data.draw(st.permutations(values))
    x, y = np.array(values, float), np.array(other, float)
    bent = [np.exp(x / 9), np.exp(y / 9) * 3 + 2]
    np.testing.assert_allclose(
        linkage([Attribute.of(x, y)]).chances, linkage([Attribute.of(*bent)]).chances
    )


@given(files())
def test_what_is_told_adds_up(attributes):
    """Correct, ambiguous and wrong are all there is, and the interval holds what was found."""
    found = linkage(attributes)
    assert found.correct + found.ambiguous + found.wrong == pytest.approx(1)
    assert found.correct <= found.expected <= found.correct + found.ambiguous + 1e-12
    assert found.low <= found.expected <= found.high
    assert found.baseline == 1 / attributes[0].masked.size


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("scale", ["ranks", "values"])
@pytest.mark.parametrize("nominal", [0, 2])
def test_an_unmasked_file_is_linked_whole(scale, metric, nominal):
    """Of distinct records each is linked, and rightly; of equal ones one in so many."""
    draw = np.random.default_rng(3)
    columns = [Attribute.of(x, x) for x in draw.standard_normal((2, 500))]
    columns += [Attribute.of(x, x, nominal=True) for x in draw.integers(0, 5, (nominal, 500))]
    found = linkage(columns, scale=scale, metric=metric)
    assert (found.correct, found.expected, found.high) == (1.0, 1.0, 1.0)
    twice = [Attribute.of(*2 * [np.tile(a.original, 2)], nominal=a.nominal) for a in columns]
    found = linkage(twice, scale=scale, metric=metric)
    assert (found.ambiguous, found.expected) == (1.0, 0.5)


@pytest.mark.parametrize("scale", ["ranks", "values"])
def test_a_file_in_another_order_is_linked_by_chance(scale):
    """An independent permutation of records leaves 1/n, within the interval told.

    On 200 fixed files; at a level of 1 - 1e-9 a false alarm has a chance of 2e-7.
    """
    draw = np.random.default_rng(5)
    for _ in range(200):
        x = draw.standard_normal((40, 3))
        y = x[draw.permutation(40)]
        columns = [Attribute.of(a, b) for a, b in zip(x.T, y.T, strict=True)]
        found = linkage(columns, scale=scale, level=1 - 1e-9)
        assert found.low <= found.baseline <= found.high


def test_more_noise_means_fewer_links():
    """From a file as it was to one that has forgotten who is who, fewer and fewer are right."""
    draw = np.random.default_rng(7)
    x, noise = draw.standard_normal((2, 1000, 4))
    rates = [
        linkage([Attribute.of(a, a + s * e) for a, e in zip(x.T, noise.T, strict=True)]).expected
        for s in (0, 0.05, 0.2, 0.6, 2)
    ]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == 1
    assert rates[-1] < 0.02


@pytest.mark.parametrize("metric", METRICS)
def test_lists_of_neighbours_are_counted(metric):
    """On a grid everybody has many who are equally near: all of them are counted."""
    x, y = (grid.ravel().astype(float) for grid in np.mgrid[0:12, 0:12])
    shifted = [Attribute.of(x, x + 0.0), Attribute.of(y, 11 - y)]
    expected = plain_chances(shifted, metric=metric)
    np.testing.assert_allclose(linkage(shifted, metric=metric).chances, expected)


def test_the_interval_is_exact():
    """The ends of Clopper and Pearson are where the binomial tails are half of what is left."""
    from scipy.stats import binom

    for hits, n in ((0, 9), (3, 9), (9, 9), (40, 100)):
        low, high = interval(hits / n, n, 0.9)
        assert low == 0 if hits == 0 else binom.sf(hits - 1, n, low) == pytest.approx(0.05)
        assert high == 1 if hits == n else binom.cdf(hits, n, high) == pytest.approx(0.05)


def test_midranks():
    """Equal values share their ranks; of nothing there are none."""
    assert midranks(np.array([])).tolist() == []
    assert midranks(np.array([2.0, 2.0, 1.0])).tolist() == [1.5, 1.5, 0.0]


def test_nobody_in_both_files():
    """Without a single common record there is nothing to be right about."""
    found = linkage([Attribute.of([1, 2], [3.0])], true=[-1, -1])
    assert found.records == 0
    assert np.isnan([found.expected, found.low, found.correct]).all()
    assert "0 records" in repr(found)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: linkage([]), "at least one attribute"),
        (lambda: Attribute.of([[1]], [1]), "one column of numbers or codes"),
        (lambda: Attribute.of(["a"], ["b"]), "one column of numbers or codes"),
        (lambda: Attribute.of([1, np.inf], [1, 2]), "holds 1 infinite numbers"),
        (lambda: Attribute.of([0.5], [1], nominal=True), "whole numbers"),
        (lambda: linkage([Attribute.of([1], [1]), Attribute.of([1, 2], [1])]), "same records"),
        (lambda: linkage([Attribute.of([1, 2], [1])]), "which belong together"),
        (lambda: linkage([Attribute.of([1], [1])], true=[1]), "a masked row, or -1"),
        (lambda: linkage([Attribute.of([1], [1])], true=[0, 0]), "for each of 1 records"),
        (lambda: linkage([Attribute.of([1], [1])], scale="inches"), '"ranks" or by "values"'),
        (lambda: linkage([Attribute.of([1], [1])], metric="taxi"), "one of manhattan"),
        (lambda: linkage([Attribute.of([1], [1])], level=1), "between 0 and 1"),
    ],
)
def test_refusals(call, says):
    """What cannot be linked is refused in words."""
    with pytest.raises(bs.MeasureError, match=says):
        call()
