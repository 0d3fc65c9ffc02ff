"""A numeric column masked stretch by stretch: what some ranks need, without the values of others.

Drawing asks for the words of each rank alone, blocks for those of their own ranks. The other ways
of permuting go through the ranks in turn. Their order follows from the number of individuals and
the words, so whoever cuts the column computes it once, and no value is needed for it.
"""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import MaskingError
from bistochastic.keystream import Key, Rows
from bistochastic.masking.averaging import refuse_determined
from bistochastic.masking.numeric import How, individuals_scope, refuse_listed, sampled, sources
from bistochastic.matrices.base import Bistochastic
from bistochastic.matrices.blocks import Blocks, BlocksForm
from bistochastic.matrices.exact import Exact

__all__ = ["Means", "Moves"]

Integers = NDArray[np.int64]

LARGEST = 1 << 20  # ranks of a block that are put in order again by everybody who needs some


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Moves:
    """From which rank each rank takes its value, to draw or to permute."""

    form: Exact
    rows: Rows
    how: How
    whole: Integers | None  # of all ranks, where no stretch can be had alone

    @classmethod
    def of(
        cls,
        matrix: Bistochastic,
        key: Key,
        *,
        how: How,
        release: str,
        column: str,
        insist: bool = False,
    ) -> Self:
        """As `draw` and `permute` move values, with the same words; see there."""
        exact = sampled(matrix, how)
        if how == "permute":
            refuse_listed(matrix, exact, insist)
        rows = key.rows(individuals_scope(exact, release, column), purpose=how)
        alone = how == "draw" or (
            isinstance(exact, BlocksForm) and int(exact.matrix.sizes.max()) <= LARGEST
        )
        whole = None if alone else sources(exact, rows.words(0, exact.size), how)
        return cls(exact, rows, how, whole)

    def came(self, start: int, stop: int) -> Integers:
        """The ranks from which those from `start` up to, not including, `stop` take their values.

        >>> words = {"how": "permute", "release": "2026", "column": "income"}
        >>> moves = Moves.of(Blocks([3, 2]), Key(bytes(32)), **words)
        >>> bool((moves.came(0, 5)[2:4] == moves.came(2, 4)).all())
        True
        """
        if self.whole is not None:
            return self.whole[start:stop]
        if self.how == "draw":
            words = self.rows.words(start, stop)
            return self.form.sample(np.arange(start, stop), words).astype(np.int64, copy=False)
        if stop <= start:
            return np.zeros(0, dtype=np.int64)
        blocks: Any = self.form
        ends = np.cumsum(blocks.matrix.sizes)
        first, last = np.searchsorted(ends, [start, stop - 1], side="right")
        inside = blocks.matrix.sizes[first : last + 1]
        begin = int(ends[first] - inside[0])
        part = BlocksForm(Blocks(inside), blocks.word_bits)
        came = sources(part, self.rows.words(begin, int(ends[last])), "permute") + begin
        return came[start - begin : stop - begin]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Means:
    """The averages of blocks, each of which tells its members' mean and nothing else."""

    matrix: Blocks

    @classmethod
    def of(cls, matrix: Bistochastic, *, insist: bool = False) -> Self:
        """As `average` does, for blocks; any other matrix mixes values that lie far apart."""
        if not isinstance(matrix, Blocks):
            raise MaskingError(
                f"{matrix!r} averages over all individuals at once, which needs them on one "
                f"machine. Average with blocks, draw or permute; or use the local engine."
            )
        if not insist:
            refuse_determined(matrix)
        return cls(matrix)

    def block_of(self, start: int, stop: int) -> Integers:
        """The blocks of the ranks from `start` up to, not including, `stop`."""
        ends = np.cumsum(self.matrix.sizes)
        return np.searchsorted(ends, np.arange(start, stop), side="right").astype(np.int64)

    def over(self, first: int, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The averages of whole blocks that follow each other, the first of this number."""
        ends = np.cumsum(self.matrix.sizes[first:])
        count = int(np.searchsorted(ends, values.size)) + 1
        mine = Blocks(self.matrix.sizes[first : first + count])
        return mine.rmatvec(values).astype(np.float64, copy=False)
