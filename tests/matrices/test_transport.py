import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, NonlinearConstraint, minimize
from scipy.special import entr

from bistochastic.errors import MatrixError, TargetError
from bistochastic.matrices.scaling import defect
from bistochastic.matrices.temperature import least_temperature
from bistochastic.matrices.transport import (
    assignment_floor,
    entropic_plan,
    mean_bits,
    plan_with_bits,
)

laws = settings(derandomize=True, max_examples=50, deadline=None)
seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(2, 9)
shares = st.floats(0.005, 0.995)
kinds = st.sampled_from(["any", "symmetric", "line", "tied", "codes", "prices"])


def distances_of(kind, seed, n):
    """Distances of every sort: asymmetric, negative, on a line, tied, with duplicates, prices."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, max(n // 2, 1), n)
    square = rng.normal(size=(n, n))
    here, there = rng.random((2, n))
    return {
        "any": square,
        "symmetric": square + square.T,
        "line": (here[:, None] - there) ** 2,
        "tied": rng.integers(-2, 3, (n, n)).astype(float),
        "codes": np.abs(codes[:, None] - codes).astype(float),
        "prices": 1000 + here[:, None] + there,
    }[kind]


def slow_floor(distances):
    """The floor by trying all permutations, then scaling their union by plain alternation."""
    n = len(distances)
    orders = list(permutations(range(n)))
    totals = np.array([distances[np.arange(n), order].sum() for order in orders])
    matrix = np.zeros((n, n))
    for i in np.flatnonzero(totals < totals.min() + 1e-9):
        matrix[np.arange(n), orders[i]] = 1.0
    for _ in range(20_000):
        matrix /= matrix.sum(axis=1, keepdims=True)
        matrix /= matrix.sum(axis=0, keepdims=True)
    return matrix


def slow_plan(distances, bits):
    """The plan by a general solver for constrained minima, which knows nothing of temperatures."""
    n = len(distances)
    sums = np.vstack([np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))])
    carried = NonlinearConstraint(
        lambda p: entr(p).sum() / n / math.log(2),
        bits,
        np.inf,
        jac=lambda p: (-np.log(np.maximum(p, 1e-300)) - 1) / n / math.log(2),
    )
    start = entropic_plan(np.random.default_rng(0).random((n, n)), 3.0).ravel()
    found = minimize(
        lambda p: distances.ravel() @ p / n,
        start,
        jac=lambda p: distances.ravel() / n,
        bounds=[(1e-12, 1)] * (n * n),
        constraints=[LinearConstraint(sums[:-1], 1, 1), carried],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 2000},
    )
    return found.x.reshape(n, n)


@laws
@given(kinds, seeds, sizes, st.floats(-5, 6))
def test_plans_are_bistochastic_and_of_the_right_form(kind, seed, n, log_temperature):
    """Sums are one, and ln p + d/T is a sum of a term per row and a term per column."""
    distances = distances_of(kind, seed, n)
    temperature = math.exp(log_temperature)
    plan = entropic_plan(distances, temperature)
    assert defect(plan) <= 1e-13
    if plan.min() > 1e-200:
        form = np.log(plan) + distances / temperature
        form = form - form[:1] - form[:, :1] + form[0, 0]
        assert np.abs(form).max() <= 1e-9 * max(1, np.abs(distances).max() / temperature)
    if np.array_equal(distances, distances.T):
        assert np.array_equal(plan, plan.T)


@laws
@given(kinds, seeds, sizes, shares)
def test_bits_are_hit_from_above(kind, seed, n, share):
    """The bits are those asked for, never less, unless the floor already has more."""
    distances = distances_of(kind, seed, n)
    bits = share * math.log2(n)
    plan, temperature = plan_with_bits(distances, bits)
    assert defect(plan) <= 1e-13
    assert mean_bits(plan) >= bits
    floor = mean_bits(assignment_floor(distances))
    if temperature == 0:
        assert bits <= floor
        assert np.array_equal(plan, assignment_floor(distances))
    else:
        assert floor < bits
        assert mean_bits(plan) <= bits + 1.1e-13
        assert np.abs(plan - entropic_plan(distances, temperature)).max() <= 1e-6
    if np.array_equal(distances, distances.T):
        assert np.array_equal(plan, plan.T)


@settings(derandomize=True, max_examples=12, deadline=None)
@given(st.sampled_from(["any", "symmetric", "line"]), seeds, st.integers(2, 4), st.floats(0.3, 0.9))
def test_no_general_solver_does_better(kind, seed, n, share):
    """A solver for constrained minima arrives at the same matrix and the same distortion."""
    distances = distances_of(kind, seed, n)
    bits = share * math.log2(n)
    plan, _ = plan_with_bits(distances, bits)
    slow = slow_plan(distances, bits)
    assert (distances * plan).sum() / n == pytest.approx((distances * slow).sum() / n, abs=1e-6)
    assert np.abs(plan - slow).max() <= 1e-3


@laws
@given(kinds, seeds, sizes, shares)
def test_other_matrices_of_as_many_bits_distort_more(kind, seed, n, share):
    """Of all matrices with the bits none distorts less, other plans at their own bits included."""
    distances = distances_of(kind, seed, n)
    other = entropic_plan(distances_of("any", seed + 1, n), math.exp(4 * share - 2))
    plan, _ = plan_with_bits(distances, mean_bits(other) - 1e-12)
    scale = np.abs(distances).max() + 1
    assert (distances * plan).sum() <= (distances * other).sum() + 1e-9 * n * scale


@settings(derandomize=True, max_examples=40, deadline=None)
@given(kinds, seeds, st.integers(1, 5))
def test_the_floor_is_that_of_all_permutations(kind, seed, n):
    """Trying every permutation finds the same pattern, and alternation the same matrix."""
    distances = distances_of(kind, seed, n)
    floor = assignment_floor(distances)
    assert defect(floor) <= 1e-13
    assert np.abs(floor - slow_floor(distances)).max() <= 1e-9


@laws
@given(st.sampled_from(["any", "tied", "codes", "prices"]), seeds, sizes)
def test_cold_plans_tend_to_the_floor(kind, seed, n):
    """At a low temperature the plan is the floor."""
    distances = distances_of(kind, seed, n)
    cold = entropic_plan(distances, 1e-6)
    assert np.abs(cold - assignment_floor(distances)).max() <= 2e-3


@laws
@given(st.sampled_from(["any", "symmetric", "line"]), seeds, sizes)
def test_bits_and_distortion_rise_with_temperature(kind, seed, n):
    """Warmer plans carry more bits and distort more."""
    distances = distances_of(kind, seed, n)
    plans = [entropic_plan(distances, 0.02 * 4.0**k) for k in range(6)]
    bits = [mean_bits(plan) for plan in plans]
    costs = [(distances * plan).sum() for plan in plans]
    assert (np.diff(bits) >= -1e-12).all()
    assert (np.diff(costs) >= -1e-12).all()


@pytest.mark.parametrize(
    ("temperature", "beta", "distortion"),
    [
        (1, 0.3984074424396686, 0.461022936288),
        (3, 0.5929220632231425, 1.334654962520),
        (10, 0.7838564705857012, 4.050205548575),
    ],
)
def test_golden_values_of_twelve_codes(temperature, beta, distortion):
    """Squared distance on twelve codes, as computed elsewhere with forty digits."""
    codes = np.arange(12.0)
    distances = (codes[:, None] - codes) ** 2
    plan = entropic_plan(distances, temperature)
    assert mean_bits(plan) / math.log2(12) == pytest.approx(beta, abs=1e-14)
    assert (distances * plan).sum() / 12 == pytest.approx(distortion, abs=1e-11)


def test_golden_distortion_at_six_tenths():
    """Twelve codes at beta 0.60 distort 1.3885."""
    codes = np.arange(12.0)
    distances = (codes[:, None] - codes) ** 2
    plan, _ = plan_with_bits(distances, 0.6 * math.log2(12))
    assert (distances * plan).sum() / 12 == pytest.approx(1.3885, abs=5e-5)


def test_duplicate_codes_have_a_floor():
    """Codes 0, 0, 1, 2 carry beta 0.25 for nothing; below it the distortion stays at zero."""
    codes = np.array([0.0, 0.0, 1.0, 2.0])
    distances = np.abs(codes[:, None] - codes)
    floor = assignment_floor(distances)
    assert mean_bits(floor) / 2 == 0.25
    for bits in (0.0, 0.3, 0.5):
        plan, temperature = plan_with_bits(distances, bits)
        assert temperature == 0
        assert np.array_equal(plan, floor)
    plan, temperature = plan_with_bits(distances, 0.5 + 1e-6)
    assert temperature > 0
    assert 0.5 + 1e-6 <= mean_bits(plan) <= 0.5 + 1e-6 + 1.1e-13


def test_prices_alone_give_the_uniform_matrix():
    """Distances that are a row term plus a column term tell no cells apart, at any temperature."""
    rng = np.random.default_rng(4)
    distances = rng.normal(size=(6, 1)) + rng.normal(size=6)
    assert np.abs(entropic_plan(distances, 0.01) - 1 / 6).max() <= 1e-13
    plan, temperature = plan_with_bits(distances, 1.0)
    assert temperature == 0
    assert np.abs(plan - 1 / 6).max() <= 1e-15


def test_a_unique_optimum_is_an_exact_permutation():
    """Without ties no bits cost a permutation of exact ones and zeros."""
    distances = np.random.default_rng(6).normal(size=(30, 30))
    plan, temperature = plan_with_bits(distances, 0.0)
    assert temperature == 0
    assert sorted(np.unique(plan)) == [0.0, 1.0]
    assert mean_bits(plan) == 0


@pytest.mark.parametrize("n", [1, 2, 9])
def test_all_bits_are_the_uniform_matrix(n):
    """At log2 n, and within rounding of it, every entry is 1/n."""
    distances = np.arange(n * n, dtype=float).reshape(n, n) ** 2 % 7
    for excess in (0.0, 5e-13):
        plan, temperature = plan_with_bits(distances, math.log2(n) + excess)
        assert np.abs(plan - 1 / n).max() <= 1e-15
        assert temperature == (math.inf if n > 1 else 0)


@pytest.mark.parametrize("kind", ["any", "symmetric", "line", "codes"])
@pytest.mark.parametrize("n", [40, 120])
def test_few_bits_do_not_stall(kind, n):
    """A hundredth of the bits above the floor is reached, where plain alternation would crawl."""
    distances = distances_of(kind, 11, n)
    floor = mean_bits(assignment_floor(distances))
    bits = floor + 0.01 * (math.log2(n) - floor)
    plan, temperature = plan_with_bits(distances, bits)
    assert 0 < temperature < math.inf
    assert bits <= mean_bits(plan) <= bits + 1.1e-13
    assert defect(plan) <= 1e-13


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: plan_with_bits(np.eye(4), 2.5), TargetError, "from 0 to 2 bits; got 2.5"),
        (lambda: plan_with_bits(np.eye(4), math.nan), TargetError, "got nan"),
        (lambda: plan_with_bits(np.ones((2, 3)), 0.5), MatrixError, r"got shape \(2, 3\)"),
        (lambda: assignment_floor([[np.nan]]), MatrixError, "1 entries that are NaN"),
        (lambda: entropic_plan(np.eye(2), 0.0), MatrixError, "temperature above 0; got 0.0"),
        (lambda: entropic_plan(np.eye(2), math.nan), MatrixError, "temperature above 0; got nan"),
    ],
)
def test_impossible_requests_are_refused(call, error, message):
    """Each refusal names what it got."""
    with pytest.raises(error, match=message):
        call()


def test_a_search_without_an_answer_ends():
    """Bits that no temperature gives end in a refusal, not in an endless search."""
    with pytest.raises(TargetError, match="No temperature was found that gives 3"):
        least_temperature(lambda temperature: (1.0, None), 3.0, 1.0)


@laws
@given(st.floats(0.01, 0.99), st.floats(-3, 3), st.sampled_from(["smooth", "steep", "plateau"]))
def test_the_search_hits_every_kind_of_curve(bits, log_guess, shape):
    """Smooth, steep and nearly flat curves are all solved, from above."""
    curves = {
        "smooth": lambda t: t / (1 + t),
        "steep": lambda t: math.exp(-1 / t),
        "plateau": lambda t: 0.5 * t**8 / (1 + t**8) + 0.5 * t**8 / (1e40 + t**8),
    }
    curve = curves[shape]
    trials = []

    def plan_at(temperature):
        trials.append(temperature)
        return curve(temperature), temperature

    found = least_temperature(plan_at, bits, math.exp(log_guess))
    assert bits <= found.bits <= bits + 1e-13
    assert len(trials) <= 60


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["any", "symmetric", "line", "codes"])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_a_thousand_codes_hit_their_bits(kind, share):
    """Large distance arrays of every kind are solved."""
    distances = distances_of(kind, 12, 1000)
    plan, temperature = plan_with_bits(distances, share * math.log2(1000))
    assert defect(plan) <= 1e-13
    assert mean_bits(plan) >= share * math.log2(1000)
    assert temperature == 0 or mean_bits(plan) <= share * math.log2(1000) + 1.1e-13
