r"""The most that reports can ever tell: channel capacity, the worst prior's mutual information.

Blahut and Arimoto: under any prior, $\sum_u\pi_u D(P_u\|\lambda)$ is attained and no prior attains
more than $\max_u D(P_u\|\lambda)$. So each step comes with the gap that is left, and nothing has to
be believed.
"""

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.matrices.base import Bistochastic, Channel
from bistochastic.matrices.dense import Arrayed
from bistochastic.matrices.kronecker import Kronecker
from bistochastic.measures.columns import gathered, legible, surprise

__all__ = ["Capacity", "capacity"]

Floats = NDArray[np.floating[Any]]

CERTAIN = 1e-9  # bits: a gap that nobody will ask about
STEPS = 20_000
WORK = 400_000_000  # cells that all steps together may touch, after the first fifty
BOLD = 64.0  # the longest step, in units of the one that never fails
LEAST = 1e-300  # a share that a later step can still raise


@final
@dataclass(frozen=True, slots=True)
class Capacity:
    """Bits that the worst prior loses to a report: at least, and certainly at most, so many."""

    at_least: float
    at_most: float

    @property
    def gap(self) -> float:
        """How much is left uncertain."""
        return self.at_most - self.at_least


def capacity(channel: Channel) -> Capacity:
    r"""The capacity $\max_\pi I(X;Y)$ in bits, with its certificate (Blahut 1972, Arimoto 1972).

    >>> from bistochastic import Blocks
    >>> round(capacity(Blocks([3, 2])).at_least, 6)
    1.0
    """
    if isinstance(channel, Kronecker):  # the best priors of independent columns are independent
        each = [capacity(factor) for factor in channel.factors]
        return Capacity(math.fsum(c.at_least for c in each), math.fsum(c.at_most for c in each))
    if channel.size == 1:
        return Capacity(0.0, 0.0)
    if isinstance(channel, Bistochastic):
        # Under equal priors the divergence of a row is what its entropy falls short of log n by.
        most = channel.max_bits
        attained = max(most - float(channel.bits), 0.0)
        equal = Capacity(attained, max(most - float(channel.min_row_bits), attained))
        if equal.gap <= CERTAIN:
            return equal
    return _climbed(legible(channel))


def _climbed(channel: Channel) -> Capacity:
    """Steps that are as long as they still lead upwards."""
    bits = _row_bits(channel)
    shares = np.full(channel.size, 1 / channel.size)
    divergences = _divergences(channel, shares, bits)
    lower, upper = _bounds(shares, divergences)
    length = 1.0
    cells = channel.size ** (2 if isinstance(channel, Arrayed) else 1)
    for _ in range(min(STEPS, max(WORK // cells, 50))):
        if upper - lower <= CERTAIN:
            break
        tried = _stepped(shares, divergences, length)
        found = _divergences(channel, tried, bits)
        reached, limit = _bounds(tried, found)
        if reached < lower and length > 1:  # too bold; the plain step never leads down
            length = max(length / 4, 1.0)
            continue
        shares, divergences = tried, found
        lower, upper = max(lower, reached), min(upper, limit)
        length = min(length * 1.5, BOLD)
    return Capacity(max(lower, 0.0), max(upper, lower, 0.0) + 0.0)


def _row_bits(channel: Channel) -> Floats:
    r"""The entropy of every row: what its columns' entries are to the transpose."""
    if isinstance(channel, Bistochastic):
        return gathered(legible(channel.T), np.ones(channel.size), surprise)
    return surprise(channel.to_dense()).sum(axis=1)


def _divergences(channel: Channel, shares: Floats, row_bits: Floats) -> Floats:
    r"""$D(P_u\|\lambda)$ of every row from how reports are distributed."""
    reported = gathered(channel, shares)
    told = np.log2(np.where(reported > 0, reported, 1.0))  # what is never reported says nothing
    return np.asarray(-row_bits - channel.matvec(told))


def _bounds(shares: Floats, divergences: Floats) -> tuple[float, float]:
    return float(np.dot(shares, divergences)), float(divergences.max())


def _stepped(shares: Floats, divergences: Floats, length: float) -> Floats:
    logs = np.log2(shares) + length * (divergences - divergences.max())
    tried = np.exp2(logs - logs.max())
    return np.maximum(tried / tried.sum(), LEAST)
