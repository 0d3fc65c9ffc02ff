r"""Graph: diffusion on a large sparse graph, known by what it does to vectors.

$\exp(-tL)$ is never formed. What it does to a vector costs a few products with L; what it holds is
bounded from both sides by two-point quadrature on the spectrum (Golub & Meurant 1994), vertex by
vertex, and every such number says that it is a bound.
"""

import math
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import expm_multiply

from bistochastic.errors import ExactnessError, TooLargeError
from bistochastic.matrices.base import Bistochastic, Truthfulness, Vector, refuse_singular
from bistochastic.matrices.bounds import AtLeast, AtMost
from bistochastic.matrices.checks import as_line, guard_cells
from bistochastic.matrices.entries import Entries
from bistochastic.matrices.exact import Exact

__all__ = ["Graph"]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph(Bistochastic):
    """Codes change places along the edges of a sparse graph for a time; made by `diffusion`."""

    laplacian: Any  # a symmetric sparse matrix, checked by `diffusion`
    time: float

    @property
    def size(self) -> int:
        return int(self.laplacian.shape[0])

    @property
    def T(self) -> Self:
        return self

    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        u, v = np.broadcast_arrays(np.asarray(u), np.asarray(v))
        wanted, where = np.unique(v, return_inverse=True)
        guard_cells(self.size * wanted.size, "So many columns of a graph's diffusion")
        units = np.zeros((self.size, wanted.size))
        units[wanted, np.arange(wanted.size)] = 1.0
        return np.maximum(self.matvec(units)[u, where.reshape(v.shape)], 0.0)

    def matvec(self, x: ArrayLike) -> Vector:
        return self._after(as_line(x, self.size), self.time)

    def solve(self, y: ArrayLike) -> Vector:
        line = as_line(y, self.size)
        refuse_singular(self)
        return self._after(line, -self.time)

    def diagonal(self) -> Vector:
        raise self._too_large("The diagonal")

    def entries(self) -> Entries:
        raise self._too_large("The list of entries")

    @property
    def bits(self) -> float:
        return AtLeast(self._row_bits().mean())

    @property
    def min_row_bits(self) -> float:
        return AtLeast(self._row_bits().min())

    @property
    def epsilon(self) -> float:
        return AtMost(math.inf)

    @property
    def truthfulness(self) -> Truthfulness:
        """At least: by convexity nobody stays less often than its own degree alone would say."""
        stays = np.exp(-self.time * self.laplacian.diagonal())
        return Truthfulness(AtLeast(stays.min()), AtLeast(stays.mean()))

    @property
    def condition(self) -> float:
        """At most exp(t·2·largest degree), which bounds the spectrum (Gershgorin)."""
        return AtMost(math.exp(min(2 * self.time * self.laplacian.diagonal().max(), 709.0)))

    def integers(self, word_bits: int) -> tuple[Exact, int]:
        raise ExactnessError(
            f"{self!r} has no integer form: its entries are never formed. Use a path, a cycle or "
            f"a taxonomy, which have one at any size, or a graph of at most 1000 codes."
        )

    def _after(self, line: Vector, time: float) -> Vector:
        moved: Vector = expm_multiply(
            -time * self.laplacian, line, traceA=-time * self.laplacian.trace()
        )
        return moved

    def _row_bits(self) -> Vector:
        r"""At least Rényi's entropy of order 2, $-\log_2\sum_v p_{uv}^2 = -\log_2(e^{-2tL})_{uu}$.

        Two nodes, one of them at 0, integrate the exponential from above (Gauss–Radau).
        """
        degree = self.laplacian.diagonal()
        second = np.asarray(self.laplacian.multiply(self.laplacian).sum(axis=1)).ravel()
        moving = degree > 0
        node = np.divide(second, degree, out=np.ones_like(degree), where=moving)
        weight = np.divide(degree, node, out=np.zeros_like(degree), where=moving)
        returned = 1 + weight * np.expm1(-2 * self.time * node)
        return np.maximum(-np.log2(returned), 0.0)

    def _too_large(self, what: str) -> TooLargeError:
        return TooLargeError(
            f"{what} of {self!r} would need its whole exponential. Ask for matvec, single entries "
            f"or bits, which are bounded without it."
        )
