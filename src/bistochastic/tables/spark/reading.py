"""Reading: a file, or a frame of Spark, as rows that have numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import polars as pl
from pyspark.sql import functions as F  # noqa: N812  # as everybody calls it

from bistochastic.errors import TableError
from bistochastic.tables.ragged import refuse_short
from bistochastic.tables.sources import Source
from bistochastic.tables.spark.parcel import jobs, over
from bistochastic.tables.spark.pieces import COUNTED, Bytes, Counting, Lines, Stamp, joined, spans
from bistochastic.tables.spark.readers import Addressed, FromFile, InOrder, Reader, Tallying
from bistochastic.tables.spark.session import parallelism, piece_bytes, session, setting

__all__ = ["WHERE", "Reading", "counted", "quoted", "reading", "unused"]

WHERE = "the pyspark frame"
READ = {"LogicalRelation", "Project", "Filter", "SubqueryAlias", "View", "ResolvedHint"}
MOVED = READ | {"Repartition", "RepartitionByExpression", "RebalancePartitions", "Sort"}


@final
@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A frame of Spark, and what makes rows with numbers of its partitions."""

    spark: Any
    base: Any
    reader: Reader
    schema: Any  # of the columns, as Polars has them
    count: int
    in_order: bool  # whether the numbers rise from partition to partition

    @property
    def zone(self) -> str:
        """The time zone of the session, in which its moments are told."""
        return setting(self.spark, "spark.sql.session.timeZone", "UTC")

    def job(self, work: Any, schema: Any, columns: list[str] | None = None) -> Any:
        """The frame that work on each partition makes; of some columns where no more are needed."""
        base = self.base
        if columns is not None and not isinstance(self.reader, FromFile):
            row = [self.reader.row] if isinstance(self.reader, Addressed) else []
            base = base.select(*map(quoted, [*row, *dict.fromkeys(columns)]))
        return over(base, work, schema)


def quoted(name: str) -> Any:
    """A column by its very name, dots and all."""
    return F.col("`" + name.replace("`", "``") + "`")


def unused(name: str, names: Sequence[str]) -> str:
    """A name for a column that no other has, whatever the case of its letters."""
    taken = {other.lower() for other in names}
    while name in taken:
        name += "_"
    return name


def reading(given: Any, source: Source) -> Reading:
    """A path or a frame of Spark, ready to be read."""
    if isinstance(given, str | Path):
        return of_file(Path(given), source, session())
    return of_frame(given, source)


def of_file(path: Path, source: Source, spark: Any) -> Reading:
    """A file that all workers see, each of which reads pieces of it."""
    stamp = Stamp.of(path)
    if source.format not in ("csv", "parquet"):
        raise TableError(
            f"{source.where} is of a format that workers cannot share. Make it CSV or Parquet, or "
            f"use the local engine."
        )
    schema = source.frame.collect_schema()
    bare = replace(source, frame=pl.LazyFrame(schema=schema), back=None, lines=None)
    wanted = max(-(-stamp.size // piece_bytes(spark)), parallelism(spark))
    if source.format == "csv":
        pieces: tuple[Any, ...] = tuple(_lines(stamp, source, spark, wanted))
    else:
        rows = int(source.frame.select(pl.len()).collect().item())
        pieces = tuple(spans(stamp, rows, wanted, _row_groups(path)))
    count = sum(piece.rows for piece in pieces)
    base = spark.range(0, len(pieces), 1, max(len(pieces), 1))
    return Reading(spark, base, FromFile(bare, pieces), schema, count, in_order=True)


def _row_groups(path: Path) -> list[int]:
    """Where the row groups of a Parquet file end."""
    from pyarrow import parquet

    told, ends = parquet.read_metadata(path), [0]
    for group in range(told.num_row_groups):
        ends.append(ends[-1] + told.row_group(group).num_rows)
    return ends


def _lines(stamp: Stamp, source: Source, spark: Any, wanted: int) -> list[Lines]:
    """The pieces of a text file, after its workers have counted line ends and quotes."""
    with Path(stamp.path).open("rb") as file:
        header = file.readline()
        file.seek(max(stamp.size - 1, 0))
        unended = file.read() != b"\n"
    body = stamp.size - len(header)
    step = max(-(-body // wanted), 1)
    starts = range(len(header), stamp.size, step)
    pieces = tuple(Bytes(stamp, at, min(at + step, stamp.size)) for at in starts)
    if not pieces:
        return []
    base = spark.range(0, len(pieces), 1, len(pieces))
    schema = ", ".join(f"{name} long" for name in COUNTED)
    with jobs():
        rows = over(base, Counting(pieces, source.delimiter), schema).collect()
    told = {row[0]: tuple(row[1:]) for row in rows}
    counts = [told[place] for place in range(len(pieces))]
    lines, marks = joined(pieces, counts, header, unended=unended, where=source.where)
    if marks < sum(piece.rows for piece in lines) * (len(source.names) - 1):
        refuse_short(source)
    return lines


def of_frame(frame: Any, source: Source) -> Reading:
    """A frame: by the row index of its file, or partition by partition."""
    spark, schema = frame.sparkSession, source.frame.collect_schema()
    with jobs():
        nodes = _nodes(frame)
        if nodes <= MOVED and nodes & {"LogicalRelation"}:
            indexed = _indexed(frame, source)
            if indexed is not None:
                base, row, count, files = indexed
                in_order = nodes <= READ and files == 1
                return Reading(spark, base, Addressed(row), schema, count, in_order)
        if _order(frame) != "DETERMINATE":
            frame = frame.localCheckpoint()  # rows that were shuffled come in another order again
        counts = counted(frame)
    return Reading(spark, frame, InOrder(counts), schema, sum(counts.values()), in_order=True)


def counted(frame: Any) -> dict[int, int]:
    """How many rows each partition has."""
    told = over(frame.select(F.lit(True).alias("row")), Tallying(), "place long, rows long")
    return {int(row[0]): int(row[1]) for row in told.collect()}


def _nodes(frame: Any) -> set[str]:
    """The kinds of steps that a frame was made by."""
    found, left = set(), [frame._jdf.queryExecution().analyzed()]
    while left:
        node = left.pop()
        found.add(str(node.nodeName()).split(" ")[0])
        children = node.children()
        left += [children.apply(place) for place in range(children.size())]
        if children.size() > 1:
            found.add("several")
    return found


def _order(frame: Any) -> str:
    """Whether reading a frame again gives the same rows in the same order."""
    return str(frame._jdf.queryExecution().toRdd().outputDeterministicLevel().toString())


def _indexed(frame: Any, source: Source) -> tuple[Any, str, int, int] | None:
    """A frame with the numbers of its rows in its files, one file after the other by name."""
    row = unused("row", source.names)
    try:
        index, file = F.col("_metadata.row_index"), F.col("_metadata.file_path")
        found = frame.select(file.alias("file"), index.alias("index"))
    except Exception:  # of whichever kind: this frame has none
        return None
    told = found.groupBy("file").agg(F.count("*"), F.max("index"), F.count("index")).collect()
    if any(counted != rows or rows > last + 1 for _, rows, last, counted in told):
        return None  # without a number, or a file that is read twice
    before, address = 0, F.lit(None).cast("long")
    for name, _, last, _ in sorted(told):
        address = F.when(file == F.lit(name), F.lit(before)).otherwise(address)
        before += int(last) + 1
    number = index if len(told) <= 1 else index + address
    base = frame.select(number.cast("long").alias(row), *map(quoted, source.names))
    return base, row, sum(int(files[1]) for files in told), len(told)
