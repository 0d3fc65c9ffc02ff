"""A plan proposed for a file: each column is looked at, and only one is held at a time."""

import csv
import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from bistochastic.errors import TableError
from bistochastic.proposal import LONGEST, MOST, Seen, in_order, proposal
from bistochastic.tables.connections import Database, is_database
from bistochastic.tables.opening import from_place
from bistochastic.tables.sources import Source, first_line, format_of, from_file, understood

__all__ = ["inspect"]

DELIMITERS = ",;\t|"
GAPS = ("NA", "N/A", "NULL", "null", "NaN", "nan", "?", ".", "-")  # texts often said for nothing
WHOLE = re.compile(r"0|-?[1-9]\d*")  # a whole number, spelled as TOML would


def inspect(path: str | PathLike[str], *, delimiter: str | None = None) -> str:
    """A plan in TOML for a file, with comments on what was guessed.

    The plan holds labels that were read off the data, so it is as confidential as the file.

    Args:
        path: The file, or the address of a table in a database.
        delimiter: What separates the cells of a text file; guessed if not given.
    """
    if not isinstance(path, str | PathLike):  # in spite of its type
        raise TableError(
            f"A plan is proposed for a file or a table of a database; got a {type(path).__name__}. "
            f"Write it to a file first."
        )
    if isinstance(path, str) and is_database(path):
        source = from_place(path, ordered=False)
        columns = [seen(source, name, ("",)) for name in source.names]
        return proposal(Database.of(path).name, columns, source.delimiter, ("",))
    where = Path(path)
    mark = delimiter
    if mark is None and where.is_file() and format_of(where).startswith("csv"):
        mark = guessed_delimiter(where)
    source = from_file(where, delimiter=mark or ",")
    if not source.names:
        raise TableError(f"{source.where} has no column, so there is nothing to plan.")
    gaps = found_gaps(source)
    columns = [seen(source, name, gaps) for name in source.names]
    name = where.name.strip(".").partition(".")[0]
    return proposal(name, columns, source.delimiter, gaps)


def guessed_delimiter(path: Path) -> str:
    """The mark that splits the header into most names, if possible none of them empty."""
    header = first_line(path)
    names = {mark: next(csv.reader([header], delimiter=mark)) for mark in DELIMITERS}
    return max(
        DELIMITERS, key=lambda mark: (len(list(filter(None, names[mark]))), all(names[mark]))
    )


def found_gaps(source: Source) -> tuple[str, ...]:
    """Texts that stand for nothing, as they are spelled where they stand among numbers."""
    if not source.text:
        return ("",)
    used: set[str] = set()
    with understood(source.where):
        suspects = source.frame.select(
            nothing(pl.col(name)).any().alias(name) for name in source.names
        ).collect(engine="streaming")
        for name in source.names:
            if not suspects[name][0]:
                continue
            column = source.frame.select(pl.col(name).unique()).collect(engine="streaming")
            gaps = column.filter(nothing(pl.col(name)))[name]
            rest = column.filter(~nothing(pl.col(name)))[name].drop_nulls()
            if rest.len() and numbers_in(rest) is not None:
                used |= set(gaps.to_list())
    return ("", *sorted(used - {""}))


def nothing(column: pl.Expr) -> pl.Expr:
    """Whether a text says that there is nothing; spaces around it do not matter."""
    return column.str.strip_chars().is_in(["", *GAPS])


def numbers_in(texts: pl.Series) -> pl.Series | None:
    """The numbers that texts spell, if all of them do."""
    numbers = texts.str.strip_chars().cast(pl.Float64, strict=False)
    return None if numbers.null_count() else numbers


def seen(source: Source, name: str, gaps: Sequence[str]) -> Seen:
    """Look at one column."""
    with understood(source.where):
        column = source.frame.select(name).collect(engine="streaming")[name]
    type_ = "Text" if source.text else str(column.dtype.base_type())
    if source.text:
        column = column.set(column.is_in(list(gaps)).fill_null(False), None)
    elif column.dtype.is_float():
        column = column.fill_nan(None)
    common: dict[str, Any] = {
        "name": name, "type": type_, "text": source.text,
        "rows": column.len(), "missing": column.null_count(),
    }  # fmt: skip
    if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary):
        return Seen(**common, distinct=0, labels=None, opaque=True)
    present = column.drop_nulls()
    if column.dtype.is_temporal():
        return Seen(**common, distinct=present.n_unique(), labels=None, moments=True)
    distinct = present.unique()
    numbers = numbers_in(distinct) if column.dtype == pl.String else distinct
    numeric = numbers is not None and numbers.dtype.is_numeric() and distinct.len() > 0
    if numeric and numbers is not None and numbers.dtype.is_float():
        numeric = bool((numbers.is_finite() | numbers.is_nan()).all())
    whole = numeric and numbers is not None and is_whole(numbers)
    labels = None
    if 0 < distinct.len() <= MOST:
        labels = sorted_labels(distinct, numbers if numeric else None)
    return Seen(**common, distinct=distinct.len(), labels=labels, numeric=numeric, whole=whole)


def is_whole(numbers: pl.Series) -> bool:
    """Whether no number has decimals."""
    if numbers.dtype.is_float():
        return bool((numbers.round() == numbers).all())
    return not numbers.dtype.is_decimal()


def sorted_labels(distinct: pl.Series, numbers: pl.Series | None) -> tuple[Any, ...] | None:
    """Labels in their order, as a plan can write them; none if it cannot."""
    if isinstance(distinct.dtype, pl.Enum):
        kept = set(distinct.to_list())
        return tuple(label for label in distinct.dtype.categories if label in kept)
    if distinct.dtype == pl.String or isinstance(distinct.dtype, pl.Categorical):
        return sorted_texts(distinct.cast(pl.String), numbers)
    if distinct.dtype.is_decimal() or (distinct.dtype.is_float() and numbers is None):
        return None
    found = tuple(distinct.sort().to_list())
    if any(type(label) is int and not -LONGEST <= label < LONGEST for label in found):
        return None
    return found


def sorted_texts(distinct: pl.Series, numbers: pl.Series | None) -> tuple[Any, ...]:
    """Texts in the order of their numbers, if they have any; whole numbers as such."""
    spelled: list[str] = distinct.to_list()
    if numbers is None:
        return tuple(in_order(spelled) or sorted(spelled))
    if all(WHOLE.fullmatch(text) and -LONGEST <= int(text) < LONGEST for text in spelled):
        return tuple(sorted(map(int, spelled)))
    values = dict(zip(spelled, numbers.to_list(), strict=True))
    return tuple(sorted(spelled, key=lambda text: (values[text], text)))
