"""Print benchmarks as tables: `python -m benchmarks`, or only some: `python -m benchmarks numeric`.

`--page FILE` writes them as a page too, beside what they ran on and how to run them again.
"""

import argparse
import importlib
import os
import platform
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import scipy
from rich.console import Console
from rich.table import Table
from rich.text import Text

ROOMS = (
    "matrices",
    "masking",
    "numeric",
    "microaggregation",
    "protect",
    "disclosure",
    "estimate",
    "regression",
    "permutation",
    "referee",
    "tradeoff",
    "report",
    "spark",
)


def main() -> None:
    """Run what was asked for and say on what."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks")
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=", ".join(ROOMS))
    parser.add_argument("--page", type=Path, help="write a page for the documentation")
    asked = parser.parse_args()
    if unknown := set(asked.rooms) - set(ROOMS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; choose from {', '.join(ROOMS)}")
    console = Console()
    console.print(f"{machine()}; every time is the best of its runs.\n", style="dim")
    parts = []
    for name in asked.rooms or ROOMS:
        room = importlib.import_module(f"benchmarks.{name}")
        tables = list(shown(room.tables(), console))
        parts.append(section(name, room.__doc__ or "", tables))
    if asked.page:
        asked.page.write_text("\n".join([HEAD.format(machine(), date.today()), *parts]), "utf-8")


HEAD = """\
# Benchmarks

Written by `make bench`. Every time stands beside a peer or a floor of the same run, because a ratio
carries over to another machine and a time does not; every time is the best of its runs.

{}. Run on {}.
"""


def machine() -> str:
    """What the benchmarks run on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (
        f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
        f"Polars {pl.__version__}, {platform.system()} on {platform.machine()} with {cores} cores"
    )


def shown(tables: Iterator[Table], console: Console) -> Iterator[Table]:
    """Each table as it comes."""
    for table in tables:
        console.print(table)
        console.print()
        yield table


def section(name: str, about: str, tables: list[Table]) -> str:
    """One room of the page."""
    title = about.strip().splitlines()[0].rstrip(".") if about.strip() else name
    return "\n".join([f"## {title}\n", f"`python -m benchmarks {name}`\n", *map(markdown, tables)])


def markdown(table: Table) -> str:
    """A table of the terminal as one of a page."""
    columns = [[plain(cell) for cell in column.cells] for column in table.columns]
    rows = [[plain(column.header) for column in table.columns]]
    rows.append(["---:" if number else "---" for number in range(len(columns))])
    rows.extend(map(list, zip(*columns, strict=True)))
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([f"### {plain(table.title or '')}\n", *lines, ""])


def plain(cell: object) -> str:
    """A cell without markup, on one line, and harmless inside a table."""
    text = cell.plain if isinstance(cell, Text) else Text.from_markup(str(cell)).plain
    return " ".join(text.split()).replace("|", "\\|")


main()
