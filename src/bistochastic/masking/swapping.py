r"""Swapping: ranks at most w apart change places, so that every pair of them is equally likely.

A *hat* (m, δ) cuts the line into cells of m ranks, pairs each cell with the one δ = jm further on,
and lets the ranks of the two change places, anyone with anyone. From a cut at a random place, ranks
a distance d apart then meet with probability $(m - |d-\delta|)/2m^2$: a hat over δ. Hats whose
cells are halved again and again add up to a box of width w, exactly: within a scale they overlap to
a flat line, and the next finer scale fills the ramp at its end.

The line is cut into regions at a random place, and each region has a hat of its own by lot. So who
learns by what hat one rank was moved learns nothing about other regions, and little about others in
its own: which ranks of two cells changed places is still open. What a hat does not cover of a
region makes its lot a little more likely; the sum of lots stays below one in regions long enough,
because a window leaves a share of 1/(2w+1) where it is. At the ends a rank whose partner would lie
beyond stays, which is what the window says.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bistochastic.errors import MaskingError
from bistochastic.masking.shuffle import drawn_lots, shuffled, whole_number
from bistochastic.matrices.window import WindowForm
from bistochastic.matrices.words import Words, restricted, uniform_below

__all__ = ["Hat", "Swapping", "hats", "swapped", "swapped_bits"]

Integers = NDArray[np.int64]

LN2 = math.log(2.0)
CUT, LOTS, SHUFFLE, TURN = range(4)  # the draws
TRIED = 10_000  # lengths of a region that are looked at before one that certainly suffices
SLICE = 1 << 20  # ranks that are placed at once


@final
class Hat(NamedTuple):
    """Cells of m ranks change places with those δ further on; `halves` is twice its height."""

    cell: int
    distance: int
    halves: int


def hats(width: int) -> list[Hat]:
    """Hats whose heights add up to 1 at the distances 1 … width and to 0 beyond it.

    >>> [tuple(hat) for hat in hats(3)]
    [(2, 2, 2), (1, 1, 1), (1, 3, 1)]
    """
    beyond = width + 1
    cell = 1 << max((beyond // 2).bit_length() - 1, 0)
    flat = beyond // cell - 1  # up to here hats of this scale overlap to 1
    made = [Hat(cell, cell * j, 2) for j in range(1, flat + 1)]
    end = flat * cell
    while cell > 1:
        half = cell // 2
        made.append(Hat(half, half, 1))  # the ramp up from 0
        made.append(Hat(half, end + half, 1))  # the ramp down
        if beyond >= end + 3 * half:
            made.append(Hat(half, end + cell, 2))
        cell, end = half, (beyond // half - 1) * half
    return made


@final
@dataclass(frozen=True, slots=True)
class Swapping:
    """The lottery of a window: the length of its regions, its hats and their exact chances."""

    length: int
    hats: tuple[Hat, ...]
    chances: tuple[Fraction, ...]

    @classmethod
    def of(cls, form: WindowForm) -> Self:
        """The shortest regions, of those tried, whose lots sum to one at most."""
        made = tuple(hats(form.matrix.width))
        unit = Fraction(form.weight, 1 << form.word_bits)
        shares = [hat.cell * hat.halves * unit for hat in made]
        distances = np.array([hat.distance for hat in made])
        weights = np.array([float(share) for share in shares])
        for length in _lengths(distances, weights):
            tiles = [length // (2 * hat.distance) for hat in made]
            chances = tuple(
                share * Fraction(length, 2 * hat.distance * count)
                for share, hat, count in zip(shares, made, tiles, strict=True)
            )
            if sum(chances) <= 1:
                return cls(length, made, chances)
        raise MaskingError(
            f"A window of width {form.matrix.width} leaves too little of {form.word_bits}-bit "
            f"words for swapping."
        )

    def tiles(self, hat: Hat) -> int:
        """How many pairs of rows of cells a region holds."""
        return self.length // (2 * hat.distance)


def _lengths(distances: Integers, weights: NDArray[np.float64]) -> list[int]:
    """Lengths worth an exact look: of some multiples, those that fit in floating point.

    With slack s and shares c, a length of max 2δ + Σ 2δc/s wastes less than the slack.
    """
    step = 2 * int(distances.max(initial=1))
    slack = 1 - float(weights.sum())
    most = step + int(2 * (distances * weights).sum() / slack) + 2 if slack > 0 else step
    tried = step + np.unique(np.linspace(0, most - step, TRIED).astype(np.int64))
    used = tried[:, None] // (2 * distances) * (2 * distances)
    fits = ((tried[:, None] / used) * weights).sum(axis=1) <= 1 + 1e-12
    return [int(length) for length in tried[fits]]


def swapped(form: WindowForm, words: Words) -> Integers:
    """A random permutation in which ranks at most w apart change places, all pairs alike."""
    n = form.size
    swapping = Swapping.of(form)
    cut = whole_number(swapping.length, CUT, words, word_bits=form.word_bits)
    regions = (n - 1 + cut) // swapping.length + 1
    lots = drawn_lots(swapping.chances, LOTS, words, lots=regions, word_bits=form.word_bits)
    line = _Line(n, cut, swapping, lots)
    order = shuffled(line.cells(), SHUFFLE, words, word_bits=form.word_bits)
    result = np.arange(n)
    for start in range(0, n, SLICE):
        ranks = np.arange(start, min(start + SLICE, n))
        place = line.at(ranks)
        whole = np.flatnonzero(place.whole)
        result[ranks[whole]] = order[place.partner[whole]]
        torn = np.flatnonzero(place.torn)
        if torn.size:
            result[ranks[torn]] = _turned(ranks, place, torn, n, words, form.word_bits)
    return result


@final
class _Place(NamedTuple):
    """Where ranks stand: in which cell, and which place of its partner lies across from them."""

    cell: Integers  # the size of the cell
    within: Integers  # the place within it
    partner: Integers  # the rank across, perhaps beyond the ends
    whole: NDArray[np.bool_]  # whether both cells lie within the line
    torn: NDArray[np.bool_]  # whether only parts of them do


@final
class _Line:
    """The ranks under a cut and a hat for each region."""

    def __init__(self, n: int, cut: int, swapping: Swapping, lots: Integers) -> None:
        idle = Hat(1, 1, 0)
        chosen = [*swapping.hats, idle]
        self.n, self.cut, self.length = n, cut, swapping.length
        self.lots = lots
        self.sizes = np.array([hat.cell for hat in chosen])
        self.distances = np.array([hat.distance for hat in chosen])
        used = [2 * hat.distance * swapping.tiles(hat) for hat in swapping.hats]
        self.used = np.array([*used, 0])

    def at(self, ranks: Integers) -> _Place:
        region, inside = np.divmod(ranks + self.cut, self.length)
        lot = self.lots[region]
        cell, distance = self.sizes[lot], self.distances[lot]
        row = inside // distance
        partner = ranks + np.where(row % 2 == 0, distance, -distance)
        within = inside % cell
        low = np.minimum(ranks, partner) - within
        busy = inside < self.used[lot]
        whole = busy & (low >= 0) & (low + distance + cell <= self.n)
        return _Place(cell, within, partner, whole, busy & ~whole)

    def cells(self) -> Integers:
        """The sizes of the cells that are shuffled, in order; every other rank is one by itself."""
        begins = np.empty(self.n, dtype=bool)
        for start in range(0, self.n, SLICE):
            ranks = np.arange(start, min(start + SLICE, self.n))
            place = self.at(ranks)
            begins[ranks] = ~place.whole | (place.within == 0)
        return np.diff(np.append(np.flatnonzero(begins), self.n))


def _turned(
    ranks: Integers, place: _Place, torn: Integers, n: int, words: Words, word_bits: int
) -> Integers:
    """Two cells of which parts lie beyond an end: turned against each other by one random step.

    Who would meet a place beyond stays; the others change places, so the law of each is that of
    whole cells.
    """
    mine, cell, within = ranks[torn], place.cell[torn], place.within[torn]
    partner = place.partner[torn]
    first = np.minimum(mine, partner) - within
    # Both cells of a pair ask the same word: that of the first rank on the line in either.
    asked = np.clip(np.where(first + cell > 0, first, np.maximum(mine, partner) - within), 0, n - 1)
    step = uniform_below(
        cell.astype(np.uint64), TURN, restricted(words, asked), word_bits=word_bits
    ).astype(np.int64)
    turned = np.where(partner > mine, within + step, within - step) % cell
    target = partner - within + turned
    return np.where((target >= 0) & (target < n), target, mine)


def swapped_bits(form: WindowForm) -> float:
    r"""At least this much: what is open about cells within the line once cut and lots are known.

    Two cells of m ranks have (m!)² ways to change places. Beside that, σ tells whether a region
    was moved at all, and where all cells are single ranks, by which hat.
    """
    swapping, n = Swapping.of(form), form.size
    total = 0.0
    for hat, chance in zip(swapping.hats, swapping.chances, strict=True):
        pairs = swapping.tiles(hat) * (hat.distance // hat.cell)
        room = max(n - hat.distance - hat.cell + 1, 0) / swapping.length
        total += float(chance) * pairs * room * 2 * float(gammaln(hat.cell + 1)) / LN2
    moved = float(sum(swapping.chances))
    told = [float(chance) for chance in swapping.chances]
    told = told if swapping.hats[0].cell == 1 else [moved]
    shares = np.array([*told, max(1 - moved, 0.0)])
    shares = shares[shares > 0]
    regions = max((n - swapping.length + 1) / swapping.length, 0.0)
    return total + regions * float(-(shares * np.log2(shares)).sum())
