r"""Birkhoff: a lottery over permutations, $P = \sum_j \lambda_j P_j$.

Every bistochastic matrix is one (Birkhoff 1946, von Neumann 1953), with at most n² - 2n + 2 terms.
"""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from bistochastic.errors import MatrixError
from bistochastic.matrices.alias import AliasTable, chosen_by
from bistochastic.matrices.base import Bistochastic, Truthfulness, Vector, refuse_singular
from bistochastic.matrices.checks import (
    as_line,
    frozen,
    guard_cells,
    guard_line,
    is_order,
    probabilities,
)
from bistochastic.matrices.decomposition import birkhoff_terms
from bistochastic.matrices.dense import column_log_ratio
from bistochastic.matrices.entries import Entries, Part
from bistochastic.matrices.exact import Exact, Extremes, bits_below, largest_log_ratio
from bistochastic.matrices.rounding import round_vector
from bistochastic.matrices.spectrum import dense_condition
from bistochastic.matrices.words import Words

__all__ = ["Birkhoff", "decompose"]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Birkhoff(Bistochastic):
    """With probability `weights[j]`, u is reported as `permutations[j][u]`.

    >>> Birkhoff([0.5, 0.5], [[0, 1, 2], [1, 2, 0]]).bits
    1.0
    """

    weights: Vector
    permutations: NDArray[np.int64]

    def __init__(self, weights: ArrayLike, permutations: ArrayLike) -> None:
        chances = probabilities(weights, "Birkhoff.weights")
        try:
            orders = np.asarray(permutations)
        except ValueError:
            raise MatrixError("Birkhoff needs permutations of one length.") from None
        if orders.ndim != 2 or not np.issubdtype(orders.dtype, np.integer) or not orders.shape[1]:
            raise MatrixError("Birkhoff needs a list of permutations, each of the same length.")
        if len(orders) != chances.size:
            raise MatrixError(
                f"Birkhoff needs a weight for each permutation; got {chances.size} weights and "
                f"{len(orders)} permutations."
            )
        wrong = [j for j, order in enumerate(orders) if not is_order(order)]
        if wrong:
            raise MatrixError(
                f"Birkhoff needs permutations of 0 … {orders.shape[1] - 1}; number {wrong[0]} "
                f"is none."
            )
        object.__setattr__(self, "weights", chances)
        object.__setattr__(self, "permutations", frozen(orders.astype(np.int64)))

    @property
    def size(self) -> int:
        return int(self.permutations.shape[1])

    @property
    def T(self) -> Self:
        inverses = np.empty_like(self.permutations)
        np.put_along_axis(inverses, self.permutations, np.arange(self.size)[None, :], axis=1)
        return type(self)(self.weights, inverses)

    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        u, v = np.broadcast_arrays(np.asarray(u), np.asarray(v))
        total = np.zeros(u.shape)
        for weight, order in zip(self.weights, self.permutations, strict=True):
            total += weight * (order[u] == v)
        return total

    def matvec(self, x: ArrayLike) -> Vector:
        line = as_line(x, self.size)
        result = np.zeros_like(line)
        for weight, order in zip(self.weights, self.permutations, strict=True):
            result += weight * line[order]
        return result

    def solve(self, y: ArrayLike) -> Vector:
        line = as_line(y, self.size)
        refuse_singular(self)
        return np.linalg.solve(self.to_dense(), line)  # a sum of permutations has no formula

    def diagonal(self) -> Vector:
        stays = self.permutations == np.arange(self.size)
        return self.weights @ stays

    def entries(self) -> Entries:
        return self._entries(self.weights)

    @property
    def bits(self) -> float:
        return self.entries().bits

    @property
    def min_row_bits(self) -> float:
        return self.entries().min_row_bits

    @property
    def epsilon(self) -> float:
        cells = self._merged(self.weights).tocsc()
        low = np.zeros(self.size)
        full = np.flatnonzero(np.diff(cells.indptr) == self.size)
        low[full] = cells.min(axis=0).toarray().ravel()[full]
        return column_log_ratio(low, cells.max(axis=0).toarray().ravel())

    @property
    def truthfulness(self) -> Truthfulness:
        return Truthfulness.of(self.diagonal())

    @property
    def condition(self) -> float:
        return dense_condition(self.to_dense())

    def integers(self, word_bits: int) -> "tuple[BirkhoffForm, int]":
        weights, sure = round_vector(self.weights, word_bits=word_bits)
        form = BirkhoffForm(self, weights, sure, chosen_by(weights, sure, word_bits), word_bits)
        lost = form.cells().nnz - self._merged(self.weights).nnz
        return form, abs(lost)

    def _merged(self, weights: Vector) -> Any:
        """The matrix as a sparse one, cells that several permutations share added up."""
        terms = np.flatnonzero(weights > 0)
        guard_cells(terms.size * self.size, "The merged cells of a Birkhoff sum")
        rows = np.tile(np.arange(self.size), terms.size)
        data = np.repeat(weights[terms], self.size)
        columns = self.permutations[terms].ravel()
        return sparse.csr_matrix((data, (rows, columns)), shape=(self.size, self.size))

    def _entries(self, weights: Vector) -> Entries:
        cells = self._merged(weights)
        filled = np.diff(cells.indptr)
        width = int(filled.max())
        values, present = np.zeros((self.size, width)), np.zeros((self.size, width))
        rows = np.repeat(np.arange(self.size), filled)
        places = np.arange(cells.nnz) - np.repeat(cells.indptr[:-1], filled)
        values[rows, places], present[rows, places] = cells.data, 1
        zeros = Part(np.zeros((1, 1)), (self.size - filled)[:, None])
        return Entries((Part(values, present), zeros), np.ones(self.size, dtype=np.int64))


