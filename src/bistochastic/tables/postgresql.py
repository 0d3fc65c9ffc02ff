"""What PostgreSQL calls things: keys, enums, and types that Arrow has no word for."""

from collections.abc import Callable
from typing import Any

import polars as pl

from bistochastic.errors import TableError

__all__ = ["ENUMS", "PRIMARY", "as_table"]

PRIMARY = """
SELECT a.attname::text FROM pg_index i
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
WHERE i.indrelid = to_regclass($1) AND i.indisprimary
ORDER BY array_position(i.indkey::int[], a.attnum::int)
"""
ENUMS = "SELECT typname::text, 'unnamed<oid:' || oid || '>' FROM pg_type WHERE typtype = 'e'"
MOST_DIGITS = 38  # of a decimal
SPECIAL = ["nan", "inf", "-inf", "infinity", "-infinity"]

Conversion = Callable[[pl.LazyFrame, str], pl.LazyFrame]


def as_table(schema: Any, enums: set[str], where: str) -> dict[str, Conversion]:
    """How columns become what they are, of those that Arrow only carries; refuses the others."""
    import pyarrow as pa

    found: dict[str, Conversion] = {}
    for field in schema:
        kind = field.type
        name = getattr(kind, "extension_name", None)
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            raise TableError(
                f"Column {field.name!r} of {where} holds arrays: a cell with several values is no "
                f"value of one person. Leave it out, or unnest it, in a query."
            )
        if name == "arrow.uuid":
            found[field.name] = _uuid
        elif name == "arrow.opaque":
            found[field.name] = _opaque(field, enums, where)
        elif pa.types.is_interval(kind) or pa.types.is_struct(kind) or pa.types.is_map(kind):
            raise _unknown(field.name, str(kind), where)
    return found


def _opaque(field: Any, enums: set[str], where: str) -> Conversion:
    kind = field.type.type_name
    if kind == "numeric":
        modifier = int((field.metadata or {}).get(b"POSTGRESQL:typmod", b"-1")) - 4
        if modifier >= 0 and modifier >> 16 <= MOST_DIGITS:
            return _fixed(modifier >> 16, modifier & 0x7FF, where)
        return _numeric(where)
    if kind in enums:
        return lambda frame, name: frame.with_columns(pl.col(name).cast(pl.String))
    raise _unknown(field.name, kind, where)


def _unknown(name: str, kind: str, where: str) -> TableError:
    return TableError(
        f"Column {name!r} of {where} is of type {kind}, which tables here do not have. Cast it in "
        f"a query, say to text, or leave it out."
    )


def _fixed(digits: int, scale: int, where: str) -> Conversion:
    """Numbers of so many digits, exactly."""

    def convert(frame: pl.LazyFrame, name: str) -> pl.LazyFrame:
        _refuse_special(frame, name, where)
        return frame.with_columns(
            pl.col(name).str.to_decimal(scale=scale).cast(pl.Decimal(digits, scale))
        )

    return convert


def _numeric(where: str) -> Conversion:
    """Numbers of any length: with as many decimals as the longest has."""

    def convert(frame: pl.LazyFrame, name: str) -> pl.LazyFrame:
        _refuse_special(frame, name, where)
        digits = pl.col(name).str.strip_chars_start("-").str.split(".")
        whole = digits.list.get(0).str.len_chars().max()
        scale = digits.list.get(1, null_on_oob=True).str.len_chars().max()
        before, after = frame.select(whole.alias("w"), scale.alias("s")).collect().row(0)
        if (before or 0) + (after or 0) > MOST_DIGITS:
            raise TableError(
                f"Column {name!r} of {where} has numbers of more than {MOST_DIGITS} digits. Cast "
                f"it in a query, say to double precision."
            )
        kind = pl.Decimal(MOST_DIGITS, after or 0)
        return frame.with_columns(pl.col(name).str.to_decimal(scale=after or 0).cast(kind))

    return convert


def _refuse_special(frame: pl.LazyFrame, name: str, where: str) -> None:
    strange = frame.select(pl.col(name).str.to_lowercase().is_in(SPECIAL).sum()).collect().item()
    if strange:
        raise TableError(
            f"Column {name!r} of {where} has no finite number in {strange} cells. Make them "
            f"null in a query, or cast it to double precision."
        )


def _uuid(frame: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """The usual spelling, in groups of 8, 4, 4, 4 and 12 digits."""
    digits = pl.col(name).cast(pl.Binary).bin.encode("hex")
    groups = [
        digits.str.slice(at, size) for at, size in ((0, 8), (8, 4), (12, 4), (16, 4), (20, 12))
    ]
    return frame.with_columns(pl.concat_str(groups, separator="-").alias(name))
