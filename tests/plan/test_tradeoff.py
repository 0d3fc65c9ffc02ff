"""A plan that asks for the optimal trade-off of a joint table."""

import numpy as np
import polars as pl
import pytest

import bistochastic as bs

JOINT = [[30, 10, 5], [5, 20, 9]]
DOMAIN = ["a", "b", "c"]


def said(**more):
    """A key column with the words of an optimal trade-off."""
    column = {"role": "key", "kind": "nominal", "domain": DOMAIN, "missing": "refuse"}
    column |= {"matrix": "optimal-tradeoff", "joint": JOINT, "distortion": 0.3} | more
    given = {name: value for name, value in column.items() if value is not None}
    return bs.Plan(release="r", columns={"job": given})


def test_the_channel_is_the_optimal_one():
    """Hamming distance for a nominal column, squared steps for an ordinal one, or what is said."""
    for kind, costs in (("nominal", "hamming"), ("ordinal", "squared")):
        best = bs.tradeoff(JOINT, costs, units="bits")
        matrix = said(kind=kind).treated["job"].matrix
        np.testing.assert_array_equal(matrix.to_dense(), best.channel(distortion=0.3).to_dense())
    given = said(distances=[[0, 1, 9], [1, 0, 1], [9, 1, 0]], distortion=None, multiplier=2.0)
    best = bs.tradeoff(JOINT, [[0, 1, 9], [1, 0, 1], [9, 1, 0]], units="bits")
    np.testing.assert_array_equal(
        given.treated["job"].matrix.to_dense(), best.channel(multiplier=2.0).to_dense()
    )
    tree = {"a": "x", "b": "x", "c": "y", "x": "all", "y": "all"}
    placed = bs.tradeoff(JOINT, tree, units="bits").place(said(parents=tree).treated["job"].matrix)
    assert placed.excess < 1e-6


def test_a_group_is_one_channel():
    """On the product of two domains, the last of them fastest."""
    joint = np.random.default_rng(1).integers(1, 40, (3, 6)).tolist()
    columns = {
        "sex": dict(role="key", kind="nominal", domain=["f", "m"], missing="refuse"),
        "age": dict(role="key", kind="ordinal", domain=[0, 1, 2], missing="refuse"),
    }
    group = dict(columns=["sex", "age"], matrix="optimal-tradeoff", joint=joint, distortion=0.5)
    plan = bs.Plan(release="r", columns=columns, together=[group])
    costs = bs.weighted([bs.hamming(2), np.abs(np.subtract.outer(range(3), range(3)))])
    placed = bs.tradeoff(joint, costs).place(plan.treated["sex × age"].matrix)
    assert placed.distortion == pytest.approx(0.5, abs=1e-6)
    assert placed.excess < 1e-6
    assert any("is published with the plan" in line for line in plan.explain().warnings)


def test_a_release_is_made_verified_and_estimated_from(tmp_path):
    """The joint table in a file beside the plan; the manifest knows the channel."""
    (tmp_path / "joint.csv").write_text("30,10,5\n5,20,9\n")
    text = (
        'release = "r"\n[columns.job]\nrole = "key"\nkind = "nominal"\ndomain = ["a", "b", "c"]\n'
        'missing = "refuse"\nmatrix = "optimal-tradeoff"\njoint_file = "joint.csv"\n'
        "distortion = 0.3\nallow_zeros = true\n"
    )
    (tmp_path / "plan.toml").write_text(text)
    plan = bs.Plan.read(tmp_path / "plan.toml")
    assert plan.columns["job"].joint == ((30, 10, 5), (5, 20, 9))
    people = pl.DataFrame({"job": np.random.default_rng(2).choice(DOMAIN, 500)})
    people.write_csv(tmp_path / "people.csv")
    key = bs.Key.new()
    bs.protect(tmp_path / "people.csv", plan, key).write(tmp_path / "out")
    checks = bs.verify(tmp_path / "out", key=key, original=tmp_path / "people.csv")
    assert [check for check in checks if not check.holds] == []
    channel = bs.Manifest.read(tmp_path / "out").channel("job")
    np.testing.assert_array_equal(channel.to_dense(), plan.treated["job"].matrix.to_dense())
    again = bs.Plan(**plan.dump())
    assert again.columns["job"].joint_file is None


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"joint": None}, "never learnt from the data"),
        ({"joint_file": "x.csv"}, "joint too: one of them rules"),
        ({"multiplier": 1.0}, "fixes the matrix, which distortion does already"),
        ({"distortion": None}, "what it is: distortion or multiplier"),
        ({"joint": [[1, 2]]}, "a number for each of 3 categories"),
        ({"missing": "category"}, "a number for each of 4 categories"),
        ({"beta": 0.5}, "which is fixed"),
        ({"joint": None, "joint_file": "none.csv"}, "cannot be read as a text"),
        ({"matrix": "mixture", "distortion": None, "truth": 0.5}, "is no parameter"),
        (
            {"matrix": "mixture", "distortion": None, "truth": 0.5, "joint": None,
             "joint_file": "x"},
            "is no parameter",
        ),
        ({"parents": {"a": "x", "b": "x", "c": "x"}, "distances": np.eye(3).tolist()},
         "parents too: one of them rules"),
        ({"kind": "numeric", "how": "draw", "domain": None}, "not bistochastic"),
    ],
)  # fmt: skip
def test_what_makes_no_plan_is_refused(more, told):
    """Each with its place and its remedy."""
    with pytest.raises(bs.PlanError, match=told):
        said(**more)


def test_a_joint_file_of_words_is_refused(tmp_path):
    """Without quoting what stands there."""
    (tmp_path / "joint.csv").write_text("alice,1\n")
    text = (
        'release = "r"\n[columns.job]\nrole = "key"\nkind = "nominal"\ndomain = ["a", "b"]\n'
        'missing = "refuse"\nmatrix = "optimal-tradeoff"\njoint_file = "joint.csv"\n'
        "distortion = 0.3\n"
    )
    with pytest.raises(bs.PlanError, match="must hold numbers only") as caught:
        bs.Plan.from_text(text, folder=tmp_path)
    assert "alice" not in str(caught.value)
