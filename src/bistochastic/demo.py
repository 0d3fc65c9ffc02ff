"""The whole way on built-in data, told to a newcomer."""

import tempfile
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import polars as pl
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bistochastic.analyst.contingency import estimate
from bistochastic.folder import refuse_occupied
from bistochastic.keystream import Key
from bistochastic.plan.plan import Plan
from bistochastic.population import PLAN, people
from bistochastic.report.terminal import checked, console, explained
from bistochastic.run import protect
from bistochastic.verify import verify

__all__ = ["walk"]

SHOWN = ("sex", "age", "school", "smoker", "illness", "income")


def walk(out: Path | None = None) -> None:
    """Make a table, explain a plan, protect, estimate and verify, each in a few lines."""
    if out is not None:
        refuse_occupied(out)
        out.mkdir(parents=True, exist_ok=True)
    screen = console()
    space: Any = tempfile.TemporaryDirectory() if out is None else nullcontext(str(out))
    with space as folder:
        _walk(screen, Path(folder), report=out is not None)
    if out is not None:
        screen.print(
            f"Kept in {out}: people.csv, plan.toml, release.key and release/. Open "
            f"{out / 'release' / 'report.html'} in a browser."
        )


def _walk(screen: Console, folder: Path, *, report: bool) -> None:
    table, plan, key = people(), Plan.from_text(PLAN, name="plan.toml"), Key.new()
    table.write_csv(folder / "people.csv")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    key.write(folder / "release.key")

    _step(screen, 1, "A confidential table", "5,000 people who do not exist")
    screen.print(sample(table))

    _step(screen, 2, "What the plan guarantees", "before any data is touched: explain plan.toml")
    told = plan.explain(rows=table.height)
    screen.print(
        explained(
            told.release, told.columns, told.together, told.totals, told.warnings, told.families,
            rows=told.rows, disclosed=told.disclosed,
        )
    )  # fmt: skip

    _step(
        screen,
        3,
        "Protected",
        "protect people.csv --plan plan.toml --out release --key release.key",
    )
    release = protect(folder / "people.csv", plan, key)
    release.write(folder / "release", report=report)
    screen.print(sample(release.data))
    screen.print(Text("Nobody's line can be believed, and yet:", style="italic"), justify="left")

    _step(screen, 4, "What everybody can learn from it", "estimate release --by school")
    screen.print(learnt(table, release.data, estimate(folder / "release", columns=["school"])))

    _step(screen, 5, "What was promised is what is there", "verify release --key … --original …")
    checks = verify(folder / "release", key=key, original=folder / "people.csv")
    broken = [check for check in checks if not check.holds]
    screen.print(checked((c.promise, c.holds, c.found) for c in broken or checks[-2:]))
    screen.print(f"{len(checks) - len(broken)} of {len(checks)} promises hold.\n")


def _step(screen: Console, number: int, title: str, below: str) -> None:
    screen.print()
    screen.print(Text.assemble((f"{number}  {title}", "bold cyan"), (f"   {below}", "dim")))
    screen.print()


def sample(table: pl.DataFrame) -> Table:
    """The first rows, as a person would look at them."""
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in SHOWN:
        made.add_column(name, justify="right" if name == "income" else "left")
    rows: Iterable[Any] = (
        table.select(pl.col(name).cast(pl.String) for name in SHOWN).head(5).rows()
    )
    for row in rows:
        made.add_row(*("–" if cell is None else cell for cell in row))
    return made


def learnt(before: pl.DataFrame, after: pl.DataFrame, estimated: pl.DataFrame) -> Table:
    """True shares of schooling, what the reports say, and what is estimated from them."""
    labels = estimated["school"].to_list()
    true, reported = shares(before["school"], labels), shares(after["school"], labels)
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("school", "true", "as reported", "estimated", "0.95 interval"):
        made.add_column(name, justify="left" if name == "school" else "right")
    found = estimated.select("estimate", "low", "high").rows()
    for label, truth, report, (share, low, high) in zip(labels, true, reported, found, strict=True):
        made.add_row(
            label, f"{truth:.1%}", f"{report:.1%}", f"{share:.1%}", f"{low:.1%} … {high:.1%}"
        )
    kept = int(before["income"].sum()) == int(after["income"].cast(pl.Int64).sum())
    made.add_row("")
    made.add_row("sum of incomes", "", "", "the same" if kept else "differs", "to the unit")
    return made


def shares(column: pl.Series, labels: list[Any]) -> Any:
    """The share of each label."""
    counted = dict(column.value_counts().rows())
    return [counted.get(label, 0) / column.len() for label in labels]
