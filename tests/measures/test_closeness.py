"""Classical models: against their definitions, class by class, in plain Python."""

import math
from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.measures import classes as rooms
from bistochastic.measures.classes import Classes, Table, as_codes
from bistochastic.measures.closeness import anonymity, closeness
from bistochastic.measures.distances import ratio, total_variation, wasserstein
from bistochastic.measures.information import chance_information, information


@st.composite
def files(draw):
    """Keys and a sensitive attribute of a few records, and how many values it may have."""
    n, size = draw(st.integers(1, 25)), draw(st.integers(1, 6))
    keys = [
        draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n))
        for _ in range(draw(st.integers(1, 3)))
    ]
    sensitive = draw(st.lists(st.integers(0, size - 1), min_size=n, max_size=n))
    return keys, sensitive, size


def grouped(keys, sensitive):
    """The sensitive values of each class."""
    held = {}
    for key, value in zip(zip(*keys, strict=True), sensitive, strict=True):
        held.setdefault(key, []).append(value)
    return held


def shares(values, size):
    """A distribution as a list."""
    counts = Counter(values)
    return [counts[value] / len(values) for value in range(size)]


@given(files())
def test_sizes_of_classes(file):
    """k, uniques, and how many are in classes that are too small."""
    keys, sensitive, _ = file
    sizes = sorted(len(values) for values in grouped(keys, sensitive).values())
    found = anonymity(keys)
    assert sorted(found.classes.sizes.tolist()) == sizes
    assert found.k == sizes[0]
    assert found.uniques == sizes.count(1)
    assert found.mean == pytest.approx(np.mean(sizes))
    for k in (1, 2, 4):
        assert found.below(k) == sum(size for size in sizes if size < k)
    own = sorted(size for size in sizes for _ in range(size))
    for share in (0.0, 0.3, 0.5, 1.0):
        place = max(math.ceil(share * len(own) - 1e-9) - 1, 0)
        assert found.quantile(share) == own[place]


@given(files(), st.booleans())
def test_every_model_is_its_definition(file, ordered):
    """The worst class by t in both senses, ratio, delta, distinct, entropy and recursive l."""
    keys, sensitive, size = file
    classes = list(grouped(keys, sensitive).values())
    p = shares(sensitive, size)
    found = closeness(anonymity(keys), sensitive, ordered=True, size=size)
    qs = [shares(values, size) for values in classes]
    assert found.total_variation == pytest.approx(max(total_variation(q, p) for q in qs))
    if size > 1:
        expected = max(wasserstein(q, p, normalised=True) for q in qs)
        assert found.ordered_distance == pytest.approx(expected, abs=1e-12)
    assert found.ratio == pytest.approx(max(ratio(q, p) for q in qs))
    logs = [abs(math.log(b / a)) for q in qs for a, b in zip(p, q, strict=True) if b > 0]
    assert found.delta == pytest.approx(max(logs), abs=1e-12)
    assert found.distinct == min(len(set(values)) for values in classes)
    bits = [-sum(a * math.log2(a) for a in q if a > 0) for q in qs]
    assert found.entropy == pytest.approx(2 ** min(bits))
    assert found.frequency == pytest.approx(1 / max(map(max, qs)))
    for diversity in (2, 3):
        tops = [sorted(Counter(values).values(), reverse=True) for values in classes]
        cs = [top[0] / rest if (rest := sum(top[diversity - 1 :])) else math.inf for top in tops]
        assert found.recursive(diversity) == pytest.approx(max(cs))
    chosen = closeness(anonymity(keys), sensitive, ordered=ordered, size=size)
    assert chosen.t == (found.ordered_distance if ordered else found.total_variation)


@given(files(), st.randoms(use_true_random=False))
def test_neither_order_nor_names_matter(file, chance):
    """Rows shuffled, keys in another order and under other codes: the same numbers."""
    keys, sensitive, size = file
    order = list(range(len(sensitive)))
    chance.shuffle(order)
    other = [[7 * key[row] + 50 for row in order] for key in reversed(keys)]
    moved = [sensitive[row] for row in order]
    one, two = (
        closeness(anonymity(k), s, ordered=True, size=size)
        for k, s in ((keys, sensitive), (other, moved))
    )
    for name in ("t", "ratio", "delta", "entropy", "distinct"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), abs=1e-12)
    assert one.information.plug_in == pytest.approx(two.information.plug_in, abs=1e-12)


@given(files(), st.data())
def test_what_is_missing_stands_behind_all_values_that_there_can_be(file, data):
    """A missing value is a value of its own at the end, whether or not the last ones occur."""
    keys, sensitive, size = file
    gaps = data.draw(st.lists(st.booleans(), min_size=len(sensitive), max_size=len(sensitive)))
    coded = [-1 if gap else code for gap, code in zip(gaps, sensitive, strict=True)]
    told = [size if gap else code for gap, code in zip(gaps, sensitive, strict=True)]
    one, two = (closeness(anonymity(keys), s, ordered=True, size=size) for s in (coded, told))
    assert one.t == pytest.approx(two.t, abs=1e-12)


