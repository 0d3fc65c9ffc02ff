"""A column as it was counted, and as an analyst estimates it from the release alone."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import BistochasticError
from bistochastic.estimate.axes import Axis, lumped
from bistochastic.estimate.intervals import intervals
from bistochastic.estimate.shares import estimated
from bistochastic.estimate.tally import Tally
from bistochastic.manifest import Group, Manifest, Published
from bistochastic.matrices.closed import rebuilt
from bistochastic.report.material import Counted, Recovered

__all__ = ["recovered"]

BARS = 24  # of a drawing
LARGEST = 2000  # categories up to which a matrix is undone for a report
Integers = NDArray[np.int64]
Counts = Mapping[Any, Integers]  # by column, and by groups of columns


def recovered(
    manifest: Manifest,
    column: Published,
    labels: tuple[str, ...],
    counts: Counts,
    original: Integers | None,
) -> Counted:
    """A column as it was counted, and as an analyst estimates it from the release alone.

    An ordered one with more labels than bars is told by groups of neighbours, whose sums are
    estimated as such.
    """
    table = counts[column.name]
    if column.kind == "ordinal" and len(column.labels or ()) > BARS:
        levels, names = neighbours(labels, len(column.labels or ()))
    else:
        levels, names = None, labels
    try:
        known = _estimated(column, manifest.group(column.name), counts, levels)
    except BistochasticError:
        known = None  # which the words on what can be recovered explain
    if levels is None:
        return Counted(names, table, original, known)
    summed = None if original is None else _summed(original, levels)
    return Counted(names, _summed(table, levels), summed, known)


def neighbours(labels: tuple[str, ...], many: int) -> tuple[Integers, tuple[str, ...]]:
    """The group of each label and the names of the groups; what is missing is one by itself.

    >>> neighbours(tuple("abcdefg"), 7)[1]
    ('a', 'b', 'c', 'd', 'e', 'f', 'g')
    """
    width = -(-many // BARS)
    levels = np.minimum(np.arange(len(labels)), many) // width
    groups = -(-many // width)
    levels[many:] = groups
    firsts = [labels[start : min(start + width, many)] for start in range(0, many, width)]
    names = [some[0] if len(some) == 1 else f"{some[0]} – {some[-1]}" for some in firsts]
    return levels, (*names, *labels[many:])


def _summed(table: Integers, levels: Integers) -> Integers:
    return np.bincount(levels, table).astype(np.int64)


def _estimated(
    column: Published, group: Group | None, counts: Counts, levels: Integers | None
) -> Recovered | None:
    table = counts[column.name]
    if not table.sum():
        return None
    kept = int(column.missing == "keep")
    if group is None:
        if column.channel is None or table.size > LARGEST:
            return None
        channel = rebuilt(column.channel)
        own = None if levels is None else levels[: channel.size]
        return _undone(Axis.of(channel, kept=kept, levels=own), table)
    sizes = [counts[name].size for name in group.columns]
    channel, place = rebuilt(group.channel), group.columns.index(column.name)
    alone = lumped(channel, sizes, [place])
    if alone is not None:
        return _undone(Axis.of(alone, kept=kept, levels=levels), table)
    joint = counts.get(group.columns)
    if joint is None or channel.size > LARGEST or channel.size != joint.size:
        return None
    codes = np.unravel_index(np.arange(channel.size), joint.shape)[place]
    own = codes if levels is None else levels[codes]
    return _undone(Axis.of(channel, levels=own), joint.ravel())


def _undone(axis: Axis, table: Integers) -> Recovered | None:
    if axis.lost:
        return None
    shares = estimated(Tally.from_table(table), [axis])
    limits = intervals(shares)
    return Recovered(shares.estimate, limits.low, limits.high)
