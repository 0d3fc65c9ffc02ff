r"""Classical privacy models, measured: what a file attains, not what it was asked for.

Classes are the records that agree in all keys, $p$ the distribution of a sensitive attribute over
the file and $q$ that within a class. t-closeness (Li, Li and Venkatasubramanian 2007) is the
largest distance of a q from p; δ-disclosure (Brickell and Shmatikov 2008) the largest $|\ln(q/p)|$
over values that the class holds; l-diversity (Machanavajjhala et al. 2007) how many values, or as
many as it were, the least diverse class holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MeasureError
from bistochastic.measures.classes import Classes, Table
from bistochastic.measures.information import Information, information

__all__ = ["Anonymity", "Closeness", "anonymity", "closeness"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Anonymity:
    """How large the classes are: `k` is the least size, `uniques` how many records are alone."""

    classes: Classes = field(repr=False)
    k: int
    mean: float
    uniques: int

    @classmethod
    def of(cls, classes: Classes) -> Self:
        """How large some classes are."""
        sizes = classes.sizes
        if not sizes.size:
            raise MeasureError("There is no record, so there are no classes.")
        return cls(classes, int(sizes.min()), float(sizes.mean()), int((sizes == 1).sum()))

    @property
    def records(self) -> int:
        """How many records there are."""
        return self.classes.records

    def below(self, k: int) -> int:
        """How many records are in classes smaller than k."""
        sizes = self.classes.sizes
        return int(sizes[sizes < k].sum())

    def quantile(self, share: float) -> int:
        """The size that the class of so large a share of the records does not exceed.

        >>> anonymity([[1, 1, 1, 2]]).quantile(0.25)
        1
        """
        sizes = np.sort(self.classes.sizes)
        place = np.searchsorted(np.cumsum(sizes), share * self.records - 1e-9)
        return int(sizes[min(int(place), sizes.size - 1)])

    def __repr__(self) -> str:
        return (
            f"<Anonymity k = {self.k}: {self.records} records in {self.classes.count} classes, "
            f"{self.uniques} alone>"
        )


def anonymity(keys: Sequence[ArrayLike]) -> Anonymity:
    """The k of k-anonymity (Samarati and Sweeney 1998) and how class sizes are distributed.

    >>> anonymity([[0, 0, 1], [7, 7, 7]])
    <Anonymity k = 1: 3 records in 2 classes, 1 alone>
    """
    return Anonymity.of(Classes.of(keys))


@final
class Closeness:
    """What classes tell of a sensitive attribute; each number is that of the worst class.

    The same numbers for every class are in `by_class(name)`.
    """

    __slots__ = ("__dict__", "ordered", "table")

    def __init__(self, table: Table, *, ordered: bool) -> None:
        self.table, self.ordered = table, ordered

    @cached_property
    def _lines(self) -> dict[str, Floats]:
        return {}

    def by_class(self, name: str) -> Floats:
        """One of the measures for each class, in the order of `table.classes`."""
        if name not in _BY_CLASS:
            raise MeasureError(f"There is no {name!r}; there are {', '.join(_BY_CLASS)}.")
        if name not in self._lines:
            self._lines[name] = _BY_CLASS[name](self)
        return self._lines[name]

    @property
    def distinct(self) -> int:
        """Distinct l-diversity: the least number of values in a class."""
        return int(self.table.distinct.min())

    @property
    def entropy(self) -> float:
        """Entropy l-diversity: 2 to the least entropy of a class."""
        return float(self.by_class("entropy").min())

    @property
    def frequency(self) -> float:
        """The least inverse of the share that the commonest value has in its class."""
        return float(self.by_class("frequency").min())

    def recursive(self, diversity: int) -> float:
        """The c above which the file has recursive (c, l)-diversity; ∞ if a class has too few."""
        return float(_recursive(self.table, diversity).max())

    @property
    def t(self) -> float:
        """The t of t-closeness: the earth mover's distance, by order where there is one."""
        return self.ordered_distance if self.ordered else self.total_variation

    @property
    def ordered_distance(self) -> float:
        """The largest earth mover's distance, neighbours in order being 1/(m - 1) apart."""
        if not self.ordered:
            raise MeasureError("The sensitive attribute was declared without an order.")
        return float(self.by_class("ordered_distance").max())

    @property
    def total_variation(self) -> float:
        """The largest total variation: the earth mover's distance if all values are equally far."""
        return float(self.by_class("total_variation").max())

    @property
    def ratio(self) -> float:
        """The largest factor between q and p; ∞ where a class lacks a value of the file."""
        return float(self.by_class("ratio").max())

    @property
    def delta(self) -> float:
        """The δ of δ-disclosure: the largest |ln(q/p)| over the values that a class holds."""
        return float(self.by_class("delta").max())

    @cached_property
    def information(self) -> Information:
        """The average information gain I(W; X̂): what a class tells on average, in bits."""
        return information(self.table)

    def __repr__(self) -> str:
        how = "ordered" if self.ordered else "nominal"
        return f"<Closeness t = {self.t:.4g} ({how}), {self.distinct} distinct values at least>"


