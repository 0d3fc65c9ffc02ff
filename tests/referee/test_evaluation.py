"""A masked file, judged: whatever it comes as, however records stand, whoever masked it."""

import json
import math

import duckdb
import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic import schemas
from bistochastic.keystream import Key
from bistochastic.measures.figures import RISKIER, SAFER, WORSE
from bistochastic.population import PLAN, people
from tests.pages import ROOT

DATA = ROOT.parent / "shared" / "data"
KEY = Key(bytes(range(32)))


def table(n=60, seed=1):
    """A few people and what a masking made of them."""
    draw = np.random.default_rng(seed)
    before = pl.DataFrame(
        {
            "person": np.arange(n),
            "age": draw.integers(18, 90, n),
            "income": draw.normal(2000, 500, n).round(2),
            "school": draw.choice(["none", "primary", "degree"], n),
            "région 🌍": draw.choice(["nord", "süd"], n),
        }
    )
    after = before.with_columns(
        age=pl.Series(before["age"] + draw.integers(-5, 6, n)),
        income=pl.Series(draw.permutation(before["income"].to_numpy())),
        school=pl.Series(draw.permutation(before["school"].to_numpy())),
    )
    return before, after


def plain(found):
    """The figures of an evaluation without what depends on how it was linked."""
    return {
        (f.measure, f.of, f.parameter): f.value
        for section, figures in found.figures.items()
        if section != "records"
        for f in figures
    }


def test_any_kind_of_table_gives_the_same(tmp_path):
    """Frames of pandas, Polars, PyArrow and DuckDB, and files of all formats."""
    before, after = table()
    kinds = {"school": "nominal"}
    expected = plain(bs.evaluate(before, after, kinds=kinds))
    before.write_csv(tmp_path / "a.csv", separator=";")
    after.write_parquet(tmp_path / "b.parquet")
    after.write_ipc(tmp_path / "b.arrow")
    after.write_csv(tmp_path / "b.csv")
    others = {
        "pandas": (before.to_pandas(), after.to_pandas()),
        "arrow": (before.to_arrow(), after.to_arrow()),
        "lazy": (before.lazy(), after),
        "duckdb": (duckdb.from_arrow(before.to_arrow()), after),
        "csv": (tmp_path / "a.csv", tmp_path / "b.csv"),
        "mixed": (tmp_path / "a.csv", str(tmp_path / "b.parquet")),
        "ipc": (before, tmp_path / "b.arrow"),
    }
    for name, (one, two) in others.items():
        found = plain(bs.evaluate(one, two, kinds=kinds))
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True), name


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_records_are_found_by_their_id(seed):
    """In another order, by an id, everything is the same as in the same order."""
    before, after = table(seed=seed)
    straight = plain(bs.evaluate(before.drop("person"), after.drop("person")))
    for shuffled in (after.sample(fraction=1, shuffle=True, seed=seed), after.reverse()):
        found = bs.evaluate(before, shuffled, id="person")
        assert found.pair.by == "column 'person'"
        assert plain(found) == pytest.approx(straight, rel=1e-9, abs=1e-9, nan_ok=True)


def test_missing_records_are_reported():
    """What compares records does so on those in both files, and says so."""
    before, after = table()
    part = after.filter(pl.col("person") % 3 != 0)
    extra = part.tail(2).with_columns(person=pl.col("person") + 1000)
    found = bs.evaluate(before, pl.concat([extra, part]), id="person")
    assert found.pair.linked == 40
    assert found.pair.missing.tolist() == list(range(0, 60, 3))
    assert "20 records of the original" in found.notes[0]
    assert "2 of that are not in the original" in found.notes[0]
    assert found.displacement("age").size == 40
    assert found.linkage().candidates == 42
    account = found.account()
    assert (account.linked_records, account.missing_records) == (40, 20)


