"""Files and frames on the plane of privacy against distortion, plans and methods among them."""

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import bistochastic as bs
from bistochastic.cli import main
from tests.tradeoff.laws import gaussian

JOINT = np.array([[30, 10, 5, 1], [5, 20, 9, 3], [1, 4, 12, 25]])
KEY = bs.Key(bytes(range(32)))
PLAN = """\
release = "ages"
[columns.age]
role = "key"
kind = "ordinal"
domain = {first = 0, last = 3}
missing = "refuse"
matrix = "mixture"
beta = 0.3
[columns.ill]
role = "confidential"
kind = "nominal"
domain = ["a", "b", "c"]
missing = "refuse"
matrix = "mixture"
beta = 0.5
"""


def people():
    """A frame whose counts are those of the joint table, in a mixed order."""
    ages = np.repeat(np.tile(range(4), 3), JOINT.ravel())
    ill = np.repeat(["a", "b", "c"], JOINT.sum(axis=1))
    order = np.random.default_rng(1).permutation(ages.size)
    return pl.DataFrame({"age": ages[order], "ill": ill[order]})


def pairs(n=3000, correlation=0.95):
    """Correlated normal numbers."""
    generator = np.random.default_rng(2)
    x = generator.normal(size=n)
    return x, correlation * x + np.sqrt(1 - correlation**2) * generator.normal(size=n)


@pytest.mark.parametrize("kind", ["polars", "pandas", "csv", "parquet"])
def test_a_table_has_the_function_of_its_counts(kind, tmp_path):
    """Whatever it comes in; the plan's ordinal column counts squared steps."""
    frame = people()
    given = frame
    if kind == "pandas":
        given = frame.to_pandas()
    elif kind != "polars":
        given = tmp_path / f"people.{kind}"
        getattr(frame, f"write_{kind}")(given)
    found = bs.plane(given, "age", "ill", plan=bs.Plan.from_text(PLAN))
    counted = bs.tradeoff(JOINT, "squared", units="bits")
    assert found.rows == JOINT.sum()
    assert found.tradeoff.largest_risk == pytest.approx(counted.largest_risk)
    placed = counted.place(bs.calibrate("mixture", 4, beta=0.3))
    assert found.plan.risk == pytest.approx(placed.risk)
    assert found.plan.distortion == pytest.approx(placed.distortion)
    assert found.plan.least == pytest.approx(placed.least, abs=1e-6)
    assert found.sentence == "The same distortion could leak 0.34 bits instead of 0.39."


def test_numbers_are_measured_in_their_variance():
    """Few numbers are their own cells; many are put into cells of as many rows."""
    found = bs.plane(people(), "age", "ill")
    variance = np.repeat(np.arange(4), JOINT.sum(axis=0)).var()
    np.testing.assert_allclose(found.tradeoff.problem.costs, bs.squared(np.arange(4)) / variance)
    x, w = pairs()
    many = bs.plane(pl.DataFrame({"x": x, "w": w}), "x", "w", bins=20, units="nats")
    (column,) = many.keys
    assert column.size == 20
    assert np.ptp(np.bincount(column.codes)) <= 2
    assert many.tradeoff.point(distortion=0.5).risk == pytest.approx(
        bs.quadratic_gaussian([[1]], confidential=[[1]], cross=[[0.95]]).risk(0.5), abs=0.06
    )


