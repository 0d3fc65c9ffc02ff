"""Connections: where a database is, and one transaction with it.

Nothing here shows an address, which may hold a password, or what the database says, which may quote
cells.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, final

from bistochastic.errors import BistochasticError, ReleaseError, TableError

__all__ = ["Database", "connected", "identifier", "is_database", "quoted"]

SCHEME = re.compile(r"(postgresql|postgres|sqlite)://", re.IGNORECASE)
SELECT = re.compile(r"\s*(select|with|values|table)\b", re.IGNORECASE)
INSTALL = 'Databases need their drivers. Install them: pip install "bistochastic[sql]".'
CREDENTIALS = (
    "Give user and password as PostgreSQL takes them everywhere: PGUSER and PGPASSWORD, ~/.pgpass, "
    "a service, or the address."
)
CAUSES = {
    "28": f"it refuses the login. {CREDENTIALS}",
    "3D": "it has no such database. Look at the name after the host.",
    "42P01": "it has no such table. Write schema.table, or look at its spelling.",
    "3F": "it has no such schema. Look at its spelling.",
    "42703": "it has no such column. Look at the query.",
    "42601": "the query is no SQL it knows. Try it in psql.",
    "42501": "it does not permit that. Ask for the right to it.",
    "25006": "it may only be read. Ask for the right to write.",
    "42P07": "a table of that name is there already, and is never written over. Choose another.",
    "22": "a cell does not fit what the query makes of it. Try it in psql.",
    "08": "the connection was lost. Try again.",
    "57": "it shut down or was stopped. Try again.",
    "53": "it has no room, or no connection, left. Make some.",
}


@final
@dataclass(frozen=True, slots=True, repr=False)
class Database:
    """Where a table is: an address, which may hold a password and is never shown, and what of it.

    >>> Database.of("postgresql://ann:secret@host/census#people")
    <table 'people' in PostgreSQL>
    """

    postgresql: bool
    address: str
    asked: str

    @classmethod
    def of(cls, said: str) -> "Database":
        """An address and, after a #, the name of a table or a query."""
        address, _, asked = said.partition("#")
        if not asked.strip():
            raise TableError(
                "The address of a database ends in # and the name of a table, or a query: "
                "postgresql://host/census#people."
            )
        return cls(not address.lower().startswith("sqlite"), address, asked.strip().rstrip(";"))

    @property
    def query(self) -> bool:
        """Whether a query was asked, rather than a table."""
        return SELECT.match(self.asked) is not None and " " in self.asked

    @property
    def where(self) -> str:
        """How a message names it."""
        kind = "PostgreSQL" if self.postgresql else "SQLite"
        return f"the query to {kind}" if self.query else f"table {self.asked!r} in {kind}"

    @property
    def name(self) -> str:
        """What a plan for it is called by."""
        return "query" if self.query else self.asked.rpartition(".")[2]

    @property
    def parts(self) -> tuple[str | None, str]:
        """The schema, if one is named, and the table."""
        if self.query:
            raise ReleaseError(f"{self.where} is no table. Name one to write to: …#schema.table.")
        schema, _, table = self.asked.rpartition(".")
        return schema or None, table

    def __repr__(self) -> str:
        return f"<{self.where}>"


def is_database(said: Any) -> bool:
    """Whether this is the address of a database.

    >>> is_database("sqlite:///census.db#people"), is_database("people.csv")
    (True, False)
    """
    return isinstance(said, str) and SCHEME.match(said) is not None


def identifier(name: str) -> str:
    """A name as SQL quotes it.

    >>> identifier('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def quoted(database: Database) -> str:
    """The name of a table, with its schema, as SQL quotes it."""
    return ".".join(identifier(part) for part in database.parts if part is not None)


@contextmanager
def connected(database: Database, kind: type[BistochasticError]) -> Iterator[Any]:
    """A connection in one transaction, which is taken back unless it was committed."""
    try:
        if database.postgresql:
            from adbc_driver_postgresql import dbapi
        else:
            from adbc_driver_sqlite import dbapi
    except ImportError:
        raise kind(INSTALL) from None
    try:
        connection = dbapi.connect(_uri(database, kind), autocommit=False)
    except dbapi.Error as error:
        _refuse(database, error, kind, connecting=True)
    try:
        if database.postgresql and kind is TableError:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield connection
    except dbapi.Error as error:
        _refuse(database, error, kind)
    finally:
        with suppress(dbapi.Error):
            connection.rollback()
        with suppress(dbapi.Error):
            connection.close()


def _uri(database: Database, kind: type[BistochasticError]) -> str:
    if database.postgresql:
        return database.address
    path = Path(database.address.split("://", 1)[1].removeprefix("/"))
    if kind is TableError and not path.is_file():
        raise TableError(f"There is no file {str(path)!r}.")
    if kind is ReleaseError and not path.parent.is_dir():
        raise ReleaseError(f"There is no folder {str(path.parent)!r} to write {path.name!r} into.")
    return str(path)


def _refuse(
    database: Database, error: Any, kind: type[BistochasticError], *, connecting: bool = False
) -> NoReturn:
    """What went wrong, in words of ours: the database's own quote cells, hosts and users."""
    where = f"{database.where[:1].upper()}{database.where[1:]}"
    done = "written" if kind is ReleaseError else "read"
    nothing = " Nothing was published." if kind is ReleaseError else ""
    state, said = str(getattr(error, "sqlstate", None) or ""), str(error)
    cause = next((CAUSES[mark] for mark in CAUSES if state.startswith(mark)), None)
    if cause is None and ("no such table" in said or "already exists" in said):
        cause = CAUSES["42P01" if "no such table" in said else "42P07"]
    if cause is None and "schema" in said and "does not exist" in said:
        cause = CAUSES["3F"]
    if cause is None and ("server closed" in said or ("connection" in said and not connecting)):
        cause = CAUSES["08"]
    if cause is None and connecting:
        login = any(word in said for word in ("password", "role ", "authentication", "pg_hba"))
        missing = "database " in said and "does not exist" in said
        cause = CAUSES["3D"] if missing else CAUSES["28"] if login else (
            "nobody answers there. Look at host and port."
        )  # fmt: skip
    told = cause or f"the database refuses ({type(error).__name__} {state}). Try it in its shell."
    raise kind(f"{where} cannot be {done}: {told}{nothing}") from None
