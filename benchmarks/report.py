"""Reports: what telling people of a release costs beside protecting the file and reading it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from rich.table import Table

import bistochastic as bs
from benchmarks.timing import best, seconds, table

ROWS = 10**6
LABELS = {"sex": 2, "region": 12, "school": 5, "work": 8, "marital": 4, "smoker": 2, "age": 101,
          "job": 400}  # fmt: skip
NUMBERS = ("income", "rent", "hours", "savings")
RUNS = 3


def tables() -> Iterator[Table]:
    """Every table, as it is measured."""
    yield reports()


def planned() -> bs.Plan:
    """Eight columns of labels through several matrices, four of numbers by their ranks."""
    columns: dict[str, dict[str, object]] = {}
    for name, size in LABELS.items():
        said = {"role": "key", "kind": "nominal", "missing": "refuse", "matrix": "mixture"}
        domain: object = [f"{name} {code}" for code in range(size)]
        if name == "age":
            said |= {"kind": "ordinal", "matrix": "diffusion", "allow_zeros": True}
            domain = {"first": 0, "last": size - 1}
        columns[name] = said | {"domain": domain, "beta": 0.3}
    ranks = {"role": "confidential", "kind": "numeric", "how": "permute", "matrix": "blocks"}
    columns |= {name: ranks | {"k": 100} for name in NUMBERS}
    return bs.Plan(release="benchmark", columns=columns)


def people() -> pl.DataFrame:
    """A million of them, twelve columns."""
    choose = np.random.default_rng(8)
    made: dict[str, object] = {}
    for name, size in LABELS.items():
        codes = choose.integers(0, size, ROWS)
        labels = pl.Series([f"{name} {code}" for code in range(size)])
        made[name] = codes if name == "age" else labels.gather(pl.Series(codes.astype(np.uint32)))
    made |= {name: np.exp(choose.normal(7.5, 0.5, ROWS)).round(2) for name in NUMBERS}
    return pl.DataFrame(made)


def reports() -> Table:
    """Public and internal, for Parquet and text."""
    made = table(
        f"Reports of a release of {ROWS:,} rows and twelve columns",
        "file", "Polars reads", "we protect", "public report", "internal report", "size",
    )  # fmt: skip
    frame, plan, key = people(), planned(), bs.Key.new()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame.write_parquet(folder / "in.parquet")
        frame.write_csv(folder / "in.csv")
        for ending in ("parquet", "csv"):
            path, out = folder / f"in.{ending}", folder / f"out-{ending}"
            page, inside = folder / f"{ending}.html", folder / f"{ending}-inside.html"
            read = pl.scan_parquet if ending == "parquet" else pl.scan_csv
            alone = best(lambda: read(path).collect(), RUNS)
            masked = best(lambda: bs.protect(path, plan, key).write(out), 1)
            public = best(lambda: again(page, lambda: bs.report(out, page)), RUNS)
            internal = best(
                lambda: again(
                    inside,
                    lambda: bs.report(out, inside, audience="internal", original=path),
                ),
                1,
            )
            made.add_row(
                ending, seconds(alone), seconds(masked), seconds(public), seconds(internal),
                f"{page.stat().st_size / 1e6:.2f} MB",
            )  # fmt: skip
    return made


def again(path: Path, write: object) -> None:
    """Write a page where one may be."""
    path.unlink(missing_ok=True)
    write()  # type: ignore[operator]
