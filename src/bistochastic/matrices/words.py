"""Where random words come from: a place to ask, never a generator to advance.

A sampler asks for the words of a *draw* (0, 1, …: the words one cell consumes) and, where a word
had to be rejected, for another *attempt* at it. Whoever keeps the key answers; the sampler stays a
pure function of the words.
"""

from typing import Any, Protocol, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import ExactnessError

__all__ = ["FixedWords", "Words", "as_words", "restricted", "shifted", "uniform_below"]

Unsigned = NDArray[np.uint64]


class Words(Protocol):
    """Uniform words for each cell of a column."""

    def __call__(self, draw: int, attempt: int, cells: NDArray[Any] | None, /) -> Unsigned:
        """The words of one draw: of all cells, or of those whose positions are given."""


@final
class FixedWords:
    """Words laid out beforehand, one line per draw; there is no second attempt."""

    def __init__(self, words: ArrayLike, cells: int) -> None:
        lines = np.asarray(words)
        if lines.dtype != np.uint64 or lines.ndim not in (1, 2):
            raise ExactnessError(
                f"Words must be 64-bit unsigned integers of shape (draws, cells); "
                f"got {lines.dtype} of shape {lines.shape}."
            )
        self._lines = lines.reshape(1, -1) if lines.ndim == 1 else lines
        if self._lines.shape[1] != cells:
            raise ExactnessError(f"There are {cells} codes but {self._lines.shape[1]} words.")

    def __call__(self, draw: int, attempt: int, cells: NDArray[Any] | None) -> Unsigned:
        """The laid-out words, or a refusal where they have run out."""
        if draw >= len(self._lines):
            raise ExactnessError(
                f"The channel consumes more than the {len(self._lines)} words per cell it was "
                f"given; its `draws` says how many."
            )
        if attempt:
            raise ExactnessError(
                "A word was rejected and there is no other. Give words from a key, which has more."
            )
        line: Unsigned = self._lines[draw]
        return line if cells is None else line[cells]


def as_words(words: Words | ArrayLike, cells: int) -> Words:
    """A source of words, from one or from an array of them that fits the cells."""
    return words if callable(words) else FixedWords(words, cells)


def shifted(words: Words, by: int) -> Words:
    """The same source, from draw `by` on: what the second of two factors sees."""

    def later(draw: int, attempt: int, cells: NDArray[Any] | None) -> Unsigned:
        return words(draw + by, attempt, cells)

    return later


def restricted(words: Words, cells: NDArray[Any]) -> Words:
    """The same source for some of the cells only."""

    def fewer(draw: int, attempt: int, among: NDArray[Any] | None) -> Unsigned:
        return words(draw, attempt, cells if among is None else cells[among])

    return fewer


def uniform_below(sizes: int | Unsigned, draw: int, words: Words, *, word_bits: int) -> Unsigned:
    """A uniform whole number below each size, exactly, by rejecting the words left over.

    A word w answers ⌊w / ⌊2^b / size⌋⌋; the 2^b mod size words that would answer `size` are
    rejected. With 64-bit words and sizes below a billion that happens once in 10^10 cells.
    """
    bound = np.asarray(sizes, dtype=np.uint64)
    share = _share(bound, word_bits)
    answer = words(draw, 0, None) // share * (bound > np.uint64(1))
    attempt = 0
    late = np.flatnonzero(answer >= bound)
    while late.size:
        attempt += 1
        again = words(draw, attempt, late) // (share if share.ndim == 0 else share[late])
        answer[late] = again
        late = late[again >= (bound if bound.ndim == 0 else bound[late])]
    return answer


def _share(sizes: Unsigned, word_bits: int) -> Unsigned:
    """⌊2^b / size⌋ in 64-bit arithmetic, although 2^64 itself does not fit.

    Size 1 would need 2^64; there the answer is 0 whatever the word.
    """
    top = np.uint64((1 << word_bits) - 1)
    share = top // sizes
    exact = (top % sizes == sizes - np.uint64(1)) & (sizes > np.uint64(1))
    return share + exact.astype(np.uint64)
