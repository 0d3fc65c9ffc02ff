"""The privacy–distortion function: certified, convex, never beaten, and everywhere defined."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.tradeoff.batches import inverse_of_lower, product
from bistochastic.tradeoff.certificate import feasible, least_sum
from bistochastic.tradeoff.problem import Problem
from tests.tradeoff.laws import GOLDEN, GRID, gaussian, problems, some_channel

METHODS = ("interior-point", "conic", "blahut-arimoto")


@pytest.mark.parametrize(("multiplier", "cost"), GOLDEN)
def test_the_least_cost_is_the_golden_one(multiplier, cost):
    """Two correlated normal variables on 31 × 31 points: D + λR to 1e-7, certified."""
    point = gaussian().point(multiplier=multiplier)
    assert point.cost == pytest.approx(cost, abs=1e-7)
    assert multiplier * point.gap <= 1e-6
    assert point.multiplier == pytest.approx(multiplier, rel=1e-12)


def test_the_golden_cost_is_told_in_bits_too():
    """R in bits and λ per bit: the same channel, the same D + λR."""
    multiplier, cost = GOLDEN[1]
    point = gaussian(units="bits").point(multiplier=multiplier * np.log(2))
    assert point.cost == pytest.approx(cost, abs=1e-7)
    nats = gaussian().point(multiplier=multiplier)
    assert point.risk * np.log(2) == pytest.approx(nats.risk, abs=1e-9)
    assert point.gap <= 1e-6


@given(problems(), st.integers(0, 2**32), st.floats(-3, 3))
@settings(max_examples=60, deadline=None)
def test_no_channel_beats_a_point(problem, seed, power):
    """D + λR of any channel is at least that of the point, less its gap, which is small."""
    tradeoff = bs.tradeoff(*problem)
    multiplier = 10**power * max(tradeoff.problem.span, 1e-3)
    point = tradeoff.point(multiplier=multiplier)
    assert 0 <= point.gap <= tradeoff.tolerance
    for candidate in (some_channel(tradeoff.problem.costs.shape, seed), point.array):
        placed = candidate[tradeoff.problem.alive]
        other = tradeoff.problem.distortion(placed) + multiplier * tradeoff.problem.risk(placed)
        assert other >= point.cost - multiplier * point.gap - 1e-9 * max(abs(other), 1e-9)


@given(problems(), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_no_channel_of_a_distortion_leaks_less(problem, seed):
    """Any channel, and the best one at its very distortion."""
    tradeoff = bs.tradeoff(*problem)
    placed = tradeoff.place(some_channel(tradeoff.problem.costs.shape, seed))
    point = tradeoff.point(distortion=placed.distortion)
    assert point.distortion <= placed.distortion * (1 + 1e-12) + 1e-300
    assert point.least_risk <= placed.risk + 1e-12
    assert point.gap <= tradeoff.tolerance
    assert point.risk == pytest.approx(placed.least)


@given(problems(), st.integers(0, 2**32), st.floats(0.01, 100))
@settings(max_examples=100, deadline=None)
def test_a_certificate_needs_no_solver(problem, seed, slope):
    """Any ν at all, made feasible, lies below κD + R of any channel at all."""
    asked = Problem.of(*problem)
    generator = np.random.default_rng(seed)
    shape = (len(asked.behind), asked.charges.shape[1])
    logs = feasible(asked, 3 * generator.normal(size=shape))
    assert np.abs(asked.secret @ np.exp(logs) - 1).max() < 1e-12
    channel = some_channel(asked.charges.shape, seed)
    value = slope * asked.charged(channel) + asked.risk(channel)
    assert least_sum(asked, logs, slope) <= value + 1e-12


@given(problems(most=5))
@settings(max_examples=15, deadline=None)
def test_the_curve_falls_and_is_convex(problem):
    """To the certified gap; between its points two lines hold it."""
    curve = bs.tradeoff(*problem).curve(9)
    slack = 2 * curve.gap.max() + 1e-9
    assert (np.diff(curve.risk) <= slack).all()
    assert (np.diff(curve.distortion) >= 0).all()
    at = np.linspace(curve.distortion[0], curve.distortion[-1], 33)
    assert (curve.lower(at) <= curve.upper(at) + slack).all()
    span = curve.distortion[-1] - curve.distortion[0]
    if span > 0:
        middle = (curve.risk[:-2] + curve.risk[2:]) / 2
        assert (curve.risk[1:-1] <= middle + slack).all()
        inner = curve.points[1:-1]
        slopes = np.array([-1 / p.multiplier for p in inner if np.isfinite(p.multiplier)])
        assert (np.diff(slopes) * span >= -1e-3 * max(curve.risk[0], 1e-3)).all()


def test_the_slope_is_that_of_the_curve():
    """The multiplier at a distortion is what the difference of neighbours says."""
    tradeoff = gaussian()
    left, point, right = (tradeoff.point(distortion=d) for d in (0.39, 0.4, 0.41))
    assert (left.risk - right.risk) / 0.02 == pytest.approx(1 / point.multiplier, rel=1e-3)
    again = tradeoff.point(multiplier=point.multiplier)
    assert again.distortion == pytest.approx(0.4, abs=1e-4)


def test_a_curve_has_its_ends():
    """From X itself to the best constant; a warm start changes nothing."""
    tradeoff = gaussian()
    curve = tradeoff.curve(6)
    assert len(curve) == 6
    assert [curve.distortion[0], curve.risk[-1], curve.gap[0]] == [0, 0, 0]
    assert curve.risk[0] == pytest.approx(tradeoff.largest_risk, rel=1e-14)
    assert curve.distortion[-1] == pytest.approx(tradeoff.constant_distortion)
    assert (curve.slope[0], curve.slope[-1]) == (-np.inf, 0)
    for point in curve:
        cold = tradeoff.point(distortion=point.distortion)
        assert point.risk == pytest.approx(cold.risk, abs=1e-6)


@given(problems())
@settings(max_examples=60, deadline=None)
def test_miub_lies_above(problem):
    """The line from the nearest reports to the best constant, at every distortion."""
    tradeoff = bs.tradeoff(*problem)
    at = tradeoff.least_distortion + 0.37 * tradeoff.problem.span
    point = tradeoff.point(distortion=at)
    assert point.risk <= tradeoff.bounds.upper(at) + point.gap + 1e-12
    assert np.isinf(tradeoff.bounds.upper(at - 1 - tradeoff.problem.span))


@given(problems())
@settings(max_examples=40, deadline=None)
def test_data_processing(problem):
    """A report tells no more of W than X does, and no more of W than it tells of X."""
    table, costs = problem
    point = bs.tradeoff(table, costs).point(multiplier=0.1 * costs.max() + 1e-3)
    shannon = bs.tradeoff(np.diag(table.sum(axis=0)), costs)
    assert point.risk <= bs.tradeoff(table, costs).largest_risk + 1e-12
    assert point.risk <= shannon.place(point.array).risk + 1e-12


def test_a_symmetric_problem_has_a_symmetric_channel():
    """Turning both grids round changes nothing."""
    for asked in ({"multiplier": 1.2}, {"distortion": 0.3}):
        array = gaussian(21).point(**asked).array
        np.testing.assert_allclose(array, array[::-1, ::-1], atol=1e-7)
    uniform = bs.tradeoff(np.eye(5), "hamming").point(distortion=0.3).array
    np.testing.assert_allclose(uniform, bs.Mixture(5, truth=0.7).to_dense(), atol=1e-8)


@pytest.mark.parametrize("units", ["nats", "bits"])
def test_a_uniform_source_has_shannons_formula(units):
    """W = X, Hamming: ln n - h(D) - D ln(n - 1)."""
    n, share = 6, 0.35
    risk = np.log(n) + share * np.log(share / (n - 1)) + (1 - share) * np.log(1 - share)
    point = bs.tradeoff(np.eye(n), "hamming", units=units).point(distortion=share)
    assert point.risk == pytest.approx(risk / (np.log(2) if units == "bits" else 1), abs=1e-7)


def test_blahut_and_arimoto_agree_where_w_is_x():
    """On a skewed source with squared distances, and their certificate agrees too."""
    source = np.array([0.45, 0.25, 0.15, 0.1, 0.05])
    ours, theirs = (
        bs.tradeoff(np.diag(source), "squared", method=method).point(multiplier=0.8)
        for method in ("interior-point", "blahut-arimoto")
    )
    assert theirs.cost == pytest.approx(ours.cost, abs=1e-6)
    np.testing.assert_allclose(ours.array, theirs.array, atol=1e-4)


def test_dit_agrees_where_w_is_x():
    """Another library's rate–distortion curve, at the slopes it takes."""
    dit = pytest.importorskip("dit")
    from dit.rate_distortion import RDCurve

    source = [0.5, 0.3, 0.2]
    law = dit.Distribution(["0", "1", "2"], source)
    curve = RDCurve(law, rv=[0], beta_min=0.5, beta_max=8.0, beta_num=4)
    ours = bs.tradeoff(np.diag(source), "hamming", units="bits")
    for rate, distortion in zip(curve.rates, curve.distortions, strict=True):
        assert ours.point(distortion=float(distortion)).risk == pytest.approx(rate, abs=2e-4)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_held_to_the_same_certificate(method):
    """On a small problem all agree; what a method lacks its gap admits."""
    table = np.array([[30, 10, 5, 1], [5, 20, 9, 3], [1, 4, 12, 25]])
    best = bs.tradeoff(table, "squared").point(multiplier=1.5)
    point = bs.tradeoff(table, "squared", method=method).point(multiplier=1.5)
    assert point.cost >= best.cost - 1e-6
    assert point.cost - 1.5 * point.gap <= best.cost + 1e-9
    assert point.cost == pytest.approx(best.cost, abs=1e-4)


