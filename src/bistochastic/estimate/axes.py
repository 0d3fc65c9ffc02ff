r"""Axes: columns that one channel treated, as one side of a table.

Columns protected independently are several axes, whose channel is the Kronecker product; columns
protected together are one; a column that nobody protected is an axis whose channel is the identity.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.estimate.identifiable import identified
from bistochastic.estimate.inverses import Affine, Inverse, Laid, Solved
from bistochastic.matrices.base import HOPELESS, Channel
from bistochastic.matrices.blocks import Blocks
from bistochastic.matrices.mixture import Mixture, identity

__all__ = ["Axis", "along", "lumped"]

Floats = NDArray[Any]
Levels = NDArray[np.int64]
Step = Callable[[Floats], Floats]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """A channel over the codes of an axis, and codes beyond it that pass as they are.

    Each true code counts towards a level: itself, unless sums are asked for or nothing finer can be
    known.
    """

    channel: Channel
    kept: int
    levels: Levels  # of each true code of the channel; empty where each is its own
    inverse: Inverse
    lost: bool  # whether codes are summed because nothing finer is identifiable

    @classmethod
    def of(cls, channel: Channel, *, kept: int = 0, levels: Levels | None = None) -> Self:
        """The axis of a channel, with so many codes beyond it, and the levels that are asked for.

        >>> Axis.of(Blocks([2, 1])).lost
        True
        """
        none = np.zeros(0, np.int64)
        if channel.condition < HOPELESS:
            if levels is None:
                return cls(channel, kept, none, _inverse(channel), False)
            sums = np.zeros((int(levels.max()) + 1, levels.size))
            sums[levels, np.arange(levels.size)] = 1.0
            matrix = channel.solve(np.ascontiguousarray(sums.T)).T
            return cls(channel, kept, levels, Laid(channel, matrix, levels), False)
        found = identified(channel, levels)
        lost = int(found.levels.max()) < (channel.size - 1 if levels is None else levels.max())
        inverse = Laid(channel, found.matrix, found.levels)
        return cls(channel, kept, found.levels, inverse, bool(lost))

    @classmethod
    def passing(cls, n: int) -> Self:
        """The axis of a column that nobody protected."""
        return cls.of(identity(n))

    @property
    def size(self) -> int:
        """How many codes are reported."""
        return self.channel.size + self.kept

    @property
    def count(self) -> int:
        """How many levels are estimated."""
        own = int(self.levels.max()) + 1 if self.levels.size else self.channel.size
        return own + self.kept

    def undo(self, reported: Floats) -> Floats:
        """Estimates of the levels."""
        return self._beside(reported, self.inverse.apply)

    def squared(self, reported: Floats) -> Floats:
        """The same with every entry of the inverse squared."""
        return self._beside(reported, self.inverse.squared)

    def transposed(self, wanted: Floats) -> Floats:
        """What each report counts for in a sum of levels."""
        return self._beside(wanted, self.inverse.transposed)

    def forward(self, true: Floats) -> Floats:
        """How true codes are reported."""
        return self._beside(true, self.channel.rmatvec)

    def backward(self, ratios: Floats) -> Floats:
        """The mean of a number over the reports of each true code."""
        return self._beside(ratios, self.channel.matvec)

    def summed(self, true: Floats) -> Floats:
        """True codes added up to their levels."""
        if not self.levels.size:
            return true
        table = np.zeros((self.count, *true.shape[1:]))
        np.add.at(table, self.all_levels, true)
        return table

    def spread(self) -> Floats:
        """The mean square that the members of each level report."""
        return np.concatenate([self.inverse.spread(), np.ones(self.kept)])

    def whole(self) -> tuple[Floats, Floats]:
        """The sum over all true codes of the squares that they report, and how many are members."""
        reported = self.forward(np.ones((self.size, 1)))
        members = np.bincount(self.all_levels, minlength=self.count)
        return self.squared(reported)[:, 0], members.astype(np.float64)

    @property
    def spread_of_each(self) -> float:
        """The same where the inverse is $aI + bJ$, and then all levels have one."""
        return self.inverse.own_square if isinstance(self.inverse, Affine) else math.nan

    @property
    def all_levels(self) -> Levels:
        """The level of each true code, those that pass too."""
        own = self.levels if self.levels.size else np.arange(self.channel.size)
        return np.concatenate([own, int(own.max()) + 1 + np.arange(self.kept)])

    @property
    def affine(self) -> tuple[float, float] | None:
        """The a and b of an inverse $aI + bJ$, the same for every code; none for another."""
        return None if self.kept and self.noisy else self.inverse.affine

    @property
    def noisy(self) -> bool:
        """Whether anything is hidden."""
        return self.inverse.affine != (1.0, 0.0)

    def _beside(self, table: Floats, act: Step) -> Floats:
        """Act on what the channel reports, and pass the codes beyond it as they are."""
        if not self.kept:
            return act(table)
        own = table.shape[0] - self.kept
        return np.concatenate([act(table[:own]), table[own:]])


def _inverse(channel: Channel) -> Inverse:
    if isinstance(channel, Mixture):
        return Affine(channel.n, channel.truth, channel.lie)
    if isinstance(channel, Blocks):  # all of size one, or it were singular
        return Affine(channel.size, 1.0, 0.0)
    return Solved(channel)


def lumped(channel: Channel, sizes: Sequence[int], wanted: Sequence[int]) -> Channel | None:
    """The channel that some columns of a group go through by themselves, if there is one.

    In a mixture over N cells, of which M share the values asked for, a report does so with the
    probability of truth plus M - 1 lies, or of M lies, whatever the other columns hold.

    >>> round(lumped(Mixture(6, truth=0.5), [2, 3], [0]).truth, 12)
    0.7
    """
    cells = int(np.prod([sizes[place] for place in wanted], dtype=object))
    share = channel.size // cells
    if isinstance(channel, Mixture):
        if cells == 1:
            return identity(1)
        return Mixture(cells, truth=min(channel.truth + (share - 1) * channel.lie, 1.0))
    if isinstance(channel, Blocks) and channel.sizes.size == 1:
        return Blocks([cells])
    return None


def along(axes: Sequence[Axis], table: Floats, step: Callable[[Axis], Step]) -> Floats:
    """Act along each axis of a table in turn."""
    for place, axis in enumerate(axes):
        front = np.moveaxis(table, place, 0)
        acted = step(axis)(np.ascontiguousarray(front).reshape(front.shape[0], -1))
        table = np.moveaxis(acted.reshape(acted.shape[0], *front.shape[1:]), 0, place)
    return np.ascontiguousarray(table)
