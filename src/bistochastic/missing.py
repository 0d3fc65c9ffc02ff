"""Missing: which cells of a column hold no value."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import BistochasticError

__all__ = ["absent"]


def absent(
    column: NDArray[Any], missing: ArrayLike | None, refusal: type[BistochasticError]
) -> NDArray[np.bool_]:
    """NaN and NaT, and whatever the caller says is missing; other masks than that are refused.

    >>> from bistochastic.errors import MeasureError
    >>> absent(np.array([1.0, np.nan, 3.0]), [True, False, False], MeasureError)
    array([ True,  True, False])
    """
    if column.dtype.kind == "f":
        none: NDArray[np.bool_] = np.isnan(column)
    elif column.dtype.kind in "mM":
        none = np.isnat(column)
    else:
        none = np.zeros(column.shape, dtype=np.bool_)
    if missing is None:
        return none
    mask = np.asarray(missing)
    if mask.shape != column.shape or mask.dtype != np.bool_:
        raise refusal(
            f"Which rows are missing is told by {column.size} booleans; got {mask.dtype} of shape "
            f"{mask.shape}."
        )
    return none | mask
