"""The privacy–distortion function of a joint law: its curve, its points, its optimal channels."""

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike

from bistochastic.errors import MatrixError, TargetError
from bistochastic.matrices.base import Channel
from bistochastic.matrices.checks import as_number, as_numbers, as_size, frozen
from bistochastic.matrices.stochastic import Stochastic
from bistochastic.tradeoff.bounds import Bounds
from bistochastic.tradeoff.certificate import feasible, gains, least_sum
from bistochastic.tradeoff.conic import conic
from bistochastic.tradeoff.curve import TradeoffCurve
from bistochastic.tradeoff.descent import alternating, steepest
from bistochastic.tradeoff.distortions import hamming, squared, taxonomic
from bistochastic.tradeoff.placed import Placed
from bistochastic.tradeoff.point import UNITS, TradeoffPoint
from bistochastic.tradeoff.problem import Floats, Problem
from bistochastic.tradeoff.silence import silent
from bistochastic.tradeoff.solver import Iterate, Solved, solved

__all__ = ["METHODS", "Method", "Tradeoff", "tradeoff"]

Method = Literal["interior-point", "conic", "steepest-descent", "blahut-arimoto"]
Distortion = ArrayLike | Literal["hamming", "squared"] | Mapping[Hashable, Hashable]

METHODS = ("interior-point", "conic", "steepest-descent", "blahut-arimoto")
EDGE = 1e-12  # of the span: nearer to its ends than this, a distortion is the end
SMOOTH = 1e-13  # of any report, added where only the logarithms of a channel are wanted


def tradeoff(
    joint: ArrayLike,
    distortion: Distortion,
    *,
    units: Literal["nats", "bits"] = "nats",
    tolerance: float = 1e-6,
    method: Method = "interior-point",
) -> "Tradeoff":
    """How little of W any report of X can tell, at each mean distortion.

    Args:
        joint: Counts or probabilities of (w, x), a row for each w and a column for each x. If W is
            X itself, `np.diag` of its law.
        distortion: d(x, x̂), a row for each x and a column for each x̂; or "hamming", 1 for any
            wrong report; or "squared", of the steps between codes; or a taxonomy child → parent.
        units: What risks, gaps and multipliers are told in.
        tolerance: The certified gap in nats that each point is computed to.
        method: How points are found; the certificate is the same for all.

    >>> coins = tradeoff([[0.4, 0.1], [0.1, 0.4]], "hamming", units="bits")
    >>> point = coins.point(distortion=0.25)
    >>> round(point.risk, 4), point.gap < 1e-6, round(coins.largest_risk, 4)
    (0.0659, True, 0.2781)
    """
    if units not in UNITS:
        raise MatrixError(f'A trade-off is told in "nats" or "bits"; got {units!r}.')
    if method not in METHODS:
        raise MatrixError(f"A method is one of {', '.join(METHODS)}; got {method!r}.")
    if not 0 < as_number(tolerance, "A tolerance") < 1:
        raise MatrixError(f"A tolerance must lie above 0 and below 1; got {tolerance!r}.")
    table = as_numbers(joint, "The joint table")
    size = table.shape[-1] if table.ndim == 2 else 0
    problem = Problem.of(table, _costs(distortion, size))
    return Tradeoff(problem, units, float(tolerance), method)


def _costs(distortion: Distortion, size: int) -> ArrayLike:
    if isinstance(distortion, Mapping):
        return taxonomic(distortion)
    if not isinstance(distortion, str):
        return distortion
    if distortion == "hamming":
        return hamming(max(size, 1))
    if distortion == "squared":
        return squared(np.arange(max(size, 1)))
    raise MatrixError(f'A distortion by name is "hamming" or "squared"; got {distortion!r}.')


