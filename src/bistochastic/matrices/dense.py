"""Dense: any bistochastic array, and the oracle of every structure's tests."""

import math
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import ExactnessError, NotBistochasticError
from bistochastic.matrices.alias import AliasTable
from bistochastic.matrices.base import (
    Bistochastic,
    Channel,
    Truthfulness,
    Vector,
    refuse_singular,
)
from bistochastic.matrices.checks import SUM_TOLERANCE, as_line, as_square
from bistochastic.matrices.entries import Entries, Part
from bistochastic.matrices.exact import DEFECT, Exact, Extremes, bits_below, largest_log_ratio
from bistochastic.matrices.majorization import transfer_array
from bistochastic.matrices.rounding import round_bistochastic, vanished
from bistochastic.matrices.scaling import sinkhorn_array
from bistochastic.matrices.spectrum import dense_condition
from bistochastic.matrices.words import Words

__all__ = ["Arrayed", "Dense", "TableForm", "sinkhorn", "transfer"]

ROUNDABLE = 1000  # the largest dense matrix that controlled rounding is made for


class Arrayed(Channel):
    """What any channel answers that is simply an array."""

    __slots__ = ()

    array: Vector

    @property
    @final
    def size(self) -> int:
        return len(self.array)

    @final
    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        return self.array[np.asarray(u), np.asarray(v)]

    @final
    def matvec(self, x: ArrayLike) -> Vector:
        return self.array @ as_line(x, self.size)

    @final
    def solve(self, y: ArrayLike) -> Vector:
        line = as_line(y, self.size)
        refuse_singular(self)
        return np.linalg.solve(self.array, line)

    @final
    def diagonal(self) -> Vector:
        return self.array.diagonal().copy()

    @final
    def entries(self) -> Entries:
        return dense_entries(self.array)

    @property
    @final
    def bits(self) -> float:
        return self.entries().bits

    @property
    @final
    def min_row_bits(self) -> float:
        return self.entries().min_row_bits

    @property
    @final
    def epsilon(self) -> float:
        return column_log_ratio(self.array.min(axis=0), self.array.max(axis=0))

    @property
    @final
    def truthfulness(self) -> Truthfulness:
        return Truthfulness.of(self.diagonal())

    @property
    @final
    def condition(self) -> float:
        return dense_condition(self.array)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dense(Arrayed, Bistochastic):
    """Any square array whose rows and columns sum to one.

    >>> Dense([[0.7, 0.3], [0.3, 0.7]]).truthfulness
    Truthfulness(min=0.7, mean=0.7)
    """

    array: Vector

    def __init__(self, array: ArrayLike) -> None:
        square = as_square(array, "Dense")
        refuse_sums(square, axis=1, name="Dense", tolerance=SUM_TOLERANCE)
        refuse_sums(square, axis=0, name="Dense", tolerance=SUM_TOLERANCE)
        object.__setattr__(self, "array", square)

    @property
    def T(self) -> Self:
        return type(self)(self.array.T)

    def integers(self, word_bits: int) -> "tuple[TableForm, int]":
        refuse_unroundable(self.array, "Dense")
        refuse_sums(self.array, axis=1, name="Dense.exact", tolerance=DEFECT)
        refuse_sums(self.array, axis=0, name="Dense.exact", tolerance=DEFECT)
        weights, sure = round_bistochastic(self.array, word_bits=word_bits)
        return TableForm.of(weights, sure, word_bits), vanished(self.array, weights, sure)


def sinkhorn(array: ArrayLike) -> Dense:
    """The bistochastic scaling of a non-negative array (Sinkhorn & Knopp 1967).

    >>> sinkhorn([[1, 2], [2, 1]]).to_dense().round(4)
    array([[0.3333, 0.6667],
           [0.6667, 0.3333]])
    """
    return Dense(sinkhorn_array(array))


