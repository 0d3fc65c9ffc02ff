"""From a release and nothing else: means, totals, quantiles, shares and bounds within cells."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import bistochastic as bs
from bistochastic.cli import main
from bistochastic.estimate.moved import restored
from bistochastic.population import PLAN, people
from tests.surveys import KEY

PEOPLE = people()
ERRORS = 5  # how far an estimate may be off, in errors; beyond it once in two million


@pytest.fixture(scope="module")
def release():
    """The people who do not exist, released."""
    return bs.protect(PEOPLE, bs.Plan.from_text(PLAN), KEY)


def planned(release="x", **columns):
    """A plan of these columns."""
    return bs.Plan(release=release, columns=columns)


def true_means(column, by):
    """What the original says."""
    return PEOPLE.group_by(by).agg(pl.col(column).mean().alias("true"))


@pytest.mark.parametrize("by", ["sex", "work", "smoker"])
def test_means_within_cells_are_those_of_the_original(release, by):
    """Randomised alone or together with others: the file's own means within five errors."""
    found = bs.within(release, None, "weight", by=by, variance="file")
    both = found.join(true_means("weight", by), on=by)
    assert both.height == PEOPLE[by].n_unique()
    assert ((both["estimate"] - both["true"]).abs() < ERRORS * both["se"]).all()


def test_tables_of_several_columns(release):
    """Cells of a column of a group, one by itself and one that passed, and their totals."""
    found = bs.within(release, release.manifest, "weight", by=["smoker", "sex"], statistic="total")
    assert found.columns == ["smoker", "sex", "estimate", "se", "low", "high", "note"]
    assert found["estimate"].sum() == pytest.approx(PEOPLE["weight"].sum())
    assert found.height == 4


def test_shares_are_those_of_a_contingency_table(release):
    """Conditional shares, randomised in both, are the ratios of joint and margin."""
    found = bs.within(release, None, "illness", by="smoker", statistic="share")
    joint = bs.estimate(release, None, ["smoker", "illness"])
    whole = joint.group_by("smoker").agg(pl.col("estimate").sum().alias("whole"))
    both = joint.join(whole, on="smoker").join(
        found, on=["smoker", "illness"], suffix="_share", nulls_equal=True
    )
    assert both.height == 6
    ratio = (both["estimate"] / both["whole"]).to_numpy()
    np.testing.assert_allclose(both["estimate_share"].to_numpy(), ratio)
    alone = bs.within(release, None, "sex", statistic="share")
    assert alone["estimate"].sum() == pytest.approx(1)


def test_a_permuted_column_is_known_as_a_whole(release):
    """Its mean and its quantiles have no error from masking; for the file they have none at all."""
    for statistic in ("mean", "quantile"):
        found = bs.within(release, None, "income", statistic=statistic, variance="file")
        true = PEOPLE["income"].mean() if statistic == "mean" else PEOPLE["income"].median()
        assert found["estimate"].item() == pytest.approx(true)
        assert found["se"].item() == pytest.approx(0, abs=1e-9)


def test_blocks_leave_bounds(release):
    """A mean within cells is refused, and told between bounds that hold it."""
    with pytest.raises(bs.MatrixError, match=r"'income': Within the 50 blocks .* bounds"):
        bs.within(release, None, "income", by="sex")
    found = bs.within(release, None, "income", by="sex", statistic="bounds", variance="file")
    both = found.join(true_means("income", "sex"), on="sex")
    assert (both["low"] <= both["true"]).all()
    assert (both["true"] <= both["high"]).all()
    assert (both["low"] <= both["least"]).all()
    assert (both["least"] <= both["most"]).all()


def number(how="permute", **more):
    """What a plan says of a number."""
    return dict(role="confidential", kind="numeric", how=how, **more)


GROUP = dict(role="key", kind="nominal", domain=["a", "b"], missing="refuse")


