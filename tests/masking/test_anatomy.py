"""Anatomy: orders that link nothing, classes that are large and diverse, refusals that say why."""

import math
from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.masking.diversity import DIVERSITIES, as_labels, attained
from tests.many import Many

KEY = bs.Key(bytes(range(32)))
SCOPE = bs.Scope(release="r", column="illness", domain=bs.domain_digest(["a", "b"]), matrix=None)


def laid_out(n, lines):
    """Words for n rows: given for some draws, and the row itself for the others."""

    def words(draw, attempt, cells):
        assert attempt == 0
        line = np.array(lines.get(draw, range(n)), dtype=np.uint64)
        return line if cells is None else line[cells]

    return words


labels = st.lists(st.integers(-2, 6), min_size=1, max_size=40)


@given(labels, st.integers(0, 99), st.integers(1, 4))
def test_two_tables_with_the_given_classes(given_classes, column, k):
    """Every record stands once in each table, with its class; nothing of the classes changes."""
    n = len(given_classes)
    if min(Counter(given_classes).values()) < k:
        return
    words = Many(column, size=n)
    tables = bs.anatomy(given_classes, words, k=k)
    for rows, classes in (
        (tables.quasi_rows, tables.quasi_classes),
        (tables.sensitive_rows, tables.sensitive_classes),
    ):
        assert sorted(rows.tolist()) == list(range(n))
        np.testing.assert_array_equal(tables.classes[rows], classes)
    pairs = set(zip(given_classes, tables.classes.tolist(), strict=True))
    assert len(pairs) == len(set(given_classes)) == len({number for _, number in pairs})
    assert sorted(tables.sizes.tolist()) == sorted(Counter(given_classes).values())
    assert (np.diff(tables.classes[tables.order]) >= 0).all()
    assert tables.matrix.bits == pytest.approx(
        sum(size * math.log2(size) for size in Counter(given_classes).values()) / n
    )
    again = bs.anatomy(given_classes, words, k=k)
    for name in ("classes", "quasi_rows", "sensitive_rows"):
        np.testing.assert_array_equal(getattr(tables, name), getattr(again, name))


@pytest.mark.parametrize("varied", ["quasi_rows", "sensitive_rows", "classes"])
def test_orders_and_numbers_are_uniform_and_apart(varied):
    """Over all words of four bits: each order equally often, by a draw that moves nothing else."""
    draw = ["quasi_rows", "sensitive_rows", "classes"].index(varied)
    given_classes = [0, 1, 2, 0, 1, 2]
    size = 3 if varied == "classes" else 6
    seen = Counter()
    for line in permutations(range(16), 3):
        # For six rows the other three words are given: orders of three of them are uniform.
        words = laid_out(6, {draw: [*line, *range(16, 13 + size)]})
        tables = bs.anatomy(given_classes, words, k=2)
        seen[tuple(getattr(tables, varied).tolist())] += 1
        for name in {"quasi_rows", "sensitive_rows", "classes"} - {varied}:
            expected = [0, 1, 2, 0, 1, 2] if name == "classes" else list(range(6))
            assert getattr(tables, name).tolist() == expected
    assert len(seen) == 6
    assert set(seen.values()) == {16 * 15 * 14 // 6}


@pytest.mark.parametrize("held", [(2, 2), (2, 1, 1), (2, 2, 1), (1, 1, 1)])
def test_nothing_but_the_classes_can_be_told_from_the_classes(held):
    """Whatever values the records of the classes may have, it is equally likely to lead to them."""
    values = [value for value, count in enumerate(held) for _ in range(count)]
    n, seen = len(values), {}
    for true in set(permutations(values)):
        for order in permutations(range(n)):
            classes = bs.diverse_classes(true, 2, laid_out(n, {3: order})).tolist()
            told = (tuple(classes), frozenset(Counter(zip(classes, true, strict=True)).items()))
            seen.setdefault(told, Counter())[true] += 1
    for (classes, pairs), counts in seen.items():
        every = {
            true
            for true in set(permutations(values))
            if frozenset(Counter(zip(classes, true, strict=True)).items()) == pairs
        }
        assert set(counts) == every
        assert len(set(counts.values())) == 1


@settings(max_examples=300)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(1, 5), st.integers(0, 9))
def test_classes_are_diverse_whenever_any_are(values, diversity, column):
    """No value twice in a class, at least l records, sizes that differ by one; or a refusal."""
    n, most = len(values), max(Counter(values).values())
    words = Many(column, size=n)
    if most * diversity > n:
        with pytest.raises(bs.MaskingError, match=rf"held by {most} of {n} records, which is more"):
            bs.diverse_classes(values, diversity, words)
        return
    classes = bs.diverse_classes(values, diversity, words)
    sizes = np.bincount(classes)
    assert sizes.min() >= diversity
    assert np.ptp(sizes) <= 1
    assert sizes.size == n // diversity
    assert max(Counter(zip(classes.tolist(), values, strict=True)).values()) == 1
    for kind in DIVERSITIES:
        bs.anatomy(classes, words, k=1, sensitive=values, diversity=diversity, kind=kind)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30),
    st.sampled_from(sorted(DIVERSITIES)),
)
def test_diversity_by_its_definition(records, kind):
    """Of each class, counted by hand; and no classes attain what the whole file does not."""
    classes, codes = (
        np.unique(part, return_inverse=True)[1] for part in zip(*records, strict=True)
    )
    expected = []
    for one in range(classes.max() + 1):
        counts = list(Counter(codes[classes == one].tolist()).values())
        shares = [count / sum(counts) for count in counts]
        expected.append(
            {
                "frequency": 1 / max(shares),
                "distinct": len(shares),
                "entropy": 2 ** -sum(share * math.log2(share) for share in shares),
            }[kind]
        )
    found = attained(classes, codes, kind)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found.min() <= attained(np.zeros_like(codes), codes, kind)[0] * (1 + 1e-12)
    by_frequency, by_entropy, by_count = (
        attained(classes, codes, name) for name in ("frequency", "entropy", "distinct")
    )
    assert (by_frequency <= by_entropy * (1 + 1e-12)).all()
    assert (by_entropy <= by_count * (1 + 1e-12)).all()