def transfer(p: ArrayLike, q: ArrayLike) -> Dense:
    r"""A bistochastic P with $q = P^\top p$, for p that majorizes q.

    A product of transforms that each move two values towards each other (Hardy, Littlewood &
    Pólya 1929).

    >>> transfer([1, 0], [0.25, 0.75]).to_dense()
    array([[0.25, 0.75],
           [0.75, 0.25]])
    """
    return Dense(transfer_array(p, q))


def refuse_sums(array: Vector, *, axis: int, name: str, tolerance: float) -> None:
    """Refuse an array whose rows (axis 1) or columns (axis 0) do not sum to one."""
    defects = np.abs(array.sum(axis=axis) - 1)
    if defects.max() <= tolerance:
        return
    worst = int(defects.argmax())
    kind = ExactnessError if tolerance == DEFECT else NotBistochasticError
    raise kind(
        f"{name} needs {'rows' if axis else 'columns'} that sum to 1 within {tolerance:g}; "
        f"{'row' if axis else 'column'} {worst} sums to {array.sum(axis=axis)[worst]:.15g}. "
        f"sinkhorn(array) scales a positive array to bistochastic."
    )


def refuse_unroundable(array: Vector, name: str) -> None:
    """Refuse a dense matrix too large for controlled rounding."""
    if len(array) > ROUNDABLE:
        raise ExactnessError(
            f"{name}.exact() rounds dense matrices up to size {ROUNDABLE}; this one has size "
            f"{len(array)}. Use a structured matrix, which has a formula at any size."
        )


def column_log_ratio(low: Vector, high: Vector) -> float:
    """Ln of the largest ratio within a column; columns of zeros alone are skipped."""
    alive = high > 0
    if (low[alive] == 0).any():
        return math.inf
    return float((np.log(high[alive]) - np.log(low[alive])).max(initial=0.0))


def dense_entries(array: Vector) -> Entries:
    """Each row a kind of its own."""
    return Entries((Part(array, np.ones((1, 1))),), np.ones(len(array), dtype=np.int64))


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableForm(Exact):
    """Any integer matrix, sampled through an alias table: one word a cell, no rejection."""

    weights: NDArray[np.uint64]
    sure: NDArray[np.int64]
    table: AliasTable
    word_bits: int

    @classmethod
    def of(cls, weights: NDArray[np.uint64], sure: NDArray[np.int64], word_bits: int) -> Self:
        """The integer matrix with its table, proved to return these very weights."""
        table = AliasTable.build(weights, word_bits=word_bits, sure=sure)
        table.certify()
        return cls(weights, sure, table, word_bits)

    @property
    def size(self) -> int:
        return len(self.weights)

    @property
    def draws(self) -> int:
        return 1

    @property
    def denominators(self) -> tuple[int, ...]:
        return (1 << self.word_bits,)

    def integer_row(self, u: int) -> tuple[list[int], int]:
        row = [int(weight) for weight in self.weights[u]]
        if self.sure[u] >= 0:
            row[int(self.sure[u])] = 1 << self.word_bits
        return row, 1 << self.word_bits

    def entries(self) -> Entries:
        return dense_entries(self._floats())

    def entropy_range(self) -> tuple[float, float]:
        return bits_below(self.entries())

    def log_ratio(self) -> float:
        if self.size == 1:
            return 0.0
        certain = np.unique(self.sure)
        if (certain >= 0).any() and (certain.size > 1):
            return math.inf  # a report certain under one value, and not so under another
        if (certain >= 0).all():
            return 0.0  # everything is reported as the same value
        return largest_log_ratio(Extremes(self.weights.min(axis=0), self.weights.max(axis=0)))

    def ingredients(self) -> tuple[Any, ...]:
        return (self.weights, self.sure)

    def draw(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        return self.table.sample(codes, words(0, 0, None))

    def _floats(self) -> Vector:
        floats = np.ldexp(self.weights.astype(np.float64), -self.word_bits)
        certain = np.flatnonzero(self.sure >= 0)
        floats[certain, self.sure[certain]] = 1.0
        return floats
