"""Combination: toss for one of several channels, then use that one."""

import math
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MatrixError
from bistochastic.matrices.alias import AliasTable, chosen_by
from bistochastic.matrices.base import (
    Bistochastic,
    Truthfulness,
    Vector,
    refuse_singular,
    same_size,
)
from bistochastic.matrices.bounds import AtLeast, AtMost
from bistochastic.matrices.checks import as_line, guard_cells, probabilities
from bistochastic.matrices.composition import MULTIPLIED
from bistochastic.matrices.dense import Dense
from bistochastic.matrices.entries import Entries
from bistochastic.matrices.exact import (
    Exact,
    dense_below,
    dense_floats,
    dense_log_ratio,
    rational_product,
)
from bistochastic.matrices.rounding import round_vector
from bistochastic.matrices.words import Words, restricted, shifted

__all__ = ["Combination", "CombinationForm"]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Combination(Bistochastic):
    r"""The convex combination $\sum_j w_j P_j$ of bistochastic matrices of one size.

    >>> from bistochastic import identity, secrecy
    >>> Combination([0.5, 0.5], [identity(2), secrecy(2)]).to_dense()
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """

    weights: Vector
    matrices: tuple[Bistochastic, ...]

    def __init__(self, weights: ArrayLike, matrices: Any) -> None:
        chances = probabilities(weights, "Combination.weights")
        members = tuple(matrices)
        if not all(isinstance(matrix, Bistochastic) for matrix in members):
            raise MatrixError("Combination needs bistochastic matrices.")
        if len(members) != chances.size:
            raise MatrixError(
                f"Combination needs a weight for each matrix; got {chances.size} weights and "
                f"{len(members)} matrices."
            )
        same_size(members, "Combination")
        object.__setattr__(self, "weights", chances)
        object.__setattr__(self, "matrices", members)

    @property
    def size(self) -> int:
        return self.matrices[0].size

    @property
    def T(self) -> Self:
        return type(self)(self.weights, tuple(matrix.T for matrix in self.matrices))

    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        return self._sum(matrix.entry(u, v) for matrix in self.matrices)

    def matvec(self, x: ArrayLike) -> Vector:
        return self._sum(matrix.matvec(x) for matrix in self.matrices)

    def solve(self, y: ArrayLike) -> Vector:
        line = as_line(y, self.size)
        dense = self._added()  # a sum of channels has no formula for its inverse
        refuse_singular(dense)
        return dense.solve(line)

    def diagonal(self) -> Vector:
        return self._sum(matrix.diagonal() for matrix in self.matrices)

    def entries(self) -> Entries:
        return self._added().entries()

    @property
    def bits(self) -> float:
        if self._small():
            return self._added().bits
        return AtLeast(self._sum(matrix.bits for matrix in self.matrices))  # entropy is concave

    @property
    def min_row_bits(self) -> float:
        if self._small():
            return self._added().min_row_bits
        return AtLeast(self._sum(matrix.min_row_bits for matrix in self.matrices))

    @property
    def epsilon(self) -> float:
        if self._small():
            return self._added().epsilon
        used = zip(self.weights, self.matrices, strict=True)
        return AtMost(max(matrix.epsilon for weight, matrix in used if weight > 0))

    @property
    def truthfulness(self) -> Truthfulness:
        if self._small():
            return self._added().truthfulness
        each = [matrix.truthfulness for matrix in self.matrices]
        least = AtLeast(self._sum(truth.min for truth in each))
        return Truthfulness(least, float(self._sum(truth.mean for truth in each)))

    @property
    def condition(self) -> float:
        if self._small():
            return self._added().condition
        # The largest share, less all others at their most contrary, is what is left for certain.
        at = int(self.weights.argmax())
        sure = self.weights[at] / self.matrices[at].condition - (1 - self.weights[at])
        return AtMost(1 / sure if sure > 0 else math.inf)

    def integers(self, word_bits: int) -> "tuple[CombinationForm, int]":
        weights, sure = round_vector(self.weights, word_bits=word_bits)
        forms, lost = zip(*(matrix.integers(word_bits) for matrix in self.matrices), strict=True)
        table = chosen_by(weights, sure, word_bits)
        silenced = int(((self.weights > 0) & (weights == 0)).sum()) - int(sure >= 0)
        form = CombinationForm(weights, sure, table, forms, word_bits)
        return form, sum(lost) + silenced * self.size

    def _sum(self, terms: Any) -> Any:
        return sum(weight * term for weight, term in zip(self.weights, terms, strict=True))

    def _small(self) -> bool:
        return self.size <= MULTIPLIED

    def _added(self) -> Dense:
        guard_cells(self.size**2, "A combination added up")
        return Dense(self.to_dense())


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CombinationForm(Exact):
    """Weights in whole units: the first word tosses, the next ones serve whichever form won."""

    weights: NDArray[np.uint64]
    sure: int
    table: AliasTable | None
    forms: tuple[Exact, ...]
    word_bits: int

    @property
    def size(self) -> int:
        return self.forms[0].size

    @property
    def draws(self) -> int:
        return int(self.sure < 0) + max(form.draws for form in self.forms)

    @property
    def denominators(self) -> tuple[int, ...]:
        return tuple(d << self.word_bits for d in rational_product(self.forms))

    def integer_row(self, u: int) -> tuple[list[int], int]:
        rows = [form.integer_row(u) for form in self.forms]
        common = math.lcm(*(denominator for _, denominator in rows))
        row = [0] * self.size
        for weight, (weights, denominator) in zip(self._units(), rows, strict=True):
            factor = weight * (common // denominator)
            row = [total + factor * w for total, w in zip(row, weights, strict=True)]
        return row, common << self.word_bits

    def entries(self) -> Entries:
        return Dense(self._floats()).entries()

    def entropy_range(self) -> tuple[float, float]:
        if self.size <= MULTIPLIED:
            return dense_below(self._floats())
        ranges = np.array([form.entropy_range() for form in self.forms])
        mean, least = (self._shares() @ ranges) * (1 - 8 * np.finfo(np.float64).eps)
        return float(mean), float(least)

    def log_ratio(self) -> float:
        used = [form for unit, form in zip(self._units(), self.forms, strict=True) if unit]
        largest = max(form.log_ratio() for form in used)
        if self.size > MULTIPLIED or largest == 0:
            return largest
        return min(dense_log_ratio(self._floats()), largest)

    def ingredients(self) -> tuple[Any, ...]:
        return (self.weights, self.sure, *(form.digest() for form in self.forms))

    def draw(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        if self.table is None:
            return self.forms[self.sure].draw(codes, words)
        winner = self.table.sample(None, words(0, 0, None))
        reported = np.empty(codes.shape, dtype=np.int64)
        for j, form in enumerate(self.forms):
            cells = np.flatnonzero(winner == j)
            reported[cells] = form.draw(codes[cells], restricted(shifted(words, 1), cells))
        return reported

    def _units(self) -> list[int]:
        units = [int(weight) for weight in self.weights]
        if self.sure >= 0:
            units[self.sure] = 1 << self.word_bits
        return units

    def _shares(self) -> Vector:
        return np.array([unit / (1 << self.word_bits) for unit in self._units()])

    def _floats(self) -> Vector:
        each = zip(self._shares(), self.forms, strict=True)
        floats: Vector = sum(share * dense_floats(form) for share, form in each)
        return floats
