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
    """A set of axes: where each reported cell lies among the cells of the margin."""

    sizes: tuple[int, ...]  # of the axes that are left
    cells: Cells  # of the margin, ascending
    place: Cells | None  # of each reported cell; none where the margin is the table itself
    sums: tuple[Floats, ...]


def transformed(
    tally: Tally, asked: Sequence[Pairs], vectors: Sequence[Floats]
) -> list[tuple[Floats, ...]]:
    """Vectors over the reported cells after $a_kI + b_kJ$ along every axis, for each way asked.

    >>> tally = Tally.from_table([[3, 1], [0, 4]])
    >>> transformed(tally, [[(2.0, -0.5), (1.0, 0.0)]], [tally.mass])[0][0].tolist()
    [4.5, -0.5, 5.5]
    """
    noisy = [k for k in range(len(tally.sizes)) if any(pairs[k][1] for pairs in asked)]
    if len(noisy) > MOST_NOISY:
        raise TooLargeError(
            f"A cell of this table is estimated from its margins over {len(noisy)} protected "
            f"columns, 2^{len(noisy)} of them. Ask for {MOST_NOISY} such columns at most."
        )
    answers = [tuple(np.zeros(tally.cells.size) for _ in vectors) for _ in asked]
    whole = _Margin(tally.sizes, tally.cells, None, tuple(vectors))
    _descend(whole, tuple(range(len(tally.sizes))), noisy, np.ones(len(asked)), asked, answers)
    return answers


def _descend(
    margin: _Margin,
    left: tuple[int, ...],
    noisy: Sequence[int],
    factors: Floats,
    asked: Sequence[Pairs],
    answers: list[tuple[Floats, ...]],
) -> None:
    """Add up the margin in which every axis is left, then those that lack one or more of them."""
    own = factors * np.array([np.prod([pairs[k][0] for k in left]) for pairs in asked])
    for which, sums in enumerate(margin.sums):
        there = sums if margin.place is None else sums[margin.place]
        for answer, factor in zip(answers, own, strict=True):
            np.add(answer[which], factor * there, out=answer[which])
    for at, axis in enumerate(noisy):
        lifted = factors * np.array([pairs[axis][1] for pairs in asked])
        if lifted.any():
            rest = tuple(k for k in left if k != axis)
            _descend(_without(margin, left.index(axis)), rest, noisy[at + 1 :], lifted, asked,
                     answers)  # fmt: skip


def _without(margin: _Margin, axis: int) -> _Margin:
    """The margin over all axes but one."""
    sizes = margin.sizes[:axis] + margin.sizes[axis + 1 :]
    below = int(np.prod(margin.sizes[axis + 1 :], dtype=object))
    high, low = np.divmod(margin.cells, below * margin.sizes[axis]) if axis else (0, margin.cells)
    keys = high * below + low % below
    size = int(np.prod(sizes, dtype=object))
    if size <= IN_PLACE:
        sums = tuple(np.bincount(keys, values, minlength=size) for values in margin.sums)
        return _Margin(sizes, np.arange(size), _through(margin.place, keys), sums)
    cells, place, starts, order = _distinct(keys, size)
    sums = tuple(np.add.reduceat(values[order], starts) for values in margin.sums)
    return _Margin(sizes, cells, _through(margin.place, place), sums)


def _through(place: Cells | None, keys: Cells) -> Cells:
    return keys if place is None else keys[place]


def _distinct(keys: Cells, size: int) -> tuple[Cells, Cells, Cells, Cells]:
    """Distinct keys, the number of each among them, where each begins, and the order of all.

    Where a key and its position fit one word, sorting words is several times quicker than sorting
    positions by keys.
    """
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
