"""The likelihood estimate: certified, never falling on its way, and the best there is."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import bistochastic as bs
from bistochastic.errors import TableError, TooLargeError
from bistochastic.estimate import likelihood as module
from bistochastic.estimate.axes import Axis
from bistochastic.estimate.boundary import on_the_face
from bistochastic.estimate.likelihood import GAP, fitted
from bistochastic.estimate.shares import estimated
from bistochastic.estimate.tally import Tally
from bistochastic.testing import stochastic, structures
from tests.estimate.dense import dense
from tests.estimate.test_shares import tables

SMALL = st.integers(1, 5)


@st.composite
def cases(draw):
    """One or two axes of any structures, singular ones too, with a table of counts."""
    axes = [
        Axis.of(
            draw(structures(SMALL) | stochastic(st.integers(1, 4))), kept=draw(st.integers(0, 1))
        )
        for _ in range(draw(st.integers(1, 2)))
    ]
    return axes, draw(tables(axes))


def possible(axes, table):
    """Whether every report that occurs is possible under some truth."""
    return ((dense(axes).sum(axis=0) > 0) | (table.ravel() == 0)).all()


@settings(max_examples=100)
@given(cases())
def test_it_is_a_distribution_that_no_other_surpasses(case):
    """Non-negative, summing to one, on a path that never falls, its certificate recomputed."""
    axes, table = case
    assume(possible(axes, table))
    found = fitted(Tally.from_table(table), axes)
    n, channel = table.sum(), dense(axes)
    assert found.shares.min() >= 0
    assert abs(found.shares.sum() - 1) < 1e-12
    assert abs(found.levels.sum() - 1) < 1e-12
    assert (np.diff(found.path) >= -1e-10 * (1 + abs(found.path[-1]))).all()
    seen = table.ravel() > 0
    ratios = np.where(seen, table.ravel(), 0) / np.where(seen, found.shares.ravel() @ channel, 1)
    assert (channel @ ratios).max() - n <= GAP * 1.01 + 1e-9 * n
    assert found.gap <= GAP


@settings(max_examples=40)
@given(cases())
def test_a_general_optimiser_finds_nothing_better(case):
    """Sequential quadratic programming from the uniform table ends no higher, and near."""
    axes, table = case
    assume(possible(axes, table))
    channel, counts = dense(axes), table.ravel()
    seen, m = counts > 0, channel.shape[0]

    def worse(shares):
        expected = np.maximum(shares @ channel[:, seen], 1e-300)
        return -counts[seen] @ np.log(expected), -channel[:, seen] @ (counts[seen] / expected)

    other = minimize(
        worse, np.full(m, 1 / m), jac=True, method="SLSQP", bounds=[(0, 1)] * m,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    found = fitted(Tally.from_table(table), axes)
    assert found.log_likelihood >= -other.fun - 2 * GAP - 1e-7 * abs(other.fun)
    assert -worse(found.shares.ravel())[0] == pytest.approx(found.log_likelihood, rel=1e-9,
                                                            abs=1e-9)  # fmt: skip
    if other.success:
        assert found.log_likelihood <= -other.fun + 1e-3


@settings(max_examples=60)
@given(cases())
def test_inside_the_simplex_it_is_the_unbiased_estimate(case):
    """Where that is a distribution it explains the reports exactly, so nothing is likelier."""
    axes, table = case
    assume(all(axis.channel.condition < 1e3 for axis in axes))
    tally = Tally.from_table(table)
    plain = estimated(tally, axes).estimate
    found = fitted(tally, axes)
    if plain.min() >= 1e-3:
        assert found.interior
        np.testing.assert_allclose(found.levels.ravel(), plain, atol=1e-3)
    if plain.min() < -0.1:
        assert not found.interior


@pytest.mark.parametrize(
    ("matrix", "rows"),
    [(bs.diffusion(path=30, time=2.0), 10**6), (bs.Mixture(100, truth=0.1), 10**6),
     (bs.Tridiagonal([0.24] * 39), 10**4), (bs.Mixture(800, truth=0.2), 10**5)],
)  # fmt: skip
def test_slow_channels_are_certified_too(matrix, rows):
    """Where plain steps would take millions, the end is reached all the same."""
    draw, n = np.random.default_rng(1), matrix.size
    reported = matrix.rmatvec(draw.dirichlet(np.full(n, 0.4)))
    tally = Tally.from_table(draw.multinomial(rows, reported / reported.sum()))
    found = fitted(tally, [Axis.of(matrix)])
    assert found.gap <= (GAP if n <= module.SOLVED else module.WIDE_GAP)
    assert (np.diff(found.path) >= -1e-9 * rows).all()


def test_a_mixture_by_water_filling():
    """The conditions of the best table can be solved by hand for a mixture: reports are lifted."""
    counts = np.array([400, 5, 3, 250, 40, 2])
    matrix = bs.Mixture(6, truth=0.6)
    reported, lie = counts / counts.sum(), matrix.lie
    low, high = 0.0, 2.0
    for _ in range(200):  # the water level at which shares sum to one
        middle = (low + high) / 2
        low, high = (
            (low, middle) if np.maximum(reported * middle, lie).sum() > 1 else (middle, high)
        )
    shares = (np.maximum(reported * middle, lie) - lie) / (matrix.truth - lie)
    found = fitted(Tally.from_table(counts), [Axis.of(matrix)])
    np.testing.assert_allclose(found.shares, shares, atol=1e-4)
    assert not found.interior


def test_errors_inside_are_those_of_the_information():
    """Without empty cells they are the dispersion of the unbiased estimate, with n for n - 1."""
    axes = [Axis.of(bs.Mixture(2, truth=0.8)), Axis.of(bs.Tridiagonal([0.1, 0.2]))]
    tally = Tally.from_table(np.array([[300, 200, 100], [150, 120, 130]]))
    found = fitted(tally, axes)
    assert found.interior
    wanted = estimated(tally, axes).variance * 999 / 1000
    np.testing.assert_allclose(on_the_face(tally, axes, found), wanted, rtol=1e-5)
    sums = [Axis.of(axes[1].channel, levels=np.array([0, 0, 1]))]
    tally = Tally.from_table(np.array([450, 320, 230]))
    wanted = estimated(tally, sums).variance * 999 / 1000
    np.testing.assert_allclose(on_the_face(tally, sums, fitted(tally, sums)), wanted, rtol=1e-5)


def test_errors_with_weights_are_the_robust_ones():
    """Inside, they are the weighted variance of the unbiased estimate."""
    axes, counts = [Axis.of(bs.Mixture(3, truth=0.8))], np.array([500, 300, 200])
    tally = Tally((3,), np.arange(3), counts, counts * 1.5, counts * np.array([3.0, 4.0, 5.0]))
    wanted = estimated(tally, axes).variance * 999 / 1000
    np.testing.assert_allclose(on_the_face(tally, axes, fitted(tally, axes)), wanted, rtol=1e-6)


def test_errors_on_the_boundary():
    """An empty cell has none, the others have those of a table without it."""
    axes = [Axis.of(bs.Mixture(3, truth=0.8))]
    tally = Tally.from_table(np.array([600, 380, 20]))
    found = fitted(tally, axes)
    errors = on_the_face(tally, axes, found)
    assert np.isnan(errors).tolist() == [False, False, True]
    assert errors[0] == pytest.approx(errors[1], rel=1e-9)  # two shares that sum to one
    channel, share = dense(axes), found.shares[0]
    expected = share * channel[0] + (1 - share) * channel[1]
    told = 1000 * np.array([0.6, 0.38, 0.02]) @ ((channel[0] - channel[1]) ** 2 / expected**2)
    assert errors[0] == pytest.approx(1 / told, rel=1e-4)
    lost = [Axis.of(bs.Blocks([2, 1]))]
    assert np.isnan(on_the_face(tally, lost, fitted(tally, lost))).all()


def test_what_cannot_be_fitted_is_refused(monkeypatch):
    """A table too large, one that is given up, and reports that cannot have been made."""
    never = bs.Stochastic([[1, 0], [1, 0]])
    with pytest.raises(TableError, match="1 cells were reported that the channel never"):
        fitted(Tally.from_table(np.array([3, 4])), [Axis.of(never)])
    large = Tally.of([2000, 2000], np.arange(10))
    with pytest.raises(TooLargeError, match="lays out its table"):
        fitted(large, [Axis.of(bs.Mixture(2000, truth=0.5))] * 2)
    monkeypatch.setattr(module, "MOST_STEPS", 3)
    monkeypatch.setattr(module, "SOLVED", 1)
    monkeypatch.setattr(module, "WIDE_GAP", 1e-12)
    draw = np.random.default_rng(2)
    hard = Tally.from_table(draw.multinomial(10**6, draw.dirichlet(np.full(12, 0.4))))
    with pytest.raises(TableError, match="was not found in 3 steps"):
        fitted(hard, [Axis.of(bs.diffusion(path=12, time=1.0))])
