"""The pictures of the pages: a matrix, or records, as an SVG with the numbers it stands for."""

import html
import math
import re
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

import bistochastic as bs
from bistochastic.population import PLAN, people

__all__ = ["OTHERS", "PICTURES", "demonstration", "figure", "gallery", "numbers", "svg"]

WORK = {
    "health": "services", "teaching": "services", "hospitality": "services",
    "services": "work", "land": "work",
    "nurse": "health", "midwife": "health", "doctor": "health",
    "teacher": "teaching", "lecturer": "teaching",
    "cook": "hospitality", "waiter": "hospitality", "baker": "hospitality",
    "porter": "hospitality",
    "farmer": "land", "fisher": "land", "forester": "land",
}  # fmt: skip
SHUFFLED = [7, 2, 11, 4, 0, 9, 1, 5, 10, 3, 8, 6]
SLIDE = [(u + 1) % 12 for u in range(12)]
STEPS = np.subtract.outer(np.arange(12), np.arange(12))
SLOPE = np.exp(np.where(STEPS > 0, -1.6 * STEPS, 0.7 * STEPS))

# Each as code, which the caption shows, so that nobody has to guess what the picture is of.
PICTURES = {
    "mixture": "bs.calibrate('mixture', 12, beta=0.6)",
    "circulant": "bs.Circulant([0.4, 0.25, 0.15, 0.1, *[0] * 6, 0.05, 0.05])",
    "tridiagonal": "bs.Tridiagonal([0.25] * 11)",
    "window": "bs.Window(12, 3)",
    "blocks": "bs.Blocks([3, 4, 5])",
    "permutation": "bs.Permutation(SHUFFLED)",
    "diffusion": "bs.diffusion(cycle=12, time=1)",
    "reflected": "bs.diffusion(path=12, time=1)",
    "taxonomy": "bs.Taxonomy(WORK, time=0.5)",
    "ordered": "bs.optimal(ordered=12, beta=0.6)",
    "dense": "bs.sinkhorn(SLOPE)",
    "stochastic": "bs.invariant(bs.Mixture(12, truth=0.7), np.arange(1, 13) / 78)",
    "birkhoff": "bs.Birkhoff([0.5, 0.3, 0.2], [range(12), SLIDE, SHUFFLED])",
    "kronecker": "bs.Kronecker(bs.Blocks([1, 2]), bs.Mixture(4, truth=0.7))",
    "composed": "bs.Blocks([4, 4, 4]) @ bs.Window(12, 1)",
    "combination": "bs.Combination([0.6, 0.4], [bs.Window(12, 1), bs.Permutation(SHUFFLED)])",
    "ergodic": "bs.Blocks([3, 4, 5]).ergodic(0.02)",
}


def matrix(name: str) -> bs.Channel:
    """The matrix of a picture."""
    made = eval(PICTURES[name])  # the table above, nothing else
    assert isinstance(made, bs.Channel)
    return made


def svg(channel: bs.Channel, label: str, *, axes: bool = True) -> str:
    """A matrix as squares whose area is the probability, rows true and columns reported."""
    array, side = channel.to_dense(), 18
    n, margin = len(array), 14 if axes else 2
    extent = n * side
    parts = [
        f'<svg viewBox="0 0 {extent + margin + 2} {extent + margin + 2}" role="img" '
        f'aria-label="{html.escape(label)}">',
        f'<rect class="frame" x="{margin}" y="{margin}" width="{extent}" height="{extent}"/>',
    ]
    if axes:
        middle = margin + extent / 2
        parts.append(f'<text x="{middle}" y="9" text-anchor="middle">reported v →</text>')
        parts.append(
            f'<text x="9" y="{middle}" text-anchor="middle" '
            f'transform="rotate(-90 9 {middle})">← true u</text>'
        )
    for u, v in zip(*np.nonzero(array > 1e-4), strict=True):
        edge = side * math.sqrt(array[u, v])
        inset = margin + (side - edge) / 2
        parts.append(
            f'<rect class="cell" x="{inset + v * side:.2f}" y="{inset + u * side:.2f}" '
            f'width="{edge:.2f}" height="{edge:.2f}"/>'
        )
    return "".join(parts) + "</svg>"


