"""An estimated table on a terminal."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bistochastic.report.terminal import gauge

__all__ = ["Line", "estimates"]

LONGEST = 60  # cells that are shown


class Line(NamedTuple):
    """A cell: its labels, its share with error and limits, its count, and what is to be said."""

    labels: tuple[str, ...]
    estimate: float
    se: float | None
    low: float | None
    high: float | None
    amount: float
    note: str


def estimates(
    names: Sequence[str], lines: Sequence[Line], said: Sequence[str], *, level: float
) -> RenderableType:
    """A line for each cell, then how the numbers came about."""
    shown = lines[:LONGEST]
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for name in names:
        made.add_column(name, style="bold", overflow="fold")
    made.add_column("share", justify="right", no_wrap=True)
    made.add_column("", no_wrap=True)
    for heading in ("error", f"{level:.4g} interval", "count"):
        made.add_column(heading, justify="right", no_wrap=True)
    notes = _numbered(shown)
    if notes:
        made.add_column("", style="dim", no_wrap=True)
    _fill(made, shown, notes)
    parts: list[RenderableType] = [made, Text()]
    if len(lines) > len(shown):
        parts.append(Text(f"{len(lines) - len(shown):,} more cells: --json tells all of them."))
    parts += [Text(words) for words in said]
    parts += [Text(f"{number}: {note}", style="dim") for note, number in notes.items()]
    return Group(*parts)


def _numbered(lines: Sequence[Line]) -> dict[str, int]:
    """The notes there are, numbered in the order they come up."""
    return {note: at for at, note in enumerate(dict.fromkeys(x.note for x in lines if x.note), 1)}


def _fill(made: Table, lines: Sequence[Line], notes: dict[str, int]) -> None:
    digits = _digits(lines)
    most = max((line.estimate for line in lines), default=1.0)
    for line in lines:
        share = min(max(line.estimate / most, 0.0), 1.0) if most > 0 else 0.0
        cells: list[RenderableType] = [Text(label) for label in line.labels]
        cells += [
            _plain(line.estimate, digits),
            Text(gauge(share), style="cyan"),
            "" if line.se is None else f"±{_plain(line.se, digits)}",
            _limits(line, digits),
            f"{line.amount:,.0f}",
        ]
        if notes:
            cells.append(str(notes.get(line.note, "")))
        made.add_row(*cells)


def _digits(lines: Sequence[Line]) -> int:
    """Decimals that show the smallest error with two digits."""
    errors = [line.se for line in lines if line.se]
    return min(max(1 - math.floor(math.log10(min(errors))), 2), 7) if errors else 4


def _limits(line: Line, digits: int) -> str:
    if line.low is None or line.high is None:
        return ""
    return f"{_plain(line.low, digits)} … {_plain(line.high, digits)}"


def _plain(value: float, digits: int) -> str:
    told = f"{value:.{digits}f}"
    return told.removeprefix("-") if float(told) == 0 else told