@final
@dataclass(frozen=True, slots=True, eq=False)
class Tradeoff:
    """R(D) of one joint law and one distortion, in nats unless bits were asked for."""

    problem: Problem
    units: str
    tolerance: float
    method: Method

    @property
    def largest_risk(self) -> float:
        """I(W; X), what X itself would tell."""
        return self.problem.largest_risk / UNITS[self.units]

    @property
    def least_distortion(self) -> float:
        """The mean distortion of the nearest reports; 0 where x may be reported as it is."""
        return self.problem.least_distortion

    @property
    def constant_distortion(self) -> float:
        """The mean distortion of the best constant report: from there on nothing need be told."""
        return self.problem.constant_distortion

    @property
    def silent_distortion(self) -> float:
        """The least mean distortion of reports that are independent of W.

        >>> doubled = tradeoff([[3, 1, 0, 0], [0, 0, 3, 1]], "hamming")
        >>> round(doubled.silent_distortion, 9), doubled.constant_distortion
        (0.5, 0.625)
        """
        return self.least_distortion + silent(self.problem) * self.problem.span

    @property
    def bounds(self) -> Bounds:
        """What is known of the curve without solving anything."""
        return Bounds(self.problem, self.units)

    def point(
        self, *, distortion: float | None = None, multiplier: float | None = None
    ) -> TradeoffPoint:
        """The best channel at a mean distortion, or the one that minimises D + λR.

        Args:
            distortion: The mean distortion that is allowed, never exceeded.
            multiplier: λ, distortion per unit of risk.
        """
        return self._point(distortion, multiplier, None)[0]

    def channel(
        self, *, distortion: float | None = None, multiplier: float | None = None
    ) -> Stochastic:
        """The optimal channel, as a matrix."""
        return self.point(distortion=distortion, multiplier=multiplier).channel

    def curve(self, points: int = 50) -> TradeoffCurve:
        """The whole curve, at evenly spaced distortions from the least to where nothing is told.

        Each point starts from where its neighbour was.
        """
        if as_size(points, "A curve") < 2:
            raise MatrixError("A curve needs at least 2 points.")
        start: Iterate | None = None
        found: list[TradeoffPoint] = []
        for share in np.linspace(silent(self.problem), 0.0, points):
            at = self.least_distortion + share * self.problem.span
            point, start = self._point(float(at), None, start)
            found.append(point)
        return TradeoffCurve(tuple(reversed(found)))

    def place(self, channel: Channel | ArrayLike, name: str = "") -> Placed:
        """Where any channel lies, beside the best at the same distortion.

        >>> from bistochastic import Mixture
        >>> coins = tradeoff([[0.4, 0.1], [0.1, 0.4]], "hamming", units="bits")
        >>> round(coins.place(Mixture(2, truth=0.75)).excess, 6)
        0.0
        """
        array = channel.to_dense() if isinstance(channel, Channel) else channel
        rows = as_numbers(array, "The channel")
        if rows.shape != self.problem.costs.shape:
            raise MatrixError(
                f"The channel must have the shape of the distortion, {self.problem.costs.shape}; "
                f"got {rows.shape}."
            )
        if rows.min() < 0 or np.abs(rows.sum(axis=1) - 1).max() > 1e-9:
            raise MatrixError("The rows of the channel must be probabilities that sum to 1.")
        alive = rows[self.problem.alive]
        at = self.problem.distortion(alive)
        risk = self.problem.risk(alive) / UNITS[self.units]
        return Placed(name, at, risk, 0.0, self.least_at(at), self.units)

    def least_at(self, distortion: float) -> float:
        """The least risk at a distortion, as a certified channel attains it."""
        return self.point(distortion=max(distortion, self.least_distortion)).risk

    def _point(
        self, distortion: float | None, multiplier: float | None, start: Iterate | None
    ) -> tuple[TradeoffPoint, Iterate | None]:
        if (distortion is None) == (multiplier is None):
            raise MatrixError("A point is asked for by its distortion or by its multiplier.")
        if multiplier is not None:
            return self._by_multiplier(as_number(multiplier, "The multiplier")), None
        asked = as_number(distortion, "The distortion")
        share = self._share(asked)
        if share >= 1 - EDGE:
            return self._constant(math.inf), None
        if self.method != "interior-point":
            raise TargetError(
                f'The method "{self.method}" finds points by their multiplier only. Give one, or '
                f'take "interior-point".'
            )
        if share <= EDGE:
            return self._nearest(), None
        found = solved(self.problem, budget=share, tolerance=self._fine, start=start)
        channel = self._within(found.channel, share)
        return self._told(channel, found), found.start

    def _share(self, distortion: float) -> float:
        """Where a distortion lies between the least and the constant report's: 0 … 1."""
        least, span = self.least_distortion, self.problem.span
        slack = EDGE * max(abs(least), self.constant_distortion, span)
        if not distortion >= least - slack:
            raise TargetError(
                f"No report distorts less than {least:.6g} on average; got a distortion of "
                f"{distortion:.6g}. Allow more."
            )
        return (distortion - least) / span if span > 0 else 1.0

    def _by_multiplier(self, multiplier: float) -> TradeoffPoint:
        if not 0 < multiplier < math.inf:
            raise TargetError(f"A multiplier must be positive and finite; got {multiplier!r}.")
        if self.problem.span <= 0:
            return self._constant(multiplier)
        slope = self.problem.span * UNITS[self.units] / multiplier
        return self._told(*SOLVERS[self.method](self.problem, slope, self._fine))

    @property
    def _fine(self) -> float:
        """What the solver is asked for: the gap is also to hold in bits and in D + λR."""
        return self.tolerance / 2

    def _constant(self, multiplier: float) -> TradeoffPoint:
        channel = np.zeros_like(self.problem.charges)
        channel[:, int((self.problem.prior @ self.problem.charges).argmin())] = 1.0
        return replace(self._at(channel, 0.0, multiplier), risk=0.0, gap=0.0)

    def _nearest(self) -> TradeoffPoint:
        """Least distortion first; where several reports are as near, the ones that tell least."""
        near = self.problem.charges <= EDGE
        used = near.any(axis=0)
        if (near.sum(axis=1) == 1).all():
            return self._at(near.astype(np.float64), None, 0.0)
        among = Problem.of(self.problem.joint, self.problem.costs[:, used])
        allowed = near[:, used].astype(np.float64)
        found = solved(among, slope=0.0, allowed=allowed, tolerance=self._fine)
        channel = np.zeros_like(self.problem.charges)
        channel[:, used] = found.channel
        return self._at(channel, found.least, 0.0)

    def _within(self, channel: Floats, share: float) -> Floats:
        """The channel, or a mixture with the nearest reports, that keeps what was asked for."""
        spent = self.problem.charged(channel)
        if spent <= share:
            return channel
        nearest = np.zeros_like(channel)
        nearest[np.arange(len(channel)), self.problem.charges.argmin(axis=1)] = 1.0
        part = 1 - share / spent
        return (1 - part) * channel + part * nearest

    def _told(self, channel: Floats, found: Solved) -> TradeoffPoint:
        """A point from what a solver found, its least risk read off the tangent."""
        least = found.least - found.slope * self.problem.charged(channel)
        multiplier = self.problem.span * UNITS[self.units] / found.slope
        return self._at(channel, least, multiplier)

    def _at(self, channel: Floats, least: float | None, multiplier: float) -> TradeoffPoint:
        """A point of a channel; `least` in nats, or None where no other channel is possible."""
        risk = self.problem.risk(channel)
        gap = 0.0 if least is None else max(risk - max(least, 0.0), 0.0)
        unit = UNITS[self.units]
        return TradeoffPoint(
            self.problem.distortion(channel),
            risk / unit,
            gap / unit,
            multiplier,
            self.units,
            frozen(self.problem.whole(channel)),
            self.problem,
        )