def numbers(channel: bs.Channel) -> Iterator[tuple[str, str]]:
    """What the matrix of a picture costs and gives."""
    truth = channel.truthfulness
    yield "bits", f"{channel.bits:.3f} of {channel.max_bits:.3f}"
    yield "beta", f"{channel.beta:.3f}"
    yield "least row bits", f"{channel.min_row_bits:.3f}"
    yield "epsilon", "∞, no limit" if math.isinf(channel.epsilon) else f"{channel.epsilon:.3f}"
    yield "told true, least and mean", f"{truth.min:.1%}, {truth.mean:.1%}"
    undo = "cannot be undone" if channel.singular else f"× {channel.condition:.3g}"
    yield "error when undone", undo
    yield "words a cell", str(channel.exact().draws)


def scatter(points: np.ndarray, found: bs.Grouping) -> str:
    """Records as dots, each tied to the centre of its group, at which it is published."""
    low, high = points.min(axis=0), points.max(axis=0)
    dots, centres = (12 + 200 * (some - low) / (high - low) for some in (points, found.centroids))
    ties = (
        f'<line class="frame" x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"/>'
        for (x, y), (to_x, to_y) in zip(dots, centres[found.groups], strict=True)
    )
    marks = (
        f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'
        for kind, radius, places in (("record", 2, dots), ("cell", 4, centres))
        for x, y in places
    )
    label = f"{len(dots)} records in {len(centres)} groups"
    return (
        f'<svg viewBox="0 0 224 224" role="img" aria-label="{label}">'
        f"{''.join(ties)}{''.join(marks)}</svg>"
    )


def groups() -> str:
    """Sixty records in two columns, microaggregated, beside what that costs and gives."""
    points = np.random.default_rng(60).standard_normal((60, 2))
    found = bs.microaggregate(points, 4)
    return captioned(scatter(points, found), "bs.microaggregate(points, 4)", facts(found))


def facts(found: bs.Grouping) -> Iterator[tuple[str, str]]:
    """What a grouping costs and gives."""
    yield "groups", f"{found.sizes.size} of {found.sizes.min()} to {found.sizes.max()}"
    yield "loss", f"{found.loss:.2f} %"
    yield "bits", f"{found.matrix.bits:.3f} of {found.matrix.max_bits:.3f}"
    yield "beta", f"{found.matrix.beta:.3f}"
    yield "least row bits", f"{found.matrix.min_row_bits:.3f}"


def moves() -> str:
    """Records of a masked column from their ranks before to those after."""
    before = np.arange(12)
    after = before + np.random.default_rng(12).normal(0, 2.5, 12)
    told = bs.displacement(before, after)
    pairs = list(zip(told.ranking.original, told.ranking.masked, strict=True))
    ties = (
        f'<line class="frame" x1="40" y1="{16 + 17 * u}" x2="184" y2="{16 + 17 * v}"/>'
        for u, v in pairs
    )
    marks = (
        f'<circle class="{"cell" if u != v else "record"}" cx="{x}" cy="{16 + 17 * y}" r="4"/>'
        for u, v in pairs
        for x, y in ((40, u), (184, v))
    )
    picture = (
        '<svg viewBox="0 0 224 224" role="img" aria-label="ranks before and after">'
        f"{''.join(ties)}{''.join(marks)}"
        '<text x="40" y="222" text-anchor="middle">σ</text>'
        '<text x="184" y="222" text-anchor="middle">τ</text></svg>'
    )
    return captioned(picture, "bs.displacement(before, after)", gained(told))


