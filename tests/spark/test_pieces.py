"""Pieces: a file cut anywhere has the rows of the whole, each under its own number."""

from itertools import pairwise

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bistochastic.errors import TableError
from bistochastic.tables.sources import from_file
from bistochastic.tables.spark import pieces
from bistochastic.tables.spark.pieces import Bytes, Span, Stamp, joined, spans

CELL = st.text(alphabet='ab1é漢 ,;"\n', max_size=6)


def cut(path, count):
    """The pieces of a text file, counted and joined as workers and driver do it together."""
    source = from_file(path)
    stamp = Stamp.of(path)
    text = path.read_bytes()
    header = text[: text.index(b"\n") + 1]
    step = max(-(-(stamp.size - len(header)) // count), 1)
    starts = range(len(header), stamp.size, step)
    parts = tuple(Bytes(stamp, at, min(at + step, stamp.size)) for at in starts)
    counts = [part.counted(",") for part in parts]
    lines, marks = joined(
        parts, counts, header, unended=not text.endswith(b"\n"), where=source.where
    )
    return source, lines, marks


@given(
    st.lists(st.tuples(CELL, CELL), min_size=1, max_size=12),
    st.integers(1, 40),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.integers(1, 9),
)
@example([('"\n', "\n\n"), ("", ""), (",", '""')], 40, "\n", False, 1)
def test_pieces_of_a_text_file_make_the_whole(tmp_path_factory, rows, count, ends, ended, searched):
    """Wherever it is cut: within quotes, within a letter, before a last line without an end."""
    path = tmp_path_factory.mktemp("pieces") / "x.csv"
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    path.write_bytes((ends.join(["x,y", *quoted]) + (ends if ended else "")).encode())
    before, pieces.SEARCHED = pieces.SEARCHED, searched  # lines longer than what is looked through
    try:
        source, lines, marks = cut(path, count)
        parts = [line.read(source, None) for line in lines]
    finally:
        pieces.SEARCHED = before
    whole = source.frame.collect()
    assert pl.concat(parts).equals(whole)
    assert [line.start for line in lines] == [
        sum(part.height for part in parts[:place]) for place in range(len(parts))
    ]
    assert marks == len(rows)
    some = pl.concat([line.read(source, ["y"]) for line in lines])
    assert some.equals(whole.select("y"))


def test_a_column_of_gaps_keeps_its_rows(tmp_path):
    """Lines with nothing on them are rows of a table with one column."""
    path = tmp_path / "x.csv"
    path.write_text("x\na\n\n\nb\n\n", encoding="utf-8")
    for count in range(1, 9):
        source, lines, _ = cut(path, count)
        whole = source.frame.collect()
        assert pl.concat([line.read(source, None) for line in lines]).equals(whole), count


def test_quotes_that_are_not_closed_are_refused(tmp_path):
    """Otherwise the rest of the file would be one cell, or lost."""
    path = tmp_path / "x.csv"
    path.write_text('x,y\na,b\nc,"d\ne,f\n', encoding="utf-8")
    with pytest.raises(TableError, match="quotes are not balanced"):
        cut(path, 3)


@given(
    st.integers(0, 5000), st.integers(1, 80), st.lists(st.integers(1, 900), max_size=9),
    st.integers(1, 700),
)  # fmt: skip
def test_spans_cover_every_row_once(rows, wanted, groups, most):
    """Whatever the row groups are, and never more rows than a worker should hold at once."""
    ends = [sum(groups[:place]) for place in range(len(groups) + 1)]
    before, pieces.MOST_ROWS = pieces.MOST_ROWS, most
    try:
        found = spans(Stamp("x", 0, 0), rows, wanted, [end for end in ends if end <= rows])
    finally:
        pieces.MOST_ROWS = before
    assert sum(span.rows for span in found) == rows
    assert all(span.rows > 0 for span in found)
    assert all(b.start == a.start + a.rows for a, b in pairwise(found))
    assert all(span.rows <= 1.5 * most for span in found)


def test_a_span_reads_its_rows(tmp_path):
    """Of all columns, or of some."""
    frame = pl.DataFrame({"x": range(100), "y": [f"{row}" for row in range(100)]})
    frame.write_parquet(tmp_path / "x.parquet", row_group_size=30)
    source = from_file(tmp_path / "x.parquet")
    span = Span(Stamp.of(tmp_path / "x.parquet"), 25, 40)
    assert span.read(source, None).equals(frame[25:65])
    assert span.read(source, ["y"]).equals(frame[25:65].select("y"))
