"""Microaggregation: groups of at least k similar records, each published as its mean."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MaskingError
from bistochastic.masking.approx import mu_approx
from bistochastic.masking.distances import standardised
from bistochastic.masking.grouping import Grouping, grouping
from bistochastic.masking.mdav import mdav
from bistochastic.masking.univariate import optimal

__all__ = ["METHODS", "as_least", "microaggregate"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

METHODS: dict[str, Callable[[Floats, int], Integers]] = {
    "mdav": mdav,
    "mu-approx": mu_approx,
    "optimal": lambda points, k: optimal(points[:, 0], k),
}


def microaggregate(array: ArrayLike, k: int, method: str = "mdav") -> Grouping:
    r"""Groups of at least k records with little variance within, on columns of variance one.

    "mdav" (Domingo-Ferrer and Torra 2005) makes groups of k to 2k - 1; "mu-approx" (Domingo-Ferrer,
    Sebé and Solanas 2008) of k to m = max(2k - 1, 3k - 5), with a loss of at most (2k - 1) m² times
    the least possible; "optimal" (Hansen and Mukherjee 2003), for one column, of k to 2k - 1 with
    the least possible. Fewer than 2k records form one group; with k = 1 each record is alone.

    Constant columns change nothing. Of distances that agree to ten digits, the lowest row wins.

    Args:
        array: A column of n numbers, or n records of several.
        k: The least number of records in a group.
        method: One of "mdav", "mu-approx" and "optimal".

    Raises:
        MaskingError: There are fewer than k records, an entry is not a finite number, or the
            optimal method met several columns.

    >>> found = microaggregate([7.0, 0.0, 1.0, 6.0, 5.0], 2)
    >>> found.groups.tolist(), found.centroids.tolist(), round(found.loss, 4)
    ([0, 1, 1, 0, 0], [6.0, 0.5], 6.4433)
    """
    columns = as_columns(array)
    if method not in METHODS:
        raise MaskingError(f"method must be one of {', '.join(METHODS)}; got {method!r}.")
    n, d = columns.shape[0], columns[:1].size
    least = as_least(k, n)
    if method == "optimal" and d > 1:
        raise MaskingError(
            f"The optimal method groups one column; got {d}. Use mdav or mu-approx for several."
        )
    return grouping(columns, labels(columns.reshape(n, d), least, method))


def labels(columns: Floats, k: int, method: str) -> Integers:
    """The group of each record, the same for all methods where there is nothing to choose."""
    n = len(columns)
    if k == 1:
        return np.arange(n)
    if n < 2 * k:
        return np.zeros(n, dtype=np.int64)
    points = standardised(columns)
    return METHODS[method](points if points.size else np.zeros((n, 1)), k)


def as_least(k: object, n: int) -> int:
    """The least number of records in a group, if n records can form one."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise MaskingError(f"A group has a whole number k >= 1 of records; got k = {k!r}.")
    if n < k:
        raise MaskingError(
            f"{n} records cannot form a group of k = {k}. Choose a smaller k or add records."
        )
    return int(k)


def as_columns(array: ArrayLike) -> Floats:
    """Finite floats in one or two dimensions, or a refusal that quotes none of them."""
    given = np.asarray(array)
    if given.dtype.kind not in "biufO":
        raise MaskingError(f"microaggregate needs numbers; got an array of {given.dtype}.")
    try:
        columns = given.astype(np.float64)
    except (TypeError, ValueError):
        raise MaskingError("microaggregate needs numbers only, in a regular shape.") from None
    if columns.ndim not in (1, 2) or columns[:1].size == 0:
        raise MaskingError(
            f"microaggregate needs n numbers or n records of several; got shape {columns.shape}."
        )
    if not np.isfinite(columns).all():
        bad = int((~np.isfinite(columns)).sum())
        raise MaskingError(
            f"microaggregate met {bad} entries that are NaN or infinite. Drop or impute them first."
        )
    return columns
