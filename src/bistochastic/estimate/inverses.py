r"""Inverses: how what was reported along one axis of a table is undone.

With $Q = (P^\top)^{-1}$ the estimate is $Q\hat\lambda$, and the variance of a cell needs
$Q \circ Q$. Where $P$ is a mixture both are $aI + bJ$, two numbers whatever the size.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.matrices.base import Channel
from bistochastic.matrices.checks import guard_cells
from bistochastic.matrices.inverse import inverse_columns, inverse_squares

__all__ = ["Affine", "Inverse", "Laid", "Solved"]

Floats = NDArray[Any]


class Inverse(ABC):
    """A matrix Q of m estimated levels by n reported codes; vectors stand side by side."""

    __slots__ = ()

    @abstractmethod
    def apply(self, reported: Floats) -> Floats:
        """$Qx$: the estimate behind each reported distribution."""

    @abstractmethod
    def squared(self, reported: Floats) -> Floats:
        r"""$(Q \circ Q)x$, which variances are made of."""

    @abstractmethod
    def transposed(self, wanted: Floats) -> Floats:
        r"""$Q^\top c$: what a report counts for in a sum of levels."""

    @abstractmethod
    def spread(self) -> Floats:
        r"""$\sum_v p_{uv} Q_{uv}^2$ of each level: the square that its own members report."""

    @property
    @abstractmethod
    def affine(self) -> tuple[float, float] | None:
        """The a and b of $aI + bJ$, if Q is that."""


@final
@dataclass(frozen=True, slots=True)
class Affine(Inverse):
    """The inverse of a mixture: a = 1/(p-q), b = -q/(p-q) with q the probability of each lie."""

    n: int
    truth: float
    lie: float

    @property
    def affine(self) -> tuple[float, float]:
        keep = self.truth - self.lie
        return 1 / keep, -self.lie / keep

    def apply(self, reported: Floats) -> Floats:
        own, each = self.affine
        return own * reported + each * reported.sum(axis=0)

    def squared(self, reported: Floats) -> Floats:
        own, each = self.affine
        return own * (own + 2 * each) * reported + each**2 * reported.sum(axis=0)

    def transposed(self, wanted: Floats) -> Floats:
        return self.apply(wanted)

    def spread(self) -> Floats:
        return np.full(self.n, self.own_square)

    @property
    def own_square(self) -> float:
        """The same number for every level."""
        own, each = self.affine
        return self.truth * (own + each) ** 2 + (self.n - 1) * self.lie * each**2


@final
@dataclass(frozen=True, slots=True, eq=False)
class Solved(Inverse):
    """The inverse of any channel that can be undone, by its own formula; never formed whole."""

    channel: Channel

    @property
    def affine(self) -> None:
        return None

    def apply(self, reported: Floats) -> Floats:
        return self.channel.rsolve(reported)

    def squared(self, reported: Floats) -> Floats:
        return inverse_squares(self.channel, reported)

    def transposed(self, wanted: Floats) -> Floats:
        return self.channel.solve(wanted)

    def spread(self) -> Floats:
        n = self.channel.size
        total, truths = np.zeros(n), np.arange(n)
        for codes, part in inverse_columns(self.channel):
            total += (part**2 * self.channel.entry(truths[:, None], codes[None, :])).sum(axis=1)
        return total


@final
@dataclass(frozen=True, slots=True, eq=False)
class Laid(Inverse):
    """A matrix Q laid out: sums of levels, or what is identifiable of a singular channel."""

    channel: Channel
    matrix: Floats  # m×n
    levels: NDArray[np.int64]  # of each true code

    @property
    def affine(self) -> None:
        return None

    def apply(self, reported: Floats) -> Floats:
        return self.matrix @ reported

    def squared(self, reported: Floats) -> Floats:
        return self.matrix**2 @ reported

    def transposed(self, wanted: Floats) -> Floats:
        return self.matrix.T @ wanted

    def spread(self) -> Floats:
        """The mean over the codes of a level, which need not report alike."""
        n, m = self.channel.size, self.matrix.shape[0]
        guard_cells(n * n, "A channel that is laid out")
        own = (self.matrix[self.levels] ** 2 * self.channel.to_dense()).sum(axis=1)
        return np.bincount(self.levels, own, minlength=m) / np.bincount(self.levels, minlength=m)
