"""What stands in a table: its labels and its numbers, counted for a report."""

import math
from threading import Lock
from typing import Any, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.errors import TableError
from bistochastic.manifest import Manifest, Published
from bistochastic.tables.base import Domain, Recode, Unseen, merged
from bistochastic.tables.labels import spelled
from bistochastic.tables.local import as_numbers, coders_of
from bistochastic.tables.sources import Source, understood

__all__ = ["binned", "categorical", "counts", "height", "labels_of", "numbers", "round_edges"]

Counts = NDArray[np.int64]

MISSING = "(missing)"
MOST_CELLS = 1 << 16  # of a group of columns that is counted as one
BINS = 16
TAIL = 0.01  # of the numbers beyond the first and the last edge
STEPS = np.array([1.0, 2.0, 2.5, 5.0, 10.0])


def categorical(manifest: Manifest, source: Source) -> list[str]:
    """The columns that went through a channel over labels, and are there."""
    return [
        column.name
        for column in manifest.columns
        if column.labels and column.treatment in ("randomised", "together")
        and column.name in source.names
    ]  # fmt: skip


def labels_of(column: Published) -> tuple[str, ...]:
    """The labels of a column as they are shown, and one for missing values where they count."""
    labels = tuple(spelled(label) for label in column.labels or ())
    return labels if column.missing == "refuse" else (*labels, MISSING)


def height(source: Source) -> int:
    """How many rows there are."""
    with understood(source.where):
        return int(source.frame.select(pl.len()).collect(engine="streaming").item())


def counts(manifest: Manifest, source: Source) -> dict[Any, Counts]:
    """How often each label of each column stands there, and those of groups, in one pass."""
    names = categorical(manifest, source)
    if not names:
        return {}
    counter = _Counter(manifest, source, names)
    stream = source.frame.select(names).map_batches(
        counter.take, schema={names[0]: counter.schema[names[0]]}, streamable=True
    )
    with understood(source.where):
        stream.collect(engine="streaming")
    counter.refuse()
    return counter.found


@final
class _Counter:
    """What was counted so far."""

    def __init__(self, manifest: Manifest, source: Source, names: list[str]) -> None:
        with understood(source.where):
            self.schema = source.frame.collect_schema()
        self.source, self.names = source, names
        self.unseen: list[Unseen] = []
        self.rows = 0
        self.lock = Lock()
        columns = [manifest.column(name) for name in names]
        domains = tuple(Domain(c.labels or (), c.missing or "refuse") for c in columns)
        step = Recode(tuple(names), domains, lambda codes, start, ids: codes)
        self.coders = coders_of(step, source, self.schema)
        self.sizes = {column.name: len(labels_of(column)) for column in columns}
        self.found: dict[Any, Counts] = {
            name: np.zeros(size, np.int64) for name, size in self.sizes.items()
        }
        for group in manifest.together:
            cells = math.prod(self.sizes.get(name, 0) for name in group.columns)
            if 0 < cells <= MOST_CELLS:
                shape = tuple(self.sizes[name] for name in group.columns)
                self.found[group.columns] = np.zeros(shape, np.int64)

    def take(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Count one batch."""
        codes: dict[str, NDArray[Any]] = {}
        for name in self.names:
            found, gone, faults = self.coders[name].encode(batch[name], self.rows)
            self.unseen += faults
            codes[name] = found if gone is None else np.where(gone, self.sizes[name] - 1, found)
        self.rows += batch.height
        if self.unseen:
            return batch.select(batch.columns[0]).clear()
        counted = {key: self._counted(key, codes) for key in self.found}
        with self.lock:  # batches may be taken by several threads
            for key, into in self.found.items():
                into += counted[key]
        return batch.select(batch.columns[0]).clear()

    def _counted(self, key: Any, codes: dict[str, NDArray[Any]]) -> Counts:
        """One column of a batch, or several as one."""
        into = self.found[key]
        if isinstance(key, str):
            return np.bincount(codes[key], minlength=into.size)
        cells = np.ravel_multi_index([codes[name] for name in key], into.shape)
        return np.bincount(cells, minlength=into.size).reshape(into.shape)

    def refuse(self) -> None:
        """Say what could not be counted, if anything."""
        if self.unseen:
            told = "; ".join(one.sentence for one in merged(self.unseen))
            raise TableError(
                f"In {self.source.where}, {told}. The manifest is not the one of this table, or "
                f"the table was changed."
            )


def numbers(source: Source, name: str) -> NDArray[Any] | None:
    """The numbers of a column, which is held alone; none of dates, which have no round ones."""
    with understood(source.where):
        column = source.frame.select(name).collect(engine="streaming")[name]
    if column.dtype.is_temporal():
        return None
    found, present = as_numbers(column, source)
    return found[present]


def round_edges(values: NDArray[Any]) -> NDArray[Any]:
    """Round numbers that part the bulk of values into about a dozen bins of one width."""
    low, high = (float(x) for x in np.quantile(values, (TAIL, 1 - TAIL)))
    if not low < high:
        low, high = float(values.min()), float(values.max())
    width = (high - low) / BINS or 1.0
    power = 10.0 ** math.floor(math.log10(width))
    step = float(STEPS[np.searchsorted(STEPS, width / power * (1 - 1e-9))] * power)
    return np.arange(math.floor(low / step) + 1, math.ceil(high / step)) * step


def binned(values: NDArray[Any], edges: NDArray[np.float64]) -> Counts:
    """How many values lie below the first edge, from each to the next, and from the last on."""
    found = np.searchsorted(edges, values, side="right")
    return np.bincount(found, minlength=edges.size + 1)
