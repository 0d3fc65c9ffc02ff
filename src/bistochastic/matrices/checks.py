"""What is checked once, at birth: arrays are copied, frozen and found to be what they claim."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MatrixError, NotBistochasticError, TooLargeError

__all__ = [
    "DENSE_CELLS",
    "LINE_LENGTH",
    "SUM_TOLERANCE",
    "as_codes",
    "as_line",
    "as_number",
    "as_numbers",
    "as_order",
    "as_size",
    "as_square",
    "frozen",
    "guard_cells",
    "guard_line",
    "probabilities",
]

Floats = NDArray[np.float64]

SUM_TOLERANCE = 1e-9  # how far a row, a column or a list of weights may be from one at birth
DENSE_CELLS = 64_000_000  # half a gigabyte: the largest whole matrix that is ever formed
LINE_LENGTH = 200_000_000  # the longest single row, column or diagonal that is ever formed


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A private, read-only copy: a frozen dataclass alone does not freeze what it holds."""
    copy = np.array(array, order="C", copy=True)
    copy.flags.writeable = False
    return copy


def as_size(n: object, name: str) -> int:
    """A number of categories or records: a whole number of at least one."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise MatrixError(f"{name} needs a whole number n >= 1; got {n!r}.")
    return int(n)


def as_number(value: object, name: str) -> float:
    """A single real number, NaN included: the range is the caller's to check."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise MatrixError(f"{name} must be a number; got {value!r}.")
    return float(value)


def as_numbers(array: ArrayLike, name: str) -> Floats:
    """Finite floats, whatever came in, or a readable refusal."""
    try:
        given = np.asarray(array)
        if given.dtype.kind not in "biufO":  # text and complex numbers would convert, or nearly
            raise TypeError
        numbers = given.astype(np.float64)
    except (TypeError, ValueError):
        raise MatrixError(f"{name} must hold real numbers only, in a regular shape.") from None
    if numbers.size == 0:
        raise MatrixError(f"{name} is empty; give at least one entry.")
    if not np.isfinite(numbers).all():
        bad = int((~np.isfinite(numbers)).sum())
        raise MatrixError(f"{name} holds {bad} entries that are NaN or infinite.")
    return numbers


def probabilities(array: ArrayLike, name: str) -> Floats:
    """A frozen probability vector: finite, non-negative, summing to one."""
    vector = as_numbers(array, name)
    if vector.ndim != 1:
        raise MatrixError(f"{name} must be a list of numbers; got shape {vector.shape}.")
    if vector.min() < 0:
        raise MatrixError(f"{name} holds negative entries, the least {vector.min():.6g}.")
    if abs(vector.sum() - 1) > SUM_TOLERANCE:
        raise NotBistochasticError(f"{name} must sum to 1; it sums to {vector.sum():.12g}.")
    return frozen(vector)


def as_square(array: ArrayLike, name: str) -> Floats:
    """A frozen square array of finite non-negative numbers."""
    square = as_numbers(array, name)
    if square.ndim != 2 or square.shape[0] != square.shape[1]:
        raise MatrixError(f"{name} must be square; got shape {square.shape}.")
    if square.min() < 0:
        row, column = np.unravel_index(int(square.argmin()), square.shape)
        raise MatrixError(
            f"{name} holds negative entries, the least {square.min():.6g} "
            f"in row {row}, column {column}."
        )
    return frozen(square)


def as_order(order: ArrayLike, name: str) -> NDArray[np.int64]:
    """A frozen permutation of 0 … n-1."""
    positions = np.asarray(order)
    if positions.ndim != 1 or positions.size == 0 or not np.issubdtype(positions.dtype, np.integer):
        raise MatrixError(f"{name} must be a non-empty list of whole numbers.")
    if not is_order(positions):
        raise MatrixError(
            f"{name} must hold each of 0 … {positions.size - 1} exactly once; it does not."
        )
    return frozen(positions.astype(np.int64))


def is_order(positions: NDArray[Any]) -> bool:
    """Whether each of 0 … n-1 stands there exactly once."""
    n = positions.size
    if positions.min() < 0 or positions.max() >= n:
        return False
    return bool((np.bincount(positions, minlength=n) == 1).all())


def as_line(x: ArrayLike, size: int) -> Floats:
    """One vector, or several side by side, of the length the matrix asks for."""
    line = np.asarray(x, dtype=np.float64)
    if line.ndim not in (1, 2) or line.shape[0] != size:
        raise MatrixError(
            f"A matrix of size {size} meets vectors of length {size}; got shape {line.shape}."
        )
    return line


def as_codes(codes: ArrayLike, size: int) -> NDArray[Any]:
    """Category codes 0 … n-1 as an integer array of the dtype they came in."""
    array = np.asarray(codes)
    if not np.issubdtype(array.dtype, np.integer):
        raise MatrixError(f"Codes must be whole numbers; got dtype {array.dtype}.")
    if array.ndim != 1:
        raise MatrixError(f"Codes must be a single column; got shape {array.shape}.")
    if array.size and (int(array.min()) < 0 or int(array.max()) >= size):
        outside = int(((array < 0) | (array > size - 1)).sum())
        raise MatrixError(f"{outside} codes lie outside 0 … {size - 1}.")
    return array


def guard_line(size: int, what: str) -> None:
    """Refuse to form a single line that would not fit."""
    if size > LINE_LENGTH:
        raise TooLargeError(
            f"{what} has {size} entries, more than are ever formed at once ({LINE_LENGTH}). "
            f"Ask for single entries with entry(u, v), or for a quantity."
        )


def guard_cells(cells: int, what: str) -> None:
    """Refuse to form a whole matrix that would not fit."""
    if cells > DENSE_CELLS:
        raise TooLargeError(
            f"{what} would need {cells} cells at once, more than the {DENSE_CELLS} that are ever "
            f"formed. Ask for single rows, entries or quantities instead."
        )
