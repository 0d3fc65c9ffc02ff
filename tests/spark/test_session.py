"""Sessions: the one that runs is taken; one that is started is quiet and on loopback."""

import os
import subprocess
import sys

import polars as pl
import pytest
from click.testing import CliRunner

from bistochastic.cli import main
from bistochastic.errors import TableError
from bistochastic.tables.spark import session as sessions
from tests.pages import ROOT

pytestmark = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

PLAN = """
release = "r"

[columns.x]
role = "key"
kind = "nominal"
domain = ["a", "b"]
matrix = "mixture"
truth = 0.6
"""


def put(folder):
    """A file and a plan in a folder."""
    pl.DataFrame({"x": ["a", "b", None] * 20}).write_csv(folder / "x.csv")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    return ["protect", str(folder / "x.csv"), "--plan", str(folder / "plan.toml"), "--key",
            str(folder / "key")]  # fmt: skip


def test_the_command_line_hands_a_file_to_spark(spark, tmp_path):
    """In the session that runs; the release is the one of this process, and verifies."""
    asked = put(tmp_path)
    folders = {engine: tmp_path / engine / "release" for engine in ("spark", "local")}
    for engine, folder in folders.items():
        folder.parent.mkdir()
        told = CliRunner().invoke(main, [*asked, "--out", str(folder), "--engine", engine])
        assert told.exit_code == 0, told.output
    for name in ("data.csv", "manifest.json", "report.html"):
        assert (folders["spark"] / name).read_bytes() == (folders["local"] / name).read_bytes()
    bad = CliRunner().invoke(main, [*asked, "--out", str(tmp_path / "o"), "--engine", "cluster"])
    assert bad.exit_code == 2


@pytest.mark.slow
def test_a_session_of_our_own_is_quiet(spark, tmp_path):
    """One readable block at a refusal, without a word of Spark's log."""
    asked = put(tmp_path)
    (tmp_path / "x.csv").write_text("x\na\nXq7canary\n", encoding="utf-8")
    run = [sys.executable, "-m", "bistochastic", *asked, "--out", str(tmp_path / "out")]
    hidden = {"PYSPARK_PYTHON", "SPARK_LOCAL_IP", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"}
    around = {name: value for name, value in os.environ.items() if name not in hidden}
    told = subprocess.run(
        [*run, "--engine", "spark"], capture_output=True, text=True, timeout=300, cwd=ROOT,
        env=around, check=False,
    )  # fmt: skip
    assert told.returncode == 2, told.stderr
    assert told.stdout == ""
    ours = told.stderr[told.stderr.index("bistochastic: ") :]
    assert "1 cell outside the declared domain, row 2" in ours
    assert "canary" not in told.stderr
    assert "Traceback" not in told.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("said", "bytes_"),
    [("128m", 1 << 27), ("134217728b", 1 << 27), ("2g", 1 << 31), ("64kb", 1 << 16), ("7", 7)],
)
def test_sizes_are_read_as_spark_spells_them(said, bytes_):
    """What Spark gives to a task, our pieces have too."""

    class Spoken:
        class conf:  # noqa: N801  # as Spark calls it
            @staticmethod
            def get(name, default):
                return said

    assert sessions.piece_bytes(Spoken) == bytes_


def test_a_session_that_cannot_start_says_what_it_needs(monkeypatch):
    """Java is not there, or not the right one: no page of its own words."""
    from pyspark.sql import SparkSession

    class Broken:
        def __getattr__(self, name):
            if name == "getOrCreate":
                raise RuntimeError("JAVA_GATEWAY_EXITED")
            return lambda *_: self

    monkeypatch.setattr(SparkSession, "getActiveSession", classmethod(lambda cls: None))
    monkeypatch.setattr(SparkSession, "builder", Broken())
    with pytest.raises(TableError, match="needs Java 17 or later"):
        sessions.session()
