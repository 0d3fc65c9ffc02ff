"""Labels and codes: a column of Polars as codes of its declared domain, and back."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.errors import TableError
from bistochastic.tables.base import Domain, Rows, Unseen, first_rows

__all__ = ["MISSING", "UNSEEN", "Coder", "coder", "spelled", "type_name"]

UNSEEN = "outside the declared domain"
MISSING = "missing, which the plan refuses"

WHOLE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
NEAR = 1 << 12  # whole numbers that always fit a table of places
SPARSE = 4  # places a label may take in one


def spelled(label: Any) -> str:
    """How a label is written in a text file.

    >>> spelled(True), spelled(7), spelled("x")
    ('true', '7', 'x')
    """
    if isinstance(label, bool):
        return "true" if label else "false"
    return label.isoformat() if isinstance(label, date | datetime) else str(label)


def type_name(dtype: Any) -> str:
    """How a message names a type: without its categories, which are values.

    >>> type_name(pl.List(pl.Int64)), type_name(pl.Enum(["x"])), type_name(pl.List(pl.Enum(["x"])))
    ('List(Int64)', 'Enum', 'List')
    """
    told = str(dtype)
    return dtype.base_type().__name__ if "Enum(" in told else told


@final
@dataclass(frozen=True, slots=True, eq=False)
class Coder:
    """One column between its labels and their codes."""

    column: str
    domain: Domain
    labels: pl.Series  # as they are compared
    told: pl.Series  # as they are written, None for missing last where that is a category
    gaps: tuple[str, ...]  # texts that stand for a missing value
    codes: Any  # the type whose physical values are the codes of texts; None for others
    places: "Places | None" = None  # the codes of whole numbers that lie close together

    def encode(self, given: pl.Series, rows: Rows) -> tuple[NDArray[Any], Any, list[Unseen]]:
        """Codes, which cells stay empty (None for none of them), and what cannot be coded."""
        quick = None if self.places is None else self.places.codes_of(given)
        if quick is not None:
            return quick, None, []
        found = self._found(given)
        if not found.null_count():
            return found.to_numpy(), None, []
        lost, empty = found.is_null(), self._gone(given)
        strange, gone = (lost & ~empty).to_numpy(), (lost & empty).to_numpy()
        codes = found.fill_null(0).to_numpy().copy()
        faults = []
        if strange.any():
            if self.domain.other is None:
                faults.append(self._fault(UNSEEN, strange, rows))
            else:
                codes[strange] = self.domain.other
        if not gone.any() or self.domain.missing == "keep":
            return codes, gone if gone.any() else None, faults
        if self.domain.missing == "refuse":
            faults.append(self._fault(MISSING, gone, rows))
            return codes, None, faults
        if len(self.labels) > np.iinfo(codes.dtype).max:
            codes = codes.astype(np.uint32)
        codes[gone] = len(self.labels)
        return codes, None, faults

    def decode(self, codes: NDArray[Any], gone: NDArray[np.bool_] | None) -> pl.Series:
        """Labels again, of the dtype they came in."""
        told = self.told[pl.Series(codes.astype(np.uint32, copy=False))]  # `gather` plans first
        if gone is not None:
            nothing = pl.Series([None], dtype=told.dtype)
            told = told.zip_with(pl.Series(~gone), nothing)
        return told.rename(self.column)

    def _found(self, given: pl.Series) -> pl.Series:
        if self.codes is not None:
            texts = given if given.dtype == pl.String else given.cast(pl.String)
            return texts.cast(self.codes, strict=False).to_physical()
        codes = pl.Series(np.arange(len(self.labels), dtype=np.uint32))
        return given.replace_strict(self.labels, codes, default=None, return_dtype=pl.UInt32)

    def _gone(self, given: pl.Series) -> pl.Series:
        if given.dtype.is_float():
            return given.is_null() | given.is_nan().fill_null(True)
        if self.gaps:
            return given.is_null() | given.is_in(self.gaps).fill_null(True)
        return given.is_null()

    def _fault(self, why: str, where: NDArray[np.bool_], rows: Rows) -> Unseen:
        return Unseen(self.column, why, int(where.sum()), first_rows(where, rows))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The code of each whole number from the least label to the greatest, looked up by place."""

    first: int
    codes: NDArray[Any]
    nobody: int  # the code of a number that is no label

    @classmethod
    def of(cls, labels: pl.Series) -> "Places | None":
        """The places of labels, unless they are no whole numbers or lie far apart."""
        if labels.dtype not in WHOLE or not len(labels):
            return None
        values = labels.to_list()
        first, span = min(values), max(values) - min(values) + 1
        if span > max(NEAR, SPARSE * len(values)) or first >= 1 << 62:
            return None
        codes = np.full(span, len(values), np.min_scalar_type(len(values)))
        codes[[value - first for value in values]] = np.arange(len(values))
        return cls(first, codes, len(values))

    def codes_of(self, given: pl.Series) -> NDArray[Any] | None:
        """Codes, or none if some cell is not a label."""
        if given.null_count() or not given.len():
            return None
        numbers = given.to_numpy()
        if numbers.min() < self.first or numbers.max() >= self.first + self.codes.size:
            return None
        found = np.take(self.codes, numbers.astype(np.int64) - self.first)
        return None if (found == self.nobody).any() else found


def coder(
    column: str, domain: Domain, dtype: Any, *, text: bool, gaps: tuple[str, ...] = ()
) -> Coder:
    """The coder of a column of this dtype, or a refusal if its domain does not fit."""
    if text:
        spellings = [spelled(label) for label in domain.labels]
        if len(set(spellings)) < len(spellings):
            raise TableError(
                f"The domain of column {column!r} has labels that are spelled alike in a text "
                f"file. Give each a spelling of its own."
            )
        labels = pl.Series(spellings, dtype=pl.String)
        told = _with_gap(labels, domain, gaps[0] if gaps and gaps[0] else None)
        return Coder(column, domain, labels, told, gaps, pl.Enum(labels))
    if dtype.is_nested() or dtype in (pl.Object, pl.Null, pl.Binary):
        raise TableError(
            f"Column {column!r} is of type {type_name(dtype)}, which has no categories. "
            f"Make it texts, numbers or dates."
        )
    compared = pl.String if isinstance(dtype, pl.Categorical | pl.Enum) else dtype
    try:
        labels = pl.Series(list(domain.labels), dtype=compared, strict=True)
        told = _with_gap(labels, domain, None).cast(dtype)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        kinds = sorted({type(label).__name__ for label in domain.labels})
        raise TableError(
            f"Column {column!r} is of type {type_name(dtype)}, but its domain in the plan holds "
            f"{' and '.join(kinds)} that do not fit. Write the labels as the column has them."
        ) from None
    texts = pl.Enum(labels) if compared == pl.String else None
    return Coder(column, domain, labels, told, (), texts, Places.of(labels))


def _with_gap(labels: pl.Series, domain: Domain, gap: str | None) -> pl.Series:
    if domain.missing != "category":
        return labels
    return labels.extend_constant(gap, 1)
