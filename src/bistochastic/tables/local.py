"""One machine: a table streams through its steps in batches, on Polars."""

import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.errors import BistochasticError, DomainError, ReleaseError, TableError
from bistochastic.tables.base import (
    Drop,
    Names,
    Ranks,
    Recode,
    Step,
    Unseen,
    first_rows,
    merged,
)
from bistochastic.tables.labels import MISSING, UNSEEN, Coder, coder, type_name
from bistochastic.tables.ragged import refuse_short
from bistochastic.tables.sources import Source, understood

__all__ = ["Local"]

ROW_GROUP = 250_000  # rows of a Parquet row group and of an Arrow batch, whatever the batches were
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
NAMELESS = "without a record id"
PACKED: dict[str, Any] = {"csv": "uncompressed", "csv.gz": "gzip", "csv.zst": "zstd"}
REMEDIES = {
    UNSEEN: "Add the labels to the domain of the plan, or name the one that others are to be "
    "counted under (`other`).",
    MISSING: 'Say missing = "category" in the plan, which hides who gave no answer.',
    NAMELESS: "Give every row its id: answers that are permanent need one.",
}

Report = Callable[[int], None]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """A table on this machine, and what its steps make of it."""

    source: Source
    steps: tuple[Step, ...]
    records: str | None = None  # the column that addresses permanent answers
    on_rows: Report = field(default=lambda rows: None)
    ranked: dict[str, pl.Series] = field(default_factory=dict, repr=False)  # numbers, masked

    def counted(self) -> int:
        """How many rows there are."""
        for column in self.ranked.values():
            return column.len()
        with understood(self.source.where):
            return int(self.source.frame.select(pl.len()).collect(engine="streaming").item())

    def prepared(self) -> "Local":
        """The same table after what needs a whole column: ranks masked, types looked at."""
        with understood(self.source.where):
            schema = self.source.frame.collect_schema()
        for step in self.steps:
            if isinstance(step, Recode):
                coders_of(step, self.source, schema)  # refuses domains that do not fit
        done = {
            step.column: ranked(self.source, schema, step)
            for step in self.steps
            if isinstance(step, Ranks)
        }
        return replace(self, ranked=done)

    def masked(self) -> pl.DataFrame:
        """The whole masked table, for what fits memory."""
        frame: pl.DataFrame = self._run(lambda lazy: lazy.collect(engine="streaming"))[0]
        return frame

    def write(self, path: Path) -> int:
        """Stream the masked table into a file of the format it came in, and count its rows."""
        format_, delimiter = self.source.format, self.source.delimiter
        gap = next((text for text in self.source.missing if not text), "")

        def sink(lazy: pl.LazyFrame) -> None:
            if format_ in ("parquet", "frame"):
                lazy.sink_parquet(path, row_group_size=ROW_GROUP, statistics=False)
            elif format_ == "arrow":
                lazy.sink_ipc(path, record_batch_size=ROW_GROUP)
            else:
                lazy.sink_csv(
                    path,
                    separator=delimiter,
                    null_value=gap,
                    compression=PACKED[format_],
                )

        return self._run(sink)[1]

    def _run(self, consume: Callable[[pl.LazyFrame], Any]) -> tuple[Any, int]:
        """Consume the stream and count its rows; a failure inside comes out as it was raised."""
        batches = _Batches(self)
        try:
            made = consume(batches.lazy())
            if batches.gaps:
                refuse_short(self.source)
            return made, batches.rows
        except (*FAILURES, BistochasticError) as error:
            if batches.unseen:
                raise self._refusal(batches) from None
            if batches.failure is not None:
                raise batches.failure from None
            refuse_full(str(error))
            with understood(self.source.where):
                raise

    def surveyed(self) -> list[Unseen]:
        """Every cell that cannot be coded, counted over the whole table."""
        survey = _Batches(self, survey=True)
        with understood(self.source.where):
            survey.lazy().collect(engine="streaming")
        return sorted(merged(survey.unseen), key=lambda one: one.column)

    def _refusal(self, batches: "_Batches") -> DomainError:
        found = self.surveyed() or merged(batches.unseen)
        told = "; ".join(one.sentence for one in found)
        remedies = " ".join(REMEDIES[why] for why in REMEDIES if any(f.why == why for f in found))
        return DomainError(f"{told[:1].upper()}{told[1:]}. Nothing was written. {remedies}")


