"""Several maskings, ordered as far as everybody agrees, and the page and commands that tell it."""

import json
import re

import jsonschema
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic import schemas
from bistochastic.cli import main
from bistochastic.commands.compare import beginning, named
from bistochastic.report.compared import graph
from tests.pages import ROOT

DATA = ROOT.parent / "shared" / "data"


def tables(n=80):
    """A file and maskings of it that are in order: each moves records farther than the last."""
    draw = np.random.default_rng(4)
    values = np.arange(n)
    original = pl.DataFrame({"x": values, "y": draw.permutation(n)})
    made = {"none": original}
    for name, step in {"near": 1, "far": 4, "farthest": 40}.items():
        places = values.reshape(-1, 2 * step)
        swapped = np.concatenate([places[:, step:], places[:, :step]], axis=1).ravel()
        made[name] = original.with_columns(x=pl.Series(swapped))
    return original, made


def test_the_order_of_protection():
    """Who moves everybody farther is above; who moves nobody is last."""
    original, made = tables()
    found = bs.compare(original, made)
    assert found.protection.best == ("farthest",)
    assert found.protection.edges == (("far", "near"), ("farthest", "far"), ("near", "none"))
    assert found.information is not None
    assert found.information.best == ("none",)
    assert found.dominance("near", "none", "x").verdict == "first"
    assert found.dominance("none", "near", "x").verdict == "second"
    assert found.dominance("none", "near", ("x", "y")).verdict == "first"


def test_crossing_points_are_told():
    """Two maskings of which each is better for some come with the order where that changes."""
    original = pl.DataFrame({"x": range(8)})
    # Displacements {0,0,7,…} against {1,1,…}: the former are better on average only.
    ends = pl.DataFrame({"x": [7, 1, 2, 3, 4, 5, 6, 0]})
    pairs = pl.DataFrame({"x": [1, 0, 3, 2, 5, 4, 7, 6]})
    found = bs.compare(original, {"ends": ends, "pairs": pairs})
    told = found.dominance("ends", "pairs", "x")
    assert told.verdict == "neither"
    (crossing,) = told.crossings
    one, two = (found.evaluations[name].protection("x", crossing) for name in ("ends", "pairs"))
    assert one == pytest.approx(two, rel=1e-6)
    assert found.information is None
    page = found.text()
    assert "crossing in 1" in page
    assert re.search(r"x: α = 0\.\d+", page)


@settings(max_examples=30)
@given(st.lists(st.permutations(list(range(5))), min_size=2, max_size=4))
def test_it_is_a_partial_order(orders):
    """Nobody is above itself, above is passed on, and verdicts agree with values of D."""
    names = [f"m{place}" for place in range(len(orders))]
    original = pl.DataFrame({"x": range(5)})
    made = {name: pl.DataFrame({"x": order}) for name, order in zip(names, orders, strict=True)}
    found = bs.compare(original, made)
    above = {(a, b) for a in names for b in names if found.protection.verdict(a, b) == "first"}
    for a, b in above:
        assert (b, a) not in above
        assert all((a, c) in above for b2, c in above if b2 == b)
        alphas = [1, 0.5, 0, -1, -9]
        first, second = (found.evaluations[m].protection("x", alphas) for m in (a, b))
        assert (first >= second * (1 - 1e-9)).all()


def test_what_is_told_has_a_schema():
    """The JSON holds every comparison and follows its schema; the table holds the same."""
    original, made = tables()
    found = bs.compare(original, made)
    said = json.loads(found.json())
    jsonschema.validate(said, schemas.schema("comparison"))
    assert len(said["comparisons"]) == found.frame().height == 6 * 3
    assert [score["name"] for score in said["scores"]] == list(made)
    assert said["scores"][0]["protection"] < 1e-6


