"""One column, or several as one: its matrix, its budget, what a report tells, what is counted."""

from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np

from bistochastic.manifest import Group, Published
from bistochastic.matrices.base import Channel
from bistochastic.matrices.closed import rebuilt
from bistochastic.measures.disclosure import disclosure
from bistochastic.report.drawing.bars import Guess, Shares, gauge, posterior, shares
from bistochastic.report.drawing.curves import Point, plane
from bistochastic.report.drawing.heat import heat
from bistochastic.report.drawing.numbers import brief, counted
from bistochastic.report.drawing.sheet import Drawing
from bistochastic.report.frontier import frontier
from bistochastic.report.material import Counted, Histogram, Material
from bistochastic.report.page import Part
from bistochastic.report.words import RANKED, facts, of_columns, of_ranks
from bistochastic.tradeoff.function import tradeoff

__all__ = ["column_part", "group_part"]

PLANE = 16  # categories up to which the best trade-off is computed
POINTS = 13  # of its curve
LEGIBLE = 2000  # categories up to which each report is read
NAMED = 5000  # categories of a product up to which each has a name


def column_part(material: Material, column: Published) -> Part | None:
    """What there is to say of a column; nothing of one that was not masked."""
    if column.treatment == "together":
        found = material.columns.get(column.name)
        drawings = [] if found is None else [_distribution(found, column.name)]
        return Part(column.name, texts=(_said(material, column),), drawings=drawings)
    given = column.guarantee
    if column.treatment in RANKED:
        return _ranks(material, column)
    if column.treatment != "randomised" or given is None or column.channel is None:
        return None
    channel, found = rebuilt(column.channel), material.columns.get(column.name)
    labels = _names(column)
    drawings = [
        gauge(given.bits, given.max_bits, name=column.name, least=given.min_row_bits),
        heat(channel, labels, name=column.name),
        *_readings(channel, labels, column.name, material.priors.get(column.name)),
    ]
    if found is not None:
        drawings.append(_distribution(found, column.name))
    drawings += _plane(channel, column, material.priors.get(column.name))
    return Part(
        column.name,
        texts=(_said(material, column),),
        facts=facts(given, str(column.matrix), material.families.get(str(column.matrix), "")),
        drawings=drawings,
    )


def group_part(material: Material, group: Group) -> Part:
    """Columns that one channel treated as one."""
    name = " × ".join(group.columns)
    given, channel = group.guarantee, rebuilt(group.channel)
    labels = _combinations(material, group, channel.size)
    drawings = [
        gauge(given.bits, given.max_bits, name=name, least=given.min_row_bits),
        heat(channel, labels, name=name),
    ]
    if labels is not None:
        drawings += _readings(channel, labels, name, None)
    return Part(
        name,
        texts=(
            f"One matrix treats them as one column of {counted(channel.size)} combinations, so "
            f"that how they go together can be estimated as well as each of them.",
        ),
        facts=facts(given, group.matrix, material.families.get(group.matrix, "")),
        drawings=drawings,
    )


def _said(material: Material, column: Published) -> str:
    sentences = of_columns(material.manifest, material.rows)
    return next(f"{one.about} {one.says}" for one in sentences if one.about == column.name)


def _names(column: Published) -> tuple[str, ...]:
    """The categories of a channel by their labels."""
    labels = tuple(map(str, column.labels or ()))
    return (*labels, "(missing)") if column.missing == "category" else labels


def _combinations(material: Material, group: Group, size: int) -> tuple[str, ...] | None:
    if size > NAMED:
        return None
    names = [_names(material.manifest.column(name)) for name in group.columns]
    return tuple(", ".join(labels) for labels in product(*names))


