"""Curves over a parameter, and points on the plane of privacy against distortion."""

import math
from collections.abc import Sequence
from typing import NamedTuple, final

from bistochastic.report.drawing.numbers import decimal
from bistochastic.report.drawing.sheet import SIZE, WIDTH, Drawing, Sheet, Table, short, wide

__all__ = ["Curve", "Point", "information", "plane", "protection"]

LEFT, RIGHT, TOP, BOTTOM = 46.0, 14.0, 16.0, 40.0
HIGH = 210.0  # of the field
KEY = 17.0  # the height of a line of the legend
SHOWN = 6  # curves of one drawing with a look of their own
NAMED = 4  # points that have room for their names beside them; of more, only numbers
LISTED = 120
STEPS = [1, 2, 2.5, 5, 10]  # of marks
LOOKS: tuple[tuple[str, tuple[float, ...] | None], ...] = (
    ("accent", None),
    ("second", None),
    ("third", None),
    ("accent", (6.0, 3.0)),
    ("second", (6.0, 3.0)),
    ("third", (6.0, 3.0)),
)


@final
class Curve(NamedTuple):
    """A line by its points, from left to right; `reference` is what others are compared with."""

    name: str
    points: tuple[tuple[float, float], ...]
    reference: bool = False


@final
class Point(NamedTuple):
    """A place on a plane with its name."""

    name: str
    x: float
    y: float


def protection(curves: Sequence[Curve]) -> Drawing:
    r"""$D(\alpha)$ of several columns: how far values moved, as an intruder would weigh it."""
    return _chart(
        "Protection D(α)",
        curves,
        (),
        across="α: to the left, the least moved count most",
        along="D(α)",
        caption="Higher is better for privacy: values moved farther from their ranks. The dashed "
        "line is a random permutation, which nothing need exceed.",
        headings=("column", "α", "D(α)"),
    )


def information(curves: Sequence[Curve]) -> Drawing:
    r"""$I(\theta)$ of several pairs of columns: how much their relation was torn."""
    return _chart(
        "Information loss I(θ)",
        curves,
        (),
        across="θ: to the right, the most torn count most",
        along="I(θ)",
        caption="Lower is better for analysts: the two values of a record moved together. The "
        "dashed line is a random permutation, which keeps nothing of a relation.",
        headings=("pair", "θ", "I(θ)"),
    )


def plane(
    curves: Sequence[Curve],
    points: Sequence[Point],
    *,
    title: str = "Privacy against distortion",
    across: str = "distortion",
    along: str = "bits told",
    caption: str = "Down and to the left is better: less told about the truth, and less harm done. "
    "No method reaches below the line.",
) -> Drawing:
    """The frontier that no method passes, and where methods stand above it."""
    return _chart(
        title, curves, points, across=across, along=along, caption=caption,
        headings=("what", across, along),
    )  # fmt: skip


def _chart(
    title: str,
    curves: Sequence[Curve],
    points: Sequence[Point],
    *,
    across: str,
    along: str,
    caption: str,
    headings: tuple[str, str, str],
) -> Drawing:
    kept = [_finite(curve) for curve in curves]
    spots = [point for point in points if math.isfinite(point.x) and math.isfinite(point.y)]
    own = [curve for curve in kept if not curve.reference]
    keys = min(len(own), SHOWN) + any(curve.reference for curve in kept)
    many = len(spots) if len(spots) > NAMED else 0
    sheet = Sheet(TOP + HIGH + BOTTOM + KEY * (keys + many))
    field = _Field.of([p for curve in kept for p in curve.points] + [(p.x, p.y) for p in spots])
    field.grid(sheet, across, along)
    for curve in own[SHOWN:]:
        sheet.line(field.all(curve.points), colour="soft", width=0.7)
    for curve, (colour, dashes) in zip(own, LOOKS, strict=False):
        sheet.line(field.all(curve.points), colour=colour, width=1.8, dashes=dashes)
    for curve in kept:
        if curve.reference:
            sheet.line(field.all(curve.points), colour="ink", width=1.2, dashes=(2.0, 3.0))
    numbered = [point._replace(name=str(k)) for k, point in enumerate(spots, start=1)]
    _spots(sheet, field, numbered if many else spots)
    _keys(sheet, kept, own)
    for k, point in enumerate(spots[:many], start=1):
        y = TOP + HIGH + BOTTOM + KEY * (keys + k - 0.5) - 2
        sheet.text(LEFT + 13, y, str(k), anchor="center", bold=True, size=SIZE - 0.5)
        sheet.text(LEFT + 33, y, short(point.name, WIDTH - LEFT - 40), size=SIZE - 0.5)
    lines = [
        (curve.name, decimal(x), decimal(y)) for curve in kept for x, y in thinned(curve.points)
    ]
    lines = [(point.name, decimal(point.x), decimal(point.y)) for point in spots] + lines
    told = "; ".join(" ".join(line) for line in lines[:8]) or "There is nothing to show."
    if len(own) > SHOWN:
        caption += f" {len(own) - SHOWN} more are drawn thin and named in the table."
    more = max(0, len(lines) - LISTED)
    table = Table(headings, tuple(lines[:LISTED]), more)
    return Drawing(title, sheet.svg(title, told), table, caption)


def thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """At most nine of the points, the first and the last among them."""
    step = max(1, (len(points) - 1) / 8)
    kept = sorted({round(place * step) for place in range(9) if round(place * step) < len(points)})
    return [points[place] for place in kept]


def _finite(curve: Curve) -> Curve:
    points = tuple((x, y) for x, y in curve.points if math.isfinite(x) and math.isfinite(y))
    return curve._replace(points=points)


def _spots(sheet: Sheet, field: "_Field", spots: Sequence[Point]) -> None:
    """Points with their names, each name where no other stands."""
    taken: list[tuple[float, float, float]] = []
    for point in spots:
        x, y = field.at((point.x, point.y))
        sheet.dots([(x, y)], fill="second", radius=4.5)
        said = short(point.name, WIDTH - LEFT - 20)
        room = wide(said)
        left = x + 8 + room > WIDTH - 4 and x - 8 - room > LEFT
        begin = x - 8 - room if left else min(x + 8, WIDTH - 4 - room)
        height = y - 7 if begin < x < begin + room else y
        while any(
            abs(height - h) < SIZE + 1 and begin < end and start < begin + room
            for start, end, h in taken
        ):
            height -= SIZE + 2
        height = max(height, TOP + 2)
        taken.append((begin, begin + room, height))
        sheet.text(begin, height, said, bold=True)


def _keys(sheet: Sheet, kept: Sequence[Curve], own: Sequence[Curve]) -> None:
    """A line of legend for each look."""
    y = TOP + HIGH + BOTTOM + KEY / 2 - 2
    looks = [(curve.name, *look, 1.8) for curve, look in zip(own, LOOKS, strict=False)]
    looks += [(c.name, "ink", (2.0, 3.0), 1.2) for c in kept if c.reference][:1]
    for name, colour, dashes, width in looks:
        sheet.line([(LEFT, y), (LEFT + 26, y)], colour=colour, width=width, dashes=dashes)
        sheet.text(LEFT + 33, y, short(name, WIDTH - LEFT - 40), size=SIZE - 0.5)
        y += KEY


class _Field(NamedTuple):
    """Where numbers stand on a chart."""

    low: tuple[float, float]
    high: tuple[float, float]

    @classmethod
    def of(cls, points: Sequence[tuple[float, float]]) -> "_Field":
        across = [x for x, _ in points] or [0.0, 1.0]
        along = [y for _, y in points] or [0.0, 1.0]
        left, right = min(across), max(across)
        top = max([*along, 0.0])
        bottom = min([*along, 0.0])
        if left == right:
            left, right = left - 0.5, right + 0.5
        if top == bottom:
            top = bottom + 1.0
        return cls((left, bottom), (right, top + 0.05 * (top - bottom)))

    def at(self, point: tuple[float, float]) -> tuple[float, float]:
        x = (point[0] - self.low[0]) / (self.high[0] - self.low[0])
        y = (point[1] - self.low[1]) / (self.high[1] - self.low[1])
        return LEFT + x * (WIDTH - LEFT - RIGHT), TOP + HIGH * (1 - y)

    def all(self, points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        return [self.at(point) for point in points]

    def grid(self, sheet: Sheet, across: str, along: str) -> None:
        from matplotlib.ticker import MaxNLocator

        (left, bottom), (right, top) = self.low, self.high
        marks = MaxNLocator(5, steps=STEPS).tick_values(bottom, top)
        for mark in (m for m in marks if bottom <= m <= top * (1 + 1e-9)):
            y = self.at((left, mark))[1]
            sheet.line([(LEFT, y), (WIDTH - RIGHT, y)], colour="line")
            sheet.text(LEFT - 5, y, decimal(mark), anchor="right", colour="soft", size=SIZE - 1)
        for mark in MaxNLocator(5, steps=STEPS).tick_values(left, right):
            if not left <= mark <= right * (1 + 1e-9):
                continue
            x = self.at((mark, bottom))[0]
            sheet.line([(x, TOP + HIGH), (x, TOP + HIGH + 4)], colour="soft")
            sheet.text(x, TOP + HIGH + 12, decimal(mark), anchor="center", colour="soft",
                       size=SIZE - 1)  # fmt: skip
        sheet.text(WIDTH - RIGHT, TOP + HIGH + 28, across, anchor="right", colour="soft")
        sheet.text(4, 6, along, colour="soft")
