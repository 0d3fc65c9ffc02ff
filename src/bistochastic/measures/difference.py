r"""Difference: what is left of two histograms of distances once what both have is cancelled.

$c_j = n_B\,m_A(x_j) - n_A\,m_B(x_j)$ over the distances where it is not 0, in whole numbers.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.measures.histogram import Histogram

__all__ = ["Difference", "sign_changes"]

FEW = 10**7  # records, so that all zeros together weigh less than one rank
LONG = 10**5  # bits of a product that is formed
WIDE = 1 << 62
EXACT = 2.0**53  # below it, sums of whole numbers are exact in doubles


@final
@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """Coefficients of distances in increasing order, with 0 replaced if it is to be."""

    values: NDArray[np.float64]
    coefficients: NDArray[Any]  # whole numbers, as objects where 64 bits do not hold them
    one: Histogram
    other: Histogram
    zero: float

    @classmethod
    def of(cls, one: Histogram, other: Histogram, *, zero: float) -> Self:
        """What one masking has more of than the other, and less."""
        both = np.sort(np.concatenate([one.values, other.values]))
        values = both[np.append(True, both[1:] != both[:-1])]  # much faster than union1d
        n, m = one.size, other.size
        share = math.gcd(n, m)
        mine, theirs = m // share, n // share
        kind = np.int64 if mine * n < WIDE else object
        first, second = (_counts_at(values, told).astype(kind) for told in (one, other))
        coefficients = mine * first - theirs * second
        kept = coefficients != 0
        left = values[kept].astype(np.float64)
        if left.size and left[0] == 0:
            left[0] = zero
        return cls(left, coefficients[kept], one, other, zero)

    @property
    def at_one(self) -> int:
        """The sign of f(1), exactly."""
        whole = self.values % 1 == 0
        terms = self.coefficients[whole].astype(np.float64), self.values[whole]
        if float(abs(terms[0]) @ terms[1]) < EXACT:
            total = Fraction(float(terms[0] @ terms[1]))
        else:
            pairs = zip(self.coefficients[whole].tolist(), terms[1].tolist(), strict=True)
            total = Fraction(sum(c * int(x) for c, x in pairs))
        rest = zip(self.coefficients[~whole].tolist(), self.values[~whole].tolist(), strict=True)
        total += sum((c * Fraction(x) for c, x in rest), Fraction(0))
        return (total > 0) - (total < 0)

    def same_product(self, order: int) -> bool:
        r"""Whether $\sum_j c_j x_j^o \ln x_j = 0$ exactly, at an order of 0 or 1.

        That is $\prod_j x_j^{c_j x_j^o} = 1$, as far as whole numbers of that length are formed.
        """
        if abs(self.coefficients).sum() > LONG:
            return False
        exact = [Fraction(value) for value in self.values.tolist()]
        signed = self.coefficients.tolist()
        powers = [c * x**order for c, x in zip(signed, exact, strict=True)]
        terms = list(zip(exact, powers, strict=True))
        sizes = (x.numerator.bit_length() + x.denominator.bit_length() for x in exact)
        length = sum(abs(power) * size for power, size in zip(powers, sizes, strict=True))
        if length > LONG or any(power.denominator > 1 for power in powers):
            return False
        return math.prod((x ** int(power) for x, power in terms), start=Fraction(1)) == 1

    def sums_decide(self, *, largest: bool) -> int:
        """1 or -1 if sums of the k smallest, or largest, distances say who is better; 0 if not.

        The first is better if its sums of the k smallest are never below those of the other, or
        its sums of the k largest never above. It needs files of one length.
        """
        both = (self.one, self.other)
        n = self.one.size
        if n != self.other.size or n > FEW or any(told.values.dtype.kind == "f" for told in both):
            return 0
        sums, zeros = zip(*(_running(told, largest) for told in both), strict=True)
        ahead = sums[0] - sums[1]
        if largest:
            ahead = -ahead
        elif self.zero:  # zeros count as something, too little together to outweigh one rank
            ahead = np.where(ahead, ahead, zeros[0] - zeros[1])
        return 1 if (ahead >= 0).all() else -1 if (ahead <= 0).all() else 0


def sign_changes(coefficients: NDArray[Any]) -> int:
    """How often the sign changes along them: f has no more roots than that."""
    up = coefficients > 0
    return int((up[1:] != up[:-1]).sum())


def _counts_at(values: NDArray[Any], told: Histogram) -> NDArray[np.int64]:
    """How often a histogram has each of these distances."""
    counts = np.zeros(values.size, dtype=np.int64)
    counts[np.searchsorted(values, told.values)] = told.counts
    return counts


def _running(told: Histogram, largest: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sums of the first k distances, the smallest or the largest first, and how many are 0."""
    ordered = np.repeat(told.values, told.counts).astype(np.int64)
    ordered = ordered[::-1] if largest else ordered
    return np.cumsum(ordered), np.cumsum(ordered == 0)
