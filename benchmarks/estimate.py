"""Estimates: what they cost beside counting alone, and in domains that no array could hold."""

import importlib.util
from collections.abc import Iterator

import numpy as np
import polars as pl
from rich.table import Table

import bistochastic as bs
from benchmarks.timing import best, seconds, table
from bistochastic.estimate.axes import Axis
from bistochastic.estimate.intervals import intervals
from bistochastic.estimate.shares import estimated
from bistochastic.estimate.tally import Tally

ROWS = 10**7
LABELS = 100
RECORDS = 10**6
CELLS = 10**12


def tables() -> Iterator[Table]:
    """Every table, as it is measured."""
    yield frequencies()
    yield large_domains()


def released() -> tuple[pl.DataFrame, bs.Manifest]:
    """Ten million rows with a column of a hundred labels, and the manifest of their release."""
    said = {"role": "key", "kind": "nominal", "missing": "refuse", "matrix": "mixture",
            "epsilon": 2.0, "domain": {"first": 0, "last": LABELS - 1}}  # fmt: skip
    plan = bs.Plan(release="benchmark", columns={"code": said, "text": {**said, "domain": texts()}})
    codes = np.random.default_rng(1).integers(0, LABELS, ROWS)
    named = pl.Series(texts()).gather(pl.Series(codes.astype(np.uint32)))
    few = pl.DataFrame({"code": [0], "text": ["label 0"]})
    manifest = bs.protect(few, plan).manifest
    return pl.DataFrame({"code": codes.astype(np.uint8), "text": named}), manifest


def texts() -> list[str]:
    """A hundred labels that are texts."""
    return [f"label {code}" for code in range(LABELS)]


def frequencies() -> Table:
    """A column of a hundred categories, against counting it and nothing else."""
    made = table(
        f"Shares of {LABELS} categories, {ROWS:,} rows",
        "column", "bs.estimate", "np.bincount", "Polars group_by", "times group_by", "the rest",
    )  # fmt: skip
    frame, manifest = released()
    codes = frame["code"].to_numpy()
    axes = [Axis.of(bs.randomised_response(LABELS, epsilon=2))]
    tally = Tally.from_table(np.bincount(codes, minlength=LABELS))
    after = best(lambda: intervals(estimated(tally, axes)))
    for name in ("code", "text"):
        ours = best(lambda name=name: bs.estimate(frame, manifest, name))
        alone = best(lambda: np.bincount(codes, minlength=LABELS))
        grouped = best(lambda name=name: frame.group_by(name).len())
        made.add_row(
            f"{name}s", seconds(ours), seconds(alone) if name == "code" else "", seconds(grouped),
            f"{ours / grouped:.1f}", seconds(after),
        )  # fmt: skip
    for name, time in peers(codes):
        made.add_row(name, seconds(time), "", "", "", "")
    return made


def peers(codes: np.ndarray) -> Iterator[tuple[str, float]]:
    """Another package's estimate of the frequencies alone, where it is installed."""
    if importlib.util.find_spec("multi_freq_ldpy") is None:
        return
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator

    yield "multi-freq-ldpy, GRR", best(lambda: GRR_Aggregator(codes, LABELS, 2.0), 1)


def large_domains() -> Table:
    """Cells that were reported among a million millions, from as many records as are distinct."""
    made = table(
        f"Cells of a domain of {CELLS:,}, {RECORDS:,} records",
        "channel", "records", "cells reported", "counting", "estimates, errors, intervals", "ratio",
    )  # fmt: skip
    choose = np.random.default_rng(2)
    channels: dict[str, list[bs.Channel]] = {
        "one mixture": [bs.Mixture(CELLS, truth=0.6)],
        "mixtures of 10^6 × 10^6": [bs.Mixture(10**6, truth=0.7)] * 2,
        "mixtures of 10^3, four": [bs.Mixture(1000, truth=0.7)] * 4,
    }
    records = {
        "all apart": choose.integers(0, CELLS, RECORDS),
        "some common": np.minimum(choose.zipf(1.3, RECORDS), CELLS - 1),
    }
    for name, factors in channels.items():
        axes = [Axis.of(factor) for factor in factors]
        sizes = [axis.size for axis in axes]
        for kind, codes in records.items():
            counting = best(lambda sizes=sizes, codes=codes: Tally.of(sizes, codes))
            tally = Tally.of(sizes, codes)
            ours = best(lambda tally=tally, axes=axes: intervals(estimated(tally, axes)))
            made.add_row(
                name, kind, f"{tally.cells.size:,}", seconds(counting), seconds(ours),
                f"{ours / counting:.1f}",
            )  # fmt: skip
    return made
