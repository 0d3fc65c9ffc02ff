"""Many small matrices at a time: each too small to be worth sharing out among threads.

A linear algebra library shares out a product from a certain size on, and then waits for its threads
more often than it computes: on a busy machine that is a hundred times slower than one thread alone.
"""

import numpy as np

from bistochastic.tradeoff.problem import Floats

__all__ = ["inverse_of_lower", "product"]

ALONE = 1 << 18  # multiplications that one thread does faster than several
BASE = 32  # rows that are inverted at once


def product(left: Floats, right: Floats) -> Floats:
    """The products left @ right of two stacks, in columns narrow enough for one thread."""
    width = max(1, ALONE // (left.shape[-2] * left.shape[-1]))
    if right.shape[-1] <= width // 2:
        return left @ right
    parts = [
        left @ np.ascontiguousarray(right[..., at : at + width])
        for at in range(0, right.shape[-1], width)
    ]
    return np.concatenate(parts, axis=-1)


def inverse_of_lower(lower: Floats) -> Floats:
    """The inverses of a stack of lower triangular matrices, half by half.

    >>> inverse_of_lower(np.array([[[2.0, 0.0], [1.0, 1.0]]]))
    array([[[ 0.5,  0. ],
            [-0.5,  1. ]]])
    """
    size = lower.shape[-1]
    if size <= BASE:
        return np.asarray(np.linalg.inv(lower), dtype=np.float64)
    cut = size // 2
    above = inverse_of_lower(lower[..., :cut, :cut])
    below = inverse_of_lower(lower[..., cut:, cut:])
    whole = np.zeros_like(lower)
    whole[..., :cut, :cut], whole[..., cut:, cut:] = above, below
    whole[..., cut:, :cut] = -product(below, product(lower[..., cut:, :cut], above))
    return whole
