r"""Tridiagonal: move to a neighbour or stay; ordered codes change by one step at most.

Symmetric, off-diagonals $\alpha_1 … \alpha_{n-1}$, diagonal $1-\alpha_{i-1}-\alpha_i$
(Ruiz & Domingo-Ferrer 2022, expression 7, whose last printed index is off by one).
"""

import math
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack

from bistochastic.errors import MatrixError
from bistochastic.matrices.base import HOPELESS, Bistochastic, Truthfulness, Vector
from bistochastic.matrices.checks import as_line, as_numbers, frozen, guard_line
from bistochastic.matrices.entries import Entries, Part
from bistochastic.matrices.exact import Exact, Extremes, bits_below, largest_log_ratio
from bistochastic.matrices.spectrum import dense_condition, inverse_norm, plausible
from bistochastic.matrices.words import Words

__all__ = ["Tridiagonal"]

SUSPECT = 1e-9  # a relative pivot below which the condition number is worth estimating


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tridiagonal(Bistochastic):
    """u is exchanged with u + 1 with probability `alphas[u]`, with u - 1 likewise, else it stays.

    >>> round(Tridiagonal([0.1] * 11).beta, 4)
    0.2361
    """

    alphas: Vector

    def __init__(self, alphas: ArrayLike) -> None:
        given = np.asarray(alphas, dtype=np.float64)
        steps = as_numbers(given, "Tridiagonal.alphas") if given.size else np.zeros(0)
        if steps.ndim != 1:
            raise MatrixError(f"Tridiagonal needs a list of alphas; got shape {steps.shape}.")
        if steps.size and (steps.min() < 0 or steps.max() > 1):
            raise MatrixError(
                f"Tridiagonal needs alphas between 0 and 1; they go from {steps.min():.6g} to "
                f"{steps.max():.6g}."
            )
        pairs = steps[:-1] + steps[1:]
        if pairs.size and pairs.max() > 1:
            at = int(pairs.argmax())
            raise MatrixError(
                f"Tridiagonal needs neighbouring alphas that sum to at most 1; "
                f"alphas {at} and {at + 1} sum to {pairs.max():.12g}."
            )
        object.__setattr__(self, "alphas", frozen(steps))

    @property
    def size(self) -> int:
        return int(self.alphas.size) + 1

    @property
    def T(self) -> Self:
        return self

    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        u, v = np.broadcast_arrays(np.asarray(u, dtype=np.int64), np.asarray(v, dtype=np.int64))
        left, right = self._sides(u)
        step = v - u
        values = np.where(step == -1, left, np.where(step == 1, right, 0.0))
        return np.where(step == 0, 1 - left - right, values)

    def matvec(self, x: ArrayLike) -> Vector:
        line = as_line(x, self.size)
        flow = self.alphas.reshape(-1, *[1] * (line.ndim - 1)) * np.diff(line, axis=0)
        result: Vector = line.copy()
        result[:-1] += flow
        result[1:] -= flow
        return result

    def solve(self, y: ArrayLike) -> Vector:
        line = as_line(y, self.size)
        return plausible(self, self._solved(line), line)

    def diagonal(self) -> Vector:
        diagonal = np.ones(self.size)
        diagonal[:-1] -= self.alphas
        diagonal[1:] -= self.alphas
        return np.maximum(diagonal, 0.0)

    def entries(self) -> Entries:
        left, right = self._sides(np.arange(self.size))
        return _entries(left, self.diagonal(), right)

    @property
    def bits(self) -> float:
        return self.entries().bits

    @property
    def min_row_bits(self) -> float:
        return self.entries().min_row_bits

    @property
    def epsilon(self) -> float:
        if self.size == 1:
            return 0.0
        if self.size > 2:
            return math.inf  # no step leads from one end to the other, so its column holds a zero
        stay, move = 1 - float(self.alphas[0]), float(self.alphas[0])
        return math.inf if 0 in (stay, move) else abs(math.log(stay / move))

    @property
    def truthfulness(self) -> Truthfulness:
        return Truthfulness.of(self.diagonal())

    @property
    def condition(self) -> float:
        return inverse_norm(self, self._solved)

    def integers(self, word_bits: int) -> "tuple[TridiagonalForm, int]":
        weights, sure = _alpha_units(self.alphas, word_bits)
        vanished = 2 * int(((self.alphas > 0) & (weights == 0) & ~sure).sum())
        return TridiagonalForm(weights, sure, word_bits), vanished

    def _solved(self, line: Vector) -> Vector:
        if self.size <= 3:  # too short for LAPACK's factors
            array = self.to_dense()
            lost = math.isinf(dense_condition(array))
            return np.full_like(line, np.inf) if lost else np.linalg.solve(array, line)
        *factors, failed = lapack.dgttrf(self.alphas, self.diagonal(), self.alphas)
        pivots = np.abs(factors[1])
        if failed or (pivots.min() < SUSPECT * pivots.max() and _hopeless(factors)):
            return np.full_like(line, np.inf)
        solution: Vector = lapack.dgttrs(*factors, line)[0]
        return solution

    def _sides(self, u: NDArray[np.int64]) -> tuple[Vector, Vector]:
        """The probabilities of the step down and of the step up from each position."""
        padded = np.concatenate(([0.0], self.alphas, [0.0]))
        return padded[u], padded[u + 1]


