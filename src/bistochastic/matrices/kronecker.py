r"""Kronecker: several columns randomised side by side, as one channel on all their combinations.

$P = P_1 \otimes P_2 \otimes …$ on the product domain (Ruiz & Domingo-Ferrer 2022, definition 3).
Bits and epsilon add exactly, and nothing is ever formed: 10^12 cells are an ordinary domain.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MatrixError
from bistochastic.matrices.base import Bistochastic, Truthfulness, Vector, refuse_singular
from bistochastic.matrices.checks import as_line, guard_cells, guard_line
from bistochastic.matrices.entries import Entries, Part
from bistochastic.matrices.exact import Exact, rational_product
from bistochastic.matrices.words import Words, shifted

__all__ = ["Kronecker"]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Kronecker(Bistochastic):
    """The joint channel of independent factors; codes count the last factor fastest.

    >>> from bistochastic import Blocks, Mixture
    >>> Kronecker(Blocks([2, 2]), Mixture(2, truth=0.5)).bits
    2.0
    """

    factors: tuple[Bistochastic, ...]

    def __init__(self, *factors: Bistochastic) -> None:
        if not factors or not all(isinstance(factor, Bistochastic) for factor in factors):
            raise MatrixError("Kronecker needs one bistochastic matrix or more.")
        if math.prod(factor.size for factor in factors) >= 1 << 62:
            raise MatrixError("Kronecker's domain exceeds 2^62 cells, which codes cannot count.")
        object.__setattr__(self, "factors", factors)

    @property
    def size(self) -> int:
        return math.prod(self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The size of each factor."""
        return tuple(factor.size for factor in self.factors)

    @property
    def T(self) -> Self:
        return type(self)(*(factor.T for factor in self.factors))

    def digits(self, codes: ArrayLike) -> tuple[NDArray[Any], ...]:
        """The code of each factor within joint codes.

        >>> from bistochastic import identity
        >>> [int(digit) for digit in Kronecker(identity(3), identity(10)).digits(27)]
        [2, 7]
        """
        return np.unravel_index(np.asarray(codes, dtype=np.int64), self.sizes)

    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        pairs = zip(self.factors, self.digits(u), self.digits(v), strict=True)
        return reduce(np.multiply, (factor.entry(i, j) for factor, i, j in pairs))

    def matvec(self, x: ArrayLike) -> Vector:
        return self.along_axes(as_line(x, self.size), [factor.matvec for factor in self.factors])

    def solve(self, y: ArrayLike) -> Vector:
        line = as_line(y, self.size)
        refuse_singular(self)
        return self.along_axes(line, [factor.solve for factor in self.factors])

    def diagonal(self) -> Vector:
        guard_line(self.size, "This diagonal")
        diagonals = [factor.diagonal() for factor in self.factors]
        return reduce(lambda left, right: np.kron(left, right), diagonals)

    def entries(self) -> Entries:
        return reduce(_product, (factor.entries() for factor in self.factors))

    @property
    def bits(self) -> float:
        return _total(factor.bits for factor in self.factors)

    @property
    def min_row_bits(self) -> float:
        return _total(factor.min_row_bits for factor in self.factors)

    @property
    def epsilon(self) -> float:
        return _total(factor.epsilon for factor in self.factors)

    @property
    def truthfulness(self) -> Truthfulness:
        each = [factor.truthfulness for factor in self.factors]
        return Truthfulness(
            math.prod(truth.min for truth in each), math.prod(truth.mean for truth in each)
        )

    @property
    def condition(self) -> float:
        return math.prod(factor.condition for factor in self.factors)

    def integers(self, word_bits: int) -> "tuple[KroneckerForm, int]":
        forms, lost = zip(*(factor.integers(word_bits) for factor in self.factors), strict=True)
        return KroneckerForm(forms, word_bits), sum(lost)

    def along_axes(self, line: Vector, steps: list[Callable[[Vector], Vector]]) -> Vector:
        """Each factor acts along its own axis of the table of combinations."""
        table = line.reshape(*self.sizes, -1)
        for axis, step in enumerate(steps):
            front = np.moveaxis(table, axis, 0)
            acted = step(front.reshape(front.shape[0], -1)).reshape(front.shape)
            table = np.moveaxis(acted, 0, axis)
        return np.ascontiguousarray(table).reshape(line.shape)


