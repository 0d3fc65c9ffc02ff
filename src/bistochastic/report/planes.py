"""A trade-off on a terminal: the curve as a picture of characters, its numbers and a sentence."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bistochastic.tradeoff.curve import TradeoffCurve
from bistochastic.tradeoff.function import Tradeoff
from bistochastic.tradeoff.placed import Placed

__all__ = ["drawn", "shown"]

WIDE, HIGH = 60, 15  # characters of the picture, each of 2 × 4 dots
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of Braille, rows by columns
FAINT = 1e-6  # a risk that is as good as none, where a slope says nothing
ROWS = 11  # of the table of numbers


def shown(found: Any, curve: TradeoffCurve, placed: Sequence[Placed]) -> RenderableType:
    """The plane of a table, with its plan and the methods on it."""
    function: Tradeoff = found.tradeoff
    names = " × ".join(one.name for one in found.keys)
    secret = " × ".join(one.name for one in found.secrets)
    left = f", {found.left_out} left out for a missing number" if found.left_out else ""
    head = Text(f"What {names} tells of {secret}, against distortion", style="bold")
    parts: list[RenderableType] = [
        head,
        Text(
            f"{found.rows} rows{left}. As it is, it tells {function.largest_risk:.3g} "
            f"{function.units}. From a distortion of {function.silent_distortion:.3g} on, nothing "
            f"need be told."
        ),
        Text(),
        drawn(curve, placed, found.plan),
        Text(),
        _numbers(curve),
    ]
    if placed:
        parts += [Text(), _methods(placed)]
    if found.plan is not None:
        plan = found.plan
        says = Text(f"{plan.name}: ", style="bold") + Text(plan.sentence)
        parts += [Text(), says]
        if plan.thin:
            parts.append(Text("The records are few for each cell; the risk is doubtful."))
    return Padding(Group(*parts), (0, 0))


def drawn(curve: TradeoffCurve, placed: Sequence[Placed], plan: Placed | None) -> Text:
    """The curve in dots, methods as o and the plan as ◆, with both axes."""
    others = [*placed, *([plan] if plan else [])]
    right = max([curve.distortion[-1], *(one.distortion for one in others)]) or 1.0
    top = max([curve.risk[0], *(one.risk for one in others)]) or 1.0
    at = np.linspace(curve.distortion[0], right, 2 * WIDE * 4)
    dots = np.zeros((4 * HIGH, 2 * WIDE), dtype=bool)
    columns = np.minimum((at / right * (2 * WIDE - 1)).round().astype(int), 2 * WIDE - 1)
    heights = np.clip(np.interp(at, curve.distortion, curve.risk) / top, 0, 1)
    dots[((1 - heights) * (4 * HIGH - 1)).round().astype(int), columns] = True
    cells = [[_character(dots[4 * y : 4 * y + 4, 2 * x : 2 * x + 2]) for x in range(WIDE)]
             for y in range(HIGH)]  # fmt: skip
    for one, mark in [*((one, "o") for one in placed), *([(plan, "◆")] if plan else [])]:
        x = round(one.distortion / right * (WIDE - 1))
        y = round((1 - min(one.risk / top, 1)) * (HIGH - 1))
        cells[y][x] = mark
    label = {0: f"{top:.3g}", HIGH - 1: "0"}
    text = Text(f"risk, {curve.units}\n")
    for y, row in enumerate(cells):
        text.append(f"{label.get(y, ''):>8} │", style="dim")
        text.append("".join(row) + "\n")
    text.append(" " * 9 + "└" + "─" * WIDE + "\n", style="dim")
    end = f"{right:.3g}"
    text.append(" " * 10 + "0" + "distortion".center(WIDE - 1 - len(end)) + end, style="dim")
    return text


def _character(block: Any) -> str:
    bits = sum(DOTS[y][x] for y in range(4) for x in range(2) if block[y, x])
    return chr(0x2800 + bits) if bits else " "


def _numbers(curve: TradeoffCurve) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    headings = ("distortion", "least risk", "certified to", "λ", "worst report", "at most")
    for heading in headings:
        table.add_column(heading, justify="right")
    chosen = np.unique(np.linspace(0, len(curve) - 1, min(ROWS, len(curve))).round().astype(int))
    for place in chosen:
        point = curve.points[place]
        told = point.closeness
        table.add_row(
            f"{point.distortion:.4g}",
            f"{point.risk:.4f}",
            f"{point.gap:.0e}" if point.gap else "exact",
            "∞" if point.risk <= FAINT else f"{point.multiplier:.3g}",
            f"{told.worst:.3f}",
            "∞" if math.isinf(told.disclosure) else f"{told.disclosure:.3f}",
        )
    return table


def _methods(placed: Sequence[Placed]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in ("method (o)", "distortion", "risk", "least", "too much"):
        table.add_column(heading, justify="left" if heading.startswith("method") else "right")
    for one in placed:
        near = f" ± {one.error:.2g}" if one.error else ""
        table.add_row(
            one.name, f"{one.distortion:.4g}", f"{one.risk:.4f}{near}", f"{one.least:.4f}",
            f"{one.excess:.4f}",
        )  # fmt: skip
    return table