def decompose(matrix: Bistochastic) -> Birkhoff:
    """Any bistochastic matrix as a lottery over at most n² - 2n + 2 permutations.

    >>> from bistochastic import Mixture
    >>> lottery = decompose(Mixture(3, truth=0.5))
    >>> bool(abs(lottery.to_dense() - Mixture(3, truth=0.5).to_dense()).max() < 1e-12)
    True
    """
    return Birkhoff(*birkhoff_terms(matrix.to_dense()))


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BirkhoffForm(Exact):
    """The weights in whole units: one word picks the permutation."""

    matrix: Birkhoff
    weights: NDArray[np.uint64]
    sure: int
    table: AliasTable | None
    word_bits: int

    @property
    def size(self) -> int:
        return self.matrix.size

    @property
    def draws(self) -> int:
        return 0 if self.sure >= 0 else 1

    @property
    def denominators(self) -> tuple[int, ...]:
        return (1 << self.word_bits,)

    def integer_row(self, u: int) -> tuple[list[int], int]:
        row = [0] * self.size
        for j, order in enumerate(self.matrix.permutations):
            row[int(order[u])] += self._weight(j)
        return row, 1 << self.word_bits

    def entries(self) -> Entries:
        return self.matrix._entries(self._floats())

    def entropy_range(self) -> tuple[float, float]:
        return bits_below(self.entries())

    def log_ratio(self) -> float:
        if self.size == 1:
            return 0.0
        filled = np.diff(self.cells().tocsc().indptr)
        if (filled < self.size).any():
            return np.inf
        guard_line(self.size**2, "The integer cells of this lottery")
        cells = np.zeros((self.size, self.size), dtype=np.uint64)
        for weight, order in zip(self.weights, self.matrix.permutations, strict=True):
            cells[np.arange(self.size), order] += weight
        return largest_log_ratio(Extremes(cells.min(axis=0), cells.max(axis=0)))

    def ingredients(self) -> tuple[Any, ...]:
        return (self.weights, self.sure, self.matrix.permutations.ravel())

    def draw(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        if self.table is None:
            return self.matrix.permutations[self.sure][codes]
        return self.matrix.permutations[self.table.sample(None, words(0, 0, None)), codes]

    def cells(self) -> Any:
        """The integer matrix as a sparse one of floats."""
        return self.matrix._merged(self._floats())

    def _weight(self, j: int) -> int:
        return 1 << self.word_bits if j == self.sure else int(self.weights[j])

    def _floats(self) -> Vector:
        floats = np.ldexp(self.weights.astype(np.float64), -self.word_bits)
        if self.sure >= 0:
            floats[self.sure] = 1.0
        return floats
