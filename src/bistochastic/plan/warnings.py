"""What a methodologist would say about a plan."""

import difflib
from collections.abc import Iterator

from bistochastic.manifest import Group, Guarantee, Published
from bistochastic.plan.model import Column
from bistochastic.plan.plan import Plan

__all__ = ["warnings"]

LITTLE = 1.0  # bits; an intruder who faces less than a coin
MUCH = 2.0  # an epsilon that by itself promises little
ALIKE = 0.8  # how similar the names of twins are
SHOWN = 4  # columns named in a warning
ILL = 1e4  # a condition beyond which estimates say nothing in files of usual size


def warnings(
    plan: Plan, columns: tuple[Published, ...], groups: tuple[Group, ...]
) -> tuple[str, ...]:
    """Warnings in the order of the columns, the gravest of each first."""
    found: list[str] = list(_learnt(plan))
    for published in columns:
        column = plan.columns[published.name]
        found += _of_column(published, column)
        if published.guarantee is not None:
            found += _of_guarantee(
                f"Column {published.name!r}", published.guarantee, column.targets
            )
    for group, said in zip(groups, plan.said.together, strict=True):
        name = "The group " + " × ".join(map(repr, group.columns))
        found += _of_guarantee(name, group.guarantee, said.targets)
    found += _joint(plan)
    found += _twins(columns)
    if plan.said.records is not None:
        found.append(
            f"Answers are permanent for a record id in {plan.said.records!r}: published again "
            f"under this release and key they are the same, and one that changes tells that the "
            f"truth did."
        )
    return tuple(found)


def _learnt(plan: Plan) -> Iterator[str]:
    """Domains that were read off the data, in one sentence."""
    names = [repr(name) for name, column in plan.columns.items() if column.learnt]
    if names:
        shown = ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
        yield (
            f"{len(names)} domains were read off the data ({shown}): that a label exists tells "
            f"that somebody has it. Replace them by code lists that are public."
        )


def _joint(plan: Plan) -> Iterator[str]:
    """Joint tables, which stand in the plan, and so in what is published."""
    names = [repr(name) for name, column in plan.columns.items() if column.joint is not None]
    names += [" × ".join(map(repr, group.columns)) for group in plan.said.together if group.joint]
    if names:
        yield (
            f"The joint table that {', '.join(names)} is optimal for is published with the plan: "
            f"take one that is public, or that people may know."
        )


def _of_column(published: Published, column: Column) -> Iterator[str]:
    name = repr(published.name)
    if published.treatment == "untouched" and column.role == "key":
        yield (
            f"Column {name} is a key and passes untouched: whoever knows its value of somebody can "
            f"look for it."
        )
    if published.treatment == "untouched" and column.role == "confidential":
        yield f"Column {name} is confidential and passes untouched: its values are published."
    if column.missing == "keep" and column.matrix is not None and column.categorical:
        yield f"Column {name} keeps its missing values: the file tells exactly who gave no answer."
    family = column.matrix in ("tridiagonal", "window", "diffusion", "optimal")
    if family and column.kind == "ordinal" and column.missing_rule == "category":
        yield (
            f"Column {name} counts missing as the category after its last label, and its matrix "
            f'takes those two to be alike. If none is missing, say so: missing = "refuse".'
        )
    if published.treatment == "averaged" and column.insist:
        yield f"Column {name} averages although that may determine values: you insist."


def _of_guarantee(name: str, given: Guarantee, targets: dict[str, float]) -> Iterator[str]:
    ranks = given.categories > 1 and given.family in ("blocks", "window") and not targets
    deniable = given.deniable_bits
    if deniable is not None and deniable <= 0 and not ranks:
        yield (
            f"{name} has a report that leaves no doubt at all: whoever gives it has told the "
            f"truth, or a known other value."
        )
    elif set(targets) == {"epsilon"} and given.epsilon > MUCH and (deniable or 0.0) < LITTLE:
        yield (
            f"{name} is asked for by epsilon alone, and epsilon {given.epsilon:.3g} leaves an "
            f"intruder a die with {given.sides or 1:.1f} sides. Ask for deniability too."
        )
    elif given.min_row_bits <= 0 < given.bits:
        yield f"{name} reports some value always alike: its mean of bits hides a row of none."
    if given.recoverable and given.condition > ILL:
        yield (
            f"{name} can be estimated from in principle only: errors grow up to "
            f"{given.condition:.1g} times."
        )


def _twins(columns: tuple[Published, ...]) -> Iterator[str]:
    """Columns that seem to say the same, one protected and one not."""
    touched = [c for c in columns if c.treatment not in ("untouched", "dropped", "pseudonyms")]
    bare = [c for c in columns if c.treatment == "untouched" and c.role != "weight"]
    for one in touched:
        for other in bare:
            if _alike(one, other):
                yield (
                    f"Column {one.name!r} is protected, and {other.name!r}, which seems to tell "
                    f"the same, passes untouched. Protect both together, or drop one."
                )


def _alike(one: Published, other: Published) -> bool:
    if one.labels and one.labels == other.labels and len(one.labels) > 2:
        return True
    first, second = one.name.lower(), other.name.lower()
    shorter, longer = sorted((first, second), key=len)
    begins = len(shorter) > 2 and longer.startswith(shorter) and not longer[len(shorter)].isalpha()
    return begins or difflib.SequenceMatcher(None, first, second).ratio() > ALIKE
