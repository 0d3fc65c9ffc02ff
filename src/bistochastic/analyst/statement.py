"""Statement: an estimated table with how it came about, for machines and for a terminal."""

from typing import Any

import polars as pl
from pydantic import BaseModel, ConfigDict

from bistochastic.analyst.contingency import Contingency
from bistochastic.analyst.sides import MISSING, Side
from bistochastic.report.estimates import Line
from bistochastic.tables.labels import spelled

__all__ = ["Cell", "Statement", "lines", "sentences", "stated"]

WORDS = {
    "sample": "the respondents counting as a sample",
    "file": "the file counting as all there are, so that masking is the only error",
    "unbiased": "Unbiased",
    "likelihood": "Most likely",
}
NUMBERS = ("estimate", "se", "low", "high", "count", "count_se", "interval", "note")


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Cell(_Said):
    """One cell of an estimated table."""

    labels: dict[str, bool | int | float | str | None]
    estimate: float
    se: float | None
    low: float | None
    high: float | None
    count: float
    count_se: float | None
    note: str


class Statement(_Said):
    """An estimated table."""

    release: str
    columns: tuple[str, ...]
    rows: int
    total: float  # of the weights; of the rows where there are none
    weight: str | None
    variance: str
    method: str
    interval: str
    level: float
    complete: bool  # whether cells that nobody was reported in are there too
    lost: tuple[str, ...]  # columns of which only sums over labels are identifiable
    gap: float | None  # log-likelihood that a better table could add at most
    how: tuple[str, ...]  # the same in sentences
    cells: tuple[Cell, ...]

    def text(self) -> str:
        """The same as JSON."""
        return self.model_dump_json(indent=1) + "\n"


def stated(table: Contingency) -> Statement:
    """Everything that an estimate says."""
    return Statement(
        release=table.reported.manifest.release,
        columns=table.asked,
        rows=table.tally.rows,
        total=table.tally.total,
        weight=table.weight,
        variance=table.variance,
        method=table.method,
        interval=table.interval,
        level=table.level,
        complete=table.shares.complete,
        lost=table.lost,
        gap=None if table.likely is None else table.likely.gap,
        how=sentences(table),
        cells=tuple(Cell(**cell) for cell in _cells(table)),
    )


def lines(table: Contingency) -> list[Line]:
    """The cells as a terminal shows them."""
    return [
        Line(
            tuple(MISSING if said is None else spelled(said) for said in cell["labels"].values()),
            *(cell[name] for name in ("estimate", "se", "low", "high", "count", "note")),
        )
        for cell in _cells(table)
    ]


def _cells(table: Contingency) -> list[dict[str, Any]]:
    frame = table.table()
    labels = frame.select(table.asked).rows()
    numbers = frame.select(pl.exclude(table.asked)).rows()
    return [
        {"labels": dict(zip(table.asked, map(_plain, said), strict=True))}
        | {name: value for name, value in zip(NUMBERS, values, strict=True) if name != "interval"}
        for said, values in zip(labels, numbers, strict=True)
    ]


def _plain(label: Any) -> Any:
    """A label as JSON has it."""
    return label if label is None or isinstance(label, bool | int | float) else spelled(label)


def sentences(table: Contingency) -> tuple[str, ...]:
    """How the numbers came about, in words."""
    ways = [_way(side, table) for side in table.sides]
    weighed = f", weighed by {table.weight}" if table.weight else ""
    told = [
        f"{WORDS[table.method]} shares of {table.tally.rows:,} rows{weighed}: {'; '.join(ways)}.",
        f"Errors are standard errors, {WORDS[table.variance]}; intervals are {table.interval} "
        f"intervals of {table.level:.4g}.",
    ]
    if table.lost:
        told.append(
            f"Of {', '.join(table.lost)} only sums are identifiable: the channel makes the labels "
            f"in them alike, and nothing here tells them apart."
        )
    if table.likely is not None:
        told.append(
            f"No other table is more likely by over {table.likely.gap:.1g} of log-likelihood."
        )
    if not table.shares.complete:
        told.append("The table is too large to lay out: cells that nobody reported are not shown.")
    return tuple(told)


def _way(side: Side, table: Contingency) -> str:
    """Which matrix an axis was undone from."""
    names = " × ".join(side.asked)
    if not side.axis.noisy:
        return f"{names} passed"
    group = table.reported.manifest.group(side.asked[0])
    if group is None:
        return f"{names} undone from its {table.reported.manifest.column(side.asked[0]).matrix}"
    return f"{names} undone from the {group.matrix} of {' × '.join(group.columns)}"
