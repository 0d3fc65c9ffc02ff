"""Regressions from a release and nothing else, against those of the original."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.analyst.formula import Formula
from bistochastic.cli import main
from bistochastic.population import PLAN, people
from docs import pictures
from tests.pages import ROOT
from tests.surveys import KEY

PEOPLE = people()


@pytest.fixture(scope="module")
def release():
    """The people who do not exist, released."""
    return bs.protect(PEOPLE, bs.Plan.from_text(PLAN), KEY)


@pytest.fixture(scope="module")
def open_release():
    """The same people, released as they are."""
    columns = {
        name: dict(role="plain", kind="nominal", domain=sorted(PEOPLE[name].drop_nulls().unique()))
        for name in ("sex", "smoker", "illness")
    }
    plan = bs.Plan(
        release="open",
        columns=columns | {name: dict(role="plain") for name in ("weight", "income", "hours")},
    )
    return bs.protect(
        PEOPLE.select("sex", "smoker", "illness", "weight", "income", "hours"), plan, KEY
    )


def least_squares(frame, response, columns):
    """Coefficients of the original by numpy."""
    X = np.column_stack([np.ones(frame.height), *columns])
    return np.linalg.lstsq(X, response, rcond=None)[0]


def test_a_randomised_response_and_predictor(release):
    """The original's own coefficients within five errors of what only masking added."""
    found = bs.regress(release, None, "smoker ~ sex + weight", variance="file")
    sex = (PEOPLE["sex"] == "male").to_numpy()
    smoker = (PEOPLE["smoker"] == "yes").to_numpy()
    true = least_squares(PEOPLE, smoker, [sex, PEOPLE["weight"]])
    assert found["term"].to_list() == ["(intercept)", "sex=male", "weight"]
    assert (np.abs(found["estimate"] - true) < 5 * found["se"]).all()
    assert (found["low"] < found["estimate"]).all()


def test_missing_answers_are_left_out_though_nobody_knows_whose():
    """As those who analyse the original leave them out, in predictors and in the response."""
    rng = np.random.default_rng(6)
    n = 20_000
    user = rng.choice(["no", "yes", None], n, p=[0.4, 0.3, 0.3])
    ill = np.where(rng.random(n) < 0.3, None, rng.choice(["no", "yes"], n))
    lost = rng.normal(size=n) + 3 * (user == "yes") + 9 * np.equal(user, None)
    table = pl.DataFrame({"user": user, "ill": ill, "lost": lost}, schema_overrides={
        "user": pl.String, "ill": pl.String})  # fmt: skip
    asked = dict(role="confidential", kind="nominal", domain=["no", "yes"], matrix="mixture")
    columns = {
        "user": asked | dict(truth=0.8),
        "ill": asked | dict(truth=0.9, missing="keep"),
        "lost": dict(role="plain"),
    }
    release = bs.protect(table, bs.Plan(release="x", columns=columns), KEY)
    for response, there in (("lost", ["user"]), ("ill", ["user", "ill"])):
        found = bs.regress(release, None, f"{response} ~ user", variance="file")
        kept = table.drop_nulls(there)
        told = kept["lost"] if response == "lost" else (kept["ill"] == "yes").to_numpy()
        true = least_squares(kept, told, [(kept["user"] == "yes").to_numpy()])
        assert (np.abs(found["estimate"].to_numpy() - true) < 5 * found["se"].to_numpy()).all()
        assert (found["se"] < 0.1).all()


def test_nothing_randomised_is_least_squares(open_release):
    """Numbers, categories and products as in any program."""
    found = bs.regress(open_release, None, "income ~ hours + sex + hours:sex", variance="file")
    sex, hours = (PEOPLE["sex"] == "male").to_numpy(), PEOPLE["hours"].to_numpy()
    true = least_squares(PEOPLE, PEOPLE["income"], [hours, sex, hours * sex])
    np.testing.assert_allclose(found["estimate"], true, rtol=1e-6)
    assert found["term"].to_list() == ["(intercept)", "hours", "sex=male", "hours:sex=male"]
    assert (found["se"] == 0).all()