def _ranks(material: Material, column: Published) -> Part:
    given = column.guarantee
    text = f"{column.name} {of_ranks(column, material.rows)}"
    if given is None or column.channel is None:
        return Part(column.name, texts=(text,))
    drawings = [
        gauge(given.bits, given.max_bits, name=f"{column.name}, each rank",
              least=given.min_row_bits),
        heat(rebuilt(column.channel), name=column.name),
    ]  # fmt: skip
    found = material.numbers.get(column.name)
    if found is not None:
        drawings.append(_histogram(found, column.name))
    says = material.families.get(str(column.matrix), "")
    return Part(
        column.name,
        texts=(text,),
        facts=facts(given, str(column.matrix), says, ranks=True),
        drawings=drawings,
    )


def _readings(channel: Channel, labels: Sequence[str], name: str, prior: Any) -> list[Drawing]:
    """What each report tells a reader with a prior."""
    n = channel.size
    if n > LEGIBLE:
        return []
    read = disclosure(channel, prior)
    places = np.arange(n)
    after = np.asarray(read.posterior[places, places])
    chances, bits = np.asarray(read.guess), np.asarray(read.deniability)
    guesses = []
    for v in np.flatnonzero(np.asarray(read.reported) > 0).tolist():
        likeliest = int(np.nanargmax(np.asarray(read.posterior[places, v])))
        guesses.append(
            Guess(
                labels[v], float(np.asarray(read.prior)[v]), float(after[v]), labels[likeliest],
                float(chances[v]), float(bits[v]),
            )
        )  # fmt: skip
    said = "all truths are equally likely" if prior is None else "the truths are as she says"
    drawn = posterior(guesses, name=name, prior=said)
    return [drawn._replace(caption=f"{drawn.caption} {read.summary}")]


def _plane(channel: Channel, column: Published, prior: Any) -> list[Drawing]:
    """Where the matrix stands between what it tells and what it distorts, beside the best."""
    n = channel.size
    if not 1 < n <= PLANE:
        return []
    ordinal = column.kind == "ordinal"
    law = np.full(n, 1 / n) if prior is None else prior
    function = tradeoff(
        np.diag(law), "squared" if ordinal else "hamming", units="bits", tolerance=1e-3
    )
    line = frontier(function.curve(POINTS))
    placed = function.place(channel, "this release")
    here = Point(placed.name, placed.distortion, placed.risk)
    across = "mean squared steps moved" if ordinal else "share reported wrongly"
    drawn = plane(
        [line], [here], title=f"Privacy against distortion of {column.name}", across=across,
        along="bits told",
    )  # fmt: skip
    return [drawn._replace(caption=f"{drawn.caption} {placed.sentence}")]


def _distribution(found: Counted, name: str) -> Drawing:
    """Shares as reported, estimated and, inside, true."""
    total = max(int(found.reported.sum()), 1)
    before = found.original
    whole = 1 if before is None else max(int(before.sum()), 1)
    guess = found.recovered
    given = [
        Shares(
            label,
            float(found.reported[place] / total),
            None if guess is None else float(guess.shares[place]),
            None if guess is None else float(guess.low[place]),
            None if guess is None else float(guess.high[place]),
            None if before is None else float(before[place] / whole),
        )
        for place, label in enumerate(found.labels)
    ]
    if len(given) > 24:
        given.sort(key=lambda one: -one.reported)
    return shares(given, name=name)


def _histogram(found: Histogram, name: str) -> Drawing:
    total = max(int(found.reported.sum()), 1)
    before = found.original
    whole = 1 if before is None else max(int(before.sum()), 1)
    edges = [brief(float(edge)) for edge in found.edges]
    if edges:
        middle = [f"{low} – {high}" for low, high in pairwise(edges)]
        labels = [f"below {edges[0]}", *middle, f"{edges[-1]} or more"]
    else:
        labels = ["all of them"]
    given = [
        Shares(
            label,
            float(found.reported[place] / total),
            original=None if before is None else float(before[place] / whole),
        )
        for place, label in enumerate(labels)
    ]
    return shares(given, name=name)
