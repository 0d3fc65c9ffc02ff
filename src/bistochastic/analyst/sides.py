"""Sides: an axis of a table with the columns it stands for, and the labels of its levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.estimate.axes import Axis
from bistochastic.tables.base import Domain
from bistochastic.tables.labels import spelled

__all__ = ["MISSING", "Side"]

MISSING = "missing"  # how a sum of levels calls those who gave no answer
Levels = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """What is counted along an axis, and which of these columns were asked for."""

    axis: Axis
    columns: tuple[str, ...]  # counted as one, the last of them fastest
    domains: tuple[Domain, ...]
    asked: tuple[str, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many codes each column that was asked for has."""
        return tuple(len(self.values(name)) for name in self.asked)

    def values(self, name: str) -> tuple[Any, ...]:
        """The labels of a column, None last where missing is a code of its own."""
        domain = self.domains[self.columns.index(name)]
        return domain.labels if domain.missing == "refuse" else (*domain.labels, None)

    @property
    def classes(self) -> Levels | None:
        """The level of each combination of labels asked for; none where each is its own."""
        if not self.axis.lost:
            return None
        levels = self.axis.all_levels
        counted = [len(self.values(name)) for name in self.columns]
        codes = dict(zip(self.columns, np.unravel_index(np.arange(levels.size), counted),
                         strict=True))  # fmt: skip
        cells = np.ravel_multi_index([codes[name] for name in self.asked], self.sizes)
        classes = np.zeros(int(np.prod(self.sizes)), np.int64)
        classes[cells] = levels
        return classes

    def codes(self, levels: Levels) -> dict[str, Levels]:
        """The code of each asked column for levels; of a sum, that of the first it holds."""
        classes = self.classes
        if classes is not None:
            levels = np.unique(classes, return_index=True)[1][levels]
        found = np.unravel_index(levels, self.sizes)
        return dict(zip(self.asked, found, strict=True))

    def labels(self, levels: Levels) -> dict[str, pl.Series]:
        """The labels of levels, a column for each that was asked for."""
        classes = self.classes
        if classes is not None:
            return self._of_sums(levels, classes)
        return {
            name: _series(name, self.values(name)).gather(pl.Series(codes.astype(np.uint32)))
            for name, codes in self.codes(levels).items()
        }

    def notes(self, levels: Levels) -> list[str]:
        """What is to be said of each level."""
        classes = self.classes
        if classes is None:
            return [""] * levels.size
        told = []
        for members in np.bincount(classes):
            words = f"a sum of {members} cells that reports do not tell apart"
            told.append(words if members > 1 else "")
        return [told[level] for level in levels]

    def _of_sums(self, levels: Levels, classes: Levels) -> dict[str, pl.Series]:
        codes = np.unravel_index(np.arange(classes.size), self.sizes)
        told: dict[str, pl.Series] = {}
        for name, each in zip(self.asked, codes, strict=True):
            values = self.values(name)
            words = [
                joined([values[code] for code in sorted(set(each[classes == level].tolist()))])
                for level in range(self.axis.count)
            ]
            plain = words == [_text(value) for value in values]
            told[name] = (
                _series(name, values) if plain else pl.Series(name, words, dtype=pl.String)
            ).gather(pl.Series(levels.astype(np.uint32)))
        return told


def joined(labels: Sequence[Any]) -> str:
    """Labels of a sum, as one."""
    return " + ".join(map(_text, labels))


def _text(label: Any) -> str:
    return MISSING if label is None else spelled(label)


def _series(name: str, values: Sequence[Any]) -> pl.Series:
    """Labels as they are, or as they are spelled where they are of several types."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1:
        values = [None if value is None else spelled(value) for value in values]
    return pl.Series(name, values, dtype=None if kinds else pl.String)