@pytest.mark.parametrize(
    ("how", "by"),
    [
        (dict(matrix="mixture", truth=0.8), None),
        (dict(matrix="tridiagonal", truth=0.8), None),
        (dict(matrix="tridiagonal", truth=0.8), "position"),
        (dict(matrix="tridiagonal", truth=0.8), "age"),
    ],
)
def test_a_permuted_number_within_cells(how, by):
    """By value, by position, by another column: the true means, within five errors."""
    rng = np.random.default_rng(1)
    n = 4000
    group = np.where(rng.random(n) < 0.4, "a", "b")
    table = pl.DataFrame({
        "group": group,
        "age": rng.integers(18, 90, n),
        "pay": np.where(rng.random(n) < 0.02, np.nan, rng.gamma(3, 10, n) + 8 * (group == "b")),
    }).with_columns(pl.col("pay").fill_nan(None))  # fmt: skip
    plan = planned(
        group=GROUP | dict(matrix="mixture", truth=0.9),
        age=dict(role="plain"),
        pay=number(**how, **({"by": by} if by else {})),
    )
    release = bs.protect(table, plan, KEY)
    found = bs.within(release, None, "pay", by="group", variance="file")
    true = table.group_by("group").agg(pl.col("pay").mean().alias("true"))
    both = found.join(true, on="group")
    assert ((both["estimate"] - both["true"]).abs() < ERRORS * both["se"]).all()
    assert (both["se"] < 2).all()
    totals = bs.within(release, None, "pay", by="group", statistic="total")
    assert totals["estimate"].sum() == pytest.approx(table["pay"].sum())


def test_what_a_permutation_adds_is_in_the_errors():
    """Cells that everybody sees, of a file: the permutation is the only error that is left."""
    rng = np.random.default_rng(8)
    n = 3000
    table = pl.DataFrame({"group": rng.choice(["a", "b"], n), "pay": rng.gamma(3, 10, n)})
    plan = planned(group=GROUP, pay=number(matrix="mixture", truth=0.6))
    release = bs.protect(table, plan, KEY)
    found = bs.within(release, None, "pay", by="group", statistic="total", variance="file")
    seen = release.data
    made = restored(seen["pay"].to_numpy(), release.manifest.channel("pay"))
    for label, error in zip(found["group"], found["se"], strict=True):
        spread = made.spread((seen["group"] == label).to_numpy().astype(float))
        assert error == pytest.approx(np.sqrt(spread))
        assert error > 100
    true = table.group_by("group").agg(pl.col("pay").sum().alias("true"))
    both = found.join(true, on="group")
    assert ((both["estimate"] - both["true"]).abs() < ERRORS * both["se"]).all()
    assert (both["estimate"] != both["true"]).all()


def test_an_order_nobody_can_see_is_refused():
    """Unless the matrix treats all ranks alike."""
    table = pl.DataFrame({"group": ["a", "b"] * 20, "age": range(40), "pay": range(40)})
    for matrix, fits in (("tridiagonal", False), ("mixture", True)):
        plan = planned(
            group=GROUP,
            age=dict(role="identifier"),
            pay=number(matrix=matrix, truth=0.8, by="age"),
        )
        release = bs.protect(table, plan, KEY)
        if fits:
            assert bs.within(release, None, "pay", by="group").height == 2
            continue
        for statistic in ("mean", "bounds"):
            with pytest.raises(bs.TableError, match="'age', which was not published"):
                bs.within(release, None, "pay", by="group", statistic=statistic)


def test_a_drawn_column_has_quantiles_over_everybody():
    """And nothing within cells."""
    values = np.random.default_rng(2).normal(size=2001)
    table = pl.DataFrame({"group": ["a", "b", "a"] * 667, "pay": values})
    plan = planned(group=GROUP, pay=number("draw", matrix="mixture", truth=0.5))
    release = bs.protect(table, plan, KEY)
    found = bs.within(release, None, "pay", statistic="quantile", share=0.25, level=0.999)
    assert found["low"].item() <= np.quantile(values, 0.25) <= found["high"].item()
    for more in (
        dict(by="group"),
        dict(by="group", statistic="quantile"),
        dict(statistic="bounds"),
    ):
        with pytest.raises(bs.TableError, match="drawn"):
            bs.within(release, None, "pay", **more)


