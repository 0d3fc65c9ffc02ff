"""A sheet to draw on: Matplotlib's shapes, written as SVG that fits into any page.

One unit is one pixel, counted from the upper left corner as SVG counts. Text stays text, in the
fonts of the page. Colours are names that the page gives a meaning, so that one drawing serves in
the dark and in the light, on a screen and on paper.
"""

import html
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, final

__all__ = ["COLOURS", "SIZE", "WIDTH", "Drawing", "Sheet", "Table", "plain", "short", "wide"]

WIDTH = 360  # of every drawing, so that text is as large on a telephone as it is meant to be
SIZE = 11.0  # of text, in pixels
LETTER = 0.63  # the width of a letter in units of its size, rather too much than too little

# Names of colours, each with what stands for it where a page gives it no meaning. Matplotlib is
# told a colour nobody would choose for each, which is replaced by the name in what it writes.
COLOURS = {
    "ink": "#1b1f24",
    "soft": "#57606a",
    "line": "#d0d7de",
    "accent": "#0b7a75",
    "second": "#b4530a",
    "third": "#6b3fa0",
    "paper": "#ffffff",
    "shade": "#f3f5f7",
}
TOLD = {name: f"#0{place}fe{place}{place}" for place, name in enumerate(COLOURS, start=1)}

BARRED = ("Cc", "Cs")  # control characters and halves of characters

Corner = tuple[float, float]


class Table(NamedTuple):
    """The numbers of a drawing, as they are shown to people: headings, and lines under them."""

    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    more: int = 0  # lines that are left out


class Drawing(NamedTuple):
    """A picture, its numbers, and a caption that says which direction is better."""

    title: str
    svg: str
    table: Table
    caption: str


@final
class Sheet:
    """What is drawn, until it is asked for as SVG."""

    def __init__(self, height: float, width: float = WIDTH) -> None:
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
        from matplotlib.transforms import Affine2D

        self.width, self.height = width, height
        self._figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        FigureCanvasSVG(self._figure)
        self._figure.patch.set_visible(False)
        self._down: Any = Affine2D().scale(1, -1).translate(0, height)
        self._texts: list[str] = []

    def boxes(
        self,
        boxes: Iterable[tuple[float, float, float, float]],
        *,
        fill: str | None = "accent",
        edge: str | None = None,
        opacity: float = 1.0,
    ) -> None:
        """Rectangles of one look, each by its left, top, width and height, as one shape."""
        rings = [
            [(x, y), (x + wide, y), (x + wide, y + high), (x, y + high)]
            for x, y, wide, high in boxes
            if wide > 0 and high > 0
        ]
        self._shape(rings, closed=True, fill=fill, edge=edge, opacity=opacity)

    def line(
        self,
        points: Sequence[Corner],
        *,
        colour: str = "ink",
        width: float = 1.0,
        dashes: tuple[float, ...] | None = None,
    ) -> None:
        """A line through points."""
        self._shape([list(points)], closed=False, edge=colour, width=width, dashes=dashes)

    def lines(self, pairs: Iterable[tuple[Corner, Corner]], *, colour: str, width: float) -> None:
        """Straight lines of one look, as one shape."""
        self._shape([list(pair) for pair in pairs], closed=False, edge=colour, width=width)

    def dots(self, centres: Iterable[Corner], *, fill: str = "accent", radius: float = 3.5) -> None:
        """Discs with a rim of the paper's colour, so that they stay apart from what is below."""
        from matplotlib.patches import Circle

        for centre in centres:
            self._figure.add_artist(
                Circle(
                    centre,
                    radius,
                    transform=self._down,
                    facecolor=TOLD[fill],
                    edgecolor=TOLD["paper"],
                    linewidth=1,
                )
            )

    def text(
        self,
        x: float,
        y: float,
        said: str,
        *,
        anchor: str = "left",
        colour: str = "ink",
        size: float = SIZE,
        bold: bool = False,
        turned: bool = False,
    ) -> None:
        """A line of text, its middle at the height y."""
        # A placeholder is laid out in its stead: no font must know the letters of a label.
        self._texts.append(plain(said))
        self._figure.text(
            x,
            y,
            f"t{len(self._texts) - 1}t",
            transform=self._down,
            horizontalalignment="center" if turned else anchor,
            verticalalignment="center_baseline",
            fontsize=size,
            color=TOLD[colour],
            fontweight="bold" if bold else "normal",
            rotation=90 if turned else 0,
            rotation_mode="anchor",
        )

    def svg(self, title: str, description: str) -> str:
        """All of it, for a page that gives the names of the colours a meaning."""
        from matplotlib import rc_context

        space = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        with rc_context({"svg.fonttype": "none", "svg.hashsalt": "bistochastic"}):
            self._figure.savefig(space, format="svg", metadata=nothing)
        inside = compact(space.getvalue(), self._texts)
        return (
            f'<svg viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'xmlns="http://www.w3.org/2000/svg"><title>{html.escape(plain(title))}</title>'
            f"<desc>{html.escape(plain(description))}</desc>{inside}</svg>"
        )

    def _shape(
        self,
        rings: Sequence[Sequence[Corner]],
        *,
        closed: bool,
        fill: str | None = None,
        edge: str | None = None,
        width: float = 1.0,
        opacity: float = 1.0,
        dashes: tuple[float, ...] | None = None,
    ) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        corners: list[Corner] = []
        codes: list[Any] = []
        for ring in rings:
            corners += [*ring, ring[0]] if closed else ring
            codes += [Path.MOVETO, *[Path.LINETO] * (len(ring) - 1)]
            codes += [Path.CLOSEPOLY] if closed else []
        if not corners:
            return
        self._figure.add_artist(
            PathPatch(
                Path(corners, codes),
                transform=self._down,
                facecolor=TOLD[fill] if fill else "none",
                edgecolor=TOLD[edge] if edge else "none",
                linewidth=width if edge else 0,
                linestyle=(0, dashes) if dashes else "-",
                alpha=opacity if opacity < 1 else None,
            )
        )


