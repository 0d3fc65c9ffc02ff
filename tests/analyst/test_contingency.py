"""From a release and nothing else: any columns, any kind of table, estimates with their errors."""

import datetime

import numpy as np
import polars as pl
import pytest

import bistochastic as bs
from bistochastic.analyst.contingency import BOUNDARY, FACE, NEGATIVE, UNTOLD
from bistochastic.estimate import shares
from bistochastic.plan.plan import Plan
from tests.pages import ROOT
from tests.surveys import KEY, KINDS, plan, survey

DATA = ROOT.parent / "shared" / "data"
NUMBERS = ["estimate", "se", "low", "high", "count", "count_se", "interval", "note"]


@pytest.fixture(scope="module")
def release():
    """The survey, masked."""
    return bs.protect(survey(20_000), plan(), KEY)


def true_shares(frame, columns):
    """The shares of the original, by their labels."""
    counted = frame.group_by(columns).len()
    return {tuple(row[:-1]): row[-1] / frame.height for row in counted.rows()}


@pytest.mark.parametrize(
    "columns",
    [["sex"], ["age"], ["member"], ["smoker"], ["region"], ["region", "smoker"],
     ["member", "sex", "smoker"], ["smoker", "age", "region"]],
)  # fmt: skip
def test_every_mix_of_columns_finds_the_truth(columns, release):
    """Alone, together, with missing values of each rule: within five standard errors: 6e-7 each.

    The file is fixed, so that masking is the only error; the survey's missing values are a
    category of `sex` and `smoker` and are kept in `member`.
    """
    true = true_shares(survey(20_000).cast({"region": pl.String}), columns)
    found = bs.estimate(release, columns=columns, variance="file")
    assert found.columns == [*columns, *NUMBERS]
    assert abs(found["estimate"].sum() - 1) < 1e-12
    assert set(true) <= set(found.select(columns).rows())
    for row in found.iter_rows(named=True):
        share = true.get(tuple(row[name] for name in columns), 0.0)
        assert abs(row["estimate"] - share) <= 5 * row["se"] + 1e-12
        assert row["low"] <= max(row["estimate"], 0) + 1e-12
        assert row["count"] == pytest.approx(20_000 * row["estimate"])
        assert row["count_se"] == pytest.approx(20_000 * row["se"])


def test_what_nobody_protected_is_counted():
    """A column that passed has its own shares and the errors of a sample, or none of a file."""
    frame = pl.DataFrame({"a": ["x", "y", None, "x"], "b": [3, 1, 1, 3]})
    said = {"a": {"role": "plain"}, "b": {"role": "plain"}}
    release = bs.protect(frame, Plan(release="r", columns=said))
    found = bs.estimate(release, columns=["a", "b"], variance="file")
    assert found.select("a", "b").rows() == [
        ("x", 1), ("x", 3), ("y", 1), ("y", 3), (None, 1), (None, 3),
    ]  # fmt: skip
    assert found["estimate"].to_list() == [0.0, 0.5, 0.25, 0.0, 0.25, 0.0]
    assert found["se"].to_list() == [0.0] * 6
    assert bs.estimate(release, columns=["b"])["se"][0] == pytest.approx(np.sqrt(0.25 / 3))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_kind_of_frame_comes_out(kind, release):
    """Whatever came in with its manifest, and the same numbers."""
    there, back = KINDS[kind]
    given = there(release.data.cast({"region": pl.String}))
    out = bs.estimate(given, release.manifest, ["region", "sex"])
    assert type(out) is type(given)
    wanted = bs.estimate(release, columns=["region", "sex"])
    told = back(out)
    assert told.select(NUMBERS[:6]).equals(wanted.select(NUMBERS[:6]))
    assert told["region"].to_list() == wanted["region"].to_list()