@given(files())
def test_counting_and_sorting_agree(file):
    """Whether numbers are few enough to be counted changes nothing."""
    keys, sensitive, size = file
    counted = closeness(anonymity(keys), sensitive, ordered=True, size=size)
    with mock.patch.object(rooms, "DENSE", 0), mock.patch.object(rooms, "FOLDED", 3):
        ordered = closeness(anonymity(keys), sensitive, ordered=True, size=size)
        assert anonymity(keys).k == counted.table.classes.sizes.min()
    for name in ("t", "ratio", "delta", "entropy", "frequency"):
        assert getattr(counted, name) == pytest.approx(getattr(ordered, name), abs=1e-12)


@given(files())
def test_information_is_its_definition(file):
    """The plug-in value from shares, its correction and its whole; nothing leaves its range."""
    keys, sensitive, _ = file
    n, classes = len(sensitive), grouped(keys, sensitive)
    totals = Counter(sensitive)
    gain = sum(
        count / n * math.log2(count * n / (len(values) * totals[value]))
        for values in classes.values()
        for value, count in Counter(values).items()
    )
    found = closeness(anonymity(keys), sensitive).information
    assert found.plug_in == pytest.approx(max(gain, 0), abs=1e-12)
    cells = sum(len(set(values)) for values in classes.values())
    degrees = cells - len(classes) - len(totals) + 1
    whole = -sum(c / n * math.log2(c / n) for c in totals.values())
    corrected = gain - degrees / (2 * n * math.log(2))
    assert found.corrected == pytest.approx(min(max(corrected, 0), whole), abs=1e-12)
    assert found.whole == pytest.approx(whole)
    assert -1e-12 <= found.chance <= whole + 1e-9
    assert found.error >= 0


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.lists(st.integers(0, 2), min_size=7, max_size=7),
)
def test_the_level_of_chance_is_a_mean_over_all_orders(sizes, values):
    """Values dealt out in every order there is show that information on average."""
    from itertools import permutations

    n = min(sum(sizes), 6)
    key = np.repeat(np.arange(len(sizes)), sizes)[:n]
    values = values[:n]
    classes = Classes.of([key])
    orders = set(permutations(values))
    mean = np.mean([information(Table.of(classes, order)).plug_in for order in orders])
    totals = np.array(list(Counter(values).values()))
    assert chance_information(classes.sizes, totals) == pytest.approx(mean, abs=1e-10)


def test_the_level_of_chance_of_a_large_file():
    """Where every record is alone it is all there is; in one class it is nothing."""
    totals = np.array([300_000, 500_000, 200_000])
    whole = -sum(t / 1e6 * math.log2(t / 1e6) for t in totals)
    alone = chance_information(np.ones(10**6, dtype=np.int64), totals)
    assert alone == pytest.approx(whole, rel=1e-9)
    assert chance_information(np.array([10**6]), totals) == pytest.approx(0, abs=1e-9)
    # Many large classes: (r - 1)(c - 1)/2n ln 2, the law of large samples.
    classes = np.full(100, 10_000)
    expected = 99 * 2 / (2 * 10**6 * math.log(2))
    assert chance_information(classes, totals) == pytest.approx(expected, rel=1e-3)


def test_textbook_t_closeness():
    """Salaries of 3k to 11k in three classes, as Li, Li and Venkatasubramanian print them."""
    salaries = np.array([3, 4, 5, 6, 11, 8, 7, 9, 10]) - 3
    keys = [[0, 0, 0, 1, 1, 1, 2, 2, 2]]
    found = closeness(anonymity(keys), salaries, ordered=True)
    assert found.by_class("ordered_distance").round(3).tolist() == [0.375, 0.167, 0.236]
    other = closeness(anonymity([[0, 1, 0, 1, 1, 2, 2, 2, 0]]), salaries, ordered=True)
    assert other.t < found.t


def test_missing_values_are_values():
    """Missing keys make classes, and a missing sensitive value is one more."""
    assert anonymity([[-1, -1, 0]]).classes.count == 2
    assert closeness(anonymity([[0, 0]]), [-1, 3]).distinct == 2
    assert as_codes([-1, 4], "key").tolist() == [5, 4]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: anonymity([]), "at least one key"),
        (lambda: anonymity([np.zeros(0, int)]), "no record"),
        (lambda: anonymity([[1, 2], [1]]), "lengths differ"),
        (lambda: anonymity([[-2]]), "with -1 for missing"),
        (lambda: anonymity([["a"]]), "one line of codes"),
        (lambda: closeness(anonymity([[1]]), [1, 2]), "2 with a sensitive value"),
        (lambda: closeness(Classes.of([np.zeros(0, int)]), np.zeros(0, int)), "nothing to measure"),
        (lambda: closeness(anonymity([[1]]), [1]).recursive(1), "whole l >= 2"),
        (lambda: closeness(anonymity([[1]]), [1]).ordered_distance, "without an order"),
        (lambda: closeness(anonymity([[1]]), [1]).by_class("s"), "there are distinct"),
    ],
)
def test_refusals(call, says):
    """What cannot be measured is refused in words."""
    with pytest.raises(bs.MeasureError, match=says):
        call()


def test_they_say_what_they_are():
    """A glance at the objects tells what was found."""
    found = anonymity([[0, 0, 1]])
    assert repr(found) == "<Anonymity k = 1: 3 records in 2 classes, 1 alone>"
    assert "ordered" in repr(closeness(found, [0, 1, 2], ordered=True))
