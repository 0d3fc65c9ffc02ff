"""Readers: how a worker comes to rows that know their numbers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np
import polars as pl

from bistochastic.errors import TableError
from bistochastic.tables.base import Rows
from bistochastic.tables.sources import Source
from bistochastic.tables.spark.pieces import Lines, Span

__all__ = ["Addressed", "FromFile", "InOrder", "Reader", "Tallying", "attempt", "frame_of", "here"]

Read = Iterator[tuple[Rows, pl.DataFrame]]


class Reader(Protocol):
    """What makes rows with their numbers of the batches that Spark gives to a worker."""

    def __call__(self, batches: Iterator[Any], columns: list[str] | None) -> Read:
        """All columns, or some, of the rows of one partition."""


@final
@dataclass(frozen=True, slots=True)
class Addressed:
    """Rows that bring their numbers in a column."""

    row: str

    def __call__(self, batches: Iterator[Any], columns: list[str] | None) -> Read:
        for batch in batches:
            frame = frame_of(batch)
            rows = frame[self.row].to_numpy()
            yield in_sequence(rows), frame.drop(self.row)


@final
@dataclass(frozen=True, slots=True)
class InOrder:
    """Rows that are numbered as they come: partition by partition."""

    counts: dict[int, int]  # the rows of each partition, when they were counted

    def __call__(self, batches: Iterator[Any], columns: list[str] | None) -> Read:
        partition = here()
        start = at = sum(count for before, count in self.counts.items() if before < partition)
        for batch in batches:
            yield at, frame_of(batch)
            at += batch.num_rows
        if at - start != self.counts.get(partition, 0):
            raise TableError(
                "The frame gave other rows when Spark read it again, so that they have no numbers. "
                "Checkpoint it first, or name a record id in the plan (`records`)."
            )


@final
@dataclass(frozen=True, slots=True)
class FromFile:
    """Rows that the worker reads itself; Spark says which piece of the file."""

    source: Source
    pieces: tuple[Span | Lines, ...]

    def __call__(self, batches: Iterator[Any], columns: list[str] | None) -> Read:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                piece = self.pieces[place]
                yield piece.start, piece.read(self.source, columns)


@final
@dataclass(frozen=True, slots=True)
class Tallying:
    """Counts the rows of each partition."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        rows = sum(batch.num_rows for batch in batches)
        yield pa.RecordBatch.from_pydict({"place": [here()], "rows": [rows]})


def here() -> int:
    """The number of the partition that is being worked on."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def attempt() -> int:
    """The number of this try at the partition: two of them may run at once."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.taskAttemptId())


def frame_of(batch: Any) -> pl.DataFrame:
    """A batch of Arrow as Polars has it."""
    return pl.DataFrame(pl.from_arrow(batch))


def in_sequence(rows: Any) -> Rows:
    """The first of rows that follow each other, or all of them."""
    if not rows.size:
        return 0
    first = int(rows[0])
    follow = int(rows[-1]) - first == rows.size - 1 and bool((np.diff(rows) == 1).all())
    return first if follow else rows