@pytest.mark.parametrize("ending", ["csv", "csv.zst", "parquet", "arrow"])
def test_a_folder_is_enough(ending, tmp_path, release):
    """Its manifest says how its file is read, and the answers are those of the frame."""
    path = tmp_path / f"in.{ending}"
    frame = survey(20_000).cast({"region": pl.String})
    if ending == "parquet":
        frame.write_parquet(path)
    elif ending == "arrow":
        frame.write_ipc(path)
    else:
        frame.lazy().sink_csv(path, compression={"csv": "uncompressed"}.get(ending, "zstd"))
    folder = bs.protect(path, plan(), KEY).write(tmp_path / "out")
    wanted = bs.estimate(release, columns=["member", "smoker"])
    found = bs.estimate(folder, columns=["member", "smoker"])
    assert found.equals(wanted)
    assert bs.estimate(str(folder), columns=["member", "smoker"]).equals(wanted)
    unwritten = bs.protect(path, plan(), KEY)
    assert bs.estimate(unwritten, columns=["member", "smoker"]).equals(wanted)
    ages = bs.estimate(unwritten, columns=["age"], weight="weight")
    assert ages["age"].to_list() == list(range(10))
    data = folder / f"data.{ending}"
    assert bs.estimate(data, folder, ["member", "smoker"]).equals(wanted)
    assert bs.estimate(data, folder / "manifest.json", ["member", "smoker"]).equals(wanted)


def test_columns_come_in_the_order_they_are_asked_for(release):
    """Rows are ordered by the first column first, and the numbers go with them."""
    one = bs.estimate(release, columns=["smoker", "age", "region"])
    other = bs.estimate(release, columns=["age", "region", "smoker"])
    assert other["age"].to_list() == sorted(other["age"].to_list())
    names = ["smoker", "age", "region"]
    one, other = one.sort(names), other.sort(names)
    assert one.select(names).equals(other.select(names))
    for name in NUMBERS[:4]:
        np.testing.assert_allclose(one[name], other[name], atol=1e-12)


def test_the_dispersion_matrix_is_in_the_order_of_the_rows(release):
    """Its diagonal is the square of the standard errors beside which it stands."""
    table = bs.contingency(release, columns=["age", "region", "smoker"])
    errors = table.frame()["se"].to_numpy()
    np.testing.assert_allclose(np.sqrt(np.diag(table.dispersion())), errors, rtol=1e-6)


def test_likelihood(release):
    """Shares in the simplex, within their intervals, and told where they have no error."""
    table = bs.contingency(release, columns=["sex", "age", "smoker"], method="likelihood")
    found = table.frame()
    assert found["estimate"].min() >= 0
    assert abs(found["estimate"].sum() - 1) < 1e-9
    assert (found["low"] <= found["estimate"]).all()
    assert (found["estimate"] <= found["high"]).all()
    empty = found.filter(pl.col("note") == BOUNDARY)
    assert empty["se"].null_count() == empty.height > 0
    held = found.filter(pl.col("note") == FACE)
    assert held["se"].null_count() == 0
    assert held.height + empty.height == found.height
    inside = bs.estimate(release, columns=["sex"], method="likelihood")
    plain = bs.estimate(release, columns=["sex"])
    assert inside["note"].to_list() == [""] * 3
    np.testing.assert_allclose(inside["se"], plain["se"], rtol=1e-3)
    file = bs.estimate(release, columns=["sex", "age", "smoker"], method="likelihood",
                       variance="file")  # fmt: skip
    assert set(file["note"]) == {BOUNDARY, UNTOLD}


def test_survey_weights_enter_estimates_and_errors(release):
    """The weighted shares, counts of all weight, errors wider than without."""
    frame = survey(20_000)
    true = frame.group_by("region").agg(pl.col("weight").sum())
    total = frame["weight"].sum()
    shares_ = dict(zip(true["region"].cast(pl.String), true["weight"] / total, strict=True))
    found = bs.estimate(release, columns="region", weight="weight", variance="file")
    for row in found.iter_rows(named=True):
        assert abs(row["estimate"] - shares_[row["region"]]) < 5 * row["se"]
    assert found["count"].sum() == pytest.approx(total)
    plain = bs.estimate(release, columns="region")
    assert (bs.estimate(release, columns="region", weight="weight")["se"] > plain["se"]).all()


SINGULAR = """
release = "blocks"
[columns.age]
role = "key"
kind = "ordinal"
domain = {first = 1, last = 5}
missing = "refuse"
matrix = "blocks"
sizes = [2, 3]
[columns.hidden]
role = "key"
kind = "nominal"
domain = ["a", "b"]
matrix = "secrecy"
[columns.seen]
role = "plain"
"""


