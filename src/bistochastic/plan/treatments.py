"""From what a plan says to what is done: each column or group with its channel."""

import math
from dataclasses import dataclass
from typing import final

from bistochastic.errors import BistochasticError, ExactnessError, MatrixError
from bistochastic.matrices.base import Bistochastic, Channel
from bistochastic.matrices.calibration import calibrate
from bistochastic.matrices.exact import Exact
from bistochastic.matrices.taxonomy import Taxonomy
from bistochastic.plan.families import additive_distances, made
from bistochastic.plan.mistakes import Mistake
from bistochastic.plan.model import Column, PlanModel, Together
from bistochastic.tables.base import Domain
from bistochastic.tradeoff.distortions import squared

__all__ = ["JOINED", "Treated", "domain_of", "individuals", "of_columns"]

JOINED = " × "  # between the columns of a group


@final
@dataclass(frozen=True, slots=True, eq=False)
class Treated:
    """Categorical columns, one or several as one, with the channel they go through."""

    columns: tuple[str, ...]
    domains: tuple[Domain, ...]
    matrix: Channel
    exact: Exact


def of_columns(plan: PlanModel) -> tuple[dict[str, Treated], list[Mistake]]:
    """Every channel that needs no data, and what could not be made."""
    made_: dict[str, Treated] = {}
    failed: list[Mistake] = []
    for name, column in plan.columns.items():
        if column.categorical and column.matrix is not None:
            try:
                made_[name] = _alone(name, column)
            except BistochasticError as error:
                failed.append(Mistake(("columns", name), str(error)))
    for place, group in enumerate(plan.together):
        try:
            made_[JOINED.join(group.columns)] = _as_one(group, plan)
        except BistochasticError as error:
            failed.append(Mistake(("together", place), str(error)))
    return made_, failed


def domain_of(column: Column) -> Domain:
    """The domain of a categorical column as its channel sees it."""
    labels = column.labels
    other = labels.index(column.other) if column.other is not None else None
    return Domain(labels, column.missing_rule, other)


def _alone(name: str, column: Column) -> Treated:
    domain = domain_of(column)
    shape = dict(column.shape)
    if column.parents is not None:
        leaves = Taxonomy(column.parents, time=0.0).leaves
        if tuple(leaves) != tuple(domain.everything):
            raise MatrixError(
                "the leaves of the taxonomy (`parents`) must be the labels of the domain, in "
                'their order, and missing must be "keep" or "refuse"'
            )
    if column.matrix == "optimal-tradeoff" and column.kind == "ordinal" and "parents" not in shape:
        shape.setdefault("distances", squared(range(domain.size)))
    matrix = made(str(column.matrix), domain.size, column.targets, shape, column.prior)
    return Treated((name,), (domain,), matrix, _exact(matrix, column))


def _as_one(group: Together, plan: PlanModel) -> Treated:
    columns = [plan.columns[name] for name in group.columns]
    domains = tuple(domain_of(column) for column in columns)
    sizes = [domain.size for domain in domains]
    cells = math.prod(sizes)
    if group.matrix == "optimal":
        ordinal = [column.kind == "ordinal" for column in columns]
        costs = additive_distances(sizes, ordinal)
        matrix: Channel = calibrate(
            "optimal", cells, distances=costs, **group.targets, prior=group.prior
        )
    else:
        shape = dict(group.shape)
        if group.matrix == "optimal-tradeoff" and "distances" not in shape:
            ordinal = [column.kind == "ordinal" for column in columns]
            shape["distances"] = additive_distances(sizes, ordinal)
        matrix = made(str(group.matrix), cells, group.targets, shape, group.prior)
    return Treated(group.columns, domains, matrix, _exact(matrix, group))


def _exact(matrix: Channel, said: Column | Together) -> Exact:
    """The integers that are sampled; an epsilon that was asked for is never exceeded."""
    if said.allow_zeros:
        return matrix.exact(allow_zeros=True, max_epsilon=said.epsilon)
    form, vanished = matrix.integers(64)
    if vanished and not math.isinf(matrix.epsilon):
        raise ExactnessError(
            f"{vanished} of {form.size**2} reports are so rare that no 64-bit word would ever draw "
            f"them, which makes epsilon infinite. Ask for more bits, take a mixture, or accept it: "
            f"allow_zeros = true."
        )
    return matrix.exact(max_epsilon=said.epsilon)


def individuals(column: Column, n: int) -> Bistochastic:
    """The matrix over the n individuals of a numeric column."""
    matrix = made(str(column.matrix), n, column.targets, column.shape)
    if not isinstance(matrix, Bistochastic):  # the checks of a plan let no other through
        raise MatrixError(f"{matrix!r} is not bistochastic, as ranks need it")
    return matrix
