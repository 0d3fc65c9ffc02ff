import re

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import bistochastic as bs
from bistochastic.cli import main
from bistochastic.report.ordered import page
from bistochastic.report.page import html


@pytest.fixture(scope="module")
def found():
    """A column moved far, moved near, moved like the first with ends exchanged, and left alone."""
    ages = np.arange(40)
    near = ages.reshape(-1, 2)[:, ::-1].ravel()
    masked = {
        "far": np.roll(ages, 20), "near": near, "alone": ages,
        "few": np.where(ages < 4, ages[3::-1][ages % 4], ages),
    }  # fmt: skip
    original = pl.DataFrame({"age": ages, "pay": ages[::-1]})
    return bs.compare(
        original, {name: original.with_columns(age=line) for name, line in masked.items()}
    )


def test_the_page_draws_what_the_verdicts_say(found):
    """Each better masking, through others too, is in the numbers below the drawing."""
    verdicts = found.verdicts()
    shown = page(verdicts, "people.csv")
    drawing = shown.parts[1].drawings[0]
    (protection,) = [one for one in verdicts.standings if one.side == "protection"]
    assert set(protection.edges) <= set(drawing.table.lines)
    assert ("far", "alone") in drawing.table.lines
    assert ("alone", "far") not in drawing.table.lines
    wins = {(one.first, one.second) for one in verdicts.comparisons if one.verdict == "first"}
    wins |= {(one.second, one.first) for one in verdicts.comparisons if one.verdict == "second"}
    assert set(drawing.table.lines) <= wins


def test_the_page_is_whole(found):
    """One file that needs nothing else, every part with a name of its own."""
    text = html(page(found.verdicts(), "people.csv"))
    assert "Not for publication" in text
    assert not re.search(r"(?:src|href)=.https?:", text)
    names = re.findall(r'\bid="([^"]+)"', text)
    assert len(names) == len(set(names))
    for name in ("far", "near", "alone", "few"):
        assert name in text


def test_the_command_writes_it_once(tmp_path):
    """Nothing is written over."""
    for name in ("a", "b"):
        pl.DataFrame({"x": range(9)}).write_csv(tmp_path / f"{name}.csv")
    words = ["compare", *(str(tmp_path / f"{name}.csv") for name in "ab"), "--html"]
    words.append(str(tmp_path / "page.html"))
    first = CliRunner().invoke(main, words)
    assert first.exit_code == 0, first.output
    assert "<title>" in (tmp_path / "page.html").read_text("utf-8")
    assert CliRunner().invoke(main, words).exit_code == 2