def test_what_is_lost_is_named():
    """A singular channel gives the sums of its blocks, and says of what."""
    draw = np.random.default_rng(4)
    frame = pl.DataFrame({
        "age": draw.integers(1, 6, 400), "hidden": draw.choice(["a", "b"], 400),
        "seen": draw.choice([True, False], 400),
    })  # fmt: skip
    release = bs.protect(frame, Plan.from_text(SINGULAR))
    table = bs.contingency(release, columns=["seen", "age"])
    found = table.frame()
    assert table.lost == ("age",)
    assert found["age"].to_list() == ["1 + 2", "3 + 4 + 5"] * 2
    assert found["note"][0] == "a sum of 2 cells that reports do not tell apart"
    young = ((frame["age"] < 3) & frame["seen"]).mean()
    assert table.share({"age": "1 + 2", "seen": True}).estimate == pytest.approx(young)
    both = bs.contingency(release, columns=["age", "hidden"])
    assert both.lost == ("age", "hidden")
    assert both.frame()["hidden"].to_list() == ["a + b + missing"] * 2
    likely = bs.estimate(release, columns=["seen", "age"], method="likelihood")
    np.testing.assert_allclose(likely["estimate"], found["estimate"], atol=1e-5)
    with pytest.raises(bs.TableError, match="no such label"):
        table.share({"age": 1})


def grouped(matrix, **more):
    """A plan with two columns in one channel."""
    columns = {
        name: {"role": "key", "kind": "nominal", "domain": labels, "missing": "refuse"}
        for name, labels in (("a", ["x", "y"]), ("b", [0, 1, 2]))
    }
    together = [{"columns": ["a", "b"], "matrix": matrix, **more}]
    return Plan(release="r", columns=columns, together=together)


def pairs(n):
    """Two columns that depend on each other."""
    draw = np.random.default_rng(5)
    b = draw.choice(3, n, p=[0.5, 0.3, 0.2])
    return pl.DataFrame({"a": np.where(draw.random(n) < 0.3 + 0.2 * b, "x", "y"), "b": b})


@pytest.mark.parametrize(
    ("matrix", "more"), [("mixture", {"truth": 0.6}), ("optimal", {"beta": 0.4})]
)
def test_a_group_of_which_one_column_is_asked(matrix, more):
    """Its channel is undone over the whole group, and its table adds up to its margins."""
    frame = pairs(5000)
    release = bs.protect(frame, grouped(matrix, **more), KEY)
    whole = bs.estimate(release, columns=["a", "b"])
    alone = bs.estimate(release, columns=["b"], variance="file")
    sums = whole.group_by("b", maintain_order=True).agg(pl.col("estimate").sum()).sort("b")
    np.testing.assert_allclose(sums["estimate"], alone["estimate"], atol=1e-12)
    true = [(frame["b"] == label).mean() for label in range(3)]
    assert (np.abs(alone["estimate"].to_numpy() - true) < 5 * alone["se"].to_numpy()).all()
    assert alone["b"].to_list() == [0, 1, 2]


def test_a_group_that_hides_everything():
    """Its columns are sums of all labels, and nothing is said of their dependence."""
    release = bs.protect(pairs(100), grouped("secrecy"))
    table = bs.contingency(release, columns=["b", "a"])
    found = table.frame()
    assert found.select("b", "a").rows() == [("0 + 1 + 2", "x + y")]
    assert found["estimate"].to_list() == [1.0]
    with pytest.raises(bs.TableError, match="nothing is known of their dependence"):
        table.independence("a", "b")