def test_averages_are_nobodys():
    """A column of averages has no errors that could be told."""
    table = pl.DataFrame({"group": ["a", "b"] * 20, "pay": range(40)})
    plan = planned(group=GROUP, pay=number("average", matrix="blocks", k=5))
    release = bs.protect(table, plan, KEY)
    for statistic in ("mean", "quantile", "bounds"):
        with pytest.raises(bs.TableError, match="averaged"):
            bs.within(release, None, "pay", by="group", statistic=statistic)


def test_weights_weigh():
    """Nobody's answer was hidden, so estimates are those of any survey."""
    rng = np.random.default_rng(3)
    table = pl.DataFrame({
        "group": rng.choice(["a", "b"], 300), "pay": rng.normal(size=300),
        "w": rng.uniform(0.5, 2, 300),
    })  # fmt: skip
    plan = planned(group=GROUP, pay=dict(role="plain"), w=dict(role="weight"))
    release = bs.protect(table, plan, KEY)
    found = bs.within(release, None, "pay", by="group", weight="w")
    weighted = (pl.col("pay") * pl.col("w")).sum() / pl.col("w").sum()
    true = table.group_by("group").agg(true=weighted)
    both = found.join(true, on="group")
    np.testing.assert_allclose(both["estimate"], both["true"])
    median = bs.within(release, None, "pay", statistic="quantile", weight="w")
    ordered = table.sort("pay").with_columns(up=pl.col("w").cum_sum() / pl.col("w").sum())
    assert median["estimate"].item() == ordered.filter(pl.col("up") >= 0.5)["pay"][0]


def test_missing_numbers_are_left_out():
    """NaN, null and, in a text file, what the plan says stands for missing."""
    table = pl.DataFrame({"group": ["a", "a", "b", "b"], "pay": [1.0, float("nan"), None, 5.0]})
    plan = planned(group=GROUP, pay=dict(role="plain"))
    found = bs.within(bs.protect(table, plan, KEY), None, "pay", by="group")
    assert found["estimate"].to_list() == [1.0, 5.0]


def test_categories_that_reports_do_not_tell_apart_are_one():
    """Blocks give the means of blocks, and say so."""
    table = pl.DataFrame({"place": ["a", "b", "c", "d"] * 50, "pay": [1.0, 2.0, 3.0, 4.0] * 50})
    plan = planned(
        place=dict(role="key", kind="nominal", domain=["a", "b", "c", "d"], missing="refuse",
                   matrix="blocks", k=2),
        pay=dict(role="plain"),
    )  # fmt: skip
    found = bs.within(bs.protect(table, plan, KEY), None, "pay", by="place")
    assert found["place"].to_list() == ["a + b", "c + d"]
    assert found["estimate"].to_list() == [1.5, 3.5]
    assert all("do not tell apart" in note for note in found["note"])


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "arrow"])
def test_a_folder_is_enough(release, tmp_path, kind):
    """Whatever the format, the folder gives what the release in memory gives."""
    path = tmp_path / f"people.{kind}"
    writers = {"parquet": PEOPLE.write_parquet, "arrow": PEOPLE.write_ipc}
    if kind in writers:
        writers[kind](path)
    else:
        PEOPLE.write_csv(path, compression="gzip" if kind == "csv.gz" else "uncompressed")
    bs.protect(path, bs.Plan.from_text(PLAN), KEY).write(tmp_path / "out")
    found = bs.within(tmp_path / "out", None, "weight", by=["sex", "region"])
    wanted = bs.within(release, None, "weight", by=["sex", "region"])
    assert found.equals(wanted)


