r"""Plans of least distortion for ordered ranks, $d(u,v) = |u-v|^r$, up to millions of them.

The plan is $p_{uv} = \exp(f_u + f_v + k_{|u-v|})$ with $k_m = -m^r/T$, told by its profile k, cut
where it no longer matters, and by f. Sums over rows are convolutions.
"""

import math
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import MatrixError
from bistochastic.matrices.checks import as_size
from bistochastic.matrices.temperature import ROOM, least_temperature
from bistochastic.matrices.toeplitz import LEAST_LOG, convolve, scale_toeplitz, truncated
from bistochastic.matrices.transport import require_bits

__all__ = [
    "OrderedBits",
    "OrderedPlan",
    "ordered_bits",
    "ordered_plan",
    "ordered_plan_with_bits",
]

Floats = NDArray[np.float64]

LN2 = math.log(2.0)
LARGEST_DECADE = 250  # of a distance, so that temperatures stay within floating point


@final
class OrderedPlan(NamedTuple):
    """A plan on ordered ranks: p_uv = exp(f_u + f_v + log_profile[|u-v|]), zero beyond it."""

    log_profile: Floats
    potentials: Floats
    temperature: float


@final
class OrderedBits(NamedTuple):
    """What a plan on ordered ranks carries and costs."""

    mean: float
    least: float
    distortion: float


def ordered_plan(
    n: int, temperature: float, power: float = 2.0, *, start: Floats | None = None
) -> OrderedPlan:
    r"""The bistochastic scaling of $e^{-|u-v|^r/T}$ on n ranks.

    >>> log_profile, potentials, _ = ordered_plan(3, 1.0)
    >>> bool(np.exp(2 * potentials[0] + log_profile[0]) > 0.7)
    True
    """
    n = as_size(n, "An ordered plan")
    require_power(power, n)
    if not temperature >= 0:
        raise MatrixError(f"A plan needs a temperature of at least 0; got {temperature!r}.")
    if temperature == 0:
        return OrderedPlan(np.zeros(1), np.zeros(n), 0.0)
    # Beyond this lag every entry is a zero, so the profile need not be formed further.
    reach = min(float(n), (-LEAST_LOG * temperature) ** (1 / power) + 2)
    lags = np.arange(int(min(reach, n)), dtype=np.float64)
    log_profile = truncated(-(lags**power) / temperature, n)
    return OrderedPlan(log_profile, scale_toeplitz(log_profile, n, start=start), temperature)


def ordered_bits(plan: OrderedPlan, power: float = 2.0) -> OrderedBits:
    r"""Mean and least row entropy in bits, and the mean distortion $\frac1n\sum |u-v|^r p_{uv}$.

    A row's entropy is $-\frac1{\ln2}\sum_v p_{uv}(f_u + f_v + k_{|u-v|})$, of which each term is a
    convolution.
    """
    factors = np.exp(plan.potentials)
    weights = np.exp(plan.log_profile)
    own = factors * convolve(weights, factors)
    other = factors * convolve(weights, factors * plan.potentials)
    kernel = factors * convolve(weights * plan.log_profile, factors)
    rows = -(plan.potentials * own + other + kernel) / LN2
    cost = np.arange(weights.size, dtype=np.float64) ** power * weights
    cost[0] = 0.0
    distortion = float((factors * convolve(cost, factors)).mean())
    return OrderedBits(float(rows.mean()) + 0.0, float(rows.min()) + 0.0, distortion)


def ordered_plan_with_bits(n: int, bits: float, power: float = 2.0) -> OrderedPlan:
    """The plan of least distortion on n ranks that carries at least the bits.

    >>> plan = ordered_plan_with_bits(12, 0.6 * math.log2(12))
    >>> round(ordered_bits(plan).distortion, 4)
    1.3885
    """
    n = as_size(n, "An ordered plan")
    require_power(power, n)
    require_bits(bits, n)
    if min(bits, math.log2(n) - ROOM) <= 0:
        return ordered_plan(n, 0.0, power)
    if bits >= math.log2(n) - ROOM:
        return ordered_plan(n, math.inf, power)
    starts: list[Floats] = []

    def plan_at(temperature: float) -> tuple[float, OrderedPlan]:
        plan = ordered_plan(n, temperature, power, start=starts[-1] if starts else None)
        starts[:] = [plan.potentials]
        return ordered_bits(plan, power).mean, plan

    trial = least_temperature(plan_at, bits, guess(n, bits, power))
    return trial.plan


def guess(n: int, bits: float, power: float) -> float:
    """A temperature for a line without ends: the bits of a density exp(-|x|^r/T).

    Its entropy is that of a generalised Gaussian, log2(2 Γ(1+1/r)) + (1/r) log2(eT).
    """
    shape = math.log2(2 * math.gamma(1 + 1 / power)) + math.log2(math.e) / power
    limit = power * (math.log2(n) - shape + 1)
    exponent = min(max(power * (bits - shape), -6.0), max(limit, 0.0))
    return math.exp(LN2 * exponent)


def require_power(power: float, n: int) -> None:
    """Refuse a power that makes no distance, or one beyond floating point."""
    if not 0 < power < math.inf:
        raise MatrixError(f"An ordered plan needs a power above 0, and finite; got {power!r}.")
    if power * math.log10(n) > LARGEST_DECADE:
        raise MatrixError(
            f"The distance |u-v|^{power!r} of {n} ranks exceeds 1e{LARGEST_DECADE}. Use a smaller "
            f"power: the plan is hardly different from that of a window."
        )