def test_comparisons_are_those_of_the_original():
    """Differences, ratios, odds ratios, conditional shares and dependence, by their labels."""
    frame = pairs(40_000)
    release = bs.protect(frame, grouped("mixture", epsilon=3.0), KEY)
    table = bs.contingency(release, columns=["a", "b"], variance="file")
    x, last, first = frame["a"] == "x", frame["b"] == 2, frame["b"] == 0
    two = ({"a": "x", "b": 2}, {"a": "x", "b": 0})
    near(table.difference(*two), (x & last).mean() - (x & first).mean())
    near(table.ratio(*two), (x & last).mean() / (x & first).mean())
    near(table.share({"b": [0, 2]}), (first | last).mean())
    odds = (x & last).mean() * (~x & first).mean() / ((~x & last).mean() * (x & first).mean())
    near(table.odds_ratio({"a": ("x", "y")}, {"b": (2, 0)}), odds)
    given = table.conditional("b")
    assert given.columns == ["a", "b", "estimate", "se", "low", "high"]
    for row in given.iter_rows(named=True):
        within = frame.filter(pl.col("b") == row["b"])["a"] == row["a"]
        assert abs(row["estimate"] - within.mean()) < 5 * row["se"]
        assert 0 <= row["low"] <= row["estimate"] <= row["high"] <= 1
    assert table.independence("a", "b").p_value < 1e-6
    assert table.independence("b", "a").statistic == pytest.approx(
        table.independence("a", "b").statistic
    )
    assert repr(table) == "<Contingency 'a' × 'b': 40000 rows>"


def near(found, true):
    """Within five standard errors, inside its own interval's neighbourhood."""
    assert abs(found.estimate - true) < 5 * found.se
    assert found.low < found.estimate < found.high


def test_independent_columns_are_found_to_be(release):
    """Columns of the survey that were drawn apart, masked apart or together."""
    table = bs.contingency(release, columns=["sex"])
    for two in (("sex", "age"), ("smoker", "region"), ("member", "smoker"), ("age", "smoker")):
        assert table.independence(*two).p_value > 1e-4


def test_a_negative_variance_is_told_in_a_note():
    """By the file it may be negative, and that is said where it is."""
    said = {"x": {"role": "key", "kind": "ordinal", "domain": [0, 1, 2, 3, 4], "missing": "refuse",
                  "matrix": "tridiagonal", "alphas": [0.2] * 4}}  # fmt: skip
    release = bs.protect(pl.DataFrame({"x": [2] * 50}), Plan(release="r", columns=said), KEY)
    alike = [pl.DataFrame({"x": [value] * 50}) for value in range(5)]
    told = [bs.estimate(one, release.manifest, "x", variance="file") for one in alike]
    assert NEGATIVE in "; ".join(note for found in told for note in found["note"])
    assert min(found["se"].min() for found in told) == 0


def test_names_that_are_taken_give_way():
    """A column that is called like a number keeps its name, and the number gets an underscore."""
    frame = pl.DataFrame({"count": ["a", "b"], "se": [1, 2]})
    said = {"count": {"role": "plain"}, "se": {"role": "plain"}}
    found = bs.estimate(bs.protect(frame, Plan(release="r", columns=said)), columns=["count", "se"])
    assert found.columns[:2] == ["count", "se"]
    assert {"count_", "se_", "estimate"} <= set(found.columns)
    assert found["count_"].sum() == pytest.approx(2)


def test_labels_of_every_type():
    """Dates, truth values and labels of several types stand in the table as they are."""
    frame = pl.DataFrame({"d": [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)] * 2,
                          "t": [True, False, True, True]})  # fmt: skip
    said = {"d": {"role": "plain"}, "t": {"role": "plain"}}
    found = bs.estimate(bs.protect(frame, Plan(release="r", columns=said)), columns=["t", "d"])
    assert found.schema["d"] == pl.Date
    assert found.schema["t"] == pl.Boolean


def test_a_large_table_has_the_cells_that_were_reported(monkeypatch):
    """Beyond what is laid out, only those, with the same numbers; comparisons are refused."""
    frame = pairs(500).with_columns(c=pl.Series(np.random.default_rng(6).integers(0, 50, 500)))
    said = grouped("mixture", truth=0.8).dump()
    said["columns"]["c"] = {"role": "key", "kind": "nominal", "domain": {"first": 0, "last": 49},
                            "missing": "refuse", "matrix": "mixture", "truth": 0.9}  # fmt: skip
    release = bs.protect(frame, Plan(**said), KEY)
    columns = ["c", "a", "b"]
    whole = bs.estimate(release, columns=columns)
    monkeypatch.setattr(shares, "LAID_OUT", 10)
    table = bs.contingency(release, columns=columns)
    part = table.frame()
    assert part.height < whole.height == 300
    joined = part.join(whole, on=columns, suffix=" of all")
    assert joined.height == part.height
    for name in NUMBERS[:4]:
        np.testing.assert_allclose(joined[name], joined[f"{name} of all"], atol=1e-10)
    with pytest.raises(bs.TooLargeError, match="laid out"):
        table.share({"a": "x"})


