"""Contingency: a table of any columns of a release, estimated with its errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.analyst.cells import Answer, indicator, labelled, placed
from bistochastic.analyst.reported import Reported
from bistochastic.analyst.sides import Side
from bistochastic.errors import TableError, TooLargeError
from bistochastic.estimate.boundary import EMPTY, on_the_face
from bistochastic.estimate.comparison import (
    Estimated,
    difference,
    odds_ratio,
    plain,
    ratio,
    ratios,
)
from bistochastic.estimate.dispersion import Sums, dispersed, sums
from bistochastic.estimate.independence import Independence, independence
from bistochastic.estimate.intervals import (
    Interval,
    Limits,
    around,
    as_level,
    intervals,
    possible,
    quantile,
)
from bistochastic.estimate.likelihood import Fitted, fitted
from bistochastic.estimate.shares import Shares, Variance, estimated
from bistochastic.estimate.tally import Tally
from bistochastic.manifest import Manifest
from bistochastic.tables.kinds import in_kind_of

__all__ = ["Contingency", "Method", "contingency", "estimate"]

Floats = NDArray[Any]
Method = Literal["unbiased", "likelihood"]
Ordered = tuple[dict[str, pl.Series], NDArray[np.int64] | None]
Where = Mapping[str, Any]  # labels of columns, one or several for each

NEGATIVE = "the estimated variance was negative and is told as zero"
BELOW = "the reports speak against any share above zero"
BOUNDARY = "empty at the maximum of the likelihood: no standard error"
FACE = "the standard error takes empty cells to be empty"
UNTOLD = "on the boundary of what is possible: no standard error"
ONE = "a single row has no standard error"


@dataclass(frozen=True, eq=False)
class Contingency:
    """A table of columns as `contingency` estimates it, and what can be asked of it."""

    reported: Reported
    sides: tuple[Side, ...]
    tally: Tally
    variance: Variance = "sample"
    method: Method = "unbiased"
    level: float = 0.95
    interval: Interval = "score"
    weight: str | None = None
    asked: tuple[str, ...] = ()

    @cached_property
    def shares(self) -> Shares:
        """The unbiased estimates, whatever the method."""
        return estimated(self.tally, self._axes, variance=self.variance)

    @cached_property
    def likely(self) -> Fitted | None:
        """The likelihood estimate with its certificate, if that is the method."""
        return fitted(self.tally, self._axes) if self.method == "likelihood" else None

    @property
    def lost(self) -> tuple[str, ...]:
        """The columns of which only sums over labels are identifiable."""
        return tuple(name for side in self.sides if side.axis.lost for name in side.asked)

    def frame(self) -> Any:
        """A row for each cell: labels, estimate, se, low, high, count, count_se, interval, note.

        A table of more than a million cells has rows for those that were reported. A label that is
        asked for under one of these names gives way to it: the number's name gets an underscore.
        """
        return in_kind_of(self.reported.given, self.table())

    def table(self) -> pl.DataFrame:
        """The same, as Polars has it."""
        shares = self.shares
        labels, order = self._ordered(shares.cells)
        numbers = self._numbers()
        total = self.tally.total
        numbers["count"] = numbers["estimate"] * total
        numbers["count_se"] = numbers["se"] * total
        taken = set(self.asked)
        made = [labels[name] for name in self.asked]
        made += [
            pl.Series(_free(name, taken), values).fill_nan(None)
            for name, values in numbers.items()
        ]  # fmt: skip
        frame = pl.DataFrame(made).with_columns(
            pl.lit(self.interval).alias(_free("interval", taken)),
            pl.Series(_free("note", taken), self._notes(), dtype=pl.String),
        )
        return frame if order is None else frame[pl.Series(order)]

    def _ordered(self, cells: NDArray[np.int64]) -> Ordered:
        """Labels of cells, and the order by the columns as they were asked for if another."""
        codes, labels = labelled(self.sides, cells, self.shares.sizes)
        if tuple(codes) == self.asked and not self.lost:
            return labels, None
        return labels, np.lexsort([codes[name] for name in reversed(self.asked)])

    def _numbers(self) -> dict[str, Floats]:
        """Estimates, errors and limits of all cells, in their own order."""
        shares, limits = self.shares, self._limits
        told = {
            "estimate": shares.estimate,
            "se": np.sqrt(shares.variance),
            "low": limits.low,
            "high": limits.high,
        }
        likely = self.likely
        if likely is None:
            return told
        best = likely.levels.ravel()
        reached = around(limits, best)
        return {
            "estimate": best,
            "se": self._likely_errors(likely),
            "low": reached.low,
            "high": reached.high,
        }

    @cached_property
    def _limits(self) -> Limits:
        shares = self.shares
        found = intervals(shares, level=self.level, kind=self.interval, variance=self.variance)
        return found if self.interval == "normal" else possible(found)

    def _likely_errors(self, likely: Fitted) -> Floats:
        if self.variance == "file":
            errors = np.sqrt(self.shares.variance)
            return errors if likely.interior else np.full_like(errors, np.nan)
        if likely.interior:
            rows = max(self.tally.rows, 2)
            return np.sqrt(self.shares.variance * (rows - 1) / rows)
        return np.sqrt(on_the_face(self.tally, self._axes, likely))

    def _notes(self) -> list[str]:
        """What is to be said of each cell, nothing of most."""
        shares = self.shares
        places = np.unravel_index(shares.cells, shares.sizes)
        told = [""] * shares.cells.size
        for side, levels in zip(self.sides, places, strict=True):
            if side.axis.lost:
                told = [_both(a, b) for a, b in zip(told, side.notes(levels), strict=True)]
        marks: list[tuple[str, NDArray[np.bool_]]] = [(NEGATIVE, shares.clipped)]
        if self.interval == "score" and self.likely is None:
            marks.append((BELOW, (self._limits.high <= 0) & (shares.estimate < 0)))
        if self.tally.rows < 2 and self.variance == "sample":
            marks.append((ONE, np.ones(shares.cells.size, bool)))
        if self.likely is not None and not self.likely.interior:
            marks += self._boundary(self.likely)
        for words, where in marks:
            for place in np.flatnonzero(where):
                told[place] = _both(told[place], words)
        return told

    def _boundary(self, likely: Fitted) -> list[tuple[str, NDArray[np.bool_]]]:
        empty = likely.levels.ravel() <= EMPTY / self.tally.total
        errors = self._likely_errors(likely)
        return [
            (BOUNDARY, empty),
            (FACE, ~empty & np.isfinite(errors)),
            (UNTOLD, ~empty & ~np.isfinite(errors)),
        ]

    def dispersion(self) -> Floats:
        """The dispersion matrix of the unbiased shares, in the order of the rows of `frame`."""
        shares = self.shares
        matrix = dispersed(self.tally, self._axes, variance=self.variance)
        _, order = self._ordered(shares.cells)
        return matrix if order is None else np.asarray(matrix[np.ix_(order, order)])

    def share(self, where: Where) -> Estimated:
        """The share of all cells with these labels, say `{"sex": "f", "age": [3, 4]}`."""
        found = self._sums(where)
        return plain(float(found.estimate[0]), float(found.covariance[0, 0]), self._z)

    def difference(self, first: Where, second: Where) -> Estimated:
        """The share of some cells minus that of others."""
        return difference(*self._sums(first, second), self._z)

    def ratio(self, first: Where, second: Where) -> Estimated:
        """The share of some cells over that of others, with Fieller's interval."""
        return ratio(*self._sums(first, second), self._z)

    def odds_ratio(self, first: Mapping[str, Any], second: Mapping[str, Any]) -> Estimated:
        """How much the odds of one column differ between two labels of another.

        Each is a column with its two labels, say `{"smoker": ("yes", "no")}`.
        """
        (a, (yes, no)), (b, (one, other)) = _pair(first), _pair(second)
        cells: list[Where] = [{a: label, b: group} for label in (yes, no) for group in (one, other)]
        return odds_ratio(*self._sums(*cells), self._z)

    def conditional(self, given: Sequence[str]) -> Any:
        """The share of each cell within those that have the same labels in some columns.

        The frame has the rows of `frame`; errors are by the delta method, intervals Fieller's.
        """
        names = (given,) if isinstance(given, str) else tuple(given)
        if not names or set(names) - set(self.asked):
            raise TableError("A share is conditional on columns of the table; name some of those.")
        cells = self._all()
        answer = Answer.of(self.sides, cells, names)
        found = sums(self.tally, self._axes, answer.wanted, variance=self.variance)
        own, margin = answer.split(found)
        told = ratios(
            found.estimate[own], found.estimate[margin], found.covariance[own, own],
            found.covariance[own, margin], found.covariance[margin, margin], self._z,
        )  # fmt: skip
        labels, order = self._ordered(cells.cells)
        taken = set(self.asked)
        high = np.minimum(told[3], 1.0)
        made = [labels[name] for name in self.asked]
        made += [
            pl.Series(_free(name, taken), values).fill_nan(None)
            for name, values in zip(
                ("estimate", "se", "low", "high"), (*told[:2], np.minimum(told[2], high), high),
                strict=True,
            )
        ]  # fmt: skip
        frame = pl.DataFrame(made)
        shown = frame if order is None else frame[pl.Series(order)]
        return in_kind_of(self.reported.given, shown)

    def independence(self, first: str, second: str) -> Independence:
        """Pearson's test of independence of two columns, corrected for the channel."""
        sides = placed(self.reported.sides([first, second]), (first, second))
        tally = self.reported.tally(sides, self.weight)
        shape = _shape(sides, first, second)
        return independence(tally, [side.axis for side in sides], shape)

    def _sums(self, *wanted: Where) -> Sums:
        cells = self._all()
        tables = np.stack([indicator(self.sides, cells.sizes, where) for where in wanted])
        return sums(self.tally, self._axes, tables, variance=self.variance)

    def _all(self) -> Shares:
        if not self.shares.complete:
            raise TooLargeError(
                "Cells are compared in a table that is laid out, and this one is too large. Ask "
                "for a table of the columns that are compared."
            )
        return self.shares

    @property
    def _axes(self) -> list[Any]:
        return [side.axis for side in self.sides]

    @property
    def _z(self) -> float:
        return quantile(self.level)

    def __repr__(self) -> str:
        names = " × ".join(map(repr, self.asked))
        return f"<Contingency {names}: {self.tally.rows} rows>"


