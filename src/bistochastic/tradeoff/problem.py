r"""The question: how little of W can a report X̂ of X tell, at a mean distortion of at most D?

$$R(D) = \min_{p(\hat x|x)} I(W;\hat X) \quad\text{subject to}\quad \operatorname{E} d(X,\hat X)
\le D,$$

the report being drawn from X alone (Rebollo-Monedero, Forné & Domingo-Ferrer 2010). W = X makes it
Shannon's rate–distortion function.
"""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MatrixError
from bistochastic.matrices.checks import as_numbers, frozen, guard_cells

__all__ = ["Floats", "Problem", "information"]

Floats = NDArray[np.float64]


def information(table: Floats) -> float:
    r"""The mutual information of a joint law in nats, $0\ln0$ being nothing.

    >>> round(information(np.array([[0.5, 0.0], [0.0, 0.5]])), 12)  # ln 2
    0.69314718056
    """
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    seen = table > 0
    ratio = table[seen] / (rows * columns)[seen]
    return max(float((table[seen] * np.log(ratio)).sum()), 0.0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A joint law of W and X, and what it costs to report x as x̂; impossible values are set apart.

    Attributes:
        joint: p(w, x), a row for each w and a column for each x, summing to one.
        costs: d(x, x̂), a row for each x and a column for each x̂.
        alive: Which x occur at all. Everything below is about those alone.
        prior: p(x).
        behind: p(w|x), a column for each x; only w that occur have a row.
        nearest: The least distortion of each of those x.
        charges: What more a report costs, in units of `span`.
    """

    joint: Floats
    costs: Floats
    alive: NDArray[np.bool_]
    prior: Floats
    behind: Floats
    nearest: Floats
    charges: Floats

    @classmethod
    def of(cls, joint: ArrayLike, costs: ArrayLike) -> Self:
        """The problem of a table of counts or probabilities and a matrix of distortions."""
        table = as_numbers(joint, "The joint table")
        if table.ndim != 2:
            raise MatrixError(
                f"The joint table needs a row for each w and a column for each x; got shape "
                f"{table.shape}."
            )
        if table.min() < 0 or table.sum() <= 0:
            raise MatrixError("The joint table needs counts or probabilities, some above 0.")
        charged = as_numbers(costs, "The distortion")
        if charged.ndim != 2 or len(charged) != table.shape[1]:
            raise MatrixError(
                f"The distortion needs a row for each of the {table.shape[1]} values of x; got "
                f"shape {charged.shape}."
            )
        guard_cells(len(table) * charged.size, "This trade-off")
        table = table / table.sum()
        prior = table.sum(axis=0)
        alive = prior > 0
        behind = table[table.sum(axis=1) > 0][:, alive] / prior[alive]
        nearest = charged[alive].min(axis=1)
        more = charged[alive] - nearest[:, None]
        span = float((prior[alive] @ more).min())
        parts: list[NDArray[Any]] = [
            table, charged, alive, prior[alive], behind / behind.sum(axis=0), nearest,
            more / (span or 1.0),
        ]  # fmt: skip
        return cls(*map(frozen, parts))

    @property
    def secret(self) -> Floats:
        """p(w) of the w that occur."""
        total: Floats = self.behind @ self.prior
        return total

    @property
    def largest_risk(self) -> float:
        """I(W; X) in nats, what X itself would tell."""
        return information(self.joint)

    @property
    def least_distortion(self) -> float:
        """The mean distortion of what is nearest to each x."""
        return float(self.prior @ self.nearest)

    @property
    def constant_distortion(self) -> float:
        """The mean distortion of the best constant report, which tells nothing."""
        return float((self.prior @ self.costs[self.alive]).min())

    @property
    def span(self) -> float:
        """How much more the best constant report distorts than the nearest ones."""
        more = self.costs[self.alive] - self.nearest[:, None]
        return float((self.prior @ more).min())

    def distortion(self, channel: Floats) -> float:
        """E d(X, X̂) of a channel, a row for each x that occurs."""
        return float(self.prior @ (channel * self.costs[self.alive]).sum(axis=1))

    def charged(self, channel: Floats) -> float:
        """What a channel distorts more than it must, in units of the span."""
        return float(self.prior @ (channel * self.charges).sum(axis=1))

    def risk(self, channel: Floats) -> float:
        """I(W; X̂) of a channel in nats."""
        return information(self.told(channel))

    def told(self, channel: Floats) -> Floats:
        """The joint law of W and X̂."""
        law: Floats = (self.behind * self.prior) @ channel
        return law

    def whole(self, channel: Floats) -> Floats:
        """The channel with a row for every x, those that never occur being reported as anybody is.

        Nothing is known of their W, so their reports are drawn from the law of all reports.
        """
        rows = np.tile(self.prior @ channel, (self.alive.size, 1))
        rows[self.alive] = channel
        return rows / rows.sum(axis=1, keepdims=True)
