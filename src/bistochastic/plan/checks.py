"""What must hold between the parts of a plan, each rule a few lines."""

from collections.abc import Iterator

from bistochastic.plan.families import FAMILIES, LARGEST_DISTANCES
from bistochastic.plan.mistakes import Mistake
from bistochastic.plan.model import Column, PlanModel, Together

__all__ = ["mistakes"]

Path = tuple[str | int, ...]

PASSING = ("plain", "weight")
ALONE = ("matrix", "how")


def mistakes(plan: PlanModel) -> list[Mistake]:
    """Everything that no single key shows."""
    found: list[Mistake] = []
    for name, column in plan.columns.items():
        found += _of_column(name, column, plan)
    for place, group in enumerate(plan.together):
        found += _of_group(place, group, plan)
    if plan.records is not None and plan.records not in plan.columns:
        found.append(Mistake(("records",), f"names {plan.records!r}, which is no column here."))
    return found


def _of_column(name: str, column: Column, plan: PlanModel) -> Iterator[Mistake]:
    here = ("columns", name)
    if not name:
        yield Mistake(here, "has no name.")
    if column.role in ("identifier", "household", *PASSING):
        yield from _passing(here, column)
        return
    if column.pseudonym:
        yield Mistake((*here, "pseudonym"), "is for identifiers and households.")
    grouped = any(name in group.columns for group in plan.together)
    if column.kind is None and (column.matrix or grouped or column.domain):
        yield Mistake(here, 'needs a kind: "nominal", "ordinal" or "numeric".')
        return
    if column.matrix is None and not grouped:
        for given in (*column.targets, *column.shape):
            yield Mistake((*here, given), "asks for something of no matrix: name one (`matrix`).")
    if grouped:
        for given in (*ALONE, *column.targets, *column.shape):
            if given in ALONE and getattr(column, given) is None:
                continue
            yield Mistake(
                (*here, given), "belongs to the [[together]] group that treats this column."
            )
    if column.categorical:
        yield from _categorical(here, column, grouped)
    elif column.kind == "numeric":
        yield from _numeric(here, name, column, plan, grouped)
    if column.matrix is not None and not grouped:
        yield from _matrix(here, column, column.kind == "numeric")


def _passing(here: Path, column: Column) -> Iterator[Mistake]:
    said = [name for name in ALONE if getattr(column, name) is not None]
    for given in (*said, *column.targets, *column.shape):
        yield Mistake(
            (*here, given),
            f"does not go with the role {column.role!r}, which is never randomised. Make it a key "
            f"or confidential column.",
        )
    if column.pseudonym and column.role in PASSING:
        yield Mistake((*here, "pseudonym"), "is for identifiers and households.")


def _categorical(here: Path, column: Column, grouped: bool) -> Iterator[Mistake]:
    if column.domain is not None and column.domain_file is not None:
        yield Mistake((*here, "domain_file"), "is given, and domain too: one of them rules.")
    if (column.matrix or grouped) and not column.labels and column.domain_file is None:
        yield Mistake(
            here,
            "needs its domain, the list of its labels. It is never learnt from the data in "
            "silence: `inspect` proposes one for you to check.",
        )
    for given in ("how", "by", "insist"):
        if getattr(column, given):
            yield Mistake((*here, given), "is for numeric columns.")
    if column.other is not None and column.labels and column.other not in column.labels:
        yield Mistake((*here, "other"), "must be one of the labels of the domain.")


def _numeric(
    here: Path, name: str, column: Column, plan: PlanModel, grouped: bool
) -> Iterator[Mistake]:
    for given in ("domain", "domain_file", "other", "prior"):
        if getattr(column, given) is not None:
            yield Mistake((*here, given), "is for categorical columns; this one is numeric.")
    if column.missing == "category":
        yield Mistake((*here, "missing"), 'of a numeric column is "keep" or "refuse".')
    if column.matrix is not None and column.how is None:
        yield Mistake(here, 'needs how = "permute" (margins stay exact), "draw" or "average".')
    if column.how is not None and column.matrix is None and not grouped:
        yield Mistake((*here, "how"), "is said, but no matrix: name one (`matrix`).")
    if column.by not in (None, "value", "position"):
        other = plan.columns.get(str(column.by))
        if other is None or column.by == name:
            yield Mistake((*here, "by"), 'must be "value", "position" or another column.')


