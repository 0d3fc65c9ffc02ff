"""Pages say what is so: their code runs, every public name has a place, every source is listed."""

import re
import xml.etree.ElementTree as ET
from typing import get_args

import pytest

import bistochastic as bs
from bistochastic.plan.families import FAMILIES
from bistochastic.plan.model import SHAPES, TARGETS, Column, PlanModel, Role
from docs import commands, pictures
from tests.pages import CONSOLE, ROOT, blocks, run, type_in

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
STRUCTURES = sorted(page.stem for page in (DOCS / "structures").glob("*.md"))
SOURCES = sorted((ROOT / "src").rglob("*.py"))
CITATION = re.compile(r"\b([A-ZÀ-Þ][\w’]+)\)?,? ((?:19|20)\d\d)\b")


def name_of(path) -> str:
    """How a page or a source is called in the output of the tests."""
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=name_of)
def test_the_code_of_a_page_runs(page):
    """Every block of Python runs, in order, and prints what is shown below it.

    Where fresh words are drawn the tolerance is nine standard errors or more: below 1e-18.
    """
    run(page)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_code_escapes(page):
    """Every fence on a page is Python or a command that is run, its output, or a plan."""
    fences = re.findall(r"^```(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(fences) % 2 == 0
    assert set(fences[::2]) <= {"python", "text", "console", "toml"}
    assert fences.count("python") == len(blocks(page))
    assert fences.count("console") == len(blocks(page, CONSOLE))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, CONSOLE)], ids=name_of)
def test_the_commands_of_a_page_can_be_typed(page, tmp_path):
    """In an empty folder, one after the other, they end well and print what is shown."""
    type_in(page, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_plan_on_a_page_is_a_plan(page):
    """Every block of TOML is one that is read and checked."""
    for text in re.findall(r"^```toml\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S):
        assert bs.Plan.from_text(text).explain(rows=5000)


def test_the_commands_are_documented_as_they_are():
    """The page holds what `--help` says; `python docs/commands.py` writes it anew."""
    text = commands.PAGE.read_text(encoding="utf-8")
    assert "## protect" in text
    assert commands.written(text) == text


def test_the_plan_is_documented_key_by_key():
    """Every key, role, target and matrix of a plan has its line on the page, and no other has."""
    told = re.findall(r"^\| `([\w-]+)` \|", (DOCS / "plan.md").read_text("utf-8"), re.M)
    keys = {*PlanModel.model_fields, *Column.model_fields} - {*SHAPES, "prior", "allow_zeros"}
    known = keys | set(get_args(Role)) | set(FAMILIES)
    assert set(told) == known
    text = (DOCS / "plan.md").read_text("utf-8")
    assert all(f"`{name}" in text for name in (*SHAPES, *TARGETS, "prior", "allow_zeros"))
    for name, family in FAMILIES.items():
        assert f"| `{name}` | {family.says} |" in text


@pytest.mark.parametrize("name", bs.__all__)
def test_every_public_name_has_a_page(name):
    """Each public name is documented on exactly one page."""
    mark = re.compile(rf"^::: bistochastic\.{name}$", re.MULTILINE)
    where = [page.name for page in PAGES if mark.search(page.read_text(encoding="utf-8"))]
    assert len(where) == 1


def test_every_page_is_in_the_navigation():
    """No page is written and then not found."""
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    missing = [page for page in PAGES if f"{page.relative_to(DOCS).as_posix()}\n" not in navigation]
    assert missing == []


def test_every_structure_page_has_its_picture():
    """A page, a picture and a mark that puts one on the other, for every structure."""
    assert sorted([*pictures.PICTURES, "index"]) == STRUCTURES
    for name in pictures.PICTURES:
        page = (DOCS / "structures" / f"{name}.md").read_text(encoding="utf-8")
        assert f"<!-- picture: {name} -->" in page


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_is_of_its_matrix(name):
    """A square for each entry that can be seen, its area the probability."""
    channel = pictures.matrix(name)
    assert channel.size == 12
    drawing = ET.fromstring(pictures.svg(channel, name))
    squares = [element for element in drawing if element.get("class") == "cell"]
    array = channel.to_dense()
    assert len(squares) == (array > 1e-4).sum()
    area = sum(float(square.get("width", 0)) ** 2 for square in squares) / 18**2
    assert area == pytest.approx(12, rel=5e-3)


def test_the_picture_of_groups_is_of_a_grouping():
    """A dot and a tie for each record, a mark for each group."""
    figure = ET.fromstring(pictures.OTHERS["microaggregation"]())
    shapes = [element.get("class") for element in figure[0]]
    assert [shapes.count(kind) for kind in ("record", "frame", "cell")] == [60, 60, 15]
    assert "15 of 4 to 4" in ET.tostring(figure, encoding="unicode")
    page = (DOCS / "masking" / "microaggregation.md").read_text(encoding="utf-8")
    assert "<!-- picture: microaggregation -->" in page


def test_the_picture_of_displacement_is_of_its_records():
    """Two dots and a line for each record, filled where it moved."""
    figure = ET.fromstring(pictures.OTHERS["displacement"]())
    shapes = [element.get("class") for element in figure[0]]
    assert shapes.count("frame") == 12
    assert shapes.count("cell") + shapes.count("record") == 24
    share = shapes.count("cell") / 24
    assert f"T, moved</th><td>{share:.3f}" in ET.tostring(figure, encoding="unicode")
    assert "<!-- picture: displacement -->" in (DOCS / "measures" / "permutation.md").read_text()


def test_the_picture_of_dominance_crosses_where_it_is_said():
    """The curve leaves the level of the dot on both sides."""
    figure = ET.fromstring(pictures.OTHERS["dominance"]())
    dot = next(element for element in figure[0] if element.get("class") == "cell")
    line = next(element for element in figure[0] if element.tag.endswith("polyline"))
    points = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
    level = float(dot.get("cy"))
    left = [y for x, y in points if x < float(dot.get("cx")) - 2]
    right = [y for x, y in points if x > float(dot.get("cx")) + 2]
    assert min(left) > level > max(right)
    assert "-1.90525" in ET.tostring(figure, encoding="unicode")
    assert "<!-- picture: dominance -->" in (DOCS / "measures" / "dominance.md").read_text()


def test_every_citation_is_listed():
    """Who is cited by name and year in a docstring or on a page stands in the references."""
    references = (DOCS / "references.md").read_text(encoding="utf-8")
    entries = re.findall(r"^\*\*(.+?)\.\*\*", references, re.MULTILINE)
    cited = {
        found
        for path in [*SOURCES, *PAGES]
        if path.name != "references.md"
        for found in CITATION.findall(path.read_text(encoding="utf-8"))
    }
    assert ("Warner", "1965") in cited
    missing = [
        (name, year)
        for name, year in sorted(cited)
        if not any(name in entry and year in entry for entry in entries)
    ]
    assert missing == []


def test_every_entry_of_the_references_is_cited():
    """What nobody cites is not in the list."""
    references = (DOCS / "references.md").read_text(encoding="utf-8")
    texts = [
        path.read_text(encoding="utf-8")
        for path in [*SOURCES, *PAGES]
        if path.name != "references.md"
    ]
    for entry in re.findall(r"^\*\*(.+?)\.\*\*", references, re.MULTILINE):
        *_, last = re.findall(r"[A-ZÀ-Þ]\w+", entry)
        assert any(last in text for text in texts), entry
