"""Counting on one machine: a table streams by in batches, and only what occurs is kept."""

import math
from threading import Lock
from typing import Any, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.errors import DomainError, TableError
from bistochastic.estimate.tally import Tally
from bistochastic.tables.base import Recode, Unseen, first_rows, merged
from bistochastic.tables.counting import Count
from bistochastic.tables.labels import type_name
from bistochastic.tables.local import FAILURES, coders_of
from bistochastic.tables.sources import Source, understood

__all__ = ["MOST_LABELS", "Counter", "counted", "labels_of", "refuse_uncounted"]

COUNTED_IN_PLACE = 1 << 22  # cells that are counted in an array of all of them
PENDING = 1 << 22  # cells that may wait to be added up
WEIGHTLESS = "that hold no weight"
MOST_LABELS = 1_000_000  # distinct values of a column that passes, beyond which it has no cells


def counted(source: Source, count: Count) -> Tally:
    """The cells of some columns of a table and how often each of them is reported."""
    refuse_absent(source, (*count.columns, *([count.weight] if count.weight else [])))
    if source.far is not None:
        told: Tally = source.far.tally(count)
        return told
    with understood(source.where):
        schema = source.frame.collect_schema()
    counter = Counter(source, count, schema)
    wanted = list(dict.fromkeys((*count.columns, *([count.weight] if count.weight else []))))
    numbered = source.frame.select(wanted).with_row_index(counter.row)
    stream = numbered.map_batches(counter.take, schema={counter.row: pl.UInt32}, streamable=True)
    try:
        with understood(source.where):
            stream.collect(engine="streaming")
    except (*FAILURES, TableError):
        counter.refuse()  # says it better, if it was about what stands in a cell
        raise
    counter.refuse()
    return counter.tally()


def labels_of(source: Source, column: str) -> tuple[tuple[Any, ...], bool]:
    """The distinct values of a column in their order, and whether some are missing."""
    refuse_absent(source, (column,))
    distinct = _distinct(source, column)
    if distinct.dtype.is_nested() or distinct.dtype in (pl.Object, pl.Binary):
        raise TableError(f"Column {column!r} has values that make no cells, as lists make none.")
    gaps = source.missing if source.text else ()
    empty = distinct.is_null()
    if gaps:
        empty = empty | distinct.is_in(gaps).fill_null(True)
    if distinct.dtype.is_float():
        empty = empty | distinct.is_nan().fill_null(True)
    there = distinct.filter(~empty)
    if there.len() > MOST_LABELS:
        raise TableError(
            f"Column {column!r} has {there.len()} distinct values, too many to make cells of. "
            f"Ask for a column with fewer."
        )
    if isinstance(there.dtype, pl.Categorical | pl.Enum):
        there = there.cast(pl.String)
    return tuple(there.sort().to_list()), bool(empty.any())


def _distinct(source: Source, column: str) -> pl.Series:
    if source.far is not None:
        return source.far.distinct(column)
    with understood(source.where):
        return source.frame.select(pl.col(column).unique()).collect(engine="streaming")[column]


def refuse_absent(source: Source, columns: tuple[str, ...]) -> None:
    """Refuse columns that the table does not have."""
    absent = [name for name in columns if name not in source.names]
    if absent:
        raise TableError(
            f"{source.where} has no column {', '.join(map(repr, absent))}; it has "
            f"{', '.join(map(repr, source.names))}."
        )


def refuse_uncounted(found: list[Unseen], source: Source) -> None:
    """Refuse cells that cannot be counted, or rows that cannot be weighed."""
    together = merged(found)
    for fault in together:
        if fault.why == WEIGHTLESS:
            raise TableError(
                f"Rows cannot be weighed by {fault.sentence}. Give each a number of zero or more."
            )
    if together:
        told = "; ".join(one.sentence for one in together)
        raise DomainError(
            f"In {source.where}, {told}. The manifest is not the one of this table, or the table "
            f"was changed."
        ) from None


def refuse_wordy(weight: str, dtype: Any, source: Source) -> None:
    """Refuse weights that are no numbers, nor texts of a file in which all cells are texts."""
    if not (dtype.is_numeric() or (source.text and dtype == pl.String)):
        raise TableError(
            f"Rows cannot be weighed by column {weight!r}, which is of type {type_name(dtype)}. "
            f"Name a column of numbers."
        )


