"""Columns as a trade-off sees them: a code for each row, and what it costs to report another."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, final

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import TableError
from bistochastic.matrices.checks import as_numbers as as_array
from bistochastic.matrices.tree import read_tree
from bistochastic.plan.plan import Plan
from bistochastic.plan.treatments import domain_of
from bistochastic.tables.base import Domain
from bistochastic.tables.labels import coder
from bistochastic.tables.local import as_numbers
from bistochastic.tables.sources import Source
from bistochastic.tradeoff.distortions import hamming, squared, taxonomic
from bistochastic.tradeoff.problem import Floats

__all__ = ["Attribute", "Measure", "coded", "together"]

Measure = Literal["hamming", "squared"]

MOST = 250  # different labels, beyond which a column is no category for this purpose
ABSENT = -1


@final
@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """A column with its codes; rows without a number have the code -1.

    Attributes:
        name: That of the column.
        codes: One for each row.
        size: How many codes there are.
        costs: d(x, x̂), squared distances in units of the variance, or 1 for any other label.
        edges: Where cells of numbers begin, if there are cells.
        unit: The variance of the numbers, in whose unit squares are told.
        squares: Whether its distances are squares of those numbers.
        labels: What the codes stand for, if not numbers.
    """

    name: str
    codes: NDArray[np.int64]
    size: int
    costs: Floats
    edges: Floats | None = None
    unit: float = 1.0
    squares: bool = False
    labels: tuple[Any, ...] = ()

    def measured(self, distances: ArrayLike | Mapping[Hashable, Hashable]) -> "Attribute":
        """The column with distances of its own: a matrix, or a taxonomy child → parent."""
        if isinstance(distances, Mapping):
            costs = self._up(distances)
        else:
            costs = as_array(distances, f"The distances of column {self.name!r}")
        if costs.shape != (self.size, self.size):
            raise TableError(
                f"Column {self.name!r} has {self.size} codes, missing among them where it occurs; "
                f"its distances have the shape {costs.shape}."
            )
        return replace(self, costs=costs, squares=False)

    def _up(self, parents: Mapping[Hashable, Hashable]) -> Floats:
        """Distances in a taxonomy, in the order of the labels."""
        leaves = read_tree(parents).leaves
        places = {leaf: place for place, leaf in enumerate(leaves)}
        strange = sum(label not in places for label in self.labels)
        if strange or not self.labels:
            raise TableError(
                f"{strange or self.size} labels of column {self.name!r} are no leaves of its "
                f"taxonomy."
            )
        order = [places[label] for label in self.labels]
        return taxonomic(parents)[np.ix_(order, order)]

    def again(self, numbers: Floats) -> NDArray[np.int64]:
        """The codes of other numbers of this column, in the same cells."""
        edges = np.zeros(0) if self.edges is None else self.edges
        return np.searchsorted(edges, numbers, side="right").astype(np.int64)


def attribute(series: pl.Series, source: Source, bins: int, measure: Measure | None) -> Attribute:
    """A column as it is found: numbers in cells, anything else by its labels."""
    if _counts(series, source):
        values, there = as_numbers(series, source)
        return numeric(series.name, values.astype(np.float64), there, bins, measure)
    labels = series.unique().sort()
    if labels.dtype.is_nested() or labels.len() > MOST:
        raise TableError(
            f"Column {series.name!r} has {labels.len()} different labels; a trade-off takes up to "
            f"{MOST}. Make them coarser."
        )
    places = pl.Series(np.arange(labels.len(), dtype=np.int64))
    nulls = labels.null_count()
    known = labels.drop_nulls()
    codes = series.replace_strict(known, places[: known.len()], default=None, return_dtype=pl.Int64)
    filled = codes.fill_null(known.len()).to_numpy()
    size = known.len() + nulls
    costs = _steps(size, measure, ordinal=False)
    told = (*known.to_list(), *[None] * nulls)
    return Attribute(series.name, filled, size, costs, labels=told)


def declared(
    series: pl.Series, source: Source, domain: Domain, *, ordinal: bool, measure: Measure | None
) -> Attribute:
    """A column by the domain that a plan declares, missing last where that is a category."""
    told = coder(series.name, domain, series.dtype, text=source.text, gaps=source.missing)
    codes, gone, faults = told.encode(series, 0)
    if faults:
        raise TableError(f"In {source.where}, {faults[0].sentence}.")
    known = codes.astype(np.int64)
    if gone is not None:
        known[gone] = ABSENT
    costs = _steps(domain.size, measure, ordinal=ordinal)
    return Attribute(series.name, known, domain.size, costs, labels=domain.everything)


def coded(
    series: pl.Series, source: Source, plan: Plan | None, bins: int, measure: Measure | None
) -> Attribute:
    """A column as a plan declares it, or as it is found."""
    said = None if plan is None else plan.columns.get(series.name)
    if said is not None and said.categorical and said.labels:
        ordinal = said.kind == "ordinal"
        return declared(series, source, domain_of(said), ordinal=ordinal, measure=measure)
    if said is not None and said.kind == "numeric":
        values, there = as_numbers(series, source)
        return numeric(series.name, values.astype(np.float64), there, bins, measure)
    return attribute(series, source, bins, measure)


def numeric(
    name: str, values: Floats, there: NDArray[np.bool_], bins: int, measure: Measure | None
) -> Attribute:
    """Numbers in cells of about as many rows each, a cell standing for its mean."""
    present = values[there]
    if not present.size:
        raise TableError(f"Column {name!r} has no number at all.")
    distinct = np.unique(present)
    if distinct.size > bins:
        cuts = np.quantile(present, np.arange(1, bins) / bins, method="inverted_cdf")
        edges = np.unique(cuts[cuts > distinct[0]])
    else:
        edges = distinct[1:]
    cells = np.searchsorted(edges, values, side="right").astype(np.int64)
    inside = cells[there]
    counts = np.bincount(inside, minlength=edges.size + 1)
    means = np.bincount(inside, weights=present, minlength=edges.size + 1) / np.maximum(counts, 1)
    cells[~there] = ABSENT
    unit = float(present.var()) or 1.0
    costs = hamming(means.size) if measure == "hamming" else squared(means) / unit
    return Attribute(name, cells, means.size, costs, edges, unit, measure != "hamming")


def _steps(size: int, measure: Measure | None, *, ordinal: bool) -> Floats:
    """1 for any other label, or the squared steps to it."""
    if measure == "squared" or (measure is None and ordinal):
        return squared(np.arange(size))
    return hamming(size)


def _counts(series: pl.Series, source: Source) -> bool:
    """Whether a column holds numbers."""
    if not source.text:
        return bool(series.dtype.is_numeric())
    texts = series.set(series.is_in(list(source.missing)).fill_null(False), None).drop_nulls()
    parsed: Any = texts.str.strip_chars().cast(pl.Float64, strict=False)
    return bool(texts.len()) and not parsed.null_count()


def together(attributes: Sequence[Attribute]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """One code for the codes of several columns, the last of them fastest, and where it exists."""
    first = attributes[0]
    codes, there = np.zeros(first.codes.size, dtype=np.int64), np.ones(first.codes.size, dtype=bool)
    for one in attributes:
        there &= one.codes != ABSENT
        codes = codes * one.size + np.maximum(one.codes, 0)
    return codes, there
