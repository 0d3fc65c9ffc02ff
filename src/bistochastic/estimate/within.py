r"""Means and totals of a number within true cells, when only reports of the cells are known.

With $Q = (P^\top)^{-1}$ the total of cell x is estimated by $\hat T_x = \sum_i w_i Q_{x v_i} h_i$,
its size by $\hat N_x = \sum_i w_i Q_{x v_i}$, and its mean by their ratio; h is the number itself
or, where that was moved between records, what stands for it without bias. All of it follows from
five sums per reported cell, so records are looked at once, in batches of any size.
"""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MatrixError
from bistochastic.estimate.correction import Correction
from bistochastic.estimate.intervals import quantile
from bistochastic.estimate.shares import Variance

__all__ = ["Estimates", "Sums", "means", "shares", "totals"]

Array = NDArray[Any]

ROUNDING = 1e-9  # relative; a variance that is less than this below zero is zero


@final
@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Estimates with their standard errors and intervals, one for each cell.

    Attributes:
        estimate: The estimates.
        se: Their standard errors.
        low: Where the intervals begin; minus infinity where the data set no limit.
        high: Where they end.
        clipped: How many variances came out negative, and count as zero.
    """

    estimate: Array
    se: Array
    low: Array
    high: Array
    clipped: int = 0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """What is kept of the records: sums over each reported cell. Those of two batches add.

    The columns are Σw, Σwh, Σw², Σw²h and Σw²g, where g stands for the square of the number as h
    stands for the number.
    """

    of_cells: Array  # cells × 5
    records: int

    @classmethod
    def of(
        cls,
        reports: ArrayLike,
        values: ArrayLike,
        size: int,
        *,
        weights: ArrayLike | None = None,
        squares: ArrayLike | None = None,
    ) -> Self:
        """The sums of a batch.

        Args:
            reports: The reported cell of each record.
            values: Its number, or what stands for it.
            size: How many cells there are.
            weights: Its weight; one each unless given.
            squares: What stands for the square of its number; the square itself unless given.
        """
        cells, h = np.asarray(reports), np.asarray(values, dtype=np.float64)
        w = np.ones(h.size) if weights is None else np.asarray(weights, dtype=np.float64)
        if not cells.shape == h.shape == w.shape or h.ndim != 1:
            raise MatrixError(
                f"Reports, values and weights are columns of one length; got {cells.shape}, "
                f"{h.shape} and {w.shape}."
            )
        g = h * h if squares is None else np.asarray(squares, dtype=np.float64)
        heavy = w * w
        columns = (w, w * h, heavy, heavy * h, heavy * g)
        kept = [np.bincount(cells, weights=column, minlength=size) for column in columns]
        return cls(np.stack(kept, axis=1), h.size)

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(self.of_cells + other.of_cells, self.records + other.records)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Spread:
    r"""The variance of $\sum_i w_i Q_{xv_i}(h_i - \theta)$ as a quadratic of θ, for each cell.

    For the file, what the channel adds: $\sum w^2(Q^2 - Q)(g - 2\theta h + \theta^2)$, since
    $E[Q_{xv}^2] - 1(x)$ is the variance of $Q_{xv}$. For the sample also what drawing it adds, the
    same with $Q$, still to be centred.
    """

    constant: Array
    linear: Array
    quadratic: Array

    def at(self, theta: Array | float) -> Array:
        spread: Array = self.constant - 2 * theta * self.linear + theta**2 * self.quadratic
        return spread


def _undone(
    sums: Sums, correction: Correction, variance: Variance, moved: Array | float
) -> tuple[Array, Array, _Spread]:
    """The sizes, the totals and the spread of true cells."""
    kept = sums.of_cells
    plain, added = correction.matvec(kept), correction.squared(kept[:, 2:])
    if variance == "file":
        added = added - plain[:, 2:]
    return plain[:, 0], plain[:, 1], _Spread(added[:, 2] + moved, added[:, 1], added[:, 0])


def means(
    sums: Sums,
    correction: Correction,
    *,
    variance: Variance = "sample",
    level: float = 0.95,
    moved: ArrayLike = 0.0,
) -> Estimates:
    r"""The mean of each true cell, as the ratio of its total to its size.

    Standard errors are those of the delta method. Intervals are those of Fieller (1954): all θ
    whose $\hat T - \theta\hat N$ is not further from 0 than its own standard error allows. They
    keep their level where a cell is so small that its size is uncertain too, and have no end where
    the data cannot even tell that anybody is in the cell.

    Args:
        sums: What is kept of the records.
        correction: What undoes the channel of the cells.
        variance: Of a sample of respondents, or of the masking of this file alone.
        level: How often the interval holds.
        moved: The variance of each total that comes from moving the numbers.

    >>> from bistochastic import Mixture
    >>> sums = Sums.of([0, 0, 1, 1], [1.0, 2.0, 5.0, 6.0], 2)
    >>> means(sums, Correction.of([Mixture(2, truth=0.75)])).estimate
    array([-0.5,  7.5])
    """
    counts, all_, spread = _undone(sums, correction, variance, np.asarray(moved, dtype=np.float64))
    return _ratios(counts, all_, spread, sums.records, variance, level)


def shares(
    sums: Sums,
    correction: Correction,
    groups: ArrayLike,
    *,
    variance: Variance = "sample",
    level: float = 0.95,
) -> Estimates:
    """The share that each true cell has of its group of cells, as the ratio of their sizes.

    Errors and intervals are those of `means`, for the mean of belonging to the cell within the
    group; intervals end where shares do.

    Args:
        sums: What is kept of the records; their numbers do not matter.
        correction: What undoes the channel of the cells.
        groups: The group of each true cell.
        variance: Of a sample of respondents, or of the masking of this file alone.
        level: How often the interval holds.
    """
    group = np.asarray(groups)
    inverse = correction.dense()
    whole = np.zeros((int(group.max(initial=-1)) + 1, inverse.shape[1]))
    np.add.at(whole, group, inverse)
    own, all_ = inverse, whole[group]
    heavy = sums.of_cells[:, 2]
    spread = [(one * other) @ heavy for one, other in ((own, own), (own, all_), (all_, all_))]
    if variance == "file":
        spread = [spread[0] - own @ heavy, spread[1] - own @ heavy, spread[2] - all_ @ heavy]
    sizes = sums.of_cells[:, 0]
    found = _ratios(all_ @ sizes, own @ sizes, _Spread(*spread), sums.records, variance, level)
    return Estimates(
        found.estimate, found.se, np.maximum(found.low, 0), np.minimum(found.high, 1), found.clipped
    )


def _ratios(
    counts: Array, all_: Array, spread: _Spread, n: int, variance: Variance, level: float
) -> Estimates:
    """Totals by sizes, with the error of the delta method and Fieller's interval."""
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.where(counts == 0, np.nan, all_ / counts)
    z = quantile(level)
    stretch = n / max(n - 1, 1) if variance == "sample" else 1.0
    found = np.nan_to_num(spread.at(estimate)) * stretch
    negative = found < -ROUNDING * np.abs(spread.constant)
    with np.errstate(divide="ignore", invalid="ignore"):
        se = np.sqrt(np.maximum(found, 0.0)) / np.abs(counts)
    shrink = 1 + (z * z / max(n - 1, 1) if variance == "sample" else 0.0)
    low, high = _fieller(counts, all_, spread, shrink, z * z * stretch, estimate)
    return Estimates(estimate, se, low, high, int(negative.sum()))


