r"""How much of W records tell, estimated from counts: corrected for its bias, with its error.

The plug-in estimate of I(W; X̂) is too large by about $(K_{wx}-K_w-K_x+1)/2n$, K being the cells,
rows and columns that occur at all (Miller 1955). Its standard error is that of a mean:
$\operatorname{Var}(\ln p(w,\hat x)/p(w)p(\hat x))/n$.
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from bistochastic.errors import MatrixError
from bistochastic.matrices.checks import as_numbers
from bistochastic.tradeoff.point import UNITS

__all__ = ["InformationEstimate", "estimated_information"]

FEW = 4  # records for each cell that occurs, below which the correction is doubtful


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
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    logs, weights = np.log(table[seen] / expected[seen]), table[seen] / n
    plain = float(weights @ logs)
    spread = max(float(weights @ logs**2) - plain**2, 0.0)
    cells = int(seen.sum())
    bias = (cells - table.shape[0] - table.shape[1] + 1) / (2 * n)
    unit = UNITS[units]
    return InformationEstimate(
        max(plain - bias, 0.0) / unit,
        math.sqrt(spread / n) / unit,
        bias / unit,
        n < FEW * cells,
        units,
    )
