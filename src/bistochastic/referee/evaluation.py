"""Evaluation: any masked file against its original, whoever made it, on one honest scale."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MeasureError
from bistochastic.manifest import Manifest
from bistochastic.measures.attributes import Metric, Scale
from bistochastic.measures.closeness import Anonymity, Closeness
from bistochastic.measures.figures import Figure
from bistochastic.measures.linkage import Linkage
from bistochastic.measures.permutation import Displacement, information_loss
from bistochastic.measures.permuted import PermutedColumn, records_failing
from bistochastic.measures.windows import Criterion
from bistochastic.plan.plan import Plan
from bistochastic.referee import appraisal
from bistochastic.referee.account import Account, accounted, tabled
from bistochastic.referee.pairing import Declared, Kind, Pair, paired
from bistochastic.referee.through import through

__all__ = ["Evaluation", "evaluate"]

Side = Literal["original", "masked"]


@final
class Evaluation:
    """A masked file against its original. Made by `evaluate`; each question is a method.

    `figures` answers all of them at once, by section; `frame()` the same as a table.
    """

    def __init__(self, pair: Pair, keys: Sequence[str], confidential: Sequence[str]) -> None:
        self.pair, self.keys, self.confidential = pair, tuple(keys), tuple(confidential)
        self._sections: dict[str, tuple[Figure, ...]] = {}
        for name in (*keys, *confidential):
            pair.column(name)  # refuses names that are not compared

    @cached_property
    def displacements(self) -> dict[str, Displacement]:
        """How far records moved, by column with an order."""
        if not self.pair.linked:
            return {}
        found = {}
        for name, column in self.pair.columns.items():
            if column.ordered:
                try:
                    found[name] = appraisal.displaced(self.pair, name)
                except MeasureError:  # nobody has a value before and after
                    continue
        return found

    @property
    def ordered(self) -> tuple[str, ...]:
        """The columns with an order in which somebody has a value before and after."""
        return tuple(self.displacements)

    def displacement(self, column: str) -> Displacement:
        """How far masking moved each record of a column that has an order."""
        if column in self.displacements:
            return self.displacements[column]
        return appraisal.displaced(self.pair, column)

    def protection(self, column: str, alpha: ArrayLike = 1.0, *, rescaled: bool = False) -> Any:
        r"""$D(\alpha)$ of a column, in ranks or as a share of n - 1: larger is safer."""
        return _as_asked(self.displacement(column).protection(alpha, rescaled=rescaled))

    def moved(self, column: str) -> float:
        """The share of records that are elsewhere or, without an order, another: T."""
        if self.pair.column(column).ordered:
            return self.displacement(column).moved
        return appraisal.moved(self.pair, column)

    def information_loss(
        self, pair: tuple[str, str], theta: ArrayLike = 1.0, *, rescaled: bool = False
    ) -> Any:
        r"""$I(\theta)$ of two columns, in ranks or as a share of 2(n - 1): larger is worse."""
        one, other = (self.displacement(name) for name in pair)
        return _as_asked(information_loss(one, other, theta, rescaled=rescaled))

    def permuted(self, column: str) -> PermutedColumn:
        """How far each masked value is from the one that looks like the record, and who is near."""
        return appraisal.permuted(self.pair, column)

    def permuted_privacy(self, shares: Sequence[float] = (1.0, 0.95, 0.5)) -> Any:
        """The (d, v) that so large shares of the records attain in each column, as a table.

        d is in ranks, v the distinct values, or the variance, of all that is masked within d ranks.
        """
        return tabled([("protection", f) for f in appraisal.permuted_figures(self.pair, shares)])

    def failing(
        self,
        d: Mapping[str, int],
        v: Mapping[str, float] | None = None,
        *,
        criterion: Criterion = "variance",
    ) -> NDArray[np.int64]:
        """The rows of the original, from 0, for which (d, v)-permuted privacy does not hold."""
        found = records_failing(
            {name: self.permuted(name) for name in d}, d, v, criterion=criterion
        )
        return self.pair.linked_rows[found]

    def linkage(
        self,
        columns: Sequence[str] | None = None,
        *,
        scale: Scale = "ranks",
        metric: Metric = "euclidean",
        level: float = 0.95,
    ) -> Linkage:
        """Linkage by an intruder who knows these columns of every record, or all of them.

        Args:
            columns: What the intruder knows; everything unless given.
            scale: Compares "ranks" in the own file, or "values" in standard deviations.
            metric: "euclidean", "manhattan" or "chebyshev".
            level: The confidence of the interval.
        """
        return appraisal.links(self.pair, columns, scale=scale, metric=metric, level=level)

    def channel_linkage(self, manifest: Manifest, *, level: float = 0.95) -> tuple[Linkage, float]:
        """Linkage by an intruder who knows the matrices of a release too, and the true weight.

        The risk that is left after randomisation: who is near is of no account, only how likely.
        """
        return through(self.pair, manifest, level=level)

    def anonymity(self, keys: Sequence[str] | None = None, *, of: Side = "masked") -> Anonymity:
        """The classes that keys make in one of the files, and the k of k-anonymity."""
        return appraisal.keyed(self.pair, self.keys if keys is None else keys, of)

    def closeness(
        self,
        keys: Sequence[str] | None = None,
        confidential: str | None = None,
        *,
        of: Side = "masked",
    ) -> Closeness:
        """What the classes of the keys tell of a confidential column: l, t, delta, information."""
        name = confidential or next(iter(self.confidential), None)
        if name is None:
            raise MeasureError("Name the confidential column, of which classes may tell.")
        return appraisal.told_by(self.pair, self.anonymity(keys, of=of), name, of)

    def section(self, name: str) -> tuple[Figure, ...]:
        """The figures of one section, made when they are first asked for."""
        if name not in SECTIONS:
            raise MeasureError(f"There is no section {name!r}; there are {', '.join(SECTIONS)}.")
        if name not in self._sections:
            self._sections[name] = tuple(SECTIONS[name](self))
        return self._sections[name]

    @property
    def figures(self) -> dict[str, tuple[Figure, ...]]:
        """All figures by section."""
        return {name: self.section(name) for name in SECTIONS}

    @property
    def _lines(self) -> list[tuple[str, Figure]]:
        return [(name, figure) for name, figures in self.figures.items() for figure in figures]

    def utility(self) -> Any:
        """What distributions, associations and a propensity score lose, as a table."""
        return tabled([("utility", figure) for figure in self.section("utility")])

    def frame(self) -> Any:
        """All figures as a table, one in each row, with unit and direction."""
        return tabled(self._lines)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What to know before the figures are believed."""
        return (*_notes(self.pair), *self.pair.notes)

    def account(self) -> Account:
        """Everything found, in the form in which it is written."""
        return accounted(self.pair, self._lines, self.notes)

    def json(self) -> str:
        """Everything found as JSON; its schema is `bistochastic schema evaluation`."""
        return self.account().text()

    def text(self) -> str:
        """The page that a terminal shows."""
        from bistochastic.report.judged import evaluated
        from bistochastic.report.terminal import written

        return written(evaluated(self.account()))

    def __repr__(self) -> str:
        return (
            f"<Evaluation of {self.pair.after} masked records in {len(self.pair.columns)} columns, "
            f"{self.pair.linked} linked by {self.pair.by}>"
        )


