"""The command of analysts says what the function says, in lines, in JSON and in sentences."""

import json

import jsonschema
import polars as pl
import pytest
from click.testing import CliRunner

import bistochastic as bs
from bistochastic import schemas
from bistochastic.cli import main
from bistochastic.plan.plan import Plan
from bistochastic.population import PLAN, people
from tests.surveys import KEY


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A release of the people who do not exist."""
    place = tmp_path_factory.mktemp("statement")
    people().write_csv(place / "people.csv")
    return bs.protect(place / "people.csv", Plan.from_text(PLAN), KEY).write(place / "release")


def said(*words, ends=0):
    """What a command says on both channels, if it ends as it should."""
    told = CliRunner().invoke(main, list(map(str, words)))
    assert told.exit_code == ends, told.output
    return told


def test_json_is_the_frame_and_has_its_schema(folder):
    """The numbers of `bs.estimate`, cell by cell, and how they came about."""
    told = json.loads(said("estimate", folder, "--by", "sex,illness", "--json").stdout)
    schema = schemas.schema("estimates")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(told, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(told | {"rows": "many"}, schema)
    frame = bs.estimate(folder, columns=["sex", "illness"])
    assert told["columns"] == ["sex", "illness"]
    assert [cell["labels"] for cell in told["cells"]] == frame.select("sex", "illness").to_dicts()
    for name in ("estimate", "se", "low", "high", "count", "count_se", "note"):
        assert [cell[name] for cell in told["cells"]] == frame[name].to_list()
    assert (told["rows"], told["method"], told["variance"]) == (5000, "unbiased", "sample")
    assert (told["complete"], told["lost"], told["gap"]) == (True, [], None)


def test_a_terminal_shows_every_cell_and_how_it_came_about(folder):
    """A line for each cell, and sentences on matrices, errors and intervals."""
    told = said("estimate", folder, "--by", "smoker", "--by", "sex", "--weight", "weight").stdout
    frame = bs.estimate(folder, columns=["smoker", "sex"], weight="weight")
    for row in frame.iter_rows(named=True):
        line = next(x for x in told.splitlines() if x.split()[:2] == [row["smoker"], row["sex"]])
        assert f"{row['estimate']:.3f}" in line
        assert f"±{row['se']:.3f}" in line
        assert f"{row['count']:,.0f}" in line
    flat = " ".join(told.split())
    assert "Unbiased shares of 5,000 rows, weighed by weight: smoker undone from the mixture of " \
        "smoker × illness; sex undone from its mixture." in flat  # fmt: skip
    assert "respondents counting as a sample; intervals are score intervals of 0.95" in flat


def test_the_options_are_those_of_the_function(folder):
    """Variance, method, kind and level of intervals."""
    told = json.loads(
        said("estimate", folder, "--by", "illness", "--variance", "file", "--method", "likelihood",
             "--interval", "normal", "--level", "0.9", "--json").stdout
    )  # fmt: skip
    wanted = bs.estimate(folder, columns=["illness"], variance="file", method="likelihood",
                         interval="normal", level=0.9)  # fmt: skip
    assert [cell["high"] for cell in told["cells"]] == wanted["high"].to_list()
    assert 0 <= told["gap"] < 1e-5
    shown = said("estimate", folder, "--by", "illness", "--method", "likelihood").stdout
    assert "Most likely shares" in shown
    assert "No other table is more likely by over" in shown


def test_notes_and_what_is_lost_are_told(tmp_path):
    """Sums of labels are marked, numbered and explained; passing columns are said to pass."""
    columns = {
        "block": {"role": "key", "kind": "ordinal", "domain": [1, 2, 3], "missing": "refuse",
                  "matrix": "blocks", "sizes": [2, 1]},
        "plain, or so": {"role": "plain"},
    }  # fmt: skip
    frame = pl.DataFrame({"block": [1, 2, 3, 3], "plain, or so": ["a", None, "b", "b"]})
    folder = bs.protect(frame, Plan(release="r", columns=columns), KEY).write(tmp_path / "out")
    told = said("estimate", folder, "--by", "plain, or so", "--by", "block").stdout
    assert "1 + 2" in told
    assert "missing" in told
    assert "1: a sum of 2 cells that reports do not tell apart" in told
    assert "Of block only sums are identifiable" in " ".join(told.split())
    assert "plain, or so passed" in told
    cells = json.loads(
        said("estimate", folder, "--by", "plain, or so,block", "--json", ends=2).stdout or "{}"
    )
    assert cells == {}


def test_a_long_table_is_cut_on_a_terminal_and_whole_for_machines(folder):
    """Sixty cells are shown, and how many more there are."""
    words = ("estimate", folder, "--by", "region,school,work")
    assert "180 more cells: --json tells all of them." in said(*words).stdout
    assert len(json.loads(said(*words, "--json").stdout)["cells"]) == 240


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("nowhere", "--by", "sex"), "cannot be read"),
        ((".", "--by", "sex"), "cannot be read"),
        (("--by", "income"), "it was permuted"),
        (("--by", "nothing"), "no column 'nothing'"),
        (("--by", "sex", "--level", "95"), "between 0 and 1"),
        (("--by", "sex", "--weight", "income"), "cannot weigh"),
        ((), "Missing option '--by'"),
    ],
)
def test_refusals(words, told, folder, tmp_path, monkeypatch):
    """One readable block on the other channel, and nothing on this one."""
    monkeypatch.chdir(tmp_path)
    given = words if words and not words[0].startswith("--") else (folder, *words)
    refused = said("estimate", *given, ends=2)
    assert told in refused.stderr
    assert refused.stdout == ""
