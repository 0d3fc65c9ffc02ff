r"""How much of W records tell, estimated from counts: corrected for its bias, with its error.

The plug-in estimate of I(W; X̂) is too large. What it would be without a record is known in closed
form, since only a cell, a row and a column change: the jackknife takes the bias off to first order
and gives the standard error (Quenouille 1956).
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from bistochastic.errors import MatrixError
from bistochastic.matrices.checks import as_numbers
from bistochastic.tradeoff.point import UNITS
from bistochastic.tradeoff.problem import Floats, information

__all__ = ["InformationEstimate", "estimated_information"]

FEW = 4  # records for each cell that occurs, below which the correction is doubtful


def _fall(counts: Floats) -> Floats:
    """By how much c ln c falls when one is taken away; 0 where there is none."""
    before = np.maximum(counts, 1.0)
    after = np.maximum(before - 1, 1.0)
    fall: Floats = before * np.log(before) - np.where(before > 1, after * np.log(after), 0.0)
    return fall


@final
@dataclass(frozen=True, slots=True)
class InformationEstimate:
    """An estimated mutual information.

    Attributes:
        value: The estimate, its bias taken off; not below 0.
        error: Its standard error.
        bias: What was taken off.
        thin: Whether there are too few records for each cell to trust that.
        units: "nats" or "bits".
    """

    value: float
    error: float
    bias: float
    thin: bool
    units: str


def estimated_information(counts: ArrayLike, *, units: str = "nats") -> InformationEstimate:
    """I(W; X̂) from counts of pairs, a row for each w and a column for each x̂.

    >>> estimated_information([[400, 100], [100, 400]], units="bits").value < 0.2781
    True
    """
    if units not in UNITS:
        raise MatrixError(f'Information is told in "nats" or "bits"; got {units!r}.')
    table = as_numbers(counts, "The counts")
    if table.ndim != 2 or table.min() < 0 or table.sum() <= 0 or (table % 1).any():
        raise MatrixError("Counts need a table of whole numbers, none negative and not all 0.")
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    n = float(table.sum())
    seen = table > 0
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    told = n * information(table / n)
    fall = _fall(table) - _fall(rows)[:, None] - _fall(columns) + float(_fall(np.array(n)))
    without = (told - fall[seen]) / max(n - 1, 1)
    weights = table[seen] / n
    middle = float(weights @ without)
    plain, bias = told / n, (n - 1) * (middle - told / n)
    spread = (n - 1) ** 2 * float(weights @ (without - middle) ** 2)
    cells = int(seen.sum())
    unit = UNITS[units]
    return InformationEstimate(
        max(plain - bias, 0.0) / unit,
        math.sqrt(spread / n) / unit,
        bias / unit,
        n < FEW * cells,
        units,
    )
