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
from bistochastic.tables.base import Ranks, Step, Unseen, merged
from bistochastic.tables.batches import Steps, coders_of, refusal
from bistochastic.tables.numbers import as_numbers
from bistochastic.tables.ragged import refuse_short
from bistochastic.tables.sources import Source, understood

__all__ = ["FAILURES", "Local", "as_numbers", "coders_of", "ranked", "refuse_full", "sink"]

ROW_GROUP = 250_000  # rows of a Parquet row group and of an Arrow batch, whatever the batches were
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
PACKED: dict[str, Any] = {"csv": "uncompressed", "csv.gz": "gzip", "csv.zst": "zstd"}
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
        Steps.of(self.steps, self.records, self.source, schema)  # refuses domains that do not fit
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
        return self._run(lambda lazy: sink(lazy, path, self.source))[1]

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
        return refusal(self.surveyed() or batches.unseen)


class _Batches:
    """The steps, bound to the columns of one table: a function from batch to batch."""

    def __init__(self, table: Local, *, survey: bool = False) -> None:
        source = table.source
        with understood(source.where):
            self.schema = source.frame.collect_schema()
        self.table, self.survey = table, survey
        self.row = _unused("row", source.names)
        self.steps = Steps.of(table.steps, table.records, source, self.schema)
        self.unseen: list[Unseen] = []
        self.failure: BistochasticError | None = None
        self.rows = 0
        self.gaps = False  # in the last column, where a row that is too short leaves one

    def lazy(self) -> pl.LazyFrame:
        """The stream of masked batches, in the order of the rows."""
        numbered = self.table.source.frame.with_row_index(self.row)
        if self.survey:
            return numbered.select(self.row, *self.steps.looked_at).map_batches(
                self._looked, schema={self.row: pl.UInt32}, streamable=True
            )
        types = {name: column.dtype for name, column in self.table.ranked.items()}
        after = self.steps.after(self.schema, types)
        return numbered.map_batches(self._mapped, schema=after, streamable=True)

    def _looked(self, batch: pl.DataFrame) -> pl.DataFrame:
        self.unseen += self.steps.surveyed(batch, _start(batch, self.row))
        return batch.select(self.row).clear()

    def _mapped(self, batch: pl.DataFrame) -> pl.DataFrame:
        start = _start(batch, self.row)
        ranked = {
            name: column.slice(start, batch.height) for name, column in self.table.ranked.items()
        }
        try:
            masked, unseen = self.steps.masked(batch.drop(self.row), start, ranked)
        except BistochasticError as error:
            self.failure = error
            raise
        self.unseen += unseen
        if self.unseen:
            raise DomainError("A value cannot be coded.")  # told in full by whoever runs this
        self.rows = max(self.rows, start + batch.height)
        self.gaps = self.gaps or batch[self.table.source.names[-1]].null_count() > 0
        self.table.on_rows(batch.height)
        return masked


def sink(lazy: pl.LazyFrame, path: Path, source: Source) -> None:
    """Stream a table into a file of the format that it came in."""
    if source.format in ("parquet", "frame"):
        lazy.sink_parquet(path, row_group_size=ROW_GROUP, statistics=False)
    elif source.format == "arrow":
        lazy.sink_ipc(path, record_batch_size=ROW_GROUP)
    else:
        lazy.sink_csv(
            path,
            separator=source.delimiter,
            null_value=source.gap,
            compression=PACKED[source.format],
        )


def refuse_full(said: str) -> None:
    """Tell a disk that is full, as a writer's own words show it, from a table that is damaged."""
    full = [os.strerror(number) for number in FULL if f"os error {number})" in said]
    if full:
        raise ReleaseError(
            f"The release cannot be written: {full[0]}. Nothing was published. Make room, or give "
            f"a folder elsewhere."
        ) from None


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


def _start(batch: pl.DataFrame, row: str) -> int:
    return int(batch[row][0]) if batch.height else 0


def _unused(name: str, names: Sequence[str]) -> str:
    while name in names:
        name += "_"
    return name