def closeness(
    classes: Classes | Anonymity,
    sensitive: ArrayLike,
    *,
    ordered: bool = False,
    size: int | None = None,
) -> Closeness:
    """What the classes of a file tell of a sensitive attribute.

    Args:
        classes: The classes, or what `anonymity` found.
        sensitive: A code for each record, -1 for missing, which is a value of its own.
        ordered: Whether codes are in order, neighbours equally far apart.
        size: The number of values there can be, if more than occur.

    >>> keys, illness = [[0, 0, 0, 1, 1, 1]], [0, 1, 2, 0, 0, 1]
    >>> found = closeness(anonymity(keys), illness, ordered=True)
    >>> round(found.t, 4), found.distinct, round(found.recursive(2), 2)
    (0.1667, 2, 2.0)
    """
    whom = classes.classes if isinstance(classes, Anonymity) else classes
    return Closeness(Table.of(whom, sensitive, size), ordered=ordered)


def _entropy(table: Table) -> Floats:
    """2 to the entropy of the values of each class."""
    shares = table.shares
    return np.asarray(np.exp2(-table.summed(shares * np.log2(shares))))


def _frequency(table: Table) -> Floats:
    return np.asarray(table.classes.sizes / table.greatest(table.counts))


def _total_variation(table: Table) -> Floats:
    """Only values that a class holds can be more frequent in it than in the file."""
    return table.summed(np.maximum(table.shares - table.overall[table.values], 0))


def _ratio(table: Table) -> Floats:
    factor = table.shares / table.overall[table.values]
    largest = table.greatest(np.maximum(factor, 1 / factor))
    lacking = table.distinct < np.count_nonzero(table.totals)
    return np.where(lacking, np.inf, largest)


def _delta(table: Table) -> Floats:
    return table.greatest(np.abs(np.log(table.shares / table.overall[table.values])))


def _ordered_distance(table: Table) -> Floats:
    r"""$\frac{1}{m-1}\sum_i|Q_i-P_i|$ without a column for each value.

    Between two values that a class holds its distribution function Q stands still while that of
    the file rises from P at the one to P before the other: below Q up to one place, and above from
    there on, so that sums of P do.
    """
    m = table.totals.size
    if m < 2:
        return np.zeros(table.classes.count)
    rising = np.cumsum(table.overall)
    sums = np.concatenate([[0.0], np.cumsum(rising)])
    ends = np.append(table.values[1:], m)
    ends[table.starts[1:] - 1] = m
    level = _cumulated(table)
    inside = _area(level, table.values, ends, rising, sums)
    # Before its first value the distribution function of a class is zero.
    before = sums[table.values[table.starts]]
    return np.asarray((table.summed(inside) + before) / (m - 1))


def _cumulated(table: Table) -> Floats:
    """The distribution function of each class at its values, exactly one at the last."""
    running = np.cumsum(table.counts)
    first = np.repeat(running[table.starts] - table.counts[table.starts], table.distinct)
    return np.asarray((running - first) / np.repeat(table.classes.sizes, table.distinct))


def _area(level: Floats, begin: Integers, end: Integers, rising: Floats, sums: Floats) -> Floats:
    """Sums of |level - P| over places from `begin` to before `end`, P rising."""
    cross = np.clip(np.searchsorted(rising, level), begin, end)
    below = level * (cross - begin) - (sums[cross] - sums[begin])
    above = (sums[end] - sums[cross]) - level * (end - cross)
    return np.asarray(below + above)


def _recursive(table: Table, diversity: int) -> Floats:
    """The commonest count over the sum of all but the l - 1 commonest ones, in each class."""
    if diversity != int(diversity) or diversity < 2:
        raise MeasureError(f"Recursive (c, l)-diversity needs a whole l >= 2; got {diversity!r}.")
    order = np.lexsort((-table.counts, table.owners))
    counts = table.counts[order]
    place = np.arange(counts.size) - np.repeat(table.starts, table.distinct)
    rest = table.summed(np.where(place >= diversity - 1, counts, 0).astype(np.float64))
    with np.errstate(divide="ignore"):
        return np.asarray(counts[table.starts] / rest)


_BY_CLASS: dict[str, Any] = {
    "distinct": lambda found: found.table.distinct.astype(np.float64),
    "entropy": lambda found: _entropy(found.table),
    "frequency": lambda found: _frequency(found.table),
    "ordered_distance": lambda found: _ordered_distance(found.table),
    "total_variation": lambda found: _total_variation(found.table),
    "ratio": lambda found: _ratio(found.table),
    "delta": lambda found: _delta(found.table),
}
