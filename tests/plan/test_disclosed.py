"""What an explanation says of intruders and analysts is what the measures say of its channels."""

import json
import math

import pytest

import bistochastic as bs
from bistochastic.measures.design import largest_design_effect
from bistochastic.plan.plan import Plan
from bistochastic.report.learnable import learnable
from bistochastic.report.terminal import console


def plan(together=(), **columns):
    """A plan of a few columns."""
    return Plan(release="r", columns=columns, together=together)


def nominal(*labels, **said):
    """A key with these labels."""
    given = {"role": "key", "kind": "nominal", "domain": list(labels), "missing": "refuse"}
    return given | said


def shown(given) -> str:
    """What stands on a terminal."""
    screen = console()
    with screen.capture() as caught:
        for part in learnable(given.explain().disclosed):
            screen.print(part)
    return caught.get()


def test_a_randomised_column():
    """The best guess, the worst odds and gain, and the respondents, each by its own measure."""
    given = plan(marital=nominal("married", "divorced", "widowed", matrix="mixture", epsilon=2.0))
    (told,) = given.explain().disclosed
    matrix = given.treated["marital"].matrix
    assert told.columns == ("marital",)
    assert told.guess == pytest.approx(0.7869860421615985)
    assert told.odds == math.exp(given.treated["marital"].exact.epsilon) <= math.exp(2)
    assert told.increase == pytest.approx(bs.worst_case(matrix).increase)
    assert told.respondents == pytest.approx(largest_design_effect(matrix))
    assert told.recoverable
    assert told.says == ("Of 100 people reported as *married*, about 79 are.",)
    assert "79 of 100  ×7.39   +46" in shown(given)


def test_the_report_that_tells_most_is_the_one_that_is_shown():
    """Behind the second label the best guess is right most often, and it is another label."""
    array = [[0.2, 0.7, 0.1], [0.5, 0.2, 0.3], [0.3, 0.1, 0.6]]
    given = plan(a=nominal("x", "y", "z", matrix="stochastic", array=array))
    (told,) = given.explain().disclosed
    assert told.guess == pytest.approx(0.7)
    assert told.says == ("Of 100 people reported as *y*, about 20 are; about 70 are *x*.",)


def test_what_cannot_be_recovered_is_said_in_words():
    """Secrecy tells nothing and gives nothing back; its noise is not called infinite."""
    given = plan(a=nominal("x", "y", matrix="secrecy"))
    (told,) = given.explain().disclosed
    assert (told.respondents, told.recoverable, told.odds, told.increase) == (None, False, 1, 0)
    assert "A report says nothing about the truth, whatever is believed beforehand." in told.says
    assert "never" in shown(given)


def test_missing_answers_and_groups_have_names():
    """A group is told by one word for each column, and a missing answer is one of them."""
    array = [[0.5, 0.3, 0.2], [0.3, 0.5, 0.2], [0.05, 0.05, 0.9]]
    given = plan(a=nominal("x", "y", matrix="stochastic", array=array, missing="category"))
    assert given.explain().disclosed[0].says[0].startswith("Of 100 people reported as *missing*")
    both = plan(
        [{"columns": ["a", "b"], "matrix": "dense", "array": [[0, 1, 0, 0], [1, 0, 0, 0],
                                                              [0, 0, 0.5, 0.5], [0, 0, 0.5, 0.5]]}],
        a=nominal("x", "y"), b=nominal("p", "q"),
    )  # fmt: skip
    (told,) = both.explain().disclosed
    assert told.columns == ("a", "b")
    assert told.says == ("Of 100 people reported as *x, p*, none is; all are *x, q*.",)
    assert math.isinf(told.odds)
    assert " any " in shown(both)


def test_a_joint_domain_of_a_million_million_cells():
    """Nothing of the size of the domain is formed for it."""
    names = [f"c{place}" for place in range(12)]
    columns = {name: nominal(*"abcdefghij") for name in names}
    given = plan([{"columns": names, "matrix": "mixture", "epsilon": 20.0}], **columns)
    (told,) = given.explain().disclosed
    assert told.guess == pytest.approx(given.treated[" × ".join(names)].matrix.truth)
    assert told.respondents > 1
    assert told.says[0].startswith("Of 100 people reported as *a, a, a,")


def test_it_is_json_that_says_infinite_in_words():
    """What a machine reads."""
    given = plan(a=nominal("x", "y", "z", kind="ordinal", matrix="window", width=0))
    (told,) = json.loads(given.explain().text())["disclosed"]
    assert told["odds"] == "infinite"
    assert told["respondents"] == pytest.approx(1)
    assert told["says"] == ["Of 100 people reported as *x*, all are."]


def test_what_passes_is_not_told():
    """Only channels disclose through reports; the rest is warned of elsewhere."""
    assert plan(a=nominal("x", "y")).explain().disclosed == ()
