"""Cells: where the labels that somebody asks for lie in a table of axes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.analyst.sides import Side
from bistochastic.errors import TableError, TooLargeError
from bistochastic.estimate.dispersion import DISPERSED, Sums
from bistochastic.estimate.shares import Shares

__all__ = ["Answer", "indicator", "labelled", "placed"]

Codes = dict[str, NDArray[np.int64]]
Floats = NDArray[Any]


def labelled(
    sides: Sequence[Side], cells: NDArray[np.int64], sizes: Sequence[int]
) -> tuple[Codes, dict[str, pl.Series]]:
    """The code and the label of each asked column, for cells of the levels of all sides."""
    codes: Codes = {}
    labels: dict[str, pl.Series] = {}
    for side, levels in zip(sides, np.unravel_index(cells, tuple(sizes)), strict=True):
        codes |= side.codes(levels)
        labels |= side.labels(levels)
    return codes, labels


def indicator(sides: Sequence[Side], sizes: Sequence[int], where: Mapping[str, Any]) -> Floats:
    """One for the cells whose columns have these labels, zero for others."""
    known = [name for side in sides for name in side.asked]
    strange = [name for name in where if name not in known]
    if strange or not where:
        raise TableError(
            f"Cells are named by columns of the table, {', '.join(map(repr, known))}; got "
            f"{', '.join(map(repr, strange)) or 'none'}."
        )
    table = np.ones(tuple(sizes))
    for place, side in enumerate(sides):
        there = np.ones(side.axis.count, bool)
        labels = side.labels(np.arange(side.axis.count))
        for name in side.asked:
            if name in where:
                there &= _named(name, labels[name], where[name])
        table *= there.reshape([-1 if axis == place else 1 for axis in range(len(sides))])
    return table


def _named(name: str, labels: pl.Series, said: Any) -> NDArray[np.bool_]:
    """Which levels have one of the labels said."""
    wanted = list(said) if isinstance(said, list | tuple | set | frozenset) else [said]
    values = labels.to_list()
    if any(value not in values for value in wanted):
        raise TableError(
            f"Column {name!r} has no such label in this table. Write it as the table does; None "
            f"is a missing one, and labels that cannot be told apart are named as their sum is."
        )
    return np.array([value in wanted for value in values])


def placed(sides: Sequence[Side], wanted: tuple[str, str]) -> tuple[Side, ...]:
    """Sides in an order in which the first column is that of the rows."""
    return tuple(sorted(sides, key=lambda side: wanted.index(side.asked[0])))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Sums that conditional shares are made of: each cell, and the margin that it lies in."""

    wanted: Floats
    margin: NDArray[np.int64]  # of each cell

    @classmethod
    def of(cls, sides: Sequence[Side], shares: Shares, given: Sequence[str]) -> Self:
        """The cells of a table, then the margins of the columns given."""
        cells = shares.cells
        if cells.size > DISPERSED:
            raise TooLargeError(
                f"Conditional shares need how {cells.size} errors go together, which is told of up "
                f"to {DISPERSED}. Ask for fewer columns."
            )
        codes, _ = labelled(sides, cells, shares.sizes)
        _, margin = np.unique(
            np.stack([codes[name] for name in given]), axis=1, return_inverse=True
        )
        margin = margin.reshape(-1)
        own = np.eye(cells.size)
        above = (margin[None, :] == np.arange(margin.max() + 1)[:, None]).astype(np.float64)
        wanted = np.concatenate([own, above]).reshape(-1, *shares.sizes)
        return cls(wanted, margin)

    def split(self, found: Sums) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each cell and its margin stand among the sums."""
        cells = np.arange(self.margin.size)
        return cells, cells.size + self.margin
