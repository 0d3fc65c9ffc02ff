"""What workers do: each a function from the batches of a partition to those that come out."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import polars as pl
import pyarrow as pa

from bistochastic.errors import ReleaseError
from bistochastic.masking.stretches import Means, Moves
from bistochastic.tables.base import Rows, Unseen
from bistochastic.tables.batches import Steps, refusal
from bistochastic.tables.numbers import Numbers, sortable
from bistochastic.tables.sources import Source
from bistochastic.tables.spark.readers import Reader, attempt, frame_of, here
from bistochastic.tables.spark.types import as_batches

__all__ = [
    "DECIMAL",
    "FOUND",
    "LOST",
    "PARTS",
    "RANKED",
    "Averaging",
    "Blocking",
    "Looking",
    "Masking",
    "Placing",
    "Ranking",
    "Surveying",
    "Writing",
]

Batches = Iterator[Any]
FOUND = pa.schema(
    [("column", pa.string()), ("why", pa.string()), ("count", pa.int64()),
     ("rows", pa.list_(pa.int64()))]
)  # fmt: skip
PARTS = pa.schema(
    [("first", pa.int64()), ("last", pa.int64()), ("rows", pa.int64()), ("sorted", pa.bool_()),
     ("file", pa.string())]
)  # fmt: skip
RANKED = "rank"
DECIMAL = "not all of them whole"
LOST = "without what orders them"


@final
@dataclass(frozen=True, slots=True)
class Surveying:
    """Finds the cells that cannot be coded."""

    reader: Reader
    steps: Steps

    def __call__(self, batches: Batches) -> Batches:
        for rows, frame in self.reader(batches, self.steps.looked_at):
            yield found(self.steps.surveyed(frame, rows))


def found(unseen: list[Unseen]) -> Any:
    """Findings as a batch."""
    columns = {
        "column": [one.column for one in unseen],
        "why": [one.why for one in unseen],
        "count": [one.count for one in unseen],
        "rows": [list(one.rows) for one in unseen],
    }
    return pa.RecordBatch.from_pydict(columns, schema=FOUND)


@final
@dataclass(frozen=True, slots=True)
class Masking:
    """Masks rows; with the name of a column for their numbers, those come along."""

    reader: Reader
    steps: Steps
    schema: Any  # of what comes out
    row: str | None

    def __call__(self, batches: Batches) -> Batches:
        for rows, frame in self.reader(batches, None):
            masked, unseen = self.steps.masked(frame, rows, {})
            if unseen:
                raise refusal(unseen)
            if self.row is not None:
                masked = masked.insert_column(0, pl.Series(self.row, numbers(rows, frame.height)))
            yield from as_batches(masked, self.schema)


def numbers(rows: Rows, count: int) -> Any:
    """The number of each row."""
    return np.arange(rows, rows + count) if isinstance(rows, int) else rows


def ranked(reader: Reader, batches: Batches) -> Iterator[tuple[int, int, pl.DataFrame]]:
    """Rows in the order of their ranks, and from which rank to which they go."""
    for start, frame in reader(batches, None):
        assert isinstance(start, int)  # ranks follow each other
        yield start, start + frame.height, frame


@final
@dataclass(frozen=True, slots=True)
class Writing:
    """Masks rows and writes them into files of their own, one a partition and run of rows."""

    reader: Reader
    steps: Steps | None  # None where they are masked already
    types: Any  # None, or back from what Spark made of them
    folder: str
    source: Source

    def __call__(self, batches: Batches) -> Batches:
        if not Path(self.folder).is_dir():
            raise ReleaseError(
                "A worker of Spark does not see the folder of the release. Give one that all of "
                "them see, or write the frame (`release.data`) with Spark."
            )
        for place, (rows, frame) in enumerate(self.reader(batches, None)):
            if not frame.height:
                continue
            masked, unseen = (
                (frame, []) if self.steps is None else self.steps.masked(frame, rows, {})
            )
            if unseen:
                raise refusal(unseen)
            if self.types is not None:
                masked = masked.cast(self.types)
            each = numbers(rows, frame.height)
            name = f"{here():08d}-{place:08d}"
            self._write(masked, Path(self.folder) / name)
            rising = bool((np.diff(each) > 0).all())
            told = (int(each[0]), int(each[-1]), frame.height, rising, name)
            columns = dict(zip(PARTS.names, ([one] for one in told), strict=True))
            yield pa.RecordBatch.from_pydict(columns, schema=PARTS)

    def _write(self, masked: pl.DataFrame, path: Path) -> None:
        hidden = path.with_suffix(f".{attempt()}.tmp")
        try:
            if self.source.text:
                masked.write_csv(
                    hidden,
                    include_header=False,
                    separator=self.source.delimiter,
                    null_value=self.source.gap,
                )
            else:
                masked.write_ipc(hidden, compression="lz4")
            hidden.rename(path)
        except OSError as error:
            raise ReleaseError(
                f"The release cannot be written: {error.strerror or 'the disk may be full'}. "
                f"Nothing was published. Make room, or give a folder elsewhere."
            ) from None


@final
@dataclass(frozen=True, slots=True)
class Looking:
    """Looks at the numbers of columns, and at what orders them, before they are ranked."""

    reader: Reader
    source: Source
    pairs: tuple[tuple[str, str | None], ...]  # a column, and what orders it

    def __call__(self, batches: Batches) -> Batches:
        wanted = list(dict.fromkeys(name for pair in self.pairs for name in pair if name))
        for rows, frame in self.reader(batches, wanted):
            seen = {name: Numbers.of(frame[name], self.source, rows) for name in wanted}
            told = [one for numbers in seen.values() for one in numbers.strange]
            told += [Unseen(name, DECIMAL, 1, ()) for name in wanted if not seen[name].whole]
            for column, by in self.pairs:
                lost = 0 if by is None else (seen[column].present & ~seen[by].present).sum()
                told += [Unseen(column, LOST, int(lost), ())] if lost else []
            yield found(told)


@final
@dataclass(frozen=True, slots=True)
class Ranking:
    """What a column is sorted by: a whole number in the order of its values, then the row."""

    reader: Reader
    source: Source
    column: str
    by: str | None
    by_position: bool
    whole: dict[str, bool]
    averages: bool
    schema: Any

    def __call__(self, batches: Batches) -> Batches:
        wanted = [self.column] if self.by in (None, self.column) else [self.column, self.by]
        for rows, frame in self.reader(batches, wanted):
            values = frame[self.column]
            mine = Numbers.of(values, self.source, whole=self.whole[self.column])
            there = mine.present
            keys = sortable(mine.values)
            if self.by is not None:
                whole = self.whole[self.by]
                keys = sortable(Numbers.of(frame[self.by], self.source, whole=whole).values)
            elif self.by_position:
                keys = np.zeros(frame.height, dtype=np.int64)
            told = pl.Series(mine.values.astype(np.float64)) if self.averages else values
            columns = {
                "row": pl.Series(numbers(rows, frame.height)),
                "key": pl.Series(keys),
                "value": told,
            }
            yield from as_batches(pl.DataFrame(columns).filter(pl.Series(there)), self.schema)


@final
@dataclass(frozen=True, slots=True)
class Placing:
    """Of ranked rows either where their values go, or with which rank the value comes.

    The reader numbers rows that are sorted by rank.
    """

    reader: Reader
    moves: Moves
    comes: bool
    schema: Any

    def __call__(self, batches: Batches) -> Batches:
        for start, stop, frame in ranked(self.reader, batches):
            if self.comes:
                ranks, told = self.moves.came(start, stop), frame["row"]
            else:
                ranks, told = np.arange(start, stop), frame["value"]
            yield from as_batches(pl.DataFrame([pl.Series(RANKED, ranks), told]), self.schema)


@final
@dataclass(frozen=True, slots=True)
class Blocking:
    """Ranked rows with the number of their block."""

    reader: Reader
    means: Means
    schema: Any

    def __call__(self, batches: Batches) -> Batches:
        for start, stop, frame in ranked(self.reader, batches):
            block, rank = self.means.block_of(start, stop), np.arange(start, stop)
            told = frame.select("row", "value").with_columns(block=block, rank=rank)
            yield from as_batches(told.select("block", "rank", "row", "value"), self.schema)


@final
@dataclass(frozen=True, slots=True)
class Averaging:
    """The means of blocks, each of which stands whole in this partition, in the order of ranks."""

    means: Means
    schema: Any

    def __call__(self, batches: Batches) -> Batches:
        kept: pl.DataFrame | None = None
        for batch in batches:
            frame = frame_of(batch)
            if not frame.height:
                continue
            frame = frame if kept is None else pl.concat([kept, frame])
            unended = frame["block"] == frame["block"][-1]
            kept = frame.filter(unended)
            yield from self._averaged(frame.filter(~unended))
        if kept is not None:
            yield from self._averaged(kept)

    def _averaged(self, frame: pl.DataFrame) -> Batches:
        if frame.height:
            values = frame["value"].to_numpy()
            means = self.means.over(int(frame["block"][0]), values)
            told = frame.select("row", pl.Series("value", means))
            yield from as_batches(told, self.schema)
