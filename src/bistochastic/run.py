"""The way of a row, from a table and a plan to what may be published."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bistochastic import __version__
from bistochastic.errors import BistochasticError, TableError
from bistochastic.keystream import Key
from bistochastic.manifest import Manifest, Published, guarantee
from bistochastic.masking.joint import fold, unfold
from bistochastic.masking.numeric import How, average, draw, permute, uncertainty
from bistochastic.masking.pseudonyms import Pseudonyms
from bistochastic.masking.randomise import Randomiser
from bistochastic.masking.stretches import Means, Moves
from bistochastic.matrices.closed import described
from bistochastic.plan.explain import TREATMENTS
from bistochastic.plan.model import Column
from bistochastic.plan.plan import Plan
from bistochastic.plan.treatments import Treated, individuals
from bistochastic.release import Release
from bistochastic.tables.base import Drop, Names, Ranks, Recode, Rows, Step, Table
from bistochastic.tables.connections import is_database
from bistochastic.tables.local import Local
from bistochastic.tables.opening import from_place
from bistochastic.tables.sources import Source, from_frame, of_spark

__all__ = ["opened", "protect"]

Numbers = NDArray[Any]


def protect(
    table: Any,
    plan: Plan,
    key: Key | None = None,
    *,
    engine: Literal["local", "spark"] = "local",
    on_rows: Callable[[int], None] = lambda rows: None,
) -> Release:
    """Protect a table as a plan says, with exactly the guarantee that `plan.explain()` told.

    Args:
        table: The path of a file, the address of a table in a database, or a dataframe of pandas,
            Polars, PyArrow, DuckDB or Spark.
        plan: What each column is, and what is done to it.
        key: The secret; a fresh one, which nobody keeps, unless given.
        engine: Who reads a file: this process, or the workers of a session of Spark. A frame of
            Spark stays there in any case.
        on_rows: Told how many more rows have been masked, as they are.

    >>> import polars as pl
    >>> import bistochastic as bs
    >>> plan = bs.Plan(
    ...     release="survey 2026",
    ...     columns={
    ...         "smoker": dict(role="confidential", kind="nominal", domain=["no", "yes"],
    ...                        missing="refuse", matrix="mixture", epsilon=1.0),
    ...         "name": dict(role="identifier"),
    ...     },
    ... )
    >>> people = pl.DataFrame({"name": ["Ann", "Bob"], "smoker": ["no", "yes"]})
    >>> bs.protect(people, plan).data.columns
    ['smoker']
    """
    source = opened(table, plan)
    refuse_strangers(source, plan)
    secret = Key.new() if key is None else key
    ranked: dict[str, Published] = {}
    steps = bound(plan, secret, ranked)
    rows_ = carried(table, source, steps, plan, engine, on_rows)
    rows = -1 if source.text and not ranked else rows_.counted()
    return Release(rows_, told(plan, rows, ranked))


def carried(
    table: Any,
    source: Source,
    steps: tuple[Step, ...],
    plan: Plan,
    engine: str,
    on_rows: Callable[[int], None],
) -> Table:
    """The table in the hands of an engine, which has looked at what needs all of a column."""
    records = plan.said.records
    if engine not in ("local", "spark"):
        raise TableError(f'An engine is "local" or "spark"; got {engine!r}.')
    if not of_spark(table) and engine == "local":
        return Local(source, steps, records, on_rows).prepared()
    if not (of_spark(table) or isinstance(table, str | Path)):
        raise TableError(
            f"{source.where[:1].upper()}{source.where[1:]} is in this process, which masks it "
            f"without Spark. Give a path or a frame of Spark, or leave the engine out."
        )
    if is_database(table):
        raise TableError(
            "Spark reads databases in pieces of its own. Let it: give the frame that "
            "spark.read.jdbc makes, or leave the engine out."
        )
    return spark().Spark.of(table, source, steps, records, on_rows).prepared()


def spark() -> Any:
    """The engine of Spark, where it is installed."""
    try:
        from bistochastic.tables.spark import table

        return table
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.startswith("bistochastic"):
            raise
        raise TableError(
            'Spark is not installed. Install it: pip install "bistochastic[spark]", and Java 17.'
        ) from None


def opened(table: Any, plan: Plan) -> Source:
    """The table as it can be read, again and again, in one order."""
    if isinstance(table, str | Path):
        file, records = plan.said.file, plan.said.records
        return from_place(table, delimiter=file.delimiter, missing=file.missing, records=records)
    return from_frame(table)


def refuse_strangers(source: Source, plan: Plan) -> None:
    """Refuse a table whose columns are not exactly those of the plan."""
    missing = [name for name in plan.columns if name not in source.names]
    if missing:
        raise TableError(
            f"The plan names {len(missing)} columns that {source.where} does not have: "
            f"{', '.join(map(repr, missing))}. It has {', '.join(map(repr, source.names))}."
        )
    unknown = [name for name in source.names if name not in plan.columns]
    if unknown:
        raise TableError(
            f"{source.where} has {len(unknown)} columns that the plan does not name: "
            f"{', '.join(map(repr, unknown))}. Nothing is published by accident: give each a role, "
            f'"plain" if it may pass, "identifier" if it must go.'
        )


def bound(plan: Plan, key: Key, ranked: dict[str, Published]) -> tuple[Step, ...]:
    """The steps of a plan with the words of a key; what ranks turn out to be is noted."""
    steps: list[Step] = [randomised(part, plan, key) for part in plan.treated.values()]
    for name, column in plan.columns.items():
        if column.role == "identifier" and not column.pseudonym:
            steps.append(Drop(name))
        elif column.pseudonym:
            names = Pseudonyms.of(key, release=plan.said.release, column=name)
            steps.append(Names(name, names.of_ids))
        elif column.kind == "numeric" and column.matrix is not None:
            steps.append(by_ranks(name, column, plan, key, ranked))
    return tuple(steps)


def randomised(part: Treated, plan: Plan, key: Key) -> Recode:
    """A channel that meets its columns, several of them as one."""
    alone = len(part.columns) == 1
    worker = Randomiser.of(
        part.exact,
        key,
        release=plan.said.release,
        column=part.columns[0] if alone else part.columns,
        domain=_labels(part),
    )
    sizes = [domain.size for domain in part.domains]

    def kernel(codes: tuple[Numbers, ...], rows: Rows, ids: Any) -> tuple[Numbers, ...]:
        true = codes[0] if alone else fold(codes, sizes)
        if ids is not None:
            reports = worker.records(ids, true)
        elif isinstance(rows, int):
            reports = worker.rows(true, rows)
        else:
            reports = worker.at(rows, true)
        return (reports,) if alone else unfold(reports, sizes)

    return Recode(part.columns, part.domains, kernel)


def _labels(part: Treated) -> list[Any]:
    """The labels that the words of a channel depend on: a list, or a list for each column."""
    lists = [list(domain.everything) for domain in part.domains]
    return lists[0] if len(lists) == 1 else lists


def by_ranks(name: str, column: Column, plan: Plan, key: Key, noted: dict[str, Published]) -> Ranks:
    """A matrix over individuals that meets a numeric column, once their number is known."""
    how = str(column.how)

    def kernel(values: Numbers, order: Numbers | None) -> Numbers:
        if not values.size:
            return np.zeros(0, dtype=np.int64)
        try:
            matrix = individuals(column, values.size)
            noted[name] = _noted(name, column, matrix, how)
            if how == "average":
                return average(values, matrix, by=order, insist=column.insist)
            moved = {"draw": draw, "permute": permute}[how]
            extra = {"insist": column.insist} if how == "permute" else {}
            places = np.arange(values.size)
            ordered = values if order is None else order
            return moved(
                places, matrix, key, release=plan.said.release, column=name, by=ordered, **extra
            )
        except BistochasticError as error:
            raise plan.refused(("columns", name), error) from None

    def stretched(size: int) -> Means | Moves:
        try:
            matrix = individuals(column, size)
            noted[name] = _noted(name, column, matrix, how)
            if how == "average":
                return Means.of(matrix, insist=column.insist)
            asked: How = "draw" if how == "draw" else "permute"
            insist = column.insist
            named = {"release": plan.said.release, "column": name}
            return Moves.of(matrix, key, how=asked, insist=insist, **named)
        except BistochasticError as error:
            raise plan.refused(("columns", name), error) from None

    by = None if column.by in (None, "value", "position") else column.by
    return Ranks(name, by, how == "average", kernel, column.by == "position", stretched)


def _noted(name: str, column: Column, matrix: Any, how: str) -> Published:
    exact = matrix.exact(allow_zeros=True)
    joint = None if how == "average" else float(uncertainty(matrix, how).joint_bits)  # type: ignore[arg-type]
    return Published(
        name=name,
        role=column.role,
        kind=column.kind,
        treatment=TREATMENTS[how],
        matrix=column.matrix,
        missing=column.missing_rule,
        channel=described(matrix),
        guarantee=guarantee(matrix, exact),
        by=column.by or "value",
        joint_bits=joint,
        individuals=matrix.size,
    )


def told(plan: Plan, rows: int, ranked: dict[str, Published]) -> Manifest:
    """The manifest of a release: what was explained, with what the data made certain."""
    said = plan.explain()
    return Manifest(
        format=1,
        version=__version__,
        release=plan.said.release,
        rows=rows,
        addressed_by="rows" if plan.said.records is None else "records",
        columns=tuple(ranked.get(column.name, _unranked(column)) for column in said.columns),
        together=said.together,
        totals=said.totals,
        warnings=said.warnings,
        plan=plan.dump(),
    )


def _unranked(column: Published) -> Published:
    """A column without ranks; one of numbers that nobody has is over nobody, whatever was planned.

    A plan may say how many rows it expects, and explain the matrix over so many.
    """
    if column.treatment not in TREATMENTS.values():
        return column
    none = {"channel": None, "guarantee": None, "joint_bits": None, "individuals": 0}
    return column.model_copy(update=none)
