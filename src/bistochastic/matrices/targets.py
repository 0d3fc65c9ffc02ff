"""What can be asked of a matrix: each target a quantity, a number and a direction.

All targets are of one kind, *at least this private*: beta, bits, k and deniability at least,
epsilon and truth at most. So several of them never contradict each other; the strictest rules.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from bistochastic.errors import MatrixError, TargetError, TooLargeError
from bistochastic.matrices.base import Bistochastic, Channel, Vector
from bistochastic.matrices.checks import probabilities
from bistochastic.matrices.entries import LN2, entropy_bits

__all__ = ["Target", "read_targets", "worst_deniability"]

SPARE = 1e-13  # asked beyond a target, so that the integers rounded against us still meet it
ROUNDED = ("beta", "bits", "epsilon", "deniability")
MISSED = 1e-12  # how far the most private member may fall short through its own rounding


@final
@dataclass(frozen=True, slots=True)
class Target:
    """A quantity that must reach a number, from below (`sign` 1) or from above (-1)."""

    name: str
    wanted: float
    sign: int
    quantity: Callable[[Bistochastic], float]

    def excess(self, matrix: Bistochastic) -> float:
        """How much more private than wanted, in units of the quantity; negative if less."""
        spare = SPARE * max(1.0, abs(self.wanted)) if self.name in ROUNDED else 0.0
        difference = self.sign * (float(self.quantity(matrix)) - self.wanted) - spare
        return min(max(difference, -1e6), 1e6)  # an infinite epsilon must not stop a root finder

    def nearly(self, matrix: Bistochastic) -> bool:
        """Whether the target is met up to rounding, as by the most private matrix of a family."""
        return self.excess(matrix) >= -MISSED * max(1.0, abs(self.wanted))


def read_targets(
    n: int,
    *,
    beta: float | None,
    bits: float | None,
    epsilon: float | None,
    truth: float | None,
    k: float | None,
    deniability: float | None,
    prior: ArrayLike | None,
) -> tuple[Target, ...]:
    """The targets given, each checked for what no matrix of this size could mean."""
    most = math.log2(n)
    share = None if prior is None else probabilities(prior, "The prior")
    if share is not None and share.size != n:
        raise MatrixError(f"The prior needs {n} probabilities; got {share.size}.")
    if share is not None and deniability is None:
        raise TargetError("A prior is given but no deniability that it should be applied to.")
    most_deniable = most if share is None else entropy_bits(share)
    targets = (
        _target("beta", beta, 1, lambda matrix: matrix.beta, 0, 1),
        _target("bits", bits, 1, lambda matrix: matrix.bits, 0, most),
        _target("epsilon", epsilon, -1, lambda matrix: matrix.epsilon, 0, math.inf),
        _target("truth", truth, -1, lambda matrix: matrix.truthfulness.mean, 1 / n, 1),
        _target("k", k, 1, lambda matrix: 1 / _largest_entry(matrix), 1, n),
        _target(
            "deniability",
            deniability,
            1,
            lambda matrix: worst_deniability(matrix, share),
            0,
            most_deniable,
        ),
    )
    given = tuple(target for target in targets if target is not None)
    if not given:
        raise TargetError(
            "calibrate needs a target: beta, bits, epsilon, truth, k or deniability (with a prior)."
        )
    return given


def _target(
    name: str,
    wanted: float | None,
    sign: int,
    quantity: Callable[[Bistochastic], float],
    low: float,
    high: float,
) -> Target | None:
    if wanted is None:
        return None
    if isinstance(wanted, bool) or not isinstance(wanted, int | float | np.number):
        raise TargetError(f"{name} must be a number; got {wanted!r}.")
    slack = MISSED * max(1.0, abs(float(wanted)))
    if not low - slack <= wanted <= high + slack:
        raise TargetError(
            f"{name}={wanted!r} is out of reach of any matrix of this size: {name} lies between "
            f"{low:.12g} and {high:.12g}."
        )
    return Target(name, float(wanted), sign, quantity)


def worst_deniability(channel: Channel, prior: Vector | None = None) -> float:
    r"""$\min_v H(X \mid Y=v)$ in bits: what the least lucky respondent can still deny.

    Under equal priors the posterior of a bistochastic matrix is its column. Reports that nobody
    gives under the prior are left out.
    """
    if prior is None and isinstance(channel, Bistochastic):
        return channel.T.min_row_bits
    share = np.full(channel.size, 1 / channel.size) if prior is None else prior
    joint = channel.to_dense() * share[:, None]
    reported = joint.sum(axis=0)
    seen = reported > 0
    joint, reported = joint[:, seen], reported[seen]
    bits = (entr(joint).sum(axis=0) + reported * np.log(reported)) / reported / LN2
    return max(float(bits.min()), 0.0)


def _largest_entry(matrix: Bistochastic) -> float:
    """The best guess an intruder with equal priors can make."""
    try:
        return max(float(part.values.max()) for part in matrix.entries().parts)
    except TooLargeError:
        return float(matrix.diagonal().max())  # a positive semidefinite matrix peaks there