def test_without_an_id_files_of_other_lengths_are_not_linked():
    """Only what needs no link is measured, which is said; the rest is refused in words."""
    before, after = table()
    found = bs.evaluate(before, after.head(31), keys=["school"], confidential=["age"])
    assert found.pair.linked == 0
    assert "nothing says who is who" in found.notes[0]
    sections = {name for name, figures in found.figures.items() if figures}
    assert sections == {"records", "closeness", "utility"}
    for ask in (found.linkage, lambda: found.protection("age"), lambda: found.moved("school")):
        with pytest.raises(bs.MeasureError, match="Name the column"):
            ask()
    assert "nobody linked" in found.text()
    same = bs.evaluate(before, after, linked=False)
    assert {name for name, figures in same.figures.items() if figures} == {"records", "utility"}


def test_suppressed_cells_are_counted():
    """A cell that is gone has no rank: its record is left out there, and the share is told."""
    before, after = table()
    after = after.with_columns(
        age=pl.when(pl.col("person") < 15).then(None).otherwise("age"),
        income=pl.when(pl.col("person") < 6).then(float("nan")).otherwise("income"),
        school=pl.when(pl.col("person") < 30).then(None).otherwise("school"),
    )
    found = bs.evaluate(before, after)
    assert found.displacement("age").size == 45
    assert found.displacement("income").blanks.suppressed == 6
    lost = {f.of[0]: f.value for f in found.section("utility") if f.measure == "missing cells"}
    assert lost == {"age": 0.25, "income": 0.1, "school": 0.5}


def test_kinds_are_believed_before_they_are_guessed():
    """A plan, kinds, orders and distances, and only then types."""
    before, after = table()
    guessed = bs.evaluate(before, after)
    assert {c.name: c.kind for c in guessed.account().columns} == {
        "person": "numeric", "age": "numeric", "income": "numeric",
        "school": "nominal", "région 🌍": "nominal",
    }  # fmt: skip
    with pytest.raises(bs.MeasureError, match="'school' has no order"):
        guessed.protection("school")
    told = bs.evaluate(
        before,
        after,
        kinds={"age": "nominal"},
        orders={"school": ["none", "primary", "degree"]},
        distances={"région 🌍": (["nord", "süd"], [[0, 1], [1, 0]])},
    )
    assert told.pair.column("age").kind == "nominal"
    assert told.pair.column("school").ordered
    codes = [
        [["none", "primary", "degree"].index(x) for x in side["school"]] for side in (before, after)
    ]
    from bistochastic.measures.permutation import displacement

    assert told.protection("school") == displacement(*codes).protection(1.0)
    assert told.protection("région 🌍") < 1e-6


def test_labels_outside_a_declared_order_are_no_order():
    """A generalised label cannot be ranked, which is said; nothing is made up."""
    before, after = table()
    after = after.with_columns(school=pl.lit("none or primary"))
    found = bs.evaluate(before, after, orders={"school": ["none", "primary", "degree"]})
    assert not found.pair.column("school").ordered
    assert "1 labels outside its declared order" in " ".join(found.notes)
    assert found.moved("school") == 1


def test_numbers_that_became_intervals(tmp_path):
    """Where numbers became texts, distributions and classes are measured, and it is said."""
    before, after = table()
    after = after.with_columns(age=pl.format("[{}, {})", pl.col("age") // 20, pl.col("age") // 20))
    for name, frame in {"a": before, "b": after}.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    for one, two in ((before, after), (tmp_path / "a.csv", tmp_path / "b.csv")):
        found = bs.evaluate(one, two, keys=["age"])
        assert found.moved("age") == 1
        assert found.anonymity().k >= 1


def test_dates_have_an_order():
    """Days and moments are numbers that nobody has to declare; a date and a number are unlike."""
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 9), eager=True)
    before = pl.DataFrame({"day": days, "when": days.cast(pl.Datetime("ms"))})
    after = pl.DataFrame({"day": days.reverse(), "when": days.cast(pl.Datetime("ns"))})
    found = bs.evaluate(before, after)
    assert found.protection("day") == pytest.approx(40 / 9)
    assert found.moved("when") == 0
    mixed = bs.evaluate(before, pl.DataFrame({"day": range(9)}))
    assert not mixed.pair.column("day").ordered


