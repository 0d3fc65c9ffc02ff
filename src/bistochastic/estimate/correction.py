r"""What undoes channels: sums over true cells, from sums over reported ones.

A score $s(x)$ of the true cell x is replaced by $s^*(v) = \sum_x Q_{xv} s(x)$ of the report v, with
$Q = (P^\top)^{-1}$. Then $E[s^*(v) \mid x] = \sum_v P_{xv} s^*(v) = s(x)$: whatever is a sum of
scores over records is estimated without bias, for any scores, and nothing is assumed of how true
cells are distributed.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import SingularMatrixError, TooLargeError
from bistochastic.matrices.base import HOPELESS, Channel
from bistochastic.matrices.checks import DENSE_CELLS, guard_cells

__all__ = ["Correction", "told_apart"]

Array = NDArray[np.float64]

ALIKE = 12  # decimals to which two rows agree that are the same


@final
@dataclass(frozen=True, slots=True, eq=False)
class Correction:
    """The inverses of the channels of several columns; one that went through none has no array.

    >>> from bistochastic import Mixture
    >>> Correction.of([Mixture(2, truth=0.8), 3]).sizes
    (2, 3)
    """

    sizes: tuple[int, ...]
    inverses: tuple[Array | None, ...]  # (Pᵀ)⁻¹ of each factor, None for the identity
    forwards: tuple[Array | None, ...]  # P of each factor

    @classmethod
    def of(cls, factors: Sequence[Channel | int]) -> Self:
        """From channels, and sizes of columns as they are, in the order of the digits of a cell."""
        inverses: list[Array | None] = []
        forwards: list[Array | None] = []
        for factor in factors:
            if isinstance(factor, int):
                inverses.append(None)
                forwards.append(None)
                continue
            guard_cells(factor.size**2, f"What undoes {factor!r}")
            condition = float(factor.condition)
            if not condition < HOPELESS:
                raise SingularMatrixError(_lost(factor))
            inverses.append(np.asarray(factor.rsolve(np.eye(factor.size)), dtype=np.float64))
            forwards.append(np.asarray(factor.to_dense(), dtype=np.float64))
        sizes = tuple(f if isinstance(f, int) else f.size for f in factors)
        if math.prod(sizes) > DENSE_CELLS:
            raise TooLargeError(
                f"These columns have {math.prod(sizes):.3g} cells together, more than the "
                f"{DENSE_CELLS} of which sums are kept. Ask for fewer columns at once."
            )
        return cls(sizes, tuple(inverses), tuple(forwards))

    @property
    def size(self) -> int:
        """The number of cells."""
        return math.prod(self.sizes)

    @property
    def exact(self) -> bool:
        """Whether nothing was randomised: every report is the truth."""
        return all(inverse is None for inverse in self.inverses)

    def matvec(self, sums: Array) -> Array:
        """Q applied to sums over reported cells: unbiased sums over true cells."""
        return self._along(sums, lambda inverse: inverse)

    def squared(self, sums: Array) -> Array:
        """The squares of the entries of Q applied to sums: what a variance is made of."""
        return self._along(sums, np.square)

    def dense(self, most: int) -> Array:
        """Q as an array of cells × cells, refused above so many cells."""
        return self._whole(self.inverses, most)

    def channel(self, most: int) -> Array:
        """P as an array of cells × cells, refused above so many cells."""
        return self._whole(self.forwards, most)

    def _whole(self, factors: tuple[Array | None, ...], most: int) -> Array:
        if self.size > most:
            raise TooLargeError(
                f"The columns that this needs have {self.size} cells together, more than the {most} "
                f"over which every record is spread. Use fewer randomised columns at once."
            )
        full = [
            np.eye(n) if array is None else array
            for n, array in zip(self.sizes, factors, strict=True)
        ]
        return reduce(np.kron, full, np.eye(1))

    def _along(self, sums: Array, made: Callable[[Array], Array]) -> Array:
        rest = sums.shape[1:]
        cube = sums.reshape(*self.sizes, *rest)
        for axis, inverse in enumerate(self.inverses):
            if inverse is not None:
                cube = np.moveaxis(np.tensordot(made(inverse), cube, axes=(1, axis)), 0, axis)
        return cube.reshape(self.size, *rest)


def told_apart(channel: Channel) -> list[list[int]]:
    """The groups of categories whose reports follow the same law: what no estimator can split.

    >>> from bistochastic import Blocks
    >>> told_apart(Blocks([2, 1]))
    [[0, 1], [2]]
    """
    rows = np.round(channel.to_dense(), ALIKE)
    _, group = np.unique(rows, axis=0, return_inverse=True)
    group = group.ravel()
    firsts: dict[int, list[int]] = {}
    for category, number in enumerate(group.tolist()):
        firsts.setdefault(number, []).append(category)
    return list(firsts.values())


def _lost(channel: Channel) -> str:
    """Why a channel cannot be undone, and what is left."""
    groups = told_apart(channel)
    if len(groups) == 1:
        left = "all categories are reported alike, so nothing is left to estimate"
    elif len(groups) < channel.size:
        shown = ", ".join(_positions(group) for group in groups[:6])
        more = ", …" if len(groups) > 6 else ""
        left = (
            f"only {len(groups)} groups of its categories can be told apart, by position: "
            f"{shown}{more}. Estimate frequencies of those groups instead"
        )
    else:
        left = "different shares of its categories give the same reports"
    return f"{channel!r} cannot be undone: {left}."


def _positions(group: list[Any]) -> str:
    if len(group) > 2 and group == list(range(group[0], group[-1] + 1)):
        return f"{group[0]}…{group[-1]}"
    return "+".join(map(str, group))