def test_several_columns_are_a_product():
    """Two key columns and two confidential ones; distances add up, a group is one channel."""
    generator = np.random.default_rng(3)
    frame = pl.DataFrame({name: generator.choice(list("ab"), 400) for name in ("p", "q", "v", "w")})
    found = bs.plane(frame, ["q", "p"], ["v", "w"], measure="hamming")
    np.testing.assert_array_equal(
        found.tradeoff.problem.costs, bs.weighted([bs.hamming(2), bs.hamming(2)])
    )
    assert found.tradeoff.problem.joint.shape == (4, 4)
    column = dict(role="key", kind="nominal", domain=["a", "b"], missing="refuse")
    secret = dict(role="confidential", kind="nominal", domain=["a", "b"], missing="refuse")
    columns = {
        "p": column | dict(matrix="mixture", truth=0.9), "q": column, "v": secret, "w": secret,
    }  # fmt: skip
    placed = bs.plane(frame, ["q", "p"], ["v", "w"], plan=bs.Plan(release="r", columns=columns))
    assert placed.plan.distortion == pytest.approx(0.1)
    channel = bs.Kronecker(bs.identity(2), bs.Mixture(2, truth=0.9))
    assert placed.tradeoff.place(channel).risk == pytest.approx(placed.plan.risk)
    array = np.kron(bs.Mixture(2, truth=0.9).to_dense(), bs.Mixture(2, truth=0.7).to_dense())
    group = dict(columns=["p", "q"], matrix="stochastic", array=array.tolist())
    plan = bs.Plan(release="r", columns=columns | {"p": column}, together=[group])
    both = bs.plane(frame, ["q", "p"], "w", plan=plan)
    turned = bs.Kronecker(bs.Mixture(2, truth=0.7), bs.Mixture(2, truth=0.9))
    assert both.tradeoff.place(turned).risk == pytest.approx(both.plan.risk)
    assert both.plan.distortion == pytest.approx(0.4)
    with pytest.raises(bs.PlanError, match="name all of them"):
        bs.plane(frame, "p", "w", plan=plan)


def test_a_group_of_three_is_put_in_the_order_asked_for():
    """Columns of different sizes, named in another order than the plan has them."""
    generator = np.random.default_rng(6)
    sizes = {"p": 2, "q": 3, "r": 4}
    frame = pl.DataFrame({name: generator.integers(0, n, 900) for name, n in sizes.items()})
    frame = frame.with_columns(w=(frame["p"] + frame["q"] + frame["r"]) % 3)
    columns = {
        name: dict(role="key", kind="ordinal", domain=list(range(n)), missing="refuse")
        for name, n in sizes.items()
    }
    columns["w"] = dict(role="confidential", kind="nominal", domain=[0, 1, 2], missing="refuse")
    parts = {
        "p": bs.Mixture(2, truth=0.9), "q": bs.Tridiagonal([0.1, 0.3]), "r": bs.Window(4, 1),
    }  # fmt: skip
    group = dict(
        columns=["p", "q", "r"], matrix="dense",
        array=bs.Kronecker(*parts.values()).to_dense().tolist(),
    )  # fmt: skip
    plan = bs.Plan(release="r", columns=columns, together=[group])
    for order in (["r", "p", "q"], ["q", "r", "p"], ["p", "q", "r"]):
        found = bs.plane(frame, order, "w", plan=plan)
        direct = found.tradeoff.place(bs.Kronecker(*(parts[name] for name in order)))
        assert found.plan.distortion == pytest.approx(direct.distortion)
        assert found.plan.risk == pytest.approx(direct.risk)


def test_a_plan_that_masks_numbers_is_placed_by_masking():
    """Blocks on ranks, averaged: near what microaggregation is known to be, with an error."""
    x, w = pairs()
    frame = pl.DataFrame({"x": x, "w": w})
    columns = {
        "x": dict(role="key", kind="numeric", matrix="blocks", k=300, how="average"),
        "w": dict(role="confidential", kind="numeric"),
    }
    plan = bs.Plan(release="r", columns=columns)
    found = bs.plane(frame, "x", "w", plan=plan, units="nats", key=KEY)
    ranks = np.argsort(np.argsort(x)) // 300
    means = np.bincount(ranks, weights=x) / 300
    assert found.plan.distortion == pytest.approx(np.mean((x - means[ranks]) ** 2) / x.var())
    assert 0 < found.plan.error < 0.05
    exact = bs.tradeoff(found.tradeoff.problem.joint, found.tradeoff.problem.costs)
    assert found.plan.risk > exact.point(distortion=found.plan.distortion).risk - 0.05


