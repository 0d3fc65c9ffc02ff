"""Preference: several maskings of one file, ordered as far as everybody agrees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import final

from bistochastic.errors import MeasureError
from bistochastic.measures.dominance import Compared, Dominance, Side, dominance
from bistochastic.measures.histogram import ZERO

__all__ = ["Preference", "agreed", "preference"]


@final
@dataclass(frozen=True, slots=True)
class Preference:
    """A partial order of maskings: one is above another if it is at least as good for everybody.

    Attributes:
        names: The maskings.
        comparisons: What is known of each two, column by column, in the order of names.
        side: "protection" or "information".
    """

    names: tuple[str, ...]
    comparisons: dict[tuple[str, str], tuple[Dominance, ...]]
    side: Side

    def verdict(self, one: str, other: str) -> str:
        """Who is better in all columns: "first", "second", "equal", "neither" or "undecided"."""
        if one == other:
            return "equal"
        turned = (one, other) not in self.comparisons
        found = self.comparisons[(other, one) if turned else (one, other)]
        return agreed([told.turned if turned else told for told in found])

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Who stands directly above whom: the pairs with nobody between them."""
        above = {
            pair
            for one, other in combinations(self.names, 2)
            for pair in self._strictly(one, other)
        }
        return tuple(
            sorted(
                (high, low)
                for high, low in above
                if not any(
                    (high, middle) in above and (middle, low) in above for middle in self.names
                )
            )
        )

    @property
    def best(self) -> tuple[str, ...]:
        """Those that nobody stands above."""
        return tuple(
            name
            for name in self.names
            if not any(self.verdict(other, name) == "first" for other in self.names)
        )

    @property
    def undecided(self) -> tuple[tuple[str, str], ...]:
        """The pairs of which it is not known who is better."""
        return tuple(
            pair for pair in combinations(self.names, 2) if self.verdict(*pair) == "undecided"
        )

    def _strictly(self, one: str, other: str) -> tuple[tuple[str, str], ...]:
        verdict = self.verdict(one, other)
        return {"first": ((one, other),), "second": ((other, one),)}.get(verdict, ())


def agreed(comparisons: Sequence[Dominance]) -> str:
    """The verdict over several columns: one dominates if it is nowhere worse."""
    verdicts = {told.verdict for told in comparisons}
    if "neither" in verdicts or {"first", "second"} <= verdicts:
        return "neither"
    for verdict in ("undecided", "first", "second"):
        if verdict in verdicts:
            return verdict
    return "equal"


def preference(
    maskings: Mapping[str, Sequence[Compared]],
    *,
    in_: Side = "protection",
    zero: float = ZERO,
) -> Preference:
    """Compare maskings with each other, each by the distances of its columns, or pairs of columns.

    >>> told = preference({"none": [[0, 0, 0]], "swap": [[1, 1, 0]], "cycle": [[2, 1, 1]]})
    >>> told.edges, told.best
    ((('cycle', 'swap'), ('swap', 'none')), ('cycle',))
    """
    names = tuple(maskings)
    lengths = {len(maskings[name]) for name in names}
    if not names or lengths == {0}:
        raise MeasureError("There is nothing to compare: give maskings, each with its columns.")
    if len(lengths) > 1:
        raise MeasureError(
            f"Maskings are compared column by column, but they have {sorted(lengths)} of them."
        )
    return Preference(
        names,
        {
            (one, other): tuple(
                dominance(a, b, in_=in_, zero=zero)
                for a, b in zip(maskings[one], maskings[other], strict=True)
            )
            for one, other in combinations(names, 2)
        },
        in_,
    )
