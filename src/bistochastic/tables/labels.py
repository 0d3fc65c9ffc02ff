"""Labels and codes: a column of Polars as codes of its declared domain, and back."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.errors import TableError
from bistochastic.tables.base import Domain, Unseen, first_rows

__all__ = ["MISSING", "UNSEEN", "Coder", "coder", "spelled", "type_name"]

UNSEEN = "hold values outside the declared domain"
MISSING = "are missing, which the plan refuses"


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

    def encode(self, given: pl.Series, start: int) -> tuple[NDArray[Any], Any, list[Unseen]]:
        """Codes, which cells stay empty (None for none of them), and what cannot be coded."""
        found = self._found(given)
        if not found.null_count():
            return found.to_numpy(), None, []
        lost, empty = found.is_null(), self._gone(given)
        strange, gone = (lost & ~empty).to_numpy(), (lost & empty).to_numpy()
        codes = found.fill_null(0).to_numpy().copy()
        faults = []
        if strange.any():
            if self.domain.other is None:
                faults.append(self._fault(UNSEEN, strange, start))
            else:
                codes[strange] = self.domain.other
        if not gone.any() or self.domain.missing == "keep":
            return codes, gone if gone.any() else None, faults
        if self.domain.missing == "refuse":
            faults.append(self._fault(MISSING, gone, start))
            return codes, None, faults
        if len(self.labels) > np.iinfo(codes.dtype).max:
            codes = codes.astype(np.uint32)
        codes[gone] = len(self.labels)
        return codes, None, faults

    def decode(self, codes: NDArray[Any], gone: NDArray[np.bool_] | None) -> pl.Series:
        """Labels again, of the dtype they came in."""
        told = self.told.gather(pl.Series(codes.astype(np.uint32, copy=False)))
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

    def _fault(self, why: str, where: NDArray[np.bool_], start: int) -> Unseen:
        return Unseen(self.column, why, int(where.sum()), first_rows(where, start))


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
    return Coder(column, domain, labels, told, (), texts)


def _with_gap(labels: pl.Series, domain: Domain, gap: str | None) -> pl.Series:
    if domain.missing != "category":
        return labels
    return labels.extend_constant(gap, 1)
