"""A model of a release: a formula whose columns have become numbers of cells and of records."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.analyst.analysis import codes_of, folded, refuse_weights
from bistochastic.analyst.formula import Formula
from bistochastic.analyst.reported import Reported
from bistochastic.analyst.sides import Side
from bistochastic.errors import TableError
from bistochastic.estimate.correction import Correction, refuse_lost
from bistochastic.estimate.design import Data, Design, Part
from bistochastic.estimate.latent import Latent
from bistochastic.estimate.regression import Family
from bistochastic.tables.base import Domain
from bistochastic.tables.labels import spelled
from bistochastic.tables.records import Records, laid_out, numeric
from bistochastic.tables.tallies import labels_of, refuse_absent

__all__ = ["Model"]

Array = NDArray[Any]

INTERCEPT = "(intercept)"
MOST_LEVELS = 200  # of a category that makes predictors
RANDOMISED = ("randomised", "together")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A predictor: its name, what it is in each true cell, and its part in each record."""

    name: str
    cells: Array
    part: Part


@final
@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A formula, with the columns of a release that it needs."""

    reported: Reported
    sides: tuple[Side, ...]  # of the columns that were randomised
    read: Records
    reports: NDArray[np.int64]
    terms: tuple[Term, ...]
    response: Term
    kept: NDArray[np.bool_]  # the true cells in which no answer is missing
    groups: NDArray[np.int64]  # the randomised predictors in each true cell, as a number
    passing: dict[str, Array]  # the other predictors, as numbers
    continuous: bool  # whether some column of the formula is a number
    weights: Array | None

    @classmethod
    def of(
        cls, reported: Reported, asked: Formula, success: Any, family: Family, weight: str | None
    ) -> Self:
        """The columns read, and each of them turned into numbers."""
        names = (asked.response, *asked.columns)
        kinds = {name: _kind(reported, name) for name in names}
        sides = _sides(reported, [name for name in names if kinds[name] == "randomised"])
        passing = {name: _domain(reported, name) for name in names if kinds[name] == "category"}
        numbers = [name for name in names if kinds[name] == "number"]
        domains = passing | {
            name: domain
            for side in sides
            for name, domain in zip(side.columns, side.domains, strict=True)
        }
        read = laid_out(reported.source, domains, [*numbers, *([weight] if weight else [])])
        refuse_weights(reported, weight, read)
        read = read.where(_complete(read, passing, numbers))
        columns = _Columns(sides, read, passing)
        terms = [Term(INTERCEPT, np.ones(columns.cells), Part())]
        terms += [term for names_ in asked.terms for term in columns.product(names_)]
        told = columns.response(asked.response, success, family)
        weights = None if weight is None else read.numbers[weight]
        others = {
            name: read.numbers[name] if name in numbers else read.codes[name].astype(np.float64)
            for name in asked.columns
            if kinds[name] != "randomised"
        }
        return cls(
            reported,
            sides,
            read,
            folded(read, sides),
            tuple(terms),
            told,
            columns.kept,
            columns.groups(asked.response),
            others,
            bool(numbers),
            weights,
        )

    @property
    def correction(self) -> Correction:
        """What undoes the channels of the randomised columns."""
        return Correction(tuple(side.axis for side in self.sides))

    @property
    def names(self) -> list[str]:
        """What the coefficients are called."""
        return [term.name for term in self.terms]

    def design(self) -> Design:
        """What terms and response are in each true cell."""
        return Design(np.stack([term.cells for term in self.terms], axis=1), self.response.cells)

    def data(self) -> Data:
        """What they are in each record; records that are alike are told once, if all are labels."""
        parts = tuple(term.part for term in self.terms)
        data = Data(self.reports, parts, self.response.part, self.weights)
        if self.continuous or self.weights is not None:
            return data
        return data.told_once(self._alike())

    def latent(self) -> tuple[Data, Design, Latent]:
        """The same for a likelihood, with strata in which predictors have shares of their own."""
        self._refuse_partial()
        channel, n = self.correction.channel(), self.reports.size
        strata = np.zeros(n, np.int64)
        if self.groups.max(initial=0) and self.passing:
            lines = np.stack([*self.passing.values()], axis=1)
            strata = np.unique(lines, axis=0, return_inverse=True)[1].ravel().astype(np.int64)
        parts = tuple(term.part for term in self.terms)
        told = Part(numbers=(strata.astype(np.float64),))
        # The stratum rides along as one more predictor while records are told once.
        data = Data(self.reports, (*parts, told), self.response.part)
        if self.groups.max(initial=0) or not self.continuous:
            data = data.told_once([strata, *self._alike()])
        kept = data.predictors[-1].numbers[0].astype(np.int64)
        data = Data(data.reports, data.predictors[:-1], data.response, None, data.times)
        return data, self.design(), Latent(channel, self.groups, kept)

    def _alike(self) -> list[Array]:
        """The columns in which records differ, beside their reports."""
        n = self.reports.size
        return [*self.passing.values(), self.response.part.at(slice(None), n)]

    def _refuse_partial(self) -> None:
        whole = all(side.asked == side.columns for side in self.sides)
        if not whole or not self.kept.all():
            raise TableError(
                "The likelihood takes columns whose missing answers are no category and that were "
                "not protected together with columns outside the formula. Take method "
                '"moments".'
            )
        randomised = np.ptp(self.response.cells) > 0
        if self.groups.size != (1 + randomised) * np.unique(self.groups).size:
            raise TableError(
                "The likelihood takes a randomised response of two labels; of one with more, "
                'those that count as none have shares of their own. Take method "moments".'
            )


def _kind(reported: Reported, name: str) -> str:
    """How a column enters a model."""
    said = reported.manifest.column(name)
    if said.treatment in RANDOMISED:
        return "randomised"
    if said.treatment != "untouched":
        raise TableError(
            f"Column {name!r} cannot enter a regression: it was {said.treatment}, so its values do "
            f"not stand beside those of the same person. `within` may tell its mean within cells."
        )
    refuse_absent(reported.source, (name,))
    if said.kind is not None:
        return "number" if said.kind == "numeric" else "category"
    return "number" if numeric(reported.source, name) else "category"


def _sides(reported: Reported, names: Sequence[str]) -> tuple[Side, ...]:
    sides = reported.sides(names) if names else ()
    for side in sides:
        refuse_lost(side.axis, " × ".join(map(repr, side.asked)))
    return sides


def _domain(reported: Reported, name: str) -> Domain:
    """The labels of a category that was published as it is: those declared first, then others."""
    found, gaps = labels_of(reported.source, name)
    if len(found) > MOST_LEVELS:
        raise TableError(
            f"Column {name!r} has {len(found)} labels, too many for a coefficient each; at most "
            f"{MOST_LEVELS} are taken. Group them first."
        )
    declared = reported.manifest.column(name).labels or ()
    known = [label for label in declared if label in set(found)]
    others = [label for label in found if label not in set(known)]
    return Domain((*known, *others), "keep" if gaps else "refuse")


def _complete(
    read: Records, passing: dict[str, Domain], numbers: Sequence[str]
) -> NDArray[np.bool_]:
    """The records in which nothing is missing of what was published as it is."""
    kept = np.ones(read.rows, dtype=bool)
    for name, domain in passing.items():
        kept &= read.codes[name] < len(domain.labels)
    for name in numbers:
        kept &= ~np.isnan(read.numbers[name])
    if not kept.any():
        raise TableError("No row has all the columns that the formula names.")
    return kept


@final
class _Columns:
    """The columns of a model, as predictors."""

    def __init__(self, sides: Sequence[Side], read: Records, passing: dict[str, Domain]) -> None:
        self.read, self.passing = read, passing
        self.codes = codes_of(sides)
        self.labels = {name: side.values(name) for side in sides for name in side.asked}
        self.cells = len(next(iter(self.codes.values()))) if self.codes else 1
        self.kept = np.ones(self.cells, dtype=bool)
        for name, codes in self.codes.items():
            if self.labels[name][-1] is None:
                self.kept &= codes < len(self.labels[name]) - 1

    def groups(self, response: str) -> NDArray[np.int64]:
        """A number for what each true cell holds beside the response."""
        lines = [codes for name, codes in self.codes.items() if name != response]
        if not lines:
            return np.zeros(self.cells, np.int64)
        return np.unique(np.stack(lines, axis=1), axis=0, return_inverse=True)[1].ravel()

    def product(self, names: Sequence[str]) -> Iterator[Term]:
        """The predictors of a term: one for each combination of labels that are not the first."""
        for several in product(*(list(self._each(name)) for name in names)):
            cells = np.prod([one.cells for one in several], axis=0)
            numbers = tuple(number for one in several for number in one.part.numbers)
            levels = tuple(level for one in several for level in one.part.levels)
            yield Term(":".join(one.name for one in several), cells, Part(numbers, levels))

    def response(self, name: str, success: Any, family: Family) -> Term:
        """The response: a number, or whether a category is the label that counts as one."""
        labels = self._labels(name)
        if labels is None:
            if success is not None:
                raise TableError(
                    f"Column {name!r} is a number, which has no label to count as one."
                )
            numbers = self.read.numbers[name]
            if family == "logistic" and not np.isin(numbers, (0.0, 1.0)).all():
                raise TableError(
                    f"A logistic regression needs a response of 0 and 1, or a category; column "
                    f"{name!r} holds other numbers."
                )
            return next(self._each(name))
        if success is None and len(labels) > 2:  # a guess, or numbers with a stray word among them
            raise TableError(
                f"Column {name!r} has {len(labels):,} labels, and one of them has to count as one. "
                f"Say which: `success`, or --success."
            )
        wanted = labels[-1] if success is None else success
        if wanted not in labels:
            raise TableError(
                f"Column {name!r} has no label {wanted!r}; it has {len(labels)} others."
            )
        return self._level(name, labels.index(wanted), wanted)

    def _labels(self, name: str) -> tuple[Any, ...] | None:
        """The labels of a category, missing not being one; none of a number."""
        if name in self.passing:
            return self.passing[name].labels
        if name in self.labels:
            return tuple(label for label in self.labels[name] if label is not None)
        return None

    def _each(self, name: str) -> Iterator[Term]:
        labels = self._labels(name)
        if labels is None:
            part = Part(numbers=(self.read.numbers[name],))
            yield Term(name, np.ones(self.cells), part)
            return
        for code, label in enumerate(labels[1:], start=1):
            yield self._level(name, code, label)

    def _level(self, name: str, code: int, label: Any) -> Term:
        called = f"{name}={spelled(label)}"
        if name in self.passing:
            levels = ((self.read.codes[name], code),)
            return Term(called, np.ones(self.cells), Part(levels=levels))
        return Term(called, (self.codes[name] == code).astype(np.float64), Part())