def gained(told: bs.Displacement) -> Iterator[tuple[str, str]]:
    """What a displacement protects, beside what a random permutation would."""
    line = bs.random_distances(told.size).means([1, 0], zero=1e-8)
    means = told.protection([1, 0])
    yield "T, moved", f"{told.moved:.3f}"
    yield "D(1), and at random", f"{means[0]:.3f}, {line[0]:.3f}"
    yield "D(0), and at random", f"{means[1]:.3f}, {line[1]:.3f}"
    yield "TD", f"{told.moved_protection():.3f}"


def curves() -> str:
    """By how much one masking is better than another, over the aversion to disclosure."""
    told = bs.dominance([3, 6, 6], [4, 4, 5])
    alphas = np.linspace(-4, 1, 101)
    first, second = (bs.Histogram.of(some).means(alphas) for some in ([3, 6, 6], [4, 4, 5]))
    ahead = 100 * np.log(first / second)
    across, up = 200 / 5, 180 / (ahead.max() - ahead.min())
    points = " ".join(
        f"{12 + across * (x + 4):.1f},{16 + up * (ahead.max() - y):.1f}"
        for x, y in zip(alphas, ahead, strict=True)
    )
    level, crossing = 16 + up * ahead.max(), 12 + across * (told.crossings[0] + 4)
    picture = (
        '<svg viewBox="0 0 224 224" role="img" aria-label="one curve above and below another">'
        f'<line class="frame" x1="12" y1="{level:.1f}" x2="212" y2="{level:.1f}"/>'
        f'<polyline class="frame" points="{points}"/>'
        f'<circle class="cell" cx="{crossing:.1f}" cy="{level:.1f}" r="4"/>'
        '<text x="12" y="216">α = −4</text>'
        '<text x="212" y="216" text-anchor="end">α = 1</text></svg>'
    )
    ends = (f"{ahead[place]:+.1f} %" for place in (0, -1))
    facts = zip(
        ("verdict", "crosses at α", "ahead at α = −4", "ahead at α = 1"),
        (told.verdict, f"{told.crossings[0]:.5f}", *ends),
        strict=True,
    )
    return captioned(picture, "bs.dominance([3, 6, 6], [4, 4, 5])", facts)


@cache
def demonstration() -> str:
    """The public report of the demonstration, under a key that is no secret."""
    release = bs.protect(
        people(), bs.Plan.from_text(PLAN), bs.Key(b"who reads this page knows it all")
    )
    with tempfile.TemporaryDirectory() as folder:
        return release.report(Path(folder) / "report.html").read_text(encoding="utf-8")


def report() -> str:
    """Two drawings of that report: a matrix, and what is learnt through it."""
    figures = re.findall(r"<figure>.*?</figure>", demonstration(), re.DOTALL)
    shown = ("Transition matrix of school", "Distribution of school")
    found = [figure for figure in figures if any(f">{title}</p>" in figure for title in shown)]
    drawn = [re.sub(r"<details>.*?</details>|\n", "", figure, flags=re.DOTALL) for figure in found]
    return f'<div class="drawings">{"".join(drawn)}</div>'


TRUTHS = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6)
LOSS = 3.0  # what the answer yes takes off, in the model of the picture


def slopes() -> Iterator[tuple[float, float, float, float, float]]:
    """For channels that tell the truth less often: the naive slope, the corrected, its interval."""
    draws = np.random.default_rng(8)
    yes = draws.random(6000) < 0.4
    people = pl.DataFrame({"user": yes, "lost": LOSS * yes + draws.normal(0, 3, 6000)})
    asked = {
        "role": "confidential", "kind": "nominal", "domain": [False, True], "missing": "refuse",
    }  # fmt: skip
    for truth in TRUTHS:
        columns = {
            "user": {**asked, "matrix": "mixture", "truth": truth},
            "lost": {"role": "plain"},
        }
        plan = bs.Plan(release="picture", columns=columns)
        release = bs.protect(people, plan, bs.Key(b"known to everybody who read this"))
        groups = release.data.group_by("user").agg(pl.col("lost").mean()).sort("user")["lost"]
        fit = bs.regress(release, None, "lost ~ user").row(1, named=True)
        yield truth, groups[1] - groups[0], fit["estimate"], fit["low"], fit["high"]


