"""Figures 6 to 9 of the paper on privacy against distortion, as pictures and as tables.

`python docs/tradeoffs.py` computes them anew and writes the page; μ-Approx takes minutes with all
32,768 records.
"""

import html
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

import bistochastic as bs
from bistochastic.tradeoff.descent import between, steepest

__all__ = ["PAGE", "Line", "chart", "curve", "experiment", "groups", "others", "records", "shapes"]

PAGE = Path(__file__).parent / "tradeoff-figures.md"
PLACE = "<!-- {name} -->\n{held}\n<!-- end of {name} -->"
CORRELATION = 0.95
MULTIPLIERS = (0.71606648199446, 1.21606648199446, 1.71606648199446)
RECORDS = 2**15
K = (256, 512, 1024, 2048, 4096, 6553, 8192, 10922, 16384)
LESS = (256, 512, 1024, 2048, 4096, 8192)  # it takes time in proportion to k
SIDE, HIGH, EDGE = 430, 250, 42
DENSITY = bs.quadratic_gaussian([[1.0]], confidential=[[1.0]], cross=[[CORRELATION]])


class Line(NamedTuple):
    """Something that is drawn: a line, or marks where `marks` is true."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str
    marks: bool = False
    dashes: str = "none"


def gaussian(points: int) -> tuple[bs.Tradeoff, np.ndarray]:
    """The paper's discretisation, and its grid."""
    grid = np.linspace(-3, 3, points)
    table = bs.discretised(bs.gaussian_density(CORRELATION), grid, grid)
    return bs.tradeoff(table, bs.squared(grid)), grid


def chart(lines: Iterable[Line], across: str, along: str) -> str:
    """Lines and marks in a field with axes, as SVG on one line."""
    lines = list(lines)
    right = max(max(line.x) for line in lines)
    left = min(0.0, *(min(line.x) for line in lines))
    top = 1.04 * max(max(line.y) for line in lines)

    def at(x: float, y: float) -> tuple[float, float]:
        return EDGE + (x - left) / (right - left) * SIDE, 8 + (1 - y / top) * HIGH

    parts = [
        f'<rect class="frame" x="{EDGE}" y="8" width="{SIDE}" height="{HIGH}"/>',
        f'<text x="{EDGE + SIDE / 2}" y="{HIGH + 36}" text-anchor="middle">{across}</text>',
        f'<text x="10" y="{HIGH / 2}" text-anchor="middle" '
        f'transform="rotate(-90 10 {HIGH / 2})">{along}</text>',
    ]
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = left + share * (right - left), share * top
        px, py = at(x, y)
        parts.append(f'<text x="{px:.1f}" y="{HIGH + 21}" text-anchor="middle">{x:.2f}</text>')
        parts.append(f'<text x="{EDGE - 4}" y="{py + 3:.1f}" text-anchor="end">{y:.2f}</text>')
    for place, line in enumerate(lines):
        where = [at(x, y) for x, y in zip(line.x, line.y, strict=True)]
        if line.marks:
            parts += [
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.4" fill="{line.colour}"/>'
                for x, y in where
            ]
        else:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in where)
            parts.append(
                f'<polyline points="{path}" fill="none" stroke="{line.colour}" '
                f'stroke-width="1.6" stroke-dasharray="{line.dashes}"/>'
            )
        y = 22 + 14 * place
        parts.append(
            f'<text x="{EDGE + SIDE - 8}" y="{y}" text-anchor="end" '
            f'style="fill:{line.colour}">{html.escape(line.name)}</text>'
        )
    said = html.escape("; ".join(line.name for line in lines))
    size = f"0 0 {EDGE + SIDE + 14} {HIGH + 44}"
    return (
        f'<figure class="plane"><svg viewBox="{size}" role="img" aria-label="{said}">'
        f"{''.join(parts)}</svg></figure>"
    )


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [" | ".join(headings), " | ".join("---:" for _ in headings), *map(" | ".join, rows)]
    return "\n".join(f"| {line} |" for line in lines)


def density_line() -> Line:
    """The function of the density itself, which the discretised one comes near."""
    at = np.linspace(0, 1, 101)
    return Line("Gaussian: QGLB, exact", at, [DENSITY.risk(d) for d in at], "#8e24aa", dashes="5 3")


def curve(steps: int = 32_000) -> str:
    """Figure 6: the curve, its bounds, and where steepest descent gets."""
    function, _ = gaussian(31)
    found = function.curve(50)
    rows, ends = [], []
    for multiplier in MULTIPLIERS:
        begin = perf_counter()
        point = function.point(multiplier=multiplier)
        middle = perf_counter()
        slope = function.problem.span / multiplier
        end = function.place(steepest(function.problem, slope, steps=steps))
        seconds = perf_counter() - middle
        ends.append((end.distortion, end.risk))
        cost = end.distortion + multiplier * end.risk
        rows.append(
            (
                f"{multiplier:.4f}", f"{point.distortion:.4f}", f"{point.risk:.4f}",
                f"{point.cost:.8f}", f"{multiplier * point.gap:.0e}", f"{cost:.6f}",
                f"{seconds / (middle - begin):.0f}",
            )
        )  # fmt: skip
    upper = found.distortion, function.bounds.upper(found.distortion)
    lines = [
        Line("least risk of the table", found.distortion, found.risk, "#00897b"),
        density_line(),
        Line("MIUB", *upper, "#757575", dashes="2 3"),
        Line("steepest descent", *zip(*ends, strict=True), "#e65100", marks=True),
    ]
    headings = (
        "λ", "D", "R, nats", "least D + λR", "certified to",
        f"descent, {steps} steps", "times as long",
    )  # fmt: skip
    return f"{chart(lines, 'distortion', 'risk, nats')}\n\n{table(headings, rows)}"


