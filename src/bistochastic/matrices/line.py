"""A row or a column too long to be formed: any of its entries, on demand."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.matrices.checks import guard_line

__all__ = ["Line"]


@final
@dataclass(frozen=True, slots=True)
class Line:
    """A vector known by formula: `line[positions]` computes only what is asked.

    >>> from bistochastic import Mixture
    >>> row = Mixture(10**12, truth=0.5).row(7)
    >>> row[[7, 8]].tolist() == [0.5, 0.5 / (10**12 - 1)]
    True
    """

    size: int
    at: Callable[[NDArray[Any]], NDArray[np.float64]]

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, positions: ArrayLike | slice) -> NDArray[np.float64]:
        if isinstance(positions, slice):
            chosen = range(*positions.indices(self.size))
            guard_line(len(chosen), "This part of the line")
            positions = np.arange(chosen.start, chosen.stop, chosen.step)
        where = np.asarray(positions)
        if where.size and (int(where.min()) < -self.size or int(where.max()) >= self.size):
            raise IndexError(f"Positions lie outside 0 … {self.size - 1}.")
        return self.at(np.where(where < 0, where + self.size, where))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        guard_line(self.size, "This line")
        return self.at(np.arange(self.size)).astype(dtype or np.float64)
