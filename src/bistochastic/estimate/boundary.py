r"""Boundary: the errors of a likelihood estimate, where it has zeros and where it has none.

Inside the simplex the inverse of the observed information, $n\sum_v \hat\lambda_v p_v p_v^\top /
\mu_v^2$ along shares that sum to one, is $(n-1)/n$ times the dispersion of the unbiased estimate,
which is then the same. On the boundary it is that of the cells that are not empty, the others being
taken to be so.
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

EMPTY = 1e-3  # of a row's share, below which a cell of a likelihood estimate is empty


def on_the_face(tally: Tally, axes: Sequence[Axis], found: Fitted) -> Floats:
    """Variances of the cells that are not empty; none of the others, nor where none can be told."""
    unknown = np.full(found.shares.size, np.nan)
    there = np.flatnonzero(found.shares.ravel() > EMPTY / tally.total)
    summed = any(axis.levels.size for axis in axes)
    if summed or there.size > DISPERSED or tally.weights is not None:
        return unknown if not summed else np.full(found.levels.size, np.nan)
    units = np.zeros((found.shares.size, there.size))
    units[there, np.arange(there.size)] = 1.0
    table = units.reshape(*found.shares.shape, there.size)
    channel = along(axes, table, lambda axis: axis.forward).reshape(-1, there.size)
    reported = tally.laid_out(tally.mass).ravel()
    expected = channel @ found.shares.ravel()[there]
    seen = reported > 0
    weights = reported[seen] / expected[seen] ** 2
    information = (channel[seen].T * weights) @ channel[seen]
    # Shares on the face sum to one: one direction is known beforehand.
    _, _, turned = np.linalg.svd(np.ones((1, there.size)))
    free = turned[1:].T
    try:
        inner = np.linalg.inv(free.T @ information @ free)
    except np.linalg.LinAlgError:
        return unknown
    unknown[there] = np.einsum("ij,jk,ik->i", free, inner, free)
    return unknown
