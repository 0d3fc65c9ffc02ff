r"""Intervals: which true shares a reported table does not speak against.

The normal interval is the estimate and so many standard errors on either side. The score interval
asks of each share $\pi$ whether the estimate lies within so many of the standard errors that it
would have *if that were the share*, which for a share reported as it is gives Wilson's interval.
Of a cell whose members report a mean square s and all others a mean square r, the variance is

* sample: $(\pi s + (1-\pi) r - \pi^2)/n$,
* file: $(\pi (s - 1) + (1-\pi) r)/n$,

so that its ends are the roots of a quadratic. Where few were reported it keeps its coverage, as the
normal one does not.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import TableError
from bistochastic.estimate.shares import Shares, Variance

__all__ = ["Interval", "Limits", "around", "as_level", "intervals", "possible", "quantile"]

Floats = NDArray[Any]
Interval = Literal["score", "normal"]


class Limits(NamedTuple):
    """The ends of an interval for each cell."""

    low: Floats
    high: Floats


def quantile(level: float) -> float:
    """How many standard errors hold a normal variable with this probability, on both sides.

    >>> round(quantile(0.95), 4)
    1.96
    """
    from scipy.special import ndtri

    return float(ndtri((1 + as_level(level)) / 2))


def as_level(level: float) -> float:
    """A level of confidence, or a refusal."""
    if not 0 < level < 1:
        raise TableError(f"The level of an interval lies between 0 and 1, say 0.95; got {level!r}.")
    return float(level)


def intervals(
    shares: Shares, *, level: float = 0.95, kind: Interval = "score", variance: Variance = "sample"
) -> Limits:
    """Intervals for the shares of all cells."""
    z = quantile(level)
    if kind == "normal":
        error = z * np.sqrt(shares.variance)
        return Limits(shares.estimate - error, shares.estimate + error)
    return _score(shares, z, variance)


def possible(limits: Limits) -> Limits:
    """Limits within the shares that there can be."""
    return Limits(np.clip(limits.low, 0.0, 1.0), np.clip(limits.high, 0.0, 1.0))


def around(limits: Limits, best: Floats) -> Limits:
    """Possible limits that reach as far as an estimate in the simplex."""
    there = possible(limits)
    return Limits(np.minimum(there.low, best), np.maximum(there.high, best))


def _score(shares: Shares, z: float, variance: Variance) -> Limits:
    """The roots of the quadratic, within the shares that are possible."""
    estimate, own = shares.estimate, shares.own
    if shares.complete and estimate.size == 1:  # the only cell there is holds everybody
        return Limits(estimate, estimate)
    # What all others report is estimated from what is left, and where next to nobody is left it is
    # the mean over the codes that they could have.
    left = np.maximum(1 - estimate, 0.0)
    told = np.where(left > 0, np.maximum(shares.moment - estimate * own, 0.0), 0.0)
    others = (told + shares.rest / shares.rows) / (left + 1 / shares.rows)
    width = z**2 / _effective(shares, variance)
    bent = width if variance == "sample" else 0.0
    lean = own - others - (0.0 if variance == "sample" else 1.0)
    square = 1 + bent
    middle = estimate + width * lean / 2
    under = middle**2 - square * (estimate**2 - width * others)
    root = np.sqrt(np.maximum(under, 0.0))
    return Limits((middle - root) / square, (middle + root) / square)


def _effective(shares: Shares, variance: Variance) -> Floats:
    """How many rows of equal weight would tell as much about each cell."""
    estimate = shares.estimate
    even = shares.moment - (estimate**2 if variance == "sample" else estimate)
    freedom = shares.rows - 1 if variance == "sample" else shares.rows
    with np.errstate(divide="ignore", invalid="ignore"):
        told = even / shares.variance
    return np.where(np.isfinite(told) & (told > 0) & shares.weighted, told, max(freedom, 1))
