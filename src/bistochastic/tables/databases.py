"""Databases: a table of PostgreSQL or SQLite comes in through Arrow, and a release goes back.

What is read is kept in a private file while it is needed: a table is read more than once, and all
readings must see the same rows in the same order. What is written appears in one transaction.
"""

import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import polars as pl

from bistochastic.errors import ReleaseError, TableError
from bistochastic.tables.connections import Database, connected, identifier, quoted
from bistochastic.tables.postgresql import ENUMS, PRIMARY, as_table
from bistochastic.tables.sources import Source, understood

__all__ = ["beside", "from_database", "published", "refuse_present"]

QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\1\$", re.DOTALL)
INNER = re.compile(r"\([^()]*\)")
ORDERED = re.compile(r"\border\s+by\b", re.IGNORECASE)
BATCH = 1 << 16  # rows that are written at once


def from_database(said: str, *, records: str | None = None, ordered: bool = True) -> Source:
    """A table or a query, read once into a private file.

    Args:
        said: The address, # and the name of a table or a query.
        records: The record id that addresses answers; without one, rows need an order.
        ordered: Whether the order of the rows matters at all.
    """
    database = Database.of(said)
    with connected(database, TableError) as connection:
        space = Space()
        with connection.cursor() as cursor:
            query = _query(cursor, database, ordered and records is None)
            types = _kept(cursor, database, query, space.path / "rows.arrow")
        frame = _read(space.path / "rows.arrow", types, database)
    names = tuple(frame.collect_schema().names())
    return Source(frame, names, "frame", database.where, held=space)


@final
class Space:
    """A folder for nobody else, which goes when nobody holds it any more."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="bistochastic-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def _query(cursor: Any, database: Database, ordered: bool) -> str:
    """What is sent: with an order of its rows, where that matters."""
    if database.query:
        bare = QUOTED.sub("''", database.asked)
        if ";" in bare:
            raise TableError(f"{database.where} is more than one. Ask one query.")
        while INNER.search(bare):
            bare = INNER.sub("", bare)
        if ordered and not ORDERED.search(bare):
            raise TableError(
                f"The rows of {database.where} come in no fixed order, so that the same key would "
                f"give other answers next time. End it with ORDER BY a key, or name a record id in "
                f"the plan (`records`)."
            )
        return database.asked
    name = quoted(database)
    key = _primary_key(cursor, database, name) if ordered else []
    if ordered and not key:
        raise TableError(
            f"{database.where[:1].upper()}{database.where[1:]} has no primary key, so that its "
            f"rows come in no fixed order. Give a query with ORDER BY a key after the #, or name a "
            f"record id in the plan (`records`)."
        )
    order = f" ORDER BY {', '.join(map(identifier, key))}" if key else ""
    return f"SELECT * FROM {name}{order}"


def _primary_key(cursor: Any, database: Database, name: str) -> list[str]:
    if database.postgresql:
        cursor.execute(PRIMARY, (name,))
    else:
        table = database.parts[1]
        cursor.execute("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (table,))
    return [str(row[0]) for row in cursor.fetchall()]


def _kept(cursor: Any, database: Database, query: str, path: Path) -> dict[str, Any]:
    """The rows in a file of Arrow, batch by batch; and the types that Arrow has no word for."""
    import pyarrow as pa

    enums: set[str] = set()
    if database.postgresql:
        cursor.execute(ENUMS)
        enums = {str(name) for row in cursor.fetchall() for name in row}
    cursor.execute(query)
    reader = cursor.fetch_record_batch()
    kinds = as_table(reader.schema, enums, database.where)
    bare = pa.schema([(field.name, _storage(field.type)) for field in reader.schema])
    try:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, bare) as writer:
            for batch in reader:
                columns = [getattr(column, "storage", column) for column in batch.columns]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=bare))
    except OSError as error:
        if error.strerror is None:
            raise
        raise TableError(
            f"{database.where} cannot be kept while it is read: {error.strerror}. Name a folder "
            f"with room for it in TMPDIR."
        ) from None
    return kinds


def _storage(kind: Any) -> Any:
    return getattr(kind, "storage_type", kind)


def _read(path: Path, kinds: dict[str, Any], database: Database) -> pl.LazyFrame:
    """The file, with texts of numbers as numbers."""
    with understood(database.where):
        frame = pl.scan_ipc(path, glob=False)
        for name, convert in kinds.items():
            frame = convert(frame, name)
        frame.collect_schema()
    return frame


def refuse_present(database: Database) -> None:
    """Refuse a place where a table is already: a release is never written over."""
    with connected(database, ReleaseError) as connection:
        asked, name = "SELECT to_regclass($1) IS NOT NULL", quoted(database)
        if not database.postgresql:
            asked, name = "SELECT count(*) FROM sqlite_master WHERE name = ?", database.parts[1]
        with connection.cursor() as cursor:
            cursor.execute(asked, (name,))
            there = bool(cursor.fetchall()[0][0])
        if there:
            raise ReleaseError(
                f"{database.where[:1].upper()}{database.where[1:]} is there already. A release is "
                f"never written over: choose another name."
            )


def published(said: str, frame: pl.LazyFrame, manifest: str) -> int:
    """Write a masked table, and its manifest in a table beside it: both at once, or neither."""
    database = Database.of(said)
    schema, table = database.parts
    refuse_present(database)
    with connected(database, ReleaseError) as connection:
        where = {"db_schema_name": schema} if schema else {}
        with connection.cursor() as cursor:
            rows = cursor.adbc_ingest(table, _batches(frame), mode="create", **where)
            cursor.adbc_ingest(f"{table}_manifest", _beside(manifest), mode="create", **where)
        connection.commit()
    return int(rows)


def beside(said: str) -> str:
    """The text of the manifest beside a table."""
    database = Database.of(said)
    schema, table = database.parts
    name = ".".join(identifier(part) for part in (schema, f"{table}_manifest") if part)
    with connected(database, TableError) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT manifest FROM {name}")
        rows = cursor.fetchall()
    return str(rows[0][0]) if rows else ""


def _beside(manifest: str) -> Any:
    import pyarrow as pa

    return pa.table({"manifest": pa.array([manifest], pa.string())})


def _batches(frame: pl.LazyFrame) -> Any:
    """A table as a stream of Arrow, of types that databases take."""
    import pyarrow as pa

    schema = frame.head(0).collect().to_arrow().schema
    plain = pa.schema([(field.name, _plain(field.type)) for field in schema])

    def each() -> Iterator[Any]:
        for batch in frame.collect_batches(chunk_size=BATCH, maintain_order=True):
            yield from batch.to_arrow().cast(plain).to_batches()

    return pa.RecordBatchReader.from_batches(plain, each())


def _plain(kind: Any) -> Any:
    """The nearest type that a database takes."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_uint64(kind):
        return pa.decimal128(20, 0)
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz=kind.tz)
    return kind
