"""Numbers: what a column is ranked by has the order and the ties of its values."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bistochastic.errors import TableError
from bistochastic.tables.numbers import Numbers, as_numbers, refuse_strange, sortable
from bistochastic.tables.sources import from_frame

LINES = st.one_of(
    st.lists(st.floats(allow_nan=False)).map(np.array),
    st.lists(st.floats(allow_nan=False, width=32)).map(lambda x: np.array(x, dtype=np.float32)),
    st.lists(st.integers(-(2**63), 2**63 - 1)).map(lambda x: np.array(x, dtype=np.int64)),
    st.lists(st.integers(0, 2**64 - 1)).map(lambda x: np.array(x, dtype=np.uint64)),
    st.lists(st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.0])).map(np.array),
    st.lists(st.integers(-128, 127)).map(lambda x: np.array(x, dtype=np.int8)),
)


@given(LINES)
def test_whole_numbers_stand_for_values_in_their_order(values):
    """Sorting by them is sorting by the values, stably; both zeros are one."""
    keys = sortable(values)
    assert keys.dtype == np.int64
    assert keys.argsort(kind="stable").tolist() == values.argsort(kind="stable").tolist()
    assert (keys[1:] == keys[:-1]).tolist() == (values[1:] == values[:-1]).tolist()


TEXT = st.one_of(st.integers(-99, 99).map(str), st.just(""), st.sampled_from(["1.5", " 2 ", "1e3"]))


@given(st.lists(TEXT, max_size=30), st.integers(0, 30))
def test_parts_of_a_column_are_numbers_as_the_whole_is(texts, cut):
    """Once it is known whether all of it is whole; both say the same of that together."""
    column = pl.Series("x", texts, dtype=pl.String)
    source = from_frame(pl.DataFrame({"x": column}))
    whole = Numbers.of(column, source)
    parts = [Numbers.of(part, source, at) for part, at in ((column[:cut], 0), (column[cut:], cut))]
    assert all(part.whole for part in parts) == whole.whole
    told = [Numbers.of(part, source, whole=whole.whole) for part in (column[:cut], column[cut:])]
    values = np.concatenate([part.values for part in told])
    assert values.tolist() == whole.values.tolist()
    there = np.concatenate([part.present for part in told])
    assert there.tolist() == whole.present.tolist()


def test_what_is_no_number_has_its_row():
    """Counted from where the part begins, or by the numbers of its rows."""
    column = pl.Series("x", ["1", "one", "inf"])
    source = from_frame(pl.DataFrame({"x": column}))
    found = Numbers.of(column, source, 100).strange
    assert [(one.rows, one.count) for one in found] == [((101,), 1), ((102,), 1)]
    found = Numbers.of(column, source, np.array([7, 5, 6])).strange
    assert [one.rows for one in found] == [(5,), (6,)]
    with pytest.raises(TableError, match="cannot be read as a number, row 6"):
        refuse_strange(found, source)
    with pytest.raises(TableError, match="cannot be read as a number, row 2"):
        as_numbers(column, source)
