"""Where a method lies on the plane of distortion and risk, and how far that is from the best."""

from dataclasses import dataclass
from typing import final

__all__ = ["Placed"]


@final
@dataclass(frozen=True, slots=True)
class Placed:
    """A method on the plane.

    Attributes:
        name: What it is.
        distortion: Its mean distortion.
        risk: I(W; X̂), in `units`.
        error: One standard error of the risk, where it was estimated from records; else 0.
        least: What the best channel of the same distortion leaks.
        units: "nats" or "bits".
        thin: Whether records are so few for each cell that the correction of the bias is doubtful.
    """

    name: str
    distortion: float
    risk: float
    error: float
    least: float
    units: str
    thin: bool = False

    @property
    def excess(self) -> float:
        """What it leaks more than it need."""
        return max(self.risk - self.least, 0.0)

    @property
    def sentence(self) -> str:
        """How far from optimal it is, in a sentence."""
        near = f" ± {self.error:.2g}" if self.error else ""
        if self.excess <= max(2 * self.error, 1e-6, 0.005 * self.risk):
            return (
                f"At this distortion nothing leaks noticeably less than the {self.risk:.3g}{near} "
                f"{self.units} of it."
            )
        digits = 2 if self.risk - self.least >= 0.01 else 4
        return (
            f"The same distortion could leak {self.least:.{digits}f} {self.units} instead of "
            f"{self.risk:.{digits}f}{near}."
        )
