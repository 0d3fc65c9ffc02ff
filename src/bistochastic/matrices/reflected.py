r"""Reflected: a random step along ordered codes, thrown back at both ends.

$p_{uv} = g_{u-v} + g_{u+v+1}$, where g is a symmetric step law on the circle of 2n places: walk
that circle, then fold it in half. The cosine transform diagonalises all of them, so nothing costs
more than O(n log n); and a whole-number g folds into a whole-number bistochastic matrix.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft

from bistochastic.errors import ExactnessError, MatrixError
from bistochastic.matrices.alias import AliasTable, chosen_by
from bistochastic.matrices.base import Bistochastic, Truthfulness, Vector, refuse_singular
from bistochastic.matrices.bounds import AtLeast
from bistochastic.matrices.checks import (
    SUM_TOLERANCE,
    as_line,
    as_numbers,
    frozen,
    guard_cells,
    guard_line,
)
from bistochastic.matrices.entries import Entries, Part
from bistochastic.matrices.exact import DEFECT, Exact, below, log_up
from bistochastic.matrices.words import Words

__all__ = ["Reflected"]

FAINT = 1e-25  # steps rarer than this add less to an entropy than its last digit holds
BORDER = 1000  # border rows that are worth their entropies one by one
FLAT = 4e-15  # a wave this faint is lost in the rounding of the transform


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reflected(Bistochastic):
    """Step k places up or down with probability `steps[k]` each way, reflected at the ends.

    `steps` holds g for 0 … n: g₀ + 2(g₁ + … + g_{n-1}) + g_n = 1, never growing with distance.

    >>> Reflected([0.5, 0.25, 0.0]).to_dense()
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """

    steps: Vector

    def __init__(self, steps: ArrayLike) -> None:
        law = as_numbers(steps, "Reflected.steps")
        if law.ndim != 1 or law.size < 2:
            raise MatrixError("Reflected needs the steps 0 … n, at least two of them.")
        if law.min() < 0 or (np.diff(law) > 0).any():
            raise MatrixError("Reflected needs steps that are not negative and never grow.")
        total = _total(law)
        if abs(total - 1) > SUM_TOLERANCE:
            raise MatrixError(f"Reflected needs steps that sum to 1 both ways; got {total:.12g}.")
        object.__setattr__(self, "steps", frozen(law))

    @property
    def size(self) -> int:
        return int(self.steps.size) - 1

    @property
    def T(self) -> Self:
        return self

    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        near = np.abs(np.asarray(u, dtype=np.int64) - np.asarray(v))
        far = np.asarray(u, dtype=np.int64) + np.asarray(v) + 1
        return self.steps[near] + self.steps[np.minimum(far, 2 * self.size - far)]

    def matvec(self, x: ArrayLike) -> Vector:
        return self._filtered(as_line(x, self.size), self.spectrum())

    def solve(self, y: ArrayLike) -> Vector:
        line = as_line(y, self.size)
        spectrum = self.spectrum()
        refuse_singular(self, _condition(spectrum))
        return self._filtered(line, 1 / spectrum)

    def diagonal(self) -> Vector:
        codes = np.arange(self.size)
        return self.steps[0] + self.steps[np.minimum(2 * codes + 1, 2 * (self.size - codes) - 1)]

    def entries(self) -> Entries:
        """Half of the rows, for the other half mirrors them."""
        half = (self.size + 1) // 2
        guard_cells(half * self.size, "The entries of this reflected walk")
        rows = self.entry(np.arange(half)[:, None], np.arange(self.size)[None, :])
        return Entries((Part(rows, np.ones((1, 1))),), _mirrored(self.size, half))

    @property
    def bits(self) -> float:
        return _row_bits(self)[0]

    @property
    def min_row_bits(self) -> float:
        return _row_bits(self)[1]

    @property
    def epsilon(self) -> float:
        """The largest entry and the least one stand in the same column: both at a corner."""
        least, largest = self.steps[-2] + self.steps[-1], self.steps[0] + self.steps[1]
        if self.size == 1:
            return 0.0
        return math.log(largest / least) if least > 0 else math.inf

    @property
    def truthfulness(self) -> Truthfulness:
        return Truthfulness.of(self.diagonal())

    @property
    def condition(self) -> float:
        return _condition(self.spectrum())

    def integers(self, word_bits: int) -> "tuple[ReflectedForm, int]":
        if abs(_total(self.steps) - 1) > DEFECT:
            raise ExactnessError(
                f"Reflected.exact() needs steps that sum to 1 within {DEFECT:g}; they sum to "
                f"{_total(self.steps):.15g}."
            )
        weights = _unit_steps(self.steps, word_bits)
        lost = np.flatnonzero((self.steps > 0) & (weights == 0))
        nearest = int(lost.min()) if lost.size else self.size
        vanished = max(self.size - nearest, 0) * max(self.size - nearest + 1, 0)
        return ReflectedForm(weights, _folded_table(weights, word_bits), word_bits), vanished

    def spectrum(self) -> Vector:
        """The eigenvalues, one for each cosine wave on the codes, the constant one first."""
        waves: Vector = fft.dct(self.steps, type=1)
        return waves[:-1]

    def _filtered(self, line: Vector, gains: Vector) -> Vector:
        gains = gains.reshape(-1, *[1] * (line.ndim - 1))
        filtered: Vector = fft.idct(fft.dct(line, axis=0) * gains, axis=0)
        return filtered


def _condition(spectrum: Vector) -> float:
    """One over the least |eigenvalue|; ∞ where the transform's rounding hides it."""
    least = float(np.abs(spectrum).min())
    rounding = np.finfo(np.float64).eps * math.log2(4 * spectrum.size)
    return 1 / least if least > rounding else math.inf