@pytest.mark.parametrize("method", ["moments", "likelihood"])
def test_logistic_models_agree_with_the_original(open_release, method):
    """The logistic maximum has residuals that no predictor explains."""
    found = bs.regress(
        open_release, None, "smoker ~ sex + hours", family="logistic", method=method
    )["estimate"].to_numpy()  # fmt: skip
    X = np.column_stack(
        (np.ones(PEOPLE.height), PEOPLE["sex"] == "male", PEOPLE["hours"].to_numpy())
    )
    residual = (PEOPLE["smoker"] == "yes").to_numpy() - 1 / (1 + np.exp(-X @ found))
    assert np.abs(X.T @ residual).max() < 1e-3


def test_the_likelihood_of_a_release(release):
    """Sharper than moments, and no further from them than both are uncertain."""
    for formula in ("sex ~ weight", "sex ~ work + school", "smoker ~ sex"):
        if formula.startswith("smoker"):
            with pytest.raises(bs.TableError, match="likelihood takes"):
                bs.regress(release, None, "illness ~ sex", family="logistic", method="likelihood")
            continue
        one, other = (
            bs.regress(release, None, formula, family="logistic", method=method)
            for method in ("moments", "likelihood")
        )
        assert ((one["estimate"] - other["estimate"]).abs() < one["se"]).all()
        assert (other["se"] < 1.1 * one["se"]).all()


def test_a_likelihood_with_a_known_predictor_beside_a_randomised_one():
    """Shares of the randomised one are free within what is known of the other."""
    rng = np.random.default_rng(4)
    n = 20_000
    place = rng.integers(0, 3, n)
    sex = rng.random(n) < 0.3 + 0.2 * place
    ill = rng.random(n) < 1 / (1 + np.exp(1 - 0.9 * sex - 0.3 * place))
    table = pl.DataFrame({"sex": np.where(sex, "m", "f"), "place": place, "ill": ill})
    plan = bs.Plan(
        release="x",
        columns={
            "sex": dict(role="key", kind="nominal", domain=["f", "m"], missing="refuse",
                        matrix="mixture", truth=0.8),
            "place": dict(role="plain"),
            "ill": dict(role="plain"),
        },
    )  # fmt: skip
    release = bs.protect(table, plan, KEY)
    for method in ("moments", "likelihood"):
        found = bs.regress(release, None, "ill ~ sex + place", family="logistic", method=method)
        off = np.abs(found["estimate"].to_numpy() - [-1, 0.9, 0.3])
        assert (off < 5 * found["se"].to_numpy()).all()


def test_a_response_may_be_told_by_its_label(release):
    """And a formula by its parts; the other label turns the signs."""
    yes = bs.regress(release, None, response="smoker", predictors=["sex"], success="yes")
    no = bs.regress(release, None, "smoker ~ sex", success="no")
    total = yes["estimate"].to_numpy() + no["estimate"].to_numpy()
    np.testing.assert_allclose(total, [1, 0], atol=1e-9)
    np.testing.assert_allclose(yes["se"], no["se"])


def test_weights_weigh(open_release):
    """As in weighted least squares."""
    found = bs.regress(open_release, None, "income ~ hours", weight="weight")
    root = np.sqrt(PEOPLE["weight"].to_numpy())
    X = np.column_stack((np.ones(PEOPLE.height), PEOPLE["hours"])) * root[:, None]
    true = np.linalg.lstsq(X, PEOPLE["income"].to_numpy() * root, rcond=None)[0]
    np.testing.assert_allclose(found["estimate"], true, rtol=1e-6)