def test_steepest_descent_is_not_there_yet(monkeypatch):
    """The papers' descent is above the least cost after many steps, and its gap says so."""
    from bistochastic.tradeoff import descent, function

    few = function._descended(lambda problem, slope: descent.steepest(problem, slope, steps=3000))
    monkeypatch.setitem(function.SOLVERS, "steepest-descent", few)
    multiplier, cost = GOLDEN[1]
    point = gaussian(method="steepest-descent").point(multiplier=multiplier)
    assert cost + 1e-4 < point.cost < cost + 0.2
    assert point.cost - multiplier * point.gap <= cost + 1e-7
    with pytest.raises(bs.TargetError, match="by their multiplier only"):
        gaussian(method="steepest-descent").point(distortion=0.4)


@pytest.mark.slow
def test_the_grid_refined_is_the_gaussian_formula():
    """Finer and wider grids come nearer to -½ ln(1 - (1 - d)ρ²)."""
    bound = bs.quadratic_gaussian([[1.0]], confidential=[[1.0]], cross=[[0.95]])
    lacks = [
        abs(gaussian(points, reach).point(distortion=0.5).risk - bound.risk(0.5))
        for points, reach in ((15, 2.5), (31, 3.5), (61, 4.5))
    ]
    assert lacks[0] > 5 * lacks[1] > 5 * lacks[2]
    assert lacks[2] < 1e-3


