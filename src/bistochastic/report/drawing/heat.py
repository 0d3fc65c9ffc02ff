"""A matrix as a map of heat: rows are truths, columns are reports."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bistochastic.matrices.base import Channel
from bistochastic.report.drawing.numbers import counted, share
from bistochastic.report.drawing.sheet import Drawing, Sheet, Table, short, wide

__all__ = ["heat"]

SHOWN = 60  # categories up to which each has a row of its own
BINS = 40  # rows and columns of a map that gathers neighbours
WHOLE = 2048  # places up to which every entry is gathered, beyond it a few of each cell
PICKED = 8  # entries along each side of a cell that stand for all of it
ENOUGH = 0.99  # of a row that a detail of a large matrix shows
LISTED = 12  # categories up to which the table is the matrix itself
LINES = 60  # lines of a table
LEVELS = 16  # shades
SIDE = 252.0  # of the map at most, in pixels
CELL = 64.0  # of one of its cells at most
LEFT, TOP = 100.0, 22.0
SMALL = 10.0


class Map(NamedTuple):
    """Probabilities to shade, and which truths and reports they are of."""

    cells: NDArray[np.float64]
    first: int
    last: int


def heat(channel: Channel, labels: Sequence[str] | None = None, *, name: str) -> Drawing:
    """How each truth is reported: the stronger the colour, the likelier.

    A matrix of many categories is shown by groups of neighbours, one of very many by a detail from
    its middle, so that no matrix is ever laid out as a whole.
    """
    shown = gathered(channel, detail=labels is None)
    side = min(SIDE, CELL * len(shown.cells))
    sheet = Sheet(TOP + side + 24)
    sheet.boxes([(LEFT, TOP, side, side)], fill=None, edge="line")
    for opacity, boxes in shades(shown.cells, side):
        sheet.boxes(boxes, opacity=opacity)
    sheet.text(LEFT, 10, "reported as →", colour="soft")
    _sides(sheet, shown, channel.size, labels, side)
    whole = channel.truthfulness
    told = (
        f"{channel.size:,} by {channel.size:,} probabilities. The truth is told "
        f"{share(whole.min)} of the time where it is told least, {share(whole.mean)} on average."
    )
    return Drawing(
        f"Transition matrix of {name}",
        sheet.svg(f"Transition matrix of {name}", told),
        numbers(channel, labels, shown),
        caption(shown, channel.size),
    )


def caption(shown: Map, size: int) -> str:
    """What is seen, and which direction is better."""
    what = "Each row is a truth, each column a report; the stronger its colour, the likelier."
    if shown.last - shown.first < size:
        what += (
            f" Of {counted(size)} ranks, {counted(shown.last - shown.first)} in the middle are "
            "shown; the others are treated alike."
        )
    elif len(shown.cells) < size:
        what += f" {counted(size)} categories are gathered into {len(shown.cells)} groups."
    return f"{what} Colour away from the diagonal is better for privacy, colour on it for analysts."


def gathered(channel: Channel, *, detail: bool) -> Map:
    """The cells to shade: single entries, or the mean share that neighbours send to neighbours."""
    n = channel.size
    if n <= SHOWN:
        return Map(np.asarray(channel.to_dense()), 0, n)
    first, last = reach(channel) if detail else (0, n)
    if last - first <= SHOWN:
        places = np.arange(first, last)
        return Map(np.asarray(channel.entry(places[:, None], places[None, :])), first, last)
    edges = np.linspace(first, last, BINS + 1).astype(np.int64)
    if last - first <= WHOLE:
        places = np.arange(first, last)
        array = np.asarray(channel.entry(places[:, None], places[None, :]))
        by_report = np.add.reduceat(array, edges[:-1] - first, axis=1)
        sums = np.add.reduceat(by_report, edges[:-1] - first, axis=0)
        return Map(sums / np.diff(edges)[:, None], first, last)
    return Map(_sampled(channel, edges), first, last)


def _sampled(channel: Channel, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """What groups send to groups, by a few entries of each; what stays as it is counts once."""
    picked = np.linspace(edges[:-1], edges[1:] - 1, PICKED).T.round().astype(np.int64).ravel()
    entries = np.array(channel.entry(picked[:, None], picked[None, :]), dtype=np.float64)
    stays = np.array(np.diagonal(entries))
    np.fill_diagonal(entries, 0.0)
    sums = entries.reshape(BINS, PICKED, BINS, PICKED).sum(axis=(1, 3))
    counted = np.full((BINS, BINS), float(PICKED**2))
    np.fill_diagonal(counted, float(PICKED * (PICKED - 1)))
    others = np.tile(np.diff(edges), (BINS, 1)) - np.eye(BINS)
    return sums / counted * others + np.diag(stays.reshape(BINS, PICKED).mean(axis=1))


def reach(channel: Channel) -> tuple[int, int]:
    """The detail in the middle of a large matrix that shows where its values go."""
    n, middle, half = channel.size, channel.size // 2, SHOWN // 2
    while 2 * half < n:
        near = np.arange(middle - half, middle + half)
        if float(np.sum(channel.entry(middle, near))) >= ENOUGH:
            return middle - half, middle + half
        half *= 2
    return 0, n


def shades(cells: NDArray[np.float64], side: float) -> list[tuple[float, list[Any]]]:
    """Rectangles of each shade: cells of a row that look alike are one."""
    n = len(cells)
    step = side / n
    levels = np.ceil(np.sqrt(np.clip(cells, 0, 1)) * LEVELS - 1e-9).astype(int)
    found: dict[int, list[Any]] = {}
    for u, row in enumerate(levels):
        starts = np.flatnonzero(np.concatenate(([True], row[1:] != row[:-1])))
        for start, end in zip(starts, [*starts[1:], n], strict=True):
            if row[start]:
                box = (LEFT + start * step, TOP + u * step, (end - start) * step, step)
                found.setdefault(int(row[start]), []).append(box)
    return [(level / LEVELS, boxes) for level, boxes in sorted(found.items())]


def _sides(sheet: Sheet, shown: Map, size: int, labels: Sequence[str] | None, side: float) -> None:
    """Which truths the rows are of, and which reports the columns are of."""
    rows = len(shown.cells)
    step = side / rows
    if labels is not None and rows == size and step >= SMALL:
        for u, label in enumerate(labels):
            said = short(label, LEFT - 8, SMALL)
            sheet.text(LEFT - 6, TOP + (u + 0.5) * step, said, anchor="right", size=SMALL)
        _across(sheet, labels, step, side)
        return
    ends = (
        (labels[0], labels[-1])
        if labels is not None
        else (f"rank {shown.first + 1:,}", f"rank {shown.last:,}")
    )
    for place, end in zip((0, 1), ends, strict=True):
        y = TOP + (5 if place == 0 else side - 5)
        sheet.text(LEFT - 6, y, short(end, LEFT - 8, SMALL), anchor="right", size=SMALL)
        x, anchor = (LEFT, "left") if place == 0 else (LEFT + side, "right")
        said = short(end, side / 2 - 8, SMALL)
        sheet.text(x, TOP + side + 12, said, anchor=anchor, size=SMALL)
    sheet.text(LEFT - 6, TOP + side / 2, "↑ true ↓", anchor="right", colour="soft")


def _across(sheet: Sheet, labels: Sequence[str], step: float, side: float) -> None:
    """Labels under the columns where they have room, else their numbers in order."""
    room = all(wide(label, SMALL) <= step - 2 for label in labels)
    for v, label in enumerate(labels):
        said = label if room else str(v + 1)
        if room or wide(said, SMALL) <= step or v in (0, len(labels) - 1):
            x = LEFT + (v + 0.5) * step
            sheet.text(x, TOP + side + 12, said, anchor="center", size=SMALL, colour="soft")


def numbers(channel: Channel, labels: Sequence[str] | None, shown: Map) -> Table:
    """The matrix itself if it is small, else what becomes of each truth."""
    n = channel.size
    if labels is None:
        return _by_distance(channel)
    if n <= LISTED:
        lines = tuple(
            (str(label), *(f"{p:.4f}" for p in np.asarray(channel.row(u))))
            for u, label in enumerate(labels)
        )
        return Table(("true", *(f"{v + 1} {label}" for v, label in enumerate(labels))), lines)
    kept = range(min(n, LINES))
    found = []
    for u in kept:
        row = np.asarray(channel.entry(u, np.arange(n))).copy()
        truth, row[u] = float(row[u]), -1.0
        other = int(row.argmax())
        found.append((labels[u], share(truth), labels[other], share(float(row[other]))))
    headings = ("true", "told true", "likeliest other report", "its probability")
    return Table(headings, tuple(found), n - len(kept))


def _by_distance(channel: Channel) -> Table:
    """How far from the middle rank a value goes."""
    n, middle = channel.size, channel.size // 2
    lines: list[tuple[str, ...]] = []
    reached = 0.0
    distance, last = 0, -1
    while last < n and len(lines) < LINES and reached < 1 - 1e-6:
        near = np.arange(max(0, middle - distance), min(n, middle + distance + 1))
        reached = float(np.sum(channel.entry(middle, near)))
        lines.append((f"at most {distance:,}", share(min(reached, 1.0))))
        last, distance = distance, max(1, 2 * distance)
    return Table((f"ranks from rank {middle + 1:,}", "share of reports"), tuple(lines))