def test_the_plan_of_a_release_is_enough(tmp_path):
    """From the demonstration: roles, orders, and the matrices that make linkage through them."""
    original = people().head(800)
    plan = bs.Plan.from_text(PLAN)
    release = bs.protect(original, plan, KEY)
    found = bs.evaluate(original, release.data, plan=plan)
    assert set(found.keys) == {n for n, c in plan.columns.items() if c.role == "key"}
    through, weight = found.channel_linkage(release.manifest)
    assert 0 < weight < 1
    assert through.records == 800
    assert through.expected >= 1 / 800
    randomised = [c.name for c in release.manifest.columns if c.treatment == "randomised"]
    other = bs.evaluate(original, release.data, kinds=dict.fromkeys(plan.columns, "nominal"))
    assert other.channel_linkage(release.manifest)[1] == pytest.approx(weight)
    frame = pl.DataFrame({name: range(800) for name in randomised})
    numbers = bs.evaluate(frame, frame)
    with pytest.raises(bs.MeasureError, match="evaluate with the plan"):
        numbers.channel_linkage(release.manifest)


def test_linkage_through_matrices_is_calibrated():
    """The weight of the true record is what Bayes' rule says, by an oracle over all pairs."""
    draw = np.random.default_rng(6)
    before = pl.DataFrame(
        {"sex": draw.choice(["f", "m"], 50), "area": draw.choice(["a", "b", "c"], 50),
         "known": draw.integers(0, 4, 50)}
    )  # fmt: skip
    said = dict(role="key", kind="nominal", missing="refuse", matrix="mixture", truth=0.7)
    plan = bs.Plan(
        release="r",
        columns={
            "sex": said | {"domain": ["f", "m"]},
            "area": said | {"domain": ["a", "b", "c"]},
            "known": dict(role="plain"),
        },
    )
    release = bs.protect(before, plan, KEY)
    found, weight = bs.evaluate(before, release.data, plan=plan).channel_linkage(release.manifest)
    likely = np.ones((50, 50))
    for name, labels in {"sex": ["f", "m"], "area": ["a", "b", "c"]}.items():
        matrix = release.manifest.channel(name).to_dense()
        codes = [[labels.index(x) for x in side[name]] for side in (before, release.data)]
        likely *= matrix[np.ix_(*codes)]
    likely *= before["known"].to_numpy()[:, None] == release.data["known"].to_numpy()
    weights = np.diag(likely / likely.sum(axis=0))
    assert weight == pytest.approx(weights.mean())
    best = likely.max(axis=0)
    right = np.where(np.isclose(np.diag(likely), best), 1 / np.isclose(likely, best).sum(axis=0), 0)
    assert found.expected == pytest.approx(right.mean())


def test_linkage_through_joint_channels_and_other_labels():
    """Columns that one channel treated together, and labels that are counted under another one."""
    draw = np.random.default_rng(9)
    before = pl.DataFrame(
        {
            "sex": draw.choice(["f", "m"], 40),
            "area": draw.choice(["a", "b", "c", "rare"], 40),
            "job": draw.choice(["x", "y", None], 40),
        }
    )
    said = dict(role="key", kind="nominal")
    plan = bs.Plan(
        release="r",
        columns={
            "sex": said | {"domain": ["m", "f"], "missing": "refuse"},
            "area": said
            | dict(
                domain=["c", "b", "a"], other="b", missing="refuse", matrix="mixture", truth=0.6
            ),
            "job": said | {"domain": ["y", "x"]},
        },
        together=[dict(columns=["sex", "job"], matrix="mixture", truth=0.5)],
    )
    release = bs.protect(before, plan, KEY)
    _, weight = bs.evaluate(before, release.data, plan=plan).channel_linkage(release.manifest)
    sides = before.with_columns(pl.col("area").replace("rare", "b")), release.data
    areas = [[["c", "b", "a"].index(x) for x in side["area"]] for side in sides]
    both = [
        [["m", "f"].index(s) * 3 + ["y", "x", None].index(j) for s, j in side["sex", "job"].rows()]
        for side in sides
    ]
    likely = release.manifest.channel("area").to_dense()[np.ix_(*areas)]
    joint = bs.rebuilt(release.manifest.together[0].channel)
    likely = likely * joint.to_dense()[np.ix_(*both)]
    assert weight == pytest.approx(np.diag(likely / likely.sum(axis=0)).mean())
    strangers = before.with_columns(sex=pl.lit("neither"))
    found = bs.evaluate(strangers, release.data, plan=plan)
    with pytest.raises(bs.MeasureError, match="holds others"):
        found.channel_linkage(release.manifest)


