"""Several columns as one: a cell of their product domain is a number with a digit for each.

The first column is the most significant digit, as the first factor of a Kronecker product is. No
array of the size of the domain is ever formed.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MaskingError, MatrixError
from bistochastic.matrices.checks import as_codes, as_size

__all__ = ["fold", "unfold"]

MOST_CELLS = 1 << 63  # whose numbers are signed integers of 64 bits
CHUNK = 1 << 17


def fold(columns: Sequence[ArrayLike], sizes: Sequence[int]) -> NDArray[np.int64]:
    """One code for the codes of several columns: their digits in a mixed radix.

    Args:
        columns: The codes of each column, all equally long.
        sizes: How many categories each column has.

    >>> fold([[0, 1, 1], [2, 0, 2]], sizes=[2, 3])
    array([2, 3, 5])
    """
    radices = _radices(sizes)
    if len(columns) != len(radices):
        raise MaskingError(f"There are {len(columns)} columns, but {len(radices)} sizes.")
    digits = [_digits(columns[place], n, place) for place, n in enumerate(radices)]
    lengths = sorted({digit.size for digit in digits})
    if len(lengths) != 1:
        raise MaskingError(f"Columns that are folded are equally long; got lengths {lengths}.")
    folded = np.zeros(lengths[0], dtype=np.uint64)  # 2^63 itself is no signed number
    for digit, n in zip(digits, radices, strict=True):
        folded *= np.uint64(n)
        for at in range(0, folded.size, CHUNK):
            folded[at : at + CHUNK] += digit[at : at + CHUNK].astype(np.uint64)
    return folded.view(np.int64)


def unfold(codes: ArrayLike, sizes: Sequence[int]) -> tuple[NDArray[Any], ...]:
    """The codes of each column again, in the narrowest unsigned integers that hold them.

    >>> [column.tolist() for column in unfold([2, 3, 5], sizes=[2, 3])]
    [[0, 1, 1], [2, 0, 2]]
    """
    radices = _radices(sizes)
    try:
        folded = as_codes(codes, prod(radices))
    except MatrixError as error:
        raise MaskingError(f"These are no folded codes: {error}") from None
    columns = tuple(np.empty(folded.size, np.min_scalar_type(n - 1)) for n in radices)
    for at in range(0, folded.size, CHUNK):
        left = folded[at : at + CHUNK].astype(np.uint64)
        for column, n in zip(reversed(columns), reversed(radices), strict=True):
            left, column[at : at + CHUNK] = np.divmod(left, np.uint64(n))
    return columns


def _radices(sizes: Sequence[int]) -> list[int]:
    try:
        radices = [as_size(n, "Each column") for n in sizes]
    except MatrixError as error:
        raise MaskingError(str(error)) from None
    if not radices:
        raise MaskingError("There is no column to fold; give the size of at least one.")
    if prod(radices) > MOST_CELLS:
        raise MaskingError(
            f"{len(radices)} columns have {prod(radices):.3g} cells together, more than the 2^63 "
            f"that codes can number. Fold fewer of them, or coarser ones."
        )
    return radices


def _digits(codes: ArrayLike, n: int, place: int) -> NDArray[Any]:
    try:
        return as_codes(codes, n)
    except MatrixError as error:
        raise MaskingError(f"Column {place} of those folded: {error}") from None
