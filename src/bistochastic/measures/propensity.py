r"""The propensity score: how well a model tells masked records from original ones.

With $\hat p_i$ the fitted probability that record i of both files together is masked and c the
share that is, pMSE is the mean of $(\hat p_i - c)^2$ (Woo, Reiter, Oganian and Karr 2009). A model
with k parameters gets $(k-1)(1-c)^2c/N$ on average from a file drawn anew from the very law of the
original (Snoke, Raab, Nowok, Dibben and Slavković 2018); one masked record by record may stay
below.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import MeasureError
from bistochastic.measures.attributes import moments
from bistochastic.measures.utility import Compared

__all__ = ["Propensity", "propensity"]

Floats = NDArray[np.float64]

TINY = 1e-12  # a step that moves nothing
COMMON = 31  # categories of a column that the model tells apart; the rest are one
STEPS = 50
SETTLED = 1e-9  # of what the model has gained in deviance, to be gained by one more step
LEAST = 1e-6  # a gain in deviance that is none
PARTED = 30.0  # a score beyond which the files are told apart for certain
DEPENDENT = 1e-9  # of what is left of a column by those before it, relative to the column
ALONE = 200_000  # products of numbers that a single thread does at a time
ROWS = 1 << 12  # of the design, which is never there as a whole


@final
@dataclass(frozen=True, slots=True)
class Propensity:
    """The pMSE of a logistic model, and what a file drawn anew from the original's law would have.

    `ratio` is the one over the other, `standardised` how many deviations lie between them, and
    `separated` whether some records are told apart for certain. Larger is worse for all of them.
    """

    pmse: float
    expected: float
    ratio: float
    standardised: float
    parameters: int
    separated: bool


def propensity(columns: Sequence[Compared]) -> Propensity:
    """The pMSE of a logistic model with a term for each column, or for each of its categories.

    >>> heights = np.arange(20.0)
    >>> propensity([Compared.of("height", "numeric", heights, heights)]).pmse < 1e-20
    True
    """
    if not columns:
        raise MeasureError("A propensity score needs at least one column.")
    design = _Design(columns)
    share, whole = design.masked / design.rows, design.rows
    last, separated = _fitted(design)
    pmse, k = last.spread / whole, len(design.kept)
    unit = (1 - share) ** 2 * share / whole
    expected, spread = (k - 1) * unit, np.sqrt(2 * (k - 1)) * unit
    ratio = pmse / expected if expected else (np.inf if pmse > 1e-20 else 0.0)
    standardised = (pmse - expected) / spread if spread else 0.0
    return Propensity(pmse, expected, float(ratio), float(standardised), k, separated)


class _Pass(NamedTuple):
    """What one look at all rows gives: deviance, its slope and curve, and the sum for the pMSE."""

    deviance: float
    slope: Floats
    curve: Floats
    spread: float
    score: float  # the largest, either way


class _Design:
    """A constant, standardised numbers, and a column for each category but the first."""

    def __init__(self, columns: Sequence[Compared]) -> None:
        self.original, self.masked = columns[0].before.size, columns[0].after.size
        self.rows = self.original + self.masked
        self.numbers: list[Floats] = []
        self.codes: list[tuple[NDArray[Any], int]] = []
        for column in columns:
            if column.kind == "numeric":
                self._numeric(column)
                continue
            cells = column.cells(COMMON)
            codes = np.concatenate([cells.before, cells.after])
            held = np.bincount(codes, minlength=cells.size) > 0
            place = np.cumsum(held) - 1
            self.codes.append((place.astype(np.uint8)[codes], int(held.sum())))
        self.width = 1 + len(self.numbers) + sum(size - 1 for _, size in self.codes)
        self.kept = list(range(self.width))
        self.kept = _independent(sum(_gram(part) for _, part in self.parts()))

    def _numeric(self, column: Compared) -> None:
        values = np.concatenate([column.before, column.after])
        there = values == values
        centre, spread = moments(values[there])
        self.numbers.append(np.where(there, (values - centre) / spread, 0.0))
        if not there.all():
            self.numbers.append(np.where(there, 0.0, 1.0))

    def parts(self) -> Iterator[tuple[int, Floats]]:
        """Where a portion of rows begins, and the independent columns of it, one in a line.

        All portions are put into the same place: memory that is asked for anew costs more than
        what is computed in it.
        """
        space = np.empty((self.width, ROWS))
        for start in range(0, self.rows, ROWS):
            stop = min(start + ROWS, self.rows)
            part = space[:, : stop - start]
            part[0] = 1.0
            for place, line in enumerate(self.numbers, start=1):
                part[place] = line[start:stop]
            first = 1 + len(self.numbers)
            for codes, size in self.codes:
                held = codes[start:stop]
                for code in range(1, size):
                    np.equal(held, code, out=part[first + code - 1], casting="unsafe")
                first += size - 1
            yield start, part if len(self.kept) == self.width else part[self.kept]

    def look(self, weights: Floats) -> _Pass:
        """One pass over all rows at these weights."""
        k, share = weights.size, self.masked / self.rows
        slope, curve = np.zeros(k), np.zeros((k, k))
        deviance = spread = largest = 0.0
        for start, part in self.parts():
            score = np.einsum("k,kr->r", weights, part)
            truth = (np.arange(start, start + score.size) >= self.original).astype(np.float64)
            fitted = 1 / (1 + np.exp(-np.clip(score, -700, 700)))
            deviance += 2 * float((np.logaddexp(0, score) - truth * score).sum())
            spread += float(np.square(fitted - share).sum())
            largest = max(largest, float(np.abs(score).max()))
            slope += np.einsum("kr,r->k", part, truth - fitted)
            part *= np.sqrt(fitted * (1 - fitted))
            curve += _gram(part)
        return _Pass(deviance, slope, curve, spread, largest)


def _gram(part: Floats) -> Floats:
    """The products of all lines with each other, in blocks for which one thread is enough.

    Products of large arrays wake threads that wait for each other by spinning, which on a machine
    with other work takes many times as long as the products themselves.
    """
    k, rows = part.shape
    step = max(ALONE // (k * k), 8)
    cut = rows - rows % step
    blocks = part[:, :cut].reshape(k, -1, step).transpose(1, 0, 2)
    whole = np.matmul(blocks, blocks.transpose(0, 2, 1)).sum(axis=0)
    rest = part[:, cut:]
    return np.asarray(whole + rest @ rest.T)


def _independent(gram: Any) -> list[int]:
    """The columns that are no combination of those before them."""
    kept: list[int] = []
    for place in range(gram.shape[0]):
        own = gram[place, place]
        if kept:
            cross = gram[np.ix_(kept, [place])][:, 0]
            own = own - cross @ np.linalg.solve(gram[np.ix_(kept, kept)], cross)
        if own > DEPENDENT * max(gram[place, place], 1.0):
            kept.append(place)
    return kept


def _fitted(design: _Design) -> tuple[_Pass, bool]:
    """The last look of Newton's method, steps halved while the deviance rises."""
    weights = np.zeros(len(design.kept))
    weights[0] = np.log(design.masked / design.original)
    here = design.look(weights)
    null = here.deviance
    for _ in range(STEPS):
        step = np.linalg.lstsq(here.curve, here.slope, rcond=None)[0]
        # What a whole step would gain if the deviance were its own parabola.
        if float(here.slope @ step) <= SETTLED * max(null - here.deviance, LEAST):
            return here, False
        there = design.look(weights + step)
        while there.deviance > here.deviance and float(np.abs(step).max()) > TINY:
            step = step / 2
            there = design.look(weights + step)
        weights, here = weights + step, there
        if here.score > PARTED:
            return here, True
    return here, False
