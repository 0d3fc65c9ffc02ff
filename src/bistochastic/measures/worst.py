r"""The worst that a report can do: over all that might be believed beforehand, or over a list.

Every number comes twice: exactly, from the whole matrix, and as the bound that ε alone gives. The
exact one never exceeds it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import MatrixError, TooLargeError
from bistochastic.matrices.base import Bistochastic, Channel
from bistochastic.matrices.bounds import AtMost
from bistochastic.matrices.checks import guard_cells
from bistochastic.measures.capacity import capacity
from bistochastic.measures.disclosure import Disclosure, disclosure
from bistochastic.measures.posterior import Prior

__all__ = ["EpsilonBound", "WorstCase", "largest_increase", "worst_case"]

Floats = NDArray[np.floating[Any]]
LN2 = math.log(2)
SEARCHED = 16_000_000  # entries whose columns are sorted for the worst prior of each


@final
@dataclass(frozen=True, slots=True)
class EpsilonBound:
    r"""What ε and the number of categories alone promise, for every prior.

    >>> round(EpsilonBound.of(2.0, 3).increase, 4)
    0.4621
    """

    odds: float
    increase: float
    information: float
    factor: float

    @classmethod
    def of(cls, epsilon: float, n: int) -> "EpsilonBound":
        r"""The bounds for ε and n categories.

        In this order $e^\varepsilon$, $\tanh(\varepsilon/4)$,
        $\varepsilon\tanh(\varepsilon/2)/\ln 2$ and $\log_2 n$ at most, and
        $n e^\varepsilon/(n-1+e^\varepsilon)$.
        """
        information = epsilon * math.tanh(epsilon / 2) / LN2 if epsilon else 0.0
        return cls(
            odds=_exp(epsilon),
            increase=math.tanh(epsilon / 4),
            information=min(information, math.log2(n)),
            factor=n / ((n - 1) * math.exp(-epsilon) + 1),
        )


@final
@dataclass(frozen=True, slots=True)
class WorstCase:
    """The most that reports through a channel can change, over priors.

    Attributes:
        odds: The largest factor by which a report changes the odds between two values.
        increase: How much more often the best guess is right after the most telling report than
            before it, at most.
        information: The bits of mutual information: over all priors the capacity, as far as it is
            attained; `information_at_most` is its certificate.
        information_at_most: What the information certainly does not exceed.
        factor: The largest factor by which reports on average make the best guess right more often.
        by_epsilon: The same four as ε alone bounds them.
        attained: Which prior of a list is the worst in each of the four; none over all priors.
    """

    odds: float
    increase: float
    information: float
    information_at_most: float
    factor: float
    by_epsilon: EpsilonBound
    attained: dict[str, int] | None = None

    @property
    def sentences(self) -> Iterator[str]:
        """The same in words."""
        whoever = "Whatever is believed beforehand" if self.attained is None else "At worst"
        yield (
            f"{whoever}, a report makes one value at most {self.odds:.3g} times as likely against "
            f"another as it was."
            if math.isfinite(self.odds)
            else f"{whoever}, a report can rule values out altogether."
        )
        yield (
            f"The most telling report makes the best guess right for at most "
            f"{math.ceil(100 * self.increase - 1e-9)} more of 100 people."
        )
        yield f"Reports carry at most {self.information_at_most:.3g} bits on average."


def worst_case(channel: Channel, priors: Sequence[Prior] | None = None) -> WorstCase:
    r"""The worst case over priors: over all there are, or over a list of them.

    Args:
        channel: Any channel.
        priors: A list of priors; all there are if not given.

    >>> import bistochastic as bs
    >>> worst = bs.worst_case(bs.randomised_response(3, epsilon=2))
    >>> round(worst.increase, 4), round(worst.by_epsilon.increase, 4)
    (0.4537, 0.4621)
    """
    bound = EpsilonBound.of(float(channel.epsilon), channel.size)
    if priors is not None:
        return _listed(channel, priors, bound)
    odds = _exp(channel.epsilon)
    most = capacity(channel)
    return WorstCase(
        odds=AtMost(odds) if isinstance(channel.epsilon, AtMost) else odds,
        increase=largest_increase(channel),
        information=most.at_least,
        information_at_most=most.at_most,
        factor=max(disclosure(channel).posterior_vulnerability * channel.size, 1.0),
        by_epsilon=bound,
    )


def _listed(channel: Channel, priors: Sequence[Prior], bound: EpsilonBound) -> WorstCase:
    """Each prior of a list by itself, and of each quantity the largest."""
    if len(priors) == 0:
        raise MatrixError("The list of priors is empty; give one, or none for all there are.")
    each = [_under(disclosure(channel, prior)) for prior in priors]
    worst = {name: max(range(len(each)), key=lambda at: each[at][name]) for name in each[0]}
    most = {name: each[at][name] for name, at in worst.items()}
    return WorstCase(
        **most, information_at_most=most["information"], by_epsilon=bound, attained=worst
    )


def _under(told: Disclosure) -> dict[str, float]:
    before = told.prior_vulnerability
    guess = np.asarray(told.guess)
    return {
        "odds": _odds(told),
        "increase": max(float(guess[~np.isnan(guess)].max()) - before, 0.0),
        "information": told.mutual_information,
        "factor": told.posterior_vulnerability / before,
    }


def _odds(told: Disclosure) -> float:
    """The largest ratio within a column, over the values that the prior holds possible."""
    possible = np.flatnonzero(np.asarray(told.prior) > 0)
    if possible.size == told.size:
        return _exp(told.channel.epsilon)
    try:
        guard_cells(possible.size * told.size, "The rows of possible values")
    except TooLargeError:
        return AtMost(_exp(told.channel.epsilon))
    rows = told.channel.entry(possible[:, None], np.arange(told.size)[None, :])
    low, high = rows.min(axis=0), rows.max(axis=0)
    seen = high > 0
    with np.errstate(divide="ignore"):
        return float((high[seen] / low[seen]).max())


def largest_increase(channel: Channel) -> float:
    r"""$\max_{\pi,v}(\max_u\hat p(u\mid v)-\max_u\pi_u)$, exactly.

    A prior whose best guess is right with probability M does most harm in a column if it gives M
    to the largest entry and, as long as it lasts, M to each of the smallest others. Between two
    numbers of full shares the increase is $pM/(dM+s)-M$, whose maximum is known.
    """
    if channel.size == 1:
        return 0.0
    bound = EpsilonBound.of(float(channel.epsilon), channel.size)
    try:
        values, counts = _column_kinds(channel)
    except TooLargeError:
        return AtMost(bound.increase)
    order = np.argsort(np.where(counts > 0, values, np.inf), axis=1, kind="stable")
    values = np.take_along_axis(values, order, axis=1)
    counts = np.take_along_axis(counts, order, axis=1)
    last = (counts > 0).cumsum(axis=1).argmax(axis=1)[:, None]
    largest = np.take_along_axis(values, last, axis=1)
    np.put_along_axis(counts, last, np.take_along_axis(counts, last, axis=1) - 1, axis=1)
    many = counts.cumsum(axis=1)
    few = many - counts
    sums = (values * counts).cumsum(axis=1) - values * counts
    slope = largest + sums - (few + 1) * values
    ends = 1 / (many + 1), 1 / (few + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.clip((np.sqrt(largest * values) - values) / slope, *ends)
        rises = [largest * m / (slope * m + values) - m for m in (*ends, turn)]
    counted = (counts > 0) & (largest > 0)
    found = np.where(counted, np.fmax.reduce(rises), 0.0)
    return float(min(max(found.max(), 0.0), bound.increase))


def _column_kinds(channel: Channel) -> tuple[Floats, Floats]:
    """The values in each kind of column, with how often each occurs in one."""
    if not isinstance(channel, Bistochastic):
        _guard(channel.size**2)
        columns = channel.to_dense().T
        return columns, np.ones(columns.shape)
    entries = channel.T.entries()
    kinds = entries.repeats.size
    shapes = [
        np.broadcast_shapes(np.shape(part.values), np.shape(part.counts), (kinds, 1))
        for part in entries.parts
    ]
    _guard(sum(map(math.prod, shapes)))
    parts = list(zip(entries.parts, shapes, strict=True))
    values = np.hstack([np.broadcast_to(part.values, shape) for part, shape in parts])
    counts = np.hstack([np.broadcast_to(part.counts, shape) for part, shape in parts])
    return values, counts.astype(np.float64)


def _guard(cells: int) -> None:
    if cells > SEARCHED:
        raise TooLargeError(f"{cells} entries are more than are searched for the worst prior.")


def _exp(epsilon: float) -> float:
    return math.exp(epsilon) if epsilon < 709 else math.inf
