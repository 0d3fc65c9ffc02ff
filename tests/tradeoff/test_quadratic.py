"""Bounds for densities: water-filling, the certified maximisation, and what attains it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import bistochastic as bs
from tests.tradeoff.laws import gaussian


def random_filling(generator):
    """Gains with zeros and ties, caps with zeros, any total."""
    r = generator.integers(1, 7)
    gains = np.round(generator.exponential(2, r), generator.integers(0, 4))
    caps = generator.exponential(1, r) * (generator.random(r) < 0.8)
    return gains, caps, generator.random() * caps.sum() * 1.3


def test_water_filling_against_a_general_optimiser():
    """Three thousand random cases: SciPy's SLSQP never finds a larger product."""
    generator = np.random.default_rng(4)
    for _ in range(3000):
        gains, caps, total = random_filling(generator)
        ours = bs.water_filling(gains, caps, total)
        assert (ours >= 0).all()
        assert (ours <= caps + 1e-15).all()
        assert ours.sum() <= total * (1 + 1e-12) + 1e-15
        found = minimize(
            lambda x, slope=gains: -np.log1p(slope * x).sum(),
            np.minimum(caps, total / max(caps.size, 1)) * 0.5,
            jac=lambda x, slope=gains: -slope / (1 + slope * x),
            bounds=[(0, cap) for cap in caps],
            constraints={
                "type": "ineq", "fun": lambda x, t=total: t - x.sum(),
                "jac": lambda x: -np.ones_like(x),
            },
            method="SLSQP",
            options={"ftol": 1e-12},
        )  # fmt: skip
        theirs = np.clip(found.x, 0, caps)
        theirs *= min(1.0, total / max(theirs.sum(), 1e-300))
        assert np.log1p(gains * ours).sum() >= np.log1p(gains * theirs).sum() - 1e-12
        if found.success:
            assert np.log1p(gains * ours).sum() <= -found.fun + 1e-6


def test_water_filling_meets_its_conditions():
    """One level for all in between; nothing where nothing is gained; all where all fits."""
    generator = np.random.default_rng(5)
    for _ in range(3000):
        gains, caps, total = random_filling(generator)
        spent = bs.water_filling(gains, caps, total)
        if caps.sum() <= total:
            np.testing.assert_array_equal(spent, caps)
            continue
        assert (spent[gains == 0] == 0).all()
        useful = (gains > 0) & (caps > 0)
        if caps[useful].sum() > total:
            assert spent.sum() == pytest.approx(total, rel=1e-12)
        rate = gains / (1 + gains * spent)
        inner = useful & (spent > 1e-12) & (spent < caps * (1 - 1e-12))
        if inner.any():
            level = rate[inner]
            assert np.ptp(level) <= 1e-9 * level.max()
            assert (rate[useful & (spent <= 0)] <= level.min() * (1 + 1e-9)).all()
            assert (rate[useful & (spent >= caps)] >= level.max() * (1 - 1e-9)).all()


def moments(seed, n, m):
    """Random covariances of X and W."""
    root = np.random.default_rng(seed).normal(size=(n + m, n + m + 2))
    whole = root @ root.T / (n + m)
    return whole[:n, :n], whole[n:, n:], whole[n:, :n]


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 3), st.floats(0.01, 0.99))
@settings(max_examples=25, deadline=None)
def test_the_perturbation_attains_the_bound(seed, n, m, share):
    """By covariances alone: its distortion is D and its risk is the bound; water-filling below."""
    own, secret, cross = moments(seed, n, m)
    bound = bs.quadratic_gaussian(own, confidential=secret, cross=cross)
    at = share * bound.largest_distortion
    kept, noise = bound.perturbation(at)
    reported = kept @ own @ kept.T + noise
    lost = np.eye(n) - kept
    assert np.trace(lost @ own @ lost.T + noise) <= at * (1 + 1e-6)
    assert np.linalg.eigvalsh(noise)[0] >= -1e-9 * at
    with_w = cross @ kept.T
    left = secret - with_w @ np.linalg.pinv(reported, hermitian=True, rcond=1e-9) @ with_w.T
    risk = 0.5 * (np.linalg.slogdet(secret)[1] - np.linalg.slogdet(left)[1])
    assert bound.risk(at) == pytest.approx(risk, abs=1e-5)
    assert bound.water_filling(at) <= bound.risk(at) + 1e-7
    if bound.exact(at):
        assert bound.water_filling(at) == pytest.approx(bound.risk(at), abs=1e-6)


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_water_filling_is_exact_while_the_distortion_is_small(seed, n, m):
    """Up to the least variance of X in any direction."""
    own, secret, cross = moments(seed, n, m)
    bound = bs.quadratic_gaussian(own, confidential=secret, cross=cross)
    at = 0.9 * np.linalg.eigvalsh(own)[0]
    assert bound.exact(at)
    assert bound.water_filling(at) == pytest.approx(bound.risk(at), abs=1e-6)


