"""Pieces of a file: which rows each worker reads, so that a row has its number wherever it is read.

A Parquet file is cut by rows. A text file is cut by bytes: workers count the line ends and
quotes of each piece, and as a line ends only outside of quotes, the counts of the pieces before
tell where the first line of a piece begins and which number it has.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, final

import numpy as np
import polars as pl

from bistochastic.errors import TableError
from bistochastic.tables.sources import UNBALANCED, Source, understood

__all__ = ["COUNTED", "MOST_ROWS", "Bytes", "Counting", "Lines", "Span", "Stamp", "joined", "spans"]

MOST_ROWS = 1 << 20  # of a piece, all of which a worker holds
QUOTE, END = ord('"'), ord("\n")
COUNTED = ("place", "quotes", "even_ends", "odd_ends", "even_marks", "odd_marks")
SEARCHED = 1 << 16  # bytes that are looked through at once for the end of a line


@final
@dataclass(frozen=True, slots=True)
class Stamp:
    """A file as it was when it was cut; whoever reads it later looks whether it still is."""

    path: str
    size: int
    changed: int  # nanoseconds

    @classmethod
    def of(cls, path: Path) -> "Stamp":
        """The file as it is."""
        told = path.stat()
        return cls(str(path.absolute()), told.st_size, told.st_mtime_ns)

    def refuse_other(self) -> None:
        """Refuse a file that is not there, or not the same any more."""
        path = Path(self.path)
        if not path.exists():
            raise TableError(
                f"A worker of Spark sees no file {path.name!r}. Put it where all of them see it, "
                f"under the same path; or read it with Spark and give the frame."
            )
        if Stamp.of(path) != self:
            raise TableError(f"{path.name!r} changed while it was read. Let nobody write to it.")


@final
@dataclass(frozen=True, slots=True)
class Span:
    """Rows of a Parquet file."""

    stamp: Stamp
    start: int
    rows: int

    def read(self, source: Source, columns: list[str] | None) -> pl.DataFrame:
        """The rows, of all columns or of some."""
        self.stamp.refuse_other()
        with understood(source.where):
            frame = pl.scan_parquet(self.stamp.path, glob=False)
            frame = frame if columns is None else frame.select(columns)
            return frame.slice(self.start, self.rows).collect()


def spans(stamp: Stamp, rows: int, pieces: int, ends: list[int]) -> list[Span]:
    """A table of so many rows in about so many pieces, cut at row groups where those are near.

    >>> [span.rows for span in spans(Stamp("x", 0, 0), 10, 3, [4, 8, 10])]
    [4, 4, 2]
    """
    most = max(min(-(-rows // pieces), MOST_ROWS), 1)
    cuts, groups = [0], np.array(sorted({*ends, rows}))
    while cuts[-1] < rows:
        wanted = cuts[-1] + most
        near = groups[(groups > cuts[-1] + most // 2) & (groups < wanted + most // 2)]
        cut = int(near[np.argmin(np.abs(near - wanted))]) if near.size else wanted
        cuts.append(min(cut, rows))
    return [Span(stamp, a, b - a) for a, b in pairwise(cuts)]


@final
@dataclass(frozen=True, slots=True)
class Bytes:
    """A piece of a text file, cut without looking."""

    stamp: Stamp
    first: int
    last: int

    def counted(self, delimiter: str) -> tuple[int, ...]:
        """Its quotes; line ends and delimiters, after an even and after an odd number of quotes."""
        self.stamp.refuse_other()
        text = np.fromfile(self.stamp.path, np.uint8, self.last - self.first, offset=self.first)
        quotes = np.flatnonzero(text == QUOTE)
        told = [quotes.size]
        for mark in (END, ord(delimiter)):
            places = np.flatnonzero(text == mark)
            odd = int((np.searchsorted(quotes, places) & 1).sum())
            told += [places.size - odd, odd]
        return tuple(told)


@final
@dataclass(frozen=True, slots=True)
class Counting:
    """Counts pieces of a text file."""

    pieces: tuple[Bytes, ...]
    delimiter: str

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for place in batch.column(0).to_pylist():
                told = (place, *self.pieces[place].counted(self.delimiter))
                columns = [pa.array([number], pa.int64()) for number in told]
                yield pa.RecordBatch.from_arrays(columns, COUNTED)


@final
@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a text file that end in a piece of it; the last piece has the rest, too."""

    piece: Bytes
    header: bytes
    quoted: bool  # whether the piece begins within quotes
    start: int  # the number of its first row
    rows: int

    def read(self, source: Source, columns: list[str] | None) -> pl.DataFrame:
        """The rows, of all columns or of some; every cell is a text."""
        self.piece.stamp.refuse_other()
        if not self.rows:
            return pl.DataFrame(schema=dict.fromkeys(columns or source.names, pl.String))
        with understood(source.where):
            text = io.BytesIO(self.header + self._text())
            frame = pl.read_csv(
                text, infer_schema=False, separator=source.delimiter, encoding="utf8"
            )
        if frame.height != self.rows:
            raise TableError(f"{source.where} cannot be read: {UNBALANCED}")
        return frame if columns is None else frame.select(columns)

    def _text(self) -> bytes:
        """From the first line that begins in the piece or before its first end, to its last end."""
        with Path(self.piece.stamp.path).open("rb") as file:
            first = _line_start(file, self.piece.first, self.quoted, len(self.header))
            file.seek(first)
            inside = file.read(self.piece.last - first)
        if self.piece.last == self.piece.stamp.size:
            return inside
        codes = np.frombuffer(inside, np.uint8)
        ends, quotes = np.flatnonzero(codes == END), np.flatnonzero(codes == QUOTE)
        outside = ends[np.searchsorted(quotes, ends) & 1 == 0]
        return inside[: int(outside[-1]) + 1]


def _line_start(file: Any, place: int, quoted: bool, header: int) -> int:
    """Where the line begins that a place is in: after the last line end outside of quotes."""
    at, inside = place, quoted
    while at > header:
        begin = max(at - SEARCHED, header)
        file.seek(begin)
        codes = np.frombuffer(file.read(at - begin), np.uint8)
        ends, quotes = np.flatnonzero(codes == END), np.flatnonzero(codes == QUOTE)
        behind = quotes.size - np.searchsorted(quotes, ends)
        outside = ends[((behind & 1) == 1) == inside]
        if outside.size:
            return begin + int(outside[-1]) + 1
        inside ^= bool(quotes.size & 1)
        at = begin
    return header


def joined(
    pieces: tuple[Bytes, ...],
    counts: list[tuple[int, ...]],
    header: bytes,
    *,
    unended: bool,
    where: str,
) -> tuple[list[Lines], int]:
    """What each piece holds, once all of them are counted; and how many delimiters there are."""
    lines, quoted, start, marks = [], False, 0, 0
    for piece, (quotes, *found) in zip(pieces, counts, strict=True):
        rows = found[quoted]
        marks += found[2 + quoted]
        rows += unended and piece is pieces[-1]
        lines.append(Lines(piece, header, quoted, start, rows))
        start += rows
        quoted ^= bool(quotes & 1)
    if quoted:
        raise TableError(f"{where} cannot be read: {UNBALANCED}")
    return lines, marks
