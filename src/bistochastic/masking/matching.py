r"""Matching: neighbours on a path change places, each pair with a chance of its own.

Pair i changes places unless pair i - 1 did, if a uniform draw from $[0, N - a_{i-1})$ is below
$a_i$: so with probability $(1-\alpha_{i-1}) \cdot \alpha_i/(1-\alpha_{i-1}) = \alpha_i$ exactly.
"""

import numpy as np
from numpy.typing import NDArray

from bistochastic.matrices.tridiagonal import TridiagonalForm
from bistochastic.matrices.words import Words

__all__ = ["matched", "matched_bits"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def matched(form: TridiagonalForm, words: Words) -> Integers:
    """A random matching of the path: what changes places, its neighbours cannot."""
    order = np.arange(form.size)
    if form.size == 1:
        return order
    happens = np.flatnonzero(_alternating(_wanted(form, words)))
    order[happens], order[happens + 1] = happens + 1, happens
    return order


def _alternating(wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """In each run of wanted exchanges every other one, beginning with the first."""
    places = np.arange(wanted.size)
    before = np.maximum.accumulate(np.where(wanted, -1, places))
    return wanted & ((places - before) % 2 == 1)


def _wanted(form: TridiagonalForm, words: Words) -> NDArray[np.bool_]:
    """Whether each pair would change places if the one before it did not: a_i out of N - a_{i-1}.

    A word w answers ⌊w/⌊N/room⌋⌋, and is drawn again where that is not below the room: less than
    half of all words are.
    """
    top = np.uint64((1 << form.word_bits) - 1)
    before = np.append(np.uint64(0), form.weights[:-1])
    last = top - before  # the room is one more, which may not fit 64 bits
    share = np.ones_like(last)
    narrow = before > 0
    room = last[narrow] + np.uint64(1)
    share[narrow] = top // room + (top % room == last[narrow])  # N itself may not fit 64 bits
    answer = words(0, 0, np.arange(last.size)) // share
    late = np.flatnonzero(answer > last)
    attempt = 0
    while late.size:
        attempt += 1
        answer[late] = words(0, attempt, late) // share[late]
        late = late[answer[late] > last[late]]
    return (answer < form.weights) | form.sure


def matched_bits(form: TridiagonalForm) -> float:
    r"""$\sum_i (1-\alpha_{i-1})\,h(\alpha_i/(1-\alpha_{i-1}))$, h the entropy of a coin."""
    alphas = np.where(form.sure, 1.0, np.ldexp(form.weights.astype(float), -form.word_bits))
    room = 1 - np.append(0.0, alphas[:-1])
    chance = np.divide(alphas, room, out=np.zeros_like(alphas), where=room > 0).clip(0, 1)
    return float((room * coin_bits(chance)).sum())


def coin_bits(chance: Floats) -> Floats:
    """The entropy of tosses, each with its own chance."""
    inside = (chance > 0) & (chance < 1)
    p = np.where(inside, chance, 0.5)
    return np.where(inside, -(p * np.log2(p) + (1 - p) * np.log2(1 - p)), 0.0)
