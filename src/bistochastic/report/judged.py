"""A masked file, judged, on a terminal: each number with its direction and what to hold it to."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from bistochastic.report.terminal import gauge, known, number, percent, plain_table

if TYPE_CHECKING:
    from bistochastic.referee.account import Account, Line

__all__ = ["evaluated"]

WORST = 5  # pairs of columns that are shown; the rest is in the frame


def evaluated(account: "Account") -> RenderableType:
    """Who was compared, what is protected, what can be linked and what was lost."""
    parts: list[RenderableType] = [_who(account), Text()]
    for part in (
        _protection(account),
        _linkage(account),
        _classes(account),
        _columns(account),
        _pairs(account),
        _model(account),
    ):
        made = list(part)
        if made:
            parts += [*made, Text()]
    parts += known(account.notes, "to know", "Every record and every column was compared.")
    return Group(*parts)


def _who(account: "Account") -> Text:
    how = {"nothing": "nobody linked"}.get(account.linked_by, f"linked by {account.linked_by}")
    return Text.assemble(
        (f"{account.masked_records:,} masked records", "bold"),
        f" against {account.original_records:,} original ones, {how}, in ",
        (f"{len(account.columns)} columns", "bold"),
        ".",
    )


def _lines(account: "Account", section: str) -> dict[tuple[str, str, tuple[str, ...]], "Line"]:
    return {
        (line.measure, line.parameter, line.of): line
        for line in account.figures
        if line.section == section
    }


def _heading(title: str, direction: str, rest: str = "") -> Text:
    return Text.assemble((title, "bold"), "  ", (direction, "italic"), (rest, "dim"))


def _protection(account: "Account") -> Iterator[RenderableType]:
    """How far records moved, a line for each column."""
    found = _lines(account, "protection")
    if not found:
        return
    yield _heading("Protection", "larger is safer", ", at random is as safe as moving gets")
    table = plain_table()
    table.add_column("column", style="bold", overflow="fold", min_width=9)
    for heading in ("kind", "moved", "mean way", "at random", "geometric", "ties at random"):
        left = heading in ("kind", "mean way")
        table.add_column(heading, justify="left" if left else "right", no_wrap=True)
    for column in account.columns:
        of = (column.name,)
        moved = found.get(("moved", "", of)) or found.get(("changed", "", of))
        if moved is None:
            continue
        mean = found.get(("protection", "alpha=1", of))
        geometric = found.get(("protection", "alpha=0", of))
        cells = [column.name, column.kind, percent(moved.value or 0.0)]
        if mean is None or geometric is None:
            table.add_row(*cells, Text("no order", style="dim"))
            continue
        line = mean.reference or 0.0
        share = min((mean.value or 0.0) / line, 1.0) if line else 0.0
        ties = "" if mean.high == mean.value else _share(mean.high)
        table.add_row(
            *cells, f"{_share(mean.value)} {gauge(share)}", _share(line), _share(geometric.value),
            ties,
        )  # fmt: skip
    yield table
    yield Text(
        "Ways are shares of the length of the file. Geometric: records that did not move count "
        "most. Ties at random: where equal values leave open who moved, by chance and not in the "
        "intruder’s favour.",
        style="dim",
    )


def _linkage(account: "Account") -> Iterator[RenderableType]:
    """What an intruder who knows everything gets right."""
    found = [line for line in account.figures if line.section == "linkage"]
    if not found:
        return
    yield _heading("Linkage", "larger is riskier", ", by an intruder who knows the whole original")
    table = plain_table()
    table.add_column("how", style="bold")
    for heading in ("right", "between", "blindly"):
        table.add_column(heading, justify="right", no_wrap=True)
    for line in found:
        between = f"{_share(line.low)} … {_share(line.high)}"
        table.add_row(line.measure, _share(line.value), between, _share(line.reference))
    yield table


def _classes(account: "Account") -> Iterator[RenderableType]:
    """Classical models, masked beside original."""
    found = [line for line in account.figures if line.section == "closeness"]
    if not found:
        return
    yield _heading("Classes of the keys", "", " × ".join(found[0].of))
    table = plain_table()
    table.add_column("measure", style="bold")
    table.add_column("of", overflow="fold")
    for heading in ("original", "masked", "by chance"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", style="dim")
    for line in found:
        of = "" if line.measure in ("k", "uniques") else line.of[0]
        chance = "" if line.reference is None else number(line.reference)
        table.add_row(
            line.measure, of, _number(line.before), _number(line.value), chance, line.direction
        )
    yield table


SHOWN = {
    "total variation": "shares moved",
    "mean": "mean moved",
    "standard deviation": "sd moved",
    "Wasserstein distance": "earth moved",
    "IL1s": "IL1s",
    "missing cells": "cells lost",
}


def _columns(account: "Account") -> Iterator[RenderableType]:
    """What is lost of each column."""
    found = _lines(account, "utility")
    if not found:
        return
    yield _heading("Utility lost, by column", "larger is worse")
    shown = {
        measure: heading
        for measure, heading in SHOWN.items()
        if any(key[0] == measure and len(key[2]) == 1 for key in found)
    }
    table = plain_table()
    table.add_column("column", style="bold", overflow="fold", min_width=9)
    for heading in shown.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for column in account.columns:
        lines = [found.get((measure, "", (column.name,))) for measure in shown]
        table.add_row(column.name, *("" if line is None else _number(line.value) for line in lines))
    yield table
    yield Text(
        "Shares and cells are parts of one; means and ways are in standard deviations of the "
        "original.",
        style="dim",
    )


def _pairs(account: "Account") -> Iterator[RenderableType]:
    """The pairs that came apart most."""
    losses = [line for line in account.figures if line.section == "information loss"]
    found = _lines(account, "utility")
    associations = [line for key, line in found.items() if key[0] == "Cramér’s V"]
    worst = sorted(losses or associations, key=lambda line: -(line.value or 0.0))[:WORST]
    if not worst:
        return
    total = len(losses or associations)
    rest = f", the worst {len(worst)} of {total}" if total > len(worst) else ""
    yield _heading("Utility lost, by pair", "larger is worse", rest)
    table = plain_table()
    table.add_column("columns", style="bold", overflow="fold", min_width=9)
    for heading in ("apart", "at random", "rank correlation", "Cramér’s V"):
        table.add_column(heading, justify="right", no_wrap=True)
    for line in worst:
        loss = line if losses else None
        table.add_row(
            " × ".join(line.of),
            "" if loss is None else _share(loss.value),
            "" if loss is None else _share(loss.reference),
            *(
                _change(found.get((name, "", line.of)))
                for name in ("rank correlation", "Cramér’s V")
            ),
        )
    yield table


def _model(account: "Account") -> Iterator[RenderableType]:
    """The propensity score in a sentence."""
    found = [line for line in account.figures if line.measure == "pMSE"]
    for line in found:
        expected = line.reference or 0.0
        times = (line.value or 0.0) / expected if expected else 0.0
        yield Text.assemble(
            ("Propensity score", "bold"), "  ", ("larger is worse", "italic"),
            f"  pMSE {_number(line.value)}, ", (f"{number(times)} times", "bold"),
            " that of a file drawn anew.",
        )  # fmt: skip


def _change(line: "Line | None") -> str:
    return "" if line is None else f"{_number(line.before)} → {_number(line.after)}"


def _share(value: float | None) -> str:
    """A share, with a digit where it is small."""
    if value is None or math.isnan(value):
        return ""
    return percent(value) if value >= 0.1 or value == 0 else f"{value:.2%}"


def _number(value: float | None) -> str:
    """A number short enough for a table, whole ones whole, noise of the last digits as nothing."""
    if value is None or math.isnan(value):
        return ""
    if abs(value) < 1e-12:
        return "0"
    if math.isfinite(value) and value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return number(value)