@pytest.mark.parametrize("kind", DIVERSITIES)
@pytest.mark.parametrize("many", [2, 3, 7])
def test_diversity_that_is_met_exactly_is_met(kind, many):
    """Of so many values, each equally often, and not of a hair more."""
    values, classes = np.tile(np.arange(many), 6), np.repeat([0, 1], 3 * many)
    words = Many(1, size=6 * many)
    bs.anatomy(classes, words, sensitive=values, diversity=many, kind=kind)
    with pytest.raises(bs.MaskingError, match="No classes are"):
        bs.anatomy(classes, words, sensitive=values, diversity=many + 1e-6, kind=kind)


def test_a_grouping_gives_the_classes():
    """What microaggregation put together is a class; k is that of the grouping or less."""
    found = bs.microaggregate(np.arange(12.0), 3)
    tables = bs.anatomy(found, Many(1, size=12), k=3)
    assert bs.anatomy(found.groups, Many(1, size=12)).classes.tolist() == tables.classes.tolist()
    assert tables.matrix.beta == pytest.approx(math.log2(3) / math.log2(12))
    assert repr(tables) == "Anatomy(12 records, 4 classes of 3 to 3)"
    with pytest.raises(ValueError, match="read-only"):
        tables.classes[0] = 0


def test_the_words_of_a_key_say_everything():
    """One key, one release: the same tables again; another release: other ones."""
    classes = np.arange(300) // 3
    once, again = (
        bs.anatomy(classes, KEY.rows(SCOPE, purpose="anatomy").words(0, 300)) for _ in "ab"
    )
    np.testing.assert_array_equal(once.quasi_rows, again.quasi_rows)
    np.testing.assert_array_equal(once.sensitive_rows, again.sensitive_rows)
    np.testing.assert_array_equal(once.classes, again.classes)
    assert (once.quasi_rows != once.sensitive_rows).any()
    other = bs.Scope(release="s", column="illness", domain=SCOPE.domain, matrix=None)
    elsewhere = bs.anatomy(classes, KEY.rows(other, purpose="anatomy").words(0, 300))
    assert (once.quasi_rows != elsewhere.quasi_rows).any()


def test_labels_may_be_anything_with_an_order():
    """Texts, dates and numbers; NaN is one value like any other."""
    words = Many(4, size=4)
    dates = np.array(["2020-01-01", "2021-01-01", "2020-01-01", "2021-01-01"], dtype="M8[D]")
    for values in (["a", "b", "a", "b"], dates, [1.5, np.nan, 1.5, np.nan], [True, False] * 2):
        classes = bs.diverse_classes(values, 2, words)
        assert np.bincount(classes).tolist() == [2, 2]
        bs.anatomy(classes, words, sensitive=values, diversity=2)


@pytest.mark.parametrize(
    "values",
    [
        np.arange(-100, 100, dtype=np.int8),
        np.arange(0, 256, 2, dtype=np.uint8),
        np.arange(2**64 - 50, 2**64, dtype=np.uint64),
        np.arange(2**63 - 50, 2**63, dtype=np.uint64),
        np.array([2**62, -(2**62), 0]),
        np.array([-5, 7, 7, -5, 6]),
    ],
)
def test_labels_are_numbered_without_a_gap(values):
    """Whole numbers of any width: the same as sorting them gives."""
    np.testing.assert_array_equal(as_labels(values, "x"), np.unique(values, return_inverse=True)[1])


