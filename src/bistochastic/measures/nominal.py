"""Nominal: columns whose categories have no order of their own."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MeasureError

__all__ = ["changed", "marginality"]


def changed(original: ArrayLike, masked: ArrayLike) -> float:
    """T of a column without order: the share of records whose value is another one.

    It is all that can be said without an order, or a distance of which `marginality` makes one.

    >>> changed(["a", "b", "b", "c"], ["a", "b", "c", "b"])
    0.5
    """
    before, after = np.asarray(original), np.asarray(masked)
    if before.ndim != 1 or before.shape != after.shape or not before.size:
        raise MeasureError(
            f"Two columns of the same records are needed; got shapes {before.shape} and "
            f"{after.shape}."
        )
    return float((before != after).mean())


def marginality(distances: ArrayLike, counts: ArrayLike) -> NDArray[np.int64]:
    r"""An order of categories from a declared distance: from the most central to the most marginal.

    A category is the more marginal, the larger its mean squared distance to the records
    (Domingo-Ferrer, Sánchez & Rufian-Torrell 2013). What comes back is the place of each category,
    to be used as its code; equally marginal ones share a place.

    Args:
        distances: Between each two categories: square, symmetric, none negative, 0 to itself.
        counts: How many original records each category has.

    >>> marginality([[0, 1, 2], [1, 0, 1], [2, 1, 0]], [5, 5, 2])
    array([1, 0, 2])
    """
    apart, weights = np.asarray(distances, np.float64), np.asarray(counts, np.float64)
    if apart.ndim != 2 or apart.shape != (weights.size, weights.size) or weights.ndim != 1:
        raise MeasureError(
            f"Distances between {weights.size} counted categories make a square array of that "
            f"size; got shape {apart.shape}."
        )
    if not np.isfinite(apart).all() or (apart < 0).any() or np.diagonal(apart).any():
        raise MeasureError("Distances are finite, not negative, and 0 from a category to itself.")
    if not np.array_equal(apart, apart.T):
        raise MeasureError("A distance is as large one way as the other; this array is not.")
    if not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
        raise MeasureError("Categories are counted by numbers that are not negative nor all 0.")
    mean_square = (apart**2) @ weights / weights.sum()
    mean_square /= max(mean_square.max(), np.finfo(float).tiny)
    return np.unique(mean_square.round(12), return_inverse=True)[1].astype(np.int64)
