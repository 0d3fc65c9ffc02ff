"""Comparison: several maskings of one file, ordered as far as everybody would agree.

One masking is above another in protection if its D(α) is at least as large in every column and for
every α ≤ 1, and in information if its I(θ) is at most as large for every pair of columns and every
θ ≥ 1: for every aversion to risk, and to loss. Where curves cross, no order is forced.
"""

import json
import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import combinations
from typing import Any, final

from pydantic import BaseModel, ConfigDict

from bistochastic.errors import MeasureError
from bistochastic.measures.dominance import Dominance, Side
from bistochastic.measures.permutation import relative_distances
from bistochastic.measures.preference import Preference, preference
from bistochastic.referee.account import Number
from bistochastic.referee.evaluation import Evaluation, evaluate

__all__ = ["Comparison", "Verdicts", "compare"]

SCORED = ("protection", "linkage", "information loss")
SIDES: tuple[Side, ...] = ("protection", "information")


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Crossing(_Said):
    """Two maskings in one column, or pair of columns: who is better, and where that changes."""

    side: str
    of: tuple[str, ...]
    first: str
    second: str
    verdict: str
    crossings: tuple[Number, ...]
    reason: str


class Standing(_Said):
    """The order in protection or in information: who is directly above whom, who is on top."""

    side: str
    best: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    undecided: tuple[tuple[str, str], ...]


class Score(_Said):
    """One masking in a few numbers."""

    name: str
    records: int
    protection: float | None  # mean D(1) of the columns, of what a random permutation gives
    linked: float | None  # the share that an intruder who knows everything gets right
    loss: float | None  # mean I(1) of the pairs


