"""The test of independence is Pearson's where nothing is hidden, and keeps its level elsewhere."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import bistochastic as bs
from bistochastic.errors import TableError
from bistochastic.estimate.axes import Axis
from bistochastic.estimate.independence import independence
from bistochastic.estimate.tally import Tally

TABLE = np.array([[300, 120, 80], [60, 100, 90]])


def test_of_columns_that_passed_it_is_pearsons():
    """To the last digit that matters."""
    found = independence(Tally.from_table(TABLE), [Axis.passing(2), Axis.passing(3)], (2, 3))
    wanted = chi2_contingency(TABLE, correction=False)
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-9)
    assert found.freedom == wanted.dof
    assert found.p_value == pytest.approx(wanted.pvalue, rel=1e-6)


def test_of_columns_masked_apart_it_is_pearsons_of_the_reports():
    """Independent masking keeps what is independent so: both tests ask the same of the reports."""
    axes = [Axis.of(bs.Mixture(2, truth=0.8)), Axis.of(bs.diffusion(path=3, time=0.2))]
    found = independence(Tally.from_table(TABLE), axes, (2, 3))
    wanted = chi2_contingency(TABLE, correction=False)
    assert found.statistic == pytest.approx(wanted.statistic, rel=1e-6)


def test_of_columns_masked_together_pearsons_would_be_wrong():
    """A joint mixture makes independent columns look dependent; the test sees through it."""
    matrix = bs.Mixture(6, truth=0.6)
    true = np.outer([0.8, 0.2], [0.6, 0.3, 0.1])
    counts = np.rint(20_000 * matrix.rmatvec(true.ravel())).astype(int)
    found = independence(Tally.from_table(counts), [Axis.of(matrix)], (2, 3))
    assert found.statistic < 0.1
    assert chi2_contingency(counts.reshape(2, 3)).pvalue < 1e-6


def test_weights_of_one_change_little():
    """With weights the spread is that of the sample, which is near that of independence."""
    counts = TABLE.ravel()
    axes = [Axis.of(bs.Mixture(2, truth=0.9)), Axis.passing(3)]
    plain = independence(Tally((2, 3), np.arange(6), counts), axes, (2, 3))
    ones = Tally((2, 3), np.arange(6), counts, counts * 1.0, counts * 1.0)
    weighed = independence(ones, axes, (2, 3))
    assert weighed.statistic == pytest.approx(plain.statistic, rel=0.2)
    double = Tally((2, 3), np.arange(6), counts, counts * 1.0, counts * 2.0)
    assert independence(double, axes, (2, 3)).statistic == pytest.approx(weighed.statistic / 2)


def test_levels_that_are_sums():
    """Of a group of which two columns were asked, the reports themselves give the spread."""
    matrix = bs.diffusion(path=8, time=0.1)
    levels = np.repeat(np.arange(4), 2)
    tally = Tally.from_table(np.array([300, 100, 100, 90, 110, 80, 120, 300]))
    found = independence(tally, [Axis.of(matrix, levels=levels)], (2, 2))
    assert found.freedom == 1
    assert found.p_value < 1e-6


def test_an_empty_row_takes_its_freedom_with_it():
    """A label that nobody has tells nothing of dependence."""
    table = np.vstack([TABLE, [0, 0, 0]])
    found = independence(Tally.from_table(table), [Axis.passing(3), Axis.passing(3)], (3, 3))
    assert found.freedom == 2
    assert found.statistic == pytest.approx(chi2_contingency(TABLE).statistic, rel=1e-9)


def test_a_single_level_is_refused():
    """Nothing depends on what is always the same."""
    tally = Tally.from_table(np.array([[3, 4]]))
    with pytest.raises(TableError, match="at least two levels"):
        independence(tally, [Axis.passing(1), Axis.passing(2)], (1, 2))