SECTIONS: dict[str, Callable[[Evaluation], Iterable[Figure]]] = {
    "records": lambda found: appraisal.size_figures(found.pair),
    "protection": lambda found: chain(
        appraisal.protection_figures(found.pair, found.displacements),
        appraisal.permuted_figures(found.pair),
    ),
    "linkage": lambda found: appraisal.linkage_figures(found.pair),
    "closeness": lambda found: appraisal.closeness_figures(
        found.pair, found.keys, found.confidential
    ),
    "information loss": lambda found: appraisal.loss_figures(found.displacements),
    "utility": lambda found: appraisal.utility_figures(found.pair),
}


def evaluate(
    original: Any,
    masked: Any,
    *,
    plan: Plan | None = None,
    id: str | None = None,
    linked: bool = True,
    keys: Sequence[str] | None = None,
    confidential: Sequence[str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    orders: Mapping[str, Sequence[Any]] | None = None,
    distances: Mapping[str, tuple[Sequence[Any], Any]] | None = None,
    delimiter: str | None = None,
) -> Evaluation:
    """Judge a masked file against its original, whoever masked it and however.

    Args:
        original: The path of a file, or a dataframe of pandas, Polars, PyArrow or DuckDB.
        masked: The same, masked; its columns keep their names.
        plan: What is known of the columns: kinds, orders, which are keys, which confidential.
        id: The column that says who is who; records stand in the same order unless given.
        linked: Whether records of both files are the same at all; those of a synthetic file are
            not, and only what needs no link is measured.
        keys: The columns that make classes; those of the plan unless given.
        confidential: The columns that classes must not tell; those of the plan unless given.
        kinds: "nominal", "ordinal" or "numeric", by column, where the plan and types do not tell.
        orders: The labels of ordinal columns, in order.
        distances: Of nominal columns, their labels and a square array of distances between them.
        delimiter: What separates the cells of text files; guessed if not given.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [20, 31, 42, 53], "income": [10, 20, 30, 40]})
    >>> masked = pl.DataFrame({"age": [31, 20, 42, 53], "income": [10, 20, 30, 40]})
    >>> found = evaluate(people, masked)
    >>> round(found.protection("age"), 3), found.moved("age"), found.linkage().expected
    (0.5, 0.5, 0.75)
    """
    declared = _declared(plan, kinds, orders, distances)
    who = id
    if who is None and plan is not None and plan.said.records is not None:
        who = _in_both(plan.said.records, original, masked)
    pair = paired(
        original, masked, plan=plan, id=who, linked=linked, declared=declared, delimiter=delimiter
    )
    return Evaluation(
        pair,
        _roles(plan, "key", pair) if keys is None else keys,
        _roles(plan, "confidential", pair) if confidential is None else confidential,
    )


def _declared(
    plan: Plan | None,
    kinds: Mapping[str, Kind] | None,
    orders: Mapping[str, Sequence[Any]] | None,
    distances: Mapping[str, tuple[Sequence[Any], Any]] | None,
) -> Declared:
    """What the plan says of the columns, and what the caller says on top of it."""
    known: dict[str, Kind] = {}
    labels: dict[str, Sequence[Any]] = {}
    left_out = set()
    for name, column in plan.columns.items() if plan is not None else ():
        if column.role == "identifier" or column.pseudonym:
            left_out.add(name)
        if column.kind is not None:
            known[name] = column.kind
        if column.labels:
            labels[name] = column.labels
    for name in orders or {}:
        known[name] = "ordinal"
    return Declared(
        known | dict(kinds or {}),
        labels | dict(orders or {}),
        dict(distances or {}),
        frozenset(left_out),
    )


def _in_both(name: str, original: Any, masked: Any) -> str | None:
    """The record id of a plan, unless masking took it out."""
    from bistochastic.referee.pairing import names_of

    return name if all(name in names_of(table) for table in (original, masked)) else None


def _roles(plan: Plan | None, role: str, pair: Pair) -> list[str]:
    if plan is None:
        return []
    return [name for name, c in plan.columns.items() if c.role == role and name in pair.columns]


def _notes(pair: Pair) -> list[str]:
    """What was not measured, and on whom."""
    told = []
    if pair.partner is None:
        told.append(
            f"The original has {pair.before} records and the masked file {pair.after}, and nothing "
            f"says who is who: only what needs no link is measured, on all of both."
        )
    elif pair.linked < max(pair.before, pair.after):
        told.append(
            f"{pair.before - pair.linked} records of the original are not in the masked file, and "
            f"{pair.after - pair.linked} of that are not in the original: what compares records is "
            f"measured on the {pair.linked} that are in both."
        )
    if pair.linked and max(pair.before, pair.after) > appraisal.MANY:
        told.append("Linkage of so many records is left out here; ask for it by itself.")
    if len(pair.columns) > appraisal.MODEL:
        told.append("Pairs of so many columns and a propensity score are left out.")
    for names, where in ((pair.only_before, "original"), (pair.only_after, "masked file")):
        if names:
            told.append(f"Only in the {where}: {', '.join(names)}.")
    return told


def _as_asked(values: np.ndarray) -> Any:
    """One number for one order, several for several."""
    return float(values) if values.ndim == 0 else values
