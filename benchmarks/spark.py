"""Spark: what protecting costs beside Spark's own reading and writing of the same file."""

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.table import Table

import bistochastic as bs
from benchmarks.timing import best, seconds, table

ROWS = 5_000_000
SIZES = {"sex": 2, "region": 12, "school": 5, "work": 8, "age": 101, "smoker": 2}
RUNS = 3


def tables() -> Iterator[Table]:
    """Every table, as it is measured."""
    yield beside_spark(ROWS)


def written(path: Path, rows: int) -> None:
    """Ten columns: six of categories, as texts, and four of decimals."""
    choose = np.random.default_rng(1)
    made: dict[str, object] = {}
    for name, size in SIZES.items():
        labels = pl.Series([f"{name} {code}" for code in range(size)])
        made[name] = labels.gather(pl.Series(choose.integers(0, size, rows).astype(np.uint32)))
    for name in "abcd":
        made[name] = choose.normal(size=rows)
    pl.DataFrame(made).write_parquet(path, row_group_size=250_000)


def planned() -> bs.Plan:
    """Six columns through mixtures, four as they are."""
    columns: dict[str, dict[str, object]] = {name: {"role": "plain"} for name in "abcd"}
    for name, size in SIZES.items():
        domain = [f"{name} {code}" for code in range(size)]
        said = {"kind": "nominal", "domain": domain, "missing": "refuse"}
        columns[name] = said | {"role": "key", "matrix": "mixture", "beta": 0.5}
    return bs.Plan(release="benchmark", columns=columns)


def started() -> Any:
    """A session on this machine, of as many threads as it has."""
    from bistochastic.tables.spark.session import session

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.environ["PYSPARK_PYTHON"] = sys.executable
        return session()


def beside_spark(rows: int) -> Table:
    """The same file read and written by Spark alone, by Spark with our workers, and here."""
    made = table(
        f"A Parquet file of {rows:,} rows and ten columns, six of them randomised",
        "how", "time", "beside Spark alone",
    )  # fmt: skip
    spark = started()
    plan, key = planned(), bs.Key.new()
    with tempfile.TemporaryDirectory() as name:
        path, out = Path(name) / "in.parquet", Path(name) / "out"
        written(path, rows)

        def alone() -> None:
            spark.read.parquet(str(path)).write.parquet(str(out))
            shutil.rmtree(out)

        def frame() -> None:
            bs.protect(spark.read.parquet(str(path)), plan, key).data.write.parquet(str(out))
            shutil.rmtree(out)

        def file() -> None:
            bs.protect(path, plan, key, engine="spark").write(out)
            shutil.rmtree(out)

        def here() -> None:
            bs.protect(path, plan, key).write(out)
            shutil.rmtree(out)

        plain = best(alone, RUNS)
        made.add_row("Spark reads and writes", seconds(plain), "1.00")
        ways = {
            "a frame: Spark reads, our workers mask, Spark writes": frame,
            "a file: our workers read, mask and write; one folder comes out": file,
            "the local engine": here,
        }
        for said, way in ways.items():
            time = best(way, RUNS)
            made.add_row(said, seconds(time), f"{time / plain:.2f}")
    spark.stop()
    return made
