r"""What a masked file loses: distributions, moments and associations, before and after.

Everything is a `Figure` with its unit; "larger is worse" throughout. A column of numbers is
compared as a distribution over at most twenty cells with equal shares of the original, and by its
values. IL1s is $\frac1n\sum_i|x_i-y_i|/(\sqrt2\,s)$, s the standard deviation before (Yancey,
Winkler and Creecy 2002).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MeasureError
from bistochastic.measures.associations import association, correlations
from bistochastic.measures.attributes import midranks, moments
from bistochastic.measures.distances import (
    hellinger,
    kullback_leibler,
    total_variation,
    wasserstein,
)
from bistochastic.measures.figures import WORSE, Figure

__all__ = ["Cells", "Compared", "column_utility", "pair_utility"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Kind = Literal["nominal", "ordinal", "numeric"]

CELLS = 20  # of a column of numbers
COMMON = 63  # categories of a column that a pair tells apart; the rest are one


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cells:
    """Both files of a column as cells of one division, a missing value being the last of them."""

    before: Integers
    after: Integers
    size: int

    def shares(self) -> tuple[Floats, Floats]:
        """The distributions over the cells."""
        made = [
            np.bincount(side, minlength=self.size) / max(side.size, 1)
            for side in (self.before, self.after)
        ]
        return made[0], made[1]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Compared:
    """A column of both files: numbers with NaN for missing, or codes with -1 for missing.

    `linked` says whether row by row they are of the same records.
    """

    name: str
    kind: Kind
    before: NDArray[Any]
    after: NDArray[Any]
    linked: bool = True

    @classmethod
    def of(
        cls, name: str, kind: Kind, before: ArrayLike, after: ArrayLike, *, linked: bool = True
    ) -> "Compared":
        """A column, checked."""
        sides = [np.asarray(side) for side in (before, after)]
        wanted = "iuf" if kind == "numeric" else "iu"
        for side in sides:
            if side.ndim != 1 or side.dtype.kind not in wanted:
                raise MeasureError(
                    f"Column {name!r} is {kind}; it needs one line of "
                    f"{'numbers' if kind == 'numeric' else 'codes'}, got {side.dtype}."
                )
            if not side.size:
                raise MeasureError(f"Column {name!r} has no row, so there is nothing to compare.")
        if linked and sides[0].size != sides[1].size:
            raise MeasureError(
                f"Column {name!r} has {sides[0].size} and {sides[1].size} rows, which cannot be "
                f"linked."
            )
        if kind == "numeric":
            sides = [side.astype(np.float64, copy=False) for side in sides]
        return cls(name, kind, sides[0], sides[1], linked)

    def cells(self, most: int | None = None) -> Cells:
        """The column as cells: its categories, at most so many, or quantiles of the original."""
        if self.kind != "numeric":
            return _categories(self.before, self.after, most)
        there = self.before[self.before == self.before]
        cuts = np.unique(np.quantile(there, np.arange(1, CELLS) / CELLS)) if there.size else there
        size = cuts.size + 2
        before, after = (
            np.where(side == side, np.searchsorted(cuts, side, side="left"), size - 1)
            for side in (self.before, self.after)
        )
        return Cells(before, after, size)

    @property
    def numbers(self) -> tuple[Floats, Floats]:
        """Both files as numbers, NaN for missing; codes of an ordered column are numbers."""
        if self.kind == "numeric":
            return self.before, self.after
        before, after = (np.where(side < 0, np.nan, side) for side in (self.before, self.after))
        return before, after


def _categories(before: Integers, after: Integers, most: int | None) -> Cells:
    size = int(max(before.max(initial=-1), after.max(initial=-1))) + 1
    sides = [np.where(side < 0, size, side).astype(np.int64) for side in (before, after)]
    if most is None or size <= most:
        return Cells(sides[0], sides[1], size + 1)
    counts = np.bincount(sides[0], minlength=size + 1)[:size]
    place = np.full(size + 1, most)
    place[np.argsort(-counts, kind="stable")[:most]] = np.arange(most)
    place[size] = most + 1
    return Cells(place[sides[0]], place[sides[1]], most + 2)


def column_utility(column: Compared) -> Iterator[Figure]:
    """What one column loses."""
    name = (column.name,)
    cells = column.cells()
    p, q = cells.shares()
    over = f"over {CELLS} cells" if column.kind == "numeric" else "over categories"
    yield Figure("total variation", name, float(total_variation(p, q)), f"0 … 1, {over}", WORSE)
    yield Figure("Hellinger distance", name, float(hellinger(p, q)), f"0 … 1, {over}", WORSE)
    yield Figure("KL divergence", name, float(kullback_leibler(p, q)), f"bits, {over}", WORSE)
    if column.kind == "numeric":
        yield from _numeric(column)
    elif column.kind == "ordinal":
        there = [side[:-1] / side[:-1].sum() for side in (p, q) if side[:-1].sum() > 0]
        if len(there) == 2:
            moved = float(wasserstein(*there))
            yield Figure("Wasserstein distance", name, moved, "steps between categories", WORSE)
    gone = [float(side[-1]) for side in (p, q)]
    if any(gone):
        lost = gone[1] - gone[0]
        yield Figure(
            "missing cells", name, lost, "share gained", WORSE, before=gone[0], after=gone[1]
        )


def _numeric(column: Compared) -> Iterator[Figure]:
    """What is lost of a column of numbers, in standard deviations of the original."""
    name = (column.name,)
    before, after = (np.sort(side[side == side]) for side in (column.before, column.after))
    if not (before.size and after.size):
        return
    (mean, spread), (other, wide) = moments(before), moments(after)
    flat = before[0] == before[-1]
    deviation, varied = (0.0 if flat else spread), (0.0 if after[0] == after[-1] else wide)
    unit = "the column's own unit" if flat else "standard deviations before"
    moved = _earth(before / spread, after / spread)
    yield Figure("Wasserstein distance", name, moved, unit, WORSE)
    shift = abs(other / spread - mean / spread)
    yield Figure("mean", name, shift, f"moved, {unit}", WORSE, before=mean, after=other)
    grown = abs(varied / deviation - 1) if deviation else float(varied > 0)
    yield Figure(
        "standard deviation", name, grown, "moved, share of it", WORSE, before=deviation,
        after=varied,
    )  # fmt: skip
    if column.linked:
        apart = np.abs(column.after / spread - column.before / spread)
        there = apart[apart == apart]
        if there.size:
            lost = float(there.mean()) / math.sqrt(2)
            yield Figure("IL1s", name, lost, f"{unit} × √2, per record", WORSE)


def _earth(before: Floats, after: Floats) -> float:
    """The mean way that sorted values have to be moved, of files of any lengths."""
    if before.size == after.size:
        return float(np.abs(before - after).mean())
    places = np.sort(np.concatenate([before, after]))
    rises = [
        np.searchsorted(side, places[:-1], side="right") / side.size for side in (before, after)
    ]
    return float(np.abs(rises[0] - rises[1]) @ np.diff(places))


def pair_utility(columns: Sequence[Compared]) -> Iterator[Figure]:
    """What pairs of columns lose: joint distributions, associations and correlations."""
    cells = [column.cells(COMMON) for column in columns]
    for first, second in combinations(range(len(columns)), 2):
        names = (columns[first].name, columns[second].name)
        yield from _joint(names, cells[first], cells[second])
    for title, chosen, ranked in (
        ("correlation", [c for c in columns if c.kind == "numeric"], False),
        ("rank correlation", [c for c in columns if c.kind != "nominal"], True),
    ):
        if len(chosen) < 2:
            continue
        sides = []
        for side in (0, 1):
            lines = [column.numbers[side] for column in chosen]
            sides.append(correlations([midranks(line) for line in lines] if ranked else lines))
        for i, j in combinations(range(len(chosen)), 2):
            before, after = float(sides[0][i, j]), float(sides[1][i, j])
            yield Figure(
                title, (chosen[i].name, chosen[j].name), abs(after - before), "moved, 0 … 2",
                WORSE, before=before, after=after,
            )  # fmt: skip


def _joint(names: tuple[str, str], one: Cells, two: Cells) -> Iterator[Figure]:
    shape = (one.size, two.size)
    tables = [
        np.bincount(a * two.size + b, minlength=one.size * two.size).reshape(shape)
        for a, b in ((one.before, two.before), (one.after, two.after))
    ]
    p, q = ((table / table.sum()).ravel() for table in tables)
    yield Figure("total variation", names, float(total_variation(p, q)), "0 … 1, of pairs", WORSE)
    (square, strength), (other, left) = map(association, tables)
    yield Figure(
        "Cramér’s V", names, abs(left - strength), "moved, 0 … 1", WORSE, before=strength,
        after=left,
    )  # fmt: skip
    yield Figure(
        "χ² per record", names, abs(other - square), "moved", WORSE, before=square, after=other
    )
