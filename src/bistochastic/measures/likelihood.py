r"""Linkage through known channels: how likely each original record is to be behind a masked one.

An intruder who knows every original record and the matrices, but not who is who, weighs a masked
record of reports $y$ by Bayes' rule, each of n originals being equally likely beforehand:

$$\Pr(i \mid y) = \frac{\prod_k p^{(k)}_{x_{ik}y_k}}{\sum_{i'} \prod_k p^{(k)}_{x_{i'k}y_k}}$$

Attributes that are published as they are split the file into blocks, outside of which nobody is a
candidate. Within a block the sums over all originals are a product of matrices along the axes of a
table of counts, and so are the largest weights: no two records are ever compared one by one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MeasureError, TooLargeError
from bistochastic.matrices.base import Channel
from bistochastic.measures.attributes import grouped
from bistochastic.measures.linkage import Linkage, told

__all__ = ["Through", "likelihood_linkage"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CELLS = 1 << 24  # of a table of all combinations
PAIRS = 1 << 32  # of different records
STEP = 1 << 21
TIE = 1e-9


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Through:
    """An attribute that went through a channel: true and reported codes, -1 for what is missing."""

    channel: Channel
    original: ArrayLike
    masked: ArrayLike


def likelihood_linkage(
    through: Sequence[Through],
    *,
    kept: Sequence[tuple[ArrayLike, ArrayLike]] = (),
    true: ArrayLike | None = None,
    level: float = 0.95,
) -> tuple[Linkage, float]:
    """Link every masked record to the likeliest original, and the mean weight the true one has.

    Args:
        through: Attributes that went through channels, independently of each other.
        kept: Codes, before and after, of attributes that are published as they are.
        true: The masked row of each original row, -1 for none; the same row unless given.
        level: The confidence that the interval has.

    >>> from bistochastic import Mixture
    >>> sexes = Through(Mixture(2, truth=0.75), [0, 0, 1, 1], [0, 1, 1, 1])
    >>> found, weight = likelihood_linkage([sexes])
    >>> found.expected, weight
    (0.375, 0.3125)
    """
    if not through:
        raise MeasureError("Linkage through channels needs at least one channel.")
    before, after, axes = _codes(through)
    partner = _partner(len(before), len(after), true)
    blocks = _blocks(kept, len(before), len(after))
    answers = _Weights(axes, before, after, *blocks)
    known = np.flatnonzero(partner >= 0)
    chances, weights = answers.of(known, partner[known])
    all_chances = np.full(len(before), np.nan)
    all_chances[known] = chances
    weight = float(weights.mean()) if known.size else float("nan")
    return told(all_chances, len(before), level), weight


class _Axis:
    """One channel, with one more code for what is missing, which stays missing."""

    def __init__(self, channel: Channel) -> None:
        self.channel, self.size = channel, channel.size + 1

    def entry(self, u: Integers, v: Integers) -> Floats:
        last = self.size - 1
        gone = (u == last) | (v == last)
        inside = self.channel.entry(np.where(gone, 0, u), np.where(gone, 0, v))
        return np.where(gone, (u == v).astype(np.float64), inside)

    def row(self, u: int) -> Floats:
        return self.entry(np.full(self.size, u), np.arange(self.size))


def _codes(through: Sequence[Through]) -> tuple[Integers, Integers, list[_Axis]]:
    axes = [_Axis(one.channel) for one in through]
    sides = []
    for name in ("original", "masked"):
        columns = []
        for axis, one in zip(axes, through, strict=True):
            codes = np.asarray(getattr(one, name))
            if codes.ndim != 1 or codes.dtype.kind not in "iu":
                raise MeasureError(f"Codes are a line of whole numbers; got {codes.dtype}.")
            codes = codes.astype(np.int64)
            if codes.size and not -1 <= codes.min() <= codes.max() < axis.size - 1:
                raise MeasureError(f"Codes of {axis.channel!r} lie outside of it.")
            columns.append(np.where(codes < 0, axis.size - 1, codes))
        if len({column.size for column in columns}) > 1:
            raise MeasureError("All attributes of a file are of the same records.")
        sides.append(np.column_stack(columns))
    return sides[0], sides[1], axes


def _partner(before: int, after: int, true: ArrayLike | None) -> Integers:
    partner = np.arange(before) if true is None else np.asarray(true, dtype=np.int64)
    if partner.shape != (before,) or (before and not -1 <= partner.min() <= partner.max() < after):
        raise MeasureError(f"`true` gives a masked row, or -1, for each of {before} records.")
    return partner


def _blocks(kept: Sequence[tuple[ArrayLike, ArrayLike]], n: int, m: int) -> tuple[Integers, ...]:
    """Numbers of the blocks of both files: who agrees in all that is published as it is."""
    columns = [np.concatenate([np.asarray(a), np.asarray(b)]) for a, b in kept]
    if any(column.size != n + m for column in columns):
        raise MeasureError("All attributes of a file are of the same records.")
    table = np.column_stack(columns) if columns else np.empty((n + m, 0), dtype=np.int64)
    which = grouped(table)[1]
    return which[:n], which[n:]


class _Weights:
    """The weights of original records behind each kind of masked record."""

    def __init__(
        self, axes: list[_Axis], before: Integers, after: Integers, own: Integers, there: Integers
    ) -> None:
        self.axes, self.before, self.after = axes, before, after
        self.own, self.there = own, there
        self.count = int(max(own.max(initial=-1), there.max(initial=-1))) + 1

    def of(self, rows: Integers, partner: Integers) -> tuple[Floats, Floats]:
        """For each original: the chance that its link is right, and the weight it has."""
        likely = np.ones(rows.size)
        for k, axis in enumerate(self.axes):
            likely *= axis.entry(self.before[rows, k], self.after[partner, k])
        likely = np.where(self.own[rows] == self.there[partner], likely, 0.0)
        total, best, many = (
            self._tabled(partner) if self._tables(partner) else (self._compared(partner))
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = np.where(likely > 0, likely / total, 0.0)
            right = (likely > 0) & (likely >= best * (1 - TIE))
            return np.where(right, 1 / many, 0.0), weights

    def _tables(self, partner: Integers) -> bool:
        """Whether a table of all combinations is there sooner than all pairs of a block are."""
        cells = self.count * math.prod(axis.size for axis in self.axes)
        many = np.bincount(self.own, minlength=self.count).astype(np.float64)
        pairs = float(many[self.there[partner]].sum())  # at most, as equal records are one
        work = cells * sum(axis.size for axis in self.axes)
        return cells <= CELLS and work <= pairs * len(self.axes)

    def _tabled(self, partner: Integers) -> tuple[Floats, Floats, Floats]:
        """From a table of all combinations, one axis after the other."""
        shape = (self.count, *(axis.size for axis in self.axes))
        here = np.ravel_multi_index((self.own, *self.before.T), shape)
        counts = np.bincount(here, minlength=math.prod(shape)).astype(np.float64).reshape(shape)
        total, best, many = counts, (counts > 0).astype(np.float64), counts
        for place, axis in enumerate(self.axes, start=1):
            total, best, many = _along(axis, place, total, best, many)
        asked = np.ravel_multi_index((self.there, *self.after.T), shape)[partner]
        return total.ravel()[asked], best.ravel()[asked], many.ravel()[asked]

    def _compared(self, partner: Integers) -> tuple[Floats, Floats, Floats]:
        """From all pairs of different records of a block."""
        mine = np.column_stack([self.own, self.before])
        theirs = np.column_stack([self.there[partner], self.after[partner]])
        (first, _, times), (firsts, which, _) = grouped(mine), grouped(theirs)
        order = np.argsort(mine[first, 0], kind="stable")
        mine, times, theirs = mine[first][order], times[order], theirs[firsts]
        start = np.searchsorted(mine[:, 0], theirs[:, 0])
        lengths = np.searchsorted(mine[:, 0], theirs[:, 0], side="right") - start
        pairs = int(lengths.sum())
        if pairs > PAIRS:
            raise TooLargeError(
                f"{pairs:.2g} pairs of different records would have to be weighed. Leave some of "
                f"the attributes out."
            )
        totals = [np.zeros(len(theirs)) for _ in range(3)]
        ends = np.cumsum(lengths)
        cut = 0
        while cut < len(theirs):
            # As many reports at a time as make up so many pairs, at least one.
            done = ends[cut - 1] if cut else 0
            stop = max(cut + 1, int(np.searchsorted(ends, done + STEP, side="right")))
            self._part(mine, times, theirs, start, lengths, slice(cut, stop), totals)
            cut = stop
        return totals[0][which], totals[1][which], totals[2][which]

    def _part(
        self, mine: Integers, times: Integers, theirs: Integers, start: Integers,
        lengths: Integers, part: slice, totals: list[Floats],
    ) -> None:  # fmt: skip
        sizes = lengths[part]
        reports = np.repeat(np.arange(sizes.size), sizes)
        steps = np.arange(reports.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        who = start[part][reports] + steps
        likely = np.ones(reports.size)
        for k, axis in enumerate(self.axes, start=1):
            likely *= axis.entry(mine[who, k], theirs[part][reports, k])
        totals[0][part] = np.bincount(reports, likely * times[who], minlength=sizes.size)
        best = np.zeros(sizes.size)
        np.maximum.at(best, reports, likely)
        totals[1][part] = best
        near = likely >= best[reports] * (1 - TIE)
        totals[2][part] = np.bincount(reports, times[who] * near, minlength=sizes.size)


def _along(axis: _Axis, place: int, total: Any, best: Any, many: Any) -> tuple[Any, Any, Any]:
    """Sum, greatest and how many have it, along one axis of a table."""
    total, best, many = (np.moveaxis(table, place, -1) for table in (total, best, many))
    sums, most, ties = (np.zeros(best.shape) for _ in range(3))
    for u in range(axis.size):
        row = axis.row(u)
        if not total[..., u].any():
            continue
        sums += total[..., u, None] * row
        candidate = best[..., u, None] * row
        higher = candidate > most * (1 + TIE)
        level = ~higher & (candidate >= most * (1 - TIE)) & (candidate > 0)
        there = many[..., u, None]
        ties = np.where(higher, there, np.where(level, ties + there, ties))
        most = np.maximum(most, candidate)
    made = (np.moveaxis(table, -1, place) for table in (sums, most, ties))
    return next(made), next(made), next(made)