def test_nothing_shows_a_value():
    """No repr of what an evaluation holds tells what stands in a cell."""
    before = pl.DataFrame({"x": [271828, 314159], "y": ["canary", "wren"]})
    found = bs.evaluate(before, before, keys=["y"], confidential=["x"])
    held = [found, found.pair, *found.pair.columns.values(), found.linkage(), found.anonymity()]
    held += [
        found.closeness(),
        found.closeness().table,
        found.displacement("x"),
        found.permuted("x"),
    ]
    held += [found.anonymity().classes, bs.compare(before, {"a": before})]
    told = "".join(map(repr, held)) + found.json()
    assert not [value for value in ("271828", "314159", "canary", "wren") if value in told]


def test_every_figure_is_honest():
    """Each has a unit and a direction; table and JSON say the same, the latter by its schema."""
    before, after = table()
    found = bs.evaluate(before, after, keys=["school"], confidential=["income", "région 🌍"])
    frame = found.frame()
    assert set(frame["direction"]) <= {SAFER, RISKIER, WORSE, "neither"}
    assert (frame["unit"] != "").all()
    said = json.loads(found.json())
    jsonschema.validate(said, schemas.schema("evaluation"))
    assert len(said["figures"]) == frame.height
    assert [line["value"] for line in said["figures"] if line["value"] != "infinite"] == [
        value for value in frame["value"] if not math.isinf(value)
    ]
    assert set(found.utility()["section"]) == {"utility"}
    told = {"k", "t", "delta disclosure", "information gain", "pMSE", "linked by ranks"}
    assert told <= set(frame["measure"])


def test_information_loss_and_protection_ask_the_measures():
    """One number for one order, several for several."""
    before, after = table()
    found = bs.evaluate(before, after)
    assert isinstance(found.protection("age"), float)
    assert found.protection("age", [1, 0, -math.inf]).shape == (3,)
    assert found.information_loss(("age", "income"), [1, math.inf]).shape == (2,)
    assert found.information_loss(("age", "income"), rescaled=True) <= 1
    assert found.permuted("age").holds(0)
    assert set(found.permuted_privacy()["parameter"]) == {"share=1", "share=0.95", "share=0.5"}
    failing = found.failing({"age": 1})
    shifted = bs.evaluate(before, after.reverse(), id="person").failing({"age": 1})
    assert failing.tolist() == shifted.tolist()


def test_the_page_can_be_read():
    """Its sections, directions and reference lines are there, within a hundred columns."""
    before, after = table()
    page = bs.evaluate(before, after, keys=["school"], confidential=["income"]).text()
    for part in (
        "Protection  larger is safer",
        "Linkage  larger is riskier",
        "blindly",
        "at random",
        "Utility lost, by column  larger is worse",
        "information gain",
    ):
        assert part in page, part
    assert max(map(len, page.split("\n"))) <= 100


@given(st.integers(1, 4), st.integers(0, 3), st.booleans())
def test_small_and_empty_files(rows, constant, missing):
    """One row, constant columns, nothing but gaps: figures or none, never a defect."""
    frame = pl.DataFrame(
        {
            "x": [float(constant)] * rows,
            "y": [None if missing else place for place in range(rows)],
            "z": ["same"] * rows,
        },
        schema={"x": pl.Float64, "y": pl.Int64, "z": pl.String},
    )
    found = bs.evaluate(frame, frame, keys=["z"], confidential=["x"])
    assert found.frame().height
    json.loads(found.json())
    assert found.text()


