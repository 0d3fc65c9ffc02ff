"""Equivalence classes: who cannot be told apart by key attributes, and what they hold.

Codes of the keys are folded into one number. Where the numbers are few they are counted, else
sorted; what is kept of a class and a sensitive attribute is only the pairs that occur.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MeasureError

__all__ = ["Classes", "Table", "numbered"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DENSE = 8  # counting beats sorting up to this many possible numbers for each record
FOLDED = 1 << 62


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Classes:
    """The class of each record, numbered without a gap, and the sizes of the classes."""

    of_record: Integers
    sizes: Integers

    @classmethod
    def of(cls, keys: Sequence[ArrayLike]) -> Self:
        """Records that agree in all keys are one class; without keys all are.

        >>> Classes.of([[1, 1, 2], [5, 5, 5]]).sizes
        array([2, 1])
        """
        if not keys:
            raise MeasureError("Classes need at least one key; all records would be one class.")
        columns = [as_codes(key, "key") for key in keys]
        if len({column.size for column in columns}) > 1:
            raise MeasureError("All keys are of the same records; their lengths differ.")
        folded, size = columns[0], int(columns[0].max(initial=0)) + 1
        for column in columns[1:]:
            more = int(column.max(initial=0)) + 1
            if size * more >= FOLDED:
                folded = numbered(folded, size)[0]
                size = int(folded.max(initial=0)) + 1
            folded = folded * more + column
            size *= more
        return cls(*numbered(folded, size))

    @classmethod
    def counted(cls, sizes: Integers) -> Self:
        """Classes of which nothing but their sizes is known here: their records are elsewhere."""
        return cls(np.zeros(0, dtype=np.int64), sizes)

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.sizes.sum())

    @property
    def count(self) -> int:
        """How many classes there are."""
        return int(self.sizes.size)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table:
    """Which values of a sensitive attribute each class holds, and how often.

    `starts` says where the pairs of a class begin; within it they are in the order of the values.
    """

    classes: Classes
    starts: Integers
    values: Integers
    counts: Integers
    totals: Integers  # how often each value occurs in the file

    @classmethod
    def of(cls, classes: Classes, sensitive: ArrayLike, size: int | None = None) -> Self:
        """Count the pairs; values are codes below `size`, which are in order if they have one."""
        codes = as_codes(sensitive, "sensitive attribute", size or 0)
        if codes.size != classes.records:
            raise MeasureError(
                f"There are {classes.records} records with a class, but {codes.size} with a "
                f"sensitive value."
            )
        if not codes.size:
            raise MeasureError("There is no record, so there is nothing to measure.")
        width = max(int(codes.max()) + 1, size or 0)
        folded, whole = classes.of_record * width + codes, classes.count * width
        if whole <= DENSE * codes.size:
            dense = np.bincount(folded, minlength=whole)
            held = np.flatnonzero(dense)
            counts = dense[held]
        else:
            held, counts = np.unique(folded, return_counts=True)
        owner = held // width
        starts = np.searchsorted(owner, np.arange(classes.count))
        totals = np.bincount(codes, minlength=width)
        return cls(classes, starts, held - owner * width, counts, totals)

    @classmethod
    def counted(
        cls, classes: Classes, owner: Integers, values: Integers, counts: Integers, size: int
    ) -> Self:
        """Pairs that were counted elsewhere: the class and the value of each, and how often."""
        if not counts.size:
            raise MeasureError("There is no record, so there is nothing to measure.")
        folded = owner * size + values
        held, where = np.unique(folded, return_inverse=True)
        summed = np.zeros(held.size, dtype=np.int64)
        np.add.at(summed, where.reshape(-1), counts)
        starts = np.searchsorted(held // size, np.arange(classes.count))
        totals = np.zeros(size, dtype=np.int64)
        np.add.at(totals, held % size, summed)
        return cls(classes, starts, held % size, summed, totals)

    @property
    def owners(self) -> Integers:
        """The class of each pair."""
        return np.repeat(np.arange(self.classes.count), self.distinct)

    @property
    def distinct(self) -> Integers:
        """How many values each class holds."""
        return np.diff(np.append(self.starts, self.values.size))

    @property
    def shares(self) -> Floats:
        """The share that the value of each pair has in its class."""
        return self.counts / np.repeat(self.classes.sizes, self.distinct)

    @property
    def overall(self) -> Floats:
        """The share of each value in the file."""
        return self.totals / self.classes.records

    def summed(self, terms: Floats) -> Floats:
        """Terms of the pairs, summed over each class."""
        return np.asarray(np.add.reduceat(terms, self.starts), dtype=np.float64)

    def greatest(self, terms: NDArray[Any]) -> NDArray[Any]:
        """The greatest term of each class."""
        return np.maximum.reduceat(terms, self.starts)


def as_codes(values: ArrayLike, name: str, size: int = 0) -> Integers:
    """Codes as whole numbers from 0, where -1 may say missing and is moved behind all others.

    Behind all that there can be, too, where that is known: at `size`, not in the place of a value
    that does not occur.

    >>> as_codes([0, -1, 1], "key", size=4)
    array([0, 4, 1])
    """
    codes = np.asarray(values)
    if codes.ndim != 1 or codes.dtype.kind not in "iu" or (codes.size and codes.min() < -1):
        raise MeasureError(
            f"A {name} is one line of codes, whole numbers from 0 with -1 for missing; got "
            f"{codes.dtype} of shape {codes.shape}."
        )
    codes = codes.astype(np.int64, copy=False)
    if codes.size and codes.min() < 0:
        codes = np.where(codes < 0, max(int(codes.max()) + 1, size), codes)
    return codes


def numbered(values: Integers, size: int) -> tuple[Integers, Integers]:
    """Numbers from 0 without a gap in the place of others below `size`, and how often each is.

    >>> [line.tolist() for line in numbered(np.array([7, 2, 7]), 9)]
    [[1, 0, 1], [1, 2]]
    """
    if size <= DENSE * values.size:
        counts = np.bincount(values, minlength=1)
        held = counts > 0
        return (np.cumsum(held) - 1)[values], counts[held]
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    return codes.astype(np.int64), counts