def contingency(
    data: Any,
    manifest: Manifest | str | Path | None = None,
    columns: Sequence[str] = (),
    *,
    variance: Variance = "sample",
    method: Method = "unbiased",
    level: float = 0.95,
    interval: Interval = "score",
    weight: str | None = None,
) -> Contingency:
    """A table of columns of a release, to be asked for cells, differences, ratios and tests.

    Args:
        data: A release or its folder, or a file or dataframe with the manifest.
        manifest: The manifest, where the data do not bring it.
        columns: The columns whose combinations are the cells, protected or not.
        variance: "sample" if respondents are a sample of those meant, "file" if they are all.
        method: "unbiased", whose shares may be negative, or "likelihood", whose are not.
        level: The probability with which an interval is to hold the true share.
        interval: "score", which small cells need, or "normal".
        weight: A column of survey weights, published as it is.
    """
    for said, given, known in (
        ("variance", variance, Variance), ("method", method, Method),
        ("interval", interval, Interval),
    ):  # fmt: skip
        if given not in get_args(known):
            raise TableError(f"{said} is one of {', '.join(map(repr, get_args(known)))}.")
    asked = (columns,) if isinstance(columns, str) else tuple(columns)
    reported = Reported.of(data, manifest)
    sides = reported.sides(asked)
    tally = reported.tally(sides, weight)
    tally.shares()  # refuses a table of nobody
    return Contingency(
        reported, sides, tally, variance, method, as_level(level), interval, weight, asked
    )


