"""A small survey and its plan, for tests of the way of a row."""

import duckdb
import numpy as np
import polars as pl

from bistochastic.keystream import Key
from bistochastic.plan.plan import Plan

KEY = Key(bytes(range(32)))  # a test key
KINDS = {  # of dataframes: there, and back
    "polars": (lambda frame: frame, lambda out: out),
    "lazy": (lambda frame: frame.lazy(), lambda out: out.collect()),
    "pandas": (lambda frame: frame.to_pandas(), pl.from_pandas),
    "pyarrow": (lambda frame: frame.to_arrow(), pl.from_arrow),
    "duckdb": (
        lambda frame: duckdb.from_arrow(frame.to_arrow()),
        lambda out: pl.DataFrame(out.to_arrow_table()),
    ),
}

TEXT = """
release = "survey"

[columns.id]
role = "identifier"

[columns.household]
role = "household"
pseudonym = true

[columns.sex]
role = "key"
kind = "nominal"
domain = ["f", "m"]
matrix = "mixture"
beta = 0.5

[columns.age]
role = "key"
kind = "ordinal"
domain = {first = 0, last = 9}
missing = "refuse"
matrix = "diffusion"
bits = 1.2

[columns.member]
role = "key"
kind = "nominal"
domain = [false, true]
missing = "keep"
matrix = "mixture"
truth = 0.7

[columns.smoker]
role = "confidential"
kind = "nominal"
domain = ["no", "yes"]

[columns.region]
role = "key"
kind = "nominal"
domain = ["a", "b", "c"]
missing = "refuse"

[columns.income]
role = "confidential"
kind = "numeric"
how = "permute"
matrix = "blocks"
k = 5

[columns.spend]
role = "confidential"
kind = "numeric"
how = "average"
matrix = "blocks"
k = 5
by = "income_before"

[columns.income_before]
role = "plain"

[columns.hours]
role = "confidential"
kind = "numeric"
how = "draw"
matrix = "window"
width = 3

[columns.weight]
role = "weight"

[[together]]
columns = ["smoker", "region"]
matrix = "mixture"
epsilon = 2.0
"""


def plan(**changes):
    """The plan, with other things said at the top."""
    said = Plan.from_text(TEXT).dump() | changes
    return Plan(**said)


def survey(n=1000, seed=0):
    """So many rows of all kinds, some of them with missing values."""
    rng = np.random.default_rng(seed)
    rows = np.arange(n)
    return pl.DataFrame(
        {
            "id": [f"p{row}" for row in rows],
            "household": rows // 3,
            "sex": rng.choice(["f", "m"], n).tolist(),
            "age": rng.integers(0, 10, n).astype(np.int8),
            "member": (rng.random(n) < 0.3).tolist(),
            "smoker": rng.choice(["no", "yes"], n).tolist(),
            "region": pl.Series(
                rng.choice(list("abc"), n).tolist(), dtype=pl.Enum(["c", "b", "a"])
            ),
            "income": rng.integers(1000, 5000, n),
            "spend": rng.normal(100, 10, n).round(2),
            "income_before": rng.integers(1000, 5000, n),
            "hours": rng.integers(0, 60, n).astype(np.int16),
            "weight": rng.random(n),
        }
    ).with_columns(
        pl.when(pl.int_range(n) % 11 == 3).then(None).otherwise(pl.col("sex")).alias("sex"),
        pl.when(pl.int_range(n) % 7 == 3).then(None).otherwise(pl.col("member")).alias("member"),
        pl.when(pl.int_range(n) % 13 == 3).then(None).otherwise(pl.col("smoker")).alias("smoker"),
        pl.when(pl.int_range(n) % 17 == 3).then(None).otherwise(pl.col("income")).alias("income"),
    )
