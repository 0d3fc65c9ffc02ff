"""What is better than what, as a graph: an arrow from each to those it is better than at once."""

from collections.abc import Iterable, Sequence

from bistochastic.report.drawing.sheet import SIZE, WIDTH, Drawing, Sheet, Table, short, wide

__all__ = ["order"]

LAYER, BOX = 58.0, 24.0
MARGIN = 8.0


def order(
    names: Sequence[str], better: Iterable[tuple[int, int]], *, title: str, caption: str
) -> Drawing:
    """A partial order from its pairs (which, than which); what follows from others is not drawn."""
    pairs = set(better)
    direct = {
        (a, b)
        for a, b in pairs
        if not any(
            (a, c) in pairs and (c, b) in pairs for c in range(len(names)) if c not in (a, b)
        )
    }
    layers = layered(len(names), pairs)
    sheet = Sheet(2 * MARGIN + LAYER * len(layers) - (LAYER - BOX))
    places: dict[int, tuple[float, float]] = {}
    for row, layer in enumerate(layers):
        step = (WIDTH - 2 * MARGIN) / len(layer)
        for column, one in enumerate(layer):
            places[one] = (MARGIN + (column + 0.5) * step, MARGIN + row * LAYER + BOX / 2)
    for a, b in sorted(direct):
        _arrow(sheet, places[a], places[b])
    for layer in layers:
        room = (WIDTH - 2 * MARGIN) / len(layer) - 12
        for one in layer:
            x, y = places[one]
            said = short(names[one], room - 12)
            half = min(room, wide(said) + 16) / 2
            sheet.boxes([(x - half, y - BOX / 2, 2 * half, BOX)], fill="paper", edge="soft")
            sheet.text(x, y, said, anchor="center")
    lines = tuple((names[a], names[b]) for a, b in sorted(pairs))
    told = "; ".join(f"{a} is better than {b}" for a, b in lines) or "None is better than another."
    return Drawing(title, sheet.svg(title, told), Table(("better", "than"), lines), caption)


def layered(size: int, pairs: set[tuple[int, int]]) -> list[list[int]]:
    """Each as far down as the longest chain of better ones above it.

    >>> layered(3, {(0, 1), (1, 2), (0, 2)})
    [[0], [1], [2]]
    """
    left, layers = set(range(size)), []
    while left:
        top = [one for one in sorted(left) if not any((a, one) in pairs for a in left)]
        top = top or sorted(left)  # equals are better than each other
        layers.append(top)
        left -= set(top)
    return layers


def _arrow(sheet: Sheet, start: tuple[float, float], end: tuple[float, float]) -> None:
    (x, y), (to_x, to_y) = start, end
    y, to_y = y + BOX / 2, to_y - BOX / 2 - 1
    sheet.line([(x, y), (to_x, to_y)], colour="soft", width=1.2)
    length = ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5 or 1.0
    along, side = ((to_x - x) / length, (to_y - y) / length), SIZE * 0.35
    back = (to_x - 7 * along[0], to_y - 7 * along[1])
    sheet.line(
        [
            (back[0] - side * along[1], back[1] + side * along[0]),
            (to_x, to_y),
            (back[0] + side * along[1], back[1] - side * along[0]),
        ],
        colour="soft",
        width=1.2,
    )
