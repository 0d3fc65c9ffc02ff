r"""What undoes channels: sums over true cells, from sums over reported ones.

A score $s(x)$ of the true cell x is replaced by $s^*(v) = \sum_x Q_{xv} s(x)$ of the report v, with
$Q = (P^\top)^{-1}$. Then $E[s^*(v) \mid x] = \sum_v P_{xv} s^*(v) = s(x)$: whatever is a sum of
scores over records is estimated without bias, for any scores, and nothing is assumed of how true
cells are distributed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import SingularMatrixError, TooLargeError
from bistochastic.estimate.axes import Axis, along
from bistochastic.matrices.base import Channel
from bistochastic.matrices.checks import DENSE_CELLS

__all__ = ["MOST_CELLS", "Correction"]

Array = NDArray[Any]

MOST_CELLS = 2000  # over which every record is spread
SHOWN = 6  # groups named in a message


@final
@dataclass(frozen=True, slots=True, eq=False)
class Correction:
    """The axes of several columns, undone together; the last column changes fastest.

    >>> from bistochastic import Mixture
    >>> Correction.of([Mixture(2, truth=0.8), 3]).sizes
    (2, 3)
    """

    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        if max(self.size, self.reports) > DENSE_CELLS:
            raise TooLargeError(
                f"These columns have {self.reports:.3g} cells together, more than the "
                f"{DENSE_CELLS} of which sums are kept. Ask for fewer columns at once."
            )

    @classmethod
    def of(cls, factors: Sequence[Channel | int]) -> Self:
        """From channels, and the sizes of columns that went through none."""
        axes = []
        for factor in factors:
            axis = Axis.passing(factor) if isinstance(factor, int) else Axis.of(factor)
            refuse_lost(axis)
            axes.append(axis)
        return cls(tuple(axes))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many true levels each axis has."""
        return tuple(axis.count for axis in self.axes)

    @property
    def size(self) -> int:
        """The number of true cells."""
        return math.prod(self.sizes)

    @property
    def reports(self) -> int:
        """The number of reported cells."""
        return math.prod(axis.size for axis in self.axes)

    def matvec(self, sums: Array) -> Array:
        """Q applied to sums over reported cells: unbiased sums over true cells."""
        return self._along(sums, squared=False)

    def squared(self, sums: Array) -> Array:
        """The squares of the entries of Q applied to sums: what a variance is made of."""
        return self._along(sums, squared=True)

    def dense(self) -> Array:
        """Q as an array of true by reported cells, refused where there are too many."""
        self._refuse_many()
        return reduce(np.kron, [axis.undo(np.eye(axis.size)) for axis in self.axes], np.eye(1))

    def channel(self) -> Array:
        """P as an array of true by reported cells, refused where there are too many."""
        self._refuse_many()
        return reduce(np.kron, [axis.backward(np.eye(axis.size)) for axis in self.axes], np.eye(1))

    def _refuse_many(self) -> None:
        if self.reports > MOST_CELLS:
            raise TooLargeError(
                f"The columns that this needs have {self.reports} cells together, more than the "
                f"{MOST_CELLS} over which every record is spread. Use fewer randomised columns at "
                f"once, or such as were not protected together with others."
            )

    def _along(self, sums: Array, *, squared: bool) -> Array:
        codes = [axis.size for axis in self.axes]
        rest = sums.shape[1:]
        cube = along(
            self.axes, sums.reshape(*codes, -1), lambda axis: axis.squared if squared else axis.undo
        )
        return cube.reshape(self.size, *rest)


def refuse_lost(axis: Axis, name: str = "") -> None:
    """Refuse an axis of which reports tell groups only, and say which these are."""
    if not axis.lost:
        return
    levels = axis.all_levels
    whose = f" of {name}" if name else ""
    if axis.count == 1:
        left = "all categories are reported alike, so nothing is left to estimate"
    else:
        groups = [np.flatnonzero(levels == level).tolist() for level in range(axis.count)]
        shown = ", ".join(_positions(group) for group in groups[:SHOWN])
        more = ", …" if len(groups) > SHOWN else ""
        left = (
            f"only the sums of {len(groups)} groups of its categories are identifiable, by "
            f"position: {shown}{more}. Estimate those groups as cells instead"
        )
    raise SingularMatrixError(f"{axis.channel!r}{whose} cannot be undone: {left}.")


def _positions(group: list[Any]) -> str:
    if len(group) > 2 and group == list(range(group[0], group[-1] + 1)):
        return f"{group[0]}…{group[-1]}"
    return "+".join(map(str, group))
