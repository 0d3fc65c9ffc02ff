"""What an intruder can learn from a treated column, and what that costs those who estimate."""

import math
from collections.abc import Iterator

from bistochastic.errors import MatrixError, SingularMatrixError
from bistochastic.manifest import Disclosed
from bistochastic.matrices.base import HOPELESS, Channel
from bistochastic.measures.design import largest_design_effect
from bistochastic.measures.disclosure import Disclosure, disclosure
from bistochastic.measures.worst import largest_increase
from bistochastic.plan.treatments import Treated

__all__ = ["disclosed"]

MISSING = "missing"  # how a missing value is called where it is a category


def disclosed(treated: Treated) -> Disclosed:
    """The report that tells most, if all truths are equally likely, and the worst for any prior."""
    matrix, epsilon = treated.matrix, treated.exact.epsilon
    told = disclosure(matrix)
    try:
        most = told.most_telling
        guess = float(told.guess[most])
        says = tuple(_sentences(treated, told, most))
    except MatrixError:  # too many categories to look at each report
        guess, says = None, ()
    respondents, recoverable = _respondents(matrix)
    return Disclosed(
        columns=treated.columns,
        guess=guess,
        odds=math.exp(epsilon) if epsilon < 709 else math.inf,
        increase=float(largest_increase(matrix)),
        respondents=respondents,
        recoverable=recoverable,
        says=says,
    )


def _respondents(matrix: Channel) -> tuple[float | None, bool]:
    """The largest design effect, unless the inverse is too large to look at, or there is none."""
    try:
        return largest_design_effect(matrix), True
    except SingularMatrixError:
        return None, False
    except MatrixError:
        return None, bool(matrix.condition < HOPELESS)


def _sentences(treated: Treated, told: Disclosure, most: int) -> Iterator[str]:
    """What the report that tells most means to people."""
    yield told.sentence(most, lambda code: _label(treated, code))
    if told.secret:
        yield told.summary


def _label(treated: Treated, code: int) -> str:
    """A category in words; in a group, one word for each column."""
    words = []
    for domain in reversed(treated.domains):
        code, digit = divmod(code, domain.size)
        missing = digit >= len(domain.labels)
        words.append(MISSING if missing else str(domain.labels[digit]))
    return ", ".join(reversed(words))
