r"""Comparison: differences, ratios and odds ratios of cells, with errors by the delta method.

The interval of a ratio $a/b$ holds each $\theta$ for which $a - \theta b$ is not significantly
other than zero (Fieller 1954): it stays honest where $b$ is uncertain, and is unbounded where $b$
may be zero. The interval of an odds ratio is normal on the scale of logarithms.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimated", "difference", "odds_ratio", "plain", "ratio", "ratios"]

Floats = NDArray[Any]


class Estimated(NamedTuple):
    """A number with its standard error and its interval."""

    estimate: float
    se: float
    low: float
    high: float


def plain(estimate: float, variance: float, z: float) -> Estimated:
    """An estimate with the normal interval."""
    error = math.sqrt(max(variance, 0.0))
    return Estimated(estimate, error, estimate - z * error, estimate + z * error)


def difference(estimate: Floats, covariance: Floats, z: float) -> Estimated:
    """The first minus the second.

    >>> difference(np.array([0.5, 0.25]), np.diag([0.0009, 0.0016]), 2.0)
    Estimated(estimate=0.25, se=0.05, low=0.15, high=0.35)
    """
    turn = np.array([1.0, -1.0])
    return plain(float(turn @ estimate), float(turn @ covariance @ turn), z)


def ratio(estimate: Floats, covariance: Floats, z: float) -> Estimated:
    """The first over the second, both being shares."""
    found = ratios(
        estimate[:1], estimate[1:], covariance[:1, 0], covariance[:1, 1], covariance[1:, 1], z
    )
    return Estimated(*(float(part[0]) for part in found))


def ratios(
    above: Floats, below: Floats, own: Floats, both: Floats, other: Floats, z: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Many ratios: their estimates, errors and limits, from variances and covariances."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = above / below
        error = np.sqrt(np.maximum(own - 2 * found * both + found**2 * other, 0.0)) / np.abs(below)
        square = below**2 - z**2 * other
        middle = above * below - z**2 * both
        under = np.maximum(middle**2 - square * (above**2 - z**2 * own), 0.0)
        low, high = (middle - np.sqrt(under)) / square, (middle + np.sqrt(under)) / square
    sure = square > 0
    low = np.where(sure, np.maximum(low, 0.0), 0.0)
    high = np.where(sure, np.maximum(high, 0.0), np.inf)
    return found, error, low, high


def odds_ratio(estimate: Floats, covariance: Floats, z: float) -> Estimated:
    """First times fourth over second times third; nothing is known where one is not positive."""
    if not estimate.min() > 0:
        return Estimated(math.nan, math.nan, 0.0, math.inf)
    signs = np.array([1.0, -1.0, -1.0, 1.0])
    log = float(signs @ np.log(estimate))
    turn = signs / estimate
    error = math.sqrt(max(float(turn @ covariance @ turn), 0.0))
    with np.errstate(over="ignore", under="ignore"):
        odds, low, high = np.exp([log, log - z * error, log + z * error]).tolist()
    return Estimated(odds, odds * error, low, high)
