r"""The average information gain I(W; X̂): the bits that a class tells of a sensitive value.

Estimated from n records, the plug-in value is too large: with many small classes even values dealt
out at random seem to tell something. Beside it stand the estimate of Miller and Madow (Miller
1955), its error by the delta method, and the level that chance alone would show: the exact mean of
the plug-in value when the values of the file are dealt out to the records at random, which only
the sizes of classes and values decide.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from bistochastic.measures.classes import Table

__all__ = ["Information", "chance_information", "information"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LN2 = float(np.log(2.0))
STEP = 1 << 20


@final
@dataclass(frozen=True, slots=True)
class Information:
    """Bits that a class tells of a sensitive value: as counted, corrected, and by chance.

    `corrected` is neither below 0 nor above `whole`, the entropy of the sensitive attribute;
    `error` is the standard error of either, `chance` what values dealt out at random would show
    on average.
    """

    plug_in: float
    corrected: float
    error: float
    chance: float
    whole: float


def information(table: Table) -> Information:
    """The information that classes hold of a sensitive attribute.

    >>> from bistochastic.measures.classes import Classes
    >>> found = information(Table.of(Classes.of([[0, 0, 1, 1]]), [0, 0, 1, 1]))
    >>> found.plug_in, found.whole, round(found.chance, 4)
    (1.0, 1.0, 0.3333)
    """
    n = table.classes.records
    density = np.log2(table.shares / table.overall[table.values])
    share = table.counts / n
    plug_in = max(float(share @ density), 0.0)
    spread = float(share @ np.square(density - plug_in))
    values = int(np.count_nonzero(table.totals))
    degrees = table.counts.size - table.classes.count - values + 1
    present = table.overall[table.totals > 0]
    whole = float(-present @ np.log2(present)) + 0.0
    return Information(
        plug_in=plug_in,
        corrected=min(max(plug_in - degrees / (2 * n * LN2), 0.0), whole),
        error=float(np.sqrt(max(spread, 0.0) / n)),
        chance=chance_information(table.classes.sizes, table.totals[table.totals > 0]),
        whole=whole,
    )


def chance_information(sizes: Integers, totals: Integers) -> float:
    r"""The mean information, in bits, of values dealt out to classes of these sizes at random.

    A class of a records holds a value that b of n records have k times with the probability
    $\binom{b}{k}\binom{n-b}{a-k}/\binom{n}{a}$; only distinct sizes and totals are gone through.
    """
    n = int(sizes.sum())
    large, times = np.unique(sizes, return_counts=True)
    many, often = np.unique(totals, return_counts=True)
    a, b = (grid.ravel() for grid in np.meshgrid(large, many, indexing="ij"))
    weight = (times[:, None] * often).ravel().astype(np.float64)
    mean = a * (b / n)
    spread = np.sqrt(mean * (1 - a / n) * (1 - b / n) * n / max(n - 1, 1))
    # Beyond so many deviations nothing is left of a hypergeometric law.
    reach = 10 * spread + 40
    low = np.maximum(np.maximum(1, a + b - n), np.floor(mean - reach)).astype(np.int64)
    high = np.minimum(np.minimum(a, b), np.ceil(mean + reach)).astype(np.int64)
    lengths = np.maximum(high - low + 1, 0)
    total, ends, cut = 0.0, np.cumsum(lengths), 0
    while cut < a.size:
        done = int(ends[cut - 1]) if cut else 0
        stop = max(cut + 1, int(np.searchsorted(ends, done + STEP, side="right")))
        part = slice(cut, stop)
        total += _expected(n, a[part], b[part], low[part], lengths[part], weight[part])
        cut = stop
    return max(total, 0.0)


def _expected(
    n: int, a: Integers, b: Integers, low: Integers, lengths: Integers, weight: Floats
) -> float:
    """The sum of k/n log2(kn/ab) times its probability, over the pairs of sizes given."""
    from scipy.special import gammaln

    which = np.repeat(np.arange(a.size), lengths)
    first = np.cumsum(lengths) - lengths
    k = low[which] + np.arange(which.size) - first[which]
    a, b = a[which], b[which]

    def ways(of: Integers, chosen: Integers) -> Floats:
        return np.asarray(gammaln(of + 1.0) - gammaln(chosen + 1.0) - gammaln(of - chosen + 1.0))

    whole = np.full(k.size, n)
    chance = np.exp(ways(b, k) + ways(whole - b, a - k) - ways(whole, a))
    gain = k / n * np.log2(k * (n / a) / b)
    return float(weight[which] @ (chance * gain))
