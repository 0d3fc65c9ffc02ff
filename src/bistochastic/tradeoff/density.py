"""A density on a grid, as a table that a trade-off can be computed of."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from bistochastic.errors import MatrixError
from bistochastic.matrices.checks import as_number, as_numbers
from bistochastic.tradeoff.problem import Floats

__all__ = ["discretised", "gaussian_density"]


def discretised(
    density: Callable[[Floats, Floats], Floats], confidential: ArrayLike, key: ArrayLike
) -> Floats:
    """Probabilities in proportion to a density of (w, x) at the points of a grid.

    Points farther apart than others stand for more; on an even grid all stand for the same.

    Args:
        density: Of arrays w and x that broadcast, up to a factor.
        confidential: The values of w, rising.
        key: The values of x, rising.

    >>> import numpy as np
    >>> grid = np.linspace(-3, 3, 31)
    >>> discretised(gaussian_density(0.95), grid, grid).shape
    (31, 31)
    """
    sides = [as_numbers(confidential, "The values of w"), as_numbers(key, "The values of x")]
    for side in sides:
        if side.ndim != 1 or (np.diff(side) <= 0).any():
            raise MatrixError("A grid needs rising values, one list for w and one for x.")
    w, x = sides
    values = np.asarray(density(w[:, None], x[None, :]), dtype=np.float64)
    if values.shape != (w.size, x.size) or not np.isfinite(values).all() or values.min() < 0:
        raise MatrixError("A density must give a finite number, not negative, at every point.")
    shares = [np.gradient(side) if side.size > 1 else np.ones(1) for side in sides]
    table: Floats = values * np.multiply.outer(*shares)
    if table.sum() <= 0:
        raise MatrixError("The density is 0 everywhere on the grid.")
    return table / table.sum()


def gaussian_density(correlation: float) -> Callable[[Floats, Floats], Floats]:
    """The density of two standard normal variables with a correlation, up to a factor."""
    rho = as_number(correlation, "A correlation")
    if not -1 < rho < 1:
        raise MatrixError(f"A correlation with a density lies between -1 and 1; got {rho!r}.")

    def density(w: Floats, x: Floats) -> Floats:
        return np.exp((2 * rho * w * x - w**2 - x**2) / (2 * (1 - rho**2)))

    return density
