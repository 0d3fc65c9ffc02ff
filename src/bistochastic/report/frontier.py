"""The plane of a table as a page: the least that anything can leak, and where methods stand."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bistochastic.report.drawing.curves import Curve, Point, plane
from bistochastic.report.drawing.numbers import counted, decimal
from bistochastic.report.drawing.sheet import Drawing, Table
from bistochastic.report.page import Page, Part
from bistochastic.report.words import listed, plural
from bistochastic.tradeoff.curve import TradeoffCurve
from bistochastic.tradeoff.function import Tradeoff
from bistochastic.tradeoff.placed import Placed

__all__ = ["frontier", "page"]

FINE = 61  # places at which the line is drawn


def page(found: Any, curve: TradeoffCurve, placed: Sequence[Placed]) -> Page:
    """What the keys of a table tell of its confidential columns, against distortion."""
    function: Tradeoff = found.tradeoff
    keys = listed([one.name for one in found.keys])
    secrets = listed([one.name for one in found.secrets])
    left = f"; {plural(found.left_out, 'row')} without a number left out" if found.left_out else ""
    lead = (
        f"Published unmasked, {keys} would tell {decimal(function.largest_risk)} {function.units} "
        f"of {secrets}. "
        f"From a mean distortion of {decimal(function.silent_distortion)} on, nothing need be told "
        f"({plural(found.rows, 'row')}{left})."
    )
    spots = [*placed, *([found.plan] if found.plan is not None else [])]
    texts = ["Distortion is what a masked record costs on average, as it was asked for."]
    if found.plan is not None:
        texts.append(f"{found.plan.name}: {found.plan.sentence}")
        if found.plan.thin:
            texts.append("The records are few for each cell; the risk of the plan is doubtful.")
    numbers = tuple(
        (decimal(point.distortion), decimal(point.risk), decimal(point.gap)) for point in curve
    )
    parts = [
        Part(
            "Privacy against distortion",
            texts=texts,
            drawings=[_drawn(curve, spots, function.units)],
        ),
        Part(
            "The best there is",
            texts=("The least that a masking can leak at each distortion, each number certified.",),
            table=Table(("distortion", "least leak", "certified to"), numbers),
        ),
    ]
    if spots:
        lines = tuple(
            (one.name, decimal(one.distortion), decimal(one.risk), decimal(one.least),
             decimal(one.excess))
            for one in spots
        )  # fmt: skip
        headings = ("method", "distortion", "leak", "least possible", "more than need be")
        parts.append(Part("Methods beside it", table=Table(headings, lines)))
    return Page(
        title=f"What {keys} may tell of {secrets}",
        kind="privacy against distortion",
        lead=lead,
        parts=parts,
        confidential=True,
        footer=f"Made by bistochastic from {counted(found.rows)} rows. This file needs no network "
        "and runs no program.",
    )


def _drawn(curve: TradeoffCurve, spots: Sequence[Placed], units: str) -> Drawing:
    points = [Point(one.name, one.distortion, one.risk) for one in spots]
    return plane([frontier(curve)], points, along=f"leak, {units}")


def frontier(curve: TradeoffCurve) -> Curve:
    """The line that no method is below: the highest tangent, which is proven."""
    at = np.unique(np.concatenate(
        (np.linspace(curve.distortion[0], curve.distortion[-1], FINE), curve.distortion)
    ))  # fmt: skip
    least = curve.lower(at)
    least[0] = max(least[0], curve.risk[0] - curve.gap[0])
    return Curve("no masking leaks less", tuple(zip(at.tolist(), least.tolist(), strict=True)))
