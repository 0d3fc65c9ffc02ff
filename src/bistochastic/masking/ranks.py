"""Ranks: who has a value, and in which order a matrix meets them."""

from dataclasses import dataclass
from typing import Any, Literal, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MaskingError
from bistochastic.missing import absent

__all__ = ["Individuals", "as_column"]

ORDERED = "biufmMSU"  # kinds of arrays whose values have an order


@final
@dataclass(frozen=True, slots=True, eq=False)
class Individuals:
    """Who has a value, in order: `rows[r]` is the row of rank r.

    Rows without a value keep their place, have no rank and are no individuals.
    """

    rows: NDArray[np.int64]
    size: int  # rows of the column, those without a value too

    @classmethod
    def of(
        cls,
        column: NDArray[Any],
        *,
        by: ArrayLike | Literal["position"] | None = None,
        missing: ArrayLike | None = None,
    ) -> Self:
        """Ordered by value, by another column of the same length or by position; ties by row."""
        present = np.flatnonzero(~absent(column, missing, MaskingError))
        if isinstance(by, str):
            if by != "position":
                raise MaskingError(
                    f'Order by a column, by "position", or by value (None); got {by!r}.'
                )
            return cls(present, column.size)
        key = column if by is None else _key(by, column.size)
        among = key[present]
        lost = _unordered(among)
        if lost:
            raise MaskingError(
                f"The column to order by has no value in {lost} rows where the column itself has "
                f"one. Fill them, or mark them as missing."
            )
        return cls(present[np.argsort(among, kind="stable")], column.size)

    @property
    def present(self) -> int:
        """How many rows have a value: the size of the matrix that is needed."""
        return int(self.rows.size)

    @property
    def missing(self) -> int:
        """How many rows have none."""
        return self.size - self.present

    def placed(self, column: NDArray[Any], masked: NDArray[Any]) -> NDArray[Any]:
        """The column with what was masked, rank by rank, where those ranks stand."""
        result = column.copy()
        result[self.rows] = masked
        return result


def as_column(values: ArrayLike) -> NDArray[Any]:
    """A single column of numbers, none of them infinite."""
    column = np.asarray(values)
    if column.ndim != 1 or column.dtype.kind not in "iuf":
        raise MaskingError(
            f"A numeric column is needed; got {column.dtype} of shape {column.shape}."
        )
    if column.dtype.kind == "f" and np.isinf(column).any():
        raise MaskingError(
            f"The column holds {int(np.isinf(column).sum())} infinite values. Recode them, or mark "
            f"them as missing by NaN."
        )
    return column


def _key(by: ArrayLike, size: int) -> NDArray[Any]:
    key = np.asarray(by)
    if key.shape != (size,) or key.dtype.kind not in ORDERED:
        raise MaskingError(
            f"The column to order by needs {size} values that have an order; got {key.dtype} of "
            f"shape {key.shape}."
        )
    return key


def _unordered(key: NDArray[Any]) -> int:
    """How many values have no place in an order: NaN and NaT."""
    if key.dtype.kind == "f":
        return int(np.isnan(key).sum())
    return int(np.isnat(key).sum()) if key.dtype.kind in "mM" else 0