def shapes(steps: Sequence[int] = (32_000, 128_000)) -> str:
    """Figure 7: what p(x̂|x) looks like at x = 0.6, at first, at last, and at its best."""
    function, grid = gaussian(51)
    multiplier = MULTIPLIERS[1]
    slope = function.problem.span / multiplier
    best = function.point(multiplier=multiplier)
    row = int(np.abs(grid - 0.6).argmin())
    lines = [Line("optimal", grid, best.array[row], "#00897b")]
    d = multiplier / 2 - (1 / CORRELATION**2 - 1)
    bell = np.exp(-((grid[None, :] - (1 - d) * grid[:, None]) ** 2) / (2 * d * (1 - d)))
    bell /= bell.sum(axis=1, keepdims=True)
    lines.append(Line("Gaussian", grid, bell[row], "#8e24aa", dashes="5 3"))
    start = between(function.problem)
    cost = [("at first", start), ("optimal", best.array), ("Gaussian", bell)]
    for count, colour in zip(steps, ("#e65100", "#fbc02d"), strict=False):
        array = steepest(function.problem, slope, steps=count)
        lines.append(Line(f"descent, {count} steps", grid, np.minimum(array[row], 0.12), colour))
        cost.append((f"descent, {count} steps", array))
    placed = [(name, function.place(array)) for name, array in cost]
    rows = [
        (name, f"{one.distortion:.4f}", f"{one.risk:.4f}",
         f"{one.distortion + multiplier * one.risk:.6f}")
        for name, one in placed
    ]  # fmt: skip
    headings = ("rule", "D", "R, nats", "D + λR")
    return f"{chart(lines, 'x̂, for x = 0.6', 'p(x̂|x)')}\n\n{table(headings, rows)}"


def records(n: int = RECORDS) -> tuple[np.ndarray, np.ndarray]:
    """Drawings of W and X, the same whenever this is run."""
    generator = np.random.default_rng(2009)
    x = generator.normal(size=n)
    w = CORRELATION * x + np.sqrt(1 - CORRELATION**2) * generator.normal(size=n)
    return w, x


def experiment(n: int, **options: Sequence[float]) -> list[bs.Placed]:
    """The usual methods on so many records, beside the function of the density."""
    w, x = records(n)
    nothing = {"k": (), "truth": (), "width": (), "beta": (), "distortion": (), "tridiagonal": ()}
    return list(bs.rivals(x, w, gaussian(31)[0], **(nothing | options)))


def told(found: Sequence[bs.Placed], colour: str, name: str) -> str:
    """Methods as marks over the curve, and as a table."""
    lines = [
        density_line(),
        Line(name, [p.distortion for p in found], [p.risk for p in found], colour, marks=True),
    ]
    rows = []
    for one in found:
        least = DENSITY.risk(min(one.distortion, 1.0))
        rows.append(
            (one.name, f"{one.distortion:.4f}", f"{one.risk:.4f} ± {one.error:.4f}",
             f"{least:.4f}", f"{one.risk - least:+.4f}", "few" if one.thin else "")
        )  # fmt: skip
    headings = ("method", "D", "I(W; X̂), nats", "least", "above it", "records a cell")
    return f"{chart(lines, 'distortion', 'risk, nats')}\n\n{table(headings, rows)}"


def groups(method: str, n: int = RECORDS, k: Sequence[int] = K) -> str:
    """Figures 8 and 9: microaggregation."""
    found = [one for one in experiment(n, k=k, methods=(method,)) if one.name.startswith(method)]
    return told(found, "#e65100", method)


def others(n: int = RECORDS) -> str:
    """The same for methods that the paper has no figure of."""
    found = experiment(
        n,
        truth=(0.95, 0.9, 0.8, 0.7, 0.6, 0.5),
        width=(0.02, 0.05, 0.1, 0.15, 0.25),
        distortion=(0.05, 0.1, 0.25, 0.5, 0.75),
        tridiagonal=(0.5,),
    )
    return told(found, "#1565c0", "mixture, rank swapping, tridiagonal, noise")


def written(text: str, name: str, held: str) -> str:
    """The page with one of its parts made anew."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    head, _, rest = text.partition(begin)
    _, _, tail = rest.partition(end)
    return head + PLACE.format(name=name, held=f"\n{held}\n") + tail


PARTS = {
    "figure 6": curve,
    "figure 7": shapes,
    "figure 8": lambda: groups("mdav"),
    "figure 9": lambda: groups("mu-approx", k=LESS),
    "others": others,
}

if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    for part in sys.argv[1:] or PARTS:
        page = written(page, part, PARTS[part]())
        PAGE.write_text(page, encoding="utf-8")
        print(part)
