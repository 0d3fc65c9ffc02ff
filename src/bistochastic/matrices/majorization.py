r"""Majorization, $p \succ q$: the order in which a bistochastic matrix can only lower a vector."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MatrixError
from bistochastic.matrices.checks import as_numbers

__all__ = ["majorizes", "transfer_array"]

Floats = NDArray[np.float64]

# By how much a partial sum may miss, as a share of the sum of absolute values.
TOLERANCE = 1e-12

# Cells are whole multiples of 1 / GRID while transforms are multiplied: what leaves one column
# arrives in the other exactly, so rows keep their sums through any number of transforms.
GRID = 2**60


def majorizes(p: ArrayLike, q: ArrayLike, *, tolerance: float = TOLERANCE) -> bool:
    r"""Whether $p \succ q$: the k largest values of p sum to at least those of q, the totals agree.

    Equivalent to $q = P^\top p$ for some bistochastic $P$ (Hardy, Littlewood and Pólya 1929).

    Args:
        p: A vector of any real numbers.
        q: A vector of the same length.
        tolerance: By how much sums may miss, as a share of the sum of absolute values of p or q,
            whichever is greater.

    Raises:
        MatrixError: The arguments are not two vectors of finite real numbers of one length.

    >>> majorizes([0.6, 0.3, 0.1], [0.3, 0.3, 0.4]), majorizes([0.5, 0.5, 0.0], [0.6, 0.2, 0.2])
    (True, False)
    """
    if not 0 <= tolerance < math.inf:
        raise MatrixError(f"The tolerance must be a number >= 0; got {tolerance!r}.")
    x, y = comparable(p, q)
    return first_failure(*moderated(np.sort(x)[::-1], np.sort(y)[::-1]), tolerance) is None


def transfer_array(p: ArrayLike, q: ArrayLike) -> Floats:
    r"""A bistochastic array $P$ with $q = P^\top p$, for p that majorizes q.

    The product of at most $n - 1$ transforms, each of which moves two values towards each other
    (Hardy, Littlewood and Pólya 1929). Vectors that hold the same values give the permutation
    that maps one onto the other; equal vectors give the identity.

    Raises:
        MatrixError: p does not majorize q, or the two are not comparable vectors.

    >>> transfer_array([1.0, 0.0], [0.25, 0.75]).tolist()
    [[0.25, 0.75], [0.75, 0.25]]
    """
    x, y = comparable(p, q)
    down_p, down_q = falling_order(x), falling_order(y)
    x, y = moderated(x[down_p], y[down_q])
    failure = first_failure(x, y, TOLERANCE)
    if failure is not None:
        raise MatrixError(
            f"p does not majorize q, so no bistochastic matrix turns p into q: {failure}. "
            "Exchange the two, or choose a q that is more even than p."
        )
    mixed = product(len(x), transforms(x, y))
    array = np.empty(mixed.shape)
    array[np.ix_(down_p, down_q)] = mixed
    return array


def comparable(p: ArrayLike, q: ArrayLike) -> tuple[Floats, Floats]:
    """Both vectors, checked."""
    x, y = vector(p, "p"), vector(q, "q")
    if len(x) != len(y):
        raise MatrixError(
            f"p and q must have the same length; got {len(x)} and {len(y)}. "
            "Pad the shorter one with zeros if it lacks categories."
        )
    return x, y


def moderated(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Both vectors over one power of two, so that their sums do not overflow."""
    exponent = math.frexp(max(float(np.abs(p).max()), float(np.abs(q).max())))[1]
    return np.ldexp(p, -exponent), np.ldexp(q, -exponent)


def vector(values: ArrayLike, name: str) -> Floats:
    """One checked vector of finite real numbers."""
    numbers = as_numbers(values, name)
    if numbers.ndim != 1:
        raise MatrixError(f"{name} must be one vector; got shape {numbers.shape}.")
    return numbers


def falling_order(values: Floats) -> NDArray[np.intp]:
    """Positions from the largest to the least value, ties in their own order."""
    return np.argsort(-values, stable=True)


def first_failure(p: Floats, q: Floats, tolerance: float) -> str | None:
    """Where falling p first fails to majorize falling q, without values; None where it does."""
    n = len(p)
    # The sums of differences: sums of p and of q apart would lose the digits they share.
    surplus = np.cumsum(p - q)
    slack = tolerance * max(float(np.abs(p).sum()), float(np.abs(q).sum()))
    short = np.flatnonzero(surplus < -slack)
    if short.size and short[0] < n - 1:
        k = int(short[0]) + 1
        return f"the sum of the {k} largest of {n} values is less in p than in q"
    if abs(float(surplus[-1])) > slack:
        return f"the totals of all {n} values differ"
    return None


def transforms(p: Floats, q: Floats) -> Iterator[tuple[int, int, float]]:
    """Pairs of positions and the share t they exchange, for falling p that majorizes falling q.

    Each pair takes a deficit and the nearest surplus before it; all between is settled, so the
    values stay sorted and t is at most one half. Each settles one position and the last one two:
    hence at most n - 1.
    """
    x, y = p.tolist(), q.tolist()
    surplus: list[int] = []
    for k in range(len(x)):
        if x[k] > y[k]:
            surplus.append(k)
        while x[k] < y[k] and surplus:  # without a surplus the deficit is within the tolerance
            j = surplus[-1]
            spare, lacking, distance = x[j] - y[j], y[k] - x[k], x[j] - x[k]
            yield j, k, min(spare, lacking) / distance
            # Whichever is settled is set to its goal, not computed: it must not stay open by 1e-17.
            x[j] = x[j] - lacking if spare > lacking else y[j]
            x[k] = x[k] + spare if spare < lacking else y[k]
            if x[j] <= y[j]:
                surplus.pop()


def product(n: int, steps: Iterator[tuple[int, int, float]]) -> Floats:
    """The product of transforms of n values, each mixing two columns."""
    columns = np.zeros((n, n), dtype=np.int64)  # one column of the product in each row: contiguous
    np.fill_diagonal(columns, GRID)
    for j, k, share in steps:
        moved = np.rint(share * (columns[j] - columns[k])).astype(np.int64)
        columns[j] -= moved
        columns[k] += moved
    return columns.T / GRID
