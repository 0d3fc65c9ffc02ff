r"""Optimal: the least expected distortion for the bits.

Among all bistochastic matrices with at least the given bits, the one that changes values least far:
the bistochastic scaling of $e^{-d/T}$. Distances may be anything; on ordered codes with
$d = |u-v|^r$ the matrix is `Ordered`, told by a profile and a margin at any size.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_toeplitz, solveh_banded

from bistochastic.errors import ExactnessError, MatrixError, TargetError, TooLargeError
from bistochastic.matrices.alias import AliasTable
from bistochastic.matrices.base import Bistochastic, Truthfulness, Vector, refuse_singular
from bistochastic.matrices.blocks import secrecy
from bistochastic.matrices.bounds import AtMost
from bistochastic.matrices.checks import as_line, as_size, guard_cells
from bistochastic.matrices.dense import Dense, TableForm, dense_entries
from bistochastic.matrices.entries import Entries, Part
from bistochastic.matrices.exact import Exact, Extremes, bits_below, largest_log_ratio
from bistochastic.matrices.mixture import identity
from bistochastic.matrices.ordered import (
    OrderedBits,
    OrderedPlan,
    ordered_bits,
    ordered_plan,
    ordered_plan_with_bits,
)
from bistochastic.matrices.rounding import round_bistochastic, vanished
from bistochastic.matrices.spectrum import SMALL, dense_condition
from bistochastic.matrices.toeplitz import convolve
from bistochastic.matrices.transport import (
    as_distances,
    assignment_floor,
    entropic_plan,
    plan_with_bits,
)
from bistochastic.matrices.words import Words

__all__ = ["Ordered", "distortion", "optimal", "optimal_at"]

TABLE_CELLS = 30_000_000  # the largest table that an integer form of border rows may take
BANDED_WORK = 4e10  # operations that a banded solution may take
FAINT = 1e-18  # relative entries that no longer change a solution in doubles


def optimal(
    distances: ArrayLike | None = None,
    *,
    ordered: int | None = None,
    power: float = 2.0,
    beta: float | None = None,
    bits: float | None = None,
    temperature: float | None = None,
) -> Bistochastic:
    r"""The bistochastic matrix of least distortion $\frac1n\sum d(u,v)\,p_{uv}$ for its bits.

    Below the floor that the cheapest assignments already have, the bits are more than asked for.

    Args:
        distances: Any square array, symmetric or not, of any sign.
        ordered: Instead of distances, the number of ordered codes, with $d = |u-v|^r$.
        power: That r.
        beta: The share of the bits possible that it shall have at least.
        bits: The mean row entropy that it shall have at least.
        temperature: Instead of a target, T itself.

    >>> optimal(ordered=12, beta=0.6).truthfulness.mean.__round__(3)
    0.359
    """
    if (distances is None) == (ordered is None):
        raise MatrixError("optimal needs either distances or the number of ordered codes.")
    if sum(target is not None for target in (beta, bits, temperature)) != 1:
        raise TargetError("optimal needs exactly one of beta, bits and temperature.")
    if temperature is not None:
        return optimal_at(distances, ordered=ordered, power=power, temperature=temperature)
    size = len(as_distances(distances)) if distances is not None else as_size(ordered, "optimal")
    if beta is not None and not 0 <= beta <= 1:
        raise TargetError(f"beta={beta!r} is out of reach: beta lies between 0 and 1.")
    wanted = bits if beta is None else beta * math.log2(size)
    if distances is not None:
        return Dense(plan_with_bits(distances, float(wanted or 0)).matrix)
    plan = ordered_plan_with_bits(size, float(wanted or 0), power)
    return optimal_at(ordered=size, power=power, temperature=plan.temperature)


def optimal_at(
    distances: ArrayLike | None = None,
    *,
    ordered: int | None = None,
    power: float = 2.0,
    temperature: float,
) -> Bistochastic:
    """The optimal matrix at a temperature, 0 and infinity included."""
    if ordered is not None:
        size = as_size(ordered, "optimal(ordered=…)")
        if temperature == 0:
            return identity(size)
        if math.isinf(temperature):
            return secrecy(size)
        return Ordered(size, temperature=temperature, power=power)
    costs = as_distances(distances if distances is not None else [])
    if temperature == 0:
        return Dense(assignment_floor(costs))
    if math.isinf(temperature):
        return secrecy(len(costs))
    return Dense(entropic_plan(costs, temperature))


def distortion(matrix: Bistochastic, distances: ArrayLike) -> float:
    r"""How far a value is moved on average, $\frac1n\sum_{uv} d(u,v)\,p_{uv}$.

    >>> distortion(secrecy(2), [[0, 3], [3, 0]])
    1.5
    """
    costs = as_distances(distances)
    if len(costs) != matrix.size:
        raise MatrixError(
            f"distortion needs distances between {matrix.size} codes; got {len(costs)}."
        )
    return float((costs * matrix.to_dense()).sum() / matrix.size)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ordered(Bistochastic):
    r"""The optimal matrix on ordered codes: $p_{uv} = s_u s_v e^{-|u-v|^r/T}$.

    >>> round(Ordered(12, temperature=3.0).beta, 6)
    0.592922
    """

    n: int
    temperature: float
    power: float
    plan: OrderedPlan = field(init=False)

    def __init__(self, n: int, *, temperature: float, power: float = 2.0) -> None:
        size = as_size(n, "Ordered")
        if not 0 < temperature < math.inf:
            raise MatrixError(f"Ordered needs a finite temperature above 0; got {temperature!r}.")
        object.__setattr__(self, "n", size)
        object.__setattr__(self, "temperature", float(temperature))
        object.__setattr__(self, "power", float(power))
        object.__setattr__(self, "plan", ordered_plan(size, temperature, power))

    @property
    def size(self) -> int:
        return self.n

    @property
    def T(self) -> Self:
        return self

    @property
    def reach(self) -> int:
        """The largest distance that has a positive entry."""
        return int(self.plan.log_profile.size) - 1

    @property
    def distortion(self) -> float:
        r"""Its own mean distortion, $\frac1n\sum |u-v|^r p_{uv}$."""
        return self._measured().distortion

    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        u, v = np.asarray(u, dtype=np.int64), np.asarray(v, dtype=np.int64)
        distance = np.abs(u - v)
        near = np.minimum(distance, self.reach)
        margins = self.plan.potentials[u] + self.plan.potentials[v]
        return np.where(distance <= self.reach, np.exp(margins + self.plan.log_profile[near]), 0.0)

    def matvec(self, x: ArrayLike) -> Vector:
        line = as_line(x, self.n)
        factors = np.exp(self.plan.potentials)
        weights = np.exp(self.plan.log_profile)
        columns = (factors[:, None] * line.reshape(self.n, -1)).T
        moved = np.array([convolve(weights, column) for column in columns]).T
        result: Vector = (factors[:, None] * moved).reshape(line.shape)
        return result

    def solve(self, y: ArrayLike) -> Vector:
        line = as_line(y, self.n)
        refuse_singular(self)
        factors = np.exp(self.plan.potentials).reshape(-1, *[1] * (line.ndim - 1))
        solution: Vector = self._unconvolved(line / factors) / factors
        return solution

    def diagonal(self) -> Vector:
        return np.exp(2 * self.plan.potentials + self.plan.log_profile[0])

    def entries(self) -> Entries:
        guard_cells(self.n**2, "The entries of an ordered plan")
        return dense_entries(self.to_dense())

    @property
    def bits(self) -> float:
        return self._measured().mean

    @property
    def min_row_bits(self) -> float:
        return self._measured().least

    @property
    def epsilon(self) -> float:
        """Exact while small; beyond, the largest entry of all over the least, as a bound."""
        if self.reach < self.n - 1:
            return math.inf
        if self.n <= SMALL:
            return Dense(self.to_dense()).epsilon
        f, profile = self.plan.potentials, self.plan.log_profile
        return AtMost(2 * (f.max() - f.min()) + profile.max() - profile.min())

    @property
    def truthfulness(self) -> Truthfulness:
        return Truthfulness.of(self.diagonal())

    @property
    def condition(self) -> float:
        """Exact while small; beyond, at most one over the least margin and least wave."""
        if self.n <= SMALL:
            return dense_condition(self.to_dense())
        weights = np.exp(self.plan.log_profile - self.plan.log_profile[0])
        waves = 2 * np.fft.rfft(weights, max(4 * weights.size, 4096)).real - weights[0]
        least = float(waves.min()) * float(self.diagonal().min())
        return AtMost(1 / least if least > 1e-13 * float(waves.max()) else math.inf)

    def integers(self, word_bits: int) -> "tuple[Exact, int]":
        if self.n <= SMALL:
            array = self.to_dense()
            weights, sure = round_bistochastic(array, word_bits=word_bits)
            return TableForm.of(weights, sure, word_bits), vanished(array, weights, sure)
        return _ordered_form(self, word_bits)

    def _measured(self) -> OrderedBits:
        return ordered_bits(self.plan, self.power)

    def _unconvolved(self, line: Vector) -> Vector:
        """Undo the convolution: by bands while they are narrow, by Levinson while it is short."""
        weights = np.exp(self.plan.log_profile)
        band = weights[: int(np.searchsorted(-weights, -FAINT * weights[0]))]
        if self.n * float(band.size) ** 2 <= BANDED_WORK:
            bands = np.repeat(band[:, None], self.n, axis=1)
            undone: Vector = solveh_banded(bands, line, lower=True)
            return undone
        if self.n <= 20 * SMALL:
            column = np.zeros(self.n)
            column[: weights.size] = weights
            levinson: Vector = solve_toeplitz(column, line)
            return levinson
        raise TooLargeError(
            f"Undoing {self!r} would take a band of {band.size} entries for each of its rows. "
            f"Choose a lower temperature, or a diffusion, which is undone at any size."
        )


def _ordered_form(matrix: Ordered, word_bits: int) -> "tuple[OrderedForm, int]":
    """Whole weights off the diagonal, the rest on it; rows far from both ends share one table."""
    f, profile, n = matrix.plan.potentials, matrix.plan.log_profile, matrix.n
    peak = 2 * float(f.max())
    reach = int(np.searchsorted(-profile, word_bits * math.log(2) + math.log(2) + peak))
    reach = min(max(reach - 1, 0), n - 1)
    level = f == f[n // 2]
    lead = int(np.argmin(level[: n // 2][::-1])) if not level[: n // 2].all() else n // 2
    ends = min(n // 2 - lead + reach, (n - 1) // 2)
    if (2 * ends + 1) * (2 * reach + 1) > TABLE_CELLS:
        raise ExactnessError(
            f"{matrix!r}: its integer form needs {2 * ends + 1} different rows of "
            f"{2 * reach + 1} entries, too many. Choose a lower temperature, or a diffusion, "
            f"which has an integer form at any size."
        )
    rows = np.concatenate((np.arange(ends), [n // 2], np.arange(n - ends, n)))
    if ends == (n - 1) // 2:
        rows = np.arange(n)  # no row is like another
    steps = np.arange(-reach, reach + 1)
    others = rows[:, None] + steps
    inside = (others >= 0) & (others < n) & (steps != 0)
    units = np.exp(f[rows][:, None] + f[np.clip(others, 0, n - 1)] + profile[np.abs(steps)])
    weights = np.where(inside, np.rint(np.ldexp(units, word_bits)), 0.0).astype(np.uint64)
    moved = weights.sum(axis=1)
    sure = np.where(moved == 0, reach, -1)
    weights[:, reach] = np.where(moved == 0, 0, np.uint64((1 << word_bits) - 1) - moved + 1)
    lost = int((inside & (weights == 0)).sum()) + 2 * (n - 1 - reach) * int(reach < matrix.reach)
    table = AliasTable.build(weights, word_bits=word_bits, sure=sure)
    table.certify()
    return OrderedForm(n, ends if rows.size < n else -1, reach, table, word_bits), lost


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OrderedForm(Exact):
    """Symmetric whole weights by step; the rows near an end one by one, all others as one row."""

    n: int
    ends: int  # how many rows at each end have a table of their own; -1 if all have
    reach: int
    table: AliasTable
    word_bits: int

    @property
    def size(self) -> int:
        return self.n

    @property
    def draws(self) -> int:
        return 1

    @property
    def denominators(self) -> tuple[int, ...]:
        return (1 << self.word_bits,)

    def integer_row(self, u: int) -> tuple[list[int], int]:
        whole, kind = 1 << self.word_bits, int(self._kinds(np.array([u]))[0])
        row = [0] * self.n
        for step, weight in enumerate(self.table.weights[kind]):
            if weight:
                row[u + step - self.reach] = int(weight)
        if self.table.sure[kind] >= 0:
            row[u] = whole
        return row, whole

    def entries(self) -> Entries:
        values = np.ldexp(self.table.weights.astype(np.float64), -self.word_bits)
        certain = self.table.sure >= 0
        values[certain, self.reach] = 1.0
        repeats = np.ones(len(values), dtype=np.int64)
        if self.ends >= 0:
            repeats[self.ends] = self.n - 2 * self.ends
        # Places beyond an end are no entries; they hold zeros, which are taken from the others.
        rest = np.array([[self.n - values.shape[1]]])
        return Entries((Part(values, np.ones((1, 1))), Part(np.zeros((1, 1)), rest)), repeats)

    def entropy_range(self) -> tuple[float, float]:
        return bits_below(self.entries())

    def log_ratio(self) -> float:
        if self.reach < self.n - 1 or (self.table.sure >= 0).any():
            return math.inf if self.n > 1 else 0.0
        inside = np.abs(np.arange(self.n)[:, None] + np.arange(-self.reach, self.reach + 1))
        weights = self.table.weights
        valid = (np.arange(self.n)[:, None] >= np.arange(self.reach, -self.reach - 1, -1)) & (
            inside < self.n
        )
        low = np.where(valid, weights, np.uint64(2**64 - 1)).min(axis=1)
        return largest_log_ratio(Extremes(low, weights.max(axis=1)))  # symmetric: rows are columns

    def ingredients(self) -> tuple[Any, ...]:
        return (self.ends, self.reach, self.table.weights.ravel(), self.table.sure + 1)

    def draw(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        true = codes.astype(np.int64)
        step = self.table.sample(self._kinds(true), words(0, 0, None))
        return true + step - self.reach

    def _kinds(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        if self.ends < 0:
            return codes
        late = codes - (self.n - 2 * self.ends - 1)
        return np.where(codes < self.ends, codes, np.maximum(late, self.ends))