def refused(classes=(0, 0, 1, 1), **settings):
    """An anatomy of four records that is expected to be refused."""
    return bs.anatomy(classes, Many(0, size=4), **settings)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: refused([0, 0, 0, 1]), "1 of 2 classes have fewer than k = 2 records, the smalle"),
        (lambda: refused(k=5), "4 records cannot form a group of k = 5"),
        (lambda: refused(k=0), "whole number k >= 1 of records; got k = 0"),
        (lambda: refused([0.0, 1.0, 1.0, 0.0]), "whole numbers or texts; got floating-point"),
        (lambda: refused([[0, 0], [1, 1]]), r"class labels are one for each record; got shape"),
        (lambda: refused(np.zeros(0, int)), r"got shape \(0,\)"),
        (lambda: refused(np.array([None, "77", "77", 1], object)), "class labels are of several"),
        (lambda: refused(sensitive=[1, 2, 1, 2]), "Give both the sensitive values and"),
        (lambda: refused(diversity=2), "Give both the sensitive values and"),
        (lambda: refused(sensitive=[1, 2, 1], diversity=2), "4 records in classes but 3 sens"),
        (lambda: refused(sensitive=[1, 2, 1, 2], diversity=0.5), "a number, at least 1; got 0.5"),
        (lambda: refused(sensitive=[1, 2, 1, 2], diversity="2"), "at least 1; got '2'"),
        (lambda: bs.anatomy([0, 0], Many(0, size=3)), "2 records but words for 3; give one for"),
        (lambda: bs.diverse_classes([1, 2], 2, Many(0, size=1)), "2 records but words for 1"),
        (lambda: refused(sensitive=[1, 2, 1, 2], diversity=math.nan), "at least 1; got nan"),
        (
            lambda: refused(sensitive=[1, 2, 1, 2], diversity=2, kind="recursive"),
            "one of frequency, distinct, entropy; got 'recursive'",
        ),
        (
            lambda: refused(sensitive=["77", "77", "77", "x"], diversity=2),
            r"No classes are 2-diverse \(frequency\): one sensitive value is held by 3 of 4 record",
        ),
        (
            lambda: refused(sensitive=[77, 77, 77, 1], diversity=3, kind="distinct"),
            r"3-diverse \(distinct\): there are only 2 sensitive values",
        ),
        (
            lambda: refused(sensitive=[77, 77, 77, 1], diversity=2, kind="entropy"),
            "as a whole they are as diverse as 1.755 equally frequent values",
        ),
        (
            lambda: refused(sensitive=[77, 77, 2, 1], diversity=2),
            r"1 of 2 classes are not 2-diverse \(frequency\); the least diverse attains 1. Form",
        ),
        (lambda: bs.diverse_classes([1, 2], 1.5, Many(0, size=2)), "whole number l >= 1; got 1.5"),
        (lambda: bs.diverse_classes([1, 2], True, Many(0, size=2)), "l >= 1; got True"),
        (
            lambda: bs.diverse_classes([[77]], 1, Many(0)),
            "sensitive values are one for each record",
        ),
    ],
)
def test_refusals(call, message):
    """Each says what was found, in counts, and what to do; none quotes a value."""
    with pytest.raises(bs.MaskingError, match=message) as refusal:
        call()
    assert "77" not in str(refusal.value)


def test_small_words_are_refused_where_they_would_tie():
    """Words too small to tell the rows apart."""
    with pytest.raises(bs.ExactnessError, match="8-bit words cannot order 50 places"):
        bs.anatomy(np.arange(100) // 2, Many(0, bits=8, size=100), word_bits=8)
    with pytest.raises(bs.ExactnessError, match="8-bit words cannot order 100 places"):
        bs.diverse_classes(np.arange(100), 2, Many(0, bits=8, size=100), word_bits=8)


def test_ties_are_drawn_again():
    """Small words tie often: the tables are tables all the same."""
    for column, word_bits in product(range(20), (6, 7)):
        words = Many(column, bits=word_bits, size=20)
        tables = bs.anatomy(np.arange(20) // 2, words, word_bits=word_bits)
        assert sorted(tables.quasi_rows.tolist()) == list(range(20))
        classes = bs.diverse_classes(np.arange(20) % 4, 4, words, word_bits=word_bits)
        assert np.bincount(classes).tolist() == [4] * 5
