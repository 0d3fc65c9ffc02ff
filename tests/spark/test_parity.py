"""Parity: one plan and one key give the same bytes in the hands of Spark as on one machine."""

import pickle
from itertools import pairwise

import polars as pl
import pytest
from pyspark import cloudpickle

from bistochastic.errors import SecretError
from bistochastic.keystream import Key
from bistochastic.plan.plan import Plan
from bistochastic.run import protect
from bistochastic.tables.spark.parcel import wrapped
from bistochastic.tables.spark.readers import Addressed, InOrder
from bistochastic.tables.spark.work import Masking
from bistochastic.verify import verify
from tests.surveys import KEY, plan, survey

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

RANKS = {"income", "spend", "hours"}
ROWS = 700


def without_ranks(**changes):
    """The plan of the survey, where numbers stay as they are."""
    said = plan().dump()
    for name in RANKS:
        said["columns"][name] = {"role": "plain"}
    return Plan(**(said | changes))


def with_ranks():
    """Only numbers: each way of masking them, and each order."""
    said = plan().dump()
    for name, column in said["columns"].items():
        if name not in RANKS:
            said["columns"][name] = {"role": "plain"}
        elif name == "hours":
            column["by"] = "position"
    return Plan(**(said | {"together": []}))


def written(where, kind):
    """The survey as a file."""
    path = where / f"in.{kind}"
    frame = survey(ROWS)
    if kind == "parquet":
        frame.write_parquet(path, row_group_size=350)
    else:
        frame.with_columns(
            pl.col("region").cast(pl.String),
            pl.col("id") + '\n, "quoted"',
        ).write_csv(path)
    return path


def files(folder):
    """What stands in a release."""
    return {entry.name: entry.read_bytes() for entry in folder.iterdir()}


def local(frame_or_path, asked=None):
    """What one machine makes of it."""
    return protect(frame_or_path, asked or plan(), KEY)


def same(frame, spark_frame):
    """Whether a Spark frame holds the very values of another, in the same order."""
    return pl.from_arrow(spark_frame.toArrow()).equals(frame)


