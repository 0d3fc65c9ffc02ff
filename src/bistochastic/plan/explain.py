"""What a plan guarantees, said before any data is touched."""

import math
from collections.abc import Iterator
from typing import Any

from bistochastic.errors import BistochasticError
from bistochastic.manifest import Explanation, Group, Published, Totals, Treatment, guarantee
from bistochastic.masking.permute import joint_bits
from bistochastic.matrices.closed import described
from bistochastic.plan.disclosed import disclosed
from bistochastic.plan.families import FAMILIES
from bistochastic.plan.marginals import marginal
from bistochastic.plan.model import Column
from bistochastic.plan.plan import Plan
from bistochastic.plan.treatments import JOINED, Treated, domain_of, individuals
from bistochastic.plan.warnings import warnings

__all__ = ["TREATMENTS", "explain", "totals"]

TREATMENTS: dict[str, Treatment] = {"permute": "permuted", "draw": "drawn", "average": "averaged"}


def explain(plan: Plan, *, rows: int | None = None) -> Explanation:
    """The guarantees of a plan; numeric columns need the number of rows to be told in full."""
    counted = plan.said.rows if rows is None else rows
    columns = tuple(_column(name, plan, counted) for name in plan.columns)
    groups = tuple(
        _group(str(group.matrix), plan.treated[JOINED.join(group.columns)])
        for group in plan.said.together
    )
    used = {str(column.matrix) for column in plan.columns.values() if column.matrix}
    used |= {str(group.matrix) for group in plan.said.together}
    return Explanation(
        release=plan.said.release,
        columns=columns,
        together=groups,
        totals=totals(plan),
        warnings=warnings(plan, columns, groups),
        families=tuple((name, FAMILIES[name].says) for name in FAMILIES if name in used),
        rows=counted,
        disclosed=tuple(disclosed(treated) for treated in plan.treated.values()),
    )


def _column(name: str, plan: Plan, rows: int | None) -> Published:
    column = plan.columns[name]
    said: dict[str, Any] = {"name": name, "role": column.role, "kind": column.kind}
    if column.categorical:
        said |= {"labels": column.labels or None, "missing": column.missing_rule}
    if column.role == "identifier" or (column.role == "household" and column.pseudonym):
        return Published(**said, treatment="pseudonyms" if column.pseudonym else "dropped")
    treated = plan.treated.get(name)
    if treated is not None:
        return Published(
            **said,
            treatment="randomised",
            matrix=column.matrix,
            channel=described(treated.matrix),
            guarantee=guarantee(treated.matrix, treated.exact),
        )
    if any(name in group.columns for group in plan.said.together):
        return Published(**said, treatment="together")
    if column.kind == "numeric" and column.matrix is not None:
        return _numeric(said, name, column, plan, rows)
    return Published(**said, treatment="untouched")


def _numeric(
    said: dict[str, Any], name: str, column: Column, plan: Plan, rows: int | None
) -> Published:
    """A column masked by ranks: its matrix is over individuals, so their number must be known."""
    by = column.by or "value"
    shown = {**said, "treatment": TREATMENTS[str(column.how)], "matrix": column.matrix}
    shown["missing"] = column.missing_rule
    if not rows:
        return Published(**shown, by=by)
    try:
        matrix = individuals(column, rows)
        exact = matrix.exact(allow_zeros=True)
        whole = joint_bits(exact) if column.how == "permute" else None
    except BistochasticError as error:
        raise plan.refused(("columns", name), error) from None
    return Published(
        **shown,
        by=by,
        channel=described(matrix),
        guarantee=guarantee(matrix, exact),
        joint_bits=None if whole is None else float(whole),
        individuals=rows,
    )


def _group(name: str, treated: Treated) -> Group:
    return Group(
        columns=treated.columns,
        matrix=name,
        channel=described(treated.matrix),
        guarantee=guarantee(treated.matrix, treated.exact),
    )


def totals(plan: Plan) -> Totals:
    """The categorical key and confidential columns together (Ruiz & Domingo-Ferrer 2022, 4).

    Untouched ones count as no bits and an infinite epsilon. For the conservative beta each column
    of a group counts with its own marginal channel, for the joint one with its share of the group.
    """
    parts = list(_parts(plan))
    spent = sum(bits for bits, _, _ in parts)
    possible = sum(most for _, most, _ in parts)
    each = sum(bits for bits, _ in _separately(plan))
    every = sum(most for _, most in _separately(plan))
    return Totals(
        bits=spent,
        max_bits=possible,
        conservative_beta=min(each / every, 1.0) if every else 1.0,
        joint_beta=min(spent / possible, 1.0) if possible else 1.0,
        epsilon=math.fsum(epsilon for _, _, epsilon in parts),
    )


def _parts(plan: Plan) -> Iterator[tuple[float, float, float]]:
    """Bits, most bits and epsilon of every channel, and of what is published as it is."""
    treated: set[str] = set()
    for part in plan.treated.values():
        treated |= set(part.columns)
        yield part.exact.bits, part.matrix.max_bits, part.exact.epsilon
    for most in _untouched(plan, treated):
        yield 0.0, most, math.inf


def _separately(plan: Plan) -> Iterator[tuple[float, float]]:
    """Bits and most bits of every column by itself."""
    treated: set[str] = set()
    for part in plan.treated.values():
        treated |= set(part.columns)
        for place, domain in enumerate(part.domains):
            yield marginal(part, place), math.log2(domain.size)
    for most in _untouched(plan, treated):
        yield 0.0, most


def _untouched(plan: Plan, treated: set[str]) -> Iterator[float]:
    for name, column in plan.columns.items():
        told = column.role in ("key", "confidential") and column.matrix is None
        if told and name not in treated and column.labels:
            yield math.log2(domain_of(column).size)
        elif told and name not in treated and column.kind != "numeric":
            yield 0.0  # of unknown size, but with an infinite epsilon
