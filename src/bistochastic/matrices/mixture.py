r"""Mixture: tell the truth with probability p, any other value otherwise.

$p_{uu} = p$ and $p_{uv} = (1-p)/(n-1)$: n-ary randomised response (Warner 1965), and the only form
that ε-differentially private randomised response takes (Wang, Wu & Hu 2016), at
$p = e^\varepsilon/(n-1+e^\varepsilon)$.
"""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import ExactnessError, MatrixError
from bistochastic.matrices.base import Bistochastic, Truthfulness, Vector, refuse_singular
from bistochastic.matrices.checks import as_line, as_number, as_size, guard_line
from bistochastic.matrices.entries import Entries, Part
from bistochastic.matrices.exact import Exact, bits_below, log_up, units
from bistochastic.matrices.words import Words, uniform_below

__all__ = ["Mixture", "identity", "randomised_response"]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Mixture(Bistochastic):
    """Report the truth with probability `truth`, each other value equally often otherwise.

    >>> round(Mixture(12, truth=0.9).beta, 4)
    0.2273
    """

    n: int
    truth: float

    def __post_init__(self) -> None:
        n = as_size(self.n, "Mixture")
        truth = as_number(self.truth, "Mixture.truth")
        if not 0 <= truth <= 1:
            raise MatrixError(f"Mixture needs 0 <= truth <= 1; got truth={self.truth!r}.")
        if n == 1 and truth != 1:
            raise MatrixError(
                f"A single category is always reported: truth must be 1, not {truth}."
            )
        object.__setattr__(self, "n", n)
        object.__setattr__(self, "truth", truth)

    @property
    def size(self) -> int:
        return self.n

    @property
    def lie(self) -> float:
        """The probability of each other value, (1-p)/(n-1)."""
        return (1 - self.truth) / (self.n - 1) if self.n > 1 else 0.0

    @property
    def T(self) -> Self:
        return self

    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        return np.where(np.equal(u, v), self.truth, self.lie)

    def matvec(self, x: ArrayLike) -> Vector:
        line = as_line(x, self.n)
        return (self.truth - self.lie) * line + self.lie * line.sum(axis=0)

    def solve(self, y: ArrayLike) -> Vector:
        line = as_line(y, self.n)
        refuse_singular(self)
        return (line - self.lie * line.sum(axis=0)) / (self.truth - self.lie)

    def diagonal(self) -> Vector:
        guard_line(self.n, "This diagonal")
        return np.full(self.n, self.truth)

    def entries(self) -> Entries:
        values = np.array([[self.truth, self.lie]])
        return Entries((Part(values, np.array([[1, self.n - 1]])),), np.array([self.n]))

    @property
    def bits(self) -> float:
        return self.entries().bits

    @property
    def min_row_bits(self) -> float:
        return self.bits

    @property
    def epsilon(self) -> float:
        if self.n == 1:
            return 0.0
        if self.truth == 0 or self.lie == 0:
            return math.inf
        return abs(math.log(self.truth) - math.log(self.lie))

    @property
    def truthfulness(self) -> Truthfulness:
        return Truthfulness(self.truth, self.truth)

    @property
    def condition(self) -> float:
        """(n-1)/|np-1|; ∞ where truth equals lie to within the rounding of their difference."""
        keep = abs(self.truth - self.lie)
        if self.n > 1 and keep <= 4 * np.finfo(np.float64).eps * max(self.truth, self.lie):
            return math.inf
        return 1 / keep

    def integers(self, word_bits: int) -> "tuple[MixtureForm, int]":
        return _form(self, word_bits)


def identity(n: int) -> Mixture:
    """The channel that reports everything as it is: no bits, no protection.

    >>> identity(4).bits
    0.0
    """
    return Mixture(n, truth=1.0)


