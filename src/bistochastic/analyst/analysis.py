"""What an analysis needs of a release: records of some columns, and the labels of true cells."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.analyst.cells import labelled
from bistochastic.analyst.reported import Reported
from bistochastic.analyst.sides import Side
from bistochastic.errors import TableError
from bistochastic.estimate.shares import Variance
from bistochastic.estimate.within import Estimates
from bistochastic.manifest import Published
from bistochastic.matrices.base import Bistochastic
from bistochastic.tables.records import Records, laid_out

__all__ = ["MOVED", "Asked", "Numbers", "beside", "codes_of", "folded", "refuse_weights", "told"]

Array = NDArray[Any]

MOVED = ("permuted", "drawn", "averaged")
GONE = {
    "dropped": "it was left out of the release",
    "pseudonyms": "pseudonyms stand in its place",
}


@final
@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The records that have a number: it, their reported cell, their weight and their ranks."""

    values: Array
    reports: NDArray[np.int64]
    weights: Array | None
    ranks: NDArray[np.int64] | None


@final
@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What was asked for, and how it is read."""

    reported: Reported
    column: str
    by: list[str]
    weight: str | None
    variance: Variance
    level: float

    @property
    def said(self) -> Published:
        """What became of the column."""
        return self.reported.manifest.column(self.column)

    @property
    def statement(self) -> dict[str, Any]:
        """What estimates are told of errors."""
        return {"variance": self.variance, "level": self.level}

    def sides(self) -> tuple[Side, ...]:
        """The axes of the cells."""
        return self.reported.sides(self.by) if self.by else ()

    def read(self, sides: Sequence[Side], numbers: Sequence[str]) -> Records:
        """The columns that are needed, checked."""
        domains = {
            name: domain
            for side in sides
            for name, domain in zip(side.columns, side.domains, strict=True)
        }
        if self.weight is not None:
            numbers = [*numbers, self.weight]
        read = laid_out(self.reported.source, domains, numbers)
        refuse_weights(self.reported, self.weight, read)
        return read

    def numbers(self, sides: Sequence[Side]) -> Numbers:
        """The records that have a number."""
        said = self.said
        if said.treatment in GONE:
            raise TableError(
                f"Column {self.column!r} holds no numbers to add up: {GONE[said.treatment]}."
            )
        if said.treatment not in ("untouched", *MOVED):
            raise TableError(
                f"Column {self.column!r} holds no numbers to add up: it was {said.treatment}. Ask "
                f'for the "share" of its categories, or take it into `by`.'
            )
        order = said.by if said.treatment in MOVED else None
        other = order not in (None, "value", "position") and self._seen(str(order))
        read = self.read(sides, [self.column, *([str(order)] if other else [])])
        there = ~np.isnan(read.numbers[self.column])
        read = read.where(there)
        if not read.rows:
            raise TableError(f"Column {self.column!r} has no number in any row.")
        weights = None
        if self.weight is not None:
            weights = read.numbers[self.weight]
        return Numbers(
            read.numbers[self.column], folded(read, sides), weights, self._ranks(read, order)
        )

    def _ranks(self, read: Records, order: str | None) -> NDArray[np.int64] | None:
        """The row of each rank, where that is known."""
        if order in (None, "value"):
            return None
        if order == "position":
            return np.arange(read.rows)
        if not self._seen(str(order)):
            return None
        return np.argsort(read.numbers[str(order)], kind="stable")

    def _seen(self, order: str) -> bool:
        """Whether the column that ordered the individuals was published as it is."""
        return self.reported.manifest.column(order).treatment == "untouched"

    def matrix(self, rows: int) -> Bistochastic:
        """What moved the numbers, as large as there are."""
        matrix = self.reported.manifest.channel(self.column)
        if not isinstance(matrix, Bistochastic) or matrix.size != rows:
            raise TableError(
                f"Column {self.column!r} was {self.said.treatment} among {matrix.size} "
                f"individuals, and {rows} rows have a number. Give the whole table of the release, "
                f"its rows as they were."
            )
        return matrix


def refuse_weights(reported: Reported, weight: str | None, read: Records) -> None:
    """Refuse weights that are not those of the rows, or that weigh nothing."""
    if weight is None:
        return
    treated = reported.manifest.column(weight).treatment
    if treated != "untouched":
        raise TableError(
            f"Column {weight!r} was {treated}, so its numbers no longer weigh their rows. Name one "
            f"that was published as it is."
        )
    weights = read.numbers[weight]
    bad = int((~(weights >= 0)).sum())
    if bad or not weights.any():
        raise TableError(
            f"Column {weight!r} cannot weigh rows: {bad} of its cells are missing or negative, and "
            f"{int((weights > 0).sum())} are above zero. Give every row a weight of zero or more."
        )


def folded(read: Records, sides: Sequence[Side]) -> NDArray[np.int64]:
    """The reported cell of each record over these axes, the last one fastest."""
    cells = np.zeros(read.rows, np.int64)
    for side in sides:
        for name, domain in zip(side.columns, side.domains, strict=True):
            cells *= domain.size + (domain.missing == "keep")
            cells += read.codes[name]
    return cells


def codes_of(sides: Sequence[Side]) -> dict[str, NDArray[np.int64]]:
    """The codes of all columns asked for in each true cell."""
    return _of_all(sides)[0]


def _of_all(sides: Sequence[Side]) -> tuple[dict[str, NDArray[np.int64]], dict[str, pl.Series]]:
    """The codes and the labels of all true cells."""
    if not sides:
        return {}, {}
    counts = [side.axis.count for side in sides]
    return labelled(sides, np.arange(math.prod(counts)), counts)


def told(
    sides: Sequence[Side], found: Estimates, *, notes: Sequence[str] = (), shift: float = 0.0
) -> pl.DataFrame:
    """Estimates beside the labels of their cells."""
    columns = {
        "estimate": found.estimate + shift,
        "se": found.se,
        "low": found.low + shift,
        "high": found.high + shift,
    }
    return beside(sides, columns, notes)


def beside(
    sides: Sequence[Side], columns: dict[str, Array], notes: Sequence[str] = ()
) -> pl.DataFrame:
    """Columns of numbers beside the labels of all true cells, with what is to be said of each."""
    said = [[note] for note in notes] or [[] for _ in next(iter(columns.values()))]
    counts = [side.axis.count for side in sides]
    levels = np.unravel_index(np.arange(math.prod(counts)), counts) if sides else ()
    for side, of_side in zip(sides, levels, strict=True):
        for line, note in zip(said, side.notes(of_side.astype(np.int64)), strict=True):
            line.append(note)
    numbers = {name: pl.Series(name, line).fill_nan(None) for name, line in columns.items()}
    told = pl.Series("note", ["; ".join(filter(None, line)) for line in said], dtype=pl.String)
    return pl.DataFrame({**_of_all(sides)[1], **numbers, "note": told})
