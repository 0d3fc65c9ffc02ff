"""What a plan guarantees is what the algebra says, and a methodologist's warnings are given."""

import json
import math

import numpy as np
import pytest

import bistochastic as bs
from bistochastic.errors import PlanError
from bistochastic.plan.plan import Plan
from bistochastic.population import PLAN


def plan(together=(), rows=None, **columns):
    """A plan of a few columns."""
    return Plan(release="r", columns=columns, together=together, rows=rows)


def nominal(n=2, **said):
    """A key with n labels."""
    labels = [f"label {place}" for place in range(n)]
    return {"role": "key", "kind": "nominal", "domain": labels, "missing": "refuse", **said}


def numeric(**said):
    """A column of numbers."""
    return {"role": "confidential", "kind": "numeric", "how": "permute", "matrix": "blocks", **said}


def test_guarantees_are_those_of_the_integers():
    """Epsilon is never more than asked for, bits never less, and both are the certificate's."""
    told = plan(a=nominal(3, matrix="mixture", epsilon=2.0)).explain().columns[0].guarantee
    exact = bs.randomised_response(3, epsilon=2).exact()
    assert told.epsilon == exact.epsilon <= 2
    assert (told.bits, told.beta, told.min_row_bits) == (exact.bits, exact.beta, exact.min_row_bits)
    assert told.digest == exact.digest()
    assert told.sides == pytest.approx(2**exact.bits)
    assert told.truth_mean == pytest.approx(0.7869860421615985, abs=1e-15)


def test_totals_are_the_definitions_of_the_paper():
    """Ruiz & Domingo-Ferrer 2022, Definitions 2 and 3, with an independent product by hand."""
    given = plan(a=nominal(3, matrix="mixture", beta=0.5), b=nominal(4, matrix="secrecy"))
    made = [part.matrix for part in given.treated.values()]
    totals = given.explain().totals
    joint = bs.Kronecker(*made)
    assert totals.joint_beta == pytest.approx(joint.beta)
    bits = sum(matrix.bits for matrix in made)
    assert totals.conservative_beta == pytest.approx(bits / (math.log2(3) + 2))
    assert totals.epsilon == pytest.approx(joint.epsilon)


@pytest.mark.parametrize("matrix", ["mixture", "optimal", "dense", "secrecy"])
def test_marginals_of_a_group_by_enumeration(matrix):
    """The conservative beta takes each column of a group by itself, as its cells sum up."""
    said = {"matrix": matrix}
    if matrix in ("mixture", "optimal"):
        said["beta"] = 0.5
    if matrix == "dense":
        said["array"] = bs.Circulant([0.5, 0.2, 0.1, 0.1, 0.05, 0.05]).to_dense().tolist()
    given = plan([{"columns": ["a", "b"], **said}], a=nominal(2), b=nominal(3))
    cells = given.treated["a × b"].matrix.to_dense().reshape(2, 3, 2, 3)
    first = cells.sum(axis=3).mean(axis=1)
    second = cells.sum(axis=2).mean(axis=0)
    bits = bs.Stochastic(first).bits + bs.Stochastic(second).bits
    assert given.explain().totals.conservative_beta == pytest.approx(bits / math.log2(6))


def test_what_passes_counts_as_nothing():
    """An untouched key has no bits and an infinite epsilon; a plain column does not count."""
    given = plan(a=nominal(2, matrix="secrecy"), b=nominal(2), c={"role": "plain"})
    totals = given.explain().totals
    assert (totals.bits, totals.max_bits) == (pytest.approx(1), 2)
    assert math.isinf(totals.epsilon)
    unknown = plan(a=nominal(2, matrix="secrecy"), b={"role": "key"}).explain().totals
    assert math.isinf(unknown.epsilon)


def test_numbers_are_told_once_their_count_is_known():
    """The index epsilon of a numeric column stays out of the sum."""
    given = plan(pay=numeric(k=5), a=nominal(2, matrix="mixture", epsilon=1.0))
    assert given.explain().columns[0].guarantee is None
    told = given.explain(rows=1000).columns[0]
    assert told.individuals == 1000
    assert told.guarantee.bits == pytest.approx(math.log2(5))
    assert told.joint_bits == pytest.approx(200 * math.log2(math.factorial(5)))
    assert given.explain(rows=1000).totals.epsilon <= 1


def test_a_joint_domain_of_a_million_million_cells():
    """Structure only: nothing of the size of the domain is formed."""
    names = [f"c{place}" for place in range(12)]
    columns = {name: nominal(10) for name in names}
    told = plan([{"columns": names, "matrix": "mixture", "epsilon": 20.0}], **columns).explain()
    assert told.together[0].guarantee.categories == 10**12
    assert told.together[0].guarantee.epsilon <= 20


WARNINGS = {
    "domains were read off the data": dict(a=nominal(learnt=True, matrix="secrecy")),
    "is a key and passes untouched": dict(a=nominal()),
    "is confidential and passes untouched": dict(a=nominal(role="confidential")),
    "keeps its missing values": dict(a=nominal(missing="keep", matrix="secrecy")),
    "after its last label": dict(
        a=nominal(4, kind="ordinal", missing="category", matrix="window", width=1)
    ),
    "by epsilon alone, and epsilon 5": dict(a=nominal(matrix="mixture", epsilon=5.0)),
    "leaves no doubt at all": dict(
        a=nominal(3, matrix="stochastic", array=[[1, 0, 0], [0, 0.5, 0.5], [0, 0.5, 0.5]])
    ),
    "its mean of bits hides a row of none": dict(
        a=nominal(3, matrix="stochastic", array=[[1, 0, 0], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
    ),
    "in principle only": dict(a=nominal(matrix="mixture", truth=0.50001)),
    "which seems to tell the same": dict(
        region=nominal(matrix="secrecy"), region_code={"role": "plain"}
    ),
    "you insist": dict(pay=numeric(k=5, how="average", insist=True)),
}


@pytest.mark.parametrize("words", WARNINGS)
def test_warnings(words):
    """What a methodologist would say."""
    told = plan(**WARNINGS[words]).explain(rows=20).warnings
    assert any(words in warning for warning in told), told


def test_permanent_answers_are_explained():
    """What permanence covers and what it does not."""
    columns = {"id": {"role": "identifier"}, "a": nominal(matrix="secrecy")}
    told = Plan(release="r", columns=columns, records="id").explain().warnings
    assert any("Answers are permanent" in warning for warning in told)


def test_a_good_plan_has_no_warnings():
    """The built-in one is an example to follow."""
    assert Plan.from_text(PLAN).explain().warnings == ()


def test_nothing_of_a_person_is_needed():
    """An explanation is JSON without NaN, and infinity is said in words."""
    told = json.loads(plan(a=nominal(), b=numeric(k=5)).explain(rows=100).text())
    assert told["totals"]["epsilon"] == "infinite"
    assert told["columns"][1]["guarantee"]["condition"] == "infinite"
    assert np.isfinite(told["totals"]["bits"])


def test_what_cannot_be_over_so_many_rows_is_a_mistake_of_the_plan():
    """A numeric target that shows only with the rows is told at its place."""
    with pytest.raises(PlanError, match=r"columns\.pay.*5"):
        plan(pay=numeric(k=5)).explain(rows=3)