NUMBER = re.compile(r"-?\d+\.\d+")
PATH = re.compile(r' d="([^"]*)"')
TEXT = re.compile(r'<text style="([^"]*)" x="([^"]*)" y="([^"]*)" transform="([^"]*)">t(\d+)t')
KEPT = ("font-size", "font-weight", "fill", "text-anchor")


def compact(written: str, texts: Sequence[str]) -> str:
    """What Matplotlib wrote, without what a page has already and with the texts in their places."""
    inside = written.partition("</defs>")[2].rpartition("</svg>")[0]
    inside = re.sub(r"</?g[^>]*>|<defs/>|<!--.*?-->", "", inside)
    inside = PATH.sub(lambda found: f' d="{_path(found[1])}"', inside)
    inside = re.sub(r"\s*\n\s*", "", inside).replace(": ", ":").replace("; ", ";")
    for name, told in TOLD.items():
        inside = inside.replace(told, f"var(--{name},{COLOURS[name]})")
    return TEXT.sub(lambda found: _text(found, texts), inside)  # last: nothing may change them


def _path(told: str) -> str:
    rounded = NUMBER.sub(lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), told)
    return re.sub(r"\s*([MLCz])\s*", r"\1", rounded.replace("\n", " ")).strip()


def _text(found: re.Match[str], texts: Sequence[str]) -> str:
    styles = [style.split(":", 1) for style in found[1].split(";") if ":" in style]
    style = ";".join(f"{k.strip()}:{v.strip()}" for k, v in styles if k.strip() in KEPT)
    x, y = (f"{float(found[place]):.1f}" for place in (2, 3))
    turned = f' transform="rotate(-90 {x} {y})"' if found[4].startswith("rotate(-90") else ""
    said = html.escape(texts[int(found[5])])
    return f'<text style="{style}" x="{x}" y="{y}"{turned}>{said}'


def plain(said: str, keep: str = "") -> str:
    """A text without what no page may hold: control characters, and halves of characters."""
    return "".join(
        "\ufffd" if unicodedata.category(c) in BARRED and c not in keep else c for c in said
    )


def wide(said: str, size: float = SIZE) -> float:
    """About how wide a text will be; letters of the East take the room of two."""
    letters = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in said)
    return letters * size * LETTER


def short(said: str, room: float, size: float = SIZE) -> str:
    """A text that fits into so many pixels; the rest of it is told by a table.

    >>> short("lower secondary", 200), short("lower secondary", 50)
    ('lower secondary', 'lower …')
    """
    if wide(said, size) <= room:
        return said
    kept = said
    while kept and wide(kept + "…", size) > room:
        kept = kept[:-1]
    return kept + "…"
