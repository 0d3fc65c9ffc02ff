"""The figures of the paper are what the page shows, and can be made again."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from docs import tradeoffs
from tests.tradeoff.laws import GOLDEN

PAGE = tradeoffs.PAGE.read_text(encoding="utf-8")


def part(name):
    """What the page holds of a figure."""
    return PAGE.partition(f"<!-- {name} -->")[2].partition(f"<!-- end of {name} -->")[0]


def drawing(held):
    """The picture of a figure."""
    return ET.fromstring(re.search(r"<svg.*</svg>", held)[0])


def test_the_page_shows_the_golden_costs():
    """Figure 6 tells the least D + λR of each multiplier."""
    for multiplier, cost in GOLDEN:
        assert f"| {multiplier:.4f} |" in part("figure 6")
        told = re.search(rf"\| {multiplier:.4f} \| \S+ \| \S+ \| (\S+) \|", part("figure 6"))[1]
        assert float(told) == pytest.approx(cost, abs=1e-7)


@pytest.mark.parametrize("name", tradeoffs.PARTS)
def test_every_figure_is_a_picture_with_its_numbers(name):
    """Lines or marks, named, and a table below."""
    shapes = [element.tag.rpartition("}")[2] for element in drawing(part(name))]
    assert shapes.count("polyline") >= 1
    assert part(name).count("\n| ") >= 5
    if name in ("figure 8", "figure 9", "others"):
        rows = [line for line in part(name).splitlines() if line.startswith("| ")][2:]
        assert shapes.count("circle") == len(rows)


def test_figure_6_is_made_again():
    """With a few steps of descent: the same least costs, the same form."""
    held = tradeoffs.curve(steps=20)
    costs = [float(cell) for cell in re.findall(r"\| (0\.\d{8}) \|", held)]
    np.testing.assert_allclose(costs, [cost for _, cost in GOLDEN], atol=1e-7)
    assert len(drawing(held)) == len(drawing(part("figure 6")))


def test_figure_7_is_made_again():
    """The optimal rule is the best of those shown."""
    held = tradeoffs.shapes(steps=(20,))
    rows = [line for line in held.splitlines() if line.startswith("| ")][2:]
    costs = [float(row.split("|")[4]) for row in rows]
    assert costs[1] == min(costs)
    assert len(costs) == 4  # at first, optimal, Gaussian, descent


def test_microaggregation_and_others_are_placed_again():
    """With two thousand records: near the curve of the density, none far below it."""
    for held in (tradeoffs.groups("mdav", 2000, (100, 500)), tradeoffs.others(2000)):
        above = [float(line.split("|")[5]) for line in held.splitlines()[4:] if "±" in line]
        assert len(above) in (2, 17)
        assert min(above) > -0.12
    noise = [float(line.split("|")[5]) for line in held.splitlines() if line.startswith("| noise")]
    assert np.abs(noise).max() < 0.12


def test_a_part_of_the_page_is_written_alone():
    """Everything else stays."""
    text = tradeoffs.written(PAGE, "figure 7", "new")
    assert "<!-- figure 7 -->\n\nnew\n\n<!-- end of figure 7 -->" in text
    assert text.count("<svg") == PAGE.count("<svg") - 1
