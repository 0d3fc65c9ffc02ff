"""Where a table is read from: a file of a known format, or a dataframe of any kind."""

import csv
import gzip
import io
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, final

import narwhals as nw
import polars as pl

from bistochastic.errors import TableError

__all__ = [
    "FORMATS",
    "STAYS",
    "Source",
    "first_line",
    "format_of",
    "from_file",
    "from_frame",
    "of_spark",
    "understood",
]

Format = Literal["csv", "csv.gz", "csv.zst", "parquet", "arrow"]

FORMATS: dict[str, Format] = {
    ".csv": "csv",
    ".csv.gz": "csv.gz",
    ".csv.zst": "csv.zst",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
TORN = (
    "cannot be told from the second: a quote is not closed, or lines do not end as they should. "
    "Look at its quotes, and end each line with a line feed."
)
LINE = pl.first().alias("line")
HEADER_BYTES = 1 << 20  # a header longer than this is no header


class Far(Protocol):
    """Rows that do not come here: what can be asked of them."""

    def tally(self, count: Any) -> Any:
        """How often each cell of a `Count` is reported, as a `Tally`."""

    def distinct(self, column: str) -> pl.Series:
        """The distinct values of a column."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A table that can be read again and again, in one order."""

    frame: pl.LazyFrame
    names: tuple[str, ...]
    format: Format | Literal["frame"]
    where: str  # how a message names it
    delimiter: str = ","
    missing: tuple[str, ...] = ("",)
    back: Callable[[pl.DataFrame], Any] | None = None  # into the kind a dataframe came in
    lines: pl.LazyFrame | None = None  # of a text file, as they stand there
    far: "Far | None" = None  # rows that are elsewhere, and are counted there
    held: Any = None  # what must not go away while the table is read

    @property
    def text(self) -> bool:
        """Whether every cell is a text, and labels are compared by their spelling."""
        return self.format.startswith("csv")

    @property
    def gap(self) -> str:
        """How a text file that is written says that there is nothing."""
        return next((text for text in self.missing if not text), "")

    @property
    def extension(self) -> str:
        """What a file of this format is called by."""
        return "parquet" if self.format == "frame" else self.format


def format_of(path: Path) -> Format:
    """The format that a file's name says."""
    suffixes = "".join(path.suffixes[-2:]).lower()
    found = FORMATS.get(suffixes) or FORMATS.get(path.suffix.lower())
    if found is None:
        raise TableError(
            f"{path.name!r} has no known format. Name it .csv (also .csv.gz, .csv.zst), .parquet "
            f"or .arrow."
        )
    return found


def from_file(path: Path, *, delimiter: str = ",", missing: tuple[str, ...] = ("",)) -> Source:
    """A file, opened lazily; its header is checked, its rows are not read yet."""
    with understood(repr(path.name)):
        there = path.exists()
    if not there:
        raise TableError(f"There is no file {str(path)!r}.")
    if path.is_dir():
        raise TableError(f"{str(path)!r} is a folder; give a file.")
    kind = format_of(path)
    where = repr(path.name)
    with understood(where):
        if kind == "parquet":
            frame = pl.scan_parquet(path, glob=False)
        elif kind == "arrow":
            frame = pl.scan_ipc(path, glob=False)
        else:
            refuse_delimiter(delimiter)
            names = _header(path, kind, delimiter)
            frame = pl.scan_csv(
                path, infer_schema=False, separator=delimiter, glob=False, encoding="utf8"
            )
            read = frame.collect_schema().names()
            if tuple(name.replace('""', '"') for name in read) == names:  # Polars leaves them so
                frame = frame.rename(dict(zip(read, names, strict=True)))
            elif tuple(read) != names:
                raise TableError(f"The first line of {where} {TORN}")
            return Source(
                frame, names, kind, where, delimiter, missing, lines=_lines(path).select(LINE)
            )
        names = tuple(frame.collect_schema().names())
    return Source(frame, _distinct(names, where), kind, where)


def from_frame(given: Any) -> Source:
    """Any dataframe: Polars and what narwhals or the Arrow capsule interface reads.

    A frame of Spark stays where it is.
    """
    if of_spark(given):  # whose engine is above this, and only there when somebody brings a frame
        from bistochastic.tables.spark.far import from_spark

        return from_spark(given)
    where = f"the {type(given).__module__.partition('.')[0]} frame"
    if isinstance(given, pl.LazyFrame):
        with understood(where):
            names = tuple(given.collect_schema().names())
        return Source(given, names, "frame", where, back=lambda frame: frame.lazy())
    frame, back = _polars(given, where)
    return Source(frame.lazy(), _distinct(tuple(frame.columns), where), "frame", where, back=back)


def of_spark(given: Any) -> bool:
    """Whether this is a frame of Spark, which nobody needs to import for that."""
    return type(given).__module__.startswith("pyspark.sql.")


def _polars(given: Any, where: str) -> tuple[pl.DataFrame, Callable[[pl.DataFrame], Any]]:
    """A dataframe as Polars has it, and the way back."""
    if isinstance(given, pl.DataFrame):
        return given, lambda frame: frame
    try:
        spoken = nw.from_native(given)
    except TypeError:
        if hasattr(given, "__arrow_c_stream__"):
            with _brought(where):
                return pl.DataFrame(given), lambda frame: frame
        raise TableError(
            f"A {type(given).__name__} is no table this can read. Give a path, or a dataframe of "
            f"pandas, Polars, PyArrow or DuckDB."
        ) from None
    except nw.exceptions.DuplicateError:
        raise TableError(
            f"In {where}, two columns have the same name. Rename them: a plan could not tell them "
            f"apart."
        ) from None
    for place, name in enumerate(spoken.collect_schema().names(), start=1):
        if not isinstance(name, str):
            raise TableError(f"In {where}, the name of column {place} is no text. Make it one.")
    if isinstance(spoken, nw.LazyFrame):
        return _relation(given, spoken, where)
    with _brought(where):
        before = spoken.to_polars()
    return before, lambda frame: _like(given, spoken, before.schema, frame)


@contextmanager
def _brought(where: str) -> Iterator[None]:
    """Bringing over a frame of another kind, whose own words for what went wrong quote cells."""
    try:
        yield
    except (Exception, pl.exceptions.PanicException):
        raise TableError(
            f"{where[:1].upper()}{where[1:]} cannot be read. Give each column one type, for all of "
            f"its cells: texts, numbers, dates or truth values."
        ) from None


def _relation(
    given: Any, spoken: Any, where: str
) -> tuple[pl.DataFrame, Callable[[pl.DataFrame], Any]]:
    """A lazy frame of another engine; a DuckDB relation comes back as one."""
    with _brought(where):
        frame = spoken.collect(backend="polars").to_native()
    if spoken.implementation.is_duckdb():
        import duckdb

        return frame, lambda masked: duckdb.from_arrow(masked.to_arrow())
    return frame, lambda masked: masked.lazy()


def _like(given: Any, spoken: Any, before: pl.Schema, frame: pl.DataFrame) -> Any:
    """The masked table as the kind that came in; columns that kept their type keep all of it."""
    kept = [name for name, dtype in frame.schema.items() if before.get(name) == dtype]
    if spoken.implementation.is_pyarrow():
        table = frame.to_arrow()
        for place, name in enumerate(frame.columns):
            if name in kept:
                field = given.schema.field(name)
                table = table.set_column(place, field, table[name].cast(field.type))
        return table
    if spoken.implementation.is_pandas_like():
        masked = nw.from_native(frame).to_pandas()
        masked.index = given.index
        for name in kept:
            if masked[name].dtype != given[name].dtype:
                masked[name] = masked[name].astype(_widened(given[name], masked[name]))
        return masked
    return nw.from_arrow(frame, backend=spoken.implementation).to_native()


def _widened(given: Any, masked: Any) -> Any:
    """The type of a column of pandas, with the categories that only its domain had."""
    known = getattr(given.dtype, "categories", None)
    if known is None:
        return given.dtype
    new = set(masked.dropna()) - set(known)
    return given.cat.add_categories(sorted(new)).dtype


def _header(path: Path, kind: Format, delimiter: str) -> tuple[str, ...]:
    """The column names of a text file, read by themselves because readers rename duplicates."""
    lines = io.StringIO(_beginning(path, kind), newline="\n")  # other line ends are no line ends
    try:
        names = tuple(next(csv.reader(lines, delimiter=delimiter, strict=True), ()))
    except csv.Error:
        names = ("\n",)
    if any("\n" in name for name in names):  # it may have swallowed rows, which nobody shall see
        raise TableError(f"The first line of {path.name!r} {TORN}")
    if len(names) == 1:
        others = [mark for mark in ";\t|," if mark != delimiter and mark in names[0]]
        if others:
            raise TableError(
                f"{path.name!r} has one column when split at {delimiter!r}, and {others[0]!r} "
                f"stands in its name. Say `delimiter` under [file] in the plan, or --delimiter."
            )
    return _distinct(names, repr(path.name))


def refuse_delimiter(mark: str) -> None:
    """Refuse what cannot stand between two cells."""
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n':
        raise TableError(
            "A delimiter is one ASCII character, such as ',' or ';', and no quote or line end. "
            "Give another one."
        )


def first_line(path: Path) -> str:
    """The header of a text file, not yet split."""
    return _beginning(path, format_of(path)).splitlines()[0]


def _beginning(path: Path, kind: Format) -> str:
    """The first lines of a text file."""
    start = _first_bytes(path, kind)
    if not start.strip():
        raise TableError(f"{path.name!r} is empty: not even a header stands in it.")
    try:
        return start.decode("utf-8-sig", errors="strict" if len(start) < HEADER_BYTES else "ignore")
    except UnicodeDecodeError:
        raise TableError(
            f"{path.name!r} is not UTF-8. Convert it first, say with iconv -f latin1 -t utf8."
        ) from None


def _lines(path: Path) -> pl.LazyFrame:
    """The lines of a text file, as the only column."""
    return pl.scan_csv(
        path, infer_schema=False, has_header=False, separator="\x01", quote_char=None, glob=False
    )


def _first_bytes(path: Path, kind: Format) -> bytes:
    """The beginning of a text file, up to the end of a line where there is one."""
    if kind == "csv":
        with path.open("rb") as file:
            start = file.read(HEADER_BYTES)
    elif kind == "csv.gz":
        try:
            with gzip.open(path) as packed:
                start = packed.read(HEADER_BYTES)
        except (OSError, EOFError):
            raise TableError(f"{path.name!r} cannot be unpacked as gzip.") from None
    else:
        with understood(repr(path.name)):
            rows = _lines(path).head(1).collect().rows()
        start = (rows[0][0] or "").encode() + b"\n" if rows else b""
    end = start.rfind(b"\n")
    return start[: end + 1] if end >= 0 else start


def _distinct(names: tuple[str, ...], where: str) -> tuple[str, ...]:
    _refuse_twice(names, where)
    unnamed = [place for place, name in enumerate(names, start=1) if not name]
    if unnamed:
        raise TableError(f"In {where}, column {unnamed[0]} has no name. Name every column.")
    return names


def _refuse_twice(names: tuple[str, ...], where: str) -> None:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise TableError(
            f"In {where}, {len(twice)} column names stand twice, first {twice[0]!r}. Rename them: "
            f"a plan could not tell them apart."
        )


class understood:  # noqa: N801  # a context, read as a word
    """Reading under which a failure becomes one sentence; the reader's own may quote cells."""

    def __init__(self, where: str) -> None:
        self.where = where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, pl.exceptions.NoDataError):
            raise TableError(f"{self.where} is empty.") from None
        if isinstance(error, OSError) and error.strerror:
            raise TableError(f"{self.where} cannot be read: {error.strerror}.") from None
        if isinstance(error, pl.exceptions.PolarsError | pl.exceptions.PanicException | OSError):
            raise TableError(f"{self.where} cannot be read: {_cause(str(error))}") from None


def _cause(said: str) -> str:
    """Why reading failed, in words of ours: the reader's own may quote what stands in a cell."""
    for mark, words in CAUSES.items():
        if mark in said:
            return words
    return "it is damaged, or not of the format its name says."


UNBALANCED = (
    "its quotes are not balanced. A cell with a quote in it stands in quotes, and its own are "
    "doubled."
)
STAYS = "its rows are needed here, and stay with Spark"
CAUSES = {
    STAYS: f"{STAYS}. Bring them, if they fit: frame.toArrow().",
    "could not parse": UNBALANCED,
    "CSV malformed": UNBALANCED,
    "utf-8": "it is not UTF-8. Convert it first, say with iconv -f latin1 -t utf8.",
    "more fields": "a row has more fields than the header. Look at its quotes and delimiter.",
    "Permission denied": "permission denied.",
}