def test_an_empty_file():
    """Without a single record there is nothing to tell, and that is told."""
    before, after = table()
    nobody = bs.evaluate(before.clear(), after.clear())
    assert nobody.pair.linked == 0
    assert nobody.text()
    assert json.loads(nobody.json())["linked_records"] == 0
    assert bs.evaluate(before, after.clear(), id="person").text()


def strange():
    """A column that holds no single values."""
    return pl.DataFrame({"x": [[1], [2]]})


REFUSED = {
    "nothing shared": (lambda a, b: bs.evaluate(a, b.rename({n: n + "_" for n in b.columns})),
                       bs.TableError, "share no column"),
    "no such id": (lambda a, b: bs.evaluate(a, b, id="who"), bs.TableError, "no column 'who'"),
    "an id twice": (lambda a, b: bs.evaluate(a, b, id="school"), bs.TableError, "repeats 57"),
    "other ids": (lambda a, b: bs.evaluate(a, b.with_columns(person=pl.col("person") + 99),
                                           id="person"), bs.TableError, "No id in column"),
    "no such key": (lambda a, b: bs.evaluate(a, b, keys=["who"]), bs.MeasureError, "'who'"),
    "no order": (lambda a, b: bs.evaluate(a, b, kinds={"age": "ordinal"}), bs.MeasureError,
                 "say in which order"),
    "endless": (lambda a, b: bs.evaluate(a, b.with_columns(income=pl.lit(math.inf))),
                bs.TableError, "60 infinite"),
    "no file": (lambda a, b: bs.evaluate("no.csv", b), bs.TableError, "no file"),
    "lists": (lambda a, b: bs.evaluate(strange(), strange()), bs.TableError, "no single values"),
    "nothing confidential": (lambda a, b: bs.evaluate(a, b).closeness(["age"]), bs.MeasureError,
                             "Name the confidential"),
    "no section": (lambda a, b: bs.evaluate(a, b).section("x"), bs.MeasureError, "no section"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    """What cannot be judged is refused in words that hold no value of the data."""
    call, kind, says = REFUSED[name]
    with pytest.raises(kind, match=says):
        call(*table())


def masked(file, original):
    """Two files of another tool, unless they are not there."""
    paths = DATA / original, DATA / "masked" / file
    if not all(path.exists() for path in paths):
        pytest.skip(f"{file} is not there")
    return paths


@pytest.mark.parametrize(
    ("file", "linked", "moved"),
    [("mdav3", 0.2247, 0.98), ("noise20", 0.562, 0.99), ("rankswap5", 0.9981, 0.9)],
)
def test_census_masked_by_sdcmicro(file, linked, moved):
    """Numbers of 1995: what microaggregation, noise and rank swapping leave to be linked."""
    original, other = masked(f"census_sdcmicro_{file}.csv", "census.csv")
    found = bs.evaluate(original, other)
    assert found.pair.linked == 1080
    assert not found.notes
    assert found.linkage().expected == pytest.approx(linked, abs=5e-5)
    assert found.moved("AGI") > moved
    means = [f.value for f in found.section("utility") if f.measure == "mean"]
    assert max(means) < (1e-9 if file == "mdav3" else 0.05)
    if file == "rankswap5":
        assert found.protection("AGI", rescaled=True) < 0.05


def test_survey_masked_by_pram():
    """Three randomised columns moved, and nothing else did."""
    original, other = masked("testdata_sdcmicro_pram.csv", "testdata.csv")
    nominal = ["roof", "walls", "water", "sex"]
    found = bs.evaluate(original, other, kinds=dict.fromkeys(nominal, "nominal"))
    moved = {name for name in found.pair.columns if found.moved(name)}
    assert moved == {"roof", "walls", "water"}
    raw = [pl.read_csv(path)["walls"] for path in (original, other)]
    assert found.moved("walls") == (raw[0] != raw[1]).mean()


@pytest.mark.slow
def test_frames_of_pandas_with_categories():
    """Ordered categories of pandas are labels, and their gaps are missing."""
    before = pd.DataFrame({"x": pd.Categorical(["a", "b", None]), "y": [1, 2, 3]})
    found = bs.evaluate(before, before)
    assert found.pair.column("x").kind == "nominal"
    assert found.moved("x") == 0
