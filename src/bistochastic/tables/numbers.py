"""Numbers: what a column is ranked by, whatever it is written in."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.errors import TableError
from bistochastic.tables.base import Rows, Unseen, first_rows
from bistochastic.tables.labels import type_name
from bistochastic.tables.sources import Source

__all__ = ["Numbers", "as_numbers", "refuse_strange", "sortable"]

STRANGE = "that cannot be read as a number"
ENDLESS = "with an infinite number"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The numbers of a column, where there are any, and what cannot be ranked."""

    values: NDArray[Any]
    present: NDArray[np.bool_]
    whole: bool  # whether all of them are whole, where they are spelled
    strange: list[Unseen]

    @classmethod
    def of(
        cls, column: pl.Series, source: Source, rows: Rows = 0, *, whole: bool | None = None
    ) -> "Numbers":
        """Of a column or a part of it; dates and times count as numbers.

        Texts are whole numbers if all are, else decimals. A part cannot tell, so it is told.
        """
        numbers, spelled_whole = column, True
        strange: list[Unseen] = []
        if column.dtype == pl.String:
            numbers, strange, spelled_whole = _parsed(column, source, rows, whole)
        elif column.dtype.is_temporal():
            numbers = column.to_physical()
        elif column.dtype.is_decimal() or column.dtype in (pl.Int128, pl.UInt128):
            numbers = column.cast(pl.Float64)
        if not numbers.dtype.is_numeric():
            raise TableError(
                f"Column {column.name!r} of {source.where} is of type {type_name(column.dtype)}, "
                f"not numeric. Give it the kind nominal or ordinal, with its domain."
            )
        missing = numbers.is_null()
        if numbers.dtype.is_float():
            missing = missing | numbers.is_nan().fill_null(True)
            endless = numbers.is_infinite().fill_null(False).to_numpy()
            if endless.any():
                strange = [*strange, _unseen(column.name, ENDLESS, endless, rows)]
        return cls(numbers.fill_null(0).to_numpy(), ~missing.to_numpy(), spelled_whole, strange)


def as_numbers(column: pl.Series, source: Source) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Numbers to rank a whole column by, and where there are any."""
    found = Numbers.of(column, source)
    refuse_strange(found.strange, source)
    return found.values, found.present


def refuse_strange(found: list[Unseen], source: Source) -> None:
    """Refuse cells that have no rank."""
    for why, remedy in REMEDIES.items():
        for one in found:
            if one.why == why:
                raise TableError(f"In {source.where}, {one.sentence}. {remedy}")


REMEDIES = {
    STRANGE: "Name what stands for missing under [file] in the plan; a decimal is written with a "
    "point.",
    ENDLESS: "Make them missing, or finite.",
}


def sortable(values: NDArray[Any]) -> NDArray[np.int64]:
    """Whole numbers of 64 bits in the very order of the values, with the very same ties.

    >>> sortable(np.array([-0.0, 0.0, 2.5, -2.5])).argsort(kind="stable").tolist()
    [3, 0, 1, 2]
    """
    if values.dtype.kind == "u":
        return (values.astype(np.uint64) ^ np.uint64(1 << 63)).view(np.int64)
    if values.dtype.kind == "i":
        return values.astype(np.int64)
    bits = (values.astype(np.float64) + 0.0).view(np.int64)  # adding it makes -0.0 the same as 0.0
    return np.where(bits < 0, bits ^ np.int64(np.iinfo(np.int64).max), bits)


def _parsed(
    column: pl.Series, source: Source, rows: Rows, whole: bool | None
) -> tuple[pl.Series, list[Unseen], bool]:
    """Numbers out of texts, and which are none."""
    texts = column
    if source.missing:
        texts = column.set(column.is_in(source.missing).fill_null(False), None)
    texts = texts.str.strip_chars()
    if whole is not False:
        numbers = texts.cast(pl.Int64, strict=False)
        if numbers.null_count() == texts.null_count():
            return numbers, [], True
    numbers = texts.cast(pl.Float64, strict=False)
    if numbers.null_count() == texts.null_count():
        return numbers, [], False
    strange = (numbers.is_null() & texts.is_not_null()).to_numpy()
    return numbers, [_unseen(column.name, STRANGE, strange, rows)], False


def _unseen(column: str, why: str, where: NDArray[np.bool_], rows: Rows) -> Unseen:
    return Unseen(column, why, int(where.sum()), first_rows(where, rows))