def _total(quantities: Any) -> float:
    """A sum that stays a certified bound where a factor's quantity is one."""
    listed = list(quantities)
    bounds = {type(quantity) for quantity in listed} - {float}
    return bounds.pop()(math.fsum(listed)) if len(bounds) == 1 else math.fsum(listed)


def _product(left: Entries, right: Entries) -> Entries:
    """The entries of L⊗R: every value of a kind of row with every value of another."""
    first, second = _merged(left), _merged(right)
    parts = []
    for a in first.parts:
        for b in second.parts:
            guard_cells(a.values.size * b.values.size, "The distinct entries of this product")
            parts.append(Part(np.kron(a.values, b.values), np.kron(a.counts, b.counts)))
    return Entries(tuple(parts), np.kron(first.repeats, second.repeats))


def _merged(entries: Entries) -> Entries:
    """All parts side by side, every value beside its count."""
    kinds = entries.repeats.size
    values, counts = [], []
    for part in entries.parts:
        shape = np.broadcast_shapes(part.values.shape, part.counts.shape, (kinds, 1))
        guard_cells(math.prod(shape), "The distinct entries of this factor")
        values.append(np.broadcast_to(part.values, shape))
        counts.append(np.broadcast_to(part.counts, shape).astype(np.float64))
    return Entries((Part(np.hstack(values), np.hstack(counts)),), entries.repeats)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KroneckerForm(Exact):
    """The factors' own integer forms; the denominator is the product of theirs."""

    forms: tuple[Exact, ...]
    word_bits: int

    @property
    def size(self) -> int:
        return math.prod(form.size for form in self.forms)

    @property
    def draws(self) -> int:
        return sum(form.draws for form in self.forms)

    @property
    def denominators(self) -> tuple[int, ...]:
        return rational_product(self.forms)

    def integer_row(self, u: int) -> tuple[list[int], int]:
        guard_line(self.size, "This row")
        row, whole = [1], 1
        for form, digit in zip(self.forms, self._digits(np.asarray(u)), strict=True):
            factor, denominator = form.integer_row(int(digit))
            row = [a * b for a in row for b in factor]
            whole *= denominator
        return row, whole

    def entries(self) -> Entries:
        return reduce(_product, (form.entries() for form in self.forms))

    def entropy_range(self) -> tuple[float, float]:
        ranges = [form.entropy_range() for form in self.forms]
        return _sum_down(r[0] for r in ranges), _sum_down(r[1] for r in ranges)

    def log_ratio(self) -> float:
        return _sum_up(form.log_ratio() for form in self.forms)

    def ingredients(self) -> tuple[Any, ...]:
        return tuple(form.digest() for form in self.forms)

    def draw(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        reported = np.zeros(codes.shape, dtype=np.int64)
        used = 0
        for form, digit in zip(self.forms, self._digits(codes), strict=True):
            reported *= form.size
            reported += form.draw(digit, shifted(words, used)).astype(np.int64)
            used += form.draws
        return reported

    def _digits(self, codes: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        return np.unravel_index(codes.astype(np.int64), tuple(form.size for form in self.forms))


def _sum_down(values: Any) -> float:
    """A sum that is certainly not above the true one; zeros add nothing and cost nothing."""
    listed = [value for value in values if value]
    total = math.fsum(listed)
    return total if len(listed) < 2 else math.nextafter(total, 0.0)


def _sum_up(values: Any) -> float:
    """A sum that is certainly not below the true one."""
    listed = [value for value in values if value]
    if math.inf in listed:
        return math.inf
    total = math.fsum(listed)
    return total if len(listed) < 2 else math.nextafter(total, math.inf)