def test_rows_without_a_number_do_not_count():
    """They are left out and counted; a missing label is a label."""
    frame = pl.DataFrame({"x": [1.0, None, 2.0, 1.0], "w": ["a", "a", None, "b"]})
    found = bs.plane(frame, "x", "w")
    assert (found.rows, found.left_out) == (3, 1)
    assert found.tradeoff.problem.joint.shape == (3, 2)


def test_w_may_be_x():
    """A column that is key and confidential: Shannon's function of it."""
    found = bs.plane(people(), "ill", "ill")
    counts = JOINT.sum(axis=1)
    shannon = bs.tradeoff(np.diag(counts), "hamming", units="bits")
    best = found.tradeoff.point(distortion=0.3)
    assert best.risk == pytest.approx(shannon.point(distortion=0.3).risk, abs=1e-6)


def test_distances_and_weights_may_be_given():
    """A taxonomy by its labels in any order, a matrix in theirs; what a column counts for."""
    tree = {"b": "x", "a": "x", "c": "y", "x": "all", "y": "all"}
    found = bs.plane(
        people(), ["ill", "age"], "age", distances={"ill": tree, "age": np.eye(4)},
        weights={"ill": 2.0},
    )  # fmt: skip
    up = np.array([[0, 1, 2], [1, 0, 2], [2, 2, 0]])
    np.testing.assert_array_equal(
        found.tradeoff.problem.costs, bs.weighted([up, np.eye(4)], [2, 1])
    )
    plan = PLAN.replace('matrix = "mixture"\nbeta = 0.5', 'matrix = "diffusion"\ntime = 1.0')
    plan = bs.Plan.from_text(plan + 'parents = {a = "x", b = "x", c = "y", x = "all", y = "all"}\n')
    by_plan = bs.plane(people(), "ill", "age", plan=plan)
    np.testing.assert_array_equal(by_plan.tradeoff.problem.costs, up)
    assert by_plan.plan.distortion == pytest.approx(
        by_plan.tradeoff.place(
            bs.Taxonomy({"a": "x", "b": "x", "c": "y", "x": "all", "y": "all"}, time=1.0)
        ).distortion
    )


def test_families_are_placed_above_the_curve():
    """Every one that reaches the budget, none below the least."""
    found = bs.plane(people(), "age", "ill")
    placed = found.families([0.3, 0.9])
    assert {one.name.split(",")[0] for one in placed} >= {"mixture", "optimal", "diffusion"}
    assert all(one.risk >= one.least - 1e-6 for one in placed)
    assert not any(one.name == "tridiagonal, beta 0.9" for one in placed)


def test_the_usual_methods_on_numbers():
    """Each lies near or above the Gaussian curve; noise, made for it, on it (four errors)."""
    x, w = pairs(2000)
    placed = bs.rivals(x, w, gaussian(41, 4.0), k=(20, 200), width=(0.05, 0.2), key=KEY)
    assert len(placed) == 4 + 3 + 1 + 2 + 3 + 3
    for one in placed:
        assert one.risk > one.least - 4 * one.error - 0.03
    for one in placed[-3:]:
        assert one.name.startswith("noise")
        assert one.risk == pytest.approx(one.least, abs=4 * one.error + 0.05)
    with pytest.raises(bs.TableError, match="as many numbers"):
        bs.rivals(x, w[1:], gaussian(5))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (dict(keys="agee", confidential="ill"), "has no column 'agee'"),
        (dict(keys=["age", "age"], confidential="ill"), "named twice"),
        (dict(keys="age", confidential="ill", weights={"ill": 1.0}), "Weights are for key"),
        (dict(keys="age", confidential="ill", distances={"ill": np.eye(1)}), "for 'ill', no key"),
        (dict(keys="age", confidential="ill", distances={"age": np.eye(3)}), "has 4 codes"),
        (dict(keys="ill", confidential="age", distances={"ill": {"secret": "x"}}), "1 labels of"),
        (dict(keys=[], confidential="ill"), "at least one key"),
        (dict(keys="age", confidential="ill", bins=1), "at least 2 cells"),
        (dict(keys="many", confidential="ill"), "300 different labels"),
        (dict(keys=["number", "other"], confidential="ill"), "have 625 combinations"),
        (dict(keys="empty", confidential="ill"), "no number at all"),
    ],
)
def test_what_cannot_be_is_refused(options, told):
    """One readable message each, and no value."""
    n = 300
    frame = pl.DataFrame(
        {
            "age": np.arange(n) % 4,
            "ill": ["x"] * n,
            "many": [f"secret{i}" for i in range(n)],
            "number": np.arange(n) * 1.5,
            "other": np.arange(n) * 2.5,
            "empty": pl.Series([None] * n, dtype=pl.Float64),
        }
    )
    with pytest.raises(bs.TableError, match=told) as caught:
        bs.plane(frame, **options)
    assert "secret" not in str(caught.value)


