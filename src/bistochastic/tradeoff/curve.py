"""The curve: the least risk at every distortion, between two lines that are both proved."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from bistochastic.matrices.checks import as_numbers
from bistochastic.tradeoff.point import TradeoffPoint
from bistochastic.tradeoff.problem import Floats

__all__ = ["TradeoffCurve"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class TradeoffCurve:
    """Points in the order of their distortion, and what they prove in between."""

    points: tuple[TradeoffPoint, ...]

    @property
    def units(self) -> str:
        """The units of risk."""
        return self.points[0].units

    @property
    def distortion(self) -> Floats:
        """D of each point."""
        return np.array([point.distortion for point in self.points])

    @property
    def risk(self) -> Floats:
        """R of each point."""
        return np.array([point.risk for point in self.points])

    @property
    def gap(self) -> Floats:
        """How far each risk can be above the least."""
        return np.array([point.gap for point in self.points])

    @property
    def multiplier(self) -> Floats:
        """λ of each point."""
        return np.array([point.multiplier for point in self.points])

    @property
    def slope(self) -> Floats:
        """dR/dD at each point, -1/λ; minus infinity where λ is 0."""
        with np.errstate(divide="ignore"):
            return -1.0 / self.multiplier

    def upper(self, distortion: ArrayLike) -> Floats:
        """A risk that can be attained at these distortions, by drawing between two channels."""
        at = as_numbers(distortion, "The distortion")
        return np.interp(at, self.distortion, self.risk, left=np.inf)

    def lower(self, distortion: ArrayLike) -> Floats:
        """A risk that nothing goes below at these distortions: the highest tangent."""
        at = as_numbers(distortion, "The distortion")
        best = np.zeros_like(at)
        for point in self.points:
            if 0 < point.multiplier < np.inf:
                line = point.risk - point.gap - (at - point.distortion) / point.multiplier
                best = np.maximum(best, line)
        return best

    def __iter__(self) -> Iterator[TradeoffPoint]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)
