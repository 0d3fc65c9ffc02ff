r"""Ergodic: any bistochastic matrix lifted off zero, $(1-n\gamma)P + \gamma J$.

Every report becomes possible under every true value, so epsilon is finite, and rows and columns
still sum to one: adding γ without rescaling would not be a channel at all.
"""

import math
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MatrixError, TooLargeError
from bistochastic.matrices.base import Bistochastic, Truthfulness, Vector, refuse_singular
from bistochastic.matrices.blocks import secrecy
from bistochastic.matrices.bounds import AtLeast, AtMost
from bistochastic.matrices.checks import as_line
from bistochastic.matrices.combination import Combination, CombinationForm
from bistochastic.matrices.composition import MULTIPLIED
from bistochastic.matrices.dense import Dense
from bistochastic.matrices.entries import Entries
from bistochastic.matrices.exact import Exact, bits_below
from bistochastic.matrices.words import Words

__all__ = ["Ergodic"]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Ergodic(Bistochastic):
    """With probability nγ a value is reported as anything at all, otherwise through the matrix.

    >>> from bistochastic import Blocks
    >>> Blocks([1, 1]).ergodic(0.25).to_dense()
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """

    matrix: Bistochastic
    gamma: float

    def __post_init__(self) -> None:
        gamma = float(self.gamma)
        if not 0 <= gamma * self.matrix.size <= 1 + 1e-12:
            raise MatrixError(
                f"ergodic needs 0 <= gamma <= 1/n, here 1/{self.matrix.size}; got {self.gamma!r}."
            )
        # A single category is lifted nowhere: any γ gives the same matrix.
        most = 1 / self.matrix.size if self.matrix.size > 1 else 0.0
        object.__setattr__(self, "gamma", min(gamma, most))

    @property
    def size(self) -> int:
        return self.matrix.size

    @property
    def kept(self) -> float:
        """1 - nγ, the share of the matrix itself."""
        return 1 - self.size * self.gamma

    @property
    def T(self) -> Self:
        return type(self)(self.matrix.T, self.gamma)

    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        return self.kept * self.matrix.entry(u, v) + self.gamma

    def matvec(self, x: ArrayLike) -> Vector:
        line = as_line(x, self.size)
        return self.kept * self.matrix.matvec(line) + self.gamma * line.sum(axis=0)

    def solve(self, y: ArrayLike) -> Vector:
        line = as_line(y, self.size)
        refuse_singular(self)
        # Columns sum to one, so Px has the total of x, and the uniform part can be taken off first.
        return self.matrix.solve((line - self.gamma * line.sum(axis=0)) / self.kept)

    def diagonal(self) -> Vector:
        return self.kept * self.matrix.diagonal() + self.gamma

    def entries(self) -> Entries:
        return self.matrix.entries().affine(self.kept, self.gamma)

    @property
    def bits(self) -> float:
        try:
            return self.entries().bits
        except TooLargeError:  # entropy is concave
            return AtLeast(self.kept * self.matrix.bits + (1 - self.kept) * self.max_bits)

    @property
    def min_row_bits(self) -> float:
        try:
            return self.entries().min_row_bits
        except TooLargeError:
            return AtLeast(self.kept * self.matrix.min_row_bits + (1 - self.kept) * self.max_bits)

    @property
    def epsilon(self) -> float:
        if self.size <= MULTIPLIED:
            return Dense(self.to_dense()).epsilon
        return AtMost(min(self._spread(), self.matrix.epsilon))

    @property
    def truthfulness(self) -> Truthfulness:
        inner = self.matrix.truthfulness
        return Truthfulness(self.kept * inner.min + self.gamma, self.kept * inner.mean + self.gamma)

    @property
    def condition(self) -> float:
        if self.kept <= self.size * np.finfo(np.float64).eps:
            return math.inf
        return self.matrix.condition / self.kept

    def integers(self, word_bits: int) -> "tuple[ErgodicForm, int]":
        shares = np.array([self.kept, self.size * self.gamma])
        toss, lost = Combination(shares, (self.matrix, secrecy(self.size))).integers(word_bits)
        lifted = toss.weights[1] > 0 or toss.sure == 1
        return ErgodicForm(toss, word_bits), 0 if lifted else lost  # J fills every zero

    def _spread(self) -> float:
        """Ln of the largest over the least entry of all, which bounds every column's ratio."""
        try:
            values = [part.values for part in self.entries().parts]
        except TooLargeError:
            return math.log1p(self.kept / self.gamma) if self.gamma else math.inf
        low = max(min(float(value.min()) for value in values), self.gamma)
        high = max(float(value.max()) for value in values)
        return math.log(high / low) if low else math.inf


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ErgodicForm(Exact):
    """A toss in whole units between the form of the matrix and a uniform report."""

    toss: CombinationForm
    word_bits: int

    @property
    def size(self) -> int:
        return self.toss.size

    @property
    def draws(self) -> int:
        return self.toss.draws

    @property
    def denominators(self) -> tuple[int, ...]:
        return self.toss.denominators

    def integer_row(self, u: int) -> tuple[list[int], int]:
        return self.toss.integer_row(u)

    def entries(self) -> Entries:
        kept, uniform = self.toss._shares()
        return self.toss.forms[0].entries().affine(float(kept), float(uniform) / self.size)

    def entropy_range(self) -> tuple[float, float]:
        try:
            return bits_below(self.entries())
        except TooLargeError:
            return self.toss.entropy_range()

    def log_ratio(self) -> float:
        if self.size <= MULTIPLIED:
            return self.toss.log_ratio()
        kept, uniform = self.toss._shares()
        floor = float(uniform) / self.size
        if not floor:
            return self.toss.forms[0].log_ratio()
        spread = math.log1p(float(kept) / floor) * (1 + 1e-15)
        try:
            entries = self.toss.forms[0].entries()
        except TooLargeError:
            return min(spread, self.toss.forms[0].log_ratio())
        high = max(float(part.values.max()) for part in entries.parts)
        low = min(float(part.values.min()) for part in entries.parts)
        spread = math.log((kept * high + floor) / (kept * low + floor)) + 1e-15
        return min(spread, self.toss.forms[0].log_ratio())

    def ingredients(self) -> tuple[Any, ...]:
        return (self.toss.digest(),)

    def draw(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        return self.toss.draw(codes, words)
