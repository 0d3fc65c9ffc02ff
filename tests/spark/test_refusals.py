"""Refusals: what goes wrong on a worker is one readable error here, and nothing is published."""

import os
import subprocess
import sys

import polars as pl
import pytest

from bistochastic.errors import BistochasticError, DomainError, ReleaseError, TableError
from bistochastic.plan.plan import Plan
from bistochastic.run import protect
from tests.spark.test_parity import local, with_ranks, without_ranks, written
from tests.surveys import KEY

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
CANARY = "Xq7canary"


def refused(function, kind=BistochasticError):
    """What a function is refused with, of which nothing is a trace or a value."""
    with pytest.raises(kind) as caught:
        function()
    told = str(caught.value)
    assert "Traceback" not in told
    assert "File " not in told
    assert CANARY not in told
    assert "\n" not in told
    return told


def one(kind="nominal", **more):
    """A plan for a single column."""
    said = {"role": "key", "kind": kind, **more}
    return Plan(release="r", columns={"x": said})


MIXED = {"domain": ["a", "b"], "matrix": "mixture", "truth": 0.5}


def test_an_unseen_label_is_told_as_on_one_machine(spark, pieces, tmp_path):
    """Counted over all workers, with the first rows of the file; no folder appears."""
    values = ["a", "b"] * 50
    for row in (3, 60, 61, 70, 71, 90, 99):
        values[row] = CANARY
    for row in (2, 98):
        values[row] = None
    path, asked = tmp_path / "x.parquet", one(**MIXED, missing="refuse")
    pl.DataFrame({"x": values}).write_parquet(path)
    pieces(4)
    release = protect(path, asked, KEY, engine="spark")
    near = refused(lambda: local(path, asked).write(tmp_path / "near"), DomainError)
    assert refused(lambda: release.write(tmp_path / "far"), DomainError) == near
    assert refused(lambda: release.data, DomainError) == near
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["x.parquet"]


def test_ids_that_are_missing_are_told(spark):
    """Permanent answers need an id for each row."""
    frame = pl.DataFrame({"x": ["a", "b"], "id": ["u", None]})
    columns = one(**MIXED).dump()["columns"] | {"id": {"role": "plain"}}
    asked = Plan(release="r", records="id", columns=columns)
    release = protect(spark.createDataFrame(frame.to_arrow()), asked, KEY)
    assert "column 'id': 1 cell without a record id, row 2" in refused(
        lambda: release.data
    ).replace("Column", "column")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["1", "2", CANARY, "4"] * 3, "3 cells that cannot be read as a number, rows 3, 7, 11"),
        (["1", "inf", "3"], "1 cell with an infinite number, row 2"),
    ],
)
def test_what_has_no_rank_is_told_as_on_one_machine(values, said, spark, pieces, tmp_path):
    """Texts that are no numbers and numbers without end, with their rows."""
    path = tmp_path / "x.csv"
    path.write_text("x\n" + "\n".join(values) + "\n", encoding="utf-8")
    asked = Plan(release="r", columns={
        "x": {"role": "key", "kind": "numeric", "how": "permute", "matrix": "secrecy"}
    })  # fmt: skip
    pieces(3)
    far = refused(lambda: protect(path, asked, KEY, engine="spark"), TableError)
    assert said in far
    assert far == refused(lambda: local(path, asked), TableError)


def test_an_order_that_is_missing_is_told_as_on_one_machine(spark):
    """A column that orders the others must be complete."""
    frame = pl.DataFrame({"x": [1, 2, None, 4], "by": [1.5, None, None, 2.5]})
    said = {"role": "key", "kind": "numeric", "how": "permute", "matrix": "secrecy", "by": "by"}
    asked = Plan(release="r", columns={"x": said, "by": {"role": "plain"}})
    far = refused(lambda: protect(spark.createDataFrame(frame.to_arrow()), asked, KEY))
    assert far == refused(lambda: local(frame, asked))


def test_averages_over_everybody_need_one_machine(spark):
    """Only blocks come together on a worker; the plan says which column it is."""
    said = {"role": "key", "kind": "numeric", "how": "average", "matrix": "mixture", "truth": 0.5,
            "insist": True}  # fmt: skip
    frame = spark.createDataFrame(pl.DataFrame({"x": [1.0, 2.0, 3.0]}).to_arrow())
    told = refused(lambda: protect(frame, Plan(release="r", columns={"x": said}), KEY))
    assert "on one machine" in told
    assert "x" in told