@pytest.mark.parametrize("count", [1, 2, 7, pytest.param(64, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_gives_the_same_folder(kind, count, spark, pieces, tmp_path):
    """Data and manifest byte by byte, however many workers read how little of the file."""
    path = written(tmp_path, kind)
    pieces(count)
    release = protect(path, without_ranks(), KEY, engine="spark")
    assert release._table.reading.base.rdd.getNumPartitions() == count
    assert files(release.write(tmp_path / "far")) == files(
        local(path, without_ranks()).write(tmp_path / "near")
    )


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count"), [("csv", 7), ("parquet", 1), ("parquet", 2)])
def test_columns_of_numbers_give_the_same_folder(kind, count, spark, pieces, tmp_path):
    """Drawn, permuted and averaged; a key and the original still make the very bytes again."""
    path = written(tmp_path, kind)
    pieces(count)
    far = protect(path, with_ranks(), KEY, engine="spark").write(tmp_path / "far")
    assert files(far) == files(local(path, with_ranks()).write(tmp_path / "near"))
    if count == 7:
        assert all(check.holds for check in verify(far, key=KEY, original=path))


@pytest.mark.slow
def test_a_column_in_many_pieces_gives_the_same_folder(spark, pieces, tmp_path):
    """64 of them, whose ranks have nothing to do with where they were read."""
    said = with_ranks().dump()
    for name in ("spend", "hours"):
        said["columns"][name] = {"role": "plain"}
    path = written(tmp_path, "parquet")
    pieces(64)
    far = protect(path, Plan(**said), KEY, engine="spark").write(tmp_path / "far")
    assert files(far) == files(local(path, Plan(**said)).write(tmp_path / "near"))


@pytest.mark.slow
def test_everything_at_once_gives_the_same_folder(spark, pieces, tmp_path):
    """All kinds of columns and steps in one plan."""
    path = written(tmp_path, "parquet")
    pieces(3)
    far = protect(path, plan(), KEY, engine="spark").write(tmp_path / "far")
    assert files(far) == files(local(path).write(tmp_path / "near"))


@pytest.mark.parametrize("how", ["coalesce 1", "as it is", "repartition 7", "filtered"])
def test_a_frame_of_a_file_follows_the_rows_of_the_file(how, spark, tmp_path):
    """Whatever became of its partitions since it was read, rows have the numbers of the file."""
    path = written(tmp_path, "parquet")
    frame = spark.read.parquet(str(path))
    near = local(pl.from_arrow(frame.toArrow()), without_ranks()).data
    kind, _, count = how.partition(" ")
    if kind in ("coalesce", "repartition"):
        frame = getattr(frame, kind)(int(count))
    elif kind == "filtered":
        few = pl.read_parquet(path)["age"].is_in([1, 2, 3])
        frame, near = frame.filter("age in (1, 2, 3)"), near.filter(few)
    release = protect(frame, without_ranks(), KEY)
    assert type(release._table.reading.reader) is Addressed
    assert same(near, release.data)
    assert release.manifest.rows == near.height


def test_a_frame_of_several_files_follows_them_by_name(spark, tmp_path):
    """One file after the other, the smaller ones too, though Spark reads the largest first."""
    whole = survey(ROWS).with_columns(pl.col("region").cast(pl.String))
    ends = [0, 50, 600, 700]
    for place, (start, stop) in enumerate(pairwise(ends)):
        whole[start:stop].write_parquet(tmp_path / f"{place}.parquet")
    release = protect(spark.read.parquet(str(tmp_path)), without_ranks(), KEY)
    assert same(local(whole, without_ranks()).data, release.data)


@pytest.mark.slow
def test_a_file_that_is_read_twice_has_two_numbers_for_each_row(spark, tmp_path):
    """Or both copies of a record would have the very same words."""
    path = str(written(tmp_path, "parquet"))
    release = protect(spark.read.parquet(path, path), without_ranks(), KEY)
    assert type(release._table.reading.reader) is InOrder
    assert release.manifest.rows == 2 * ROWS
    ages = pl.from_arrow(release.data.select("age").toArrow())["age"]
    assert not ages[:ROWS].equals(ages[ROWS:])


def test_the_key_stays_here(spark):
    """Workers get what was derived for their columns, and no plan of Spark shows that."""
    key = Key.new()
    there = spark.createDataFrame(survey(50).with_columns(pl.col("region").cast(str)).to_arrow())
    table = protect(there, without_ranks(), key)._table
    parcel = wrapped(Masking(table.reading.reader, table.bound, None, None))
    assert len(parcel) > 1000
    assert key.secret() not in parcel
    assert list(pickle.loads(parcel).steps.coders) == list(table.bound.coders)
    with pytest.raises(SecretError, match="not pickled"):
        cloudpickle.dumps(table.bound)


def test_a_frame_without_a_file_is_numbered_partition_by_partition(spark, tmp_path):
    """In the order in which it comes; it is written as one machine writes it."""
    frame = survey(ROWS).with_columns(pl.col("region").cast(pl.String))
    there = spark.createDataFrame(frame.to_arrow())
    release = protect(there, without_ranks(), KEY)
    assert type(release._table.reading.reader) is InOrder
    near = local(frame, without_ranks())
    assert same(near.data, release.data)
    assert files(release.write(tmp_path / "a")) == files(near.write(tmp_path / "b"))


def test_shuffled_rows_with_an_id_have_their_answers(spark):
    """The order is another and so are the partitions, the answers of each record are not."""
    frame = survey(ROWS).with_columns(pl.col("region").cast(pl.String))
    said = without_ranks().dump()
    said["columns"]["id"] = {"role": "plain"}
    asked = Plan(**(said | {"records": "id"}))
    near = local(frame, asked).data.sort("id")
    shuffled = spark.createDataFrame(frame.sample(fraction=1, shuffle=True, seed=1).to_arrow())
    far = protect(shuffled.repartition(7), asked, KEY).data
    assert pl.from_arrow(far.toArrow()).sort("id").equals(near)


def numbers():
    """A plan for columns of the same numbers, masked in all ways."""
    said = {"role": "confidential", "kind": "numeric"}
    ways = {
        "permuted": {"how": "permute", "matrix": "blocks", "k": 4},
        "swapped": {"how": "permute", "matrix": "window", "width": 2},
        "drawn": {"how": "draw", "matrix": "mixture", "truth": 0.3, "by": "other"},
        "averaged": {"how": "average", "matrix": "blocks", "k": 3},
    }
    columns = {name: said | way for name, way in ways.items()} | {"other": {"role": "plain"}}
    return Plan(release="r", columns=columns)


SKEWED = {
    "nulls, NaN and both zeros": [None, 3.5, float("nan"), -0.0, 0.0, 2.0, None, -1.0] * 12,
    "ties everywhere": [7] * 90 + [1, 2, 3],
    "nobody": [None] * 9,
    "below zero": [-5, 3, 2**62, -(2**62), 0, -1] * 4,
}


@pytest.mark.slow
@pytest.mark.parametrize("case", SKEWED)
def test_ranks_of_any_column(case, spark):
    """Nulls, ties, one value nearly everywhere and partitions without a row."""
    values = SKEWED[case]
    kind = pl.Float64 if any(isinstance(v, float) for v in values) else pl.Int64
    ways = ("permuted", "swapped", "drawn", "averaged")
    columns = {name: pl.Series(values, dtype=kind) for name in ways}
    other = [row * 7 % 10 for row in range(len(values))]
    frame = pl.DataFrame(columns | {"other": other})
    near = protect(frame, numbers(), KEY)
    there = spark.createDataFrame(frame.to_arrow())
    far = protect(there.union(there.limit(0)), numbers(), KEY)  # some partitions are empty
    assert far.manifest == near.manifest
    assert pl.from_arrow(far.data.toArrow()).equals(near.data, null_equal=True)


def test_another_key_gives_another_release(spark):
    """What travels to the workers is the key that was given."""
    there = spark.createDataFrame(survey(200).with_columns(pl.col("region").cast(str)).to_arrow())
    one, two = (protect(there, without_ranks(), key).data.toArrow() for key in (KEY, Key.new()))
    assert not one.equals(two)
