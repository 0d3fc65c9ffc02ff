"""Errors of several estimates go together as the dispersion matrix says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.errors import TooLargeError
from bistochastic.estimate.axes import Axis
from bistochastic.estimate.dispersion import dispersed, scores, sums
from bistochastic.estimate.shares import estimated
from bistochastic.estimate.tally import Tally
from tests.estimate.dense import inverse
from tests.estimate.test_shares import VARIANCES, sides, tables


@settings(max_examples=60)
@given(st.data())
def test_the_matrix_is_that_of_the_formula(data):
    """Sample and file, multiplied out; its diagonal is what shares say, its rows sum to zero."""
    axes = data.draw(sides())
    table = data.draw(tables(axes))
    tally, undone, n = Tally.from_table(table), inverse(axes), table.sum()
    reported = table.ravel() / n
    estimate = undone @ reported
    each = (undone * reported) @ undone.T
    wanted = {
        "sample": (each - np.outer(estimate, estimate)) / (n - 1),
        "file": (each - np.diag(estimate)) / n,
    }
    for variance in VARIANCES:
        found = dispersed(tally, axes, variance=variance)
        scale = 1e-8 * (1 + np.abs(each).max())
        np.testing.assert_allclose(found, wanted[variance], atol=scale)
        np.testing.assert_allclose(found, found.T, atol=scale)
        np.testing.assert_allclose(found.sum(axis=0), 0, atol=scale * table.size)
        told = estimated(tally, axes, variance=variance).variance
        np.testing.assert_allclose(np.maximum(np.diag(found), 0), told, atol=scale)
    assert np.linalg.eigvalsh(dispersed(tally, axes)).min() > -scale * table.size


@settings(max_examples=60)
@given(st.data())
def test_sums_are_sums(data):
    """The covariance of any sums of cells is that which the dispersion matrix gives them."""
    axes = data.draw(sides())
    tally = Tally.from_table(data.draw(tables(axes)))
    if data.draw(st.booleans()):
        tally = Tally(tally.sizes, tally.cells, tally.counts, tally.counts * 0.5,
                      tally.counts * np.arange(1, tally.cells.size + 1))  # fmt: skip
    cells = np.array(data.draw(st.lists(st.integers(-1, 1), min_size=2 * tally.size,
                                        max_size=2 * tally.size)), float)  # fmt: skip
    wanted = cells.reshape(2, -1)
    for variance in VARIANCES:
        found = sums(tally, axes, wanted.reshape(2, *tally.sizes), variance=variance)
        matrix = dispersed(tally, axes, variance=variance)
        scale = 1e-8 * (1 + np.abs(matrix).max())
        np.testing.assert_allclose(found.covariance, wanted @ matrix @ wanted.T, atol=scale)
        estimate = estimated(tally, axes).estimate
        np.testing.assert_allclose(found.estimate, wanted @ estimate, atol=1e-8)


def test_levels_are_summed():
    """The dispersion of a coarser table is that of the finer, added up."""
    channel = bs.Tridiagonal([0.1, 0.2, 0.1])
    tally = Tally.from_table(np.array([40, 30, 20, 10]))
    fine = dispersed(tally, [Axis.of(channel)])
    coarse = dispersed(tally, [Axis.of(channel, levels=np.array([0, 0, 1, 1]))])
    add = np.array([[1, 1, 0, 0], [0, 0, 1, 1]])
    np.testing.assert_allclose(coarse, add @ fine @ add.T, atol=1e-12)


def test_what_is_too_large_is_refused():
    """Beyond two thousand cells there is no matrix; beyond what is laid out, no sum."""
    axes = [Axis.of(bs.Mixture(50, truth=0.5))] * 2
    with pytest.raises(TooLargeError, match="up to 2000"):
        dispersed(Tally.of([50, 50], np.arange(9)), axes)
    huge = [Axis.of(bs.Mixture(2000, truth=0.5))] * 2
    with pytest.raises(TooLargeError, match="too many at once"):
        scores(Tally.of([2000, 2000], np.arange(9)), huge, np.ones((1, 1)))


def test_one_row_has_no_covariance():
    """Nothing is known of the errors of a sample of one."""
    tally = Tally.from_table(np.array([1, 0]))
    assert np.isnan(dispersed(tally, [Axis.of(bs.Mixture(2, truth=0.8))])).all()
