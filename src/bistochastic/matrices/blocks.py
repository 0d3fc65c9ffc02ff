r"""Blocks: within each block everything is reported as anything, equally likely.

Block-diagonal, each block $J/n_l$: k-anonymity in Anatomy's sense, and microaggregation, with
$k = \min n_l$ (Ruiz & Domingo-Ferrer 2022, section 2.3). Bits are $\sum_l (n_l/n)\log_2 n_l$.
"""

import math
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MatrixError
from bistochastic.matrices.base import Bistochastic, Truthfulness, Vector, refuse_singular
from bistochastic.matrices.checks import as_line, as_size, frozen, guard_line
from bistochastic.matrices.entries import Entries, Part
from bistochastic.matrices.exact import Exact, bits_below
from bistochastic.matrices.words import Words, uniform_below

__all__ = ["Blocks", "secrecy"]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Blocks(Bistochastic):
    """Consecutive blocks of the given sizes, each one hiding its members perfectly.

    >>> round(Blocks([3, 3, 3, 3]).beta, 4)
    0.4421
    """

    sizes: NDArray[np.int64]

    def __init__(self, sizes: ArrayLike) -> None:
        given = np.asarray(sizes)
        if given.ndim != 1 or given.size == 0 or not np.issubdtype(given.dtype, np.integer):
            raise MatrixError("Blocks needs a non-empty list of whole block sizes.")
        if given.min() < 1:
            raise MatrixError(f"Blocks needs sizes >= 1; got one of {int(given.min())}.")
        object.__setattr__(self, "sizes", frozen(given.astype(np.int64)))

    @property
    def size(self) -> int:
        return int(self.sizes.sum())

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first position of each block."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def T(self) -> Self:
        return self

    def block_of(self, positions: ArrayLike) -> NDArray[np.int64]:
        """The block in which each position lies."""
        where = np.asarray(positions)
        if where.size > self.size // 8:  # worth writing the answer down for every position
            return np.repeat(np.arange(self.sizes.size), self.sizes)[where]
        return np.searchsorted(np.cumsum(self.sizes), where, side="right").astype(np.int64)

    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        block = self.block_of(u)
        return np.where(block == self.block_of(v), 1 / self.sizes[block], 0.0)

    def matvec(self, x: ArrayLike) -> Vector:
        line = as_line(x, self.size)
        sums = np.add.reduceat(line, self.starts, axis=0)
        means = sums / self.sizes.reshape(-1, *[1] * (line.ndim - 1))
        return np.repeat(means, self.sizes, axis=0)

    def solve(self, y: ArrayLike) -> Vector:
        line = as_line(y, self.size)
        refuse_singular(self)
        return line.copy()  # all blocks have size one: the identity

    def diagonal(self) -> Vector:
        guard_line(self.size, "This diagonal")
        return np.repeat(1 / self.sizes, self.sizes)

    def entries(self) -> Entries:
        sizes, blocks = np.unique(self.sizes, return_counts=True)
        inside = Part((1 / sizes)[:, None], sizes[:, None])
        outside = Part(np.zeros((1, 1)), (self.size - sizes)[:, None])
        return Entries((inside, outside), sizes * blocks)

    @property
    def bits(self) -> float:
        sizes, blocks = np.unique(self.sizes, return_counts=True)
        return float(np.dot(sizes * blocks / self.size, np.log2(sizes)))

    @property
    def min_row_bits(self) -> float:
        return math.log2(int(self.sizes.min()))

    @property
    def epsilon(self) -> float:
        return 0.0 if self.sizes.size == 1 else math.inf

    @property
    def truthfulness(self) -> Truthfulness:
        return Truthfulness(1 / int(self.sizes.max()), self.sizes.size / self.size)

    @property
    def condition(self) -> float:
        return 1.0 if self.sizes.max() == 1 else math.inf

    def integers(self, word_bits: int) -> "tuple[BlocksForm, int]":
        return BlocksForm(self, word_bits), 0


def secrecy(n: int) -> Blocks:
    """The channel that reports everything as anything: all the bits, and nothing to learn.

    >>> secrecy(4).bits
    2.0
    """
    return Blocks([as_size(n, "secrecy")])


def near_equal_blocks(n: int, k: int) -> Blocks:
    """As many blocks as sizes of at least k allow, their sizes differing by at most one."""
    blocks = n // k
    sizes = np.full(blocks, n // blocks, dtype=np.int64)
    sizes[: n % blocks] += 1
    return Blocks(sizes)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BlocksForm(Exact):
    """Ones within each block, over the size of the block: nothing was rounded."""

    matrix: Blocks
    word_bits: int

    @property
    def size(self) -> int:
        return self.matrix.size

    @property
    def draws(self) -> int:
        return 0 if self.matrix.sizes.max() == 1 else 1

    @property
    def denominators(self) -> tuple[int, ...]:
        return tuple(int(size) for size in np.unique(self.matrix.sizes))

    def integer_row(self, u: int) -> tuple[list[int], int]:
        guard_line(self.size, "This row")
        block = int(self.matrix.block_of(u))
        start, size = int(self.matrix.starts[block]), int(self.matrix.sizes[block])
        return [int(start <= v < start + size) for v in range(self.size)], size

    def entries(self) -> Entries:
        return self.matrix.entries()

    def entropy_range(self) -> tuple[float, float]:
        return bits_below(self.entries())

    def log_ratio(self) -> float:
        return self.matrix.epsilon

    def ingredients(self) -> tuple[Any, ...]:
        return (self.matrix.sizes,)

    def draw(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        if self.draws == 0:
            return codes
        if self.matrix.sizes.size == 1:
            return uniform_below(self.size, 0, words, word_bits=self.word_bits)
        block = self.matrix.block_of(codes)
        size = self.matrix.sizes[block].astype(np.uint64)
        within = uniform_below(size, 0, words, word_bits=self.word_bits)
        return self.matrix.starts[block] + within.astype(np.int64)
