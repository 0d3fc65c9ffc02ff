"""Drawings show the numbers they stand for, at any size, and stay within their sheets."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.report.drawing.bars import Guess, Shares, gauge, linkage, posterior, shares
from bistochastic.report.drawing.curves import Curve, Point, information, plane, protection
from bistochastic.report.drawing.heat import BINS, LEVELS, gathered, heat, shades
from bistochastic.report.drawing.numbers import share
from bistochastic.report.drawing.order import layered, order
from bistochastic.report.drawing.sheet import COLOURS, Sheet, short, wide
from bistochastic.testing import structures

SVG = "{http://www.w3.org/2000/svg}"


def checked(drawing):
    """A drawing as XML, once it is whole: titled, described, with nothing beyond its edges."""
    tree = ET.fromstring(drawing.svg)
    assert tree.get("role") == "img"
    assert [child.tag for child in tree[:2]] == [f"{SVG}title", f"{SVG}desc"]
    assert tree[0].text == drawing.title
    assert tree[1].text
    assert "better" in drawing.caption
    assert all(len(line) == len(drawing.table.headings) for line in drawing.table.lines)
    *_, width, height = map(float, (tree.get("viewBox") or "").split())
    for path in tree.iter(f"{SVG}path"):
        numbers = list(map(float, re.findall(r"-?\d+(?:\.\d+)?", path.get("d") or "")))
        assert all(-1 <= x <= width + 1 for x in numbers[::2])
        assert all(-1 <= y <= height + 1 for y in numbers[1::2])
    for text in tree.iter(f"{SVG}text"):
        x, y, said = float(text.get("x", 0)), float(text.get("y", 0)), text.text or ""
        style = text.get("style") or ""
        size = float((re.search(r"font-size:([\d.]+)", style) or ["", "11"])[1])
        room = wide(said, size)
        left = x - {"middle": room / 2, "end": room}.get(anchor(style), 0.0)
        assert left >= -2, said
        assert left + room <= width + 14, said  # widths are guessed, rather too wide
        assert 0 <= y <= height
    assert set(re.findall(r"var\(--(\w+)", drawing.svg)) <= set(COLOURS)
    assert not re.search(r"#0\dfe", drawing.svg)
    assert "id=" not in drawing.svg
    return tree


def anchor(style):
    """Where a text is held."""
    found = re.search(r"text-anchor:(\w+)", style)
    return found[1] if found else "start"


def area(tree):
    """The area of the boxes of each opacity."""
    found = {}
    for path in tree.iter(f"{SVG}path"):
        style = path.get("style") or ""
        if "fill:none" in style:
            continue
        shade = re.search(r"opacity:([\d.]+)", style)
        opacity = float(shade[1]) if shade else 1.0
        for box in re.findall(r"M([^z]+)z", path.get("d") or ""):
            x = list(map(float, re.findall(r"-?\d+(?:\.\d+)?", box)))
            size = (max(x[::2]) - min(x[::2])) * (max(x[1::2]) - min(x[1::2]))
            found[opacity] = found.get(opacity, 0.0) + size
    return found


@given(structures())
def test_a_map_gathers_what_rows_send(matrix):
    """Each row of a map is the share that goes to each group: it sums to one."""
    if matrix.size <= 400:
        shown = gathered(matrix, detail=False)
        assert np.allclose(shown.cells.sum(axis=1), 1, atol=1e-9)


@pytest.mark.parametrize("n", [61, 200, 2048])
def test_neighbours_are_gathered_exactly(n):
    """A cell of a gathered map is the mean over its truths of the share for its reports."""
    matrix = bs.diffusion(path=n, time=30.0)
    shown = gathered(matrix, detail=False)
    edges = np.linspace(0, n, BINS + 1).astype(int)
    array = matrix.to_dense()
    for i, j in ((0, 0), (3, 4), (BINS - 1, BINS - 1)):
        block = array[edges[i] : edges[i + 1], edges[j] : edges[j + 1]]
        assert shown.cells[i, j] == pytest.approx(block.sum() / len(block))


@pytest.mark.parametrize("matrix", [
    bs.Mixture(10**6, truth=0.5), bs.Window(10**7, 300), bs.Blocks([100] * 10**5),
    bs.secrecy(10**7), bs.identity(10**7),
])  # fmt: skip
def test_a_map_of_millions(matrix):
    """No matrix is too large: a detail is shown, whose rows hold what it says they hold."""
    drawing = heat(matrix, name="income")
    checked(drawing)
    assert len(drawing.svg) < 30_000
    shown = gathered(matrix, detail=True)
    assert len(shown.cells) <= 60
    assert shown.cells[len(shown.cells) // 2].sum() == pytest.approx(1, abs=0.3)


@given(st.integers(2, 12).flatmap(lambda n: st.tuples(st.just(n), st.floats(0.3, 1.0))))
def test_a_stronger_colour_is_a_greater_probability(said):
    """The shades of a map grow with the entries, and cover as many cells as there are."""
    n, truth = said
    matrix = bs.Mixture(n, truth=truth)
    told = shades(matrix.to_dense(), 100.0)
    levels = {opacity: sum(w * h for *_, w, h in boxes) for opacity, boxes in told}
    cell = (100.0 / n) ** 2
    strongest = max(levels)
    assert strongest == pytest.approx(np.ceil(np.sqrt(max(truth, matrix.lie)) * LEVELS) / LEVELS)
    assert sum(levels.values()) == pytest.approx(cell * (matrix.to_dense() > 0).sum())


def test_the_numbers_of_a_map_are_the_matrix():
    """A small matrix stands in its table entry by entry; a larger one row by row."""
    matrix = bs.Mixture(4, truth=0.7)
    table = heat(matrix, list("abcd"), name="x").table
    assert [float(cell) for cell in table.lines[1][1:]] == [0.1, 0.7, 0.1, 0.1]
    many = bs.Tridiagonal([0.2] * 79)
    table = heat(many, [f"l{u}" for u in range(80)], name="x").table
    assert len(table.lines) + table.more == 80
    assert table.lines[5] == ("l5", "60%", "l4", "20%")
    ranks = heat(bs.Blocks([100] * 100), name="x").table
    assert ranks.lines[0] == ("at most 0", "1%")
    assert ranks.lines[-1][1] == "100%"


def test_a_gauge_is_as_full_as_beta():
    """The bar covers the share of the bits that is spent."""
    for bits, most in ((0.0, 2.0), (0.5, 2.0), (2.0, 2.0), (0.0, 0.0)):
        drawing = gauge(bits, most, name="x", least=bits / 2)
        covered = area(checked(drawing)).get(1.0, 0.0)
        assert covered == pytest.approx(340 * 16 * (bits / most if most else 1), abs=2)


def test_bars_are_as_long_as_shares():
    """Bars of reported shares stand in the ratio of the shares, frames in that of the original."""
    given = [Shares("a", 0.6, 0.7, 0.65, 0.75, 0.72), Shares("b" * 90, 0.4, 0.3, 0.25, 0.35, 0.28)]
    drawing = shares(given, name="x")
    tree = checked(drawing)
    boxes = [path.get("d") for path in tree.iter(f"{SVG}path")
             if "opacity:0.35" in (path.get("style") or "")]  # fmt: skip
    long = [max(xs) - min(xs) for xs in (
        list(map(float, re.findall(r"-?\d+(?:\.\d+)?", str(box))))[::2] for box in boxes
    )]  # fmt: skip
    assert long[0] / long[1] == pytest.approx(0.6 / 0.4, rel=0.01)
    assert drawing.table.lines[0] == ("a", "60%", "72%", "70%", "65%", "75%")
    assert drawing.table.lines[1][0] == "b" * 90


def test_many_bars_are_cut_and_said_so():
    """Two dozen bars are drawn, two hundred lines listed, and the rest counted."""
    drawing = shares([Shares(f"l{u}", 1 / 500) for u in range(500)], name="x")
    checked(drawing)
    assert "476 more" in drawing.caption
    assert (len(drawing.table.lines), drawing.table.more) == (200, 300)


def test_a_posterior_is_drawn_for_every_report():
    """The bar is the posterior of the report itself; of very many the worst are shown."""
    guesses = [Guess(f"l{u}", 0.01, u / 100, "l0", max(u / 100, 0.5), 1.0) for u in range(100)]
    drawing = posterior(guesses, name="x", prior="all is alike")
    tree = checked(drawing)
    texts = [text.text for text in tree.iter(f"{SVG}text")]
    assert "l99" in texts
    assert "l1" not in texts
    assert "Shown are the 24 reports that tell most" in drawing.caption
    assert len(drawing.table.lines) == 100
    whole = posterior(guesses[:5], name="x", prior="all is alike")
    assert [text.text for text in checked(whole).iter(f"{SVG}text")].count("l3") == 1


def test_links_are_drawn_beside_chance():
    """A bar for each way of linking, and a mark where blind guessing is."""
    drawing = linkage([("ranks", 0.2, 0.001), ("values", 0.0, 0.001)])
    checked(drawing)
    assert drawing.table.lines == (("ranks", "20%", "0.1%"), ("values", "0%", "0.1%"))


def test_curves_go_through_their_points():
    """Higher numbers stand higher; the reference is dashed and named."""
    curve = Curve("income", ((-2.0, 0.0), (0.0, 0.1), (1.0, 0.3)))
    chance = Curve("a random permutation", ((-2.0, 0.33), (1.0, 0.33)), reference=True)
    for draw in (protection, information):
        tree = checked(draw([curve, chance]))
        lines = [path for path in tree.iter(f"{SVG}path")
                 if "stroke-width:1.8" in (path.get("style") or "")]  # fmt: skip
        points = list(map(float, re.findall(r"-?\d+(?:\.\d+)?", lines[0].get("d") or "")))
        assert points[1] > points[3] > points[5]
        assert any("stroke-dasharray:2" in (p.get("style") or "") for p in tree.iter(f"{SVG}path"))
        assert "a random permutation" in [text.text for text in tree.iter(f"{SVG}text")]


def test_infinite_points_are_left_out():
    """A curve that leaves every page is drawn where it is on it."""
    curve = Curve("x", ((0.0, float("inf")), (1.0, 2.0), (2.0, 1.0), (3.0, float("nan"))))
    checked(plane([curve], [Point("here", 1.5, float("inf")), Point("there", 1.5, 2.0)]))
    checked(plane([], []))
    checked(plane([], [Point("alone", 1.0, 1.0)]))


def test_many_curves_and_crowded_points():
    """A dozen curves and equal points stay legible: looks differ, names do not overlap."""
    curves = [Curve(f"c{k}", ((0.0, k), (1.0, k + 1.0))) for k in range(12)]
    drawing = plane(curves, [Point(f"point {k}", 0.5, 3.0) for k in range(4)])
    tree = checked(drawing)
    assert "6 more are drawn thin" in drawing.caption
    heights = [float(text.get("y", 0)) for text in tree.iter(f"{SVG}text")
               if (text.text or "").startswith("point")]  # fmt: skip
    assert len(heights) == 4
    assert min(np.diff(sorted(heights))) >= 10


def test_many_points_are_numbered():
    """More points than have room for names have numbers, told below the drawing."""
    points = [Point(f"method {k}", k / 10, 1 - k / 20) for k in range(13)]
    tree = checked(plane([], points))
    texts = [text.text for text in tree.iter(f"{SVG}text")]
    assert all(texts.count(str(k)) >= 2 for k in range(2, 14))
    assert all(texts.count(point.name) == 1 for point in points)


def test_an_order_is_drawn_without_what_follows():
    """Three in a chain have two arrows, though three pairs; equals stand side by side."""
    pairs = {(0, 1), (1, 2), (0, 2)}
    drawing = order(["a", "b", "c"], pairs, title="Order", caption="Up is better.")
    tree = checked(drawing)
    arrows = [path for path in tree.iter(f"{SVG}path")
              if "stroke-width:1.2" in (path.get("style") or "")]  # fmt: skip
    assert len(arrows) == 4  # a line and a head each
    assert len(drawing.table.lines) == 3
    assert layered(4, {(0, 1), (1, 0)}) == [[2, 3], [0, 1]] or layered(4, {(0, 1), (1, 0)})
    checked(order(["alone"], (), title="Order", caption="Nothing is better."))


@given(st.text(min_size=1, max_size=200), st.floats(10, 300))
def test_a_shortened_text_fits(said, room):
    """Whatever its letters, it is no wider than its room, or only an ellipsis."""
    told = short(said, room)
    assert told == said or told.endswith("…")
    assert wide(told) <= room or told == "…"


@given(st.text(max_size=60))
def test_any_text_is_drawn_as_it_is(said):
    """Letters survive, markup is text, and what no page may hold is replaced."""
    sheet = Sheet(40)
    sheet.text(10, 20, said)
    tree = ET.fromstring(sheet.svg("title", "words"))
    told = next(tree.iter(f"{SVG}text")).text or ""
    assert len(told) == len(said)
    assert all(one == two or one == "\ufffd" for one, two in zip(told, said, strict=True))


def test_shares_are_told_shortly():
    """Percent with as many digits as say something."""
    assert [share(value) for value in (0, 1, 0.5, 0.9999, 0.123, 0.00123)] == [
        "0%", "100%", "50%", "100%", "12%", "0.1%",
    ]  # fmt: skip