def test_graphs():
    """Those on top first, others below them; who is below two is told where it stands."""
    assert graph(["a"], []) == ["a"]
    chain = graph(["c", "b", "a"], [("a", "b"), ("b", "c")])
    assert chain == ["a", "└─ b", "   └─ c"]
    diamond = graph(list("abcd"), [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
    assert diamond == [
        "a", "├─ b", "│  └─ d  (below c too)", "└─ c", "   └─ d  (below b too)",
    ]  # fmt: skip
    assert graph(["a", "b", "c"], [("a", "c")], {("a", "b")}) == ["a = b", "└─ c"]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a file and maskings of it."""
    monkeypatch.chdir(tmp_path)
    original, made = tables()
    original.write_csv("people.csv")
    for name, frame in made.items():
        frame.write_csv(f"people_{name}.csv")
    return tmp_path


def said(*words, ends=0):
    """What a command says, if it ends as it should."""
    told = CliRunner().invoke(main, list(words))
    assert told.exit_code == ends, told.output
    return told


def test_the_command_evaluate(place):
    """A page for people and JSON for machines; a refusal is one readable block."""
    page = said("evaluate", "people.csv", "people_far.csv", "--keys", "y", "--confidential", "x")
    assert "Protection  larger is safer" in page.stdout
    told = said("evaluate", "people.csv", "people_far.csv", "--json", "--nominal", "y").stdout
    jsonschema.validate(json.loads(told), schemas.schema("evaluation"))
    assert json.loads(told)["columns"][1]["kind"] == "nominal"
    assert "nobody linked" in said("evaluate", "people.csv", "people_far.csv", "--unlinked").stdout
    both = ("evaluate", "people.csv", "people_far.csv", "--unlinked", "--id", "x")
    assert "--id links records" in said(*both, ends=2).stderr
    refused = said("evaluate", "people.csv", "people_far.csv", "--id", "z", ends=2)
    assert "no column 'z'" in refused.stderr
    assert refused.stdout == ""


def test_the_command_compare(place):
    """The order as a small graph; names without what they have in common."""
    files = [f"people_{name}.csv" for name in ("none", "near", "far", "farthest")]
    page = said("compare", "people.csv", *files).stdout
    assert "  farthest\n  └─ far\n     └─ near\n        └─ none\n" in re.sub(" +\n", "\n", page)
    told = json.loads(said("compare", "people.csv", *files, "--json").stdout)
    jsonschema.validate(told, schemas.schema("comparison"))
    assert "named twice" in said("compare", "people.csv", files[0], files[0], ends=2).stderr
    said("compare", "people.csv", ends=2)


def test_a_plan_tells_the_commands_what_columns_are(place):
    """Kinds, orders and the missing ones come from the plan."""
    plan = 'release = "r"\n[columns.x]\nrole = "key"\nkind = "ordinal"\n'
    plan += 'domain = {first = 0, last = 79}\n[columns.y]\nrole = "identifier"\n'
    (place / "plan.toml").write_text(plan, "utf-8")
    told = said("evaluate", "people.csv", "people_far.csv", "--plan", "plan.toml", "--json").stdout
    columns = json.loads(told)["columns"]
    assert [(c["name"], c["kind"], c["why"]) for c in columns] == [("x", "ordinal", "declared")]
    assert said("compare", "people.csv", "people_far.csv", "--plan", "plan.toml").stdout


def test_names(tmp_path):
    """What names begin with alike is left out, and paths tell the same names apart."""
    assert beginning("abc", "abd") == "ab"
    assert beginning("ab", "abc") == "ab"
    assert named((tmp_path / "x_a.csv", tmp_path / "x_b.csv")) == ["a", "b"]
    assert named((tmp_path / "one.csv",)) == ["one"]
    same = (tmp_path / "a" / "x.csv", tmp_path / "b" / "x.csv")
    assert named(same) == [str(path) for path in same]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda o, m: bs.compare(o, {}), "at least one"),
        (lambda o, m: bs.compare(o, {"cut": m["far"].head(9)}), "'cut' has 9 records"),
        (
            lambda o, m: bs.compare(o.cast(pl.String), {"a": o.cast(pl.String)}),
            "no column that has",
        ),
        (lambda o, m: bs.compare(o, m).dominance("far", "none", "z"), "Compare two of"),
        (lambda o, m: bs.compare(o, m).dominance("far", "far", "x"), "Compare two of"),
    ],
)
def test_refusals(call, says):
    """What cannot be compared is refused in words."""
    with pytest.raises(bs.MeasureError, match=says):
        call(*tables())


def test_census_masked_by_sdcmicro():
    """Rank swapping protects less than both others in every column, and loses less than noise."""
    names = ("mdav3", "noise20", "rankswap5")
    files = {name: DATA / "masked" / f"census_sdcmicro_{name}.csv" for name in names}
    if not all(path.exists() for path in (DATA / "census.csv", *files.values())):
        pytest.skip("the census is not there")
    found = bs.compare(DATA / "census.csv", files)
    assert found.protection.edges == (("mdav3", "rankswap5"), ("noise20", "rankswap5"))
    assert found.protection.verdict("mdav3", "noise20") == "neither"
