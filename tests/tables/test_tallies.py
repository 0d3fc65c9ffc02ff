"""Counting gives the same whatever is laid out, however a table comes in batches."""

import numpy as np
import polars as pl
import pytest

from bistochastic.errors import DomainError, TableError
from bistochastic.tables import tallies
from bistochastic.tables.base import Domain
from bistochastic.tables.counting import Count
from bistochastic.tables.sources import from_file, from_frame
from bistochastic.tables.tallies import counted, labels_of

ROWS = 5000
DOMAINS = (Domain(("x", "y"), "keep"), Domain((0, 1, 2), "category"), Domain(tuple(range(40))))


def frame():
    """Three columns with gaps, and weights."""
    draw = np.random.default_rng(7)
    return pl.DataFrame(
        {
            "a": [("x", "y", None)[code] for code in draw.integers(0, 3, ROWS)],
            "b": [(0, 1, 2, None)[code] for code in draw.integers(0, 4, ROWS)],
            "c": draw.integers(0, 40, ROWS),
            "w": draw.integers(1, 9, ROWS) / 2,
        }
    )


def by_hand(table):
    """The cell of every row."""
    a = [{"x": 0, "y": 1, None: 2}[value] for value in table["a"]]
    b = [3 if value is None else value for value in table["b"]]
    return np.ravel_multi_index((a, b, table["c"].to_numpy()), (3, 4, 41))


@pytest.mark.parametrize("in_place", [0, 1 << 22])
@pytest.mark.parametrize("pending", [7, 1 << 22])
@pytest.mark.parametrize("kind", ["frame", "csv"])
def test_the_counts_are_those_of_the_rows(in_place, pending, kind, monkeypatch, tmp_path):
    """Cells, counts, weights and squares, in an array of all cells or of those that occur."""
    monkeypatch.setattr(tallies, "COUNTED_IN_PLACE", in_place)
    monkeypatch.setattr(tallies, "PENDING", pending)
    table = frame()
    source = from_frame(table)
    if kind == "csv":
        table.write_csv(tmp_path / "in.csv")
        source = from_file(tmp_path / "in.csv")
    cells, weights = by_hand(table), table["w"].to_numpy()
    found = counted(source, Count(("a", "b", "c"), DOMAINS, "w"))
    assert found.sizes == (3, 4, 41)
    known = np.unique(cells)
    assert found.cells.tolist() == known.tolist()
    ways = (weights * 0 + 1, weights, weights**2)
    wanted = [np.bincount(cells, values)[known] for values in ways]
    for sums, told in zip(wanted, (found.counts, found.weights, found.squares), strict=True):
        np.testing.assert_allclose(told, sums)
    plain = counted(source, Count(("a", "b", "c"), DOMAINS))
    assert plain.weights is None
    assert plain.counts.tolist() == found.counts.tolist()


def test_batches_that_come_at_once_are_all_counted(monkeypatch):
    """Threads that take batches of a long table at the same time lose none of its rows."""
    many = 1 << 17
    codes = pl.Series("c", np.arange(12 * many) % many, dtype=pl.Int32)
    domain = Domain(tuple(range(many)), "refuse")
    for in_place in (0, 1 << 22):
        monkeypatch.setattr(tallies, "COUNTED_IN_PLACE", in_place)
        monkeypatch.setattr(tallies, "PENDING", 1)
        found = counted(from_frame(codes.to_frame()), Count(("c",), (domain,)))
        assert (found.counts == 12).all()
        assert found.counts.size == many


def test_nobody_is_counted(monkeypatch):
    """A table without rows has no cells, either way."""
    source = from_frame(frame().head(0))
    for in_place in (0, 1 << 22):
        monkeypatch.setattr(tallies, "COUNTED_IN_PLACE", in_place)
        assert counted(source, Count(("a",), DOMAINS[:1])).rows == 0


def test_what_cannot_be_counted_is_told_with_its_rows():
    """Strange labels, weights that are none, columns that are not there: no value is shown."""
    source = from_frame(frame().with_columns(c=pl.lit(77)))
    with pytest.raises(DomainError, match=r"column 'c': 5000 cells outside .* rows 1, 2, 3, 4, 5"):
        counted(source, Count(("c",), DOMAINS[2:]))
    source = from_frame(frame().with_columns(w=pl.lit(None, pl.Float64)))
    with pytest.raises(TableError, match="column 'w': 5000 cells that hold no weight"):
        counted(source, Count(("a",), DOMAINS[:1], "w"))
    with pytest.raises(TableError, match="has no column 'z'"):
        counted(from_frame(frame()), Count(("z",), DOMAINS[:1]))
    with pytest.raises(TableError, match="by column 'a', which is of type String"):
        counted(from_frame(frame()), Count(("c",), DOMAINS[2:], "a"))
    with pytest.raises(TableError, match="more than the 2\\^63"):
        Count(("a",) * 40, DOMAINS[:1] * 40)


def test_labels_of_a_column(monkeypatch):
    """In their order, and whether some are missing; too many, and lists, are refused."""
    table = frame().with_columns(l=pl.lit([1, 2]), f=pl.lit(float("nan")), e=pl.col("a"))
    source = from_frame(table.cast({"e": pl.Categorical}))
    assert labels_of(source, "a") == (("x", "y"), True)
    assert labels_of(source, "e") == (("x", "y"), True)
    assert labels_of(source, "c") == (tuple(range(40)), False)
    assert labels_of(source, "f") == ((), True)
    with pytest.raises(TableError, match="as lists make none"):
        labels_of(source, "l")
    monkeypatch.setattr(tallies, "MOST_LABELS", 3)
    with pytest.raises(TableError, match="40 distinct values"):
        labels_of(source, "c")
