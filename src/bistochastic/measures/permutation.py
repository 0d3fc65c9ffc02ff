r"""Permutation: any masked column as a permutation of the original one, and what that protects.

Whoever masked a column x into y, putting the values of x in the order of y gives $z = Px$, P a
permutation matrix, and y = z + residual that re-ranks nobody. What a record gained is how far it
moved, $r_i = \tau_i - \sigma_i$; what a pair of columns lost is how differently its records moved.
After Ruiz, "On some consequences of the permutation paradigm".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MeasureError
from bistochastic.matrices.permutation import Permutation
from bistochastic.measures.histogram import ZERO, Histogram, power_means
from bistochastic.measures.ranking import Ranking
from bistochastic.measures.ties import least_moved, tied_at_random
from bistochastic.measures.values import Blanks, as_values, both_present

__all__ = [
    "Displacement",
    "displacement",
    "file_information_loss",
    "file_protection",
    "information_loss",
    "relative_distances",
    "shared_records",
]

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]
By = Literal["rank", "position"]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Displacement:
    """How far masking moved each record of one column.

    Attributes:
        rows: The records that have a value before and after, by row number; all else is of these.
        moves: r, signed: ranks upwards after, or places down the file.
        distances: How often each |r| occurs.
        ranking: The ranks before and after, and their ties.
        blanks: How many records have no value, before or after.
        records: How many records the file has, those without a value too.
        by: What moves are counted in: "rank", or "position" in the file.
    """

    rows: Integers
    moves: Integers
    distances: Histogram
    ranking: Ranking
    blanks: Blanks
    records: int
    by: By

    @property
    def size(self) -> int:
        """How many records have a value before and after."""
        return int(self.rows.size)

    @property
    def span(self) -> int:
        """How far a record can move: one less than there are ranks, or places."""
        return (self.size if self.by == "rank" else self.records) - 1

    @property
    def order(self) -> Integers:
        """The permutation matrix P as an order, z[i] = x[order[i]] among `rows`."""
        return self.ranking.order

    @property
    def matrix(self) -> Permutation:
        """P, for which z = Px."""
        return Permutation(self.order)

    @property
    def moved(self) -> float:
        """T, the share of records that moved: more is safer."""
        return 1.0 - self.distances.zeros / self.size

    @property
    def least_moved(self) -> float:
        """The least T of all ways to break ties; for other measures the tie rule is the least."""
        return least_moved(self.ranking)

    def protection(self, alphas: ArrayLike = 1.0, *, rescaled: bool = False) -> Vector:
        r"""$D(\alpha)$, the power mean of |r| for each α ≤ 1: larger is safer.

        The smaller α, the more it is the least moved records that count; $-\infty$ is the least.
        Records that did not move count as 1e-8. Rescaled, it lies below 1: ranks over n - 1.

        >>> told = displacement([135, 52, 123, 165, 160], [160, 57, 122, 135, 164], by="position")
        >>> told.protection([1, 0.5, -4]).round(4)
        array([1.6   , 0.8958, 0.    ])
        """
        asked = np.asarray(alphas, dtype=np.float64)
        if not (asked <= 1).all():
            raise MeasureError(
                "Protection is asked for alpha of at most 1: beyond, records that moved far would "
                "make up for those that did not."
            )
        means = self.distances.means(asked, zero=ZERO)
        return means / max(self.span, 1) if rescaled else means

    def moved_protection(self, *, rescaled: bool = False) -> float:
        """TD, the mean distance times the share of records that moved: larger is safer."""
        return self.moved * float(self.protection(1.0, rescaled=rescaled))

    def tied_at_random(self) -> Histogram:
        """How often each |r| of ranks occurs on average, if chance breaks the ties.

        The tie rule is the intruder's favour: of a constant column it says that nobody moved.

        >>> constant = displacement([1, 2, 3, 4, 5], [7, 7, 7, 7, 7])
        >>> constant.moved, float(constant.tied_at_random().means(1).round(12))
        (0.0, 1.6)
        """
        return tied_at_random(self.ranking)

    def mapped(self, original: ArrayLike) -> NDArray[Any]:
        """z, the values of the original column in the order of the masked one, for `rows`."""
        return np.asarray(original)[self.rows][self.order]

    def residual(self, original: ArrayLike, masked: ArrayLike) -> NDArray[Any]:
        """What masking did besides moving values, y - z; it re-ranks nobody."""
        return np.subtract(np.asarray(masked)[self.rows], self.mapped(original), dtype=np.float64)

    def __repr__(self) -> str:
        return f"<Displacement of {self.size} records, T={self.moved:.3g}>"


def displacement(
    original: ArrayLike,
    masked: ArrayLike,
    *,
    by: By = "rank",
    missing_before: ArrayLike | None = None,
    missing_after: ArrayLike | None = None,
) -> Displacement:
    """How far each record moved between an original column and a masked one, row by row.

    A record without a value before or after has no displacement: it is left out of the ranks of
    both, and counted. Ties are broken to the intruder's favour. Codes of an ordinal column are
    given as numbers in their declared order; for a nominal one see `marginality`.

    Args:
        original: The column before, of numbers, dates or texts.
        masked: The column after, record by record.
        by: "rank", or "position" to count places in the file, as the tables of Ruiz do.
        missing_before: Which records have no value before, where the column itself cannot say.
        missing_after: The same after.

    >>> displacement([135, 52, 123, 165, 160], [160, 57, 122, 135, 164]).moves
    array([ 1,  0,  0, -2,  1])
    """
    if by not in ("rank", "position"):
        raise MeasureError(f'Moves are counted by "rank" or by "position"; got {by!r}.')
    before, after = as_values(original, "original"), as_values(masked, "masked")
    rows, blanks = both_present(before, after, missing_before, missing_after)
    records = before.size
    if rows.size < records:
        before, after = before[rows], after[rows]
    ranking = Ranking.of(before, after)
    if by == "rank":
        moves = ranking.masked - ranking.original
    else:
        order = ranking.order
        moves = np.empty_like(order)
        moves[order] = rows - rows[order]
    return Displacement(rows, moves, Histogram.of(moves), ranking, blanks, records, by)


def relative_distances(one: Displacement, other: Displacement) -> Histogram:
    """How often each |r - r'| of two columns occurs, over the records that have both."""
    mine, theirs = shared_records(one, other)
    return Histogram.of(one.moves[mine] - other.moves[theirs])


