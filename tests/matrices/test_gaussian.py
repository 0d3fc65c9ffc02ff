"""The error covariance of least risk: formulas, certificates and what lies within the limits."""

import math

import numpy as np
import pytest

import bistochastic as bs
from bistochastic.matrices.gaussian import least_risk


def joint(columns, confidential, number):
    """A random joint covariance, in parts."""
    root = np.random.default_rng(number).normal(size=(columns + confidential, 2 * columns + 2))
    whole = root @ root.T
    return whole[:columns, :columns], whole[columns:, columns:], whole[columns:, :columns]


def risk_of(error, covariance, confidential, cross):
    """I(W; X̂) from the determinants of the theorem."""
    back = cross @ np.linalg.inv(covariance)
    left = confidential - cross @ back.T + back @ error @ back.T
    return 0.5 * (np.linalg.slogdet(confidential)[1] - np.linalg.slogdet(left)[1])


@pytest.mark.parametrize("share", [0.001, 0.05, 0.3, 0.8])
@pytest.mark.parametrize(("columns", "confidential"), [(2, 1), (3, 2), (4, 4), (6, 1), (3, 5)])
def test_the_risk_is_certified_and_the_limits_kept(columns, confidential, share):
    """0 ⪯ Σ ⪯ Σ_X, tr Σ ≤ D, the risk is that of Σ, and the gap is small."""
    x, w, cross = joint(columns, confidential, columns * 10 + confidential)
    best = least_risk(x, share * np.trace(x), confidential=w, cross=cross)
    assert best.distortion == pytest.approx(np.trace(best.covariance))
    assert best.distortion <= share * np.trace(x) * (1 + 1e-9)
    assert np.linalg.eigvalsh(best.covariance)[0] >= -1e-9
    assert np.linalg.eigvalsh(x - best.covariance)[0] >= -1e-9
    assert best.risk == pytest.approx(risk_of(best.covariance, x, w, cross), abs=1e-7)
    assert 0 <= best.gap <= 5e-9


@pytest.mark.parametrize("number", range(5))
def test_nobody_does_better(number):
    """Hundreds of other covariances within the limits give away more, up to the gap."""
    x, w, cross = joint(3, 2, number)
    budget = 0.2 * np.trace(x)
    best = least_risk(x, budget, confidential=w, cross=cross)
    root = np.linalg.cholesky(x)
    generator = np.random.default_rng(number)
    for _ in range(300):
        turn = np.linalg.qr(generator.normal(size=(3, 3)))[0]
        error = root @ (turn * generator.random(3)) @ turn.T @ root.T
        error *= min(1.0, budget / np.trace(error))
        assert risk_of(error, x, w, cross) >= best.risk - best.gap - 1e-9
        # Also close by: towards it, from the best.
        near = best.covariance + 1e-3 * (error - best.covariance)
        assert risk_of(near, x, w, cross) >= best.risk - best.gap - 1e-9


def test_the_certificate_is_not_met_by_a_worse_covariance():
    """Uniform shrinking is far from optimal here, and a true optimum lies well below it."""
    x, w, cross = joint(3, 1, 7)
    best = least_risk(x, 0.2 * np.trace(x), confidential=w, cross=cross)
    assert risk_of(0.2 * x, x, w, cross) > best.risk + 0.01


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7, 0.99])
def test_water_filling_is_the_case_of_x_itself(share):
    """The formula, and the solver on the same question asked the long way."""
    x, _, _ = joint(4, 1, 3)
    filled = least_risk(x, share * np.trace(x))
    solved = least_risk(x, share * np.trace(x), confidential=x, cross=x)
    assert filled.gap == 0
    assert filled.risk == pytest.approx(solved.risk, abs=2 * solved.gap + 1e-9)
    np.testing.assert_allclose(filled.covariance, solved.covariance, atol=1e-6 * np.trace(x))
    assert filled.distortion == pytest.approx(share * np.trace(x))
    errors, variances = np.linalg.eigvalsh(filled.covariance), np.linalg.eigvalsh(x)
    level = errors.max()
    np.testing.assert_allclose(errors, np.minimum(level, variances), rtol=1e-9)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_the_scalar_formula(share):
    """-½ ln(1 - (1-d)ρ²), which the trade-off's golden values are compared with too."""
    best = least_risk([[4.0]], share * 4.0, confidential=[[1.0]], cross=[[1.9]])
    assert best.risk == pytest.approx(-0.5 * math.log(1 - (1 - share) * 0.95**2), rel=1e-12)
    assert best.gap == 0
    assert best.covariance == pytest.approx(np.array([[share * 4.0]]))


def test_all_distortion_leaves_no_risk():
    """With the whole variance as a budget nothing is told."""
    x, w, cross = joint(3, 2, 1)
    for extra in ({}, {"confidential": w, "cross": cross}):
        best = least_risk(x, 2 * np.trace(x), **extra)
        assert best.risk == 0
        np.testing.assert_allclose(best.covariance, x)


def test_a_direction_without_variance_is_left_out():
    """Two columns that are one: the same as one, in its direction."""
    x = np.array([[1.0, 1.0], [1.0, 1.0]])
    best = least_risk(x, 0.5, confidential=[[1.0]], cross=[[0.8, 0.8]])
    assert best.risk == pytest.approx(-0.5 * math.log(1 - 0.75 * 0.64))
    np.testing.assert_allclose(best.covariance, 0.25 * x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: least_risk([[1.0]], 0), "finite distortion above 0"),
        (lambda: least_risk([[1.0, 0.0]], 1), "must be a square matrix"),
        (lambda: least_risk([[1.0, 0.5], [0.0, 1.0]], 1), "must be symmetric"),
        (lambda: least_risk([[-1.0]], 1), "no negative variance"),
        (lambda: least_risk(np.eye(31), 1), "31 columns vary independently"),
        (lambda: least_risk([[1.0]], 0.5, confidential=[[1.0]]), "covariance of W with X beside"),
        (
            lambda: least_risk([[1.0]], 0.5, confidential=[[1.0]], cross=[[1.0, 1.0]]),
            "needs 1 rows and 1 columns",
        ),
        (
            lambda: least_risk([[1.0]], 0.5, confidential=[[1.0]], cross=[[1.5]]),
            "exceeds what those of W and X allow",
        ),
    ],
)
def test_refusals_of_covariances(call, message):
    """One readable sentence each."""
    with pytest.raises(bs.MatrixError, match=message):
        call()
