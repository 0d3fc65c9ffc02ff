r"""Alias tables whose every probability is an integer, so that what is declared is what is drawn.

A row of $n$ weights that sum to $N = 2^w$ is spread over $K = 2^k \ge n$ slots of capacity
$N / K$. Slot $j$ keeps its first `threshold[j]` words for column $j$ and gives the rest to column
`alias[j]`. The top $k$ bits of a random word choose the slot and the others are compared with the
threshold: one word a cell, no rejection, no branch, and over all $N$ words column $j$ is drawn
exactly as often as its weight says.
"""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from bistochastic.errors import ExactnessError, MatrixError

__all__ = ["AliasTable", "chosen_by", "sums_to_unit"]

Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.integer[Any]]

# Four buffers of this many words stay in a second level cache; half and double are slower.
CHUNK = 1 << 16


def sums_to_unit(weights: Words, word_bits: int = 64, *, axis: int = -1) -> npt.NDArray[np.bool_]:
    """Whether each line of integers sums to exactly two to the power `word_bits`.

    The halves of the integers are summed apart, so a sum of 0 or of twice the unit is not
    mistaken for the unit, as it would be in arithmetic modulo two to the 64.

    >>> bool(sums_to_unit(np.array([2**63, 2**63], dtype=np.uint64)))
    True
    >>> bool(sums_to_unit(np.array([2**63] * 4, dtype=np.uint64)))
    False
    """
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    low = (weights & mask).sum(axis=axis, dtype=np.uint64)
    high = (weights >> half).sum(axis=axis, dtype=np.uint64) + (low >> half)
    unit = 1 << word_bits
    return np.asarray((high == unit >> 32) & (low & mask == unit & 0xFFFFFFFF), np.bool_)


