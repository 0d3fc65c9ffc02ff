"""Whole files: what protecting costs beside Polars reading and writing the file alone."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from rich.table import Table

import bistochastic as bs
from benchmarks.timing import best, seconds, table

ROWS = 10**7
SIZES = {"sex": 2, "region": 12, "school": 5, "work": 8, "age": 101}
PASSING = ("a", "b", "c", "d", "e")
RUNS = 5


def tables() -> Iterator[Table]:
    """Every table, as it is measured."""
    yield whole_files()


def written(path: Path) -> None:
    """Ten columns: five of categories, two of whole numbers, two of decimals, one of texts."""
    choose = np.random.default_rng(1)
    made: dict[str, object] = {}
    for name, size in SIZES.items():
        codes = choose.integers(0, size, ROWS)
        if name in ("age", "school"):
            made[name] = codes.astype(np.int16)
        else:
            labels = pl.Series([f"{name} {code}" for code in range(size)])
            made[name] = labels.gather(pl.Series(codes.astype(np.uint32)))
    for name in PASSING[:2]:
        made[name] = choose.integers(0, 10**6, ROWS).astype(np.int32)
    for name in PASSING[2:4]:
        made[name] = choose.normal(size=ROWS).round(4)
    texts = pl.Series([f"text {number}" for number in range(1000)])
    made[PASSING[4]] = texts.gather(pl.Series(choose.integers(0, 1000, ROWS).astype(np.uint32)))
    frame = pl.DataFrame(made)
    frame.write_parquet(path / "in.parquet", row_group_size=250_000)
    frame.write_csv(path / "in.csv")


def planned() -> bs.Plan:
    """Five columns through mixtures, the others as they are."""
    columns: dict[str, dict[str, object]] = {}
    for name, size in SIZES.items():
        numbers = name in ("age", "school")
        domain = list(range(size)) if numbers else [f"{name} {code}" for code in range(size)]
        said = {"kind": "nominal", "domain": domain, "missing": "refuse"}
        columns[name] = said | {"role": "key", "matrix": "mixture", "beta": 0.5}
    columns |= {name: {"role": "plain"} for name in PASSING}
    return bs.Plan(release="benchmark", columns=columns)


def alone(folder: Path, ending: str) -> None:
    """Polars reads the file and writes it, as a stream."""
    path, out = folder / f"in.{ending}", folder / f"alone.{ending}"
    if ending == "parquet":
        pl.scan_parquet(path).sink_parquet(out, row_group_size=250_000, statistics=False)
    else:
        pl.scan_csv(path, infer_schema=False).sink_csv(out)
    with out.open("rb") as file:
        os.fsync(file.fileno())
    out.unlink()


def ours(folder: Path, ending: str) -> None:
    """Masked, hashed and published whole, with its manifest."""
    out = folder / f"release-{ending}"
    bs.protect(folder / f"in.{ending}", planned(), bs.Key.new()).write(out)
    for entry in out.iterdir():
        entry.unlink()
    out.rmdir()


def peak(folder: Path, ending: str, what: str) -> float:
    """The most memory that a process of its own held, in GiB."""
    program = (
        f"from pathlib import Path; from benchmarks.protect import alone, ours\n"
        f"{what}(Path({str(folder)!r}), {ending!r})\n"
        f"print(Path('/proc/self/status').read_text())"  # getrusage would count the parent too
    )
    run = [sys.executable, "-c", program]
    told = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    return int(told.partition("VmHWM:")[2].split()[0]) / 2**20


def whole_files() -> Table:
    """Reading, masking, writing, hashing and publishing, as one."""
    made = table(
        f"A file of {ROWS:,} rows and ten columns, five of them randomised",
        "file", "Polars reads and writes", "we protect", "ratio", "memory, Polars", "ours",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written(folder)
        for ending in ("parquet", "csv"):
            plain = best(lambda: alone(folder, ending), RUNS)
            masked = best(lambda: ours(folder, ending), RUNS)
            made.add_row(
                ending, seconds(plain), seconds(masked), f"{masked / plain:.2f}",
                f"{peak(folder, ending, 'alone'):.2f} GiB",
                f"{peak(folder, ending, 'ours'):.2f} GiB",
            )  # fmt: skip
    return made
