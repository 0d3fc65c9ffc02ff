"""What an analyst estimates from a release alone, column by column, with intervals."""

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
from bistochastic.report.material import Recovered

__all__ = ["recovered"]

LARGEST = 2000  # categories up to which a matrix is undone for a report
Counts = Mapping[Any, NDArray[np.int64]]  # by column, and by groups of columns


def recovered(manifest: Manifest, counts: Counts) -> dict[str, Recovered]:
    """The estimated shares of every column whose labels can all be told apart again."""
    found = {}
    for column in manifest.columns:
        if column.name not in counts:
            continue
        try:
            known = _of_column(column, manifest.group(column.name), manifest, counts)
        except BistochasticError:
            known = None  # which the words on what can be recovered explain
        if known is not None:
            found[column.name] = known
    return found


def _of_column(
    column: Published, group: Group | None, manifest: Manifest, counts: Counts
) -> Recovered | None:
    table = counts[column.name]
    if not table.sum():
        return None
    kept = int(column.missing == "keep")
    if group is None:
        if column.channel is None or table.size > LARGEST:
            return None
        return _undone(Axis.of(rebuilt(column.channel), kept=kept), table)
    sizes = [counts[name].size for name in group.columns]
    channel, place = rebuilt(group.channel), group.columns.index(column.name)
    own = lumped(channel, sizes, [place])
    if own is not None:
        return _undone(Axis.of(own, kept=kept), table)
    joint = counts.get(group.columns)
    if joint is None or channel.size > LARGEST or channel.size != joint.size:
        return None
    codes = np.unravel_index(np.arange(channel.size), joint.shape)
    return _undone(Axis.of(channel, levels=codes[place]), joint.ravel())


def _undone(axis: Axis, table: NDArray[np.int64]) -> Recovered | None:
    if axis.lost:
        return None
    shares = estimated(Tally.from_table(table), [axis])
    limits = intervals(shares)
    return Recovered(shares.estimate, limits.low, limits.high)
