r"""Half lines: the sign of f(α)/α at all α ≤ 1, and of -f(θ) at all θ ≥ 1.

Beyond some order the smallest distance, or the largest, outweighs all others together. What is left
is an interval; there roots that are known exactly, 0 and perhaps 1, are cut out with a stretch next
to them where the first term of Taylor's series outweighs the rest. 1 is better for the first.
"""

import math

import numpy as np
from numpy.typing import NDArray

from bistochastic.measures.crossings import Stretch, Terms, log_ratio, signs
from bistochastic.measures.difference import Difference, sign_changes

__all__ = ["information_signs", "protection_signs"]

Vector = NDArray[np.float64]

RULE = "Descartes' rule of signs"
INTERVALS = "bounds on intervals"
NEAR = 2.0**-32  # to a known root; no stretch next to it is proved to be shorter
WRONG = 2.0**-44  # relative error of a sum of products of a few rounded factors
APART = 2.0**-4  # between a known root and the tail, so that there is room next to the root
OUTWARD = 1 + 2.0**-30


def protection_signs(difference: Difference) -> tuple[list[Stretch], str]:
    """Where the first protects more, over α from minus infinity to 1."""
    values, signed = difference.values, difference.coefficients
    first = -_sign(signed[0])
    if values[0] == 0:
        return _zeros_as_small_as_you_like(difference)
    at_one = difference.at_one
    changes = sign_changes(signed)
    if changes == 1 or (changes == 2 and at_one in (0, first)):
        return [Stretch(-math.inf, 1.0, first)], RULE
    coefficients = signed.astype(np.float64)
    others = float(abs(coefficients[1:]).sum() / abs(coefficients[0]))
    tail = min(_tail(others, values[1] / values[0]), -APART)
    terms = Terms.of(values, coefficients, reference=float(values[0]))
    reach, around = _around_zero(difference, coefficients, tail)
    stretches = [Stretch(-math.inf, tail, first)]
    stretches += [Stretch(a, b, -sign) for a, b, sign in signs(terms, tail, -reach)]
    stretches += around
    return stretches + _up_to_one(difference, values, coefficients, terms, reach), INTERVALS


def _zeros_as_small_as_you_like(difference: Difference) -> tuple[list[Stretch], str]:
    """The same if no distance counts as nearly nothing: up to 0 the one with more zeros loses."""
    first = -_sign(difference.coefficients[0])
    values = difference.values[1:]
    coefficients = difference.coefficients[1:].astype(np.float64)
    beginning = Stretch(-math.inf, 0.0, first)
    if (coefficients > 0).all() or (coefficients < 0).all():
        return [beginning, Stretch(0.0, 1.0, first)], RULE
    terms = Terms.of(values, coefficients, reference=float(values[0]))
    return [beginning, *_up_to_one(difference, values, coefficients, terms, 0.0)], INTERVALS


def information_signs(difference: Difference) -> tuple[list[Stretch], str]:
    """Where the first loses less, over θ from 1 to infinity; distances of 0 add nothing."""
    kept = slice(1 if difference.values[0] == 0 else 0, None)
    values, signed = difference.values[kept], difference.coefficients[kept]
    last = -_sign(signed[-1])
    at_one = -difference.at_one
    changes = sign_changes(signed)
    if changes == 0 or (changes == 1 and at_one in (0, last)):
        return [Stretch(1.0, math.inf, last)], RULE
    coefficients = signed.astype(np.float64)
    others = float(abs(coefficients[:-1]).sum() / abs(coefficients[-1]))
    tail = -_tail(others, values[-1] / values[-2])
    if tail <= 1:
        return [Stretch(1.0, math.inf, last)], INTERVALS
    tail = max(tail, 1 + APART)
    begin, stretches = 1.0, [Stretch(1.0, 1.0, at_one)]
    if not at_one:
        _, sign, reach = _beside(difference, values, coefficients, 1, tail - 1)
        begin = 1.0 + reach
        stretches = [Stretch(1.0, begin, -sign)]
    terms = Terms.of(values, coefficients, reference=float(values[-1]))
    stretches += [Stretch(a, b, -sign) for a, b, sign in signs(terms, begin, tail)]
    return [*stretches, Stretch(tail, math.inf, last)], INTERVALS


def _sign(number: float) -> int:
    return int(number > 0) - int(number < 0)


def _tail(others: float, ratio: float) -> float:
    """Below this order the first term outweighs all others, which are `ratio` or more away."""
    return -max(math.log(others), 0.0) / math.log(ratio) * OUTWARD - NEAR


def _up_to_one(
    difference: Difference, values: Vector, coefficients: Vector, terms: Terms, low: float
) -> list[Stretch]:
    """From some order above 0 to 1, where the sign is known exactly."""
    at_one = difference.at_one
    if at_one:
        return [*signs(terms, low, 1.0), Stretch(1.0, 1.0, at_one)]
    sign, _, reach = _beside(difference, values, coefficients, 1, 0.5 * (1 - low))
    return [*signs(terms, low, 1 - reach), Stretch(1 - reach, 1.0, sign)]


def _around_zero(
    difference: Difference, coefficients: Vector, tail: float
) -> tuple[float, list[Stretch]]:
    """The sign of f(α)/α around 0, where it is that of the logarithms of the geometric means."""
    left, right, reach = _beside(difference, difference.values, coefficients, 0, -tail)
    return reach, [Stretch(-reach, 0.0, -left), Stretch(0.0, reach, right)]


def _beside(
    difference: Difference, values: Vector, coefficients: Vector, root: int, most: float
) -> tuple[int, int, float]:
    """The signs of f to the left and to the right of 0 or 1, a root, and how far from it.

    They differ, unless f touches 0 there, which is told exactly or not at all.
    """
    sign, reach = _outweighing(values, coefficients, root, most, power=1)
    if not sign and difference.same_product(root):
        bend, reach = _outweighing(values, coefficients, root, most, power=2)
        return bend, bend, reach
    return -sign, sign, reach


def _outweighing(
    values: Vector, coefficients: Vector, root: int, most: float, *, power: int
) -> tuple[int, float]:
    """The sign of a term of Taylor's series about a root, and how far it outweighs what follows.

    0 where rounding hides it, or where it outweighs the rest over too short a stretch.
    """
    logs = log_ratio(values, math.sqrt(float(values[0]) * float(values[-1])))
    weights = coefficients * np.exp(root * logs)
    term = float((weights * logs**power).sum()) / math.factorial(power)
    wrong = WRONG * float(abs(weights * logs**power).sum())
    reach = min(most, 0.5)
    while reach > NEAR:
        rest = abs(weights) * abs(logs) ** (power + 1) * np.exp(reach * abs(logs))
        if reach * float(rest.sum()) * (1 + WRONG) < abs(term) - wrong:
            return _sign(term), reach
        reach /= 2
    return 0, min(most, NEAR)
