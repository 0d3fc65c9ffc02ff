"""The verbs: what a plan does to a table, said once for every engine.

A step knows columns, codes and rows, and no frame. Its kernel is a pure function of where it is
asked, so that an engine may cut a table into any batches, in any order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "SHOWN",
    "Domain",
    "Drop",
    "Names",
    "Ranks",
    "Recode",
    "Rows",
    "Step",
    "Table",
    "Unseen",
    "first_rows",
    "merged",
]

Codes = NDArray[Any]
Missing = Literal["category", "keep", "refuse"]
Several = tuple[Codes, ...]
Rows = int | NDArray[np.int64]  # the first of rows that follow each other, or the number of each
Recoding = Callable[[Several, Rows, Any], Several]  # true codes, their rows, record ids or None
Naming = Callable[[Any], Any]  # ids → pseudonyms
Ranking = Callable[[NDArray[Any], NDArray[Any] | None], NDArray[Any]]  # values, order → see Ranks

Stretching = Callable[[int], Any]  # the number of individuals → Moves, or Means if it averages

SHOWN = 5  # row numbers named in a message


@final
@dataclass(frozen=True, slots=True)
class Domain:
    """The labels of a column in their order, and what stands for a missing or another value."""

    labels: tuple[Any, ...]
    missing: Missing = "category"
    other: int | None = None  # the code that unseen values are mapped to

    @property
    def size(self) -> int:
        """The number of categories that a channel sees."""
        return len(self.labels) + (self.missing == "category")

    @property
    def everything(self) -> tuple[Any, ...]:
        """The labels, with None for missing where that is a category."""
        return (*self.labels, None) if self.missing == "category" else self.labels


@final
@dataclass(frozen=True, slots=True, eq=False)
class Recode:
    """Report categorical columns, one or several as one, through a channel."""

    columns: tuple[str, ...]
    domains: tuple[Domain, ...]
    kernel: Recoding


@final
@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Mask a numeric column by the ranks of its values, which needs all of them at once.

    The kernel gets the values that are there and what orders them. It answers with the position
    each value is taken from or, if it averages, with the new values.
    """

    column: str
    by: str | None  # another column that orders the individuals; None for the value itself
    averages: bool
    kernel: Ranking
    by_position: bool = False
    stretched: Stretching | None = None  # for an engine that has not all values in one place


@final
@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """Replace identifiers by pseudonyms."""

    column: str
    kernel: Naming


@final
@dataclass(frozen=True, slots=True)
class Drop:
    """Leave a column out."""

    column: str


Step = Recode | Ranks | Names | Drop


class Table(Protocol):
    """What an engine makes of a table and its steps: everything a release asks for."""

    @property
    def source(self) -> Any:
        """Where the rows came from."""

    def counted(self) -> int:
        """How many rows there are."""

    def masked(self) -> Any:
        """The whole masked table, as a frame of the engine."""

    def write(self, path: Path) -> int:
        """Write the masked table into a file of the format it came in, and count its rows."""


@final
@dataclass(frozen=True, slots=True)
class Unseen:
    """Cells that a step cannot take: where, why and how many, never what they hold."""

    column: str
    why: str
    count: int
    rows: tuple[int, ...]

    @property
    def sentence(self) -> str:
        """The finding in words, rows counted from one as a person would."""
        where = ", ".join(str(row + 1) for row in self.rows[:SHOWN])
        more = ", …" if self.count > len(self.rows[:SHOWN]) else ""
        cells = "cell" if self.count == 1 else "cells"
        rows = "row" if self.count == 1 else "rows"
        return f"column {self.column!r}: {self.count} {cells} {self.why}, {rows} {where}{more}"


def first_rows(mask: NDArray[np.bool_], rows: Rows = 0) -> tuple[int, ...]:
    """The first few rows where a mask holds.

    >>> first_rows(np.array([True, False, True]), 10)
    (10, 12)
    """
    if isinstance(rows, int):
        return tuple((np.flatnonzero(mask)[:SHOWN] + rows).tolist())
    return tuple(np.sort(rows[mask])[:SHOWN].tolist())


def merged(found: Sequence[Unseen]) -> list[Unseen]:
    """Findings of several batches as one for each column and reason."""
    together: dict[tuple[str, str], Unseen] = {}
    for one in found:
        before = together.get((one.column, one.why))
        if before is None:
            together[one.column, one.why] = one
        else:
            rows = tuple(sorted((*before.rows, *one.rows))[:SHOWN])
            count = before.count + one.count
            together[one.column, one.why] = Unseen(one.column, one.why, count, rows)
    return list(together.values())
