r"""Window: exchange with anyone at most w ranks away; what rank swapping does, made bistochastic.

$p_{uv} = 1/(2w+1)$ within the band $|u-v| \le w$; the mass that border rows miss stays on their
diagonal. So the matrix is symmetric, which a truncated and renormalised window is not.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from bistochastic.errors import MatrixError
from bistochastic.matrices.base import Bistochastic, Truthfulness, Vector
from bistochastic.matrices.checks import as_line, as_number, as_size, guard_line
from bistochastic.matrices.entries import Entries, Part
from bistochastic.matrices.exact import Exact, bits_below, log_up
from bistochastic.matrices.spectrum import inverse_norm, lost_pivot, plausible
from bistochastic.matrices.words import Words

__all__ = ["Window"]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Window(Bistochastic):
    """Each of the 2w + 1 ranks around u is equally likely; what lies beyond the ends stays at u.

    >>> Window(4, width=1).to_dense()[0].round(3)
    array([0.667, 0.333, 0.   , 0.   ])
    """

    n: int
    width: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", as_size(self.n, "Window"))
        width = self.width
        if as_number(width, "Window.width") < 0 or int(width) != width:
            raise MatrixError(f"Window needs a whole width >= 0; got {width!r}.")
        object.__setattr__(self, "width", int(width))

    @property
    def size(self) -> int:
        return self.n

    @property
    def span(self) -> int:
        """2w + 1, the number of ranks a full window holds."""
        return 2 * self.width + 1

    @property
    def T(self) -> Self:
        return self

    def edges(self, u: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first rank within the window of u, and the first beyond it."""
        at = np.asarray(u, dtype=np.int64)
        return np.maximum(at - self.width, 0), np.minimum(at + self.width + 1, self.n)

    def missing(self, u: ArrayLike) -> NDArray[np.int64]:
        """How many ranks of the window of u lie beyond the ends."""
        low, high = self.edges(u)
        return self.span - (high - low)

    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        u, v = np.broadcast_arrays(np.asarray(u, dtype=np.int64), np.asarray(v, dtype=np.int64))
        inside = (np.abs(u - v) <= self.width).astype(np.float64)
        return (inside + (u == v) * self.missing(u)) / self.span

    def matvec(self, x: ArrayLike) -> Vector:
        line = as_line(x, self.n)
        missing = self.missing(np.arange(self.n)).reshape(-1, *[1] * (line.ndim - 1))
        return (_window_sums(line, self.width) + missing * line) / self.span

    def solve(self, y: ArrayLike) -> Vector:
        line = as_line(y, self.n)
        return plausible(self, self._solved(line), line)

    def diagonal(self) -> Vector:
        guard_line(self.n, "This diagonal")
        return (1 + self.missing(np.arange(self.n))) / self.span

    def entries(self) -> Entries:
        return self._entries(1 / self.span)

    @property
    def bits(self) -> float:
        return self.entries().bits

    @property
    def min_row_bits(self) -> float:
        return self.entries().min_row_bits

    @property
    def epsilon(self) -> float:
        if self.n == 1:
            return 0.0
        if self.width < self.n - 1:
            return math.inf
        return math.log(self.span - self.n + 1)

    @property
    def truthfulness(self) -> Truthfulness:
        kinds, repeats = self._kinds()
        stay = (1 + self.missing(kinds)) / self.span
        return Truthfulness(float(stay.min()), float(np.dot(stay, repeats / self.n)))

    @property
    def condition(self) -> float:
        return inverse_norm(self, self._solved)

    def integers(self, word_bits: int) -> "tuple[WindowForm, int]":
        weight = (1 << word_bits) // self.span if self.width else 0
        low, high = self.edges(np.arange(min(self.width, self.n)))
        inside = 2 * int((high - low - 1).sum()) + max(self.n - 2 * self.width, 0) * 2 * self.width
        return WindowForm(self, weight, word_bits), inside * int(weight == 0)

    def lost_steps(self) -> Vector:
        """A basis of the directions x with Px = 0, as lines of span entries that x repeats.

        For n of at least a span: the prefix sums of x are then the same a span apart.
        """
        heads = _border_system(self).toarray() if self.width else np.zeros((0, 0))
        _, values, vectors = np.linalg.svd(heads)
        lost = vectors[values <= len(heads) * np.finfo(np.float64).eps * values.max(initial=1.0)]
        steps = np.diff(np.pad(lost, ((0, 0), (1, 1))), axis=1)
        return steps / np.abs(steps).max(axis=1, keepdims=True, initial=0.0)

    def _kinds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """One row of each kind, counted from an end, and how many rows are of it."""
        distinct = min((self.n + 1) // 2, self.width + 1)
        kinds = np.arange(distinct)
        repeats = np.full(distinct, 2, dtype=np.int64)
        repeats[-1] = self.n - 2 * (distinct - 1)
        return kinds, repeats

    def _entries(self, unit: float) -> Entries:
        kinds, repeats = self._kinds()
        low, high = self.edges(kinds)
        others = (high - low - 1)[:, None]
        parts = (
            Part(np.array([[unit]]), others),
            Part(1 - unit * others, np.ones((1, 1))),
            Part(np.zeros((1, 1)), self.n - 1 - others),
        )
        return Entries(parts, repeats)

    def _solved(self, line: Vector) -> Vector:
        """Solve through prefix sums, then once more for what rounding left over."""
        if not self.width or self.n == 1:
            return line.copy()
        try:
            borders = splu(_border_system(self))
        except RuntimeError:  # a pivot that is exactly zero
            return np.full_like(line, np.inf)
        if lost_pivot(borders.U.diagonal()):
            return np.full_like(line, np.inf)
        first = _undo_window(self, borders, line)
        if not np.isfinite(first).all():
            return first
        return first + _undo_window(self, borders, line - self.matvec(first))


def _window_sums(line: Vector, width: int) -> Vector:
    """Sums over |u - v| ≤ width, as the tail of one block plus the head of the next.

    A running sum over the whole line would lose digits; a sum within two blocks does not.
    """
    n, span = line.shape[0], 2 * width + 1
    blocks = -(-(n + 2 * width) // span)
    padded = np.zeros((blocks * span, *line.shape[1:]))
    padded[width : width + n] = line
    folded = padded.reshape(blocks, span, *line.shape[1:])
    heads = np.cumsum(folded, axis=1).reshape(padded.shape)
    tails = np.cumsum(folded[:, ::-1], axis=1)[:, ::-1].reshape(padded.shape)
    sums = tails[:n].copy()
    starts_block = np.arange(n) % span == 0  # there the tail is the whole window already
    sums += np.where(
        starts_block.reshape(-1, *[1] * (line.ndim - 1)), 0.0, heads[2 * width : 2 * width + n]
    )
    return sums


# Undoing a window. Written in the prefix sums X_k = x_0 + … + x_{k-1}, row u says
#     X_high - X_low + missing·(X_{u+1} - X_u) = span·y_u.
# An interior row misses nothing: it only links two sums a span apart. So every X is known up to the
# sum at the head of its residue class, and what remains is a sparse system for those few sums, made
# of the border rows alone: O(n + w) in all.


def _undo_window(matrix: Window, borders: Any, y: Vector) -> Vector:
    """The x with Px = y, given the factors of the border system."""
    n, classes = matrix.n, _classes(matrix)
    columns = y.reshape(n, -1) * matrix.span
    known = _chained(matrix, columns)
    border, terms = _border_terms(matrix)
    right = columns[border]
    for position, weight in terms:
        right = right - weight[:, None] * known[position]
    heads = np.zeros((classes, columns.shape[1]))
    heads[1:] = borders.solve(right)  # X_0 is an empty sum
    prefix = known + heads[np.arange(n + 1) % classes]
    result: Vector = np.diff(prefix, axis=0).reshape(y.shape)
    return result


def _classes(matrix: Window) -> int:
    """How many prefix sums are not linked to an earlier one by an interior row."""
    return matrix.span if matrix.n >= matrix.span else matrix.n + 1


def _chained(matrix: Window, columns: Vector) -> Vector:
    """Each prefix sum relative to the head of its residue class, from the interior rows."""
    n, span, width = matrix.n, matrix.span, matrix.width
    interior = columns[width : n - width] if n >= span else columns[:0]
    steps = -(-(n + 1) // span)
    chain = np.zeros((steps * span, columns.shape[1]))
    chain[span : span + len(interior)] = interior
    summed: Vector = chain.reshape(steps, span, -1).cumsum(axis=0).reshape(chain.shape)
    return summed[: n + 1]


def _border_terms(
    matrix: Window,
) -> tuple[NDArray[np.int64], list[tuple[NDArray[np.int64], Vector]]]:
    """The rows whose window is cut, and which prefix sums each adds up with which weights."""
    n, width = matrix.n, matrix.width
    if n < matrix.span:
        border = np.arange(n)
    else:
        border = np.append(np.arange(width), np.arange(n - width, n))
    low, high = matrix.edges(border)
    missing = matrix.missing(border).astype(np.float64)
    ones = np.ones(border.size)
    return border, [(high, ones), (low, -ones), (border + 1, missing), (border, -missing)]


def _border_system(matrix: Window) -> Any:
    """The border rows as a sparse system for the head of each residue class but X_0."""
    border, terms = _border_terms(matrix)
    rows = np.tile(np.arange(border.size), len(terms))
    classes = _classes(matrix)
    where = np.concatenate([position for position, _ in terms]) % classes
    weights = np.concatenate([weight for _, weight in terms])
    system = sparse.csc_matrix((weights, (rows, where)), shape=(border.size, classes))[:, 1:]
    return system.tocsc()


@final
@dataclass(frozen=True, slots=True, repr=False)
class WindowForm(Exact):
    """One weight for every other rank within the window, the rest for staying."""

    matrix: Window
    weight: int
    word_bits: int

    @property
    def size(self) -> int:
        return self.matrix.n

    @property
    def draws(self) -> int:
        return 1 if self.weight else 0

    @property
    def denominators(self) -> tuple[int, ...]:
        return (1 << self.word_bits,)

    def integer_row(self, u: int) -> tuple[list[int], int]:
        guard_line(self.size, "This row")
        low, high = (int(edge) for edge in self.matrix.edges(u))
        row = [self.weight if low <= v < high else 0 for v in range(self.size)]
        row[u] = (1 << self.word_bits) - self.weight * (high - low - 1)
        return row, 1 << self.word_bits

    def entries(self) -> Entries:
        return self.matrix._entries(math.ldexp(self.weight, -self.word_bits))

    def entropy_range(self) -> tuple[float, float]:
        return bits_below(self.entries())

    def log_ratio(self) -> float:
        if self.size == 1:
            return 0.0
        if self.matrix.width < self.size - 1 or not self.weight:
            return math.inf
        stay = (1 << self.word_bits) - self.weight * (self.size - 1)
        return log_up(Fraction(max(stay, self.weight), min(stay, self.weight)))

    def ingredients(self) -> tuple[Any, ...]:
        return (self.matrix.width, self.weight)

    def draw(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        if not self.weight:
            return codes
        true = codes.astype(np.int64)
        low, high = self.matrix.edges(true)
        share = words(0, 0, None) // np.uint64(self.weight)
        # The k-th share is the k-th other rank of the window; the shares left over stay.
        stays = share >= (high - low - 1).astype(np.uint64)
        other = low + share.astype(np.int64)
        other += other >= true
        return np.where(stays, true, other)