@pytest.mark.parametrize(("w", "x"), [(2, 40), (9, 40), (40, 37), (45, 3)])
def test_tables_of_any_shape_are_certified(w, x):
    """Much longer than wide, much wider than long: by either form of Newton's equations."""
    table = np.random.default_rng(w).random((w, x)) ** 4
    tradeoff = bs.tradeoff(table, bs.squared(np.arange(x) / x))
    for share in (0.02, 0.4):
        point = tradeoff.point(distortion=share * tradeoff.silent_distortion)
        assert point.gap <= 1e-6
        assert point.risk > 1e-4


def test_nothing_is_told_from_the_silent_distortion_on():
    """Before it something must be, at it nothing need be; it is less than the constant's."""
    tradeoff = bs.tradeoff([[30, 10, 5, 9, 2], [5, 20, 9, 3, 8]], "squared")
    silent = tradeoff.silent_distortion
    assert silent < 0.9 * tradeoff.constant_distortion
    assert tradeoff.point(distortion=0.97 * silent).least_risk > 1e-5
    assert tradeoff.point(distortion=silent).risk < 1e-6
    assert tradeoff.curve(3).distortion[-1] == pytest.approx(silent, rel=1e-3)


def test_what_was_asked_for_is_never_exceeded():
    """A channel that distorts a little too much is mixed with the nearest reports."""
    tradeoff = bs.tradeoff([[30, 10, 5], [5, 20, 9]], "squared")
    channel = tradeoff.point(distortion=0.3).array
    spent = tradeoff.problem.charged(channel)
    mixed = tradeoff._within(channel, 0.99 * spent)
    assert tradeoff.problem.charged(mixed) == pytest.approx(0.99 * spent, rel=1e-12)
    np.testing.assert_allclose(mixed.sum(axis=1), 1)
    assert tradeoff._within(channel, spent) is channel