def test_a_text_file_has_numbers_too(tmp_path):
    """A column that no plan describes is a number if all its cells read as numbers."""
    PEOPLE.select("sex", "region", "hours", "income").write_csv(tmp_path / "people.csv")
    plan = bs.Plan(
        release="x",
        columns={name: dict(role="plain") for name in ("sex", "region", "hours", "income")},
    )
    bs.protect(tmp_path / "people.csv", plan, KEY).write(tmp_path / "out")
    found = bs.regress(tmp_path / "out", None, "income ~ hours + region")
    assert found.height == 2 + PEOPLE["region"].n_unique() - 1


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (dict(formula="income ~ sex"), "was permuted"),
        (dict(formula="weight ~ household"), "pseudonyms"),
        (dict(formula="weight ~ nobody"), "no column 'nobody'"),
        (dict(formula="weight ~ sex", family="probit"), '"linear" or "logistic"'),
        (dict(formula="weight ~ sex", family="logistic"), "0 and 1"),
        (dict(formula="weight ~ sex", success="f"), "no label to count"),
        (dict(formula="work ~ sex"), "has 6 labels, and one of them has to count"),
        (dict(formula="sex ~ weight", success="f"), "no label"),
        (dict(formula="weight ~ sex", method="likelihood"), "without weights"),
        (dict(formula="sex ~ weight", method="bayes"), '"moments" or "likelihood"'),
        (dict(formula="work ~ weight", success="retired", family="logistic", method="likelihood"),
         "two labels"),
        (dict(formula="weight ~ sex", variance="none"), "variance"),
        (dict(), "Give a formula"),
        (dict(formula="a ~ b", response="a"), "Give a formula"),
        (dict(formula="weight ~ sex", level=95), "level"),
        (dict(formula="weight ~ sex", weight="income"), "no longer weigh"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(release, given, why):
    """With a reason that a person can read."""
    with pytest.raises(bs.BistochasticError, match=why):
        bs.regress(release, None, **given)


def test_a_channel_that_cannot_be_undone_is_refused():
    """With the name of the column and the groups that are left."""
    table = pl.DataFrame({"place": ["a", "b", "c", "d"] * 9, "pay": range(36)})
    place = dict(role="key", kind="nominal", domain=["a", "b", "c", "d"], missing="refuse",
                 matrix="blocks", k=2)  # fmt: skip
    plan = bs.Plan(release="x", columns={"place": place, "pay": dict(role="plain")})
    with pytest.raises(bs.SingularMatrixError, match=r"of 'place' cannot be undone: .* 0\+1, 2\+3"):
        bs.regress(bs.protect(table, plan, KEY), None, "pay ~ place")


def test_a_formula_is_read_as_it_stands():
    """Names with blanks and signs in backticks, an intercept that is there anyway."""
    told = Formula.of("`hours + more` ~ 1 + sex + `a:b` + sex:`a:b`")
    assert told == Formula("hours + more", (("sex",), ("a:b",), ("sex", "a:b")))
    assert told.columns == ("sex", "a:b")


@given(st.text(alphabet="ab~+:*`1 ", max_size=12))
def test_no_formula_is_a_defect(text):
    """Whatever is typed is a formula or is refused."""
    try:
        told = Formula.of(text)
    except bs.TableError:
        return
    assert told.response
    assert all(name for term in told.terms for name in term)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a", "reads"), ("a ~ b ~ c", "reads"), ("a ~ b * c", "no asterisk"), ("a ~ a", "itself"),
        ("a ~ b + b", "twice"), ("a ~ b:b", "twice"), ("~ a", "missing"), ("a ~ b +", "missing"),
    ],
)  # fmt: skip
def test_formulas_that_are_refused(text, why):
    """With what is wrong with them."""
    with pytest.raises(bs.TableError, match=why):
        Formula.of(text)


def test_the_command(release, tmp_path):
    """A line for each term, and rows for machines."""
    release.write(tmp_path / "out")
    typed = ["regress", str(tmp_path / "out"), "smoker ~ sex", "--family", "logistic"]
    told = CliRunner().invoke(main, typed)
    assert told.exit_code == 0, told.output
    assert "sex=male" in told.stdout
    rows = json.loads(CliRunner().invoke(main, [*typed, "--json"]).stdout)
    wanted = bs.regress(release, None, "smoker ~ sex", family="logistic")
    np.testing.assert_allclose([row["estimate"] for row in rows], wanted["estimate"])
    refused = CliRunner().invoke(main, [*typed[:2], "income ~ sex"])
    assert refused.exit_code == 2


def test_the_picture_is_of_what_it_says():
    """A ring, a dot and an interval for each channel, and the naive fit far off at the end."""
    figure = ET.fromstring(pictures.OTHERS["regression"]())
    shapes = [element.get("class") for element in figure[0]]
    assert [shapes.count(kind) for kind in ("ring", "cell", "interval")] == [9, 9, 9]
    assert "<!-- picture: regression -->" in (ROOT / "docs" / "regression.md").read_text("utf-8")
    for truth, naive, fit, low, high in pictures.slopes():
        assert abs(fit - pictures.LOSS) < 3 * (high - low)
        if truth < 0.9:
            assert naive < low < high
