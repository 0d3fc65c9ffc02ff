"""Bars: bits spent, distributions with their estimates, posteriors, links that are right."""

from collections.abc import Sequence
from typing import Any, NamedTuple, final

from bistochastic.report.drawing.numbers import decimal, share, sides
from bistochastic.report.drawing.sheet import SIZE, WIDTH, Drawing, Sheet, Table, short

__all__ = ["Guess", "Shares", "gauge", "linkage", "posterior", "shares"]

ROW, BAR = 24.0, 14.0
LEFT, RIGHT = 104.0, 46.0
TOP = 26.0
SHOWN = 24  # bars of a drawing
LISTED = 200  # lines of a table
NOTHING = "There is nothing to show."
STEPS = [1, 2, 2.5, 5, 10]  # of marks


@final
class Shares(NamedTuple):
    """One category: shares reported, in truth and as estimated, where they are known."""

    label: str
    reported: float
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    original: float | None = None


@final
class Guess(NamedTuple):
    """One report: what a reader thinks of the truth before and after she sees it."""

    label: str
    before: float  # that it is the truth
    after: float
    likeliest: str
    chance: float  # of the likeliest truth
    bits: float  # that are left open


def gauge(bits: float, most: float, *, name: str, least: float | None = None) -> Drawing:
    """Bits spent out of the bits possible, as a bar that is full at perfect secrecy."""
    full = WIDTH - 20
    part = min(bits / most, 1.0) if most else 1.0
    sheet = Sheet(52)
    sheet.boxes([(10, 8, full, 16)], fill=None, edge="line")
    sheet.boxes([(10, 8, full * part, 16)])
    sheet.text(10, 38, f"{decimal(bits)} bits", bold=True)
    sheet.text(WIDTH - 10, 38, f"of {decimal(most)} possible", anchor="right", colour="soft")
    lines = [("bits spent", decimal(bits)), ("bits possible", decimal(most))]
    lines.append(("beta, their ratio", decimal(part)))
    if least is not None:
        x = 10 + full * min(least / most, 1.0) if most else 10 + full
        sheet.line([(x, 4), (x, 28)], colour="ink", width=2)
        lines.append(("bits of the value protected worst (the mark)", decimal(least)))
    return Drawing(
        f"Bits spent on {name}",
        sheet.svg(f"Bits spent on {name}", f"{decimal(bits)} of {decimal(most)} bits."),
        Table(("", ""), tuple(lines)),
        "More is better for privacy: a full bar is perfect secrecy, an empty one is the truth."
        + (" The mark is where the value stands that is protected worst." if least else ""),
    )


def shares(given: Sequence[Shares], *, name: str, level: float = 0.95) -> Drawing:
    """What is reported as bars, what is estimated as dots with intervals, the truth as a frame."""
    kept = list(given[:SHOWN])
    scale = _Scale.of(kept)
    sheet = Sheet(TOP + ROW * len(kept) + 22)
    scale.grid(sheet, len(kept))
    for place, one in enumerate(kept):
        y = TOP + place * ROW + (ROW - BAR) / 2
        sheet.text(LEFT - 6, y + BAR / 2, short(one.label, LEFT - 8), anchor="right")
        sheet.boxes([scale.bar(one.reported, y)], opacity=0.35)
        if one.original is not None:
            sheet.boxes([scale.bar(one.original, y)], fill=None, edge="ink")
    _estimates(sheet, kept, scale)
    known = any(one.original is not None for one in given)
    guessed = any(one.estimate is not None for one in given)
    _legend(sheet, known=known, guessed=guessed)
    headings = ["category", "reported"]
    headings += ["original"] if known else []
    headings += ["estimate", f"{level:.0%} from", "to"] if guessed else []
    lines = tuple(
        (
            one.label,
            share(one.reported),
            *([share(one.original or 0.0)] if known else []),
            *([_maybe(one.estimate), _maybe(one.low), _maybe(one.high)] if guessed else []),
        )
        for one in given[:LISTED]
    )
    return Drawing(
        f"Distribution of {name}",
        sheet.svg(f"Distribution of {name}", _told(lines)),
        Table(tuple(headings), lines, max(0, len(given) - LISTED)),
        _said(known=known, guessed=guessed, left=len(given) - len(kept)),
    )


def _said(*, known: bool, guessed: bool, left: int) -> str:
    said = "Bars are what the file reports."
    if not (guessed or known):
        said += " Neither longer nor shorter is better: it is what an analyst starts from."
    if guessed:
        said += (
            " Dots are what an analyst estimates from it, with the interval that holds the truth "
            "19 times of 20: the shorter, the better for analysts."
        )
    if known:
        said += " Frames are the original: the nearer to it, the better for analysts."
    return said + (f" The table lists {left} more." if left > 0 else "")