@final
@dataclass(frozen=True, slots=True, eq=False)
class AliasTable:
    """Integer distributions, one per row, each drawn exactly from one random word.

    Attributes:
        weights: The declared distributions; each row sums to two to the power `word_bits`.
        sure: The column of probability 1 in a row whose weights are all 0, otherwise -1.
        threshold: How many words of each slot stay with the slot's own column.
        alias: The column that gets the other words of the slot.
    """

    word_bits: int
    weights: Words  # (rows, n)
    sure: npt.NDArray[np.int64]  # (rows,)
    threshold: Words  # (rows, K)
    alias: npt.NDArray[np.unsignedinteger[Any]]  # (rows, K)

    @classmethod
    def build(
        cls,
        weights: npt.ArrayLike,
        *,
        sure: npt.ArrayLike | None = None,
        word_bits: int = 64,
    ) -> Self:
        """The table of one distribution (n,) or of several (rows, n).

        Args:
            weights: Unsigned integers; each row sums to exactly two to the power `word_bits`.
            sure: Per row the column that has probability 1, or -1. Two to the 64 does not fit an
                unsigned 64-bit integer, so at every word size the weights of such a row are 0.
            word_bits: How many bits a random word has, 8 to 64.

        >>> table = AliasTable.build(np.array([100, 0, 156], dtype=np.uint64), word_bits=8)
        >>> np.bincount(table.sample(None, np.arange(256, dtype=np.uint64))).tolist()
        [100, 0, 156]
        """
        declared = _declared(weights, word_bits)
        certain = np.full(len(declared), -1) if sure is None else np.array(sure, ndmin=1)
        _check_rows(declared, certain, word_bits)
        n = declared.shape[1]
        slots = 1 << _slot_bits(n)
        threshold = np.zeros((len(declared), slots), np.uint64)
        alias = np.zeros(threshold.shape, np.min_scalar_type(n - 1))
        threshold[:, :n] = declared
        cap = np.uint64((1 << word_bits) // slots)
        for row, column in enumerate(certain.tolist()):
            if column < 0:
                _sweep(threshold[row], alias[row], cap)
            else:
                alias[row] = column
        fixed = (declared, certain.astype(np.int64), threshold, alias)
        for array in fixed:
            array.flags.writeable = False
        return cls(word_bits, *fixed)

    @property
    def size(self) -> int:
        """How many columns a row chooses from."""
        return int(self.weights.shape[1])

    def sample(
        self,
        rows: npt.ArrayLike | None,
        words: npt.ArrayLike,
        *,
        out_dtype: npt.DTypeLike | None = None,
    ) -> npt.NDArray[Any]:
        """The column each word draws from its row.

        Args:
            rows: One row number a word, or None for a table of one row.
            words: Unsigned integers below two to the power `word_bits`.
            out_dtype: The type of the answer; the smallest unsigned one unless given.
        """
        drawn = self._checked_words(words)
        codes = self._checked_codes(rows, drawn.shape)
        out = np.empty(drawn.shape, self.alias.dtype if out_dtype is None else out_dtype)
        if out.dtype.kind not in "iuf" or not np.can_cast(self.alias.dtype, out.dtype):
            raise MatrixError(
                f"AliasTable.sample cannot store {self.size} columns as {out.dtype}; "
                f"use {self.alias.dtype} or a wider type."
            )
        self._fill(out.reshape(-1), None if codes is None else codes.reshape(-1), drawn.reshape(-1))
        return out

    def _fill(self, out: npt.NDArray[Any], codes: Integers | None, words: Integers) -> None:
        k = _slot_bits(self.size)
        shift, row_shift = np.uint64(self.word_bits - k), np.uint64(k)
        rest_mask = np.uint64((1 << (self.word_bits - k)) - 1)
        thresholds, aliases = self.threshold.reshape(-1), self.alias.reshape(-1)
        types = [np.dtype(np.uint64)] * 3 + [aliases.dtype] * 2 + [np.dtype(np.bool_)]
        buffers = [np.empty(min(CHUNK, words.size), dtype) for dtype in types]
        for start in range(0, words.size, CHUNK):
            word = words[start : start + CHUNK]
            at, rest, limit, column, other, moved = (buffer[: word.size] for buffer in buffers)
            np.right_shift(word, shift, out=at)
            np.copyto(column, at, casting="unsafe")
            if codes is not None:
                np.copyto(rest, codes[start : start + CHUNK], casting="unsafe")
                np.left_shift(rest, row_shift, out=rest)
                np.bitwise_or(at, rest, out=at)
            slot = at.view(np.int64)
            # Every slot is in range; "clip" only keeps take from copying its output once more.
            np.take(thresholds, slot, out=limit, mode="clip")
            np.take(aliases, slot, out=other, mode="clip")
            np.bitwise_and(word, rest_mask, out=rest)
            np.greater_equal(rest, limit, out=moved)
            # column ^ (column ^ other) * moved: a choice without a branch, at one byte a cell.
            np.bitwise_xor(other, column, out=other)
            np.multiply(other, moved.view(np.uint8), out=other)
            np.bitwise_xor(column, other, out=column)
            out[start : start + CHUNK] = column

    def _checked_words(self, words: npt.ArrayLike) -> Integers:
        drawn = np.asarray(words)
        if drawn.dtype.kind != "u":
            raise MatrixError(f"AliasTable.sample needs unsigned words; got {drawn.dtype}.")
        if drawn.size and int(drawn.max()) >> self.word_bits:
            raise MatrixError(
                f"AliasTable.sample needs words of {self.word_bits} bits; got one of "
                f"{int(drawn.max()).bit_length()} bits. Shift the words down first."
            )
        return drawn

    def _checked_codes(self, rows: npt.ArrayLike | None, shape: tuple[int, ...]) -> Integers | None:
        count = len(self.weights)
        if rows is None:
            if count == 1:
                return None
            raise MatrixError(f"AliasTable.sample of {count} rows needs a row for each word.")
        codes = np.asarray(rows)
        if codes.dtype.kind not in "iu" or codes.shape != shape:
            raise MatrixError(
                f"AliasTable.sample needs one integer row for each word; "
                f"got {codes.dtype} of shape {codes.shape} for words of shape {shape}."
            )
        if codes.size and (int(codes.min()) < 0 or int(codes.max()) >= count):
            raise MatrixError(f"AliasTable.sample needs rows from 0 to {count - 1}; some are not.")
        return codes

    def certify(self) -> None:
        """Recompute every row's weights from thresholds and aliases alone, or raise.

        Raises:
            ExactnessError: If a row of the table draws other than its declared weights.
        """
        for row in range(len(self.weights)):
            if not self._row_is_exact(row):
                raise ExactnessError(
                    f"Row {row} of this AliasTable draws other than its declared weights. "
                    f"Rebuild it with AliasTable.build."
                )

    def _row_is_exact(self, row: int) -> bool:
        threshold, alias, weights = self.threshold[row], self.alias[row], self.weights[row]
        cap, sure = np.uint64((1 << self.word_bits) // threshold.size), self.sure[row]
        if threshold.max() > cap or alias.max() >= self.size:
            return False
        if sure >= 0:
            return bool(not weights.any() and not threshold.any() and (alias == sure).all())
        drawn = threshold.copy()
        np.add.at(drawn, alias.astype(np.intp), cap - threshold)
        # The slots hold the unit together, so weights that reach it leave nothing to padding.
        return bool(
            np.array_equal(drawn[: self.size], weights) and sums_to_unit(weights, self.word_bits)
        )


def chosen_by(weights: Words, sure: int, word_bits: int) -> AliasTable | None:
    """The proved table of one distribution, or none where a single outcome is certain."""
    if sure >= 0:
        return None
    table = AliasTable.build(weights, word_bits=word_bits)
    table.certify()
    return table


def _slot_bits(n: int) -> int:
    return max(1, (n - 1).bit_length())


def _declared(weights: npt.ArrayLike, word_bits: int) -> Words:
    """An own copy of the weights with one row a distribution."""
    array = np.asarray(weights)
    if array.dtype.kind != "u" or array.ndim not in (1, 2) or not array.size:
        raise MatrixError(
            f"AliasTable needs unsigned integer weights of shape (n,) or (rows, n); "
            f"got {array.dtype} of shape {array.shape}."
        )
    if not 8 <= word_bits <= 64 or array.shape[-1] > 1 << (word_bits - 1):
        raise MatrixError(
            f"AliasTable needs word_bits from 8 to 64 and at most half of 2**word_bits columns; "
            f"got word_bits={word_bits} for {array.shape[-1]} columns."
        )
    return np.array(array, np.uint64, ndmin=2)


def _check_rows(weights: Words, sure: Integers, word_bits: int) -> None:
    """Each row is either a full distribution or zeros with a sure column."""
    rows, n = weights.shape
    if sure.shape != (rows,) or sure.dtype.kind != "i" or sure.min() < -1 or sure.max() >= n:
        raise MatrixError(
            f"AliasTable needs in `sure` one signed integer from -1 to {n - 1} for each of "
            f"{rows} rows; got {sure.dtype} of shape {sure.shape} or a column out of range."
        )
    unit_fits = word_bits < 64 and (weights == np.uint64((1 << word_bits) % (1 << 64))).any(axis=1)
    full = sums_to_unit(weights, word_bits) & ~np.asarray(unit_fits)
    wrong = np.flatnonzero(np.where(sure < 0, ~full, weights.any(axis=1)))
    if wrong.size:
        raise ExactnessError(
            f"{wrong.size} of {rows} rows of weights do not sum to exactly 2**{word_bits}, "
            f"first row {wrong[0]}. Round them first; a column of probability 1 goes to `sure`, "
            f"with weights of 0 in its row."
        )


def _sweep(threshold: Words, alias: npt.NDArray[np.unsignedinteger[Any]], cap: np.uint64) -> None:
    """Turn one padded row of weights into thresholds and aliases, in place.

    Heavy columns, those of at least `cap`, fill the light slots in index order. With running
    totals of what light slots lack and of what heavy columns have to spare, who fills which slot
    is one sorted search each way. A heavy column that gives out within a slot keeps what is left,
    and the next heavy column fills up its own slot.
    """
    is_light = threshold < cap
    light, heavy = np.flatnonzero(is_light), np.flatnonzero(~is_light)
    lack = cap - threshold[light]
    lacked = np.cumsum(lack)
    spared = np.cumsum(threshold[heavy] - cap)
    alias[light] = heavy[np.searchsorted(spared, lacked - lack)]
    ends = np.searchsorted(lacked, spared, side="right")
    spent = np.flatnonzero(ends < lacked.size)  # never the last heavy column
    alias[heavy] = heavy
    alias[heavy[spent]] = heavy[spent + 1]
    threshold[heavy] = cap
    # spared < lacked here: the difference is negative, and right again modulo two to the 64.
    threshold[heavy[spent]] = cap + (spared[spent] - lacked[ends[spent]])