class _Batches:
    """The steps, bound to the columns of one table: a function from batch to batch."""

    def __init__(self, table: Local, *, survey: bool = False) -> None:
        source = table.source
        with understood(source.where):
            self.schema = source.frame.collect_schema()
        self.table, self.survey = table, survey
        self.row = _unused("row", source.names)
        self.coders: dict[str, Coder] = {}
        for step in table.steps:
            if isinstance(step, Recode):
                self.coders |= coders_of(step, source, self.schema)
        self.unseen: list[Unseen] = []
        self.failure: BistochasticError | None = None
        self.rows = 0
        self.gaps = False  # in the last column, where a row that is too short leaves one

    def lazy(self) -> pl.LazyFrame:
        """The stream of masked batches, in the order of the rows."""
        numbered = self.table.source.frame.with_row_index(self.row)
        if self.survey:
            wanted = [self.row, *self.coders]
            if self.table.records is not None and self.table.records not in wanted:
                wanted.append(self.table.records)
            return numbered.select(wanted).map_batches(
                self._looked, schema={self.row: pl.UInt32}, streamable=True
            )
        return numbered.map_batches(self._mapped, schema=self._after(), streamable=True)

    def _after(self) -> dict[str, Any]:
        """The columns that come out, in their order, with their types."""
        types: dict[str, Any] = dict(self.schema)
        for step in self.table.steps:
            if isinstance(step, Drop):
                del types[step.column]
            elif isinstance(step, Ranks):
                types[step.column] = self.table.ranked[step.column].dtype
            elif isinstance(step, Names):
                types[step.column] = pl.String
        return types

    def _looked(self, batch: pl.DataFrame) -> pl.DataFrame:
        start = _start(batch, self.row)
        for one in self.coders.values():
            self.unseen += one.encode(batch[one.column], start)[2]
        if self.table.records is not None:
            self._ids(batch, start)
        return batch.select(self.row).clear()

    def _mapped(self, batch: pl.DataFrame) -> pl.DataFrame:
        try:
            masked = self._step(batch)
        except BistochasticError as error:
            self.failure = error
            raise
        if self.unseen:
            raise DomainError("A value cannot be coded.")  # told in full by whoever runs this
        self.rows = max(self.rows, _start(batch, self.row) + batch.height)
        self.gaps = self.gaps or batch[self.table.source.names[-1]].null_count() > 0
        self.table.on_rows(batch.height)
        return masked

    def _step(self, batch: pl.DataFrame) -> pl.DataFrame:
        start = _start(batch, self.row)
        ids = self._ids(batch, start)
        if self.unseen:
            return batch
        kept = {column.name: column for column in batch.iter_columns() if column.name != self.row}
        for step in self.table.steps:
            if isinstance(step, Recode):
                kept |= self._recoded(step, batch, start, ids)
            elif isinstance(step, Ranks):
                kept[step.column] = self.table.ranked[step.column].slice(start, batch.height)
            elif isinstance(step, Names):
                kept[step.column] = _named(step, batch[step.column])
            else:
                del kept[step.column]
        return pl.DataFrame(list(kept.values()))

    def _recoded(
        self, step: Recode, batch: pl.DataFrame, start: int, ids: Any
    ) -> dict[str, pl.Series]:
        coders = [self.coders[column] for column in step.columns]
        encoded = [one.encode(batch[one.column], start) for one in coders]
        self.unseen += [fault for _, _, faults in encoded for fault in faults]
        if self.unseen:
            return {}
        reports = step.kernel(tuple(codes for codes, _, _ in encoded), start, ids)
        return {
            one.column: one.decode(codes, gone)
            for one, codes, (_, gone, _) in zip(coders, reports, encoded, strict=True)
        }

    def _ids(self, batch: pl.DataFrame, start: int) -> Any:
        if self.table.records is None:
            return None
        ids = batch[self.table.records]
        if ids.null_count():
            where = first_rows(ids.is_null().to_numpy(), start)
            self.unseen.append(Unseen(ids.name, NAMELESS, ids.null_count(), where))
            return None
        return as_ids(ids)


def refuse_full(said: str) -> None:
    """Tell a disk that is full, as a writer's own words show it, from a table that is damaged."""
    full = [os.strerror(number) for number in FULL if f"os error {number})" in said]
    if full:
        raise ReleaseError(
            f"The release cannot be written: {full[0]}. Nothing was published. Make room, or give "
            f"a folder elsewhere."
        ) from None


def coders_of(step: Recode, source: Source, schema: Any) -> dict[str, Coder]:
    """The coders of the columns of a step in a table with such types."""
    gaps = source.missing if source.text else ()
    return {
        column: coder(column, domain, schema[column], text=source.text, gaps=gaps)
        for column, domain in zip(step.columns, step.domains, strict=True)
    }


