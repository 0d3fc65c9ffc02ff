"""Several maskings of one file as a page: scores, orders drawn, and where curves cross."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bistochastic.report.compared import LETTERS, SAYS
from bistochastic.report.drawing.numbers import counted, decimal, share
from bistochastic.report.drawing.order import order
from bistochastic.report.drawing.sheet import Drawing, Table
from bistochastic.report.page import Page, Part
from bistochastic.report.words import listed, plural

if TYPE_CHECKING:
    from bistochastic.referee.comparison import Crossing, Standing, Verdicts

__all__ = ["page"]

MOST = 60  # crossings that are listed


def page(verdicts: "Verdicts", original: str) -> Page:
    """The page of a comparison."""
    names = [score.name for score in verdicts.scores]
    scores = tuple(
        (score.name, counted(score.records), *map(_maybe, (score.protection, score.linked)),
         _maybe(score.loss))
        for score in verdicts.scores
    )  # fmt: skip
    headings = ("masking", "records", "protection", "linked", "information loss")
    said = (
        "Protection is a share of what a random permutation gives: larger is safer. Linked is the "
        "share that an intruder who knows the whole original gets right: larger is riskier. "
        "Information loss: larger is worse."
    )
    parts = [Part("Scores", texts=(said,), table=Table(headings, scores))]
    parts += [_standing(one, names, verdicts) for one in verdicts.standings]
    if verdicts.notes:
        parts.append(Part("To know", texts=verdicts.notes))
    return Page(
        title=f"{listed(names)} against {original}",
        kind="several maskings of one file",
        lead=f"{plural(len(names), 'masking')} compared in "
        f"{plural(len(verdicts.columns), 'column')}, for every aversion to risk and to loss.",
        parts=parts,
        confidential=True,
        footer="Made by bistochastic. This file needs no network and runs no program.",
    )


def _standing(standing: "Standing", names: list[str], verdicts: "Verdicts") -> Part:
    """One order: what is above what, and why others are not."""
    told = [one for one in verdicts.comparisons if one.side == standing.side]
    undecided = [
        f"{first} and {second}: not decided to the last digit."
        for first, second in standing.undecided
    ]
    crossing = list(_crossings(told))
    table = Table(
        ("maskings", "in", LETTERS[standing.side] + " where they cross"),
        tuple(crossing[:MOST]),
        max(0, len(crossing) - MOST),
    )
    return Part(
        f"Order in {standing.side}",
        texts=undecided,
        drawings=[_drawn(standing, names)],
        parts=[Part(f"Where curves of {standing.side} cross", table=table)] if crossing else [],
    )


def _drawn(standing: "Standing", names: list[str]) -> Drawing:
    places = {name: place for place, name in enumerate(names)}
    below: dict[int, set[int]] = {place: set() for place in range(len(names))}
    for high, low in standing.edges:
        below[places[high]].add(places[low])
    pairs = {(high, low) for high in below for low in _under(high, below)}
    return order(
        names,
        pairs,
        title=f"What is above what in {standing.side}",
        caption=f"Higher is better: {SAYS[standing.side]}. Without an arrow neither is better "
        "everywhere, or both are equal.",
    )


def _under(place: int, below: dict[int, set[int]]) -> set[int]:
    """All that are below, through however many others."""
    found: set[int] = set()
    waiting = set(below[place])
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting |= below[one]
    return found


def _crossings(told: "list[Crossing]") -> Iterator[tuple[str, ...]]:
    for one in told:
        if one.crossings:
            points = ", ".join(decimal(float(point)) for point in one.crossings)
            yield f"{one.first}, {one.second}", " × ".join(one.of), points


def _maybe(value: float | None) -> str:
    return "" if value is None else share(value)
