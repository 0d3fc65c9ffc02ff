r"""Composition: one channel after another, the product of their matrices.

Composing never loses bits and never costs privacy: $\max(\beta_1,\beta_2) \le \beta \le 1$ and
$\varepsilon \le \min(\varepsilon_1,\varepsilon_2)$. Those bounds are all that is known of a large
product; a small one is multiplied out.
"""

import math
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MatrixError
from bistochastic.matrices.base import (
    Bistochastic,
    Channel,
    Truthfulness,
    Vector,
    refuse_singular,
    same_size,
)
from bistochastic.matrices.bounds import AtLeast, AtMost
from bistochastic.matrices.checks import as_line, guard_cells
from bistochastic.matrices.dense import Dense
from bistochastic.matrices.entries import Entries
from bistochastic.matrices.exact import (
    Exact,
    dense_below,
    dense_floats,
    dense_log_ratio,
    rational_product,
)
from bistochastic.matrices.stochastic import Stochastic
from bistochastic.matrices.words import Words, shifted

__all__ = ["Composed", "compose"]

MULTIPLIED = 1000  # products up to this size are multiplied out whenever a quantity needs it


def compose(first: Channel, second: Channel) -> Channel:
    """First one channel, then the other; bistochastic if both are."""
    same_size((first, second), "A product")
    if isinstance(first, Bistochastic) and isinstance(second, Bistochastic):
        return Composed(first, second)
    return Stochastic(first.matvec(second.to_dense()))


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Composed(Bistochastic):
    """The first factor, then the second, and so on.

    >>> from bistochastic import Mixture
    >>> twice = Mixture(2, truth=0.9) @ Mixture(2, truth=0.9)
    >>> round(twice.truthfulness.min, 4)
    0.82
    """

    factors: tuple[Bistochastic, ...]

    def __init__(self, *factors: Bistochastic) -> None:
        if not factors or not all(isinstance(factor, Bistochastic) for factor in factors):
            raise MatrixError("Composed needs one bistochastic matrix or more.")
        same_size(factors, "Composed")
        flat = [f.factors if isinstance(f, Composed) else (f,) for f in factors]
        object.__setattr__(self, "factors", tuple(f for group in flat for f in group))

    @property
    def size(self) -> int:
        return self.factors[0].size

    @property
    def T(self) -> Self:
        return type(self)(*(factor.T for factor in reversed(self.factors)))

    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        if self._small():
            return self._multiplied().entry(u, v)
        u, v = np.broadcast_arrays(np.asarray(u), np.asarray(v))
        wanted, where = np.unique(v, return_inverse=True)
        guard_cells(self.size * wanted.size, "So many columns of a product")
        units = np.zeros((self.size, wanted.size))
        units[wanted, np.arange(wanted.size)] = 1.0
        return np.maximum(self.matvec(units)[u, where.reshape(v.shape)], 0.0)

    def matvec(self, x: ArrayLike) -> Vector:
        line = as_line(x, self.size)
        return reduce(lambda y, factor: factor.matvec(y), reversed(self.factors), line)

    def solve(self, y: ArrayLike) -> Vector:
        line = as_line(y, self.size)
        refuse_singular(self)
        return reduce(lambda x, factor: factor.solve(x), self.factors, line)

    def diagonal(self) -> Vector:
        return self._multiplied().diagonal()

    def entries(self) -> Entries:
        return self._multiplied().entries()

    @property
    def bits(self) -> float:
        if self._small():
            return self._multiplied().bits
        return AtLeast(max(factor.bits for factor in self.factors))

    @property
    def min_row_bits(self) -> float:
        if self._small():
            return self._multiplied().min_row_bits
        # A row of PQ is a mean of rows of Q, and a row of P made less certain by Q.
        return AtLeast(max(factor.min_row_bits for factor in self.factors))

    @property
    def epsilon(self) -> float:
        if self._small():
            return self._multiplied().epsilon
        return AtMost(min(factor.epsilon for factor in self.factors))

    @property
    def truthfulness(self) -> Truthfulness:
        if self._small():
            return self._multiplied().truthfulness
        stays = math.prod((factor.diagonal() for factor in self.factors), start=np.float64(1))
        return Truthfulness(AtLeast(stays.min()), AtLeast(stays.mean()))

    @property
    def condition(self) -> float:
        if self._small():
            return self._multiplied().condition
        return AtMost(math.prod(factor.condition for factor in self.factors))

    def integers(self, word_bits: int) -> "tuple[ComposedForm, int]":
        forms, lost = zip(*(factor.integers(word_bits) for factor in self.factors), strict=True)
        return ComposedForm(forms, word_bits), sum(lost)

    def _small(self) -> bool:
        return self.size <= MULTIPLIED

    def _multiplied(self) -> Dense:
        """The product of the arrays: a factor's own matvec may round a zero to something else."""
        guard_cells(self.size**2, "A product multiplied out")
        return Dense(reduce(np.matmul, (factor.to_dense() for factor in self.factors)))


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ComposedForm(Exact):
    """The factors' own integer forms, sampled one after the other with words of their own."""

    forms: tuple[Exact, ...]
    word_bits: int

    @property
    def size(self) -> int:
        return self.forms[0].size

    @property
    def draws(self) -> int:
        return sum(form.draws for form in self.forms)

    @property
    def denominators(self) -> tuple[int, ...]:
        return rational_product(self.forms)

    def integer_row(self, u: int) -> tuple[list[int], int]:
        row, whole = self.forms[0].integer_row(u)
        for form in self.forms[1:]:
            rows = [form.integer_row(k) for k in range(self.size)]
            common = math.lcm(*(denominator for _, denominator in rows))
            scaled = [[w * (common // d) for w in weights] for weights, d in rows]
            row = [sum(row[k] * scaled[k][v] for k in range(self.size)) for v in range(self.size)]
            whole *= common
        return row, whole

    def entries(self) -> Entries:
        return Dense(self._floats()).entries()

    def entropy_range(self) -> tuple[float, float]:
        if self.size > MULTIPLIED:
            ranges = [form.entropy_range() for form in self.forms]
            return max(mean for mean, _ in ranges), max(least for _, least in ranges)
        return dense_below(self._floats())

    def log_ratio(self) -> float:
        least = min(form.log_ratio() for form in self.forms)
        if self.size > MULTIPLIED or least == 0:
            return least
        return min(dense_log_ratio(self._floats()), least)

    def ingredients(self) -> tuple[Any, ...]:
        return tuple(form.digest() for form in self.forms)

    def draw(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        used = 0
        for form in self.forms:
            codes = form.draw(codes, shifted(words, used)).astype(np.int64)
            used += form.draws
        return codes

    def _floats(self) -> Vector:
        return reduce(np.matmul, (dense_floats(form) for form in self.forms))