def _total(law: Vector) -> float:
    return float(2 * law.sum() - law[0] - law[-1])


def _mirrored(n: int, half: int) -> NDArray[np.int64]:
    repeats = np.full(half, 2, dtype=np.int64)
    repeats[-1] = n - 2 * (half - 1)
    return repeats


def _row_bits(matrix: Reflected) -> tuple[float, float]:
    """Mean and least row entropy, without ever looking at n² entries.

    A short step law leaves all rows alike but those near an end. A long one is smooth, and a smooth
    matrix has the same waves on a coarser grid: its entropies are those of the coarse matrix plus
    the bits that each coarse cell holds.
    """
    n = matrix.size
    reach = int(np.searchsorted(-matrix.steps, -FAINT))
    if 2 * reach < n and reach <= BORDER:
        return _bordered(matrix, reach)
    if n <= BORDER:
        entries = matrix.entries()
        return entries.bits, entries.min_row_bits
    spectrum = matrix.spectrum()
    waves = int(np.flatnonzero(np.abs(spectrum) > FLAT)[-1]) + 1
    coarse = max(4 * waves, 64)
    if 2 * coarse > n:
        # Too long for its border, too rough for a coarse grid: folding loses one bit at most.
        unfolded = 2 * matrix.steps.sum() - matrix.steps[0] - matrix.steps[-1]
        bound = AtLeast(max(_circle_bits(matrix.steps) / float(unfolded) - 1, 0.0))
        return bound, bound
    law = _from_spectrum(np.append(spectrum[:waves], np.zeros(coarse + 1 - waves)))
    mean, least = _row_bits(Reflected(law))
    gained = math.log2(n / coarse)
    corner = Entries(
        (Part(matrix.entry(0, np.arange(n))[None, :], np.ones((1, 1))),), np.array([n])
    )
    return mean + gained, min(least + gained, corner.bits)


def _circle_bits(steps: Vector) -> float:
    """The entropy of the step law on the unfolded circle."""
    line = np.concatenate((steps, steps[-2:0:-1]))
    return Entries((Part(line[None, :], np.ones((1, 1))),), np.array([1])).bits


def _bordered(matrix: Reflected, reach: int) -> tuple[float, float]:
    """Entropies of the rows within reach of an end, and of one row of all the others."""
    n = matrix.size
    border = max(reach, 1)
    rows = matrix.entry(np.arange(border)[:, None], np.arange(min(2 * border, n))[None, :])
    ends = Entries((Part(rows, np.ones((1, 1))),), np.full(border, 2, dtype=np.int64)).row_bits()
    middle = _circle_bits(matrix.steps)
    mean = (2 * ends.sum() + (n - 2 * border) * middle) / n
    return float(mean), float(min(ends.min(), middle))


