r"""What is identifiable of a channel: the sums of true shares that reports determine.

A sum $c^\top\pi$ is identifiable iff $c$ is in the range of $P$. Two codes belong to one class
where a vector that every report hides, a null vector of $P^\top$, mixes them; the sums over such
classes are identifiable, and nothing within a class is told by this rule. Blocks give back their
blocks.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bistochastic.errors import TooLargeError
from bistochastic.matrices.base import Channel
from bistochastic.matrices.blocks import Blocks
from bistochastic.matrices.checks import guard_cells
from bistochastic.matrices.mixture import Mixture

__all__ = ["Identified", "identified"]

Floats = NDArray[Any]
Levels = NDArray[np.int64]

MOST = 3000  # codes of a channel whose null vectors are looked for
NOTHING = 1e-9  # singular values, relative to the largest, that count as zero


class Identified(NamedTuple):
    """The class of each true code, and the matrix that estimates the sums over classes."""

    levels: Levels
    matrix: Floats  # classes × codes


def identified(channel: Channel, wanted: Levels | None = None) -> Identified:
    """The finest classes of codes, none finer than wanted, whose sums can be estimated.

    >>> identified(Blocks([2, 1])).levels.tolist()
    [0, 0, 1]
    """
    n = channel.size
    guard_cells(n, "The classes of this channel")
    asked = np.arange(n) if wanted is None else wanted
    if isinstance(channel, Blocks) and wanted is None:
        levels = channel.block_of(np.arange(n)).astype(np.int64)
        return Identified(levels, _indicators(levels))
    if isinstance(channel, Mixture) and channel.singular:  # whose truth is as likely as each lie
        return Identified(np.zeros(n, np.int64), np.ones((1, n)))
    if n > MOST:
        raise TooLargeError(
            f"{channel!r} cannot be undone, and what is identifiable of it is looked for up to "
            f"{MOST} categories. Estimate columns that were treated apart from it."
        )
    left, sizes, right = np.linalg.svd(channel.to_dense().T)
    rank = int((sizes > NOTHING * sizes[0]).sum())
    hidden = _indicators(asked) @ right[rank:].T
    levels = _mixed(hidden, asked)
    inverse = right[:rank].T @ (left[:, :rank] / sizes[:rank]).T  # of P transposed, least in norm
    return Identified(levels, _indicators(levels) @ inverse)


def _mixed(hidden: Floats, asked: Levels) -> Levels:
    """The classes that hidden vectors over the levels asked for connect, numbered as they come."""
    outer, sizes, _ = np.linalg.svd(hidden, full_matrices=False)
    basis = outer[:, sizes > 1e-7] if sizes.size else outer[:, :0]
    first, second = np.nonzero(np.abs(basis @ basis.T) > 1e-7)
    m = hidden.shape[0]
    links = coo_array((np.ones(first.size), (first, second)), shape=(m, m))
    _, classes = connected_components(links, directed=False)
    _, start, number = np.unique(classes, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(start))
    return order[number][asked].astype(np.int64)


def _indicators(levels: Levels) -> Floats:
    m = int(levels.max()) + 1
    guard_cells(m * levels.size, "The sums over these classes")
    table = np.zeros((m, levels.size))
    table[levels, np.arange(levels.size)] = 1.0
    return table
