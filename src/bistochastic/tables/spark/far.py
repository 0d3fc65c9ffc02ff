"""Far: the rows of a frame of Spark, which are counted where they are."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812  # as everybody calls it

from bistochastic.errors import TableError
from bistochastic.estimate.tally import Tally
from bistochastic.tables.base import SHOWN, Unseen
from bistochastic.tables.counting import Count
from bistochastic.tables.sources import STAYS, Source
from bistochastic.tables.spark.parcel import jobs
from bistochastic.tables.spark.readers import Reader
from bistochastic.tables.spark.reading import WHERE, of_frame, quoted
from bistochastic.tables.spark.session import setting
from bistochastic.tables.spark.types import polars_schema
from bistochastic.tables.tallies import MOST_LABELS, Counter, refuse_uncounted

__all__ = ["Frame", "from_spark"]

CELLS = pa.schema(
    [("cell", pa.int64()), ("count", pa.int64()), ("weight", pa.float64()),
     ("square", pa.float64()), ("column", pa.string()), ("why", pa.string()),
     ("rows", pa.list_(pa.int64()))]
)  # fmt: skip
DDL = (
    "cell long, count long, weight double, square double, column string, why string, "
    "rows array<long>"
)


def from_spark(frame: Any) -> Source:
    """A frame of Spark as a source: its names and types; its rows stay where they are."""
    if not hasattr(frame, "_jdf"):
        raise TableError(
            "A frame of Spark Connect has no partitions that its client sees. Write it to Parquet "
            "and give the path, or use a classic session."
        )
    zone = setting(frame.sparkSession, "spark.sql.session.timeZone", "UTC")
    types = polars_schema(frame.schema, zone, WHERE)
    source = Source(pl.LazyFrame(schema=types), tuple(frame.columns), "frame", WHERE)
    away = source.frame.map_batches(_not_here, schema=types)
    return replace(source, frame=away, far=Frame(frame, source))


def _not_here(batch: pl.DataFrame) -> pl.DataFrame:
    raise TableError(f"{WHERE} cannot be read: {STAYS}. Bring them, if they fit: frame.toArrow().")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A frame of Spark that answers with counts."""

    frame: Any
    source: Source

    def tally(self, count: Count) -> Tally:
        """The cells that occur, added up by the workers; sums of weights as they come."""
        columns = list(dict.fromkeys((*count.columns, *([count.weight] if count.weight else []))))
        reading = of_frame(self.frame, self.source)
        work = Counting(reading.reader, self.source, count, columns, reading.schema)
        rows = F.slice(F.sort_array(F.flatten(F.collect_list("rows"))), 1, SHOWN)
        sums = [F.sum(name).alias(name) for name in ("count", "weight", "square")]
        with jobs():
            told = reading.job(work, DDL, columns).groupBy("cell", "column", "why")
            found = pl.DataFrame(pl.from_arrow(told.agg(*sums, rows.alias("rows")).toArrow()))
        refuse_uncounted(
            [
                Unseen(column, why, many, tuple(where))
                for column, why, many, where in found.filter(pl.col("cell").is_null())
                .select("column", "why", "count", "rows")
                .iter_rows()
            ],
            self.source,
        )
        cells = found.sort("cell")
        kept = ["cell", "count", *(["weight", "square"] if count.weight else [])]
        return Tally(count.sizes, *(cells[name].to_numpy() for name in kept))

    def distinct(self, column: str) -> pl.Series:
        """The distinct values of a column, so long as they are few enough to make cells."""
        few = self.frame.select(quoted(column)).distinct()
        with jobs():
            if few.count() > MOST_LABELS:
                raise TableError(
                    f"Column {column!r} has more than {MOST_LABELS} distinct values, too many to "
                    f"make cells of. Ask for a column with fewer."
                )
            return pl.DataFrame(pl.from_arrow(few.toArrow()))[column]


@final
@dataclass(frozen=True, slots=True)
class Counting:
    """Counts the cells of a partition, or finds what cannot be counted."""

    reader: Reader
    source: Source
    count: Count
    columns: list[str]
    schema: Any

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        source = replace(self.source, frame=pl.LazyFrame(schema=self.schema))
        counter = Counter(source, self.count, self.schema)
        for rows, frame in self.reader(batches, self.columns):
            start = rows if isinstance(rows, int) else int(rows.min(initial=0))
            counter.take(frame.with_row_index(counter.row, offset=start))
        faults = [*counter.unseen, *counter.weightless]
        yield told(counter.tally()) if not faults else faulty(faults)


def told(tally: Tally) -> Any:
    """Counted cells as a batch."""
    nothing = [None] * tally.cells.size
    sums = [nothing if one is None else one for one in (tally.weights, tally.squares)]
    columns = [tally.cells.astype(np.int64), tally.counts, *sums, nothing, nothing, nothing]
    return pa.RecordBatch.from_arrays(
        [pa.array(one, field.type) for one, field in zip(columns, CELLS, strict=True)],
        schema=CELLS,
    )


def faulty(faults: list[Unseen]) -> Any:
    """Cells that cannot be counted as a batch."""
    columns = {
        "cell": [None for _ in faults],
        "count": [one.count for one in faults],
        "weight": [None for _ in faults],
        "square": [None for _ in faults],
        "column": [one.column for one in faults],
        "why": [one.why for one in faults],
        "rows": [list(one.rows) for one in faults],
    }
    return pa.RecordBatch.from_pydict(columns, schema=CELLS)