@pytest.mark.parametrize("size", [1, 31, 33, 80, 130])
def test_batches_of_matrices(size):
    """Products in parts and inverses half by half are NumPy's."""
    generator = np.random.default_rng(size)
    left, right = generator.normal(size=(2, 3, size, size))
    np.testing.assert_allclose(product(left, right), left @ right, atol=1e-10)
    lower = np.tril(left) + 3 * np.eye(size) * np.sqrt(size)
    np.testing.assert_allclose(inverse_of_lower(lower) @ lower, [np.eye(size)] * 3, atol=1e-8)


def test_independence_costs_nothing():
    """W independent of X: nothing leaks at no distortion at all."""
    table = np.outer([0.2, 0.3, 0.5], [0.1, 0.4, 0.25, 0.25])
    tradeoff = bs.tradeoff(table, "hamming")
    assert tradeoff.largest_risk < 1e-15
    for point in (tradeoff.point(distortion=0), tradeoff.point(distortion=0.2)):
        assert point.least_risk == 0
        assert point.risk < 1e-6
    np.testing.assert_array_equal(tradeoff.point(distortion=0).array, np.eye(4))
    assert tradeoff.point(multiplier=100).distortion < 1e-6


def test_deterministic_dependence():
    """W a function of X: only the part of X that W depends on need be blurred."""
    table = np.kron(np.eye(2), [[3, 1]])
    tradeoff = bs.tradeoff(table, "hamming", units="bits")
    assert tradeoff.point(distortion=0).risk == pytest.approx(1.0)
    point = tradeoff.point(distortion=0.1)
    coarse = bs.tradeoff(np.eye(2), "hamming", units="bits").point(distortion=0.1)
    assert point.risk == pytest.approx(coarse.risk, abs=1e-6)


def test_values_that_never_occur_change_nothing():
    """Rows and columns of zeros: the same function; their reports are drawn as anybody's."""
    table = np.array([[30, 10, 5], [5, 20, 9]])
    wide = np.zeros((4, 4))
    wide[np.ix_([0, 2], [0, 1, 3])] = table
    positions = np.array([0, 1, 5, 2])
    some = bs.tradeoff(table, bs.squared([0, 1, 2])).point(distortion=0.3)
    more = bs.tradeoff(wide, bs.squared(positions, positions)[:, [0, 1, 3]]).point(distortion=0.3)
    assert more.risk == pytest.approx(some.risk, abs=1e-9)
    np.testing.assert_allclose(more.array[2], np.array([35, 30, 14]) / 79 @ some.array, atol=1e-7)
    assert bs.tradeoff(wide, bs.squared(positions)).point(distortion=0.3).channel.size == 4


@pytest.mark.parametrize("table", [[[5]], [[1], [2]], [[1, 2]]])
def test_one_category_is_defined(table):
    """Of W, of X, of both: nothing to learn."""
    tradeoff = bs.tradeoff(table, "hamming")
    point = tradeoff.point(distortion=0)
    assert point.risk == 0
    assert point.gap == 0
    assert len(tradeoff.curve(3)) == 3
    assert tradeoff.point(multiplier=1.0).risk < 1e-6


def test_equally_near_reports_are_used():
    """At the least distortion, reports that are as near are chosen so that they tell least."""
    tradeoff = bs.tradeoff(np.eye(2), [[0, 0, 1], [1, 0, 0]])
    point = tradeoff.point(distortion=0)
    assert point.distortion == 0
    assert point.risk < 1e-6
    half = bs.tradeoff(np.eye(3), [[0, 0, 9, 9], [9, 0, 0, 9], [9, 9, 0, 0]]).point(distortion=0)
    assert half.distortion == 0
    assert 0 < half.risk < np.log(3)
    assert half.gap <= 1e-6


@pytest.mark.parametrize("power", [6, 12])
def test_rare_values_are_no_trouble(power):
    """Probabilities from one down to 1e-20 are certified like any other."""
    source = np.random.default_rng(7).random(20) ** power
    tradeoff = bs.tradeoff(np.diag(source), "squared")
    for share in (0.01, 0.5, 0.9):
        point = tradeoff.point(distortion=share * tradeoff.constant_distortion)
        assert point.gap <= 1e-6


def test_the_optimal_channel_is_a_matrix():
    """It samples exactly, is written to a manifest and read again."""
    point = bs.tradeoff([[30, 10, 5], [5, 20, 9]], "squared").point(distortion=0.4)
    form = point.channel.exact(allow_zeros=True)
    assert form.size == 3
    assert sum(form.integer_row(0)[0]) == form.integer_row(0)[1]
    again = bs.rebuilt(bs.described(point.channel))
    np.testing.assert_array_equal(again.to_dense(), point.channel.to_dense())


