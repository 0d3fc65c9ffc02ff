r"""The bistochastic matrix of least expected distortion among those of at least the given bits.

It minimises $\frac1n\sum_{uv} d(u,v)\,p_{uv}$, and is the bistochastic scaling of $e^{-d/T}$ at the
temperature T that gives the bits (optimal transport with entropy; Cuturi, 2013). As T falls to 0
the plan tends to the most uncertain one among the cheapest, and its bits to a floor: below the
floor nothing is gained, so the floor is what is given.
"""

import math
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, softmax

from bistochastic.errors import MatrixError, TargetError
from bistochastic.matrices.assignment import Assignment, assign, in_some_matching
from bistochastic.matrices.checks import as_numbers
from bistochastic.matrices.scaling import Potentials, scaled
from bistochastic.matrices.temperature import ROOM, least_temperature

__all__ = [
    "TemperedPlan",
    "as_distances",
    "assignment_floor",
    "entropic_plan",
    "mean_bits",
    "plan_with_bits",
    "require_bits",
]

Floats = NDArray[np.float64]

LN2 = math.log(2.0)
OVER = 1e-12  # bits by which a target may exceed log2 n, for targets that were themselves rounded
GUESS_ROWS = 64  # rows looked at for a first temperature
FAR = 1.0  # in log temperature: trials further apart tell no trend


@final
class TemperedPlan(NamedTuple):
    """A bistochastic matrix and the temperature at which it is the optimum."""

    matrix: Floats
    temperature: float


def as_distances(distances: ArrayLike) -> Floats:
    """A square array of finite numbers, of any sign, symmetric or not."""
    square = as_numbers(distances, "Distances")
    if square.ndim != 2 or square.shape[0] != square.shape[1]:
        raise MatrixError(f"Distances must be a square array; got shape {square.shape}.")
    return square


def mean_bits(matrix: Floats) -> float:
    """The mean entropy of the rows in bits."""
    return float(entr(matrix).sum(axis=1).sum() / (matrix.shape[0] * LN2)) + 0.0


def require_bits(bits: float, n: int) -> None:
    """Refuse a target that no matrix of this size carries."""
    if not bits <= math.log2(n) + OVER:
        raise TargetError(
            f"A matrix of size {n} carries from 0 to {math.log2(n):.12g} bits; got {bits!r}. "
            f"Ask for a number in this range."
        )


def entropic_plan(
    distances: ArrayLike, temperature: float, *, start: Potentials | None = None
) -> Floats:
    r"""The bistochastic scaling of $e^{-d/T}$; exactly symmetric if the distances are.

    >>> entropic_plan([[0.0, 1.0], [1.0, 0.0]], 1.0).round(6).tolist()
    [[0.731059, 0.268941], [0.268941, 0.731059]]
    """
    costs = as_distances(distances)
    if not temperature > 0:
        raise MatrixError(f"A plan needs a temperature above 0; got {temperature!r}.")
    return scaled(-costs / temperature, start=start)[0]


def assignment_floor(distances: ArrayLike) -> Floats:
    """The plan at temperature zero: of all matrices of least distortion the most uncertain one.

    Distances are told apart down to 1e-12 of their range.

    >>> codes = np.array([0.0, 0.0, 1.0])
    >>> assignment_floor(np.abs(codes[:, None] - codes)).tolist()
    [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """
    best = assign(as_distances(distances))
    return scaled(floor_kernel(best))[0]


def plan_with_bits(distances: ArrayLike, bits: float) -> TemperedPlan:
    """The plan of least distortion that carries at least the bits, and its temperature.

    The temperature is 0 at or below the floor, and infinite at log2 n.

    >>> plan, temperature = plan_with_bits([[0.0, 1.0], [1.0, 0.0]], 0.5)
    >>> round(mean_bits(plan), 12), round(temperature, 6)
    (0.5, 0.478364)
    """
    costs = as_distances(distances)
    n = costs.shape[0]
    require_bits(bits, n)
    best = assign(costs)
    floor = scaled(floor_kernel(best))[0]
    if min(bits, math.log2(n) - ROOM) <= mean_bits(floor):
        return TemperedPlan(floor, 0.0)
    if bits >= math.log2(n) - ROOM:
        return TemperedPlan(np.full((n, n), 1 / n), math.inf)
    warm = Warm(best.reduced)
    trial = least_temperature(warm.plan_at, bits, guess(best, bits))
    return TemperedPlan(trial.plan, math.exp(trial.log_temperature))


def floor_kernel(best: Assignment) -> Floats:
    """Logarithms of the 0/1 pattern of all permutations of least cost."""
    kept = in_some_matching(best.reduced == 0, best.columns)
    return np.where(kept, 0.0, -np.inf)


def guess(best: Assignment, bits: float) -> float:
    """A temperature at which some of the rows, each normalised alone, carry the bits.

    Their costs are those of swapping two rows' columns, which do not depend on the prices.
    """
    exchanges = best.reduced[:, best.columns]
    step = max(1, exchanges.shape[0] // GUESS_ROWS)
    some = (exchanges[::step] + exchanges[:, ::step].T) / 2
    largest = float(some.max())
    low, high = math.log(largest) - 18.0, math.log(largest) + 15.0
    for _ in range(20):
        middle = (low + high) / 2
        if mean_bits(softmax(-some / math.exp(middle), axis=1)) < bits:
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2)


@final
class Warm:
    """Plans at one temperature after another, each started from what the last ones found."""

    def __init__(self, costs: Floats) -> None:
        """Start without experience."""
        self.costs = costs
        self.known: list[tuple[float, Floats, Floats]] = []

    def plan_at(self, temperature: float) -> tuple[float, Floats]:
        """The bits of the plan at this temperature, and the plan."""
        at = math.log(temperature)
        matrix, found = scaled(self.costs / -temperature, start=self.start(at))
        self.known = [*self.known[-1:], (at, *found)]
        return mean_bits(matrix), matrix

    def start(self, at: float) -> Potentials | None:
        """Potentials extrapolated in the logarithm of the temperature."""
        if not self.known:
            return None
        near, rows, columns = self.known[-1]
        if len(self.known) < 2 or abs(near - self.known[0][0]) > FAR:
            factor = math.exp(near - at)  # potentials in units of distance change the least
            return rows * factor, columns * factor
        before, earlier_rows, earlier_columns = self.known[0]
        weight = min(max((at - near) / (near - before), -2.0), 2.0) if near != before else 0.0
        return (
            rows + weight * (rows - earlier_rows),
            columns + weight * (columns - earlier_columns),
        )