def test_the_scalar_formula():
    """-½ ln(1 - (1 - d)ρ²), its ends included, in nats and bits."""
    bound = bs.quadratic_gaussian([[4.0]], confidential=[[9.0]], cross=[[0.8 * 6]])
    for share in (0.0, 0.3, 0.9, 1.0, 2.0):
        told = -0.5 * np.log(1 - (1 - min(share, 1)) * 0.64)
        assert bound.risk(4 * share) == pytest.approx(told, abs=1e-12)
        assert bound.water_filling(4 * share) == pytest.approx(told, abs=1e-12)
    bits = bs.quadratic_gaussian([[4.0]], confidential=[[9.0]], cross=[[4.8]], units="bits")
    assert bits.risk(1.0) * np.log(2) == pytest.approx(bound.risk(1.0))


def test_the_golden_tables_lie_below_the_density():
    """The bound for densities is none for tables: it lies above the golden values."""
    bound = bs.quadratic_gaussian([[1.0]], confidential=[[1.0]], cross=[[0.95]])
    for multiplier, cost in ((0.71606648199446, 0.6545), (1.71606648199446, 0.9694)):
        d = multiplier / 2 - (1 / 0.95**2 - 1)
        assert d + multiplier * bound.risk(d) == pytest.approx(cost, abs=5e-5)
        assert gaussian().point(multiplier=multiplier).cost < cost - 0.005
    assert not hasattr(gaussian().bounds, "lower")


def test_the_bound_holds_for_a_density_that_is_not_gaussian():
    """W = X + noise, X uniform: R on a fine grid is above h(W) - …; a Gaussian would leak more."""
    x, w = np.linspace(-1, 1, 41), np.linspace(-2.2, 2.2, 61)
    sigma = 0.3
    table = bs.discretised(lambda w, x: np.exp(-((w - x) ** 2) / (2 * sigma**2)) + 0 * x, w, x)
    variance = float(x**2 @ table.sum(axis=0))
    law = table.sum(axis=1)
    entropy = float(-(law * np.log(law)).sum() + np.log(w[1] - w[0]))
    spread = float(w**2 @ law)
    cross = float(w @ table @ x)
    bound = bs.quadratic_gaussian(
        [[variance]], confidential=[[spread]], cross=[[cross]], entropy=entropy
    )
    normal = bs.quadratic_gaussian([[variance]], confidential=[[spread]], cross=[[cross]])
    function = bs.tradeoff(table, bs.squared(x))
    for share in (0.1, 0.3, 0.5):
        risk = function.point(distortion=share * variance).risk
        assert bound.risk(share * variance) <= risk + 1e-3
        assert bound.risk(share * variance) < normal.risk(share * variance) - 1e-3


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: bs.water_filling([1], [1, 2], 1), "a cap for each gain"),
        (lambda: bs.water_filling([-1], [1], 1), "not negative"),
        (lambda: bs.water_filling([1], [1], -1), "not negative"),
        (lambda: bs.quadratic_gaussian([1.0], confidential=[[1.0]], cross=[[0]]), "square"),
        (lambda: bs.quadratic_gaussian([[0.0]], confidential=[[1.0]], cross=[[0]]), "definite"),
        (
            lambda: bs.quadratic_gaussian([[1, 0.5], [0, 1]], confidential=[[1.0]], cross=[[0, 0]]),
            "symmetric",
        ),
        (lambda: bs.quadratic_gaussian([[1.0]], confidential=[[1.0]], cross=[[2]]), "exceeds"),
        (lambda: bs.quadratic_gaussian([[1.0]], confidential=[[1.0]], cross=[[0, 0]]), "shape"),
        (
            lambda: bs.quadratic_gaussian([[1.0]], confidential=[[1.0]], cross=[[0]], entropy=3.0),
            "a Gaussian has most",
        ),
        (
            lambda: bs.quadratic_gaussian([[1.0]], confidential=[[1.0]], cross=[[0]], units="bans"),
            '"nats" or "bits"',
        ),
        (
            lambda: bs.quadratic_gaussian([[1.0]], confidential=[[1.0]], cross=[[0]]).risk(-1.0),
            "at least 0",
        ),
        (
            lambda: bs.quadratic_gaussian(
                [[1.0]], confidential=[[1.0]], cross=[[1.0]]
            ).water_filling(0.5),
            "tells some of it for certain",
        ),
        (lambda: bs.discretised(bs.gaussian_density(0.5), [1, 0], [0, 1]), "rising"),
        (lambda: bs.discretised(lambda w, x: 0 * w * x, [0, 1], [0, 1]), "0 everywhere"),
        (lambda: bs.discretised(lambda w, x: -1 + 0 * w * x, [0, 1], [0, 1]), "not negative"),
        (lambda: bs.gaussian_density(1.0), "between -1 and 1"),
    ],
)
def test_what_cannot_be_is_refused(call, told):
    """One readable message each."""
    with pytest.raises(bs.BistochasticError, match=told):
        call()
