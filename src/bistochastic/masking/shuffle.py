"""Uniform permutations from random words: places sorted by their words, ties drawn again.

Given that the words of a group are all different, every order of them is equally likely; so the
order is uniform exactly, not nearly.
"""

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import ExactnessError
from bistochastic.matrices.words import Words

__all__ = ["shuffled"]

Integers = NDArray[np.int64]


def shuffled(sizes: Integers, draw: int, words: Words, *, word_bits: int) -> Integers:
    """A uniform permutation of each of several consecutive groups, as one order of all places.

    Args:
        sizes: The sizes of the groups.
        draw: The first draw that may be used; no other is.
        words: The words of all places.
        word_bits: Their size; a group must be so small that its words can be told apart.
    """
    if int(sizes.max()) ** 2 > 1 << (word_bits + 3):
        raise ExactnessError(
            f"{word_bits}-bit words cannot order {int(sizes.max())} places: too many would tie."
        )
    starts = np.cumsum(sizes) - sizes
    keys = words(draw, 0, None).copy()
    order = np.empty(keys.size, dtype=np.int64)
    late = np.ones(sizes.size, dtype=bool)
    attempt = 0
    while late.any():
        tied = _order_groups(keys, starts[late], sizes[late], order)
        late[late] = tied
        attempt += 1
        for group in np.flatnonzero(late):  # a tie is rarer than one in 10^12 pairs
            places = np.arange(starts[group], starts[group] + sizes[group])
            keys[places] = words(draw, attempt, places)
    return order


def _order_groups(
    keys: NDArray[np.uint64], starts: Integers, sizes: Integers, order: Integers
) -> NDArray[np.bool_]:
    """Write the order of each group, all groups of one size at once; which of them hold ties."""
    tied = np.zeros(sizes.size, dtype=bool)
    for size in np.unique(sizes):
        some = np.flatnonzero(sizes == size)
        places = starts[some][:, None] + np.arange(size)
        words = keys[places]
        ranks = np.argsort(words, axis=1)
        order[places] = starts[some][:, None] + ranks
        inner = np.take_along_axis(words, ranks, axis=1)
        tied[some] = (inner[:, 1:] == inner[:, :-1]).any(axis=1)
    return tied
