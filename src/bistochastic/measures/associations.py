"""How strongly columns go together: in tables of counts, and in numbers that may be missing."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bistochastic.measures.attributes import moments

__all__ = ["association", "correlations"]

Floats = NDArray[np.float64]


def association(counts: NDArray[Any]) -> tuple[float, float]:
    r"""The χ² of independence per record, and Cramér's $V = \sqrt{\chi^2/(n\min(r-1, c-1))}$.

    Categories that do not occur do not count.

    >>> association(np.array([[5, 0], [0, 5]]))
    (1.0, 1.0)
    """
    table = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0].astype(np.float64)
    n, degrees = table.sum(), min(table.shape) - 1
    if degrees < 1:
        return 0.0, 0.0
    ones = table.sum(axis=1)[:, None] * (table.sum(axis=0) / n)
    square = float((np.square(table - ones) / ones).sum() / n)
    return square, float(min(np.sqrt(square / degrees), 1.0))


def correlations(columns: Sequence[Floats]) -> Floats:
    """Pearson's correlations, of each pair over the records that have both; 0 of a constant.

    >>> correlations([np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, np.nan])])[0, 1].round(6)
    np.float64(-1.0)
    """
    there = np.stack([(line == line).astype(np.float64) for line in columns])
    scaled = np.zeros(there.shape)
    for place, line in enumerate(columns):
        held = line == line
        centre, spread = moments(line[held])
        scaled[place, held] = (line[held] - centre) / spread
    n = there @ there.T
    sums, squares = scaled @ there.T, np.square(scaled) @ there.T
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = sums / n
        spread = np.sqrt(np.maximum(squares / n - np.square(mean), 0))
        spread[spread < 1e-12] = 0
        found = (scaled @ scaled.T / n - mean * mean.T) / (spread * spread.T)
    return np.clip(np.nan_to_num(found, nan=0.0, posinf=0.0, neginf=0.0), -1, 1)
