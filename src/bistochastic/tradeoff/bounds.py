r"""Bounds on the curve that need no optimisation: a line above it and what it must reach.

The mutual-information upper bound, I(W; X)(1 - d): report x itself, or with probability d the best
constant, d being D over the mean distortion of that constant (Rebollo-Monedero, Forné &
Domingo-Ferrer 2010, equation 9). Where X̂ cannot equal X the line starts at the nearest reports.

The quadratic-Gaussian lower bound is not here on purpose: it holds for a W that has a density, and
a table never is one. It stands in `quadratic`.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from bistochastic.matrices.checks import as_numbers
from bistochastic.tradeoff.descent import between
from bistochastic.tradeoff.point import UNITS
from bistochastic.tradeoff.problem import Floats, Problem

__all__ = ["Bounds"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """What holds of the curve of a joint table, whatever the solver says."""

    problem: Problem
    units: str

    @property
    def nearest_risk(self) -> float:
        """What the nearest reports tell: I(W; X) where x may be reported as it is."""
        return self.problem.risk(between(self.problem, 0.0)) / UNITS[self.units]

    def upper(self, distortion: ArrayLike) -> Floats:
        """MIUB, the line from the nearest reports to the best constant; infinite before it.

        >>> from bistochastic import tradeoff
        >>> bounds = tradeoff([[0.4, 0.1], [0.1, 0.4]], "hamming", units="bits").bounds
        >>> bounds.upper([0.0, 0.25, 0.5]).round(4)
        array([0.2781, 0.139 , 0.    ])
        """
        at = as_numbers(distortion, "The distortion")
        least, span = self.problem.least_distortion, self.problem.span
        share = np.clip((at - least) / span, 0.0, 1.0) if span > 0 else np.ones_like(at)
        line = self.nearest_risk * (1 - share)
        return np.where(at < least - 1e-12 * max(abs(least), span), np.inf, line)
