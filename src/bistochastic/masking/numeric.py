r"""A numeric column: the individuals are the categories, in an order, and P acts on their ranks.

The value of u goes to place v with probability $p_{uv}$ in all three ways, so that
E[draw] = E[permute] = average, for a P that is not symmetric too.
"""

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MaskingError
from bistochastic.masking.permute import joint_bits, permutation
from bistochastic.matrices.base import Bistochastic
from bistochastic.matrices.blocks import Blocks
from bistochastic.matrices.words import Words

__all__ = ["Individuals", "average", "determined", "draw", "permute", "permuted_bits"]

SMALL = 2000  # up to this size the null space of any matrix is looked at itself
ZERO = 1e-9  # how small a direction of the null space counts as not there


@final
@dataclass(frozen=True, slots=True, eq=False)
class Individuals:
    """Who has a value, in the order in which a matrix meets them.

    `rows[r]` is the row of rank r. Missing values keep their place and are no individuals.
    """

    rows: NDArray[np.int64]
    size: int  # rows of the column, missing ones too

    @classmethod
    def of(cls, values: ArrayLike, *, by: ArrayLike | None = None) -> "Individuals":
        """Ordered by value, or by another column of the same length; ties by row.

        NaN is missing. Infinite values are refused: no average of them means anything.
        """
        column = _column(values)
        key = column if by is None else np.asarray(by)
        if key.shape != column.shape:
            raise MaskingError(
                f"The column to order by has {key.size} rows, the column itself {column.size}."
            )
        present = np.flatnonzero(~np.isnan(column))
        return cls(present[np.argsort(key[present], kind="stable")], column.size)

    @property
    def present(self) -> int:
        """How many rows have a value: the size of the matrix that is needed."""
        return int(self.rows.size)

    @property
    def missing(self) -> int:
        """How many rows have none."""
        return self.size - self.present


def draw(
    values: ArrayLike, matrix: Bistochastic, words: Words, *, by: ArrayLike | None = None
) -> NDArray[Any]:
    """Each place takes the value of an individual drawn from its column of P.

    Margins hold in expectation; one value may appear several times, another not at all.
    """
    column, individuals = _met(values, matrix, by)
    source = matrix.T.exact(allow_zeros=True).sample(np.arange(individuals.present), words)
    return _placed(column, individuals, column[individuals.rows[source]])


def permute(
    values: ArrayLike, matrix: Bistochastic, words: Words, *, by: ArrayLike | None = None
) -> NDArray[Any]:
    """Individuals change places: every value is still there, exactly once."""
    column, individuals = _met(values, matrix, by)
    goes = permutation(matrix.exact(allow_zeros=True), words)
    moved = np.empty_like(column, shape=individuals.present)
    moved[goes] = column[individuals.rows]
    return _placed(column, individuals, moved)


def permuted_bits(matrix: Bistochastic) -> float:
    """What `permute` leaves open about all places together, in bits."""
    return joint_bits(matrix.exact(allow_zeros=True))


def average(
    values: ArrayLike, matrix: Bistochastic, *, by: ArrayLike | None = None, insist: bool = False
) -> NDArray[np.float64]:
    r"""$y = P^\top x$: each place takes the mean of who might have come there.

    P is public, so whoever can solve for x reads it off. Refused unless nobody's value is
    determined, or the caller insists.
    """
    column, individuals = _met(values, matrix, by)
    if not insist:
        refuse_determined(matrix)
    mean = matrix.rmatvec(column[individuals.rows].astype(np.float64))
    return _placed(column.astype(np.float64), individuals, mean)


def refuse_determined(matrix: Bistochastic) -> None:
    """Refuse to average where a public matrix gives somebody's value away.

    x_u is determined exactly if every direction that Pᵀ destroys leaves u alone.
    """
    bare = determined(matrix)
    if bare:
        raise MaskingError(
            f"Averaging with {matrix!r} determines {bare} of {matrix.size} values: the matrix is "
            f"public, and solving it gives them away. Use blocks of at least two, draw or permute "
            f"instead, or insist."
        )


@singledispatch
def determined(matrix: Bistochastic) -> int:
    """How many individuals' values follow from the averages.

    >>> from bistochastic import Blocks
    >>> determined(Blocks([2, 1, 1]))
    2
    """
    if not matrix.singular:
        return matrix.size
    if matrix.size > SMALL:
        raise MaskingError(
            f"{matrix!r} is too large to see whose values an average determines. Average with "
            f"blocks, which tell, or insist."
        )
    _, lost, directions = np.linalg.svd(matrix.T.to_dense())
    hidden = directions[lost <= matrix.size * np.finfo(np.float64).eps]
    return int((np.abs(hidden).max(axis=0, initial=0.0) <= ZERO).sum())


@determined.register
def _(matrix: Blocks) -> int:
    return int((matrix.sizes == 1).sum())


def _column(values: ArrayLike) -> NDArray[Any]:
    column = np.asarray(values)
    if column.ndim != 1 or column.dtype.kind not in "iuf":
        raise MaskingError(
            f"A numeric column is needed; got {column.dtype} of shape {column.shape}."
        )
    if column.dtype.kind == "f" and np.isinf(column).any():
        raise MaskingError(f"The column holds {int(np.isinf(column).sum())} infinite values.")
    return column


def _met(
    values: ArrayLike, matrix: Bistochastic, by: ArrayLike | None
) -> tuple[NDArray[Any], Individuals]:
    column = _column(values)
    individuals = Individuals.of(column, by=by)
    if matrix.size != individuals.present:
        raise MaskingError(
            f"{individuals.present} rows have a value ({individuals.missing} have none), but the "
            f"matrix has size {matrix.size}. Its size is the number of individuals."
        )
    return column, individuals


def _placed(column: NDArray[Any], individuals: Individuals, masked: NDArray[Any]) -> NDArray[Any]:
    result = column.copy()
    result[individuals.rows] = masked
    return result
