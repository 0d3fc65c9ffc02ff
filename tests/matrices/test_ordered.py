import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bistochastic.errors import MatrixError, TargetError
from bistochastic.matrices.ordered import ordered_bits, ordered_plan, ordered_plan_with_bits
from bistochastic.matrices.transport import entropic_plan, mean_bits, plan_with_bits

laws = settings(derandomize=True, max_examples=40, deadline=None)
sizes = st.integers(2, 60)
powers = st.sampled_from([0.5, 1.0, 1.7, 2.0, 3.0, 6.0])
shares = st.floats(0.01, 0.995)


def distances(n, power):
    """The whole array of distances of n ranks."""
    return np.abs(np.arange(n)[:, None] - np.arange(n)).astype(float) ** power


def dense(plan):
    """The whole matrix of an ordered plan."""
    n = plan.potentials.size
    line = np.full(n, -np.inf)
    line[: plan.log_profile.size] = plan.log_profile
    lags = np.abs(np.arange(n)[:, None] - np.arange(n))
    return np.exp(line[lags] + (plan.potentials[:, None] + plan.potentials[None, :]))


@laws
@given(sizes, powers, st.floats(-4, 9))
def test_ordered_and_dense_plans_agree(n, power, log_temperature):
    """Matrix, bits, least bits and distortion are those of the dense form."""
    temperature = math.exp(log_temperature)
    plan = ordered_plan(n, temperature, power)
    whole = entropic_plan(distances(n, power), temperature)
    assert np.abs(dense(plan) - whole).max() <= 1e-12
    found = ordered_bits(plan, power)
    rows = [mean_bits(row[None, :]) for row in whole]
    assert found.mean == pytest.approx(np.mean(rows), abs=1e-12)
    assert found.least == pytest.approx(np.min(rows), abs=1e-12)
    mean = (distances(n, power) * whole).sum() / n
    assert found.distortion == pytest.approx(mean, rel=1e-11, abs=1e-13 * (n - 1) ** power)


@laws
@given(sizes, powers, shares)
def test_bits_are_hit_from_above(n, power, share):
    """The bits are those asked for, never less, and the dense search finds the same plan."""
    bits = share * math.log2(n)
    plan = ordered_plan_with_bits(n, bits, power)
    assert bits <= ordered_bits(plan, power).mean <= bits + 1.1e-13
    whole = plan_with_bits(distances(n, power), bits)
    assert plan.temperature == pytest.approx(whole.temperature, rel=1e-9)
    assert np.abs(dense(plan) - whole.matrix).max() <= 1e-10


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
    found = ordered_bits(ordered_plan(12, temperature))
    assert found.mean / math.log2(12) == pytest.approx(beta, abs=1e-14)
    assert found.distortion == pytest.approx(distortion, abs=1e-11)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_the_ends_of_the_range(n):
    """No bits cost nothing; all bits are the uniform matrix at infinite temperature."""
    still = ordered_plan_with_bits(n, 0.0)
    assert still.temperature == 0
    assert np.array_equal(dense(still), np.eye(n))
    assert ordered_bits(still) == (0.0, 0.0, 0.0)
    if n > 1:
        level = ordered_plan_with_bits(n, math.log2(n))
        assert level.temperature == math.inf
        assert np.abs(dense(level) - 1 / n).max() <= 1e-15


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_long_lines_have_few_bits_at_little_cost(power):
    """On a hundred thousand ranks a tenth of the bits costs what a short line predicts."""
    n = 100_000
    bits = 0.1 * math.log2(n)
    plan = ordered_plan_with_bits(n, bits, power)
    found = ordered_bits(plan, power)
    assert bits <= found.mean <= bits + 1.1e-13
    short = ordered_bits(ordered_plan(3000, plan.temperature, power), power)
    # The two ends differ from the middle, and weigh 33 times less on the longer line.
    assert found.distortion == pytest.approx(short.distortion, rel=5e-3)
    assert found.least == pytest.approx(short.least, abs=1e-11)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ordered_plan_with_bits(4, 2.1), TargetError, "from 0 to 2 bits; got 2.1"),
        (lambda: ordered_plan_with_bits(4, math.nan), TargetError, "got nan"),
        (lambda: ordered_plan(4, -1.0), MatrixError, "temperature of at least 0; got -1.0"),
        (lambda: ordered_plan(4, math.nan), MatrixError, "temperature of at least 0; got nan"),
        (lambda: ordered_plan(0, 1.0), MatrixError, "An ordered plan needs a whole number"),
        (lambda: ordered_plan(4, 1.0, 0.0), MatrixError, "power above 0, and finite; got 0.0"),
        (lambda: ordered_plan(4, 1.0, math.inf), MatrixError, "power above 0, and finite"),
        (lambda: ordered_plan(10**6, 1.0, 60.0), MatrixError, "exceeds 1e250. Use a smaller"),
    ],
)
def test_impossible_requests_are_refused(call, error, message):
    """Each refusal names what it got."""
    with pytest.raises(error, match=message):
        call()


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_a_million_ranks_hit_their_bits(share, power):
    """The search works at a million ranks as it does at ten."""
    bits = share * math.log2(10**6)
    plan = ordered_plan_with_bits(10**6, bits, power)
    assert bits <= ordered_bits(plan, power).mean <= bits + 1.1e-13
