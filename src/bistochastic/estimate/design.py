"""Designs: predictors and a response as products of what cells hold and of what records hold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.estimate.correction import Correction

__all__ = ["Chunk", "Data", "Design", "Part", "Spread"]

Array = NDArray[Any]

CHUNK = 1 << 16  # records that are looked at at once


@final
@dataclass(frozen=True, slots=True, eq=False)
class Design:
    r"""What predictors and response are in each true cell; both are products with a record's part.

    Predictor j of record i in cell x is `cells[x, j] · records[i, j]`, its response
    `response[x] · responses[i]`.
    """

    cells: Array  # cells × predictors
    response: Array  # cells

    def merged(self, correction: Correction, kept: NDArray[np.bool_] | None = None) -> "Spread":
        """The same over the cells that it tells apart; only those that are kept count."""
        inverse = correction.dense()
        counted = np.arange(self.response.size) if kept is None else np.flatnonzero(kept)
        lines = np.column_stack((self.cells, self.response))[counted]
        distinct, group = np.unique(lines, axis=0, return_inverse=True)
        shares = np.zeros((distinct.shape[0], inverse.shape[1]))
        np.add.at(shares, group.ravel(), inverse[counted])
        return Spread(distinct[:, :-1], distinct[:, -1], shares.T.copy())


@final
@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Over which distinct cells a report is spread, and with which weights."""

    cells: Array  # distinct × predictors
    response: Array  # distinct
    shares: Array  # reports × distinct: sums of Q over the cells that are alike


@final
@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A record's part of a predictor: a product of numbers, and of whether codes are some levels.

    An empty product is one.
    """

    numbers: tuple[Array, ...] = ()
    levels: tuple[tuple[NDArray[np.integer], int], ...] = ()

    def taken(self, rows: NDArray[np.integer]) -> "Part":
        """The same of some records."""
        levels = tuple((codes[rows], level) for codes, level in self.levels)
        return Part(tuple(number[rows] for number in self.numbers), levels)

    def at(self, part: slice, length: int) -> Array:
        """The products of some records."""
        made = np.ones(length)
        for number in self.numbers:
            made *= number[part]
        for codes, level in self.levels:
            made *= codes[part] == level
        return made


@final
@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """The records: what was reported, and their parts of predictors and response."""

    reports: NDArray[np.integer]
    predictors: tuple[Part, ...]
    response: Part
    weights: Array | None = None
    times: Array | None = None  # how many records each line stands for

    @property
    def records(self) -> int:
        """How many there are."""
        return int(self.reports.size if self.times is None else self.times.sum())

    def told_once(self, columns: Sequence[NDArray[Any]]) -> "Data":
        """The same with records that are alike in these columns told once, with their number."""
        lines = np.stack([self.reports, *columns], axis=1)
        _, rows, times = np.unique(lines, axis=0, return_index=True, return_counts=True)
        return replace(self.taken(rows), times=times.astype(np.float64))

    def taken(self, rows: NDArray[np.integer]) -> "Data":
        """Some of the records."""
        predictors = tuple(one.taken(rows) for one in self.predictors)
        weights = None if self.weights is None else self.weights[rows]
        times = None if self.times is None else self.times[rows]
        return Data(self.reports[rows], predictors, self.response.taken(rows), weights, times)

    def chunks(self) -> Iterator["Chunk"]:
        """The records, some at a time."""
        for start in range(0, self.reports.size, CHUNK):
            part = slice(start, start + CHUNK)
            reports = self.reports[part]
            n = reports.size
            made = np.stack([one.at(part, n) for one in self.predictors], axis=1)
            weights = np.ones(n) if self.weights is None else self.weights[part]
            times = np.ones(n) if self.times is None else self.times[part]
            yield Chunk(
                reports, made, self.response.at(part, n), times * weights, times * weights**2
            )


class Chunk(NamedTuple):
    """Some records, laid out."""

    reports: NDArray[np.integer]
    records: Array  # records × predictors
    responses: Array
    weights: Array
    squares: Array  # of the weights