def through(frame, fault):
    """A frame whose workers do something on the way."""
    return frame.mapInArrow(fault, frame.schema)


def killed(batches):
    """A worker that is killed."""
    yield from ()
    os._exit(9)


def quoting(batches):
    """A worker that fails with a value on its lips."""
    yield from ()
    raise ValueError(f"cannot parse {CANARY!r}")


@pytest.mark.parametrize(
    ("fault", "told"),
    [(killed, "A worker of Spark stopped in the middle"), (quoting, "Spark could not finish")],
)
def test_a_worker_that_dies_leaves_nothing(fault, told, spark, tmp_path):
    """Whether it is killed or fails: no folder, no part of one, one sentence."""
    armed = tmp_path / "armed"

    def sometimes(batches):
        if armed.exists():
            yield from fault(batches)
        yield from batches

    frame = through(
        spark.createDataFrame(pl.DataFrame({"x": ["a", "b"] * 9}).to_arrow()), sometimes
    )
    release = protect(frame, one(**MIXED), KEY)
    armed.touch()
    assert told in refused(lambda: release.write(tmp_path / "out"))
    assert [entry.name for entry in tmp_path.iterdir()] == ["armed"]
    armed.unlink()
    release.write(tmp_path / "out")
    assert sorted(entry.name for entry in (tmp_path / "out").iterdir()) == [
        "data.parquet", "manifest.json",
    ]  # fmt: skip


def test_a_kernel_that_fails_tells_no_value(spark, monkeypatch, tmp_path):
    """A defect on a worker: its kind and its place, nothing of what it says."""
    from bistochastic import run
    from bistochastic.tables.base import Recode

    def failing(part, plan, key):
        def kernel(codes, rows, ids):
            raise KeyError(CANARY)

        return Recode(part.columns, part.domains, kernel)

    monkeypatch.setattr(run, "randomised", failing)
    frame = spark.createDataFrame(pl.DataFrame({"x": ["a", "b"]}).to_arrow())
    told = refused(lambda: protect(frame, one(**MIXED), KEY).write(tmp_path / "out"))
    assert "A worker of Spark failed: KeyError at " in told
    assert list(tmp_path.iterdir()) == []


def test_a_frame_that_changes_is_refused(spark, tmp_path):
    """Rows that were counted must come again, or they have no numbers."""
    more = tmp_path / "more"

    def growing(batches):
        yield from (batch.slice(0, None if more.exists() else 1) for batch in batches)

    frame = through(spark.createDataFrame(pl.DataFrame({"x": ["a", "b"] * 9}).to_arrow()), growing)
    release = protect(frame, one(**MIXED), KEY)
    more.touch()
    assert "other rows when Spark read it again" in refused(lambda: release.write(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_file_that_changes_is_refused(spark, tmp_path):
    """Pieces are cut once; who writes to the file later is noticed."""
    path = written(tmp_path, "csv")
    release = protect(path, without_ranks(), KEY, engine="spark")
    with path.open("a", encoding="utf-8") as file:
        file.write("x\n")
    assert "changed while it was read" in refused(lambda: release.write(tmp_path / "out"))
    path.unlink()
    assert "sees no file 'in.csv'" in refused(lambda: release.write(tmp_path / "out"))


def test_parts_that_nobody_sees_are_refused(spark, monkeypatch, tmp_path):
    """Workers that write on disks of their own publish nothing."""
    release = protect(written(tmp_path, "parquet"), without_ranks(), KEY, engine="spark")
    monkeypatch.setattr(type(tmp_path), "is_file", lambda self: False)
    told = refused(lambda: release.write(tmp_path / "out"), ReleaseError)
    assert "they do not see the folder" in told
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('x,y\na,"b\nb,c\n', "quotes are not balanced"),
        ("x,y\na,1\nb\na,2\n", "1 row is blank or has fewer fields than the header, row 2"),
        ("x,y\na,1\nb,2,3\n", "more fields than the header"),
    ],
)
def test_a_damaged_text_file_is_refused(text, said, spark, pieces, tmp_path):
    """Quotes that are not closed, rows that are torn."""
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8")
    columns = one(**MIXED).dump()["columns"] | {"y": {"role": "plain"}}
    pieces(2)
    asked = Plan(release="r", columns=columns)
    told = refused(
        lambda: protect(path, asked, KEY, engine="spark").write(tmp_path / "out"), TableError
    )
    assert said in told
    assert not (tmp_path / "out").exists()


