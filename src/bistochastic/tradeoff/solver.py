r"""The solver: a primal-dual interior point method that uses how the problem is built.

The unknown is the joint law $u(x,\hat x)$. Reports x̂ meet each other only in $\sum_{\hat x}u =
p(x)$ and in the distortion, so that Newton's equations fall into one small system for each x̂ and
one over x:

$$\nabla^2 R = B^\top Q_{\hat x} B, \quad Q = G^{-1/2}(I - vv^\top)G^{-1/2}, \quad
G = \operatorname{diag} p(w,\hat x), \quad v_w = \sqrt{p(w|\hat x)}, \quad B = p(w|x).$$

Scaled by what the barrier adds, each is $I + VV^\top$, well conditioned however near zero an entry
is. On the central path the certificate of `certificate` is exactly as far from the value as the
complementarity says, so the last steps only return to that path.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from bistochastic.tradeoff.batches import inverse_of_lower, product
from bistochastic.tradeoff.certificate import TINY, gains, least_sum
from bistochastic.tradeoff.problem import Floats, Problem

__all__ = ["Iterate", "Solved", "solved"]

STEPS = 120  # of Newton's method at most; some 25 are usual
BORDER = 0.995  # of the way to the border that a step may go
RAREST = 1e-10  # an x less likely is taken to be as likely; the bounds are those of the truth
RARE = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)  # of a report, what may be left out
AT_ONCE = 4_000_000  # entries that are laid out for a sum over reports
CALM = 0.02  # the complementarity from which a neighbouring problem may start


@final
@dataclass(frozen=True, slots=True, eq=False)
class Iterate:
    """Where the method is: the joint law, its slacks and the multipliers."""

    law: Floats
    slack: Floats
    rows: Floats  # of the sums p(x)
    slope: float  # κ, of the distortion
    spare: float  # of the distortion allowed, what is not used


@final
@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """A channel, the slope there, and the least that κD + R can be."""

    channel: Floats
    slope: float
    least: float
    start: Iterate  # from where a neighbouring problem may start


def solved(
    problem: Problem,
    *,
    slope: float | None = None,
    budget: float | None = None,
    allowed: Floats | None = None,
    tolerance: float,
    start: Iterate | None = None,
) -> Solved:
    """The channel of least κD + R, or of least R at a distortion; one of the two is given.

    Args:
        problem: The joint law and the distortions.
        slope: κ, nats per span of distortion.
        budget: The share of the span that may be distorted more than need be, above 0.
        allowed: 1 for the reports that are possible for an x, 0 for others; all if None.
        tolerance: How far, in nats, the certificate may be from the value.
        start: Where to begin.
    """
    newton = _Newton(problem, budget, allowed)
    now = newton.first(slope) if start is None else newton.near(start, slope)
    keep, best, lowest, floor = now, now, (np.inf, -np.inf), tolerance / 64
    for _ in range(STEPS):
        apart = newton.complementarity(now)
        if apart > CALM:
            keep = now
        if apart <= tolerance:
            now_at = newton.bounds(now)
            if now_at[0] - now_at[1] <= lowest[0] - lowest[1]:
                best, lowest = now, now_at
            if lowest[0] - lowest[1] <= tolerance / 16 and apart <= 2 * floor:
                break
        now = newton.step(now, centre=apart <= floor)
    least = newton.bounds(best)[1]
    return Solved(newton.sparse(best, tolerance / 16), best.slope, least, keep)


@final
class _Newton:
    """Newton's equations of one problem."""

    def __init__(self, problem: Problem, budget: float | None, allowed: Floats | None) -> None:
        self.problem, self.budget = problem, budget
        self.behind, self.costs = problem.behind, problem.charges
        self.allowed = np.ones_like(self.costs) if allowed is None else allowed
        floored = np.maximum(problem.prior, RAREST)
        self.prior = floored / floored.sum()
        self.secret = self.behind @ self.prior
        self.count = float(self.allowed.sum()) + (budget is not None)

    def first(self, slope: float | None) -> Iterate:
        """Any report with equal probability."""
        shares = self.allowed / self.allowed.sum(axis=1, keepdims=True)
        law = self.prior[:, None] * shares
        spare = 0.0
        if self.budget is not None:
            spare = max(self.budget - float((law * self.costs).sum()), 0.1 * self.budget)
            slope = 1.0
        slack = np.where(self.allowed > 0, 1.0, 0.0)
        return Iterate(law, slack, np.zeros(len(law)), float(slope or 0.0), spare)

    def near(self, start: Iterate, slope: float | None) -> Iterate:
        """Where a neighbouring problem was."""
        if slope is None:
            return start
        return Iterate(start.law, start.slack, start.rows, slope, 0.0)

    def complementarity(self, at: Iterate) -> float:
        """What the certificate lacks on the central path."""
        return float((at.law * at.slack).sum()) + at.slope * at.spare

    def channel(self, law: Floats) -> Floats:
        """The law given x, its rows summing to one."""
        rows: Floats = law / law.sum(axis=1, keepdims=True)
        return rows

    def sparse(self, at: Iterate, loss: float) -> Floats:
        """The channel without reports so rare that only the barrier keeps them, if it is as good.

        Zeros of the optimum are only approached from within; an exact form would sample them.
        """
        full = self.channel(at.law)
        value, charge = self._value(full, at.slope), self.problem.charged(full)
        for least in RARE:
            fewer = self.channel(np.where(full < least, 0.0, full))
            worse = self._value(fewer, at.slope) - value, self.problem.charged(fewer) - charge
            if max(worse) <= loss:
                return fewer
        return full

    def _value(self, channel: Floats, slope: float) -> float:
        return slope * self.problem.charged(channel) + self.problem.risk(channel)

    def bounds(self, at: Iterate) -> tuple[float, float]:
        """κD + R of the channel, and the least that its certificate leaves possible."""
        channel = self.channel(at.law)
        logs = gains(self.problem, channel)
        least = least_sum(self.problem, logs, at.slope, self.allowed)
        return self._value(channel, at.slope), least

    def step(self, at: Iterate, *, centre: bool) -> Iterate:
        """One step: towards the border as far as a trial step finds promising, or to the centre."""
        system = _System(self, at)
        mean = self.complementarity(at) / self.count
        if centre:
            return system.moved(mean)
        trial = system.moved(0.0)
        towards = min((self.complementarity(trial) / self.count / mean) ** 3, 1.0)
        return system.moved(max(towards, 1e-2) * mean)


