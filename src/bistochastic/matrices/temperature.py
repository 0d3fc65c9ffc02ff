"""The temperature that gives the bits that were asked for, by a bracketing search."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

from bistochastic.errors import TargetError

__all__ = ["ROOM", "Trial", "least_temperature"]

Plan = TypeVar("Plan")

ROOM = 1e-13  # bits above the target that are as good as hitting it
AIM = 0.3  # part of that room which the search aims at, so that rounding does not end below
MOST_TRIALS = 200
STRIDE = 4.0  # largest factor of temperature in one stride while looking for a bracket


class Trial(NamedTuple, Generic[Plan]):
    """A plan at one temperature, by its logarithm, with the bits it carries."""

    log_temperature: float
    bits: float
    plan: Plan


def least_temperature(
    plan_at: Callable[[float], tuple[float, Plan]], bits: float, guess: float
) -> Trial[Plan]:
    """The coldest trial found that carries at least the bits, with hardly a bit more.

    `plan_at(temperature)` gives the bits and a plan; its bits must not fall with the temperature,
    and must reach below and above the target.
    """
    low: Trial[Plan] | None = None
    high: Trial[Plan] | None = None
    seen: list[tuple[float, float]] = []
    log_temperature = math.log(guess)
    for _ in range(MOST_TRIALS):
        found, plan = plan_at(math.exp(log_temperature))
        trial = Trial(log_temperature, found, plan)
        seen.append((log_temperature, found - bits - AIM * ROOM))
        if found >= bits:
            high = trial
            if found <= bits + ROOM:
                break
        else:
            low = trial
        log_temperature = proposal(seen, low, high)
        if low is not None and high is not None and closed(low, high, log_temperature):
            break
    if high is None:
        raise TargetError(f"No temperature was found that gives {bits!r} bits. Ask for fewer.")
    return high


def closed(low: Trial[Plan], high: Trial[Plan], between: float) -> bool:
    """Whether no temperature is left between the two."""
    return not low.log_temperature < between < high.log_temperature


def proposal(
    seen: list[tuple[float, float]], low: Trial[Plan] | None, high: Trial[Plan] | None
) -> float:
    """Where to look next: by interpolation, or in the middle of the bracket if that is slow."""
    here = seen[-1][0]
    wanted = interpolated(seen[-3:])
    if low is None or high is None:
        stride = math.log(STRIDE) * (1 if high is None else -1)
        if wanted is None or not 0 < (wanted - here) / stride <= 1:
            return here + stride
        # Beyond the root, so that the next trial closes the bracket if interpolation was right.
        return wanted
    bottom, top = low.log_temperature, high.log_temperature
    middle = bottom + (top - bottom) / 2
    slow = len(seen) > 4 and abs(seen[-1][0] - seen[-2][0]) > 0.5 * abs(seen[-3][0] - seen[-4][0])
    if wanted is None or not bottom < wanted < top or slow:
        return middle
    return wanted


def interpolated(points: list[tuple[float, float]]) -> float | None:
    """Inverse interpolation through the last two or three trials, where they rise."""
    ordered = sorted(points)
    if len(ordered) < 2 or any(b[1] <= a[1] for a, b in pairwise(ordered)):
        return None
    total = 0.0
    for x, y in ordered:
        weight = 1.0
        for other_x, other_y in ordered:
            if other_x != x:
                weight *= other_y / (other_y - y)
        total += weight * x
    return total
