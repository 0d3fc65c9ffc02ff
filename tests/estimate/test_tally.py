"""A tally tells what occurs and nothing else."""

import numpy as np
import pytest

from bistochastic.errors import TableError
from bistochastic.estimate.tally import Tally


def test_of_rows_and_of_a_table_it_is_the_same():
    """Rows one by one, and the table they make."""
    table = np.array([[2, 0, 1], [0, 3, 0]])
    codes = np.repeat(np.arange(6), table.ravel())
    one, other = Tally.of((2, 3), codes[::-1]), Tally.from_table(table)
    assert one.sizes == other.sizes == (2, 3)
    assert one.cells.tolist() == other.cells.tolist() == [0, 2, 4]
    assert one.counts.tolist() == other.counts.tolist() == [2, 1, 3]
    assert one.laid_out(one.mass).tolist() == table.tolist()
    assert (one.rows, one.size, one.total) == (6, 6, 6.0)
    assert one.shares().tolist() == [2 / 6, 1 / 6, 3 / 6]


def test_weights_are_what_counts():
    """Shares are shares of all weight."""
    tally = Tally((2,), np.arange(2), np.array([1, 1]), np.array([1.0, 3.0]), np.array([1.0, 9.0]))
    assert tally.shares().tolist() == [0.25, 0.75]
    assert tally.squared.tolist() == [1.0, 9.0]
    nothing = Tally((2,), np.arange(2), np.array([1, 1]), np.zeros(2), np.zeros(2))
    with pytest.raises(TableError, match="no weight above zero"):
        nothing.shares()
