"""Permuted privacy: against the definition, record by record, and as a subject would check it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import bistochastic as bs
from bistochastic.measures.permuted import own_privacy, permuted_privacy, records_failing
from bistochastic.measures.ranking import Groups
from bistochastic.measures.windows import CRITERIA, Sorted


@st.composite
def files(draw):
    """A column before and after masking."""
    elements = st.integers(-3, 3)
    n = draw(st.integers(1, 9))
    return draw(arrays(np.int64, n, elements=elements)), draw(
        arrays(np.int64, n, elements=elements)
    )


def in_order(values):
    """A column as windows look at it."""
    return Sorted.of(values, Groups.of(values))


def closest(x, ordered):
    """The masked values closest to x: one, or two that are equally close."""
    least = min(abs(ordered - x))
    return sorted({y for y in ordered if abs(y - x) == least})


def ranks(y, ordered):
    """All ranks of a value."""
    return [rank for rank, value in enumerate(ordered) if value == y]


def diversity(window, ordered, criterion):
    """By its definition, from the values themselves."""
    shares = np.array([(window == value).mean() for value in sorted(set(ordered))])
    if criterion == "variance":
        return window.var()
    if criterion == "distinct":
        return len(set(window))
    if criterion == "entropy":
        held = shares[shares > 0]
        return 2.0 ** -(held * np.log2(held)).sum()
    whole = np.array([(ordered == value).mean() for value in sorted(set(ordered))])
    return abs(np.cumsum(shares - whole)).sum() / max(len(whole) - 1, 1)


def windows(x, ordered, d):
    """The masked values within d ranks of the closest ones, from the middle of their ranks."""
    for y in closest(x, ordered):
        held = ranks(y, ordered)
        middle = held[(len(held) - 1) // 2]
        yield ordered[max(middle - d, 0) : middle + d + 1]


@given(files())
def test_distances_follow_the_definition(file):
    """The least number of ranks between one's own masked value and the closest one."""
    x, y = file
    ordered = np.sort(y)
    told = permuted_privacy(x, y)
    wanted = [
        min(
            abs(one - other)
            for near in closest(mine, ordered)
            for one in ranks(near, ordered)
            for other in ranks(own, ordered)
        )
        for mine, own in zip(x, y, strict=True)
    ]
    assert told.distances.tolist() == wanted