@final
class _System:
    """The equations at one iterate, factored once and solved for two targets."""

    def __init__(self, newton: _Newton, at: Iterate) -> None:
        self.newton, self.at = newton, at
        told, law = np.maximum(newton.behind @ at.law, TINY), at.law
        reports = told.sum(axis=0)
        alive = newton.allowed > 0
        self.over = np.divide(1.0, law, out=np.zeros_like(law), where=alive)
        logs = np.log(told) - np.log(newton.secret)[:, None] - np.log(reports)
        self.pull = newton.behind.T @ logs + at.slope * newton.costs - at.rows[:, None]
        scale = np.sqrt(np.divide(law, at.slack, out=np.zeros_like(law), where=alive))
        self.scale = scale.T[:, :, None]  # reports, x, 1
        known = np.sqrt(told / reports).T[:, None, :]
        bend = newton.behind.T / np.sqrt(told.T)[:, None, :]
        bend = self.scale * (bend - (bend * known).sum(axis=2, keepdims=True) * known)
        self.wide = 4 * bend.shape[2] > bend.shape[1]  # else I - VV⊤ in its place, which cancels
        self.roots = self._roots(bend)
        self.whole = self._sum()
        self.moving = self._applied(newton.costs)

    def _roots(self, bend: Floats) -> Floats:
        """What K, the inverse of each system, is made of: S(I - …)S or S(…)S, as outer products."""
        turned = bend.swapaxes(1, 2)
        inner = product(bend, turned) if self.wide else product(turned, bend)
        places = np.arange(inner.shape[1])
        inner[:, places, places] += 1.0
        triangles: Floats = np.asarray(np.linalg.cholesky(inner), dtype=np.float64)
        lower = inverse_of_lower(triangles).swapaxes(1, 2)
        return self.scale * (lower if self.wide else product(bend, lower))

    def _sum(self) -> Floats:
        """K summed over the reports."""
        outer = np.zeros((self.roots.shape[1],) * 2)
        for some in np.array_split(self.roots, 1 + outer.size * len(self.roots) // AT_ONCE):
            outer += product(some, some.swapaxes(1, 2)).sum(axis=0)
        if self.wide:
            return outer
        return np.diag((self.scale[:, :, 0] ** 2).sum(axis=0)) - outer

    def _applied(self, columns: Floats) -> Floats:
        """K of each report times its own column."""
        inner = self.roots.swapaxes(1, 2) @ columns.T[:, :, None]
        outer: Floats = (self.roots @ inner)[:, :, 0].T
        if self.wide:
            return outer
        answer: Floats = self.scale[:, :, 0].T ** 2 * columns - outer
        return answer

    def moved(self, target: float) -> Iterate:
        """The iterate after a step towards a complementarity of so much for each entry."""
        newton, at = self.newton, self.at
        pushed = self._applied(target * self.over - self.pull)
        missing = newton.prior - at.law.sum(axis=1) - pushed.sum(axis=1)
        if newton.budget is None:
            rows, slope, spare = np.linalg.solve(self.whole, missing), 0.0, 0.0
        else:
            rows, slope = self._with_budget(newton.budget, missing, pushed, target)
            spare = target / at.slope - at.spare - at.spare / at.slope * slope
        law = pushed + self._applied(np.broadcast_to(rows[:, None], pushed.shape))
        law = law - slope * self.moving
        slack = target * self.over - at.slack - at.slack * self.over * law
        far = min(_reach(at.law, law), _reach(at.slack, slack))
        if newton.budget is not None:
            ends = np.array([at.slope, at.spare]), np.array([slope, spare])
            far = min(far, _reach(*ends))
        return Iterate(
            at.law + far * law,
            at.slack + far * slack,
            at.rows + far * rows,
            at.slope + far * slope,
            at.spare + far * spare,
        )

    def _with_budget(
        self, budget: float, missing: Floats, pushed: Floats, target: float
    ) -> tuple[Floats, float]:
        """The multipliers of the sums and of the distortion, together."""
        at, costs = self.at, self.newton.costs
        side = self.moving.sum(axis=1)
        corner = float((costs * self.moving).sum()) + at.spare / at.slope
        left = budget - float((costs * (at.law + pushed)).sum()) - target / at.slope
        matrix = np.block([[self.whole, -side[:, None]], [-side[None, :], np.array([[corner]])]])
        both = np.linalg.solve(matrix, np.append(missing, -left))
        return both[:-1], float(both[-1])


def _reach(now: Floats, direction: Floats) -> float:
    """How far to go, at most all the way, so that everything stays positive."""
    falling = direction < 0
    if not falling.any():
        return 1.0
    return min(1.0, BORDER * float((-now[falling] / direction[falling]).min()))