def _matrix(here: Path, column: Column | Together, ranks: bool) -> Iterator[Mistake]:
    """Whether a matrix goes with what is asked of it."""
    name = str(column.matrix)
    family = FAMILIES.get(name)
    if family is None:
        yield Mistake((*here, "matrix"), f"must be one of {', '.join(FAMILIES)}; got {name!r}.")
        return
    fixed = [given for given in family.shape if given in column.shape]
    for given in column.shape:
        if given not in (*family.shape, *family.options):
            yield Mistake((*here, given), f"is no parameter of the matrix {name!r}.")
    if column.targets and not family.targets:
        given = next(iter(column.targets))
        yield Mistake((*here, given), f"cannot be asked of the matrix {name!r}, which is fixed.")
    elif column.targets and fixed:
        yield Mistake(
            (*here, fixed[0]), f"fixes the matrix, and {next(iter(column.targets))} asks for one."
        )
    elif len(fixed) > 1:
        yield Mistake((*here, fixed[1]), f"fixes the matrix, which {fixed[0]} does already.")
    elif not column.targets and not fixed and (family.targets or family.shape):
        yield Mistake(here, f"needs to say of the matrix {name!r} {_wanted(name)}.")
    if name == "optimal-tradeoff":
        yield from _of_joint(here, column)
    if column.prior is not None and column.deniability is None and name != "invariant":
        yield Mistake((*here, "prior"), "goes with deniability, or with an invariant matrix.")
    if column.joint_file is not None and name != "optimal-tradeoff":
        yield Mistake((*here, "joint_file"), f"is no parameter of the matrix {name!r}.")
    if isinstance(column, Column):
        yield from _fitting(here, column, ranks)


def _of_joint(here: Path, column: Column | Together) -> Iterator[Mistake]:
    """Whether an optimal trade-off says of which joint law it is optimal."""
    if column.joint is None and column.joint_file is None:
        yield Mistake(
            here,
            "needs the joint table that it is optimal for, a row for each confidential value and a "
            "column for each label (`joint`, or `joint_file`). It is never learnt from the data.",
        )
    if column.joint is not None and column.joint_file is not None:
        yield Mistake((*here, "joint_file"), "is given, and joint too: one of them rules.")
    if column.parents is not None and column.distances is not None:
        yield Mistake((*here, "distances"), "are given, and parents too: one of them rules.")


def _fitting(here: Path, column: Column, ranks: bool) -> Iterator[Mistake]:
    """Whether a matrix goes with the kind of a column."""
    name = str(column.matrix)
    family = FAMILIES[name]
    if ranks and not family.doubly:
        yield Mistake((*here, "matrix"), f"{name!r} is not bistochastic, as ranks need it.")
    if ranks and (column.parents is not None or name in ("dense", "circulant")):
        yield Mistake((*here, "matrix"), f"{name!r} is for categories, not for individuals.")
    if column.width_share is not None and not ranks:
        yield Mistake((*here, "width_share"), "is a share of the ranks of a numeric column.")
    ordered = family.ordered and column.parents is None
    if column.kind == "nominal" and ordered:
        yield Mistake(
            (*here, "matrix"),
            f'{name!r} takes neighbours in the domain to be alike. Say kind = "ordinal" if they '
            f"are, give a taxonomy (`parents`) to diffusion, or take a mixture.",
        )


def _wanted(name: str) -> str:
    family = FAMILIES[name]
    if not family.targets:
        return f"what it is: {' or '.join(family.shape)}"
    if name == "invariant":
        return "truth, that of its mixture"
    shape = f", or of what shape: {' or '.join(family.shape)}" if family.shape else ""
    return f"how private: beta, bits, epsilon, truth, k or deniability{shape}"


def _of_group(place: int, group: Together, plan: PlanModel) -> Iterator[Mistake]:
    here = ("together", place)
    if len(set(group.columns)) < len(group.columns):
        yield Mistake((*here, "columns"), "names a column twice.")
    for name in group.columns:
        column = plan.columns.get(name)
        if column is None:
            yield Mistake((*here, "columns"), f"names {name!r}, which is no column here.")
        elif column.role not in ("key", "confidential"):
            yield Mistake((*here, "columns"), f"names {name!r}, whose role is {column.role!r}.")
        elif not column.categorical:
            yield Mistake((*here, "columns"), f"names {name!r}, which is not categorical.")
        elif column.missing == "keep":
            yield Mistake(
                ("columns", name, "missing"),
                'cannot be "keep" in a group: what is reported beside a missing value would tell '
                'of it. Say "category" or "refuse".',
            )
        if any(name in other.columns for other in plan.together[:place]):
            yield Mistake((*here, "columns"), f"names {name!r}, which another group has.")
    if group.matrix is None:
        yield Mistake(
            here,
            "needs a matrix: mixture, secrecy, optimal, dense, stochastic or optimal-tradeoff.",
        )
    elif (
        group.matrix in FAMILIES
        and not FAMILIES[group.matrix].product
        and (group.matrix != "optimal")
    ):
        yield Mistake(
            (*here, "matrix"),
            f"{group.matrix!r} has no meaning on combinations of columns. Choose mixture, secrecy, "
            f"dense or stochastic, or optimal for up to {LARGEST_DISTANCES} of them.",
        )
    else:
        yield from _matrix(here, group, ranks=False)
