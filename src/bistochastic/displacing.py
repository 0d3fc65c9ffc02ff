r"""Displacing: the permutation comes first, and it is made to meet a target.

Ranks are cut into blocks of 2m, and the m ranks of one half change places with those of the other,
anyone with anyone. Nobody stays, everybody moves by m on average, and the sum of the moves is
$2m^2$ whoever met whom; so the mean distance of a file is met exactly. Blocks of nearly one size
and a smaller one fill the file; what they move too far is taken back by single values in a few.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MaskingError, TargetError
from bistochastic.keystream import Key, Scope, domain_digest
from bistochastic.masking.numeric import Order
from bistochastic.masking.ranks import Individuals, as_column
from bistochastic.masking.shuffle import shuffled
from bistochastic.matrices.words import Words, restricted
from bistochastic.measures.histogram import ZERO, Histogram

__all__ = ["Displaced", "displace", "displace_together"]

Integers = NDArray[np.int64]
Attained = Callable[[Integers], float]

BLOCKS, CELLS = 0, 1  # the draws
WORD_BITS = 64


@final
@dataclass(frozen=True, slots=True, eq=False)
class Displaced:
    """Columns whose values changed places, and what that attains.

    Attributes:
        columns: The columns, in the order given.
        protection: D(α) of the places, as attained.
        information_loss: I(θ) between the first column and each other, in places, as attained.
    """

    columns: tuple[NDArray[Any], ...]
    protection: float
    information_loss: tuple[float, ...]


def displace(
    values: ArrayLike,
    protection: float,
    key: Key,
    *,
    alpha: float = 1.0,
    release: str = "",
    column: str = "",
    by: Order = None,
    missing: ArrayLike | None = None,
) -> Displaced:
    """Move the values of a column so that its D(α) is what is asked, as near as whole ranks allow.

    For α = 1 the sum of all moves is the even number next to what is asked. Everybody moves as soon
    as a mean above one rank is asked. The greatest mean is that of halves that change places.

    Args:
        values: The column; NaN is missing, and stays where it is.
        protection: The D(α) to attain, in ranks.
        key: The secret that says who meets whom.
        alpha: At most 1; the smaller, the more the least moved records count.
        release: The name of the release, which with that of the column says whose words these are.
        column: The name of the column.
        by: What to order by: another column, or "position"; the values themselves if None.
        missing: Which rows have no value, where the column itself cannot say.

    >>> told = displace(np.arange(100), 8.5, Key.new(), release="2026", column="income")
    >>> told.protection, float(abs(told.columns[0] - np.arange(100)).mean())
    (8.5, 8.5)
    """
    given = as_column(values)
    individuals = Individuals.of(given, by=by, missing=missing)
    n = individuals.present
    if alpha > 1:
        raise TargetError(f"Protection is asked for alpha of at most 1; got {alpha}.")
    words = _words(key, n, release, column, "protection", protection, alpha)
    order = _meeting(n, protection, alpha, words)
    moved = individuals.placed(given, given[individuals.rows[order]])
    return Displaced((moved,), _attained(order, alpha), ())


def displace_together(
    columns: Sequence[ArrayLike],
    protection: float,
    key: Key,
    *,
    by: ArrayLike,
    information_loss: float = 0.0,
    alpha: float = 1.0,
    theta: float = 1.0,
    release: str = "",
    column: str = "",
) -> Displaced:
    """Move several columns so that D(α) and the I(θ) of each with the first are what is asked.

    Records move as a whole, over places in the order of `by`; then all columns but the first move
    once more among these places. With an information loss of 0 they do not, and the joint
    distribution is kept exactly. Columns need no order of their own, nor be numbers.

    >>> age, work = np.arange(60), np.arange(60) % 7
    >>> told = displace_together(
    ...     [age, work], 10, Key.new(), by=age, information_loss=2.0, release="2026", column="block"
    ... )
    >>> told.protection, told.information_loss
    (10.0, (2.0,))
    """
    given = [np.asarray(column) for column in columns]
    if not given or any(values.shape != given[0].shape for values in given):
        raise MaskingError("Columns that move together are of one file: equally long, one or more.")
    if alpha > 1 or theta < 1:
        raise TargetError(f"Asked for are alpha <= 1 <= theta; got {alpha} and {theta}.")
    key_column = np.asarray(by)
    rows = Individuals.of(np.arange(given[0].size), by=key_column).rows
    n = rows.size
    words = _words(key, n, release, column, "protection", protection, alpha)
    first = _meeting(n, protection, alpha, words)
    moved, lost = [], []
    for number, values in enumerate(given):
        order = first
        if number:
            asked = f"information of column {number}", information_loss, theta
            words = _words(key, n, release, column, *asked)
            extra = _meeting(n, information_loss, theta, words, floor=0.0)
            order = first[extra]
            lost.append(_attained(extra, theta, floor=0.0))
        target = values.copy()
        target[rows] = values[rows[order]]
        moved.append(target)
    return Displaced(tuple(moved), _attained(first, alpha), tuple(lost))


def _words(
    key: Key, n: int, release: str, column: str, what: str, target: float, order: float
) -> Words:
    """Words of their own for each target: two under the same words would give each other away."""
    scope = Scope(
        release=release,
        column=column,
        domain=domain_digest(["individuals", n, what, float(target), float(order)]),
        matrix=None,
        word_bits=WORD_BITS,
    )
    return key.rows(scope, purpose="displace").words(0, max(n, 1))


def _attained(order: Integers, alpha: float, *, floor: float = ZERO) -> float:
    """The power mean of the moves, with what a record that did not move counts as."""
    moves = np.abs(order - np.arange(order.size))
    if alpha == 1 and moves.any():
        return float(moves.sum() / moves.size)
    return float(Histogram.of(moves).means(alpha, zero=floor))


def _meeting(n: int, target: float, alpha: float, words: Words, *, floor: float = ZERO) -> Integers:
    """From which rank the value at each rank comes, so that the power mean meets the target."""
    if not n:
        raise MaskingError("No record has a value: there is nothing to move.")
    most = (n // 2) * ((n + 1) // 2)  # half of the largest sum of moves
    if not (math.isfinite(target) and target >= 0):
        raise TargetError(f"What is to be attained is a number of ranks; got {target}.")
    if target <= floor:
        return np.arange(n)
    if alpha == 1:
        half = round(target * n / 2)
        if half > most:
            raise TargetError(
                f"A mean of {target:g} ranks is out of reach: {n} records that have a value move "
                f"by {2 * most / n:g} on average at most."
            )
        return _lowered(*_laid(n, half, words), half)
    attained = partial(_attained, alpha=alpha, floor=floor)
    return _nearest(n, target, alpha, attained, words, most)


def _nearest(
    n: int, target: float, alpha: float, attained: Attained, words: Words, most: int
) -> Integers:
    """The permutation closest to a target of another order than 1.

    The sum of moves is halved towards it, and lowered or raised a little until the target lies
    between what this order of the cells attains and what evenly moved ones would. Then as many
    cells as it takes are moved evenly.
    """

    def gap(half: int, even: int = 0) -> float:
        return attained(_laid(n, half, words, even=even)[0]) - target

    if gap(most, n) < 0 and gap(most) < 0:
        raise TargetError(
            f"A mean of {target:g} ranks is out of reach: exchanging the halves of {n} records "
            f"attains {gap(most) + target:g}."
        )
    half = _last(0, most, lambda half: gap(half) <= 0)
    side = -1 if alpha < 1 else 1  # of the target, where moving evenly leads towards it
    for step in range(1, 12):
        if gap(half) * side >= 0:
            break
        half = min(max(half + side * math.ceil(half * 2.0 ** (step - 12)), 0), most)
    even = _last(0, n, lambda even: gap(half, even) * side >= 0)
    tried = [(half, even), (half, min(even + 1, n)), (min(half + 1, most), 0)]
    return min(
        (_laid(n, half, words, even=even)[0] for half, even in tried),
        key=lambda order: abs(attained(order) - target),
    )


def _laid(n: int, half: int, words: Words, *, even: int = 0) -> tuple[Integers, Integers, Integers]:
    """An order whose moves sum to twice `half` or a little more, with its blocks: starts, sizes.

    The first `even` ranks move all by as much as their block is long by half, nobody at random.
    """
    sizes = _sizes(n, half)
    some = restricted(words, np.arange(sizes.size))
    sizes = sizes[shuffled(np.array([sizes.size]), BLOCKS, some, word_bits=WORD_BITS)]
    starts = np.cumsum(sizes) - sizes
    lower, upper = sizes // 2, sizes - sizes // 2
    # Within each half a uniform order; then the two halves stand in each other's place.
    cells = np.stack([lower, upper], axis=1).ravel()
    inside = shuffled(cells[cells > 0], CELLS, words, word_bits=WORD_BITS)
    inside[:even].sort()
    block = np.repeat(np.arange(sizes.size), sizes)
    within = np.arange(n) - starts[block]
    order = np.empty(n, dtype=np.int64)
    order[np.arange(n)] = inside[starts[block] + (within + lower[block]) % sizes[block]]
    odd = np.flatnonzero((sizes % 2 == 1) & (sizes > 1))
    middle = starts[odd] + lower[odd]  # the one rank that may have met itself
    stuck = middle[order[middle] == middle]
    order[stuck], order[stuck - 1] = order[stuck - 1], order[stuck]
    return order, starts, sizes


def _sizes(n: int, half: int) -> Integers:
    """Blocks for moves that sum to twice `half` or a little more, as even as they can be."""
    pairs, odd = divmod(n, 2)
    if half <= pairs:  # neighbours change places, the others stay
        return np.concatenate([np.full(half, 2), np.full(n - 2 * half, 1)])

    def sum_of(cells: int, least: int) -> int:
        """Halves of the moves if all cells but the least one are equal, nearly."""
        size, larger = divmod(pairs - least, cells - 1) if cells > 1 else (0, 0)
        rest = least * (least + odd) if least or not odd else size
        return (cells - 1) * size**2 + larger * (2 * size + 1) + rest

    # As few cells as keep the sum below; then the least one shrinks until it is reached.
    cells = 1 + _last(0, pairs - 1, lambda fewer: sum_of(fewer, pairs // fewer) > half)
    least = _last(0, pairs // cells, lambda least: sum_of(cells, least) >= half)
    if cells == 1:
        return np.array([n])
    size, larger = divmod(pairs - least, cells - 1)
    sizes = [2 * size + 2] * larger + [2 * size] * (cells - 1 - larger)
    if least:
        sizes.append(2 * least + odd)
    elif odd:  # nobody to change places with: it joins another block
        sizes[-1] += 1
    return np.array(sizes)


def _last(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The largest whole number for which a condition holds that holds from `low` up to it."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def _lowered(order: Integers, starts: Integers, sizes: Integers, half: int) -> Integers:
    """The same order with its moves reduced to a sum of twice `half`, in as few blocks as it takes.

    In each of them one value goes back towards its place, and nobody comes to stay; only where
    there are too few blocks for that, one is sorted by insertion as far as it takes.
    """
    excess = int(np.abs(order - np.arange(order.size)).sum()) // 2 - half
    for number in np.argsort(-sizes, kind="stable"):
        steps = min(excess, int(sizes[number]) // 2 - 1)
        if steps <= 0 and sizes[number] < 4:
            break
        if sizes[number] % 2 == 0 and steps > 0:
            stretch = slice(int(starts[number]), int(starts[number] + sizes[number]))
            order[stretch] = starts[number] + _back(order[stretch] - starts[number], steps)
            excess -= steps
    for number in np.argsort(-sizes, kind="stable"):
        if excess <= 0:
            break
        stretch = slice(int(starts[number]), int(starts[number] + sizes[number]))
        block = order[stretch] - starts[number]
        sum_before = _moves(block)
        order[stretch] = starts[number] + _inserted(block, max(sum_before - 2 * excess, 0))
        excess -= (sum_before - _moves(order[stretch] - starts[number])) // 2
    return order


def _back(block: Integers, steps: int) -> Integers:
    """Two halves in each other's place, with the lowest value moved back past so many others.

    Each of those it passes moves less by one too. None comes to its own place: the lowest stops
    short of it, and the one that is pushed across the middle is not the value that belongs there.
    """
    middle = block.size // 2
    lowest = middle + int(np.argmin(block[middle:]))
    block[[middle, lowest]] = block[[lowest, middle]]
    if block[middle - 1] == middle:
        block[[0, middle - 1]] = block[[middle - 1, 0]]
    passed = slice(middle - steps, middle)
    return np.concatenate(
        [block[: passed.start], [block[middle]], block[passed], block[middle + 1 :]]
    )


def _moves(block: Integers) -> int:
    return int(np.abs(block - np.arange(block.size)).sum())


def _inserted(block: Integers, wanted: int) -> Integers:
    """A permutation on its way to the identity by insertion sort, its moves summing to `wanted`."""

    def begun(sorted_: int, steps: int = 0) -> Integers:
        some = block.copy()
        some[:sorted_].sort()
        if steps:  # the next value has passed so many neighbours
            place = sorted_ - steps
            some[place : sorted_ + 1] = np.append(some[sorted_], some[place:sorted_])
        return some

    sorted_ = _last(0, block.size - 1, lambda m: _moves(begun(m)) >= wanted)
    passing = int((block[:sorted_] > block[sorted_]).sum())
    steps = _last(0, passing, lambda steps: _moves(begun(sorted_, steps)) >= wanted)
    return begun(sorted_, steps)
