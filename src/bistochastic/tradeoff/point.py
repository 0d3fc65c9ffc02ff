"""A point of the trade-off: a channel, where it lies, and the proof of how near the best it is."""

import math
from dataclasses import dataclass
from typing import final

from bistochastic.errors import MatrixError
from bistochastic.matrices.stochastic import Stochastic
from bistochastic.tradeoff.closeness import Leakage, closeness
from bistochastic.tradeoff.problem import Floats, Problem

__all__ = ["UNITS", "TradeoffPoint"]

UNITS = {"nats": 1.0, "bits": math.log(2.0)}  # how many nats one is


@final
@dataclass(frozen=True, slots=True, eq=False)
class TradeoffPoint:
    """An optimal channel, to the certified gap.

    Attributes:
        distortion: The mean distortion D of the channel.
        risk: I(W; X̂) of the channel, in `units`.
        gap: By how much at most a channel of the same distortion could leak less, in `units`.
        multiplier: λ of D + λR there, distortion per unit of risk: the slope of the curve is -1/λ.
            0 at the least distortion, infinite where nothing is told.
        units: "nats" or "bits".
        array: p(x̂|x), a row for each x and a column for each x̂.
    """

    distortion: float
    risk: float
    gap: float
    multiplier: float
    units: str
    array: Floats
    problem: Problem

    @property
    def least_risk(self) -> float:
        """What every channel of the same distortion leaks at least."""
        return max(self.risk - self.gap, 0.0)

    @property
    def cost(self) -> float:
        """D + λR, which the channel minimises to within λ times the gap."""
        return self.distortion + self.multiplier * self.risk if self.risk else self.distortion

    @property
    def channel(self) -> Stochastic:
        """The channel as a matrix, with everything that a matrix can be asked."""
        if len(self.array) != self.array.shape[1]:
            raise MatrixError(
                f"The reports are {self.array.shape[1]}, the values {len(self.array)}: that is no "
                f"square matrix. Its array is in `array`."
            )
        return Stochastic(self.array)

    @property
    def closeness(self) -> Leakage:
        """How far reports move what is known of W: on average, at worst, at most."""
        told = self.problem.told(self.array[self.problem.alive])
        return closeness(told, UNITS[self.units])

    def __repr__(self) -> str:
        return (
            f"<TradeoffPoint distortion {self.distortion:.6g}, risk {self.risk:.6g} {self.units}, "
            f"gap {self.gap:.1e}>"
        )
