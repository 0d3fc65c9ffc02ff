"""Frequencies: how often the cells of a table occur, and the measures that need no more than that.

Counting happens where the rows are, on this machine, on a cluster or in batches out of a database;
what is computed from the counts happens here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import TableError, TooLargeError
from bistochastic.estimate.tally import Tally
from bistochastic.measures.classes import Classes, Table
from bistochastic.measures.closeness import Anonymity, Closeness
from bistochastic.plan.plan import Plan
from bistochastic.plan.treatments import domain_of
from bistochastic.tables.base import Domain
from bistochastic.tables.counting import Count
from bistochastic.tables.opening import from_place
from bistochastic.tables.sources import from_frame
from bistochastic.tables.tallies import counted

__all__ = ["Frequencies", "frequencies"]

MOST_CELLS = 1 << 27  # of a table that is laid out whole


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Frequencies:
    """The cells of some columns that occur, and how often; as confidential as what was counted."""

    columns: tuple[str, ...]
    domains: tuple[Domain, ...]
    tally: Tally

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many categories each column has, missing among them unless the plan refuses it."""
        return tuple(self.tally.sizes)

    @property
    def rows(self) -> int:
        """How many rows were counted."""
        return int(self.tally.counts.sum())

    def table(self) -> NDArray[np.int64]:
        """The counts of all cells, an axis for each column."""
        cells = int(np.prod(self.sizes, dtype=object))
        if cells > MOST_CELLS:
            raise TooLargeError(
                f"{' × '.join(map(repr, self.columns))} have {cells} cells, of which "
                f"{self.tally.cells.size} occur. Ask for fewer columns."
            )
        laid = np.zeros(cells, dtype=np.int64)
        laid[self.tally.cells] = self.tally.counts
        return laid.reshape(self.sizes)

    def prior(self) -> NDArray[np.float64]:
        """The share of each cell, the last column fastest: what `disclosure` takes."""
        if not self.rows:
            raise TableError("There is no row, so no cell has a share.")
        return self.table().ravel() / self.rows

    def anonymity(self, keys: Sequence[str] | None = None) -> Anonymity:
        """The k of the classes that some of the columns make, or all of them."""
        classes, _ = self._classes(self.columns if keys is None else keys)
        return Anonymity.of(classes)

    def closeness(
        self, sensitive: str, keys: Sequence[str] | None = None, *, ordered: bool = False
    ) -> Closeness:
        """What the classes of some columns, or of all others, tell of a sensitive one."""
        others = [name for name in self.columns if name != sensitive]
        classes, owner = self._classes(others if keys is None else keys)
        (place,) = self._places([sensitive])
        values = np.unravel_index(self.tally.cells, self.sizes)[place]
        table = Table.counted(classes, owner, values, self.tally.counts, self.sizes[place])
        return Closeness(table, ordered=ordered)

    def _classes(self, keys: Sequence[str]) -> tuple[Classes, NDArray[np.int64]]:
        """The classes by their sizes, and the class of each cell that occurs."""
        places = self._places(keys)
        codes = np.unravel_index(self.tally.cells, self.sizes)
        folded = np.ravel_multi_index(
            [codes[place] for place in places], [self.sizes[place] for place in places]
        )
        _, owner = np.unique(folded, return_inverse=True)
        owner = owner.reshape(-1).astype(np.int64)
        sizes = np.zeros(int(owner.max(initial=-1)) + 1, dtype=np.int64)
        np.add.at(sizes, owner, self.tally.counts)
        return Classes.counted(sizes), owner

    def _places(self, names: Sequence[str]) -> list[int]:
        strange = [name for name in names if name not in self.columns]
        if strange or not names:
            raise TableError(
                f"Counted are {', '.join(map(repr, self.columns))}; asked for "
                f"{', '.join(map(repr, strange)) or 'no column'}."
            )
        return [self.columns.index(name) for name in names]

    def __repr__(self) -> str:
        return f"<Frequencies of {' × '.join(map(repr, self.columns))}, {self.rows} rows>"


def frequencies(table: Any, plan: Plan, columns: Sequence[str]) -> Frequencies:
    """Count the cells of categorical columns, by the domains that a plan declares.

    Args:
        table: A file, the address of a table in a database, or a dataframe; one of Spark is
            counted by its workers.
        plan: What says which labels there are; what it does to them does not matter.
        columns: The columns, one or several.

    >>> import polars as pl
    >>> import bistochastic as bs
    >>> said = dict(role="key", kind="nominal", missing="refuse", matrix="mixture", beta=0.5)
    >>> plan = bs.Plan(release="r", columns={"sex": said | {"domain": ["f", "m"]}})
    >>> found = bs.frequencies(pl.DataFrame({"sex": ["f", "m", "f", "f"]}), plan, ["sex"])
    >>> found.prior(), found.anonymity().k
    (array([0.75, 0.25]), 1)
    """
    asked = (columns,) if isinstance(columns, str) else tuple(columns)
    strange = [
        name for name in asked if name not in plan.columns or not plan.columns[name].categorical
    ]
    if strange or not asked or len(set(asked)) < len(asked):
        raise TableError(
            f"Cells are made of categorical columns of the plan, each once; got "
            f"{', '.join(map(repr, strange or asked)) or 'none'}. Give columns a kind and a domain."
        )
    domains = tuple(domain_of(plan.columns[name]) for name in asked)
    file = plan.said.file
    source = (
        from_place(table, delimiter=file.delimiter, missing=file.missing, ordered=False)
        if isinstance(table, str | Path)
        else from_frame(table)
    )
    return Frequencies(asked, domains, counted(source, Count(asked, domains)))
