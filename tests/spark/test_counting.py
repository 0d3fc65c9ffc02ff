"""Counting: a frame of Spark is added up where it is, and what is estimated is the same."""

import numpy as np
import polars as pl
import pytest

from bistochastic.analyst.contingency import estimate
from bistochastic.errors import DomainError, TableError
from bistochastic.tables.base import Domain
from bistochastic.tables.counting import Count
from bistochastic.tables.sources import from_frame
from bistochastic.tables.tallies import counted, labels_of
from tests.spark.test_parity import local, without_ranks
from tests.surveys import survey

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def release():
    """A release made on one machine."""
    return local(survey(3000).with_columns(pl.col("region").cast(pl.String)), without_ranks())


@pytest.fixture(scope="module")
def there(spark, release):
    """Its data in the hands of Spark."""
    return spark.createDataFrame(release.data.to_arrow()).repartition(5)


@pytest.mark.parametrize(
    "by", [["sex"], ["smoker", "region"], pytest.param(["member", "age"], marks=pytest.mark.slow)]
)
def test_estimates_are_the_same(by, release, there):
    """Alone, together, and with values that were kept missing: to the last bit."""
    near = estimate(release.data, release.manifest, by)
    assert estimate(there, release.manifest, by).equals(near)


def test_labels_that_nobody_declared_are_read_where_they_are(release, there):
    """The distinct values of a column, and whether some are missing."""
    assert labels_of(from_frame(there), "sex") == labels_of(from_frame(release.data), "sex")


@pytest.mark.parametrize("weight", [None, "weight"])
def test_tallies_are_the_same(weight, release, there):
    """Counts to the last one; sums of weights as near as their order lets them be."""
    count = Count(("sex", "age"), (Domain(("f", "m")), Domain(tuple(range(10)), "refuse")), weight)
    near, far = (counted(from_frame(frame), count) for frame in (release.data, there))
    assert far.cells.tolist() == near.cells.tolist()
    assert far.counts.tolist() == near.counts.tolist()
    assert far.sizes == near.sizes
    if weight:
        np.testing.assert_allclose(far.weights, near.weights, rtol=1e-12)
        np.testing.assert_allclose(far.squares, near.squares, rtol=1e-12)


def test_what_cannot_be_counted_is_told_in_full(there, spark):
    """Labels of another table and weights below zero, over all workers."""
    count = Count(("sex",), (Domain(("f", "x"), "keep"),))
    with pytest.raises(DomainError, match="column 'sex': ") as caught:
        counted(from_frame(there), count)
    assert "Traceback" not in str(caught.value)
    frame = pl.DataFrame({"sex": ["f", "m"] * 5, "weight": [-1.0, 1.0] * 5})
    weighed = Count(("sex",), (Domain(("f", "m"), "keep"),), "weight")
    with pytest.raises(TableError, match="5 cells that hold no weight, rows 1, 3, 5, 7, 9"):
        counted(from_frame(spark.createDataFrame(frame.to_arrow())), weighed)
    with pytest.raises(TableError, match="has no column 'nobody'"):
        labels_of(from_frame(there), "nobody")


def test_what_needs_the_rows_themselves_says_so(there):
    """Nothing takes the empty hand of a frame that is elsewhere for an empty table."""
    from bistochastic.tables.sources import understood

    source = from_frame(there)
    with pytest.raises(TableError, match=r"stay with Spark\. Bring them"), understood("the frame"):
        source.frame.collect()
    with pytest.raises(TableError, match=r"stay with Spark\. Bring them"), understood("the frame"):
        source.frame.select(pl.len()).collect(engine="streaming")


def test_frequencies_of_a_frame_are_the_same(there, release):
    """k, t and priors of the rows that Spark has, without one of them coming here."""
    import bistochastic as bs

    near, far = (
        bs.frequencies(frame, without_ranks(), ["sex", "age", "smoker"])
        for frame in (release.data, there)
    )
    assert far.anonymity(["sex", "age"]).k == near.anonymity(["sex", "age"]).k
    assert far.closeness("smoker").t == near.closeness("smoker").t
    assert (far.prior() == near.prior()).all()
