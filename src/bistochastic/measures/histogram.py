r"""Histogram: how often each distance occurs, which is all that a power mean asks of a file.

$M(\alpha) = \bigl(\frac1n\sum_i x_i^\alpha\bigr)^{1/\alpha}$, the geometric mean at 0, the least
distance at $-\infty$ and the greatest at $+\infty$. It never falls as α grows. Sums are taken over
distinct distances in the log domain, so no power of any order overflows.
"""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MeasureError

__all__ = ["ZERO", "Histogram", "power_means"]

Vector = NDArray[np.float64]

ZERO = 1e-8  # what stands for no distance where a mean would vanish with it (Ruiz's epsilon)
FAR = 1e18  # orders beyond which a mean is its end to the last digit
DENSE = 4  # counting beats sorting up to this many possible distances per record


@final
@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """How often each distance occurs; the distances are different, not negative and in order.

    Attributes:
        values: The distances that occur.
        counts: How often; expected numbers need not be whole.
    """

    values: NDArray[Any]
    counts: NDArray[Any]

    @classmethod
    def of(cls, distances: ArrayLike) -> Self:
        """The histogram of distances, their signs left out.

        >>> told = Histogram.of([0, 3, -1, 3])
        >>> told.values.tolist(), told.counts.tolist()
        ([0, 1, 3], [1, 1, 2])
        """
        given = np.asarray(distances)
        if given.ndim != 1 or not given.size or given.dtype.kind not in "iuf":
            raise MeasureError(
                f"Distances are a line of one or more numbers; got {given.dtype} of shape "
                f"{given.shape}."
            )
        if given.dtype.kind == "f" and not np.isfinite(given).all():
            raise MeasureError(f"{int((~np.isfinite(given)).sum())} distances are not finite.")
        far = np.abs(given)
        if given.dtype.kind != "f" and int(far.max()) <= DENSE * given.size:
            counts = np.bincount(far)
            values = np.flatnonzero(counts)
            return cls(values, counts[values])
        return cls(*np.unique(far, return_counts=True))

    @property
    def size(self) -> int:
        """How many distances there are, equal ones too."""
        return round(float(self.counts.sum()))

    @property
    def zeros(self) -> float:
        """How many of them are 0."""
        return float(self.counts[0]) if self.values[0] == 0 else 0.0

    def means(self, orders: ArrayLike, *, zero: float = 0.0) -> Vector:
        """The power mean of each order, with `zero` in the place of distances of 0.

        >>> Histogram.of([1, 2, 4]).means([1, 0, -np.inf, np.inf])
        array([2.33333333, 2.        , 1.        , 4.        ])
        """
        values = self.values.astype(np.float64)
        if values[0] == 0:
            values[0] = zero
        return power_means(values, self.counts.astype(np.float64), orders)


def power_means(values: Vector, weights: Vector, orders: ArrayLike) -> Vector:
    """The weighted power mean of each order; values of 0 make those of order 0 and below vanish.

    >>> power_means(np.array([3.0, 5.0]), np.array([1.0, 1.0]), [1.0, 2.0]).round(4)
    array([4.    , 4.1231])
    """
    asked = np.asarray(orders, dtype=np.float64)
    if np.isnan(asked).any():
        raise MeasureError("The order of a power mean is a number or infinite; got NaN.")
    held = weights > 0
    values, weights = values[held], weights[held]
    share = weights / weights.sum()
    with np.errstate(divide="ignore"):
        logs = np.log(values)
    means = [_mean(values, logs, share, float(order)) for order in asked.ravel()]
    return np.array(means).reshape(asked.shape)


def _mean(values: Vector, logs: Vector, share: Vector, order: float) -> float:
    low, high = float(values.min()), float(values.max())
    if order > FAR or low == high:
        return high
    if order < -FAR or (low == 0 and order <= 0):
        return low
    if order == 1:
        return float(share @ values)
    # Around the geometric mean for orders near 0, where the difference from it is what is asked;
    # relative to the largest power for others, so that the sum lies between its share and 1.
    logs, share = logs[values > 0], share[values > 0]
    middle = float(share @ logs) / float(share.sum())
    powers = order * (logs - middle)
    if low > 0 and abs(powers).max() < 1:
        tilt = float(np.log1p(share @ np.expm1(powers))) / order if order else 0.0
    else:
        top = powers.max()
        tilt = float(top + np.log(share @ np.exp(powers - top))) / order
    return float(min(max(np.exp(middle + tilt), low), high))  # no rounding leaves the range