def _from_spectrum(waves: Vector) -> Vector:
    """The step law with a given spectrum, its last rounding errors swept up."""
    law = np.maximum(fft.idct(waves, type=1), 0.0)
    law = np.minimum.accumulate(law)
    swept: Vector = law / _total(law)
    return swept


def _unit_steps(steps: Vector, word_bits: int) -> NDArray[np.uint64]:
    """Steps in whole units that sum to the whole and still never grow with distance.

    Floors of steps scaled a breath below one leave some units over: one each way to the shortest
    steps, what then remains to staying. If staying takes all, every weight is told as 0.
    """
    whole = 1 << word_bits
    shrunk = steps / (_total(steps) * (1 + 2.0**-50))
    weights = np.floor(np.ldexp(shrunk, word_bits)).astype(np.uint64)
    spare = whole - 2 * int(weights[1:-1].sum()) - int(weights[0]) - int(weights[-1])
    lifted = min((spare - 1) // 2, int(np.count_nonzero(weights[1:-1])))
    weights[1 : 1 + lifted] += np.uint64(1)
    if not weights[1:].any():
        return np.zeros_like(weights)
    weights[0] = np.uint64(int(weights[0]) + spare - 2 * lifted)
    return weights


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReflectedForm(Exact):
    """The step law in whole units on the circle of 2n places; folding keeps it whole."""

    weights: NDArray[np.uint64]
    table: AliasTable | None
    word_bits: int

    @property
    def size(self) -> int:
        return int(self.weights.size) - 1

    @property
    def still(self) -> bool:
        """Whether every step but staying has become impossible."""
        return not self.weights[1:].any()

    @property
    def draws(self) -> int:
        return 0 if self.still else 1

    @property
    def denominators(self) -> tuple[int, ...]:
        return (1 << self.word_bits,)

    def integer_row(self, u: int) -> tuple[list[int], int]:
        guard_line(self.size, "This row")
        n, whole = self.size, 1 << self.word_bits
        if self.still:
            return [whole * (v == u) for v in range(n)], whole
        law = [int(weight) for weight in self.weights]
        folded = [law[abs(u - v)] + law[min(u + v + 1, 2 * n - u - v - 1)] for v in range(n)]
        return folded, whole

    def entries(self) -> Entries:
        return self._walk().entries()

    def entropy_range(self) -> tuple[float, float]:
        return below(*_row_bits(self._walk()), self.size)

    def log_ratio(self) -> float:
        if self.size == 1:
            return 0.0
        law = [int(self.weights[k]) for k in (0, 1, -2, -1)]
        if self.still or not law[2] + law[3]:
            return math.inf
        return log_up(Fraction(law[0] + law[1], law[2] + law[3]))

    def ingredients(self) -> tuple[Any, ...]:
        return (self.weights,)

    def draw(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        if self.table is None:
            return codes
        n, reach = self.size, (self.table.size - 1) // 2
        narrow = np.dtype(np.int32 if n < 1 << 30 else np.int64)
        place: NDArray[Any] = self.table.sample(None, words(0, 0, None)).astype(narrow)
        place += codes.astype(narrow)
        place -= reach  # from -n to 2n-1, since no step is longer than n
        below_zero = place >> (8 * narrow.itemsize - 1)
        place ^= below_zero  # -1 becomes 0, -2 becomes 1, and so on
        return np.minimum(place, (2 * n - 1) - place, out=below_zero)

    def _walk(self) -> Reflected:
        law = np.ldexp(self.weights.astype(np.float64), -self.word_bits)
        if self.still:
            law[0] = 1.0
        return Reflected(law)


def _folded_table(weights: NDArray[np.uint64], word_bits: int) -> AliasTable | None:
    """The steps -reach … reach as one choice, or none if nobody moves.

    The farthest place of the circle is one place, reached by one step, not by two.
    """
    if not weights[1:].any():
        return None
    reach = int(np.flatnonzero(weights)[-1])
    back = weights[1 : min(reach, weights.size - 2) + 1][::-1]
    return chosen_by(np.concatenate((back, weights[: reach + 1])), -1, word_bits)
