r"""Crossings: the signs of $f(\alpha) = \sum_j c_j x_j^\alpha$ on an interval, proved, not sampled.

With P the sum of the positive terms and N that of the negative ones, f has the sign of
$h = \ln P - \ln N$, a difference of two convex functions. On an interval ln P lies above its
tangents and ln N below its chord, so h is bounded from two evaluations; the bounds close with the
square of the length. Where neither sign is proved the interval is halved, until it is so short that
it is told as a place where nothing is known. Every sum carries a bound of its rounding errors.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Stretch", "Terms", "log_ratio", "signs"]

Vector = NDArray[np.float64]

UNIT = 2.0**-53
ROUNDED = 16 * UNIT  # of a logarithm, a product or an exponential, generously
SUMMED = 64 * UNIT  # of a pairwise sum of any length that fits into memory
SHORT = 1e-11  # an interval that is not halved any more, relative to where it is
LOST = 1e-6  # the same where rounding hides the sign at both its ends
MOST = 4000  # evaluations, before what is left is told as unknown


@final
class Stretch(NamedTuple):
    """An interval on which f has one sign; 0 where it is not known."""

    low: float
    high: float
    sign: int


@final
class Point(NamedTuple):
    """ln P and ln N at a place, their slopes, and how wrong each may be."""

    at: float
    logs: tuple[float, float]
    slopes: tuple[float, float]
    log_error: float
    slope_error: float

    @property
    def sign(self) -> int:
        """The sign of f, or 0 where rounding hides it."""
        difference = self.logs[0] - self.logs[1]
        return 0 if abs(difference) <= 2 * self.log_error else int(math.copysign(1, difference))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """The terms of f as coefficients and logarithms of values, relative to one of them."""

    positive: tuple[Vector, Vector]
    negative: tuple[Vector, Vector]

    @classmethod
    def of(cls, values: Vector, coefficients: Vector, *, reference: float) -> Self:
        """Terms of which neither sign is missing; the reference only scales f."""
        logs = log_ratio(values, reference)
        up = coefficients > 0
        return cls((coefficients[up], logs[up]), (-coefficients[~up], logs[~up]))

    def at(self, alpha: float) -> Point:
        """Both logarithms and their slopes at one place."""
        log_p, slope_p, wrong_p = _log_sum(*self.positive, alpha)
        log_n, slope_n, wrong_n = _log_sum(*self.negative, alpha)
        wrong = max(wrong_p, wrong_n)
        log_error = wrong + ROUNDED * (abs(log_p) + abs(log_n))
        slope_error = 3 * wrong * (abs(slope_p) + abs(slope_n)) + ROUNDED
        return Point(alpha, (log_p, log_n), (slope_p, slope_n), log_error, slope_error)


def log_ratio(values: Vector, reference: float) -> Vector:
    """ln(x/reference), to a few units in the last place also where the two are close."""
    ratio = values / reference
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.log1p((values - reference) / reference)
        return np.where(abs(ratio - 1) < 0.5, near, np.log(ratio))


def _log_sum(weights: Vector, logs: Vector, alpha: float) -> tuple[float, float, float]:
    """The logarithm of Σ w e^(αl), its slope, and a bound of the relative error of that sum."""
    powers = alpha * logs
    top = float(powers.max())
    terms = weights * np.exp(powers - top)
    total = float(terms.sum())
    slope = float((terms * logs).sum()) / total
    # The exponent of each term is wrong by a few units of its own size, and of that of the top.
    spread = float((terms * abs(powers)).sum()) / total
    wrong = ROUNDED * (2 + spread + abs(top)) + SUMMED
    return top + math.log(total), slope, wrong


def signs(terms: Terms, low: float, high: float) -> Iterator[Stretch]:
    """Adjoining stretches from low to high, each with its proved sign, or 0 and very short."""
    left = MOST
    waiting = [(terms.at(low), terms.at(high))]
    while waiting:
        a, b = waiting.pop()
        sign = _proved(a, b)
        shortest = SHORT if a.sign or b.sign else LOST
        short = b.at - a.at <= shortest * _size(a, b)
        if sign or short or left <= 0:
            yield Stretch(a.at, b.at, sign)
            continue
        cuts = [terms.at(place) for place in _cuts(a, b)]
        left -= len(cuts)
        waiting += reversed(list(pairwise([a, *cuts, b])))


def _size(a: Point, b: Point) -> float:
    return max(1.0, abs(a.at), abs(b.at))


def _cuts(a: Point, b: Point) -> list[float]:
    """Where an interval is cut: closely around a root that the ends bracket, or nearly in half."""
    width = b.at - a.at
    if a.sign * b.sign < 0:
        rise_a, rise_b = abs(a.logs[0] - a.logs[1]), abs(b.logs[0] - b.logs[1])
        root = a.at + width * (rise_a / (rise_a + rise_b))
        around = max(width * min(0.05, width), 0.4 * SHORT * _size(a, b))
        if a.at < root - around and root + around < b.at:
            return [root - around, root + around]
    # Off the middle, so that roots at round numbers do not fall on the cut.
    return [a.at + 0.4877 * width]


def _proved(a: Point, b: Point) -> int:
    """The sign of h all over an interval, where tangents and chords prove one."""
    if a.sign != b.sign or not a.sign:
        return 0
    above, below = (0, 1) if a.sign > 0 else (1, 0)
    return a.sign if _least(a, b, above, below) > 0 else 0


def _least(a: Point, b: Point, above: int, below: int) -> float:
    """The least of (tangents of one) - (chord of the other), at an end or where tangents meet."""
    width = b.at - a.at
    margin = 2 * max(a.log_error, b.log_error) + width * max(a.slope_error, b.slope_error)
    margin += ROUNDED * width * (abs(a.slopes[above]) + abs(b.slopes[above]))
    at_a, at_b = a.logs[above] - a.logs[below], b.logs[above] - b.logs[below]
    least = min(at_a, at_b)
    bend = b.slopes[above] - a.slopes[above]
    if bend > 0:
        # Where the tangents meet; any place between the ends gives a bound of one of them at least.
        meet = b.logs[above] - a.logs[above] - b.slopes[above] * width
        meet = min(max(-meet / bend, 0.0), width)
        tangents = max(
            a.logs[above] + a.slopes[above] * meet,
            b.logs[above] - b.slopes[above] * (width - meet),
        )
        chord = a.logs[below] + (b.logs[below] - a.logs[below]) * (meet / width)
        least = min(least, tangents - chord)
    return least - margin