def test_types_that_do_not_fit_are_refused_before_a_job(spark, tmp_path):
    """Arrays have no categories, and a label must fit its column."""
    frame = spark.createDataFrame([([1],)], "x array<int>")
    assert "has no categories" in refused(lambda: protect(frame, one(**MIXED), KEY))
    frame = spark.createDataFrame([(1,)], "x byte")
    said = MIXED | {"domain": [1, 300]}
    assert "do not fit" in refused(lambda: protect(frame, one(**said), KEY))
    path = tmp_path / "x.parquet"
    table = pl.DataFrame({"x": ["a"], "y": pl.Series([1], dtype=pl.Time)})
    table.write_parquet(path)
    columns = one(**MIXED).dump()["columns"] | {"y": {"role": "plain"}}
    release = protect(path, Plan(release="r", columns=columns), KEY, engine="spark")
    assert "of type Time, which Spark does not have" in refused(lambda: release.data)
    release.write(tmp_path / "out")
    assert pl.read_parquet(tmp_path / "out" / "data.parquet")["y"].equals(table["y"])


def test_what_spark_cannot_cut_is_refused(spark, tmp_path):
    """Files in one piece, frames of this process, and an engine that nobody knows."""
    path = tmp_path / "x.csv.gz"
    pl.DataFrame({"x": ["a"]}).lazy().sink_csv(path, compression="gzip")
    told = refused(lambda: protect(path, one(**MIXED), KEY, engine="spark"))
    assert "that workers cannot share" in told
    frame = pl.DataFrame({"x": ["a"]})
    assert "in this process" in refused(lambda: protect(frame, one(**MIXED), KEY, engine="spark"))
    assert 'is "local" or "spark"' in refused(lambda: protect(frame, one(**MIXED), engine="x"))


@pytest.mark.slow
def test_no_value_passes_through_the_driver(spark, monkeypatch, pieces, tmp_path):
    """No plan has a single partition or a window, and nothing but counts is collected."""
    from pyspark.sql.classic.dataframe import DataFrame

    collected, plans = [], []
    before = DataFrame.collect

    def counting(frame):
        plans.append(str(frame._jdf.queryExecution().toString()))
        rows = before(frame)
        collected.append(len(rows))
        return rows

    kept = DataFrame.localCheckpoint

    def looking(frame):
        plans.append(str(frame._jdf.queryExecution().toString()))
        return kept(frame)

    monkeypatch.setattr(DataFrame, "collect", counting)
    monkeypatch.setattr(DataFrame, "localCheckpoint", looking)
    path = written(tmp_path, "parquet")
    pieces(3)
    release = protect(path, with_ranks(), KEY, engine="spark")
    plans.append(str(release.data._jdf.queryExecution().toString()))
    for one in release._table.ranked.values():
        plans.append(str(one.frame._jdf.queryExecution().toString()))
    release.write(tmp_path / "out")
    assert collected
    assert max(collected) <= 20
    for shown in plans:
        for word in ("SinglePartition", "Window", "CollectLimit", "TakeOrdered", "Coalesce 1"):
            assert word not in shown
        assert "MapInArrow" in shown or "ExistingRDD" in shown


def test_without_spark_a_sentence_says_what_to_install(tmp_path):
    """Everything else works; who asks for Spark is told."""
    (tmp_path / "x.csv").write_text("x\na\n", encoding="utf-8")
    (tmp_path / "plan.toml").write_text(
        'release = "r"\n[columns.x]\nrole = "key"\nkind = "nominal"\ndomain = ["a", "b"]\n'
        'matrix = "mixture"\ntruth = 0.7\n',
        encoding="utf-8",
    )
    program = (  # a process of its own, in which nobody has imported Spark before
        "import sys; sys.modules['pyspark'] = None; "
        "from bistochastic.cli import main; main(prog_name='bistochastic')"
    )
    words = ["protect", "x.csv", "--plan", "plan.toml", "--no-report", "--out"]
    for engine, code in (("local", 0), ("spark", 2)):
        run = subprocess.run(
            [sys.executable, "-c", program, *words, engine, "--engine", engine],
            capture_output=True, text=True, cwd=tmp_path,
        )  # fmt: skip
        assert run.returncode == code, run.stderr
    assert 'pip install "bistochastic[spark]"' in run.stderr