def _fieller(
    counts: Array, all_: Array, spread: _Spread, shrink: float, times: float, estimate: Array
) -> tuple[Array, Array]:
    """Where shrink·(T - θN)² = times·V(θ), on both sides of the estimate."""
    a = shrink * counts**2 - times * spread.quadratic
    b = shrink * counts * all_ - times * spread.linear
    c = shrink * all_**2 - times * spread.constant
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(b * b - a * c, 0.0))
        low, high = (b - root) / a, (b + root) / a
    endless = ~(a > 0)
    low, high = np.minimum(low, estimate), np.maximum(high, estimate)
    return np.where(endless, -np.inf, low), np.where(endless, np.inf, high)


def totals(
    sums: Sums,
    correction: Correction,
    *,
    variance: Variance = "sample",
    level: float = 0.95,
    moved: ArrayLike = 0.0,
) -> Estimates:
    """The total of each true cell, unbiased; the arguments are those of `means`.

    >>> from bistochastic import Mixture
    >>> sums = Sums.of([0, 0, 1, 1], [1.0, 2.0, 5.0, 6.0], 2)
    >>> totals(sums, Correction.of([Mixture(2, truth=0.75)])).estimate
    array([-1., 15.])
    """
    _, all_, spread = _undone(sums, correction, variance, np.asarray(moved, dtype=np.float64))
    found, n = spread.constant, sums.records
    if variance == "sample":
        found = (found - all_**2 / max(n, 1)) * n / max(n - 1, 1)
    negative = found < -ROUNDING * np.abs(spread.constant)
    se = np.sqrt(np.maximum(found, 0.0))
    reach = quantile(level) * se
    return Estimates(all_, se, all_ - reach, all_ + reach, int(negative.sum()))