def estimate(
    data: Any,
    manifest: Manifest | str | Path | None = None,
    columns: Sequence[str] = (),
    *,
    variance: Variance = "sample",
    method: Method = "unbiased",
    level: float = 0.95,
    interval: Interval = "score",
    weight: str | None = None,
) -> Any:
    """The shares of a table of columns of a release, as the kind of frame that came in.

    What is given is told at `contingency`, whose `frame()` this is.

    >>> import polars as pl
    >>> import bistochastic as bs
    >>> smoker = dict(role="confidential", kind="nominal", domain=["no", "yes"],
    ...               missing="refuse", matrix="mixture", truth=0.8)
    >>> plan = bs.Plan(release="survey 2026", columns={"smoker": smoker})
    >>> people = pl.DataFrame({"smoker": ["no"] * 3000 + ["yes"] * 1000})
    >>> found = bs.estimate(bs.protect(people, plan), columns=["smoker"])
    >>> found.columns[:5], abs(found["estimate"][1] - 0.25) < 0.2
    (['smoker', 'estimate', 'se', 'low', 'high'], True)
    """
    return contingency(
        data, manifest, columns, variance=variance, method=method, level=level,
        interval=interval, weight=weight,
    ).frame()  # fmt: skip


def _shape(sides: Sequence[Side], first: str, second: str) -> tuple[int, int]:
    """How many rows and columns a table of two columns has."""
    if len(sides) == 2:
        return sides[0].axis.count, sides[1].axis.count
    if sides[0].axis.lost:
        raise TableError(
            f"What is reported of {first!r} and {second!r} tells sums over both only, so that "
            f"nothing is known of their dependence."
        )
    rows, columns = sides[0].sizes
    return rows, columns


def _pair(said: Mapping[str, Any]) -> tuple[str, tuple[Any, Any]]:
    if len(said) != 1 or len(next(iter(said.values()))) != 2:
        raise TableError('An odds ratio needs a column with two labels, as {"smoker": ("y", "n")}.')
    name, labels = next(iter(said.items()))
    return name, (labels[0], labels[1])


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _both(one: str, other: str) -> str:
    return "; ".join(words for words in (one, other) if words)