class Verdicts(_Said):
    """Everything a comparison found, for machines."""

    columns: tuple[str, ...]
    scores: tuple[Score, ...]
    standings: tuple[Standing, ...]
    comparisons: tuple[Crossing, ...]
    notes: tuple[str, ...]

    def text(self) -> str:
        """The same as JSON."""
        told = self.model_dump(mode="json")
        return json.dumps(told, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


@final
class Comparison:
    """Several maskings of one file. Made by `compare`; `protection` and `information` order them.

    `evaluations` holds each masking against the original, `columns` what all of them have and what
    has an order.
    """

    def __init__(self, evaluations: Mapping[str, Evaluation]) -> None:
        self.evaluations = dict(evaluations)
        self.columns = _common(self.evaluations)

    @property
    def names(self) -> tuple[str, ...]:
        """The maskings, as they were given."""
        return tuple(self.evaluations)

    @cached_property
    def protection(self) -> Preference:
        """Who protects more, in every column and for every aversion to risk."""
        return preference(
            {
                name: [found.displacement(column) for column in self.columns]
                for name, found in self.evaluations.items()
            }
        )

    @cached_property
    def information(self) -> Preference | None:
        """Who loses less, for every pair of columns and every aversion; none of a single column."""
        if len(self.columns) < 2:
            return None
        return preference(
            {
                name: [
                    relative_distances(found.displacement(one), found.displacement(other))
                    for one, other in self.pairs
                ]
                for name, found in self.evaluations.items()
            },
            in_="information",
        )

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of columns."""
        return tuple(combinations(self.columns, 2))

    def dominance(self, one: str, other: str, of: str | tuple[str, str]) -> Dominance:
        """Two maskings in one column, or pair of columns: who is better, and where it changes."""
        in_pairs = not isinstance(of, str)
        order = self.information if in_pairs else self.protection
        places: tuple[Any, ...] = self.pairs if in_pairs else self.columns
        if order is None or of not in places or one == other or not {one, other} <= {*self.names}:
            raise MeasureError(
                f"Compare two of {', '.join(map(repr, self.names))} in one of the columns "
                f"{', '.join(map(repr, self.columns))}, or in a pair of them."
            )
        turned = (one, other) not in order.comparisons
        found = order.comparisons[(other, one) if turned else (one, other)][places.index(of)]
        return found.turned if turned else found

    def _crossings(self) -> Iterator[Crossing]:
        for side, order in zip(SIDES, (self.protection, self.information), strict=True):
            if order is None:
                continue
            places = [(c,) for c in self.columns] if side == "protection" else self.pairs
            for (one, other), found in order.comparisons.items():
                for of, told in zip(places, found, strict=True):
                    yield Crossing(
                        side=side,
                        of=of,
                        first=one,
                        second=other,
                        verdict=told.verdict,
                        crossings=told.crossings,
                        reason=told.reason,
                    )

    def frame(self) -> Any:
        """Each two maskings in each column and pair of columns, with the crossing points."""
        import polars as pl

        rows = [
            told.model_dump() | {"of": " × ".join(told.of), "crossings": list(told.crossings)}
            for told in self._crossings()
        ]
        schema: dict[str, Any] = dict.fromkeys(Crossing.model_fields, pl.String)
        return pl.DataFrame(rows, schema=schema | {"crossings": pl.List(pl.Float64)})

    def verdicts(self) -> Verdicts:
        """Everything found, in the form in which it is written."""
        orders = [order for order in (self.protection, self.information) if order is not None]
        return Verdicts(
            columns=self.columns,
            scores=tuple(_score(name, found, self) for name, found in self.evaluations.items()),
            standings=tuple(
                Standing(side=o.side, best=o.best, edges=o.edges, undecided=o.undecided)
                for o in orders
            ),
            comparisons=tuple(self._crossings()),
            notes=tuple(
                f"{name}: {note}" for name, e in self.evaluations.items() for note in e.notes
            ),
        )

    def json(self) -> str:
        """Everything found as JSON; its schema is `bistochastic schema comparison`."""
        return self.verdicts().text()

    def text(self) -> str:
        """The page that a terminal shows."""
        from bistochastic.report.compared import compared
        from bistochastic.report.terminal import written

        return written(compared(self.verdicts()))

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.names)} in {len(self.columns)} columns>"


def compare(original: Any, masked: Mapping[str, Any], **said: Any) -> Comparison:
    """Compare maskings of one file, whoever made them; what is said of columns as in `evaluate`.

    Args:
        original: The path of a file, or a dataframe.
        masked: The same, masked, by a name for each.
        said: What `evaluate` takes besides: a plan, an id, kinds, orders, distances.

    >>> import polars as pl
    >>> tables = {
    ...     name: pl.DataFrame({"age": ages})
    ...     for name, ages in {"none": [1, 2, 3], "swap": [2, 1, 3], "turn": [3, 1, 2]}.items()
    ... }
    >>> compare(tables["none"], tables).protection.edges
    (('swap', 'none'), ('turn', 'swap'))
    """
    if not masked:
        raise MeasureError("There is nothing to compare: give at least one masked file.")
    return Comparison({name: evaluate(original, table, **said) for name, table in masked.items()})


def _common(evaluations: Mapping[str, Evaluation]) -> tuple[str, ...]:
    """The columns of all maskings that have an order in each, in the order of the first."""
    for name, found in evaluations.items():
        if found.pair.partner is None:
            raise MeasureError(
                f"{name!r} has {found.pair.after} records and the original {found.pair.before}: "
                f"name the column that says who is who (id), or nobody knows who moved."
            )
    first, *others = [found.ordered for found in evaluations.values()]
    common = tuple(name for name in first if all(name in other for other in others))
    if not common:
        raise MeasureError(
            "The maskings share no column that has an order and holds values before and after, so "
            "nothing can be compared. Declare kinds, orders or distances."
        )
    return common


def _score(name: str, found: Evaluation, whole: Comparison) -> Score:
    """A masking in a few numbers, means over columns and pairs."""
    figures = [f for s in SCORED for f in found.section(s)]
    lines = {(figure.measure, figure.parameter, figure.of): figure for figure in figures}
    shares = []
    for column in whole.columns:
        figure = lines["protection", "alpha=1", (column,)]
        if figure.reference:
            shares.append(figure.value / figure.reference)
    linked = [f.value for key, f in lines.items() if key[0].startswith("linked by")]
    losses = [
        lines["information loss", "theta=1", pair].value
        for pair in whole.pairs
        if ("information loss", "theta=1", pair) in lines
    ]
    return Score(
        name=name,
        records=found.pair.after,
        protection=math.fsum(shares) / len(shares) if shares else None,
        linked=max(linked) if linked else None,
        loss=math.fsum(losses) / len(losses) if losses else None,
    )
