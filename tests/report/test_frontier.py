"""The plane of a table as a page: the line is proven, and methods stand above it."""

import numpy as np
import pytest
from click.testing import CliRunner

from bistochastic.cli import main
from bistochastic.frontier.planes import plane
from bistochastic.report.frontier import frontier, page
from bistochastic.report.page import html
from bistochastic.tradeoff.function import tradeoff
from tests.report.pages import Read, survey


@pytest.mark.parametrize("distortion", ["hamming", "squared"])
def test_nothing_is_below_the_line(distortion):
    """Neither finely spaced optimal channels nor mixtures leak less than the line says."""
    joint = np.random.default_rng(2).random((3, 6)) ** 3
    function = tradeoff(joint, distortion, units="bits", tolerance=1e-3)
    line = frontier(function.curve(9))
    at, least = (np.array(side) for side in zip(*line.points, strict=True))
    fine = tradeoff(joint, distortion, units="bits").curve(40)
    assert (np.interp(fine.distortion, at, least) <= fine.risk + 1e-9).all()
    assert np.interp(fine.distortion, at, least)[1:-1] == pytest.approx(fine.risk[1:-1], abs=0.05)


def test_a_page_of_a_plane():
    """It opens with what the keys tell, and lists the curve and every method."""
    found = plane(survey(400), "region", "smoker")
    text = html(page(found, found.tradeoff.curve(7), found.families([0.5])))
    read = Read(text)
    assert "Published unmasked, region would tell" in read.text
    assert "mixture, beta 0.5" in read.text
    assert "Confidential" in read.text
    assert all(link.startswith("#") for link in read.links)


def test_the_command_writes_a_page(tmp_path, monkeypatch):
    """`tradeoff --html` writes it, and never over a file."""
    monkeypatch.chdir(tmp_path)
    survey(300).write_csv("people.csv")
    line = "tradeoff people.csv --key-column region --confidential smoker --html page.html"
    done = CliRunner().invoke(main, line.split())
    assert (done.exit_code, done.stdout) == (0, "")
    assert "Wrote page.html" in done.stderr
    assert "Privacy against distortion" in (tmp_path / "page.html").read_text("utf-8")
    again = CliRunner().invoke(main, line.split())
    assert again.exit_code == 2
    assert "exists and is not written over" in again.stderr
