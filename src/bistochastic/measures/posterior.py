r"""What a report says of the truth: one channel with its prior, or several independent ones.

Every quantity is asked at positions, so that a product of a dozen columns answers for any of its
10^12 combinations; nothing of the size of the matrix is formed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from bistochastic.errors import MatrixError
from bistochastic.matrices.base import Bistochastic, Channel
from bistochastic.matrices.checks import LINE_LENGTH, guard_line, probabilities
from bistochastic.matrices.kronecker import Kronecker
from bistochastic.measures.columns import LN2, gathered, legible, peaks, surprise

__all__ = ["Alone", "Knowledge", "Prior", "SideBySide", "knowledge"]

Floats = NDArray[np.floating[Any]]
Codes = NDArray[Any]
# Over all categories, or one for each factor of a product; None is equal priors.
Prior = ArrayLike | Sequence[ArrayLike | None] | None


class Knowledge(Protocol):
    """What somebody knows who has a prior and sees a report; codes in, numbers out."""

    @property
    def size(self) -> int:
        """The number of categories."""

    @property
    def prior_bits(self) -> float:
        """The uncertainty about the truth before any report."""

    @property
    def mutual_information(self) -> float:
        """The bits that a report takes from it on average."""

    @property
    def prior_vulnerability(self) -> float:
        """The probability of the best guess before any report."""

    @property
    def posterior_vulnerability(self) -> float:
        """The mean probability of the best guess after a report."""

    def prior(self, u: Codes) -> Floats:
        """The prior probability of each true value."""

    def reported(self, v: Codes) -> Floats:
        """The probability of each report."""

    def deniability(self, v: Codes) -> Floats:
        """The bits of uncertainty that each report leaves."""

    def guess(self, v: Codes) -> Floats:
        """The probability of the likeliest truth behind each report."""

    def posterior(self, u: Codes, v: Codes) -> Floats:
        """The probability of a true value behind a report."""

    def telling(self) -> int:
        """The report behind which the best guess is right most often."""


def knowledge(channel: Channel, prior: Any) -> "Alone | SideBySide":
    """A channel read with a prior: one over all its categories, or one for each factor."""
    if isinstance(channel, Kronecker) and (prior is None or _nested(prior)):
        priors = [None] * len(channel.factors) if prior is None else list(prior)
        if len(priors) != len(channel.factors):
            raise MatrixError(
                f"A product of {len(channel.factors)} factors needs as many priors, or one over "
                f"all combinations; got {len(priors)}."
            )
        pairs = zip(channel.factors, priors, strict=True)
        return SideBySide(channel.sizes, tuple(knowledge(one, share) for one, share in pairs))
    if prior is None:
        return Alone(channel, None)
    share = probabilities(prior, "The prior")
    if share.size != channel.size:
        raise MatrixError(f"The prior needs {channel.size} probabilities; got {share.size}.")
    return Alone(channel, share)


def _nested(prior: Any) -> bool:
    """Whether it is one prior for each factor, some of them None for equal ones."""
    return isinstance(prior, list | tuple) and all(p is None or np.ndim(p) == 1 for p in prior)


@final
@dataclass(frozen=True, eq=False)
class Alone:
    """One channel with one prior; none stands for all truths being equally likely."""

    channel: Channel
    share: Floats | None

    @property
    def size(self) -> int:
        return self.channel.size

    @property
    def prior_bits(self) -> float:
        if self.share is None:
            return math.log2(self.size)
        return float(entr(self.share).sum() / LN2) + 0.0

    @property
    def mutual_information(self) -> float:
        if self.share is None and isinstance(self.channel, Bistochastic):
            # All reports are equally likely too, and what is not told is the mean row entropy.
            return max(math.log2(self.size) - float(self.channel.bits), 0.0)
        told = np.where(self._reported > 0, self._reported * (self.prior_bits - self._deniable), 0)
        return max(float(told.sum()), 0.0)

    @property
    def prior_vulnerability(self) -> float:
        return 1 / self.size if self.share is None else float(self.share.max())

    @property
    def posterior_vulnerability(self) -> float:
        if self._same is not None:
            return self._same[1]
        return float(min(self._peaks.sum(), 1.0))

    def prior(self, u: Codes) -> Floats:
        return np.full(np.shape(u), 1 / self.size) if self.share is None else self.share[u]

    def reported(self, v: Codes) -> Floats:
        if self.share is None and isinstance(self.channel, Bistochastic):
            return np.full(np.shape(v), 1 / self.size)
        return self._reported[v]

    def deniability(self, v: Codes) -> Floats:
        return np.full(np.shape(v), self._same[0]) if self._same else self._deniable[v]

    def guess(self, v: Codes) -> Floats:
        if self._same:
            return np.full(np.shape(v), self._same[1])
        with np.errstate(invalid="ignore"):
            return np.minimum(self._peaks[v] / self._reported[v], 1.0)

    def posterior(self, u: Codes, v: Codes) -> Floats:
        u, v = np.broadcast_arrays(u, v)
        reported = self.reported(v)
        joint = np.maximum(self.channel.entry(u, v), 0.0) * self.prior(u)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(reported > 0, np.minimum(joint / reported, 1.0), np.nan)

    def telling(self) -> int:
        if self._same:
            return 0
        guard_line(self.size, "What each report says")
        return int(np.nanargmax(self.guess(np.arange(self.size))))

    @cached_property
    def _same(self) -> tuple[float, float] | None:
        """Bits and best guess where all reports are alike, as under equal priors of a mixture."""
        if self.share is not None or not isinstance(self.channel, Bistochastic):
            return None
        if self.size <= LINE_LENGTH and not _one_kind(self.channel):
            return None
        entries = self.channel.T.entries()  # its rows are the posteriors
        if entries.repeats.size != 1:
            guard_line(self.size, "What each report says")
            return None
        largest = max(float(part.values.max(initial=0.0)) for part in entries.parts)
        return entries.bits, largest

    @cached_property
    def _weights(self) -> Floats:
        guard_line(self.size, "The prior")
        return self.prior(np.arange(self.size))

    @cached_property
    def _legible(self) -> Channel:
        return legible(self.channel)

    @cached_property
    def _peaks(self) -> Floats:
        return peaks(self._legible, self._weights)

    @cached_property
    def _reported(self) -> Floats:
        if self.share is None and isinstance(self.channel, Bistochastic):
            return np.full(self.size, 1 / self.size)
        return np.maximum(gathered(self._legible, self._weights), 0.0)

    @cached_property
    def _deniable(self) -> Floats:
        r"""$H(X|Y=v)$ from sums over columns of $-p\pi\log p\pi$, without the posterior itself."""
        joint = gathered(self._legible, surprise(self._weights))
        joint += gathered(self._legible, self._weights, surprise)
        with np.errstate(invalid="ignore", divide="ignore"):
            bits = joint / self._reported + np.log2(self._reported)
        bits[self._reported == 0] = np.nan
        return np.clip(bits, 0.0, math.log2(self.size))


def _one_kind(channel: Bistochastic) -> bool:
    """Whether all columns hold the same values, as far as a structure knows that cheaply."""
    from bistochastic.matrices.circulant import Circulant
    from bistochastic.matrices.mixture import Mixture

    return isinstance(channel, Mixture | Circulant)


@final
@dataclass(frozen=True, eq=False)
class SideBySide:
    """Independent columns, each with its channel and its prior, read as one."""

    sizes: tuple[int, ...]
    parts: "tuple[Alone | SideBySide, ...]"

    @property
    def size(self) -> int:
        return math.prod(self.sizes)

    @property
    def prior_bits(self) -> float:
        return math.fsum(part.prior_bits for part in self.parts)

    @property
    def mutual_information(self) -> float:
        return math.fsum(part.mutual_information for part in self.parts)

    @property
    def prior_vulnerability(self) -> float:
        return math.prod(part.prior_vulnerability for part in self.parts)

    @property
    def posterior_vulnerability(self) -> float:
        return math.prod(part.posterior_vulnerability for part in self.parts)

    def prior(self, u: Codes) -> Floats:
        return self._product("prior", u)

    def reported(self, v: Codes) -> Floats:
        return self._product("reported", v)

    def deniability(self, v: Codes) -> Floats:
        pairs = zip(self.parts, self._digits(v), strict=True)
        return reduce(np.add, (part.deniability(digit) for part, digit in pairs))

    def guess(self, v: Codes) -> Floats:
        return self._product("guess", v)

    def posterior(self, u: Codes, v: Codes) -> Floats:
        each = zip(self.parts, self._digits(u), self._digits(v), strict=True)
        return reduce(np.multiply, (part.posterior(i, j) for part, i, j in each))

    def telling(self) -> int:
        return int(np.ravel_multi_index([part.telling() for part in self.parts], self.sizes))

    def _product(self, quantity: str, codes: Codes) -> Floats:
        pairs = zip(self.parts, self._digits(codes), strict=True)
        return reduce(np.multiply, (getattr(part, quantity)(digit) for part, digit in pairs))

    def _digits(self, codes: Codes) -> tuple[Codes, ...]:
        return np.unravel_index(np.asarray(codes, dtype=np.int64), self.sizes)