REFUSED = {
    "no manifest": (lambda r: bs.estimate(r.data, columns="sex"), "give the folder of a release"),
    "no columns": (lambda r: bs.estimate(r), "at least one column"),
    "a column twice": (lambda r: bs.estimate(r, columns=["sex", "sex"]), "asked for twice"),
    "no such column": (lambda r: bs.estimate(r, columns="nothing"), "no column 'nothing'"),
    "permuted": (lambda r: bs.estimate(r, columns="income"), "it was permuted"),
    "averaged": (lambda r: bs.estimate(r, columns="spend"), "it was averaged"),
    "drawn": (lambda r: bs.estimate(r, columns="hours"), "it was drawn"),
    "pseudonyms": (lambda r: bs.estimate(r, columns="household"), "replaced by pseudonyms"),
    "dropped": (lambda r: bs.estimate(r, columns="id"), "left out of the release"),
    "a level": (lambda r: bs.estimate(r, columns="sex", level=95), "between 0 and 1"),
    "a method": (lambda r: bs.estimate(r, columns="sex", method="best"), "method is one of"),
    "a variance": (lambda r: bs.estimate(r, columns="sex", variance="no"), "variance is one of"),
    "an interval": (lambda r: bs.estimate(r, columns="sex", interval="x"), "interval is one of"),
    "a masked weight": (lambda r: bs.estimate(r, columns="sex", weight="income"), "cannot weigh"),
    "no frame": (lambda r: bs.estimate(3, r.manifest, "sex"), "no table this can read"),
    "another table": (
        lambda r: bs.estimate(r.data.with_columns(sex=pl.lit("secret")), r.manifest, "sex"),
        "column 'sex': 20000 cells outside the declared domain, rows 1, 2, 3, 4, 5",
    ),
    "a column gone": (lambda r: bs.estimate(r.data.drop("sex"), r.manifest, "sex"),
                      "has no column 'sex'"),
    "nobody": (lambda r: bs.estimate(r.data.head(0), r.manifest, "sex"), "nobody to estimate"),
    "a strange cell": (lambda r: bs.contingency(r, columns="sex").share({"age": 3}), "got 'age'"),
    "no cell": (lambda r: bs.contingency(r, columns="sex").share({}), "got none"),
    "a strange label": (lambda r: bs.contingency(r, columns="sex").share({"sex": "secret"}),
                        "no such label"),
    "strange odds": (lambda r: bs.contingency(r, columns="sex").odds_ratio({"sex": ("f",)}, {}),
                     "two labels"),
    "a strange condition": (lambda r: bs.contingency(r, columns="sex").conditional("age"),
                            "conditional on columns of the table"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name, release):
    """Each is one sentence that says what to do, without a value of the data."""
    ask, told = REFUSED[name]
    with pytest.raises(bs.BistochasticError, match=told) as refused:
        ask(release)
    assert "secret" not in str(refused.value)


def test_weights_that_are_none(release):
    """Missing and negative weights are refused and counted."""
    bad = release.data.with_columns(weight=pl.lit(-1.0))
    with pytest.raises(bs.TableError, match="column 'weight': 20000 cells that hold no weight"):
        bs.estimate(bad, release.manifest, "sex", weight="weight")


def test_a_manifest_that_does_not_fit_its_matrices(release):
    """A matrix over other categories than its column has is refused, in a group too."""
    sex = release.manifest.column("sex").model_copy(update={"labels": ("f", "m", "x")})
    columns = tuple(sex if c.name == "sex" else c for c in release.manifest.columns)
    manifest = release.manifest.model_copy(update={"columns": columns})
    with pytest.raises(bs.ReleaseError, match="3 categories, and it has 4"):
        bs.estimate(release.data, manifest, "sex")
    group = release.manifest.together[0].model_copy(
        update={"channel": {"family": "mixture", "n": 4, "truth": 0.8}}
    )
    manifest = release.manifest.model_copy(update={"together": (group,)})
    with pytest.raises(bs.ReleaseError, match="over 4 cells"):
        bs.estimate(release.data, manifest, "smoker")


def test_a_folder_without_its_data(tmp_path, release):
    """A manifest alone is no release."""
    folder = release.write(tmp_path / "out")
    (folder / "data.parquet").unlink()
    with pytest.raises(bs.ReleaseError, match="names no data that are there"):
        bs.estimate(folder, columns="sex")


def test_a_group_that_is_a_product_is_undone_column_by_column(release):
    """Where a manifest says that its channel is a Kronecker product, each column has its own."""
    closed = bs.described(bs.Kronecker(bs.Mixture(3, truth=0.8), bs.Mixture(3, truth=0.6)))
    group = release.manifest.together[0].model_copy(update={"channel": closed})
    manifest = release.manifest.model_copy(update={"together": (group,)})
    table = bs.contingency(release.data, manifest, ["region", "smoker"])
    assert [side.asked for side in table.sides] == [("smoker",), ("region",)]
    assert [side.axis.channel.truth for side in table.sides] == [0.8, 0.6]


def test_the_household_survey_from_end_to_end(tmp_path):
    """A real survey through the whole way: every share within five standard errors, 6e-7 each."""
    path = DATA / "testdata.csv"
    if not path.exists():
        pytest.skip("testdata.csv is not there")
    frame = pl.read_csv(path, infer_schema_length=None)
    columns = {name: {"role": "plain"} for name in frame.columns}
    for name, labels, how in (
        ("roof", [2, 4, 5, 6, 9], {"matrix": "mixture", "truth": 0.8}),
        ("sex", [1, 2], {"matrix": "mixture", "epsilon": 2.0}),
        ("walls", [2, 3, 9], {}),
        ("water", list(range(1, 10)), {}),
    ):
        columns[name] = {"role": "key", "kind": "nominal", "domain": labels,
                         "missing": "refuse", **how}  # fmt: skip
    together = [{"columns": ["walls", "water"], "matrix": "mixture", "epsilon": 4.0}]
    release = bs.protect(path, Plan(release="r", columns=columns, together=together), KEY)
    folder = release.write(tmp_path / "out")
    for asked in (["roof"], ["walls", "sex"], ["water", "walls"], ["urbrur", "roof", "sex"]):
        found = bs.estimate(folder, columns=asked, variance="file")
        texts = frame.with_columns(pl.col("urbrur").cast(pl.String))
        true = true_shares(texts, asked)
        assert abs(found["estimate"].sum() - 1) < 1e-12
        for row in found.iter_rows(named=True):
            share = true.get(tuple(row[name] for name in asked), 0.0)
            assert abs(row["estimate"] - share) <= 5 * row["se"] + 1e-9
    weighed = bs.estimate(folder, columns="roof", weight="sampling_weight")
    assert weighed["count"].sum() == pytest.approx(frame["sampling_weight"].sum())


def test_the_census_extract_from_end_to_end(tmp_path):
    """Thirty thousand people, a diffusion over schooling and a semicolon between cells."""
    path = DATA / "adult.csv"
    if not path.exists():
        pytest.skip("adult.csv is not there")
    frame = pl.read_csv(path, separator=";")
    columns = {name: {"role": "plain"} for name in frame.columns}
    for name, how in (
        ("education", {"kind": "ordinal", "matrix": "diffusion", "bits": 1.0, "allow_zeros": True}),
        ("race", {"kind": "nominal", "matrix": "mixture", "truth": 0.7}),
        ("salary-class", {"kind": "nominal", "matrix": "mixture", "truth": 0.8}),
    ):
        columns[name] = {"role": "key", "domain": sorted(frame[name].unique()),
                         "missing": "refuse", **how}  # fmt: skip
    said = Plan(release="r", columns=columns, file={"delimiter": ";"})
    folder = bs.protect(path, said, KEY).write(tmp_path / "out")
    for asked in (["education"], ["sex", "race"], ["education", "salary-class"]):
        found = bs.estimate(folder, columns=asked, variance="file")
        true = true_shares(frame, asked)
        for row in found.iter_rows(named=True):
            share = true.get(tuple(row[name] for name in asked), 0.0)
            assert abs(row["estimate"] - share) <= 5 * row["se"] + 1e-9
    table = bs.contingency(folder, columns=["education", "salary-class"])
    assert table.independence("education", "salary-class").p_value < 1e-9
