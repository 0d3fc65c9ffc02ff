"""Means within cells and regressions: what correcting costs beside taking reports for the truth."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from rich.table import Table

import bistochastic as bs
from benchmarks.timing import best, seconds, table
from bistochastic.estimate.correction import Correction
from bistochastic.estimate.design import Data, Design, Part
from bistochastic.estimate.moved import restored
from bistochastic.estimate.regression import fitted

ROWS = 10**6
LABELS = 5
TRUTH = 0.7


def tables() -> Iterator[Table]:
    """Every table, as it is measured."""
    yield models()
    yield cells()
    yield numbers()


def columns() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Reports of five labels, a predictor and a response."""
    choose = np.random.default_rng(3)
    true, other = choose.integers(0, LABELS, ROWS), choose.normal(size=ROWS)
    lies = (true + choose.integers(1, LABELS, ROWS)) % LABELS
    reports = np.where(choose.random(ROWS) < TRUTH, true, lies)
    return reports, other, other + true + 3 * choose.logistic(size=ROWS)


def models() -> Table:
    """Corrected fits against the same fits of the reports as they are."""
    made = table(
        f"Models of {LABELS} randomised labels and a number, {ROWS:,} records",
        "model", "corrected", "naive", "times",
    )  # fmt: skip
    reports, other, y = columns()
    cells = np.column_stack((np.ones(LABELS), np.eye(LABELS)[:, 1:], np.ones(LABELS)))
    predictors = (*[Part()] * LABELS, Part(numbers=(other,)))
    correction = Correction.of([bs.Mixture(LABELS, truth=TRUTH)])
    for family, response in (("linear", y), ("logistic", (y > 2).astype(float))):
        data = Data(reports, predictors, Part(numbers=(response,)))
        design = Design(cells, np.ones(LABELS))
        labels = tuple(Part(levels=((reports, label),)) for label in range(1, LABELS))
        plain = Data(
            np.zeros(ROWS, int), (Part(), *labels, Part(numbers=(other,))), data.response
        )  # fmt: skip
        known = Design(np.ones((1, LABELS + 1)), np.ones(1))
        ours = best(lambda f=family, d=data, m=design: fitted(d, m, correction, family=f), 1)
        naive = best(lambda f=family, d=plain, m=known: fitted(d, m, Correction(()), family=f), 1)
        made.add_row(family, seconds(ours), seconds(naive), f"{ours / naive:.1f}")
    return made


def cells() -> Table:
    """`within` against a group_by of the reports."""
    made = table(
        f"A number within {LABELS} randomised labels, {ROWS:,} rows",
        "statistic", "bs.within", "Polars group_by", "times",
    )  # fmt: skip
    reports, _, y = columns()
    said = {"role": "key", "kind": "nominal", "missing": "refuse", "matrix": "mixture",
            "truth": TRUTH, "domain": {"first": 0, "last": LABELS - 1}}  # fmt: skip
    plan = bs.Plan(release="benchmark", columns={"code": said, "pay": {"role": "plain"}})
    frame = pl.DataFrame({"code": reports, "pay": y})
    manifest = bs.protect(frame.head(1), plan).manifest
    grouped = {"mean": pl.col("pay").mean(), "quantile": pl.col("pay").median()}
    for statistic, peer in grouped.items():
        ours = best(
            lambda s=statistic: bs.within(frame, manifest, "pay", by="code", statistic=s)  # type: ignore[arg-type]  # one of those it knows
        )
        alone = best(lambda p=peer: frame.group_by("code").agg(p))
        made.add_row(statistic, seconds(ours), seconds(alone), f"{ours / alone:.1f}")
    return made


def numbers() -> Table:
    """What stands for permuted numbers, against sorting them."""
    made = table(
        f"What stands for {ROWS:,} permuted numbers", "matrix", "restored", "np.sort", "times"
    )
    _, _, y = columns()
    for matrix in (bs.Mixture(ROWS, truth=0.7), bs.Tridiagonal(np.full(ROWS - 1, 0.2))):
        ours = best(lambda m=matrix: restored(y, m))
        alone = best(lambda: np.sort(y))
        made.add_row(
            type(matrix).__name__, seconds(ours), seconds(alone), f"{ours / alone:.1f}"
        )  # fmt: skip
    return made
