r"""Boundary: the errors of a likelihood estimate, where it has zeros and where it has none.

Inside the simplex the inverse of the observed information, $n\sum_v \hat\lambda_v p_v p_v^\top /
\mu_v^2$ along shares that sum to one, is $(n-1)/n$ times the dispersion of the unbiased estimate,
which is then the same. On the boundary it is that of the cells that are not empty, the others being
taken to be so. With weights both are the robust ones, which unequal weights need.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bistochastic.estimate.axes import Axis, along
from bistochastic.estimate.dispersion import DISPERSED
from bistochastic.estimate.likelihood import Fitted
from bistochastic.estimate.tally import Tally

__all__ = ["EMPTY", "on_the_face"]

Floats = NDArray[Any]

HOPELESS = 1e12  # condition of the information beyond which it tells of no error
EMPTY = 1e-3  # of a row's share, below which a cell of a likelihood estimate is empty


def on_the_face(tally: Tally, axes: Sequence[Axis], found: Fitted) -> Floats:
    """Variances of the levels that are not empty; of none where the information has no inverse."""
    unknown = np.full(found.levels.size, np.nan)
    there = np.flatnonzero(found.shares.ravel() > EMPTY / tally.total)
    if there.size > DISPERSED:
        return unknown
    covariance = _inverse(tally, axes, found, there)
    if covariance is None:
        return unknown
    places = np.ix_(*(axis.all_levels for axis in axes))
    levels = np.ravel_multi_index(places, found.levels.shape).ravel()[there]
    sums = (levels == np.arange(unknown.size)[:, None]).astype(np.float64)
    told = np.einsum("ij,jk,ik->i", sums, covariance, sums)
    return np.where(sums.any(axis=1), told, np.nan)


def _inverse(
    tally: Tally, axes: Sequence[Axis], found: Fitted, there: NDArray[np.int64]
) -> Floats | None:
    """The covariance of some cells, the others being empty."""
    units = np.zeros((found.shares.size, there.size))
    units[there, np.arange(there.size)] = 1.0
    table = units.reshape(*found.shares.shape, there.size)
    channel = along(axes, table, lambda axis: axis.forward).reshape(-1, there.size)[tally.cells]
    ratios = channel / (channel @ found.shares.ravel()[there])[:, None]
    # Shares on the face sum to one, which takes one direction away.
    free = np.linalg.svd(np.ones((1, there.size)))[2][1:].T
    lines = ratios @ free
    information = (lines.T * tally.mass) @ lines
    if information.size and np.linalg.cond(information) > HOPELESS:
        return None
    back = free @ np.linalg.inv(information)
    return np.asarray(back @ ((lines.T * tally.squared) @ lines) @ back.T)