def test_the_same_kind_comes_out(release):
    """Pandas, Arrow and DuckDB as Polars."""
    frame = release.data
    arrow = frame.to_arrow()
    for given, kind in (
        (frame.to_pandas(), pd.DataFrame),
        (arrow, type(arrow)),
        (duckdb.from_arrow(arrow), duckdb.DuckDBPyRelation),
        (frame.lazy(), pl.LazyFrame),
    ):
        assert isinstance(bs.within(given, release.manifest, "weight", by="sex"), kind)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (dict(column=""), "Name the column"),
        (dict(column="nobody"), "no column 'nobody'"),
        (dict(column="weight", by="weight"), "within cells of its own"),
        (dict(column="weight", statistic="mode"), "No statistic is called 'mode'"),
        (dict(column="weight", variance="none"), "variance"),
        (dict(column="sex"), 'Ask for the "share"'),
        (dict(column="weight", by="income"), "makes no cells"),
        (dict(column="income", by="sex", statistic="quantile"), "Ask for that of everybody"),
        (dict(column="weight", statistic="bounds"), 'Ask for its "mean"'),
        (dict(column="weight", weight="income"), "no longer weigh"),
        (dict(column="weight", statistic="quantile", share=1.0), "between 0 and 1"),
    ],
)
def test_what_makes_no_sense_is_refused(release, more, why):
    """With a reason that a person can read."""
    with pytest.raises(bs.BistochasticError, match=why):
        bs.within(release, None, **more)


def test_a_part_of_a_permuted_table_is_refused(release):
    """Whose ranks are not those of the whole."""
    part = release.data.head(100)
    with pytest.raises(bs.TableError, match="among 5000 individuals, and 100 rows"):
        bs.within(part, release.manifest, "income", by="sex")


def test_weights_below_zero_are_refused(release):
    """And those that are missing, counted and not shown."""
    for value in (-1.0, None, 0.0):
        changed = release.data.with_columns(weight=pl.lit(value, dtype=pl.Float64))
        with pytest.raises(bs.TableError, match=r"5000 of its cells|0 are above zero"):
            bs.within(changed, release.manifest, "sex", statistic="share", weight="weight")


def test_a_table_of_somebody_else_is_refused(release):
    """A label that its manifest does not know, by its row and not by what it is."""
    strange = release.data.with_columns(
        sex=pl.when(pl.row_index() == 3).then(pl.lit("secret")).otherwise("sex")
    )
    with pytest.raises(bs.DomainError, match="row 4") as refusal:
        bs.within(strange, release.manifest, "weight", by="sex")
    assert "secret" not in str(refusal.value)


def test_the_command(release, tmp_path):
    """Tables for people and rows for machines, of the same numbers."""
    import json

    release.write(tmp_path / "out")
    typed = ["within", str(tmp_path / "out"), "--column", "weight", "--by", "sex,smoker"]
    told = CliRunner().invoke(main, typed)
    assert told.exit_code == 0, told.output
    assert "female" in told.stdout
    rows = json.loads(CliRunner().invoke(main, [*typed, "--json"]).stdout)
    wanted = bs.within(release, None, "weight", by=["sex", "smoker"])
    np.testing.assert_allclose([row["estimate"] for row in rows], wanted["estimate"])
    refused = CliRunner().invoke(main, [*typed[:2], "--column", "income", "--by", "sex"])
    assert refused.exit_code == 2
    assert "bounds" in refused.stderr


@pytest.mark.parametrize(("column", "why"), [("person", "left out"), ("household", "pseudonyms")])
def test_what_is_not_there_is_not_advised(release, column, why):
    """Nobody is sent to the shares of a column that was left out or renamed."""
    with pytest.raises(bs.TableError, match=why) as told:
        bs.within(release, None, column)
    assert "Ask for" not in str(told.value)


def test_nobody_makes_no_cells():
    """A release of no rows says so, in words of tables."""
    plan = planned(a={"role": "plain"}, b={"role": "plain"})
    release = bs.protect(pl.DataFrame({"a": [], "b": []}, schema={"a": str, "b": str}), plan, KEY)
    with pytest.raises(bs.TableError, match="has no rows"):
        bs.estimate(release, columns=["a"])
