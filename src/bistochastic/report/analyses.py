"""Means within cells and coefficients, on a terminal or for machines."""

import json
import math
from collections.abc import Sequence
from typing import Any

import click
import polars as pl
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bistochastic.report.terminal import console

__all__ = ["rows_as_json", "shown", "tabled"]

DIGITS = 2  # of the smallest error, that are shown
MOST = 7  # decimals
MISSING = "missing"


def shown(frame: pl.DataFrame, names: Sequence[str], *, as_json: bool) -> None:
    """Print an answer: its labels under their names, then its numbers."""
    if as_json:
        click.echo(rows_as_json(frame), nl=False)
    else:
        console().print(tabled(frame, names))


def rows_as_json(frame: pl.DataFrame) -> str:
    """Rows as JSON; what is not finite is null."""
    rows = [
        {name: _plain(value) for name, value in row.items()} for row in frame.iter_rows(named=True)
    ]
    return json.dumps(rows, ensure_ascii=False, indent=1, allow_nan=False, default=str) + "\n"


def tabled(frame: pl.DataFrame, names: Sequence[str]) -> RenderableType:
    """A line for each row, with as many decimals as its errors leave meaning to."""
    numbers = [name for name in frame.columns if name not in (*names, "note")]
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for name in names:
        made.add_column(name, style="bold", overflow="fold")
    for name in numbers:
        made.add_column(name, justify="right", no_wrap=True)
    digits = _digits(frame)
    notes: dict[str, int] = {}
    for row in frame.iter_rows(named=True):
        note = row.get("note") or ""
        mark = f" [{notes.setdefault(note, len(notes) + 1)}]" if note else ""
        labels = [Text(_label(row[name])) for name in names]
        told = [_number(row[name], digits) for name in numbers]
        made.add_row(*labels, *told[:-1], Text(told[-1] + mark))
    said = [Text(f"[{number}] {note}", style="dim") for note, number in notes.items()]
    return Group(made, *said)


def _digits(frame: pl.DataFrame) -> int:
    """Decimals that show the smallest error with two digits."""
    errors = [error for error in frame["se"] if error] if "se" in frame.columns else []
    sound = [error for error in errors if math.isfinite(error)]
    return min(max(DIGITS - 1 - math.floor(math.log10(min(sound))), 0), MOST) if sound else DIGITS


def _label(value: Any) -> str:
    return MISSING if value is None else str(value)


def _number(value: float | None, digits: int) -> str:
    if value is None:
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:,.{digits}f}"


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
