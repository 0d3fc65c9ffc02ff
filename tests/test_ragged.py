"""Rows that are shorter than their header are counted, whatever stands in their cells."""

import csv
import gzip
import io
import random

import polars as pl
import pytest

from bistochastic.errors import BistochasticError, TableError
from bistochastic.plan.plan import Plan
from bistochastic.run import protect
from bistochastic.tables.ragged import refuse_short
from bistochastic.tables.sources import from_file

CELLS = ("", "a", "x,y", 'q"r', "l\nm", '""', "\n\n", ",", "ö")
PLAIN = Plan(release="r", columns={"a": {"role": "plain"}, "x": {"role": "plain"}})


def torn(chance):
    """A text with some rows cut short, and which they are."""
    width, space, short = chance.randint(2, 4), io.StringIO(), []
    writer = csv.writer(space, lineterminator=chance.choice(["\n", "\r\n"]))
    writer.writerow([f"c {place}" for place in range(width)])
    for row in range(1, chance.randint(2, 9)):
        fields = width if chance.random() < 0.8 else chance.randint(1, width - 1)
        cells = [chance.choice(CELLS) for _ in range(fields)]
        writer.writerow(cells if cells != [""] else ["a"])
        short += [row] * (fields < width)
    text = space.getvalue()
    return text if chance.random() < 0.8 else text.rstrip("\r\n"), short


def test_short_rows_are_found(tmp_path):
    """Of random texts, with quotes, delimiters and breaks within cells."""
    chance, path = random.Random(5), tmp_path / "in.csv"
    for _ in range(400):
        text, short = torn(chance)
        path.write_bytes(text.encode())
        if not short:
            refuse_short(from_file(path))
            continue
        words = ", ".join(map(str, short[:5])) + (", …" if len(short) > 5 else "") + ". Take"
        with pytest.raises(TableError, match=f"than the header, rows? {words}"):
            refuse_short(from_file(path))


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst"])
def test_a_torn_row_is_not_published(ending, tmp_path):
    """Its second half would stand under other columns, which may be plain."""
    text = "a,x\n" + "no,1\n" * 99 + "first half\nsecond half,2\n"
    path = tmp_path / f"in.{ending}"
    if ending == "csv.zst":
        pl.DataFrame({"line": text.splitlines()}).lazy().sink_csv(
            path, include_header=False, quote_style="never", compression="zstd"
        )
    else:
        path.write_bytes(gzip.compress(text.encode()) if ending == "csv.gz" else text.encode())
    words = f"'in.{ending}', 1 row is blank or has fewer fields than the header, row 100. Take"
    with pytest.raises(BistochasticError, match=words):
        protect(path, PLAIN).write(tmp_path / "out")
    with pytest.raises(BistochasticError, match=words):
        _ = protect(path, PLAIN).data
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_missing_values_at_the_end_are_no_short_rows(tmp_path):
    """A delimiter announces them; a table of one column has none to miss."""
    path = tmp_path / "in.csv"
    path.write_text('a,x\nno,\n,\n"a ""b"", c\n",""\n', "utf-8")
    assert protect(path, PLAIN).data.height == 3
    path.write_text("a\nno\n\nyes\n", "utf-8")
    one = Plan(release="r", columns={"a": {"role": "plain"}})
    assert protect(path, one).data["a"].to_list() == ["no", None, "yes"]