def _by_cones(problem: Problem, slope: float, tolerance: float) -> tuple[Floats, Solved]:
    channel, logs = conic(problem, slope)
    least = least_sum(problem, feasible(problem, logs), slope)
    return channel, _found(problem, channel, slope, least)


def _descended(
    descent: Callable[..., Floats],
) -> Callable[[Problem, float, float], tuple[Floats, Solved]]:
    def found(problem: Problem, slope: float, tolerance: float) -> tuple[Floats, Solved]:
        channel = descent(problem, slope)
        return channel, _found(problem, channel, slope, -math.inf)

    return found


def _found(problem: Problem, channel: Floats, slope: float, least: float) -> Solved:
    """What a solver found that knows no certificate, with the one that its channel gives."""
    smooth = (1 - SMOOTH) * channel + SMOOTH / channel.shape[1]
    least = max(least, least_sum(problem, gains(problem, smooth), slope))
    nothing: Any = np.zeros(0)
    return Solved(channel, slope, least, Iterate(nothing, nothing, nothing, slope, 0.0))


def _inside(problem: Problem, slope: float, tolerance: float) -> tuple[Floats, Solved]:
    found = solved(problem, slope=slope, tolerance=tolerance)
    return found.channel, found


SOLVERS: dict[str, Callable[[Problem, float, float], tuple[Floats, Solved]]] = {
    "interior-point": _inside,
    "conic": _by_cones,
    "steepest-descent": _descended(steepest),
    "blahut-arimoto": _descended(alternating),
}
