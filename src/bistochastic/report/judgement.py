"""A masked table against its original, drawn: what can be linked and told, and what was lost."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bistochastic.errors import MeasureError
from bistochastic.measures.chance import random_distances, random_relative_distances
from bistochastic.measures.figures import Figure
from bistochastic.measures.histogram import ZERO
from bistochastic.measures.permutation import Displacement, relative_distances
from bistochastic.report.drawing.bars import linkage
from bistochastic.report.drawing.curves import Curve, information, protection
from bistochastic.report.drawing.numbers import counted, decimal, share
from bistochastic.report.drawing.sheet import Drawing, Table
from bistochastic.report.page import Page, Part
from bistochastic.report.words import listed, plural

if TYPE_CHECKING:
    from bistochastic.manifest import Manifest
    from bistochastic.referee.evaluation import Evaluation

__all__ = ["judged", "page"]

ALPHAS = np.linspace(-3.0, 1.0, 17)
THETAS = np.linspace(1.0, 8.0, 15)
CURVES = 30  # of one drawing
SHOWN = 20  # pairs that are listed
LINKED = 10_000  # records up to which a report waits for linkage
WEIGHED = 1_000  # and for every record to be weighed behind every other
TOO_MANY = "Linkage of so many records is left out here; ask for it by itself."
UNBOUNDED = ("χ² per record",)  # which would stand before all that lie between 0 and 1
RANDOM = "a random permutation"
LEFT_OUT = (
    "Linking so many records takes its time, which a report does not take: `bistochastic evaluate` "
    "does, with the original and the published table."
)


def page(evaluation: "Evaluation", masked: str) -> Page:
    """The page of a masked file, whoever masked it."""
    pair = evaluation.pair
    by = (
        "nobody is linked" if not pair.linked else f"{counted(pair.linked)} are linked by {pair.by}"
    )
    lead = (
        f"{plural(pair.after, 'masked record')} are held against "
        f"{plural(pair.before, 'original record')} in {plural(len(pair.columns), 'column')}; {by}."
    )
    parts = list(judged(evaluation))
    if evaluation.notes:
        parts.insert(0, Part("Before the figures are believed", texts=evaluation.notes, alert=True))
    lines = tuple((c.name, c.kind, c.why) for c in pair.columns.values())
    told = Table(("column", "kind", "why it is taken for that"), lines)
    return Page(
        title=masked,
        kind="a masked file against its original",
        lead=lead,
        parts=[*parts, Part("The columns", table=told)],
        confidential=True,
        footer="Made by bistochastic. This file needs no network and runs no program.",
    )


def judged(
    evaluation: "Evaluation",
    manifest: "Manifest | None" = None,
    utility: Sequence[Figure] | None = None,
) -> Iterator[Part]:
    """Risks, then losses, as far as they can be measured.

    With the figures of utility that are given, or all there are, which takes longer.
    """
    if not (evaluation.pair.before and evaluation.pair.after):
        return
    if evaluation.displacements:
        yield _protection(evaluation)
    if evaluation.pair.linked:
        yield _linkage(evaluation, manifest)
    if evaluation.section("closeness"):
        yield _classes(evaluation)
    if len(evaluation.displacements) > 1:
        yield _relations(evaluation)
    figures = evaluation.section("utility") if utility is None else utility
    changed = _changed(figures)
    if changed is not None:
        yield changed
    if figures:
        yield _utility(figures)


def _protection(evaluation: "Evaluation") -> Part:
    told = evaluation.displacements
    largest = max(told.values(), key=lambda one: one.size)
    curves = [_curve(name, one) for name, one in list(told.items())[:CURVES]]
    curves.append(_at_random(largest))
    figures = {
        (f.measure, f.parameter, f.of[0]): f for f in evaluation.section("protection") if f.of
    }
    lines = []
    for name in evaluation.pair.columns:
        moved = figures.get(("moved", "", name)) or figures.get(("changed", "", name))
        mean = figures.get(("protection", "alpha=1", name))
        geometric = figures.get(("protection", "alpha=0", name))
        if moved is not None:
            lines.append(
                (name, share(moved.value), _value(mean), _reference(mean), _value(geometric))
            )
    headings = ("column", "moved", "mean way D(1)", "at random", "geometric mean way D(0)")
    return Part(
        "Risk: how far values moved",
        texts=(
            "Whatever was done to a column, it moved values among ranks. The farther they moved, "
            "the better they are protected: larger is safer. Ways are shares of the length of the "
            "file; equal values are ordered in the intruder’s favour.",
        ),
        drawings=[protection(curves)],
        table=Table(headings, tuple(lines)),
    )


def _curve(name: str, told: Displacement) -> Curve:
    heights = told.protection(ALPHAS, rescaled=True)
    return Curve(name, tuple(zip(ALPHAS.tolist(), heights.tolist(), strict=True)))


def _at_random(told: Displacement) -> Curve:
    heights = random_distances(told.size).means(ALPHAS, zero=ZERO) / max(told.span, 1)
    points = tuple(zip(ALPHAS.tolist(), heights.tolist(), strict=True))
    return Curve(RANDOM, points, reference=True)


def _linkage(evaluation: "Evaluation", manifest: "Manifest | None") -> Part:
    pair = evaluation.pair
    if manifest is not None and max(pair.before, pair.after) > LINKED:
        return Part("Risk: who can be linked", texts=(LEFT_OUT,))
    bars = [
        (figure.measure.removeprefix("linked "), figure.value, figure.reference or 0.0)
        for figure in evaluation.section("linkage")
    ]
    texts = [
        "An intruder who knows every original record, but not who is who, takes the nearest masked "
        "record for each: by ranks, or by values."
    ]
    if manifest is not None and max(pair.before, pair.after) <= WEIGHED:
        try:
            found, _ = evaluation.channel_linkage(manifest)
        except MeasureError:
            pass
        else:
            bars.append(("by the matrices", found.expected, found.baseline))
            texts.append(
                "One who weighs them by the matrices of the manifest does the best that can be "
                "done with categories: that is the risk that is left."
            )
    if not bars:
        return Part("Risk: who can be linked", texts=(TOO_MANY,))
    return Part("Risk: who can be linked", texts=texts, drawings=[linkage(bars)])


def _classes(evaluation: "Evaluation") -> Part:
    figures = evaluation.section("closeness")
    lines = tuple(
        (
            figure.measure,
            "" if figure.measure in ("k", "uniques") else figure.of[0],
            _number(figure.before),
            _number(figure.value),
            _number(figure.reference),
            figure.direction,
        )
        for figure in figures
    )
    keys = listed(list(figures[0].of))
    return Part(
        "Risk: what classes of the keys tell",
        texts=(
            f"People alike in {keys} make a class. Of randomised keys these classical measures say "
            "little: who seems alike need not be.",
        ),
        table=Table(("measure", "of", "original", "masked", "by chance", "direction"), lines),
    )


def _relations(evaluation: "Evaluation") -> Part:
    """How differently the columns of each pair moved."""
    told = evaluation.displacements
    losses = [f for f in evaluation.section("information loss") if math.isfinite(f.value)]
    losses.sort(key=lambda figure: -figure.value)
    drawings: list[Drawing] = []
    if losses:
        curves = [_loss(told[f.of[0]], told[f.of[1]], " × ".join(f.of)) for f in losses[:6]]
        first, second = (told[name] for name in losses[0].of)
        heights = random_relative_distances(first, second).means(THETAS)
        heights = heights / max(first.span + second.span, 1)
        points = tuple(zip(THETAS.tolist(), heights.tolist(), strict=True))
        drawings = [information([*curves, Curve(RANDOM, points, reference=True)])]
    lines = tuple((" × ".join(f.of), _value(f), _reference(f)) for f in losses[:SHOWN])
    table = Table(("pair", "torn apart I(1)", "at random"), lines, max(0, len(losses) - SHOWN))
    return Part(
        "Loss: relations between ordered columns",
        texts=(
            "Two columns that moved together still tell how they go together: smaller is better "
            "for analysts. The pairs that came apart most stand first.",
        ),
        drawings=drawings,
        table=table,
    )


def _loss(one: Displacement, other: Displacement, name: str) -> Curve:
    heights = relative_distances(one, other).means(THETAS) / max(one.span + other.span, 1)
    return Curve(name, tuple(zip(THETAS.tolist(), heights.tolist(), strict=True)))


def _changed(figures: Sequence[Figure]) -> Part | None:
    """The pairs of columns whose association changed most."""
    found = [
        figure
        for figure in figures
        if len(figure.of) == 2
        and figure.measure not in UNBOUNDED
        and figure.before is not None
        and figure.after is not None
    ]
    if not found:
        return None
    found.sort(key=lambda figure: -_apart(figure))
    lines = tuple(
        (" × ".join(f.of), f.measure, _number(f.before), _number(f.after), _number(f.value))
        for f in found[:SHOWN]
    )
    headings = ("pair", "measure", "original", "masked", "change")
    return Part(
        "Loss: the pairs most changed",
        texts=(
            "How strongly two columns go together, before and after. The smaller the change, the "
            "better for those who take the masked table as it is; estimates take the part back "
            "that matrices took away.",
        ),
        table=Table(headings, lines, max(0, len(found) - SHOWN)),
    )


def _apart(figure: Figure) -> float:
    change = abs((figure.after or 0.0) - (figure.before or 0.0))
    return change if math.isfinite(change) else 0.0


def _utility(figures: Sequence[Figure]) -> Part:
    alone = [figure for figure in figures if len(figure.of) == 1]
    whole = [figure for figure in figures if len(figure.of) != 1 and figure.before is None
             and figure.after is None and len(figure.of) != 2]  # fmt: skip
    lines = tuple(
        (figure.of[0], figure.measure, _number(figure.before), _number(figure.after),
         _number(figure.value), figure.unit)
        for figure in alone
    )  # fmt: skip
    texts = ["Larger is worse for analysts who take the masked table as it is."]
    texts += [
        f"{figure.measure} is {_number(figure.value)}"
        + ("" if figure.reference is None else f", and of a file drawn anew "
           f"{_number(figure.reference)}") + f" ({figure.unit})."
        for figure in whole
    ]  # fmt: skip
    headings = ("column", "measure", "original", "masked", "loss", "unit")
    return Part("Loss: column by column", texts=texts, table=Table(headings, lines))


def _value(figure: Figure | None) -> str:
    return "" if figure is None else _number(figure.value)


def _reference(figure: Figure | None) -> str:
    return "" if figure is None else _number(figure.reference)


def _number(value: float | None) -> str:
    if value is None or math.isnan(value):
        return ""
    return decimal(value)
