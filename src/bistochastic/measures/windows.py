r"""Windows: how diverse the values next to each other in a sorted column are.

All criteria are sums over a stretch of ranks, so each is a difference of running sums: windows of n
records cost O(n) whatever their width.
"""

from dataclasses import dataclass
from typing import Any, Literal, Self, final, get_args

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import MeasureError
from bistochastic.measures.ranking import Groups

__all__ = ["CRITERIA", "Criterion", "Sorted"]

Integers = NDArray[np.int64]
Vector = NDArray[np.float64]

Criterion = Literal["variance", "distinct", "entropy", "closeness"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sorted:
    """A column in order: its different values, and the ranks from which each holds.

    Attributes:
        values: The different values.
        starts: The first rank of each, and at the end the number of records.
        places: Which of the different values each rank has.
    """

    values: NDArray[Any]
    starts: Integers
    places: Integers

    @classmethod
    def of(cls, column: NDArray[Any], groups: Groups) -> Self:
        """The order of values that are all there, of which the groups are known."""
        values = np.empty(groups.size, dtype=column.dtype)
        values[groups.codes] = column
        return cls(values, groups.starts, np.repeat(np.arange(groups.size), groups.sizes))

    @property
    def size(self) -> int:
        """How many records there are."""
        return int(self.starts[-1])

    def nearest(self, values: NDArray[Any]) -> tuple[Integers, Integers]:
        """The places among different values that are closest to each of these, best in order.

        Two of them, the same one twice unless a value lies in the middle between two.
        """
        above = np.searchsorted(self.values, values)
        high = np.minimum(above, self.values.size - 1)
        low = np.maximum(above - 1, 0)
        up, down = abs(self.values[high] - values), abs(values - self.values[low])
        return np.where(down <= up, low, high), np.where(up <= down, high, low)

    def diversity(self, low: Integers, high: Integers, criterion: Criterion) -> Vector:
        """How diverse the values of ranks low … high - 1 are, window by window."""
        if criterion not in CRITERIA:
            raise MeasureError(f"Diversity is one of {', '.join(CRITERIA)}; got {criterion!r}.")
        first, last = self.places[low], self.places[high - 1]
        if criterion == "distinct":
            return (last - first + 1).astype(np.float64)
        if criterion == "variance":
            return self._variance(low, high, first, last)
        if criterion == "entropy":
            return self._effective(low, high, first, last)
        return self._distance(low, high, first, last)

    def _cells(
        self, low: Integers, high: Integers, first: Integers, last: Integers
    ) -> tuple[Integers, Integers]:
        """How much of its first and of its last value a window holds, where they differ."""
        return self.starts[first + 1] - low, high - self.starts[last]

    def _variance(self, low: Integers, high: Integers, first: Integers, last: Integers) -> Vector:
        """The mean squared difference from the mean."""
        values = self.values.astype(np.float64)
        counts = np.diff(self.starts)
        middle = float(counts @ values) / self.size
        scale = float(np.abs(values - middle).max()) or 1.0
        centred = (values - middle) / scale
        head, tail = self._cells(low, high, first, last)
        sums = []
        for power in (centred, centred**2):
            running = _running(counts * power)
            whole = running[last] - running[first + 1]
            sums.append((whole + head * power[first] + tail * power[last]).astype(np.float64))
        size = high - low
        spread = sums[1] / size - (sums[0] / size) ** 2
        return np.where(first == last, 0.0, np.maximum(spread, 0.0) * scale**2)

    def _effective(self, low: Integers, high: Integers, first: Integers, last: Integers) -> Vector:
        """Two to the entropy: so many equally frequent values are as diverse."""
        counts = np.diff(self.starts)
        running = _running(counts * np.log2(counts))
        head, tail = self._cells(low, high, first, last)
        inner = (running[last] - running[first + 1]).astype(np.float64)
        weighed = inner + head * np.log2(np.maximum(head, 1)) + tail * np.log2(np.maximum(tail, 1))
        size = high - low
        return np.where(first == last, 1.0, 2.0 ** (np.log2(size) - weighed / size))

    def _distance(self, low: Integers, high: Integers, first: Integers, last: Integers) -> Vector:
        r"""The earth mover's distance to the whole column, over the places of its values.

        $\sum_g |F_w(g) - F(g)| / (G-1)$, F the shares up to value g in the window and in all. Up to
        the window F is ahead, after it $F_w$; in between the difference rises in a line.
        """
        n, ends = self.size, self.starts[1:]
        total = _running(ends)
        size = (high - low).astype(np.float64)
        slope = 1 / size - 1 / n
        before = total[first] / n
        after = (total[-1] - total[last]).astype(np.float64)
        after = (ends.size - last) - after / n
        # Within, |slope·e - low/size| with e the last rank of each value, up to where it is 0.
        with np.errstate(divide="ignore", invalid="ignore"):
            cut = np.where(slope > 0, low / size / slope, 0.0)
        turn = np.clip(np.searchsorted(ends, cut), first, last)
        falling = low / size * (turn - first) - slope * (total[turn] - total[first])
        rising = slope * (total[last] - total[turn]) - low / size * (last - turn)
        moved = (before + falling + rising + after).astype(np.float64)
        return moved / max(ends.size - 1, 1)


def _running(numbers: NDArray[Any]) -> NDArray[Any]:
    """Sums of the first k, from k = 0, with as many digits as there are."""
    kind = np.int64 if numbers.dtype.kind in "iu" else np.longdouble
    return np.append(np.zeros(1, kind), np.cumsum(numbers.astype(kind)))