def posterior(given: Sequence[Guess], *, name: str, prior: str) -> Drawing:
    """How sure a reader is that a report is the truth, before and after she has seen it."""
    worst = sorted(given, key=lambda one: -one.chance)
    kept = list(given) if len(given) <= SHOWN else worst[:SHOWN]
    scale = _Scale(1.0)
    sheet = Sheet(TOP + ROW * len(kept) + 22)
    scale.grid(sheet, len(kept))
    for place, one in enumerate(kept):
        y = TOP + place * ROW + (ROW - BAR) / 2
        sheet.text(LEFT - 6, y + BAR / 2, short(one.label, LEFT - 8), anchor="right")
        sheet.boxes([scale.bar(one.after, y)], fill="second", opacity=0.45)
        x = scale.at(one.before)
        sheet.line([(x, y - 3), (x, y + BAR + 3)], colour="ink", width=2)
        end = max(scale.at(one.after), x)
        inside = end > WIDTH - RIGHT - 30
        sheet.text(
            end - 5 if inside else end + 5,
            y + BAR / 2,
            share(one.after),
            anchor="right" if inside else "left",
        )
    sheet.text(LEFT, 9, "bar: after a report, mark: before", colour="soft")
    lines = tuple(
        (one.label, share(one.before), share(one.after), one.likeliest, share(one.chance),
         decimal(one.bits), sides(one.bits))
        for one in given[:LISTED]
    )  # fmt: skip
    headings = (
        "report", "true, before", "true, after", "likeliest truth", "its chance", "bits left open",
        "sides of the die",
    )  # fmt: skip
    return Drawing(
        f"What a report of {name} tells",
        sheet.svg(
            f"What a report of {name} tells",
            _told([(one.label, share(one.after)) for one in kept]),
        ),
        Table(headings, lines, max(0, len(given) - LISTED)),
        f"How likely a report is to be the truth, for a reader who thinks beforehand that {prior}. "
        "The nearer a bar to its mark, the better for privacy: the report taught her less."
        + ("" if len(kept) == len(given) else f" Shown are the {SHOWN} reports that tell most."),
    )


def linkage(given: Sequence[tuple[str, float, float]]) -> Drawing:
    """The share of records that an intruder links rightly, beside blind guessing."""
    kept = list(given[:SHOWN])
    top = max((max(right, blind) for _, right, blind in kept), default=1.0)
    scale = _Scale(min(1.0, 1.1 * top) or 1.0)
    sheet = Sheet(TOP + ROW * len(kept) + 22)
    scale.grid(sheet, len(kept))
    for place, (name, right, blind) in enumerate(kept):
        y = TOP + place * ROW + (ROW - BAR) / 2
        sheet.text(LEFT - 6, y + BAR / 2, short(name, LEFT - 8), anchor="right")
        sheet.boxes([scale.bar(right, y)], fill="second", opacity=0.45)
        x = scale.at(blind)
        sheet.line([(x, y - 3), (x, y + BAR + 3)], colour="ink", width=2)
    sheet.text(LEFT, 9, "bar: linked rightly, mark: by chance", colour="soft")
    lines = tuple((name, share(right), share(blind)) for name, right, blind in given)
    return Drawing(
        "Records linked rightly",
        sheet.svg("Records linked rightly", _told(lines)),
        Table(("by", "linked rightly", "blind guessing"), lines),
        "Of an intruder who knows everything but who is who. Lower is better for privacy; at the "
        "mark she does no better than by blind guessing.",
    )


class _Scale(NamedTuple):
    """Where shares stand on a drawing of bars."""

    top: float

    @classmethod
    def of(cls, given: Sequence[Shares]) -> "_Scale":
        seen: list[float] = [0.01]
        for one in given:
            told: list[Any] = [one.reported, one.estimate, one.high, one.original]
            seen += [float(value) for value in told if value is not None]
        return cls(min(1.0, 1.04 * max(seen)))

    def at(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * min(max(value / self.top, 0.0), 1.0)

    def bar(self, value: float, y: float) -> tuple[float, float, float, float]:
        return (LEFT, y, self.at(value) - LEFT, BAR)

    def grid(self, sheet: Sheet, rows: int) -> None:
        from matplotlib.ticker import MaxNLocator

        bottom = TOP + rows * ROW
        marks = [
            m
            for m in MaxNLocator(4, steps=STEPS).tick_values(0, self.top)
            if 0 <= m <= self.top * 1.001
        ]
        sheet.lines((((self.at(m), TOP), (self.at(m), bottom)) for m in marks), colour="line",
                    width=1)  # fmt: skip
        for mark in marks:
            sheet.text(self.at(mark), bottom + 11, share(mark), anchor="center", colour="soft",
                       size=SIZE - 1)  # fmt: skip


def _estimates(sheet: Sheet, given: Sequence[Shares], scale: _Scale) -> None:
    whiskers, dots = [], []
    for place, one in enumerate(given):
        y = TOP + place * ROW + ROW / 2
        if one.estimate is None:
            continue
        dots.append((scale.at(one.estimate), y))
        if one.low is not None and one.high is not None:
            low, high = scale.at(one.low), scale.at(one.high)
            whiskers += [((low, y), (high, y))]
            whiskers += [((x, y - 3), (x, y + 3)) for x in (low, high)]
    if whiskers:
        sheet.lines(whiskers, colour="second", width=1.5)
    sheet.dots(dots, fill="second")


def _legend(sheet: Sheet, *, known: bool, guessed: bool) -> None:
    x = LEFT
    sheet.boxes([(x, 5, 12, 9)], opacity=0.35)
    sheet.text(x + 16, 9, "reported", colour="soft")
    x += 74
    if known:
        sheet.boxes([(x, 5, 12, 9)], fill=None, edge="ink")
        sheet.text(x + 16, 9, "original", colour="soft")
        x += 70
    if guessed:
        sheet.dots([(x + 5, 9)], fill="second")
        sheet.text(x + 14, 9, "estimate", colour="soft")


def _told(lines: Sequence[tuple[str, ...]]) -> str:
    """The first numbers of a drawing, for those who do not see it."""
    return "; ".join(" ".join(line[:2]) for line in lines[:12]) or NOTHING


def _maybe(value: float | None) -> str:
    return "" if value is None else share(value)
