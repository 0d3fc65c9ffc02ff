"""Permutation: each value is reported as another one, always the same. No bits at all."""

import math
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.matrices.base import Bistochastic, Truthfulness, Vector
from bistochastic.matrices.checks import as_line, as_order, guard_line
from bistochastic.matrices.entries import Entries, Part
from bistochastic.matrices.exact import Exact
from bistochastic.matrices.words import Words

__all__ = ["Permutation"]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Permutation(Bistochastic):
    """u is reported as `order[u]`, with certainty.

    >>> Permutation([1, 2, 0]).row(0)
    array([0., 1., 0.])
    """

    order: NDArray[np.int64]

    def __init__(self, order: ArrayLike) -> None:
        object.__setattr__(self, "order", as_order(order, "Permutation"))

    @property
    def size(self) -> int:
        return int(self.order.size)

    @property
    def T(self) -> Self:
        inverse = np.empty_like(self.order)
        inverse[self.order] = np.arange(self.size)
        return type(self)(inverse)

    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        return np.equal(self.order[np.asarray(u)], v).astype(np.float64)

    def matvec(self, x: ArrayLike) -> Vector:
        return as_line(x, self.size)[self.order]

    def solve(self, y: ArrayLike) -> Vector:
        return self.T.matvec(y)

    def diagonal(self) -> Vector:
        return (self.order == np.arange(self.size)).astype(np.float64)

    def entries(self) -> Entries:
        values = np.array([[1.0, 0.0]])
        return Entries((Part(values, np.array([[1, self.size - 1]])),), np.array([self.size]))

    @property
    def bits(self) -> float:
        return 0.0

    @property
    def min_row_bits(self) -> float:
        return 0.0

    @property
    def epsilon(self) -> float:
        return 0.0 if self.size == 1 else math.inf

    @property
    def truthfulness(self) -> Truthfulness:
        return Truthfulness.of(self.diagonal())

    @property
    def condition(self) -> float:
        return 1.0

    def integers(self, word_bits: int) -> "tuple[PermutationForm, int]":
        return PermutationForm(self, word_bits), 0


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PermutationForm(Exact):
    """A single one in each row and column: no words are needed."""

    matrix: Permutation
    word_bits: int

    @property
    def size(self) -> int:
        return self.matrix.size

    @property
    def draws(self) -> int:
        return 0

    @property
    def denominators(self) -> tuple[int, ...]:
        return (1,)

    def integer_row(self, u: int) -> tuple[list[int], int]:
        guard_line(self.size, "This row")
        row = [0] * self.size
        row[int(self.matrix.order[u])] = 1
        return row, 1

    def entries(self) -> Entries:
        return self.matrix.entries()

    def entropy_range(self) -> tuple[float, float]:
        return 0.0, 0.0

    def log_ratio(self) -> float:
        return self.matrix.epsilon

    def ingredients(self) -> tuple[Any, ...]:
        return (self.matrix.order,)

    def draw(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        return self.matrix.order[codes]
