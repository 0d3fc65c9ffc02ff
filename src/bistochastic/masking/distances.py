"""What microaggregation means by distance: columns of variance one, and when two are the same."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["TIE", "information_loss", "squares", "standardised"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Distances that agree to ten digits are the same, and the lowest row decides. True ties would
# otherwise be broken by rounding: by the order of the columns, or by the unit of one of them.
TIE = 1e-10


def standardised(columns: Floats) -> Floats:
    """Columns of mean zero and variance one; constant ones are left out."""
    low, high = columns.min(axis=0), columns.max(axis=0)
    columns, low = columns[:, high > low], low[high > low]
    _, exponents = np.frexp(np.abs(columns).max(axis=0))
    # Of size one, so that the range of a column is a number too. Shifting by a value that occurs
    # keeps whole numbers whole, wherever they lie.
    columns = np.ldexp(columns, -exponents) - np.ldexp(low, -exponents)
    columns = columns / columns.max(axis=0)
    columns -= columns.mean(axis=0)
    return np.asarray(columns / columns.std(axis=0))


def squares(points: Floats, centre: Floats) -> Floats:
    """Squared distances from one point to each of several."""
    apart = points - centre
    return np.einsum("ij,ij->i", apart, apart)


def information_loss(points: Floats, groups: Integers) -> float:
    r"""The loss $100\,SSE/SST$: what the variance within groups is of the whole."""
    if points.size == 0:
        return 0.0
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    apart = points[order] - np.repeat(means(points[order], sizes), sizes, axis=0)
    whole = points - points.mean(axis=0)
    return 100.0 * float(np.vdot(apart, apart) / np.vdot(whole, whole))


def means(ordered: NDArray[Any], sizes: Integers) -> Floats:
    """The mean of each run of rows; of equal rows it is that row, to the last digit."""
    starts = np.cumsum(sizes) - sizes
    first = ordered[starts]
    apart = np.add.reduceat(ordered - np.repeat(first, sizes, axis=0), starts, axis=0)
    return np.asarray(first + apart / sizes[:, None], dtype=np.float64)
