"""Rows of a text file that are shorter than its header, which readers fill up without a word."""

from collections.abc import Iterator

from bistochastic.errors import TableError
from bistochastic.tables.base import SHOWN
from bistochastic.tables.sources import Source, understood

__all__ = ["refuse_short"]

CHUNK = 50_000  # lines


def refuse_short(source: Source) -> None:
    """Refuse rows with fewer fields than the header: a torn one puts cells under other columns.

    Rows with more fields were refused when they were read, so totals tell whether any has fewer.
    """
    wanted, rows, fields = len(source.names) - 1, 0, 0
    if source.lines is None or not wanted:
        return
    for text in outside(source):
        rows += text.count("\n")
        fields += text.count(source.delimiter)
    if fields < rows * wanted:
        short = [row for row, found in enumerate(each(source)) if found < wanted]
        where = ", ".join(map(str, short[:SHOWN])) + (", …" if len(short) > SHOWN else "")
        raise TableError(
            f"In {source.where}, {_rows(len(short))} fewer fields than the header, row"
            f"{'' if len(short) == 1 else 's'} {where}. Take blank lines out, and put cells that "
            f"break lines into quotes."
        )


def _rows(count: int) -> str:
    return "1 row is blank or has" if count == 1 else f"{count} rows are blank or have"


def each(source: Source) -> Iterator[int]:
    """The delimiters of each row, the header's first."""
    rest = ""
    for text in outside(source):
        *rows, rest = (rest + text).split("\n")
        yield from (row.count(source.delimiter) for row in rows)


def outside(source: Source) -> Iterator[str]:
    """What stands outside of quotes; a doubled quote is two of them side by side."""
    within = 0
    if source.lines is not None:
        with understood(source.where):
            for lines in source.lines.collect_batches(chunk_size=CHUNK, maintain_order=True):
                text = lines["line"].fill_null("").str.join("\n").item() + "\n"
                parts = text.split('"')
                yield "".join(parts[within::2])
                within = (within + len(parts) - 1) % 2
