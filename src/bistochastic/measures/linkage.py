r"""Record linkage by an intruder who knows the whole original and looks for everybody in turn.

For each original record the nearest masked records are found: by the ranks that values have in
their own files (Muralidhar and Domingo-Ferrer 2016), or by the values in standard deviations. A
link is *correct* if the true record alone is nearest, *ambiguous* if it is one of several that are
equally near, and *wrong* otherwise. Of m records equally near one is chosen at random, so an
ambiguous link is right with probability 1/m.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MeasureError
from bistochastic.measures.attributes import METRICS, Attribute, Metric, Scale, points
from bistochastic.measures.nearest import chances as searched

__all__ = ["Linkage", "interval", "linkage"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Linkage:
    """What an intruder who knows everything but who is who gets right.

    `correct`, `ambiguous` and `wrong` are shares of the records that are in both files, `expected`
    is the share that ends up right when ties are broken at random, between `low` and `high` at the
    level asked for. `baseline` is what blind matching gets. `chances` holds the probability for
    each record that its link is right; NaN for a record that is not in the masked file.
    """

    records: int
    candidates: int
    correct: float
    ambiguous: float
    wrong: float
    expected: float
    low: float
    high: float
    baseline: float
    chances: Floats

    def __repr__(self) -> str:
        return (
            f"<Linkage of {self.records} records: {self.expected:.2%} right, between "
            f"{self.low:.2%} and {self.high:.2%}; blindly {self.baseline:.2%}>"
        )


def linkage(
    attributes: Sequence[Attribute],
    *,
    true: ArrayLike | None = None,
    scale: Scale = "ranks",
    metric: Metric = "euclidean",
    level: float = 0.95,
) -> Linkage:
    """Link every original record to the nearest masked one and count what is right.

    Args:
        attributes: What the intruder compares, in both files.
        true: The masked row of each original row, -1 for none; the same row unless given.
        scale: By "ranks" in the own file, or by "values" in standard deviations of the original.
        metric: How differences of attributes add up.
        level: The confidence that the interval has.

    >>> ages = [20, 35, 50, 65]
    >>> found = linkage([Attribute.of(ages, [25, 50, 35, 60])])
    >>> found.correct, found.wrong, found.baseline
    (0.5, 0.5, 0.25)
    """
    partner = _checked(attributes, true, scale, metric)
    known = np.flatnonzero(partner >= 0)
    chances = np.full(partner.size, np.nan)
    candidates = attributes[0].masked.size
    if known.size:
        found = points(attributes, scale)
        chances[known] = searched(found, known, partner[known], METRICS[metric])
    return told(chances, candidates, level)


def told(chances: Floats, candidates: int, level: float) -> Linkage:
    """The chances of all records as one result."""
    there = chances[chances == chances]
    n = there.size
    expected = float(there.mean()) if n else float("nan")
    low, high = interval(expected, n, level)
    correct, missed = (int(np.count_nonzero(there == sure)) for sure in (1.0, 0.0))
    whole = n or float("nan")
    return Linkage(
        records=n,
        candidates=candidates,
        correct=correct / whole,
        ambiguous=(n - correct - missed) / whole,
        wrong=missed / whole,
        expected=expected,
        low=low,
        high=high,
        baseline=1 / candidates if candidates else float("nan"),
        chances=chances,
    )


def interval(share: float, n: int, level: float) -> tuple[float, float]:
    """The interval of Clopper and Pearson 1934 for a share of n trials.

    >>> [round(end, 6) for end in interval(0.0, 10, 0.95)]
    [0.0, 0.308497]
    """
    from scipy.special import betaincinv

    if not 0 < level < 1:
        raise MeasureError(f"A level lies between 0 and 1; got {level!r}.")
    if n == 0:
        return float("nan"), float("nan")
    rest, hits = (1 - level) / 2, share * n
    low = float(betaincinv(hits, n - hits + 1, rest)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - rest)) if hits < n else 1.0
    return low, high


def _checked(
    attributes: Sequence[Attribute], true: ArrayLike | None, scale: str, metric: str
) -> Integers:
    if not attributes:
        raise MeasureError("Linkage needs at least one attribute.")
    if scale not in ("ranks", "values"):
        raise MeasureError(f'Link by "ranks" or by "values"; got {scale!r}.')
    if metric not in METRICS:
        raise MeasureError(f"A metric is one of {', '.join(METRICS)}; got {metric!r}.")
    sizes = {(a.original.size, a.masked.size) for a in attributes}
    if len(sizes) > 1:
        raise MeasureError(f"All attributes are of the same records; got lengths {sorted(sizes)}.")
    before, after = sizes.pop()
    if true is None and before != after:
        raise MeasureError(
            f"The original has {before} records and the masked file {after}: say which belong "
            f"together (`true`)."
        )
    partner = np.arange(before) if true is None else np.asarray(true, dtype=np.int64)
    if partner.shape != (before,) or (before and not -1 <= partner.min() <= partner.max() < after):
        raise MeasureError(f"`true` gives a masked row, or -1, for each of {before} records.")
    return partner
