"""What the README shows is what happens."""

import re

import bistochastic as bs
from tests.pages import ROOT, blocks, run

README = ROOT / "README.md"


def test_the_example_runs_and_prints_what_is_shown():
    """The Python of the README runs from top to bottom, and its output is shown."""
    shown = [block.shown for block in blocks(README)]
    assert shown
    assert None not in shown
    run(README)


def test_the_table_of_families_is_computed():
    """Each row of the table gives epsilon, truth and distance moved of that family at beta 0.6."""
    rows = re.findall(r"^\| `(\w+)` \|.*$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == ["mixture", "tridiagonal", "window", "blocks", "diffusion", "optimal"]
    for line in README.read_text(encoding="utf-8").splitlines():
        found = re.match(r"\| `(\w+)` \|", line)
        if found:
            assert line.split("|")[3:-1] == table_cells(found[1]), line


def table_cells(family: str) -> list[str]:
    """The numbers of a row, written as the table writes them."""
    distances = [[(u - v) ** 2 for v in range(12)] for u in range(12)]
    try:
        matrix = bs.calibrate(family, 12, beta=0.6)
    except bs.TargetError:
        return [" stops at 0.41 ", " ", " ", " "]
    cells = (
        f"{matrix.beta:.2f}",
        f"{matrix.epsilon:.1f}".replace("inf", "∞"),
        f"{matrix.truthfulness.mean:.0%}",
        f"{bs.distortion(matrix, distances):.1f}",
    )
    return [f" {cell} " for cell in cells]