def test_a_plan_must_know_the_key_columns():
    """One that leaves them out, or does not say anything of them, cannot be placed."""
    plan = bs.Plan(release="r", columns={"ill": dict(role="plain")})
    with pytest.raises(bs.PlanError, match="says nothing of the key column 'age'"):
        bs.plane(people(), "age", "ill", plan=plan)
    plan = bs.Plan(release="r", columns={"age": dict(role="identifier")})
    with pytest.raises(bs.PlanError, match="leaves out the key column 'age'"):
        bs.plane(people(), "age", "ill", plan=plan)


def test_a_value_outside_the_plan_is_refused():
    """As by protect, and never shown."""
    frame = people().with_columns(age=pl.lit(77))
    with pytest.raises(bs.TableError, match="outside the declared domain") as caught:
        bs.plane(frame, "age", "ill", plan=bs.Plan.from_text(PLAN))
    assert "77" not in str(caught.value)


def typed(tmp_path, *options):
    """What the command prints for the file of people."""
    people().write_csv(tmp_path / "people.csv")
    (tmp_path / "plan.toml").write_text(PLAN)
    said = ["tradeoff", str(tmp_path / "people.csv"), "--key-column", "age"]
    return CliRunner().invoke(main, [*said, "--confidential", "ill", *options])


def test_the_command_draws_the_curve_with_the_plan_on_it(tmp_path):
    """A picture, its numbers, and one sentence that says how far from optimal the plan is."""
    done = typed(tmp_path, "--plan", str(tmp_path / "plan.toml"), "--methods", "--points", "5")
    assert done.exit_code == 0
    assert "◆" in done.output
    assert "mixture, beta 0.5" in done.output
    assert "ages: The same distortion could leak 0.34 bits instead of 0.39." in done.output
    assert done.output.count("\n") < 60
    assert max(map(len, done.output.splitlines())) <= 100


def test_the_command_tells_machines_the_same(tmp_path):
    """Finite numbers only; the curve convex, the plan above it."""
    done = typed(tmp_path, "--plan", str(tmp_path / "plan.toml"), "--json", "--units", "nats")
    told = json.loads(done.output)
    assert told["units"] == "nats"
    assert len(told["curve"]) == 21
    risks = [point["risk"] for point in told["curve"]]
    assert sorted(risks, reverse=True) == risks
    assert told["plan"]["risk"] > told["plan"]["least"] > 0
    assert told["curve"][0]["disclosure"] > told["curve"][0]["worst"]


def test_the_command_refuses_readably(tmp_path):
    """A column that is not there, with exit code 2."""
    done = typed(tmp_path, "--key-column", "nobody")
    assert done.exit_code == 2
    assert "has no column 'nobody'" in done.output


def test_nobody_has_nothing_to_trade():
    """A file of no rows is refused by name, not by a matrix of no size."""
    with pytest.raises(bs.TableError, match="has no rows"):
        bs.plane(people().clear(), "age", "ill")
