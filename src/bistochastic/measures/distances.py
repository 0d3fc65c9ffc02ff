r"""How far two distributions lie apart.

Each distance takes two arrays whose last axis holds the categories and whose other axes broadcast:
the distribution of one file against those of a thousand classes is a single call. Two single
distributions give a number, several give an array.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr

from bistochastic.errors import MatrixError, NotBistochasticError
from bistochastic.matrices.checks import SUM_TOLERANCE, as_numbers

__all__ = [
    "hellinger",
    "jensen_shannon",
    "kullback_leibler",
    "ratio",
    "total_variation",
    "wasserstein",
]

Floats = NDArray[np.float64]
LN2 = float(np.log(2.0))


def total_variation(p: ArrayLike, q: ArrayLike) -> Any:
    r"""Half the sum of the absolute differences, $\frac12\sum_i|p_i-q_i|$: 0 … 1.

    >>> float(total_variation([0.5, 0.5, 0], [0.25, 0.25, 0.5]))
    0.5
    """
    p, q = _pair(p, q)
    return 0.5 * np.abs(p - q).sum(axis=-1)


def hellinger(p: ArrayLike, q: ArrayLike) -> Any:
    r"""The distance of the square roots, $\sqrt{\frac12\sum_i(\sqrt{p_i}-\sqrt{q_i})^2}$: 0 … 1.

    >>> float(hellinger([1, 0], [0, 1]))
    1.0
    """
    p, q = _pair(p, q)
    return np.sqrt(0.5 * np.square(np.sqrt(p) - np.sqrt(q)).sum(axis=-1))


def kullback_leibler(p: ArrayLike, q: ArrayLike) -> Any:
    r"""Bits lost by who believes q where p is true, $\sum_i p_i\log_2(p_i/q_i)$; not symmetric.

    Infinite where something occurs under p that q holds impossible; $0\log 0 = 0$.

    >>> float(kullback_leibler([1, 0], [0.25, 0.75])), float(kullback_leibler([0.5, 0.5], [1, 0]))
    (2.0, inf)
    """
    p, q = _pair(p, q)
    return np.maximum(rel_entr(p, q).sum(axis=-1) / LN2, 0.0)


def jensen_shannon(p: ArrayLike, q: ArrayLike) -> Any:
    r"""Mean bits lost against the middle of the two, $\frac12 D(p\|m)+\frac12 D(q\|m)$: 0 … 1.

    This is the divergence; its square root is a metric.

    >>> float(jensen_shannon([1, 0], [0, 1]))
    1.0
    """
    p, q = _pair(p, q)
    both = p + q  # twice the middle, which itself might vanish for the smallest numbers
    bits = (rel_entr(2 * p, both) + rel_entr(2 * q, both)).sum(axis=-1) / (4 * LN2)
    return np.clip(bits, 0.0, 1.0)


def wasserstein(
    p: ArrayLike,
    q: ArrayLike,
    positions: ArrayLike | None = None,
    *,
    normalised: bool = False,
) -> Any:
    r"""The least work that turns one pile into the other, $\int|F_p-F_q|$: the earth mover's.

    Args:
        p: Distributions over ordered categories.
        q: Distributions over the same categories.
        positions: Where the categories lie on a line; one step apart if none are given.
        normalised: Whether to divide by the length of the line (n - 1 steps), as t-closeness does,
            so that 1 is everything carried from one end to the other.

    >>> float(wasserstein([1, 0, 0], [0, 0, 1]))
    2.0
    >>> float(wasserstein([1, 0, 0], [0, 1, 0], positions=[20, 30, 60], normalised=True))
    0.25
    """
    p, q = _pair(p, q)
    n = p.shape[-1]
    apart = p - q
    if positions is None:
        steps = np.ones(n - 1)
    else:
        places = as_numbers(positions, "The positions of the categories")
        if places.shape != (n,):
            raise MatrixError(
                f"{n} categories need as many positions; got an array of shape {places.shape}."
            )
        order = np.argsort(places, kind="stable")
        apart, steps = apart[..., order], np.diff(places[order])
    work = np.abs(np.cumsum(apart, axis=-1)[..., :-1]) @ steps
    length = float(steps.sum())
    return work / length if normalised and length > 0 else work


def ratio(p: ArrayLike, q: ArrayLike) -> Any:
    r"""The largest factor between two probabilities, $\max_i\max(p_i/q_i, q_i/p_i)$: 1 … ∞.

    A category that neither holds does not count; one that only one of them holds is infinite.
    Its logarithm is to a pair of distributions what ε is to a channel.

    >>> float(ratio([0.5, 0.5, 0], [0.25, 0.75, 0])), float(ratio([1, 0], [0.5, 0.5]))
    (2.0, inf)
    """
    p, q = _pair(p, q)
    larger, smaller = np.maximum(p, q), np.minimum(p, q)
    with np.errstate(divide="ignore", over="ignore"):
        factors = np.divide(larger, smaller, out=np.ones_like(larger), where=larger > 0)
    return factors.max(axis=-1)


def _pair(p: ArrayLike, q: ArrayLike) -> tuple[Floats, Floats]:
    """Both as arrays of distributions over the same categories, or a readable refusal."""
    first, second = _distributions(p, "first"), _distributions(q, "second")
    if first.shape[-1] != second.shape[-1]:
        raise MatrixError(
            f"Distributions over the same categories are compared; got {first.shape[-1]} and "
            f"{second.shape[-1]} categories."
        )
    try:
        np.broadcast_shapes(first.shape, second.shape)
    except ValueError:
        raise MatrixError(
            f"Arrays of distributions must broadcast; got shapes {first.shape} and {second.shape}."
        ) from None
    return first, second


def _distributions(array: ArrayLike, which: str) -> Floats:
    """An array whose lines are distributions: non-negative, each summing to one."""
    lines = as_numbers(array, f"The {which} argument")
    if lines.ndim == 0:
        raise MatrixError(f"The {which} argument must be a list of probabilities; got a number.")
    if lines.min() < 0:
        raise MatrixError(f"The {which} argument holds {int((lines < 0).sum())} negative entries.")
    wrong = int((np.abs(lines.sum(axis=-1) - 1) > SUM_TOLERANCE).sum())
    if wrong:
        raise NotBistochasticError(
            f"{wrong} distributions of the {which} argument do not sum to 1; divide counts by "
            f"their sum."
        )
    return lines
