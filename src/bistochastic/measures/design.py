r"""The design effect: how many more respondents a table needs because of the channel.

A share estimated from n reports has the variance
$\frac1n\bigl(\sum_v Q_{uv}^2\lambda_v-\pi_u^2\bigr)$ with $Q=(P^\top)^{-1}$ (Chaudhuri & Mukerjee
1988), one counted from n true answers $\frac1n\pi_u(1-\pi_u)$. Their ratio is known before anybody
is asked, for every distribution that one cares to assume.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import MatrixError
from bistochastic.matrices.base import Channel, refuse_singular
from bistochastic.matrices.checks import LINE_LENGTH, as_number, guard_line
from bistochastic.matrices.inverse import inverse_squares
from bistochastic.matrices.line import Line
from bistochastic.matrices.mixture import Mixture
from bistochastic.measures.posterior import Alone, Prior, SideBySide, knowledge

__all__ = ["design_effect", "largest_design_effect", "sample_size"]

Floats = NDArray[Any]
Codes = NDArray[Any]


def design_effect(channel: Channel, prior: Prior = None) -> "Floats | Line":
    r"""How many times as many respondents each category needs for the same precision.

    Args:
        channel: A channel that can be undone.
        prior: How the truth is distributed; all categories equally frequent if not given. For a
            `Kronecker` also a list with one for each factor.

    A category that nobody or everybody has is known beforehand: its effect is infinite.

    >>> from bistochastic import Mixture
    >>> design_effect(Mixture(2, truth=0.75))
    array([4., 4.])
    """
    variance = _Variance.of(channel, prior)
    return _line(channel.size, variance.effect)


def sample_size(
    channel: Channel,
    prior: Prior = None,
    *,
    standard_error: float | None = None,
    relative: float | None = None,
) -> "Floats | Line":
    r"""How many respondents it takes until the share of each category is so precise.

    Args:
        channel: A channel that can be undone.
        prior: How the truth is distributed; all categories equally frequent if not given.
        standard_error: The standard error that a share may have.
        relative: The same as a part of the share itself.

    Whole numbers, infinite where a category that nobody has should be known relatively.

    >>> from bistochastic import Mixture
    >>> sample_size(Mixture(2, truth=0.75), [0.9, 0.1], standard_error=0.01)
    array([8400., 8400.])
    >>> sample_size(Mixture(2, truth=0.75), [0.9, 0.1], relative=0.1)
    array([ 104., 8400.])
    """
    wanted, kind = _wanted(standard_error, relative)
    variance = _Variance.of(channel, prior)

    def needed(u: Codes) -> Floats:
        share = variance.known.prior(u)
        error = wanted * share if kind == "relative" else np.full(share.shape, wanted)
        with np.errstate(divide="ignore", invalid="ignore"):
            count = variance.single(u) / np.square(error)
        # What is whole but for rounding is not one more.
        return np.where(error > 0, np.ceil(count * (1 - 1e-12)), np.inf)

    return _line(channel.size, needed)


def largest_design_effect(channel: Channel) -> float:
    """The design effect of the category that suffers most, all being equally frequent.

    >>> from bistochastic import Mixture
    >>> round(largest_design_effect(Mixture(10**12, truth=0.5)), 6)
    4.0
    """
    variance = _Variance.of(channel, None)
    share = 1 / channel.size
    if channel.size == 1:
        return 1.0
    return (variance.largest() - share**2) / (share * (1 - share))


def _wanted(standard_error: float | None, relative: float | None) -> tuple[float, str]:
    given = {"standard_error": standard_error, "relative": relative}
    asked = {name: value for name, value in given.items() if value is not None}
    if len(asked) != 1:
        raise MatrixError("sample_size needs one target: standard_error or relative.")
    ((name, value),) = asked.items()
    if not 0 < as_number(value, name) < np.inf:
        raise MatrixError(f"{name} must be positive; got {value!r}.")
    return float(value), name


def _line(size: int, at: Callable[[Codes], Floats]) -> "Floats | Line":
    return Line(size, at) if size > LINE_LENGTH else at(np.arange(size))


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Variance:
    r"""What one respondent adds to a variance: $\sum_v Q_{uv}^2\lambda_v - \pi_u^2$."""

    known: Alone | SideBySide
    moment: "_Moment"

    @classmethod
    def of(cls, channel: Channel, prior: Prior) -> "_Variance":
        known = knowledge(channel, prior)
        return cls(known, _moment(known))

    def single(self, u: Codes) -> Floats:
        return np.maximum(self.moment.at(u) - np.square(self.known.prior(u)), 0.0)

    def effect(self, u: Codes) -> Floats:
        share = self.known.prior(u)
        if self.known.size == 1:
            return np.ones(share.shape)
        direct = share * (1 - share)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(direct > 0, self.single(u) / direct, np.inf)

    def largest(self) -> float:
        return self.moment.largest


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Moment:
    r"""$\sum_v Q_{uv}^2\lambda_v$ at any u, and the largest of them."""

    at: Callable[[Codes], Floats]
    largest: float


def _moment(known: Alone | SideBySide) -> _Moment:
    if isinstance(known, SideBySide):
        parts = [_moment(part) for part in known.parts]
        sizes = known.sizes

        def product(u: Codes) -> Floats:
            digits = np.unravel_index(np.asarray(u, dtype=np.int64), sizes)
            each = [part.at(digit) for part, digit in zip(parts, digits, strict=True)]
            return np.asarray(np.prod(each, axis=0))

        return _Moment(product, float(np.prod([part.largest for part in parts])))
    channel = known.channel
    if known.share is None and isinstance(channel, Mixture):
        refuse_singular(channel)
        keep = channel.truth - channel.lie
        squares = (1 - channel.lie) ** 2 + (channel.n - 1) * channel.lie**2
        same = squares / keep**2 / channel.n
        return _Moment(lambda u: np.full(np.shape(u), same), same)
    guard_line(channel.size, "The variance of each category")
    moments = inverse_squares(channel, known.reported(np.arange(channel.size)))
    return _Moment(lambda u: moments[u], float(moments.max()))
