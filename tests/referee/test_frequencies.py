"""Frequencies: what is measured from counts is what is measured from the records."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.errors import MeasureError, TableError, TooLargeError

PLAN = bs.Plan(
    release="r",
    columns={
        name: {"role": "key", "kind": "nominal", "domain": list(range(size)), "matrix": "mixture",
               "beta": 0.5, "missing": rule}
        for name, size, rule in (("a", 4, "refuse"), ("b", 3, "category"), ("c", 5, "keep"))
    } | {"n": {"role": "plain"}},
)  # fmt: skip


def people(rows):
    """A table of three columns of codes, where the last code of two of them is missing."""
    kinds = dict.fromkeys("abc", pl.Int64)
    frame = pl.DataFrame(rows, schema=kinds, orient="row")
    return frame.with_columns(pl.col("b").replace(3, None), pl.col("c").replace(5, None))


ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=60
)


@given(ROWS, st.booleans())
def test_measures_of_counts_are_those_of_records(rows, ordered):
    """k, uniques, and everything that classes tell of a sensitive column."""
    found = bs.frequencies(people(rows), PLAN, ["a", "b", "c"])
    codes = np.array(rows).T
    near = bs.anonymity([codes[0], codes[1]])
    far = found.anonymity(["a", "b"])
    assert (far.k, far.mean, far.uniques, far.records, far.below(3), far.quantile(0.5)) == (
        near.k, near.mean, near.uniques, near.records, near.below(3), near.quantile(0.5)
    )  # fmt: skip
    was = bs.closeness(near, codes[2], ordered=ordered, size=6)
    now = found.closeness("c", ordered=ordered)
    for name in ("t", "distinct", "entropy", "frequency", "ratio", "delta"):
        assert getattr(now, name) == getattr(was, name), name
    assert now.information == was.information
    sole = found.closeness("c", ["a"], ordered=ordered)
    assert sole.t == bs.closeness(bs.anonymity([codes[0]]), codes[2], ordered=ordered, size=6).t


@given(ROWS)
def test_a_prior_is_the_shares_of_cells(rows):
    """In the order of a joint channel, with what is missing last."""
    found = bs.frequencies(people(rows), PLAN, ["a", "b"])
    codes = np.array(rows).T
    counts = np.bincount(codes[0] * 4 + codes[1], minlength=16)
    assert found.table().tolist() == counts.reshape(4, 4).tolist()
    assert found.prior().tolist() == (counts / len(rows)).tolist()
    assert found.rows == len(rows)
    joint = bs.Kronecker(bs.Mixture(4, truth=0.5), bs.Mixture(4, truth=0.6))
    shares = counts[counts > 0] / len(rows)
    bits = bs.disclosure(joint, found.prior()).prior_bits
    assert bits == pytest.approx(-(shares * np.log2(shares)).sum(), abs=1e-12)


def test_what_has_no_cells_is_refused():
    """Columns without labels, twice the same, none; tables that would be too large or are empty."""
    frame = people([(0, 0, 0)])
    for columns in (["n"], ["nobody"], ["a", "a"], []):
        with pytest.raises(TableError, match="categorical columns of the plan"):
            bs.frequencies(frame, PLAN, columns)
    found = bs.frequencies(frame, PLAN, "a")
    with pytest.raises(TableError, match="Counted are 'a'; asked for 'b'"):
        found.anonymity(["b"])
    nobody = bs.frequencies(frame.clear(), PLAN, ["a", "b"])
    with pytest.raises(TableError, match="There is no row"):
        nobody.prior()
    with pytest.raises(MeasureError, match="There is no record"):
        nobody.anonymity()
    with pytest.raises(MeasureError, match="There is no record"):
        nobody.closeness("b")
    wide = bs.Plan(
        release="r",
        columns={
            name: {"role": "key", "kind": "nominal", "domain": {"first": 0, "last": 20_000},
                   "matrix": "mixture", "beta": 0.5, "missing": "refuse"}
            for name in "ab"
        },
    )  # fmt: skip
    large = bs.frequencies(pl.DataFrame({"a": [1, 1], "b": [2, 2]}), wide, ["a", "b"])
    assert large.anonymity().k == 2
    with pytest.raises(TooLargeError, match="400040001 cells, of which 1 occur"):
        large.table()
    assert "2 rows" in repr(large)
