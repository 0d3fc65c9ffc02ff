r"""Bounded water-filling: the product of 1 + l_i x_i is largest where all rise at one rate.

$$\max\prod_i(1+l_ix_i)\ \text{over}\ 0\le x_i\le y_i,\ \sum_ix_i\le t:\qquad x_i =
\operatorname{clip}(1/\mu - 1/l_i,\,0,\,y_i)$$

with μ such that the sum is t, or x = y if all of y may be spent (Rebollo-Monedero, Forné &
Domingo-Ferrer 2010, lemma 4).
"""

import numpy as np
from numpy.typing import ArrayLike

from bistochastic.errors import MatrixError
from bistochastic.matrices.checks import as_number, as_numbers
from bistochastic.tradeoff.problem import Floats

__all__ = ["water_filling"]


def water_filling(gains: ArrayLike, caps: ArrayLike, total: float) -> Floats:
    """How a total is spent best, in closed form: where l_i is 0 nothing is spent.

    Args:
        gains: l, none negative.
        caps: y, none negative.
        total: t, not negative.

    >>> water_filling([2, 1, 0], [1, 1, 5], 1.0)
    array([0.75, 0.25, 0.  ])
    """
    slopes, most = as_numbers(gains, "The gains"), as_numbers(caps, "The caps")
    spent = as_number(total, "The total")
    if slopes.ndim != 1 or slopes.shape != most.shape:
        raise MatrixError(
            f"water_filling needs a cap for each gain; got shapes {slopes.shape} and {most.shape}."
        )
    if slopes.min() < 0 or most.min() < 0 or not spent >= 0:
        raise MatrixError("water_filling needs gains, caps and a total that are not negative.")
    useful = slopes > 0
    if most.sum() <= spent:
        return most.copy()  # also what brings nothing, since nothing else wants it
    filled = np.zeros_like(most)
    if not useful.any():
        return filled
    filled[useful] = _poured(1 / slopes[useful], most[useful], spent)
    return filled


def _poured(floors: Floats, heights: Floats, total: float) -> Floats:
    """Vessels with floors and heights, filled to one level: the sum is linear between borders."""
    if heights.sum() <= total:
        return heights.copy()
    levels = np.unique(np.concatenate((floors, floors + heights)))
    sums = np.clip(levels[:, None] - floors, 0, heights).sum(axis=1)
    after = int(np.searchsorted(sums, total, side="right"))
    base = levels[max(after - 1, 0)]
    rising = (floors <= base) & (floors + heights > base)
    level = base + (total - sums[max(after - 1, 0)]) / max(int(rising.sum()), 1)
    return np.clip(level - floors, 0, heights)