def _hopeless(factors: list[Any]) -> bool:
    """Whether the matrix is singular up to rounding, by LAPACK's estimate of its condition."""
    reciprocal, _ = lapack.dgtcon(*factors, 1.0)
    size = factors[1].size
    return bool(reciprocal * HOPELESS < 64 * math.sqrt(size))


def _entries(left: Vector, stay: Vector, right: Vector) -> Entries:
    """Rows of three entries and n-3 zeros; at the ends a missing neighbour counts as a zero."""
    n = stay.size
    once = np.ones((1, 1))
    zeros = Part(np.zeros((1, 1)), np.full((1, 1), n - 3))
    parts = (*(Part(side[:, None], once) for side in (left, stay, right)), zeros)
    return Entries(parts, np.ones(n, dtype=np.int64))


def _alpha_units(alphas: Vector, word_bits: int) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Alphas in whole units, no two neighbours above the whole; an alpha of 1 is told apart."""
    sure = alphas == 1
    scaled = np.rint(np.ldexp(np.where(sure, 0.0, alphas), word_bits))
    scaled = np.minimum(scaled, math.nextafter(math.ldexp(1.0, word_bits), 0.0))
    weights = scaled.astype(np.uint64)
    # Rounding may lift a pair above the whole. Lowering every second alpha mends all pairs.
    top = np.uint64((1 << word_bits) - 1)
    first, second = weights[:-1], weights[1:]
    room = top - first
    excess = np.where(second > room, second - room - np.uint64(1), np.uint64(0))
    excess[sure[:-1] | sure[1:]] = 0
    lower = np.zeros_like(weights)
    lower[1:] = excess
    lower[:-1] = np.maximum(lower[:-1], excess)
    lower[::2] = 0
    return weights - np.minimum(lower, weights), sure


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TridiagonalForm(Exact):
    """Off-diagonal weights in whole units, the rest on the diagonal; `sure` marks certain swaps."""

    weights: NDArray[np.uint64]
    sure: NDArray[np.bool_]
    word_bits: int

    @property
    def size(self) -> int:
        return int(self.weights.size) + 1

    @property
    def draws(self) -> int:
        return 1

    @property
    def denominators(self) -> tuple[int, ...]:
        return (1 << self.word_bits,)

    def integer_row(self, u: int) -> tuple[list[int], int]:
        guard_line(self.size, "This row")
        whole = 1 << self.word_bits
        row = [0] * self.size
        if u > 0:
            row[u - 1] = whole if self.sure[u - 1] else int(self.weights[u - 1])
        if u < self.size - 1:
            row[u + 1] = whole if self.sure[u] else int(self.weights[u])
        row[u] = whole - sum(row)
        return row, whole

    def entries(self) -> Entries:
        alphas = np.where(self.sure, 1.0, np.ldexp(self.weights.astype(float), -self.word_bits))
        left, right = np.append(0.0, alphas), np.append(alphas, 0.0)
        stay = np.ldexp(self._stay().astype(float), -self.word_bits)
        return _entries(left, np.where(left + right == 0, 1.0, stay), right)

    def entropy_range(self) -> tuple[float, float]:
        return bits_below(self.entries())

    def log_ratio(self) -> float:
        if self.size == 1:
            return 0.0
        if self.size > 2 or self.sure.any() or not self.weights[0]:
            return math.inf
        pair = np.array([self.weights[0], self._stay()[0]])
        return largest_log_ratio(Extremes(pair.min(keepdims=True), pair.max(keepdims=True)))

    def ingredients(self) -> tuple[Any, ...]:
        return (self.weights, self.sure)

    def draw(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        first = words(0, 0, None)
        down = np.append(np.uint64(0), self.weights)[codes]
        up = np.append(self.weights, np.uint64(0))[codes]
        # The lowest words step down, the next ones up; unsigned arithmetic wraps where it must.
        step = ((first >= down) & (first - down < up)).astype(np.int64) - (first < down)
        if self.sure.any():
            step += np.append(self.sure, False)[codes]
            step -= np.append(False, self.sure)[codes]
        return codes.astype(np.int64) + step

    def _stay(self) -> NDArray[np.uint64]:
        """What is left for the diagonal, modulo 2^64; no neighbours leave the whole, told as 0."""
        whole = np.uint64((1 << self.word_bits) - 1)
        taken = np.append(np.uint64(0), self.weights) + np.append(self.weights, np.uint64(0))
        full = np.append(False, self.sure) | np.append(self.sure, False)
        return np.where(full, np.uint64(0), whole - taken + np.uint64(1))
