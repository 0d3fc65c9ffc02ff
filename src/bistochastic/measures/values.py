"""Values: what the measures take as a column, and which of its cells are there."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MeasureError
from bistochastic.missing import absent

__all__ = ["Blanks", "as_values", "both_present"]

ORDERED = "biufmMSU"  # kinds of arrays whose values have an order


@final
@dataclass(frozen=True, slots=True)
class Blanks:
    """How many records of a column have no value.

    Attributes:
        kept: Neither before nor after.
        suppressed: One before, none after.
        filled: None before, one after.
    """

    kept: int
    suppressed: int
    filled: int

    @property
    def total(self) -> int:
        """How many have none before, or none after."""
        return self.kept + self.suppressed + self.filled


def as_values(values: ArrayLike, name: str) -> NDArray[Any]:
    """One column of values that have an order."""
    column = np.asarray(values)
    if column.ndim != 1 or column.dtype.kind not in ORDERED:
        raise MeasureError(
            f"The {name} column must be a line of numbers, dates or texts, in an order that means "
            f"something; got {column.dtype} of shape {column.shape}."
        )
    return column


def both_present(
    before: NDArray[Any],
    after: NDArray[Any],
    missing_before: ArrayLike | None,
    missing_after: ArrayLike | None,
) -> tuple[NDArray[np.int64], Blanks]:
    """The rows with a value before and after, and how many have none."""
    if before.size != after.size:
        raise MeasureError(
            f"Records are compared row by row, but there are {before.size} before and {after.size} "
            f"after. Link them first, and leave out those without a partner."
        )
    none = absent(before, missing_before, MeasureError)
    gone = absent(after, missing_after, MeasureError)
    rows = np.flatnonzero(~(none | gone))
    blanks = Blanks(
        kept=int((none & gone).sum()),
        suppressed=int((gone & ~none).sum()),
        filled=int((none & ~gone).sum()),
    )
    if not rows.size:
        raise MeasureError(
            f"None of {before.size} records has a value before and after: nothing was moved."
        )
    return rows, blanks
