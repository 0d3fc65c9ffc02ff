"""Types: what Polars calls a column, and what Spark can carry it as."""

from typing import Any

import polars as pl
import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from bistochastic.errors import TableError
from bistochastic.tables.labels import type_name

__all__ = ["arrow_schema", "as_batches", "carried", "polars_schema"]

WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}


def polars_schema(schema: Any, zone: str, where: str) -> pl.Schema:
    """The types of a Spark frame as Polars has them."""
    try:
        empty = to_arrow_schema(schema, timezone=zone).empty_table()
        frame = pl.from_arrow(empty)
    except Exception:  # of Spark, Arrow or Polars: each has errors of its own for this
        raise TableError(
            f"{where[:1].upper()}{where[1:]} has a column of a type that Arrow does not have. "
            f"Cast it to texts, numbers, dates, times or truth values."
        ) from None
    return frame.schema  # type: ignore[union-attr]


def carried(types: dict[str, Any], zone: str, where: str) -> Any:
    """The schema of a Spark frame that carries columns of such types."""
    fields = []
    for name, dtype in types.items():
        field = pl.Series(name, [], dtype=dtype).to_frame().to_arrow().schema.field(0)
        fields.append(pa.field(name, _known(field.type, zone)))
        try:
            from_arrow_schema(pa.schema(fields[-1:]))
            if "[ns" in str(field.type):
                raise TypeError("Spark counts time in microseconds")
        except Exception:  # whichever Arrow or Spark has for this
            raise TableError(
                f"Column {name!r} of {where} is of type {type_name(dtype)}, which Spark does not "
                f"have. Cast it, or use the local engine."
            ) from None
    return from_arrow_schema(pa.schema(fields))


def _known(kind: Any, zone: str) -> Any:
    """The nearest type of Arrow that Spark knows."""
    kind = WIDER.get(kind, kind)
    if pa.types.is_dictionary(kind):
        return _known(kind.value_type, zone)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz=None if kind.tz is None else zone)
    if pa.types.is_duration(kind):
        return pa.duration("us")
    if pa.types.is_large_list(kind) or pa.types.is_list(kind):
        return pa.list_(_known(kind.value_type, zone))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_known(kind.value_type, zone))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _known(field.type, zone)) for field in kind])
    return kind


def arrow_schema(schema: Any, zone: str) -> Any:
    """What Spark wants of the batches that a worker gives it: these types and no wider ones."""
    return to_arrow_schema(schema, timezone=zone)


def as_batches(frame: pl.DataFrame, schema: Any) -> Any:
    """A frame as batches of exactly such types."""
    return frame.to_arrow().cast(schema).to_batches()
