"""Noise: the law of theorem 2, batches, missing entries, and what is refused."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import kstest

import bistochastic as bs
from bistochastic.keystream import Key
from bistochastic.masking.noise import gaussian_noise, normals, perturbation
from tests.many import Many

KEY = Key(bytes(range(32)))
ROWS = 40_000


def correlated():
    """Three columns on different scales, the last of which is confidential."""
    generator = np.random.default_rng(5)
    mix = np.array([[3.0, 0.0, 0.0], [2.0, 40.0, 0.0], [0.5, 0.2, 0.1]])
    return generator.normal(size=(ROWS, 3)) @ mix.T + [10.0, -50.0, 1.0]


@pytest.mark.parametrize("confidential", [False, True])
def test_the_covariances_are_those_of_the_theorem(confidential):
    """X̂ has covariance Σ_X - Σ and so has it with X; errors are Σ (six standard errors)."""
    table = correlated()
    columns, secret = table[:, :2], table[:, 2:]
    plan = perturbation(columns, 0.3, confidential=secret if confidential else None)
    masked = plan.apply(columns, Many(1, size=ROWS))
    before = np.cov(columns.T, bias=True)
    unit = np.sqrt(np.diag(before))
    error = np.cov((columns - masked).T, bias=True) / np.outer(unit, unit)
    after = np.cov(masked.T, bias=True) / np.outer(unit, unit)
    cross = ((masked - masked.mean(0)) / unit).T @ ((columns - columns.mean(0)) / unit) / ROWS
    close = 6 * math.sqrt(2 / ROWS)
    scaled = before / np.outer(unit, unit)
    np.testing.assert_allclose(after, scaled - error, atol=2 * close)
    np.testing.assert_allclose(cross, after, atol=2 * close)
    np.testing.assert_allclose(masked.mean(0) / unit, columns.mean(0) / unit, atol=close)
    assert np.trace(error) / 2 == pytest.approx(0.3, abs=close)
    assert plan.distortion == pytest.approx(0.3, abs=1e-6)
    assert 0 <= plan.gap <= 1e-8


def test_what_is_kept_and_added_fit_together():
    """To the last digits: (I - A) Σ_X = Σ_X - Σ is symmetric, and Σ - Σ Σ_X⁻¹ Σ is added."""
    table = correlated()
    plan = perturbation(table[:, :2], 0.3, confidential=table[:, 2:])
    before = np.cov(table[:, :2].T, bias=True)
    after = plan.kept @ before
    size = np.sqrt(np.outer(np.diag(before), np.diag(before)))
    assert np.abs((after - after.T) / size).max() < 1e-9
    error = before - after
    assert np.trace(error / size) / 2 == pytest.approx(0.3, abs=1e-6)
    added = error - error @ np.linalg.solve(before, error)
    np.testing.assert_allclose((plan.spread @ plan.spread.T) / size, added / size, atol=1e-8)


def test_the_scalar_case_has_its_formula():
    """A convex combination of x and its mean, and noise of variance d(1-d)."""
    column = correlated()[:, 0]
    plan = perturbation(column, 0.4)
    assert plan.kept == pytest.approx(np.array([[0.6]]))
    assert plan.spread**2 == pytest.approx(np.array([[0.24 * column.var()]]))
    assert plan.risk == pytest.approx(-0.5 * math.log(0.4))
    assert plan.gap == 0
    rho = np.corrcoef(correlated()[:, [0, 2]].T)[0, 1]
    known = perturbation(column, 0.4, confidential=correlated()[:, 2])
    assert known.risk == pytest.approx(-0.5 * math.log(1 - 0.6 * rho**2))


def test_full_distortion_publishes_means_only():
    """Nothing is kept, nothing is told."""
    masked = gaussian_noise(np.array([1.0, 2.0, 6.0]), 1, Many(1, size=3))
    np.testing.assert_allclose(masked, 3.0, atol=1e-6)


def test_noise_costs_less_for_the_same_risk_where_it_matters():
    """Knowing what is confidential, the same distortion gives away less of it."""
    table = correlated()
    known = perturbation(table[:, :2], 0.3, confidential=table[:, 2])
    blind = perturbation(table[:, :2], 0.3)
    mixed = np.corrcoef(table.T)
    left = blind.apply(table[:, :2], Many(2, size=ROWS))
    seen = np.corrcoef(np.column_stack((left, table[:, 2])).T)
    told = -0.5 * math.log(np.linalg.det(seen) / np.linalg.det(seen[:2, :2]))
    whole = -0.5 * math.log(np.linalg.det(mixed) / np.linalg.det(mixed[:2, :2]))
    assert known.risk < told - 0.01 < whole


def test_batches_give_the_same_numbers():
    """Each row by its own words and the same additions, to the last bit."""
    table = correlated()[:1000]
    plan = perturbation(table, 0.2)
    names = ("a", "b", "c")
    whole = plan.apply(table, plan.words(KEY, 1000, "2026", names))
    cuts = [0, 1, 2, 333, 700, 1000]
    parts = []
    for start, stop in itertools.pairwise(cuts):

        def words(draw, attempt, cells, start=start, stop=stop):
            return plan.words(KEY, 1000, "2026", names)(draw, attempt, np.arange(start, stop))

        parts.append(plan.apply(table[start:stop], words))
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    np.testing.assert_array_equal(
        whole, gaussian_noise(table, 0.2, KEY, release="2026", names=names)
    )


def test_another_perturbation_has_other_noise():
    """Two releases of one column do not share their normal numbers."""
    column = correlated()[:2000, 0]
    noises = []
    for share in (0.2, 0.3):
        plan = perturbation(column, share)
        masked = gaussian_noise(column, share, KEY, release="2026", names=("a",))
        away = masked - plan.mean - plan.kept[0, 0] * (column - plan.mean)
        noises.append(away / plan.spread[0, 0])
    assert abs(np.corrcoef(noises)[0, 1]) < 6 / math.sqrt(2000)


def test_missing_entries_stay_missing_and_move_nobody_else():
    """A gap counts as the mean for its row; other rows are as they would be."""
    table = correlated()[:500, :2]
    plan = perturbation(table, 0.2)
    gaps = table.copy()
    gaps[7, 0] = np.nan
    masked, whole = (plan.apply(rows, Many(1, size=500)) for rows in (gaps, table))
    assert np.isnan(masked).sum() == 1
    assert np.isnan(masked[7, 0])
    assert np.isfinite(masked[7, 1])
    lacks = plan.kept[1, 0] * (table[7, 0] - plan.mean[0])
    assert masked[7, 1] == pytest.approx(whole[7, 1] - lacks)
    rest = np.arange(500) != 7
    np.testing.assert_array_equal(masked[rest], whole[rest])


def test_normal_numbers_are_normal():
    """Symmetric, in the tails as in the middle; Kolmogorov's test at 1e-9."""
    words = Many(3, size=200_000)(0, 0, None)
    numbers = normals(words)
    assert kstest(numbers, "norm").pvalue > 1e-9
    np.testing.assert_array_equal(normals(words ^ np.uint64(1 << 63)), -numbers)
    assert normals(np.array([0], dtype=np.uint64))[0] == pytest.approx(9.1553, abs=1e-3)
    assert np.isfinite(normals(np.array([2**63 - 1, 2**63, 2**64 - 1], dtype=np.uint64))).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: perturbation([1.0, 2.0, 3.0], 0), "distortion above 0, at most 1"),
        (lambda: perturbation([1.0, 2.0, 3.0], 1.5), "distortion above 0, at most 1"),
        (lambda: perturbation(["a"], 0.5), "needs a numeric column"),
        (lambda: perturbation([], 0.5), "needs a numeric column"),
        (lambda: perturbation([1.0, np.inf], 0.5), "1 infinite values"),
        (lambda: perturbation([2.0, 2.0, 2.0], 0.5), "1 of the columns are constant"),
        (lambda: perturbation([2.0], 0.5), "too few for the covariances"),
        (lambda: perturbation([2.0, np.nan], 0.5), "1 rows have every entry"),
        (
            lambda: perturbation([1.0, 2.0, 4.0], 0.5, confidential=[1.0, 2.0]),
            "confidential columns have 2 rows, the others 3",
        ),
        (
            lambda: perturbation([1.0, 2.0, 4.0], 0.5).apply([[1.0, 2.0]], Many(1)),
            "one of 1 columns; got 2",
        ),
    ],
)
def test_refusals_of_noise(call, message):
    """One readable sentence each, without a value."""
    with pytest.raises(bs.MaskingError, match=message):
        call()
