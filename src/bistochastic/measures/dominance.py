r"""Dominance: whether one masking is better than another for everybody, whatever their aversion.

In protection if $D_A(\alpha) \ge D_B(\alpha)$ at every α ≤ 1, in information if
$I_A(\theta) \le I_B(\theta)$ at every θ ≥ 1. Distances that both have cancel; what is left is the
sign of $f(\alpha) = \sum_j c_j x_j^\alpha$ with $c_j = n_B m_A(x_j) - n_A m_B(x_j)$, decided for
the whole half line: by sums of the smallest distances, by Descartes' rule of signs, or by bounds of
f on intervals (`crossings`), the tail by its first term. No grid is looked at.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, final

from numpy.typing import ArrayLike

from bistochastic.errors import MeasureError
from bistochastic.measures.crossings import Stretch
from bistochastic.measures.difference import Difference
from bistochastic.measures.halflines import information_signs, protection_signs
from bistochastic.measures.histogram import ZERO, Histogram
from bistochastic.measures.permutation import Displacement

__all__ = ["Dominance", "Side", "dominance", "dominates"]

Side = Literal["protection", "information"]
Verdict = Literal["first", "second", "equal", "neither", "undecided"]
Compared = Histogram | Displacement | ArrayLike


@final
@dataclass(frozen=True, slots=True)
class Dominance:
    """Which of two maskings is better, and where.

    Attributes:
        verdict: "first" or "second" dominates, they are "equal", "neither" does, or "undecided":
            one is better wherever a sign is proved, but the curves meet within rounding elsewhere.
        crossings: At which α, or θ, the better one changes, in order.
        undecided: Where it is not known who is better.
        stretches: Intervals of α, or θ, with 1 where the first is better, -1 where the second is
            and 0 where it is not known.
        side: What was compared, "protection" or "information".
        reason: What decided.
    """

    verdict: Verdict
    crossings: tuple[float, ...]
    undecided: tuple[float, ...]
    stretches: tuple[Stretch, ...]
    side: Side
    reason: str

    def better(self, order: float) -> int:
        """1 where the first is better at this α, or θ, -1 where the second is, 0 if not known."""
        found = {sign for low, high, sign in self.stretches if low <= order <= high}
        return found.pop() if len(found) == 1 else 0

    @property
    def turned(self) -> "Dominance":
        """The same comparison with the two maskings named the other way round."""
        other: dict[Verdict, Verdict] = {"first": "second", "second": "first"}
        return Dominance(
            other.get(self.verdict, self.verdict),
            self.crossings,
            self.undecided,
            tuple(Stretch(low, high, -sign) for low, high, sign in self.stretches),
            self.side,
            self.reason,
        )


def dominates(
    a: Compared, b: Compared, *, in_: Side = "protection", zero: float = ZERO
) -> bool | None:
    """Whether a is at least as good as b at every α ≤ 1, or θ ≥ 1; None if that is undecided.

    >>> dominates([1, 1, 6], [0, 2, 4]), dominates([0, 3, 6, 6], [0, 4, 4, 5])
    (True, False)
    """
    verdict = dominance(a, b, in_=in_, zero=zero).verdict
    return None if verdict == "undecided" else verdict in ("first", "equal")


def dominance(
    a: Compared, b: Compared, *, in_: Side = "protection", zero: float = ZERO
) -> Dominance:
    """Which of two maskings of a column, or pair of columns, is better, and where it changes.

    Files of different length are compared by shares of their records.

    Args:
        a: The distances of one: |r| for protection, |r - r'| for information.
        b: Those of the other.
        in_: "protection", more is better, or "information", less is better.
        zero: What a distance of 0 counts as in protection; 0 for one as small as you like.

    >>> told = dominance([0, 3, 6, 6], [0, 4, 4, 5])
    >>> told.verdict, round(told.crossings[0], 5)
    ('neither', -1.90525)
    """
    if in_ not in ("protection", "information"):
        raise MeasureError(f'Maskings are compared in "protection" or "information"; got {in_!r}.')
    if not 0 <= zero < 1:
        raise MeasureError(f"What a distance of 0 counts as lies between 0 and 1; got {zero}.")
    one, other = counted(a, in_), counted(b, in_)
    difference = Difference.of(one, other, zero=zero if in_ == "protection" else 0.0)
    if not difference.values.size:
        return Dominance("equal", (), (), (Stretch(*_range(in_), 0),), in_, "the same distances")
    better = difference.sums_decide(largest=in_ == "information")
    if better:
        return _told([Stretch(*_range(in_), better)], in_, "sums of extreme distances")
    side = protection_signs if in_ == "protection" else information_signs
    stretches, reason = side(difference)
    return _told(stretches, in_, reason)


def _range(side: Side) -> tuple[float, float]:
    return (-math.inf, 1.0) if side == "protection" else (1.0, math.inf)


def counted(compared: Compared, side: Side) -> Histogram:
    """Distances as a histogram of whole numbers of records."""
    if isinstance(compared, Displacement):
        if side == "information":
            raise MeasureError(
                "Information is compared by the relative distances of two columns: give what "
                "relative_distances says of them."
            )
        return compared.distances
    told = compared if isinstance(compared, Histogram) else Histogram.of(compared)
    if told.counts.dtype.kind not in "iu":
        raise MeasureError(
            "Dominance is decided on records that were counted; got expected numbers."
        )
    return told


def _told(stretches: list[Stretch], side: Side, reason: str) -> Dominance:
    """The verdict of adjoining stretches, equal neighbours merged."""
    merged: list[Stretch] = []
    for low, high, sign in stretches:
        if merged and merged[-1].sign == sign:
            merged[-1] = Stretch(merged[-1].low, high, sign)
        else:
            merged.append(Stretch(low, high, sign))
    crossings = [one.high for one, two in pairwise(merged) if one.sign * two.sign < 0]
    undecided: list[float] = []
    for place, (low, high, sign) in enumerate(merged):
        if sign:
            continue
        sides = [merged[i].sign for i in (place - 1, place + 1) if 0 <= i < len(merged)]
        (crossings if sorted(sides) == [-1, 1] else undecided).append((low + high) / 2)
    better = {stretch.sign for stretch in merged} - {0}
    if better == {1, -1}:
        verdict: Verdict = "neither"
    elif undecided or not better:
        verdict = "undecided"
    else:
        verdict = "first" if better == {1} else "second"
    return Dominance(
        verdict, tuple(sorted(crossings)), tuple(undecided), tuple(merged), side, reason
    )
