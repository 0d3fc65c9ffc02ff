"""Several maskings side by side on a terminal, then their order as a small graph."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from bistochastic.report.terminal import gauge, hanging, known, number, percent, plain_table

if TYPE_CHECKING:
    from bistochastic.referee.comparison import Crossing, Standing, Verdicts

__all__ = ["compared", "graph"]

LETTERS = {"protection": "α", "information": "θ"}
SAYS = {
    "protection": "larger D(α) in every column, for every α ≤ 1",
    "information": "smaller I(θ) in every pair, for every θ ≥ 1",
}
MOST = 5  # columns or pairs whose crossings are told one by one


def compared(verdicts: "Verdicts") -> RenderableType:
    """The maskings in a few numbers, their order in both respects, and where curves cross."""
    parts: list[RenderableType] = [_scores(verdicts), Text()]
    for standing in verdicts.standings:
        told = [one for one in verdicts.comparisons if one.side == standing.side]
        parts += [*_order(standing, [score.name for score in verdicts.scores], told), Text()]
    parts += known(verdicts.notes, "to know", "Every record of every masking was compared.")
    return Group(*parts)


def _scores(verdicts: "Verdicts") -> RenderableType:
    table = plain_table()
    table.add_column("masking", style="bold", overflow="fold", min_width=9)
    for heading in ("records", "protection", "linked", "information loss"):
        table.add_column(heading, justify="right", no_wrap=True)
    for score in verdicts.scores:
        shown = "" if score.protection is None else _gauged(score.protection)
        table.add_row(
            score.name, f"{score.records:,}", shown, _share(score.linked), _share(score.loss)
        )
    table.add_row(
        "",
        "",
        *(Text(f"larger is {way}", style="italic dim") for way in ("safer", "riskier", "worse")),
    )
    return table


def _gauged(share: float) -> str:
    return f"{percent(share)} of random {gauge(min(share, 1.0))}"


def _share(share: float | None) -> str:
    if share is None:
        return ""
    return percent(share) if share >= 0.1 or share == 0 else f"{share:.2%}"


def _order(
    standing: "Standing", names: Sequence[str], told: Sequence["Crossing"]
) -> Iterator[RenderableType]:
    """The graph of one order, and why those that are not in it are not."""
    yield Text.assemble(
        (f"Order in {standing.side}", "bold"), "  ", (f"above: {SAYS[standing.side]}", "dim")
    )
    yield from (Text(f"  {line}") for line in graph(names, standing.edges, equals(told)))
    for first, second in standing.undecided:
        yield hanging("?", f"{first} and {second}: not decided to the last digit")
    pairs: dict[tuple[str, str], list[Crossing]] = {}
    for one in told:
        pairs.setdefault((one.first, one.second), []).append(one)
    for (first, second), found in pairs.items():
        verdicts = [one.verdict for one in found]
        better, worse = verdicts.count("first"), verdicts.count("second")
        crossing = [one for one in found if one.crossings]
        if not crossing and not (better and worse):
            continue
        places = "columns" if standing.side == "protection" else "pairs"
        yield hanging(
            "×",
            f"{first} against {second}: of {len(found)} {places} better in {better}, worse in "
            f"{worse}, crossing in {len(crossing)}",
        )
        yield from (Text(f"   {_crossing(one)}", style="dim") for one in crossing[:MOST])
        if len(crossing) > MOST:
            yield Text(f"   and {len(crossing) - MOST} more, in --json", style="dim")


def _crossing(told: "Crossing") -> str:
    """At which orders two curves cross."""
    letter = LETTERS[told.side]
    points = ", ".join(f"{letter} = {_point(point)}" for point in told.crossings)
    return f"{' × '.join(told.of)}: {points}"


def _point(value: float) -> str:
    return number(value).replace("-", "−") if math.isfinite(value) else "∞"


def equals(told: Sequence["Crossing"]) -> set[tuple[str, str]]:
    """Pairs of maskings that are equal wherever they were compared."""
    unlike = {(one.first, one.second) for one in told if one.verdict != "equal"}
    return {(one.first, one.second) for one in told} - unlike


def graph(
    names: Sequence[str],
    edges: Sequence[tuple[str, str]],
    same: set[tuple[str, str]] | None = None,
) -> list[str]:
    r"""A partial order as text: better ones above, each below the last of those above it.

    >>> print("\n".join(graph(["a", "b", "c", "d"], [("a", "b"), ("a", "c")])))
    a
    ├─ b
    └─ c
    d
    """
    merged: dict[str, list[str]] = {}
    for name in names:
        twin = next((first for first, second in same or () if second == name), name)
        merged.setdefault(twin if twin in merged else name, []).append(name)
    titles = {name: " = ".join(alike) for name, alike in merged.items()}
    below: dict[str, list[str]] = {name: [] for name in titles}
    above: dict[str, list[str]] = {name: [] for name in titles}
    for high, low in edges:
        if high in titles and low in titles:
            below[high].append(low)
            above[low].append(high)
    lines: list[str] = []
    for name in titles:
        if not above[name]:
            lines.append(titles[name])
            lines += _branches(name, titles, below, above, "")
    return lines


def _branches(
    name: str,
    titles: dict[str, str],
    below: dict[str, list[str]],
    above: dict[str, list[str]],
    indent: str,
) -> Iterator[str]:
    """Those directly below one, each with the others it is below as well."""
    for place, low in enumerate(below[name]):
        last = place == len(below[name]) - 1
        others = [titles[high] for high in above[low] if high != name]
        also = f"  (below {', '.join(others)} too)" if others else ""
        yield f"{indent}{'└─' if last else '├─'} {titles[low]}{also}"
        if above[low][-1] == name:  # what is below it is shown once
            yield from _branches(low, titles, below, above, indent + ("   " if last else "│  "))
