"""A masked file against its original, as a page: every figure is that of the evaluation."""

import re

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from bistochastic.cli import main
from bistochastic.referee.evaluation import evaluate
from bistochastic.report.drawing.numbers import decimal, share
from bistochastic.report.judgement import ALPHAS, judged, page
from bistochastic.report.page import html
from tests.report.pages import Read, released, survey


def masked(rows=300):
    """A table and another tool's masking of it: noise, and labels that were swapped."""
    choose = np.random.default_rng(3)
    table = survey(rows).select("region", "school", "smoker", "income", "rent")
    noise = choose.normal(0, 60, rows)
    return table, table.with_columns(
        rent=pl.col("rent") + noise, income=pl.col("income") * np.exp(noise / 200),
        region=pl.col("region").shuffle(seed=1),
    )  # fmt: skip


@pytest.fixture(scope="module")
def judgement():
    """An evaluation and the parts that are told of it."""
    found = evaluate(*masked(), keys=["region", "school"], confidential=["smoker"])
    return found, {part.title: part for part in judged(found)}


def test_protection_is_that_of_the_evaluation(judgement):
    """The curve ends in D(1), and the table holds D(1), D(0) and what moved."""
    found, parts = judgement
    part = parts["Risk: how far values moved"]
    lines = {line[0]: line[1:] for line in part.table.lines}
    for name in ("income", "rent"):
        told = found.displacement(name)
        assert lines[name][0] == share(told.moved)
        assert lines[name][1] == decimal(float(told.protection(1.0, rescaled=True)))
        assert lines[name][3] == decimal(float(told.protection(0.0, rescaled=True)))
    assert lines["region"][0] == share(found.moved("region"))
    points = [line for line in part.drawings[0].table.lines if line[0] == "rent"]
    assert points[-1] == ("rent", decimal(ALPHAS[-1]), lines["rent"][1])
    random = [line for line in part.drawings[0].table.lines if line[0] == "a random permutation"]
    assert float(random[-1][2]) == pytest.approx((300**2 - 1) / (3 * 300) / 299, rel=5e-3)


def test_links_are_those_of_the_evaluation(judgement):
    """A bar for each way of linking, beside blind guessing."""
    found, parts = judgement
    table = parts["Risk: who can be linked"].drawings[0].table
    told = {line[0]: line[1:] for line in table.lines}
    assert told["by ranks"] == (share(found.linkage(scale="ranks").expected), share(1 / 300))


def test_the_matrices_are_weighed_where_there_is_a_manifest():
    """A release is judged by an intruder who knows its matrices, too."""
    table = survey(200)
    release = released(table)
    found = evaluate(table, release.data, plan=None)
    parts = {part.title: part for part in judged(found, release.manifest)}
    names = [line[0] for line in parts["Risk: who can be linked"].drawings[0].table.lines]
    assert names[:2] == ["by ranks", "by values"]
    large = evaluate(*(pl.concat([side] * 60) for side in (table, release.data)))
    parts = {part.title: part for part in judged(large, release.manifest)}
    assert not parts["Risk: who can be linked"].drawings
    assert "bistochastic evaluate" in parts["Risk: who can be linked"].texts[0]


def test_the_worst_pairs_stand_first(judgement):
    """Pairs are listed by what they lost: I(1) of ordered ones, association of all."""
    found, parts = judgement
    line = parts["Loss: relations between ordered columns"].table.lines[0]
    one, other = line[0].split(" × ")
    assert line[1] == decimal(found.information_loss((one, other), rescaled=True))
    changed = parts["Loss: the pairs most changed"].table
    apart = [abs(number(line[2]) - number(line[3])) for line in changed.lines]
    assert apart == sorted(apart, reverse=True)
    assert len(apart) > 5
    figures = {(" × ".join(f.of), f.measure): f for f in found.section("utility")}
    for pair, measure, before, after, value in changed.lines:
        figure = figures[pair, measure]
        assert (before, after, value) == tuple(
            map(decimal, (figure.before, figure.after, figure.value))
        )


def number(told):
    """A number as it was before it was told."""
    return float(told.replace("−", "-").replace(",", "").replace("∞", "inf"))


def test_classes_are_told_beside_the_original(judgement):
    """K and what classes tell, before and after, with their direction."""
    found, parts = judgement
    lines = {line[0]: line for line in parts["Risk: what classes of the keys tell"].table.lines}
    assert lines["k"][2:4] == (
        decimal(found.anonymity(of="original").k), decimal(found.anonymity().k),
    )  # fmt: skip
    assert lines["k"][-1] == "larger is safer"
    assert "region and school" in parts["Risk: what classes of the keys tell"].texts[0]


def test_the_page_is_whole(judgement):
    """One file, nothing fetched, confidential, every figure with a direction."""
    text = html(page(judgement[0], "masked.csv"))
    read = Read(text)
    assert len(set(read.ids)) == len(read.ids)
    assert all(link.startswith("#") for link in read.links)
    assert "Confidential" in text
    assert "300 masked records are held against 300 original records in 5 columns" in read.text
    for caption in re.findall(r"<figcaption><p>(.*?)</p>", text, re.DOTALL):
        assert "better" in caption


@pytest.mark.parametrize("case", ["nobody linked", "one column", "nobody"])
def test_pages_of_little(case):
    """What cannot be measured is left out, and said where it matters."""
    table, after = masked(40)
    sides = {
        "nobody linked": (table, after.head(30)),
        "one column": (table.select("region"), after.select("region")),
        "nobody": (table.clear(), after.clear()),
    }[case]
    found = evaluate(*sides)
    read = Read(html(page(found, "masked")))
    assert ("nobody is linked" in read.text) is (case != "one column")


def test_the_command_writes_a_page(tmp_path, monkeypatch):
    """`evaluate --html` writes it once, and never over a file."""
    monkeypatch.chdir(tmp_path)
    table, after = masked(60)
    table.write_csv("people.csv")
    after.write_csv("masked.csv")
    line = ["evaluate", "people.csv", "masked.csv", "--keys", "region", "--html", "page.html"]
    done = CliRunner().invoke(main, line)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "Wrote page.html: keep it as the original." in done.stderr
    assert "<h1>masked.csv</h1>" in (tmp_path / "page.html").read_text("utf-8")
    again = CliRunner().invoke(main, line)
    assert again.exit_code == 2
    assert "exists and is not written over" in again.stderr