def test_the_family_of_t_closeness():
    """Average below worst below disclosure; the average is the risk; a report that rules out."""
    point = gaussian(15, units="bits").point(distortion=0.4)
    told = point.closeness
    assert told.average == pytest.approx(point.risk, rel=1e-12)
    assert told.average < told.worst < told.disclosure
    exact = bs.tradeoff(np.eye(2), "hamming", units="bits").point(distortion=0).closeness
    assert (exact.average, exact.worst, exact.disclosure) == (1, 1, np.inf)
    law = np.array([[0.3, 0.1, 0.1], [0.1, 0.1, 0.3]])
    by_hand = 0.75 * np.log(1.5) + 0.25 * np.log(0.5)
    from bistochastic.tradeoff.closeness import closeness

    assert closeness(law).worst == pytest.approx(by_hand)
    assert closeness(law).average == pytest.approx(0.8 * by_hand)
    assert closeness(law).disclosure == pytest.approx(np.log(2))


def test_bistochastic_privacy_lies_on_the_same_plane():
    """The least distortion for given bits is no better than the curve, and placed beside it."""
    table = np.array([[30, 10, 5, 1], [5, 20, 9, 3], [1, 4, 12, 25]])
    tradeoff = bs.tradeoff(table, "squared", units="bits")
    placed = tradeoff.place(bs.optimal(tradeoff.problem.costs, beta=0.6), "optimal")
    assert placed.excess > 0.01
    assert placed.sentence == (
        f"The same distortion could leak {placed.least:.2f} bits instead of {placed.risk:.2f}."
    )
    best = tradeoff.place(tradeoff.channel(distortion=placed.distortion))
    assert best.excess < 1e-6
    assert "nothing leaks noticeably less" in best.sentence


def test_every_point_of_a_curve_is_certified():
    """Fifty points of the golden problem, each certified."""
    curve = gaussian().curve(50)
    assert curve.gap.max() <= 1e-6
    assert len(curve) == 50


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: bs.tradeoff([1, 2], "hamming"), "a row for each w"),
        (lambda: bs.tradeoff([[-1, 2]], "hamming"), "counts or probabilities"),
        (lambda: bs.tradeoff([[0, 0]], "hamming"), "counts or probabilities"),
        (lambda: bs.tradeoff([[np.nan, 1]], "hamming"), "NaN"),
        (lambda: bs.tradeoff([[1, 2]], np.ones((3, 3))), "a row for each of the 2"),
        (lambda: bs.tradeoff([[1, 2]], "euclid"), '"hamming" or "squared"'),
        (lambda: bs.tradeoff([[1, 2]], "hamming", units="bans"), '"nats" or "bits"'),
        (lambda: bs.tradeoff([[1, 2]], "hamming", method="luck"), "A method is one of"),
        (lambda: bs.tradeoff([[1, 2]], "hamming", tolerance=0), "tolerance"),
        (lambda: bs.tradeoff([[1, 2]], "hamming").point(), "by its distortion or by"),
        (lambda: bs.tradeoff([[1, 2]], "hamming").point(multiplier=-1.0), "positive"),
        (lambda: bs.tradeoff([[1, 2]], "hamming").point(distortion=-0.1), "No report distorts"),
        (lambda: bs.tradeoff([[1, 2]], "hamming").point(distortion=np.nan), "No report distorts"),
        (lambda: bs.tradeoff([[1, 2]], "hamming").curve(1), "at least 2 points"),
        (lambda: bs.tradeoff([[1, 2]], "hamming").place(np.eye(3)), "the shape of"),
        (lambda: bs.tradeoff([[1, 2]], "hamming").place([[0.5, 0.6], [0, 1]]), "sum to 1"),
        (lambda: bs.tradeoff([[1, 2]], np.ones((2, 1))).point(multiplier=1).channel, "no square"),
        (lambda: bs.tradeoff(np.ones((500, 500)), "hamming"), "cells at once"),
    ],
)
def test_what_cannot_be_is_refused(call, told):
    """One readable message each."""
    with pytest.raises(bs.BistochasticError, match=told):
        call()


def test_the_grid_is_the_golden_one():
    """The reproduction alphabet is the 31 points themselves."""
    assert GRID.size == 31
    assert gaussian().problem.costs[0, 1] == pytest.approx(0.04)