@final
class Counter:
    """What was counted so far; batches may come in any order."""

    def __init__(self, source: Source, count: Count, schema: Any) -> None:
        self.count, self.source = count, source
        step = Recode(count.columns, count.domains, lambda codes, start, ids: codes)
        self.coders = coders_of(step, source, schema)
        if count.weight is not None:
            refuse_wordy(count.weight, schema[count.weight], source)
        self.unseen: list[Unseen] = []
        self.weightless: list[Unseen] = []
        self.failure: TableError | None = None
        self.row = "row"
        while self.row in source.names:
            self.row += "_"
        self.sums: list[NDArray[Any]] = []  # counts, weights and squares of every cell
        self.parts: list[pl.DataFrame] = []
        self.pending = 0
        self.lock = Lock()  # batches are taken by several threads at once
        if count.cells <= COUNTED_IN_PLACE:
            self.sums = [np.zeros(count.cells, np.int64)]
            if count.weight:
                self.sums += [np.zeros(count.cells), np.zeros(count.cells)]

    def take(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Count one batch."""
        try:
            self._add(self._cells(batch), self._weights(batch))
        except TableError as error:
            self.failure = error
            raise
        return batch.select(self.row).clear()

    def _cells(self, batch: pl.DataFrame) -> NDArray[np.int64]:
        cells: NDArray[Any] = np.zeros(0, np.int64)
        start = int(batch[self.row][0]) if batch.height else 0
        for place, (name, size) in enumerate(
            zip(self.count.columns, self.count.sizes, strict=True)
        ):
            codes, gone, faults = self.coders[name].encode(batch[name], start)
            self.unseen += faults
            if gone is not None:
                codes = np.where(gone, size - 1, codes)
            if place == 0:
                small = len(self.count.columns) == 1
                cells = codes if small else codes.astype(np.int64)
            else:
                cells *= size
                cells += codes
        return cells

    def _weights(self, batch: pl.DataFrame) -> NDArray[np.float64] | None:
        if self.count.weight is None:
            return None
        column = batch[self.count.weight]
        if column.dtype == pl.String:
            column = column.str.strip_chars()
        numbers = column.cast(pl.Float64, strict=False).fill_null(math.nan).to_numpy()
        bad = ~(numbers >= 0) | np.isinf(numbers)
        if bad.any():
            where = first_rows(bad, int(batch[self.row][0]))
            fault = Unseen(self.count.weight, WEIGHTLESS, int(bad.sum()), where)
            self.weightless.append(fault)
        return numbers

    def _add(self, cells: NDArray[Any], weights: NDArray[np.float64] | None) -> None:
        if self.unseen or self.weightless:
            return
        if self.sums:
            size = self.count.cells
            found: list[NDArray[Any]] = [np.bincount(cells, minlength=size)]
            if weights is not None:
                found.append(np.bincount(cells, weights, minlength=size))
                found.append(np.bincount(cells, weights * weights, minlength=size))
            with self.lock:
                for sums, more in zip(self.sums, found, strict=True):
                    sums += more
            return
        part = pl.DataFrame({"cell": cells}).with_columns(count=pl.lit(1, pl.Int64))
        if weights is not None:
            part = part.with_columns(weight=pl.Series(weights), square=pl.Series(weights**2))
        with self.lock:
            self.parts.append(part)
            self.pending += part.height
            if self.pending > PENDING:
                self.parts = [self._together()]
                self.pending = 0

    def _together(self) -> pl.DataFrame:
        return pl.concat(self.parts).group_by("cell").agg(pl.all().sum())

    def refuse(self) -> None:
        """Say what could not be counted, if anything."""
        if self.failure is not None:
            raise self.failure from None
        refuse_uncounted([*self.weightless, *self.unseen], self.source)

    def tally(self) -> Tally:
        """All that was counted."""
        sizes = self.count.sizes
        if self.sums:
            cells = np.flatnonzero(self.sums[0])
            return Tally(sizes, cells, *(sums[cells] for sums in self.sums))
        if not self.parts:
            return Tally(sizes, np.zeros(0, np.int64), np.zeros(0, np.int64))
        whole = self._together().sort("cell")
        kept = [whole[name].to_numpy() for name in whole.columns]
        return Tally(sizes, *kept)