def randomised_response(n: int, *, epsilon: float) -> Mixture:
    r"""The ε-differentially private randomised response, $p = e^\varepsilon/(n-1+e^\varepsilon)$.

    The truth is rounded down and the integer form rounds lies up, so that the epsilon sampled
    never exceeds the one asked for.

    >>> randomised_response(3, epsilon=2).truth
    0.7869860421615984
    >>> randomised_response(3, epsilon=2).exact().epsilon <= 2
    True
    """
    n = as_size(n, "randomised_response")
    if not epsilon >= 0:
        raise MatrixError(f"randomised_response needs epsilon >= 0; got {epsilon!r}.")
    if n == 1 or math.isinf(epsilon):
        return Mixture(n, truth=1.0)
    with localcontext() as context:
        context.prec = 60 + int(epsilon)
        truth = 1 - Decimal(n - 1) / (Decimal(n - 1) + Decimal(float(epsilon)).exp())
        below = float(truth)
        if Decimal(below) > truth:
            below = math.nextafter(below, 0.0)
    return Mixture(n, truth=below)


def _form(matrix: Mixture, word_bits: int) -> "tuple[MixtureForm, int]":
    """Truth and lie in whole units, rounded towards secrecy, and how many entries vanished.

    One word decides both whether to lie and which lie, unless the n-1 lies are so thin that their
    rounding would show, in themselves or on the diagonal: then a second word chooses the lie.
    """
    n, whole = matrix.n, 1 << word_bits
    if n > whole:
        raise ExactnessError(f"{word_bits}-bit words cannot tell {n} categories apart.")
    truth = units(matrix.truth, word_bits)
    round_lie = math.ceil if matrix.truth * n >= 1 else math.floor
    lie = round_lie((whole - truth) / (n - 1)) if n > 1 else 0
    thin = 0 < lie < 1 << (word_bits // 4) or (whole - (n - 1) * lie) >> (word_bits // 2) < n
    staged = thin and n > 2
    if not staged:
        form = MixtureForm(n, whole - (n - 1) * lie, lie, whole, word_bits, staged=False)
    else:
        kept = math.floor(truth) if matrix.truth * n >= 1 else math.ceil(truth)
        form = MixtureForm(n, kept * (n - 1), whole - kept, whole * (n - 1), word_bits, staged=True)
    vanished = n * int(form.truth == 0 and matrix.truth > 0)
    vanished += n * (n - 1) * int(form.lie == 0 and matrix.lie > 0)
    return form, vanished


@final
@dataclass(frozen=True, slots=True, repr=False)
class MixtureForm(Exact):
    """Truth and lie as whole numbers of units: truth + (n-1)·lie = whole."""

    n: int
    truth: int
    lie: int
    whole: int
    word_bits: int
    staged: bool

    @property
    def size(self) -> int:
        return self.n

    @property
    def draws(self) -> int:
        return 2 if self.staged else 1

    @property
    def denominators(self) -> tuple[int, ...]:
        return (self.whole,)

    def integer_row(self, u: int) -> tuple[list[int], int]:
        guard_line(self.n, "This row")
        row = [self.lie] * self.n
        row[u] = self.truth
        return row, self.whole

    def entries(self) -> Entries:
        values = np.array([[self.truth / self.whole, self.lie / self.whole]])
        return Entries((Part(values, np.array([[1, self.n - 1]])),), np.array([self.n]))

    def entropy_range(self) -> tuple[float, float]:
        return bits_below(self.entries())

    def log_ratio(self) -> float:
        if self.n == 1:
            return 0.0
        low, high = sorted((self.truth, self.lie))
        return math.inf if low == 0 else log_up(Fraction(high, low))

    def ingredients(self) -> tuple[Any, ...]:
        return (self.truth, self.lie)

    def draw(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        if self.lie == 0:
            return codes
        kept = self.truth // (self.n - 1) if self.staged else self.truth
        first = words(0, 0, None)
        narrow = np.min_scalar_type(self.n - 1)  # the fewer bytes a cell, the faster
        if self.staged:
            other = uniform_below(self.n - 1, 1, words, word_bits=self.word_bits).astype(narrow)
        else:
            # Words below `kept` are truths; the rest falls into n-1 equal runs, one for each lie.
            other = ((first - np.uint64(kept)) // np.uint64(self.lie)).astype(narrow)
        true = codes.astype(narrow, copy=False)
        other += other >= true
        return np.where(first < np.uint64(kept), true, other)