def as_ids(ids: pl.Series) -> Any:
    """Record ids as whole numbers or texts."""
    if ids.dtype.is_integer() and ids.dtype not in (pl.Int128, pl.UInt128):
        return ids.to_numpy()
    if ids.dtype.is_nested() or ids.dtype in (pl.Binary, pl.Duration, pl.Object):
        raise TableError(
            f"Column {ids.name!r} is of type {type_name(ids.dtype)}, which names nobody. Make it "
            f"texts or whole numbers."
        )
    return ids.cast(pl.String).to_list()


def _named(step: Names, ids: pl.Series) -> pl.Series:
    """Pseudonyms; a missing identifier stays missing."""
    present = ids.drop_nulls()
    told = pl.Series(step.column, step.kernel(as_ids(present)), dtype=pl.String)
    if present.len() == ids.len():
        return told
    places = ids.is_not_null().cum_sum().cast(pl.UInt32) - 1
    kept = pl.Series(np.where(ids.is_not_null().to_numpy(), places.fill_null(0).to_numpy(), 0))
    spread = told.gather(kept) if told.len() else pl.Series([None] * ids.len(), dtype=pl.String)
    return spread.zip_with(ids.is_not_null(), pl.Series([None], dtype=pl.String)).rename(ids.name)


def ranked(source: Source, schema: Any, step: Ranks) -> pl.Series:
    """A numeric column masked by its ranks; the first of two passes, over this column alone."""
    wanted = [step.column] if step.by is None else [step.column, step.by]
    with understood(source.where):
        columns = source.frame.select(wanted).collect(engine="streaming")
    column = columns[step.column]
    numbers, present = as_numbers(column, source)
    order: NDArray[Any] | None = None
    if step.by is not None:
        keys, known = as_numbers(columns[step.by], source)
        if (present & ~known).any():
            raise TableError(
                f"Column {step.by!r} orders the individuals of {step.column!r} but is missing for "
                f"{int((present & ~known).sum())} of them. Order by a column that is complete."
            )
        order = keys[present]
    elif step.by_position:
        order = np.arange(int(present.sum()))
    rows = np.flatnonzero(present)
    answer = step.kernel(numbers[present], order)
    if step.averages:
        means = np.full(column.len(), np.nan)
        means[rows] = answer
        return (
            pl.Series(step.column, means).fill_nan(None)
            if rows.size < column.len()
            else (pl.Series(step.column, means))
        )
    taken = np.arange(column.len(), dtype=np.uint32 if column.len() < 1 << 32 else np.uint64)
    taken[rows] = rows[answer]
    return column.gather(pl.Series(taken))


def as_numbers(column: pl.Series, source: Source) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Numbers to rank a column by, and where there are any; dates and times count as numbers."""
    numbers = _parsed(column, source) if column.dtype == pl.String else column
    if column.dtype.is_temporal():
        numbers = column.to_physical()
    elif column.dtype.is_decimal() or column.dtype in (pl.Int128, pl.UInt128):
        numbers = column.cast(pl.Float64)
    if not numbers.dtype.is_numeric():
        raise TableError(
            f"Column {column.name!r} of {source.where} is of type {type_name(column.dtype)}, not "
            f"numeric. Give it the kind nominal or ordinal, with its domain."
        )
    missing = numbers.is_null()
    if numbers.dtype.is_float():
        missing = missing | numbers.is_nan().fill_null(True)
        endless = numbers.is_infinite().fill_null(False)
        if endless.any():
            fault = Unseen(
                column.name,
                "with an infinite number",
                int(endless.sum()),
                first_rows(endless.to_numpy()),
            )
            raise TableError(f"In {source.where}, {fault.sentence}. Make them missing, or finite.")
    return numbers.fill_null(0).to_numpy(), ~missing.to_numpy()


def _parsed(column: pl.Series, source: Source) -> pl.Series:
    """Numbers out of texts: whole ones if all are, else decimals."""
    texts = column
    if source.missing:
        texts = column.set(column.is_in(source.missing).fill_null(False), None)
    texts = texts.str.strip_chars()
    for dtype in (pl.Int64, pl.Float64):
        numbers = texts.cast(dtype, strict=False)
        if numbers.null_count() == texts.null_count():
            return numbers
    strange = (numbers.is_null() & texts.is_not_null()).to_numpy()
    fault = Unseen(
        column.name, "that cannot be read as a number", int(strange.sum()), first_rows(strange)
    )
    raise TableError(
        f"In {source.where}, {fault.sentence}. Name what stands for missing under [file] in the "
        f"plan; a decimal is written with a point."
    )


def _start(batch: pl.DataFrame, row: str) -> int:
    return int(batch[row][0]) if batch.height else 0


def _unused(name: str, names: Sequence[str]) -> str:
    while name in names:
        name += "_"
    return name
