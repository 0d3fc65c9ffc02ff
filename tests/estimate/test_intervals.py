"""Intervals are Wilson's where shares pass, and wider where a level is higher."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.errors import TableError
from bistochastic.estimate.axes import Axis
from bistochastic.estimate.intervals import around, intervals, possible, quantile
from bistochastic.estimate.shares import estimated
from bistochastic.estimate.tally import Tally
from bistochastic.testing import structures


def wilson(count, n, z):
    """Wilson's interval of 1927, written out."""
    share = count / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return middle - half, middle + half


@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from([0.8, 0.95, 0.99]))
def test_of_what_passes_the_score_interval_is_wilsons(yes, no, level):
    """Its width is that of n - 1 rows, as the variance is the unbiased one."""
    assume(yes + no > 1)
    found = estimated(Tally.from_table(np.array([yes, no])), [Axis.passing(2)])
    low, high = intervals(found, level=level)
    n, z = yes + no, quantile(level)
    z *= np.sqrt(n / (n - 1))  # so that z²/n is z²/(n-1)
    np.testing.assert_allclose([low[0], high[0]], wilson(yes, n, z), atol=1e-9)


@given(st.data())
def test_of_a_mixture_it_is_wilsons_of_the_report(data):
    """Transformed as the report is: the least and the greatest share that reports allow."""
    n = data.draw(st.integers(2, 6))
    matrix = bs.Mixture(n, truth=data.draw(st.sampled_from([0.5, 0.9])))
    assume(matrix.condition < 1e3)
    counts = np.array(data.draw(st.lists(st.integers(0, 30), min_size=n, max_size=n)))
    counts[0] += 2
    found = estimated(Tally.from_table(counts), [Axis.of(matrix)])
    low, high = intervals(found)
    rows = counts.sum()
    reported = wilson(counts, rows, quantile(0.95) * np.sqrt(rows / (rows - 1)))
    told = [(end - matrix.lie) / (matrix.truth - matrix.lie) for end in reported]
    np.testing.assert_allclose([low, high], told, atol=1e-9)


@settings(max_examples=60)
@given(st.data())
def test_limits_are_in_order_and_nested(data):
    """They hold the estimate where it is possible, and those of a higher level hold them."""
    matrix = data.draw(structures(st.integers(1, 5)))
    assume(matrix.condition < 1e3)
    counts = np.array(data.draw(st.lists(st.integers(0, 30), min_size=matrix.size,
                                         max_size=matrix.size)))  # fmt: skip
    counts[0] += 2
    for variance in ("sample", "file"):
        found = estimated(Tally.from_table(counts), [Axis.of(matrix)], variance=variance)
        for kind in ("score", "normal"):
            one = intervals(found, kind=kind, variance=variance)
            more = intervals(found, kind=kind, variance=variance, level=0.99)
            assert (one.low <= one.high + 1e-12).all()
            inside = (found.estimate >= 0) & (found.estimate <= 1)
            assert (one.low <= found.estimate + 1e-9)[inside].all()
            assert (found.estimate <= one.high + 1e-9)[inside].all()
            # A file's hypothesised variance may be negative; then the interval is its middle.
            if variance == "sample" or kind == "normal":
                assert (more.low <= one.low + 1e-9).all()
                assert (one.high <= more.high + 1e-9).all()


def test_both_kinds_agree_where_many_were_asked():
    """With a million rows and no small cell there is no difference that matters."""
    found = estimated(Tally.from_table(np.array([600_000, 400_000])), [Axis.of(bs.Mixture(2, 0.8))])
    for one, other in zip(intervals(found), intervals(found, kind="normal"), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-6)


def test_weights_count_as_fewer_rows():
    """With weights of one nothing changes; with unequal ones intervals are wider."""
    counts = np.array([60, 40])
    cells, axes = np.arange(2), [Axis.of(bs.Mixture(2, truth=0.8))]
    plain = intervals(estimated(Tally((2,), cells, counts), axes))
    ones = Tally((2,), cells, counts, counts * 1.0, counts * 1.0)
    same = intervals(estimated(ones, axes))
    np.testing.assert_allclose([plain.low, plain.high], [same.low, same.high], atol=1e-12)
    uneven = Tally((2,), cells, counts, counts * 1.0, counts * 4.0)
    wider = intervals(estimated(uneven, axes))
    assert (wider.high - wider.low > 1.8 * (plain.high - plain.low)).all()


def test_limits_that_are_possible():
    """Between zero and one, and as far as an estimate in the simplex."""
    low, high = possible(intervals(
        estimated(Tally.from_table(np.array([0, 100])), [Axis.of(bs.Mixture(2, truth=0.8))])
    ))  # fmt: skip
    assert (low[0], high[0]) == (0.0, 0.0)
    best = np.array([0.1, 0.9])
    assert around(possible(intervals(
        estimated(Tally.from_table(np.array([0, 100])), [Axis.of(bs.Mixture(2, truth=0.8))])
    )), best).high[0] == 0.1  # fmt: skip


def test_the_only_cell_holds_everybody():
    """A channel that hides everything leaves one sum, which is certain."""
    found = estimated(Tally.from_table(np.array([3, 4])), [Axis.of(bs.secrecy(2))])
    assert [end.tolist() for end in intervals(found)] == [[1.0], [1.0]]


@pytest.mark.parametrize("level", [0, 1, 1.2, -0.5, float("nan")])
def test_a_level_is_a_probability(level):
    """Nothing else is one."""
    with pytest.raises(TableError, match="between 0 and 1"):
        quantile(level)


def test_the_quantile():
    """The number that everybody knows."""
    assert quantile(0.95) == pytest.approx(1.959963984540054, rel=1e-12)
