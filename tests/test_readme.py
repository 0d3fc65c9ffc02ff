"""What the README shows is what happens."""

import re
import shlex

from click.testing import CliRunner

import bistochastic as bs
from bistochastic.cli import main
from docs import hero
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


def test_the_file_can_be_protected_as_shown(tmp_path, monkeypatch):
    """The plan of the README is one, and its commands are typed as they stand."""
    text = README.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    rows = [f"P{row},{'coast' if row % 3 else 'north'},now,{row}" for row in range(200)]
    (tmp_path / "people.csv").write_text("name,region,smoker,income\n" + "\n".join(rows) + "\n")
    (plan,) = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    typed = re.findall(r"^(bistochastic .*?) *(?:#.*)?$", text, re.MULTILINE)
    way = ["inspect", "explain", "protect", "verify", "estimate", "evaluate"]
    assert [line.split()[1] for line in typed] == way
    for line in typed:
        told = CliRunner().invoke(main, shlex.split(line)[1:])
        assert told.exit_code == 0, told.output
        (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")


def test_the_picture_is_what_is_computed():
    """The picture at the top is the one that its script draws."""
    assert hero.PICTURE.read_text(encoding="utf-8") == hero.hero()
    assert str(hero.PICTURE.relative_to(ROOT)) in README.read_text(encoding="utf-8")


def test_what_the_readme_points_to_is_there():
    """Every page, file and public name that the README mentions exists."""
    text = README.read_text(encoding="utf-8")
    for path in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / path).exists(), path
    for name in re.findall(r"`bs\.(\w+)`", text):
        assert name in bs.__all__, name


def test_make_knows_the_commands_shown():
    """What the README asks of `make` is there."""
    text, rules = README.read_text("utf-8"), (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"\bmake (\w+)", text):
        assert re.search(rf"^{target}:", rules, re.MULTILINE), target