def corrected() -> str:
    """A coefficient from reports that are less and less often true: naive, and corrected."""
    found = list(slopes())
    return captioned(slope_lines(found), "bs.regress(release, None, 'lost ~ user')", told(found))


def slope_lines(found: list[tuple[float, float, float, float, float]]) -> str:
    """Naive slopes as rings, corrected ones as dots in their intervals, the truth as a line."""

    def x(truth: float) -> float:
        return 40 + (1 - truth) / 0.4 * 240

    def y(slope: float) -> float:
        return 186 - slope * 38

    ticks = [
        f'<text x="32" y="{y(at) + 3:.1f}" text-anchor="end">{at}</text>' for at in range(5)
    ] + [
        f'<text x="{x(truth):.1f}" y="202" text-anchor="middle">{truth:.0%}</text>'
        for truth in TRUTHS[::2]
    ]
    axes = (
        f'<path class="frame" d="M40 16V186H288"/>'
        f'<path class="frame" stroke-dasharray="4 3" d="M40 {y(LOSS):.1f}H288"/>'
        f'<text x="164" y="217" text-anchor="middle">how often a report is the truth →</text>'
        f'<text x="292" y="{y(LOSS) + 3:.1f}">put in</text>'
        f'<text x="292" y="{y(found[-1][2]) - 12:.1f}">corrected</text>'
        f'<text x="292" y="{y(found[-1][1]) + 3:.1f}">naive</text>'
    )
    marks = "".join(
        f'<line class="interval" x1="{x(truth):.1f}" y1="{y(low):.1f}" x2="{x(truth):.1f}" '
        f'y2="{y(high):.1f}"/><circle class="cell" cx="{x(truth):.1f}" cy="{y(fit):.1f}" r="4"/>'
        f'<circle class="ring" cx="{x(truth):.1f}" cy="{y(naive):.1f}" r="3.5"/>'
        for truth, naive, fit, low, high in found
    )
    label = "Naive coefficients fall to nothing; corrected ones stay at the true one."
    return (
        f'<svg class="wide" viewBox="0 0 340 224" role="img" aria-label="{label}">'
        f"{axes}{''.join(ticks)}{marks}</svg>"
    )


def told(found: list[tuple[float, float, float, float, float]]) -> Iterator[tuple[str, str]]:
    """The numbers of the picture, for some of its channels."""
    for truth, naive, fit, low, high in found[::2]:
        yield f"{truth:.0%} true", f"{naive:.2f} → {fit:.2f} ({low:.2f} … {high:.2f})"


# Pictures that are not of a matrix, by their names.
OTHERS = {
    "microaggregation": groups,
    "displacement": moves,
    "dominance": curves,
    "report": report,
    "regression": corrected,
}


def figure(name: str) -> str:
    """A picture by its name, beside its numbers, as HTML on one line."""
    if name in OTHERS:
        return OTHERS[name]()
    channel = matrix(name)
    picture = svg(channel, f"A {name} matrix of 12 categories")
    return captioned(picture, PICTURES[name], numbers(channel))


def captioned(picture: str, code: str, facts: Iterable[tuple[str, str]]) -> str:
    """A picture with the code that it is of and a table of what is known about it."""
    rows = "".join(f"<tr><th>{what}</th><td>{much}</td></tr>" for what, much in facts)
    return (
        f'<figure class="matrix">{picture}<figcaption><code>{html.escape(code, quote=False)}</code>'
        f'<table class="numbers">{rows}</table></figcaption></figure>'
    )


def gallery() -> str:
    """All pictures, each a link to its page."""
    links = (
        f'<a href="{name}.html">{svg(matrix(name), name, axes=False)}<br>{name}</a>'
        for name in PICTURES
    )
    return f'<div class="gallery">{"".join(links)}</div>'