@given(files(), st.integers(0, 5), st.sampled_from(CRITERIA))
def test_diversities_follow_the_definition(file, d, criterion):
    """Of every window, from its values; of two equally close ones the less diverse."""
    x, y = file
    ordered = np.sort(y)
    worst = max if criterion == "closeness" else min
    wanted = [worst(diversity(w, ordered, criterion) for w in windows(v, ordered, d)) for v in x]
    found = permuted_privacy(x, y).diversities(d, criterion)
    assert found == pytest.approx(np.array(wanted, dtype=float), abs=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_windows_of_a_longer_column(criterion):
    """Few values and many, at every place of a column of 300."""
    generator = np.random.default_rng(4)
    for values in (generator.integers(0, 12, 300), generator.lognormal(8, 2, 300).round()):
        ordered = np.sort(values)
        low = generator.integers(0, 299, 60)
        high = np.minimum(low + 1 + generator.integers(0, 80, 60), 300)
        wanted = [
            diversity(ordered[a:b], ordered, criterion) for a, b in zip(low, high, strict=True)
        ]
        found = in_order(values).diversity(low, high, criterion)
        assert found == pytest.approx(np.array(wanted, dtype=float), rel=1e-9, abs=1e-9)


def test_variance_far_from_zero():
    """A hundred million and a little: the little is not lost."""
    values = 1e8 + np.array([0.0, 1.0, 2.0, 3.0])
    found = in_order(values).diversity(np.array([0, 1]), np.array([2, 4]), "variance")
    assert found == pytest.approx([0.25, 2 / 3], rel=1e-6)


@given(files(), st.integers(0, 4), st.floats(0, 3), st.sampled_from(CRITERIA))
def test_who_fails_is_who_falls_short(file, d, v, criterion):
    """Row numbers, shares and verdicts are of the same records."""
    told = permuted_privacy(*file)
    diverse = told.diversities(d, criterion)
    short = diverse > v if criterion == "closeness" else diverse <= v
    failing = np.flatnonzero((told.distances < d) | short)
    assert told.failing(d, v, criterion).tolist() == failing.tolist()
    n = told.rows.size
    assert told.holds(d, v, criterion=criterion) == (failing.size == 0)
    assert told.holds(d, v, share=1 - failing.size / n, criterion=criterion)
    if failing.size:
        assert not told.holds(d, v, share=1 - (failing.size - 1) / n, criterion=criterion)


@given(files(), st.integers(1, 9))
def test_what_a_share_attains(file, k):
    """The largest d, and v, that so many records reach: they do, and not with more."""
    told = permuted_privacy(*file)
    n = told.rows.size
    share = min(k, n) / n
    d = int(told.distance(share))
    assert told.holds(d, share=share)
    assert not told.holds(d + 1, share=share)
    v = float(told.diversity(2, share, "variance"))
    assert (told.diversities(2) >= v).mean() >= share - 1e-12
    assert (told.diversities(2) > v).mean() < share
    t = float(told.diversity(2, share, "closeness"))
    assert (told.diversities(2, "closeness") <= t).mean() >= share - 1e-12


@given(files(), st.integers(0, 3), st.sampled_from(CRITERIA))
def test_a_subject_finds_the_same(file, d, criterion):
    """From her own value, her released record and what was released, no other original."""
    x, y = file
    told = permuted_privacy(x, y)
    for row in range(x.size):
        mine = own_privacy(x[row], row, y)
        assert mine.distances.tolist() == [told.distances[row]]
        assert mine.diversities(d, criterion) == told.diversities(d, criterion)[row]
        assert mine.failing(d, 0.5).tolist() == [r for r in told.failing(d, 0.5) if r == row]


def test_an_unmasked_file_has_none():
    """Every value is its own closest; a permutation is as far as it moves."""
    x = np.arange(10.0)
    assert permuted_privacy(x, x).distance() == 0
    assert permuted_privacy(x, np.roll(x, 5)).distance() == 5
    assert permuted_privacy(x, np.full(10, 3.0)).distance() == 0


def test_missing_values_are_counted_and_released_ones_stay():
    """A value that was filled in is there to be met, though nobody links by it."""
    told = permuted_privacy([1, np.nan, 3, 4], [3, 2, 1, np.nan])
    assert told.rows.tolist() == [0, 2]
    assert told.distances.tolist() == [2, 2]  # over 1, 2, 3, the filled in 2 too
    assert (told.blanks.suppressed, told.blanks.filled) == (1, 1)


def test_several_columns_fail_together():
    """A record fails if it does in one of the columns that are asked."""
    one = permuted_privacy([1, 2, 3, 4], [3, 4, 2, 1])
    two = permuted_privacy([1, 2, 3, 4], [1, 4, 3, 2])
    assert records_failing({"a": one, "b": two}, {"a": 2}).tolist() == [2]
    assert records_failing({"a": one, "b": two}, {"a": 2, "b": 1}).tolist() == [0, 2]
    assert records_failing({"a": one}, {"a": 1}, {"a": 0.5}).tolist() == [0, 3]


def test_dates_are_close_to_dates():
    """Days and seconds are brought to one unit."""
    days = np.array(["2020-01-01", "2020-01-05"], dtype="datetime64[D]")
    told = permuted_privacy(days, days[::-1].astype("datetime64[s]"))
    assert told.distances.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: permuted_privacy(["a"], ["b"]), "texts, which are neither close nor far"),
        (lambda: permuted_privacy([1], np.array(["2020"], "M8[D]")), "close to dates only"),
        (lambda: permuted_privacy([1], [1]).failing(-1, 1), "not negative; got -1"),
        (lambda: permuted_privacy([1], [1]).failing(1, 1, "range"), "entropy, closeness; got 'r"),
        (lambda: permuted_privacy([1], [1]).distance(1.5), "between 0 and 1"),
        (lambda: own_privacy(1, 3, [1, 2]), "2 released records; row 3"),
        (lambda: records_failing({"a": permuted_privacy([1], [1])}, {"b": 1}), r"not of \['b'\]"),
        (lambda: records_failing({"a": permuted_privacy([1], [1])}, {}), "not of none"),
    ],
)
def test_what_cannot_be_asked_is_refused(attempt, message):
    """Each refusal says what was found."""
    with pytest.raises(bs.MeasureError, match=message):
        attempt()
