"""Linkage through the matrices of a release: what its manifest lets an intruder weigh."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import MeasureError
from bistochastic.manifest import Manifest, Published
from bistochastic.masking.joint import fold
from bistochastic.matrices.closed import rebuilt
from bistochastic.measures.likelihood import Through, likelihood_linkage
from bistochastic.measures.linkage import Linkage
from bistochastic.referee.pairing import Pair, Shared
from bistochastic.tables.labels import spelled

__all__ = ["through"]

Codes = NDArray[np.int64]


def through(pair: Pair, manifest: Manifest, *, level: float) -> tuple[Linkage, float]:
    """Weigh every original record behind every masked one by the matrices of a release.

    Categories that were randomised count by their channels, those published as they are by being
    the same; numbers masked by their ranks are left out, whose places everybody else decides.
    """
    if pair.partner is None:
        raise MeasureError("Nobody is linked: name the column that says who is who (id).")
    channels, kept = [], []
    joined = {name for group in manifest.together for name in group.columns}
    for column in manifest.columns:
        if column.name not in pair.columns:
            continue
        if column.treatment == "randomised" and column.channel is not None:
            before, after = _codes(pair.column(column.name), column, manifest)
            channels.append(Through(rebuilt(column.channel), before, after))
        elif column.treatment == "untouched" and column.name not in joined:
            shared = pair.column(column.name)
            kept.append((_same(shared.before), _same(shared.after)))
    for group in manifest.together:
        columns = [manifest.column(name) for name in group.columns]
        parts = [_codes(pair.column(column.name), column, manifest) for column in columns]
        sizes = [len(c.labels or ()) + (c.missing == "category") for c in columns]
        before, after = (_folded([part[side] for part in parts], sizes) for side in (0, 1))
        channels.append(Through(rebuilt(group.channel), before, after))
    if not channels:
        raise MeasureError("No column of the release went through a channel of categories.")
    return likelihood_linkage(channels, kept=kept, true=pair.partner, level=level)


def _codes(shared: Shared, column: Published, manifest: Manifest) -> tuple[Codes, Codes]:
    """Codes of the channel, -1 where a missing value stays one."""
    known = [spelled(label) for label in column.labels or ()]
    other = manifest.plan["columns"][column.name].get("other")
    place = {label: code for code, label in enumerate(known)}
    rest = -2 if other is None else place[spelled(other)]
    codes = [place.get(label, rest) for label in shared.labels]
    gone = len(known) if column.missing == "category" else -1
    lookup = np.array([*codes, gone], dtype=np.int64)  # where -1, the last, is what is missing
    if shared.kind == "numeric" or -2 in codes:
        raise MeasureError(
            f"Column {shared.name!r} is not compared as the categories of the manifest, or holds "
            f"others: evaluate with the plan of the release."
        )
    return lookup[shared.before], lookup[shared.after]


def _folded(parts: list[Codes], sizes: list[int]) -> Codes:
    """Codes of a group as one, missing if one of them is."""
    gone = np.logical_or.reduce([part < 0 for part in parts])
    whole = fold([np.maximum(part, 0) for part in parts], sizes)
    return np.where(gone, -1, np.asarray(whole, dtype=np.int64))


def _same(values: NDArray[Any]) -> Codes:
    """Values as numbers that are equal where they are; missing is one of them."""
    return np.nan_to_num(values, nan=np.inf).astype(np.float64).view(np.int64)