def shared_records(
    one: Displacement, other: Displacement
) -> tuple[slice, slice] | tuple[Integers, Integers]:
    """Where the records that two columns of a file have in common stand in each of them."""
    if one.records != other.records or one.by != other.by:
        raise MeasureError(
            f"Two columns of the same file are needed, counted alike; got {one.records} records by "
            f"{one.by} and {other.records} by {other.by}."
        )
    if one.size == other.size == one.records:
        return slice(None), slice(None)
    shared, mine, theirs = np.intersect1d(
        one.rows, other.rows, assume_unique=True, return_indices=True
    )
    if not shared.size:
        raise MeasureError("No record has a value in both columns, before and after.")
    return mine, theirs


def information_loss(
    one: Displacement, other: Displacement, thetas: ArrayLike = 1.0, *, rescaled: bool = False
) -> Vector:
    r"""$I(\theta)$, the power mean of |r - r'| for each θ ≥ 1: larger is worse.

    0 if both columns moved alike. The larger θ, the more it is the records that came apart most
    that count. Rescaled, it reaches 1 at most: ranks over 2(n - 1), places over n - 1.

    >>> up, down = [1, 2, 3, 4], [4, 3, 2, 1]
    >>> one, other = displacement(up, down), displacement(down, up)
    >>> information_loss(one, other, [1, np.inf])
    array([4., 6.])
    >>> information_loss(one, other, [1, np.inf], rescaled=True).round(3)
    array([0.667, 1.   ])
    """
    means = relative_distances(one, other).means(_at_least_one(thetas, "theta"))
    return means / _widest(one, other) if rescaled else means


def file_protection(
    columns: Sequence[Displacement],
    alphas: ArrayLike = 1.0,
    betas: ArrayLike = 1.0,
    *,
    rescaled: bool = False,
) -> Vector:
    r"""$D(\alpha, \beta)$, the power mean of the columns' D(α): each α by each β, both at most 1.

    The smaller β, the more it is the least protected columns that count.
    """
    if not columns:
        raise MeasureError("The protection of a file needs at least one column.")
    orders = np.asarray(betas, dtype=np.float64)
    if not (orders <= 1).all():
        raise MeasureError("A file's protection is asked for beta of at most 1.")
    asked = np.asarray(alphas, dtype=np.float64)
    each = np.array([told.protection(asked.ravel(), rescaled=rescaled) for told in columns])
    return _means_of(each, orders).reshape(asked.shape + orders.shape)


def file_information_loss(
    columns: Sequence[Displacement],
    thetas: ArrayLike = 1.0,
    pis: ArrayLike = 1.0,
    *,
    rescaled: bool = False,
) -> Vector:
    r"""$I(\theta, \pi)$, the power mean of all pairs' I(θ): each θ by each π, both at least 1.

    The larger π, the more it is the pairs that came apart most that count.
    """
    if len(columns) < 2:
        raise MeasureError("The information loss of a file needs at least two columns.")
    asked, orders = _at_least_one(thetas, "theta"), _at_least_one(pis, "pi")
    each = np.array(
        [
            information_loss(one, other, asked.ravel(), rescaled=rescaled)
            for place, one in enumerate(columns)
            for other in columns[place + 1 :]
        ]
    )
    return _means_of(each, orders).reshape(asked.shape + orders.shape)


def _means_of(each: Vector, orders: Vector) -> Vector:
    """Power means over columns, or pairs, of equal weight."""
    equal = np.ones(len(each))
    return np.array([power_means(line, equal, orders.ravel()) for line in each.T])


def _at_least_one(orders: ArrayLike, name: str) -> Vector:
    asked = np.asarray(orders, dtype=np.float64)
    if not (asked >= 1).all():
        raise MeasureError(
            f"Information loss is asked for {name} of at least 1: below, records that came apart "
            f"little would make up for others."
        )
    return asked


def _widest(one: Displacement, other: Displacement) -> int:
    """How far a record can come apart: opposite ways in ranks, the length of the file in places."""
    return max(one.span + other.span if one.by == "rank" else one.span, 1)
