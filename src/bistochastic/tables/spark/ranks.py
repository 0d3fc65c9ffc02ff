"""Ranks: a numeric column masked where no machine holds all of it.

Rows are cut into ranges of values, sorted within each, and numbered range after range: their ranks.
From which rank each takes its value follows from the key and the number of rows; so the values
travel once, to the rows they belong to from now on. A block that is averaged comes together whole.
"""

from dataclasses import dataclass
from typing import Any, final

from pyspark.sql import functions as F  # noqa: N812  # as everybody calls it
from pyspark.sql.types import DoubleType, LongType, StructField, StructType

from bistochastic.errors import TableError
from bistochastic.masking.stretches import Means, Moves
from bistochastic.tables.base import SHOWN, Ranks, Unseen
from bistochastic.tables.numbers import refuse_strange
from bistochastic.tables.sources import Source
from bistochastic.tables.spark.parcel import jobs, over
from bistochastic.tables.spark.readers import InOrder
from bistochastic.tables.spark.reading import Reading, counted, quoted, unused
from bistochastic.tables.spark.types import arrow_schema
from bistochastic.tables.spark.work import (
    DECIMAL,
    LOST,
    RANKED,
    Averaging,
    Blocking,
    Looking,
    Placing,
    Ranking,
)

__all__ = ["FOUND", "Ranked", "combined", "looked_at", "ranked"]

Whole = dict[str, bool]

FOUND = "column string, why string, count long, rows array<long>"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """What a column is masked to: a frame of row numbers and values, for rows that have one."""

    frame: Any
    averages: bool

    def joined(self, main: Any, row: str, column: str) -> Any:
        """The main frame with the column masked; a cell without a value stays as it is."""
        at, value_ = (unused(f"{row}_{name}", main.columns) for name in ("at", "value"))
        mine = self.frame.select(F.col("row").alias(at), F.col("value").alias(value_))
        both = main.join(mine, quoted(row) == F.col(at), "left")
        value = F.col(value_)
        if not self.averages:
            value = F.when(F.col(at).isNull(), quoted(column)).otherwise(value)
        columns = [value.alias(name) if name == column else quoted(name) for name in main.columns]
        return both.select(*columns)


def ranked(reading: Reading, source: Source, step: Ranks, kind: Any, whole: Whole) -> Ranked:
    """The masked column, as jobs of Spark; its order is worked out and kept on the executors."""
    with jobs():
        order, counts = _sorted(reading, source, step, whole, kind)
    size = sum(counts.values())
    if not size:
        return Ranked(order.select("row", "value"), step.averages)
    assert step.stretched is not None  # every plan gives one
    recipe = step.stretched(size)
    if isinstance(recipe, Means):
        return Ranked(_averaged(reading, order, counts, recipe), True)
    return Ranked(_moved(reading, order, counts, recipe, kind), False)


def looked_at(reading: Reading, source: Source, steps: list[Ranks]) -> Whole:
    """Which columns of texts spell whole numbers only; refuses what has no rank."""
    if not steps:
        return {}
    pairs = tuple((step.column, step.by) for step in steps)
    wanted = list(dict.fromkeys(name for pair in pairs for name in pair if name is not None))
    with jobs():
        found = combined(reading.job(Looking(reading.reader, source, pairs), FOUND, wanted))
    for step in steps:
        refuse_strange([one for one in found if one.column == step.column], source)
        refuse_strange([one for one in found if one.column == step.by], source)
        lost = sum(one.count for one in found if (one.column, one.why) == (step.column, LOST))
        if lost:
            raise TableError(
                f"Column {step.by!r} orders the individuals of {step.column!r} but is missing for "
                f"{lost} of them. Order by a column that is complete."
            )
    spelled = {one.column for one in found if one.why == DECIMAL}
    return {name: name not in spelled for name in wanted}


def combined(found: Any) -> list[Unseen]:
    """Findings of all workers, as one for each column and reason."""
    rows = F.slice(F.sort_array(F.flatten(F.collect_list("rows"))), 1, SHOWN)
    told = found.groupBy("column", "why").agg(F.sum("count"), rows).collect()
    return [Unseen(row[0], row[1], int(row[2]), tuple(row[3])) for row in told]


def _sorted(
    reading: Reading, source: Source, step: Ranks, whole: Whole, kind: Any
) -> tuple[Any, dict[int, int]]:
    """Rows in the order of their ranks, and how many each partition has.

    They are kept: ranges are cut by samples, and another run would cut them elsewhere.
    """
    schema = schema_of(row=LongType(), key=LongType(), value=kind)
    arrow = arrow_schema(schema, reading.zone)
    work = Ranking(
        reading.reader, source, step.column, step.by, step.by_position, whole, step.averages, arrow
    )
    wanted = [step.column] if step.by is None else [step.column, step.by]
    keyed = reading.job(work, schema, wanted)
    order = keyed.repartitionByRange("key", "row").sortWithinPartitions("key", "row")
    order = order.localCheckpoint()
    return order, counted(order)


def _moved(reading: Reading, order: Any, counts: dict[int, int], moves: Moves, kind: Any) -> Any:
    """Each row with the value of the rank that it takes its value from."""
    come = schema_of(**{RANKED: LongType(), "row": LongType()})
    stand = schema_of(**{RANKED: LongType(), "value": kind})
    sides = [
        over(
            order,
            Placing(InOrder(counts), moves, schema is come, arrow_schema(schema, reading.zone)),
            schema,
        )
        for schema in (come, stand)
    ]
    return sides[0].join(sides[1], RANKED).select("row", "value")


def _averaged(reading: Reading, order: Any, counts: dict[int, int], means: Means) -> Any:
    """Each row with the mean of its block."""
    long, double = LongType(), DoubleType()
    schema = schema_of(block=long, rank=long, row=long, value=double)
    told = schema_of(row=long, value=double)
    arrows = [arrow_schema(each, reading.zone) for each in (schema, told)]
    blocked = over(order, Blocking(InOrder(counts), means, arrows[0]), schema)
    whole = blocked.repartitionByRange("block").sortWithinPartitions("rank")
    return over(whole, Averaging(means, arrows[1]), told)


def schema_of(**types: Any) -> Any:
    """Columns of such types, any of which may have gaps."""
    return StructType([StructField(name, kind, True) for name, kind in types.items()])
