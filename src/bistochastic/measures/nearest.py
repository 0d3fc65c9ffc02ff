r"""Who is nearest: for each record, whether the true one is, and with how many it shares that.

Only what decides is searched, which is whether anybody is nearer than the true record. Masked
records that agree with a record in some nominal attributes are searched in a tree of their other
coordinates, first for those that agree in all of them, then in all but one, and so on, as long as
so many mismatches alone are not already farther than the true record. A rough look comes first: in
a well masked file it finds somebody nearer for almost everybody.
"""

from collections.abc import Iterator
from itertools import chain, combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bistochastic.measures.attributes import Points, grouped, joined

__all__ = ["chances"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

TIE = 1e-9  # distances that agree to nine digits are the same
ROUGH = 2.0  # how many times too far the rough look may be off, less one
PAIRS = 1 << 21  # pairs of records compared at a time
TREE = 40  # pairs compared in the time that a tree takes for one of its points
FEW = 2000  # records for whom it is not worth waking other cores
BALL = 1 << 12  # records whose neighbours are listed at a time


def chances(found: Points, rows: Integers, partner: Integers, power: float) -> Floats:
    """The probability for each record that a nearest masked record is the true one."""
    table = np.hstack([found.masked.view(np.int64), found.after])
    firsts, groups, sizes = grouped(table)
    asked = np.hstack([found.original[rows].view(np.int64), found.before[rows]])
    # Records that are alike in both files have one answer.
    kinds, which, _ = grouped(np.column_stack([asked, groups[partner]]))
    rows, partner = rows[kinds], partner[kinds]
    search = _Search(found, rows, partner, firsts, sizes, power)
    return search.chances(sizes[groups[partner]])[which]


class _Search:
    """Different records in search of the nearest among different masked records."""

    def __init__(
        self,
        found: Points,
        rows: Integers,
        partner: Integers,
        firsts: Integers,
        sizes: Integers,
        power: float,
    ) -> None:
        self.points, self.before = found.original[rows], found.before[rows]
        self.others, self.after = found.masked[firsts], found.after[firsts]
        self.sizes, self.power = sizes, power
        self.own = found.between(rows, partner, power)
        self.workers = -1 if rows.size > FEW else 1
        self.equal = np.zeros(rows.size)  # how many are as near as the true record
        self.beaten = np.zeros(rows.size, dtype=bool)

    def chances(self, alike: Integers) -> Floats:
        """The answers, given how many masked records each true record is equal to."""
        here = self.own == 0  # nobody is nearer than that, and only equals are as near
        self.equal[here] = alike[here]
        left = np.flatnonzero(~here)
        for agreed, last in self._levels():
            unlike = self.before.shape[1] - len(agreed)
            left = left[~self.beaten[left]]
            inside = left[self._room(left, unlike) >= 0]
            if inside.size and last and self._dear(inside.size, unlike):
                self._compared(inside)
                break
            if inside.size:
                self._among(agreed, inside)
        with np.errstate(divide="ignore"):
            return np.where(self.beaten, 0.0, 1 / self.equal)

    def _levels(self) -> Iterator[tuple[tuple[int, ...], bool]]:
        """Sets of attributes to agree in, larger ones first, and whether a new size begins."""
        nominal = self.before.shape[1]
        sizes = range(nominal, -1, -1) if np.isfinite(self.power) else {nominal: 0, 0: 0}
        for size in sizes:
            for place, agreed in enumerate(combinations(range(nominal), size)):
                yield agreed, place == 0

    def _room(self, rows: Integers, unlike: int) -> Floats:
        """How far the other coordinates may be apart; negative if mismatches alone are farther."""
        limit = self.own[rows] * (1 + TIE)
        if self.power == 1:
            return limit - unlike
        if self.power == 2:
            rest = limit * limit - unlike
            return np.where(rest < 0, -1.0, np.sqrt(np.maximum(rest, 0)))
        return np.where(limit < min(unlike, 1), -1.0, limit)

    def _dear(self, count: int, unlike: int) -> bool:
        """Whether comparing everybody is cheaper than all trees that may still be needed."""
        nominal, many = self.before.shape[1], self.after.shape[0]
        most = int(self.own.max() ** self.power) if np.isfinite(self.power) else nominal
        trees = sum(comb(nominal, size) for size in range(unlike, min(most, nominal) + 1))
        return trees * (many + count) * TREE > count * many

    def _compared(self, rows: Integers) -> None:
        """Compare each of these records with every masked record."""
        self.equal[rows] = 0
        step = max(1, PAIRS // len(self.others))
        for start in range(0, rows.size, step):
            part = rows[start : start + step]
            far = np.zeros((part.size, len(self.others)))
            for values, others in zip(self.points[part].T, self.others.T, strict=True):
                apart = np.abs(values[:, None] - others)
                far = np.maximum(far, apart) if np.isinf(self.power) else far + apart**self.power
            unlike = np.zeros(far.shape, dtype=np.int64)
            for codes, others in zip(self.before[part].T, self.after.T, strict=True):
                unlike += codes[:, None] != others
            whole = joined(far if self.power != 2 else np.sqrt(far), unlike, self.power)
            own = self.own[part, None]
            self.beaten[part] |= (whole < own * (1 - TIE)).any(axis=1)
            self.equal[part] = (whole <= own * (1 + TIE)) @ self.sizes

    def _among(self, agreed: tuple[int, ...], rows: Integers) -> None:
        """Search among those who agree in some attributes."""
        here, there = self.before[rows][:, list(agreed)], self.after[:, list(agreed)]
        block = grouped(np.concatenate([there, here]))[1]
        theirs, ours = block[: len(there)], block[len(there) :]
        if self.points.shape[1]:
            self._near(theirs, ours, rows, self.before.shape[1] - len(agreed))
            return
        # Without coordinates all who agree in no more are equally far.
        many = np.bincount(theirs, self.sizes, minlength=int(block.max()) + 1)[ours].astype(
            np.float64
        )
        self._noted(rows, np.full(rows.size, float(self.before.shape[1] - len(agreed))), many)

    def _noted(self, rows: Integers, far: Floats, many: Floats) -> None:
        """Somebody at this distance, of power p summed, for each record."""
        whole = joined(np.zeros(rows.size), far, self.power)
        self.beaten[rows] |= (many > 0) & (whole < self.own[rows] * (1 - TIE))
        self.equal[rows] += np.where(self._counts(rows, far), many, 0)

    def _counts(self, rows: Integers, unlike: Any) -> Any:
        """Whether ties are counted among so many mismatches; by the greatest difference, once."""
        if np.isfinite(self.power):
            return np.ones(rows.size, dtype=bool)
        if not self.before.shape[1]:
            return np.ones(rows.size, dtype=bool)
        return (self.own[rows] * (1 + TIE) >= 1) == (np.asarray(unlike) > 0)

    def _near(self, theirs: Integers, ours: Integers, rows: Integers, unlike: int) -> None:
        """Search by the other coordinates among those of the same block."""
        from scipy.spatial import cKDTree

        room = self._room(rows, unlike)
        bound = float(room.max()) * (1 + TIE) + np.finfo(float).tiny
        others, points = self.others, self.points[rows]
        if self.before.shape[1]:
            apart = 4 * bound + 1  # so that no ball reaches into another block
            others = np.column_stack([others, theirs * apart])
            points = np.column_stack([points, ours * apart])
        tree = cKDTree(others, balanced_tree=False)
        look = {"p": self.power, "distance_upper_bound": bound, "workers": self.workers}
        rough = tree.query(points, eps=ROUGH, **look)[0]
        left = self._decided(rows, rough, unlike)
        if not left.size:
            return
        near = tree.query(points[left], **look)[0]
        left = left[self._decided(rows[left], near, unlike)]
        for start in range(0, left.size, BALL):
            part = left[start : start + BALL]
            within = tree.query_ball_point(
                points[part], room[part], p=self.power, workers=self.workers
            )
            lengths = np.fromiter(map(len, within), np.int64, part.size)
            if not lengths.any():
                continue
            others = np.fromiter(chain.from_iterable(within), np.int64, int(lengths.sum()))
            who = np.repeat(np.arange(part.size), lengths)
            many = np.bincount(who, self.sizes[others], minlength=part.size)
            self.equal[rows[part]] += np.where(self._counts(rows[part], unlike), many, 0)

    def _decided(self, rows: Integers, far: Floats, unlike: int) -> Integers:
        """Note who is beaten by somebody so far away, and return the places of the others."""
        beaten = joined(far, unlike, self.power) < self.own[rows] * (1 - TIE)
        self.beaten[rows] |= beaten
        return np.flatnonzero(~self.beaten[rows])
