r"""Circulant: move around a circle by a random step that does not depend on where one stands.

$p_{uv} = c_{(v-u) \bmod n}$ (Ruiz & Domingo-Ferrer 2022, expression 6). The Fourier transform
diagonalises every circulant matrix, so nothing costs more than O(n log n).
"""

import math
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft

from bistochastic.matrices.alias import AliasTable, chosen_by
from bistochastic.matrices.base import Bistochastic, Truthfulness, Vector, refuse_singular
from bistochastic.matrices.checks import as_line, guard_line, probabilities
from bistochastic.matrices.entries import Entries, Part
from bistochastic.matrices.exact import Exact, Extremes, bits_below, largest_log_ratio
from bistochastic.matrices.rounding import round_vector
from bistochastic.matrices.words import Words

__all__ = ["Circulant"]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Circulant(Bistochastic):
    """u is reported as u + s around the circle, the step s drawn from `first_row`.

    >>> Circulant([0.5, 0.25, 0.25]).bits
    1.5
    """

    first_row: Vector

    def __init__(self, first_row: ArrayLike) -> None:
        object.__setattr__(self, "first_row", probabilities(first_row, "Circulant.first_row"))

    @property
    def size(self) -> int:
        return int(self.first_row.size)

    @property
    def T(self) -> Self:
        return type(self)(np.roll(self.first_row[::-1], 1))

    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        return self.first_row[(np.asarray(v) - np.asarray(u)) % self.size]

    def matvec(self, x: ArrayLike) -> Vector:
        line = as_line(x, self.size)
        return self._filtered(line, self._spectrum().conj())

    def solve(self, y: ArrayLike) -> Vector:
        line = as_line(y, self.size)
        spectrum = self._spectrum()
        refuse_singular(self, _condition(spectrum, self.size))
        return self._filtered(line, 1 / spectrum.conj())

    def diagonal(self) -> Vector:
        return np.full(self.size, self.first_row[0])

    def entries(self) -> Entries:
        return Entries((Part(self.first_row[None, :], np.ones((1, 1))),), np.array([self.size]))

    @property
    def bits(self) -> float:
        return self.entries().bits

    @property
    def min_row_bits(self) -> float:
        return self.bits

    @property
    def epsilon(self) -> float:
        low, high = float(self.first_row.min()), float(self.first_row.max())
        return math.log(high / low) if low > 0 else math.inf

    @property
    def truthfulness(self) -> Truthfulness:
        stay = float(self.first_row[0])
        return Truthfulness(stay, stay)

    @property
    def condition(self) -> float:
        return _condition(self._spectrum(), self.size)

    def integers(self, word_bits: int) -> "tuple[CirculantForm, int]":
        weights, sure = round_vector(self.first_row, word_bits=word_bits)
        form = CirculantForm(weights, sure, chosen_by(weights, sure, word_bits), word_bits)
        vanished = int(((self.first_row > 0) & (weights == 0)).sum()) - int(sure >= 0)
        return form, vanished * self.size

    def _spectrum(self) -> NDArray[np.complex128]:
        spectrum: NDArray[np.complex128] = fft.rfft(self.first_row)
        return spectrum

    def _filtered(self, line: Vector, gains: NDArray[np.complex128]) -> Vector:
        gains = gains.reshape(-1, *[1] * (line.ndim - 1))
        filtered: Vector = fft.irfft(fft.rfft(line, axis=0) * gains, n=self.size, axis=0)
        return filtered


def _condition(spectrum: NDArray[np.complex128], n: int) -> float:
    """One over the least modulus of the spectrum; ∞ where the transform's rounding hides it."""
    least = float(np.abs(spectrum).min())
    rounding = np.finfo(np.float64).eps * math.log2(2 * n)
    return 1 / least if least > rounding else math.inf


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CirculantForm(Exact):
    """The steps in whole units; a step that is certain is told by `sure`, for 2^64 fits nowhere."""

    weights: NDArray[np.uint64]
    sure: int
    table: AliasTable | None
    word_bits: int

    @property
    def size(self) -> int:
        return int(self.weights.size)

    @property
    def draws(self) -> int:
        return 0 if self.sure >= 0 else 1

    @property
    def denominators(self) -> tuple[int, ...]:
        return (1 << self.word_bits,)

    def integer_row(self, u: int) -> tuple[list[int], int]:
        guard_line(self.size, "This row")
        steps = [int(weight) for weight in self.weights]
        if self.sure >= 0:
            steps[self.sure] = 1 << self.word_bits
        return [steps[(v - u) % self.size] for v in range(self.size)], 1 << self.word_bits

    def entries(self) -> Entries:
        row = np.ldexp(self.weights.astype(np.float64), -self.word_bits)
        if self.sure >= 0:
            row[self.sure] = 1.0
        return Entries((Part(row[None, :], np.ones((1, 1))),), np.array([self.size]))

    def entropy_range(self) -> tuple[float, float]:
        return bits_below(self.entries())

    def log_ratio(self) -> float:
        if self.sure >= 0:
            return 0.0 if self.size == 1 else math.inf
        return largest_log_ratio(Extremes(self.weights.min()[None], self.weights.max()[None]))

    def ingredients(self) -> tuple[Any, ...]:
        return (self.weights, self.sure)

    def draw(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        if self.table is None:
            return (codes.astype(np.int64) + self.sure) % self.size
        moved = codes.astype(np.int64) + self.table.sample(None, words(0, 0, None))
        moved -= self.size * (moved >= self.size)
        return moved
