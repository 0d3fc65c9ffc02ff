r"""Margins: an inverse on a domain of any size, from the cells that were reported alone.

Where every axis is undone by $a_kI + b_kJ$, the estimate of a cell is a sum over the sets S of
axes: the reported share of all that agree with the cell on S, times $a_k$ for those in S and $b_k$
for the others. Each such margin has at most as many cells as were reported.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import TooLargeError
from bistochastic.estimate.tally import Tally

__all__ = ["MOST_NOISY", "transformed"]

Floats = NDArray[Any]
Cells = NDArray[np.int64]
Pairs = Sequence[tuple[float, float]]  # a and b of every axis

MOST_NOISY = 14  # axes that hide something, of which a cell's estimate needs every set
IN_PLACE = 1 << 21  # cells of a margin that is added up in an array of all of them


class _Margin(NamedTuple):
    """Sums over some axes; the cells that occur, or all of them where they are few."""

    sizes: tuple[int, ...]  # of the axes that are left
    cells: Cells | None  # ascending; none where all are there
    sums: tuple[Floats, ...]  # of every vector


def transformed(
    tally: Tally, asked: Sequence[Pairs], vectors: Sequence[Floats]
) -> list[tuple[Floats, ...]]:
    """Vectors over the reported cells after $a_kI + b_kJ$ along every axis, for each way asked.

    >>> tally = Tally.from_table([[3, 1], [0, 4]])
    >>> transformed(tally, [[(2.0, -0.5), (1.0, 0.0)]], [tally.mass])[0][0].tolist()
    [4.5, -0.5, 5.5]
    """
    axes = tuple(range(len(tally.sizes)))
    noisy = [k for k in axes if any(pairs[k] != (1.0, 0.0) for pairs in asked)]
    if len(noisy) > MOST_NOISY:
        raise TooLargeError(
            f"A cell of this table is estimated from its margins over {len(noisy)} protected "
            f"columns, 2^{len(noisy)} of them. Ask for {MOST_NOISY} such columns at most."
        )
    return _applied(_Margin(tally.sizes, tally.cells, tuple(vectors)), axes, noisy, asked)


def _applied(
    margin: _Margin, left: tuple[int, ...], noisy: Sequence[int], asked: Sequence[Pairs]
) -> list[tuple[Floats, ...]]:
    """One axis after the other: what was there, and what all have that differ on this axis alone.

    The second is the same over the axes before, for the margin that lacks this one.
    """
    if margin.cells is None:
        return [tuple(_everywhere(margin, sums, left, noisy, pairs) for sums in margin.sums)
                for pairs in asked]  # fmt: skip
    told = [margin.sums for _ in asked]
    for done, axis in enumerate(noisy):
        lesser, place = _without(margin, left.index(axis))
        rest = tuple(k for k in left if k != axis)
        sums = _applied(lesser, rest, noisy[:done], asked)
        told = [
            tuple(pairs[axis][0] * here + (pairs[axis][1] * each)[place]
                  for here, each in zip(before, around, strict=True))
            for before, around, pairs in zip(told, sums, asked, strict=True)
        ]  # fmt: skip
    return told


def _everywhere(
    margin: _Margin, sums: Floats, left: tuple[int, ...], noisy: Sequence[int], pairs: Pairs
) -> Floats:
    """The same where all cells are there: sums along the axes of a table."""
    table = sums.reshape(margin.sizes)
    for axis in noisy:
        own, each = pairs[axis]
        table = own * table + each * table.sum(axis=left.index(axis), keepdims=True)
    return table.ravel()


def _without(margin: _Margin, axis: int) -> tuple[_Margin, Cells]:
    """The margin over all axes but one, and where each cell lies in it."""
    cells, sizes = margin.cells, margin.sizes[:axis] + margin.sizes[axis + 1 :]
    assert cells is not None  # for the type checker: only such margins are taken apart
    below = int(np.prod(margin.sizes[axis + 1 :], dtype=object))
    span = below * margin.sizes[axis]
    # A quotient by one number is quick, a remainder is not.
    high = cells // span
    low = cells - high * span
    keys = high * below + (low - low // below * below if below > 1 else 0)
    size = int(np.prod(sizes, dtype=object))
    if size <= IN_PLACE:
        sums = tuple(np.bincount(keys, values, minlength=size) for values in margin.sums)
        return _Margin(sizes, None, sums), keys
    distinct, place, starts, order = _distinct(keys, size)
    sums = tuple(
        np.add.reduceat(values if order is None else values[order], starts)
        for values in margin.sums
    )
    return _Margin(sizes, distinct, sums), place


def _distinct(keys: Cells, size: int) -> tuple[Cells, Cells, Cells, Cells | None]:
    """Distinct keys, the number of each among them, where each begins, and the order of all.

    Where a key and its position fit one word, sorting words is several times quicker than sorting
    positions by keys; where the last axis goes they are in order already.
    """
    if (keys[1:] >= keys[:-1]).all():
        first = np.concatenate(([True], keys[1:] != keys[:-1]))
        starts = np.flatnonzero(first)
        return keys[starts], np.cumsum(first) - 1, starts, None
    bits = max(keys.size - 1, 1).bit_length()
    if size.bit_length() + bits <= 63:
        packed = np.sort((keys << bits) | np.arange(keys.size))
        order, ordered = packed & ((1 << bits) - 1), packed >> bits
    else:
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
    first = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    starts = np.flatnonzero(first)
    place = np.empty(keys.size, np.int64)
    place[order] = np.cumsum(first) - 1
    return ordered[starts], place, starts, order
