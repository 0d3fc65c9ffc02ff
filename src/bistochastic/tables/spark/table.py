"""Spark: a table that lives on many machines, and what its steps make of it."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, final

import polars as pl
from pyspark.sql.types import LongType, StructField, StructType

from bistochastic.errors import DomainError
from bistochastic.tables.base import Names, Ranks, Step, Unseen
from bistochastic.tables.batches import Steps, refusal
from bistochastic.tables.sources import Source
from bistochastic.tables.spark.known import all_known
from bistochastic.tables.spark.parcel import jobs, over
from bistochastic.tables.spark.parts import Part, put_together, rising
from bistochastic.tables.spark.ranks import FOUND, Ranked, combined, looked_at, ranked
from bistochastic.tables.spark.readers import Addressed, FromFile
from bistochastic.tables.spark.reading import Reading, quoted, reading, unused
from bistochastic.tables.spark.types import arrow_schema, carried
from bistochastic.tables.spark.work import PARTS, Masking, Surveying, Writing

__all__ = ["Spark"]

Report = Callable[[int], None]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Spark:
    """A table in the hands of the workers of Spark."""

    source: Source
    steps: tuple[Step, ...]
    records: str | None
    reading: Reading
    on_rows: Report = field(default=lambda rows: None)
    fields: dict[str, Any] = field(default_factory=dict)  # the types of a frame that came in
    ranked: dict[str, Ranked] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        given: Any,
        source: Source,
        steps: tuple[Step, ...],
        records: str | None,
        on_rows: Report,
    ) -> "Spark":
        """The path of a file that all workers see, or a frame of Spark."""
        fields = {} if isinstance(given, str | Path) else {f.name: f.dataType for f in given.schema}
        return cls(source, steps, records, reading(given, source), on_rows, fields)

    @property
    def bound(self) -> Steps:
        """The steps with the coders of the columns; workers leave ranks as they are."""
        return Steps.of(self.steps, self.records, self.source, self.reading.schema)

    @property
    def bare(self) -> Source:
        """The source without its rows, as workers take it along."""
        schema = self.reading.schema
        return replace(
            self.source, frame=pl.LazyFrame(schema=schema), back=None, lines=None, far=None
        )

    def counted(self) -> int:
        """How many rows there are."""
        return self.reading.count

    def prepared(self) -> "Spark":
        """The same table, with the order of every column of numbers worked out."""
        _ = self.bound  # refuses domains that do not fit
        wanted = [step for step in self.steps if isinstance(step, Ranks)]
        types = {name: self.reading.schema[name] for name in (step.column for step in wanted)}
        means = {step.column: pl.Float64() for step in wanted if step.averages}
        kinds = self._schema(types | means, keep=set(types) - set(means))
        whole = looked_at(self.reading, self.bare, wanted)
        done = {
            step.column: ranked(self.reading, self.bare, step, kinds[step.column].dataType, whole)
            for step in wanted
        }
        return replace(self, ranked=done)

    def masked(self) -> Any:
        """The masked table as a frame of Spark, in the order of the rows.

        What its workers could refuse is refused here, before anybody uses it.
        """
        with jobs():
            known = bool(self.fields) and all_known(self.reading.base, self.fields, self.bound)
        unseen = [] if known else self.surveyed()
        if unseen:
            raise refusal(unseen)
        if not self.ranked and self.reading.in_order:
            return self._job(None)
        row, frame = self._numbered()
        return frame.select(*(quoted(name) for name in frame.columns if name != row))

    def write(self, path: Path) -> int:
        """Write the masked table into a file of the format it came in, and count its rows."""
        folder = path.parent / "parts"
        folder.mkdir()
        try:
            parts = self._parts(folder)
            rows = put_together(parts, folder, path, self.source, self._after())
        except DomainError:
            raise refusal(self.surveyed()) from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        self.on_rows(rows)
        return rows

    def surveyed(self) -> list[Unseen]:
        """Every cell that cannot be coded, counted over the whole table."""
        steps = self.bound
        if not steps.looked_at:
            return []
        work = Surveying(self.reading.reader, steps)
        with jobs():
            found = combined(self.reading.job(work, FOUND, steps.looked_at))
        return sorted(found, key=lambda one: one.column)

    def _parts(self, folder: Path) -> list[Part]:
        """The masked rows in files of their own, in the order of their numbers."""
        if not self.ranked and self.reading.in_order:
            work = Writing(self.reading.reader, self.bound, None, str(folder), self.bare)
            with jobs():
                parts = _told(self.reading.job(work, _ddl()))
            if rising(parts):
                return parts
        row, frame = self._numbered()
        from_file = isinstance(self.reading.reader, FromFile)
        types = self._after() if from_file else None
        work = Writing(Addressed(row), None, types, str(folder), self.bare)
        with jobs():
            return _told(over(frame, work, _ddl()))

    def _numbered(self) -> tuple[str, Any]:
        """The masked rows with their numbers, in order, and the name of the column of numbers."""
        row = unused("row", self.source.names)
        frame = self._job(row)
        for column, one in self.ranked.items():
            frame = one.joined(frame, row, column)
        return row, frame.repartitionByRange(quoted(row)).sortWithinPartitions(quoted(row))

    def _job(self, row: str | None) -> Any:
        """The masked rows; a column of ranks is as it was."""
        types = self._before_ranks()
        schema = self._schema(types, keep=set(types))
        if row is not None:
            schema = StructType([StructField(row, LongType(), True), *schema.fields])
        arrow = arrow_schema(schema, self.reading.zone)
        work = Masking(self.reading.reader, self.bound, arrow, row)
        return self.reading.job(work, schema)

    def _before_ranks(self) -> dict[str, Any]:
        return self.bound.after(self.reading.schema, dict(self.reading.schema))

    def _after(self) -> dict[str, Any]:
        means = {name: pl.Float64() for name, one in self.ranked.items() if one.averages}
        return self._before_ranks() | means

    def _schema(self, types: dict[str, Any], keep: set[str]) -> Any:
        """What Spark carries columns as: what they came as, if they did and have not changed."""
        renamed = {step.column for step in self.steps if isinstance(step, Names)}
        same = {name: kind for name, kind in self.fields.items() if name in keep - renamed}
        others = {name: dtype for name, dtype in types.items() if name not in same}
        found = carried(others, self.reading.zone, self.source.where)
        kinds = {each.name: each.dataType for each in found.fields} | same
        return StructType([StructField(name, kinds[name], True) for name in types])


def _ddl() -> str:
    kinds = {"int64": "long", "bool": "boolean", "string": "string"}
    return ", ".join(f"{each.name} {kinds[str(each.type)]}" for each in PARTS)


def _told(parts: Any) -> list[Part]:
    return sorted((Part(*row) for row in parts.collect()), key=lambda part: part.file)
