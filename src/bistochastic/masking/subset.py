r"""Subset: some individuals, drawn at random, change places among themselves.

For a mixture with p ≥ 1/n. A uniform permutation of a uniform subset of size s leaves an individual
where it is with probability $1 - (s-1)/n$; so the size needs the mean $1 + n(1-p)$, and takes one
of the two whole numbers next to it. Below 1/n it is a uniform permutation with probability np, and
a uniform one that moves everybody otherwise.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bistochastic.masking.shuffle import shuffled, tossed
from bistochastic.matrices.mixture import MixtureForm
from bistochastic.matrices.words import Words

__all__ = ["subset_bits", "subset_shuffled"]

Integers = NDArray[np.int64]

LN2 = math.log(2.0)
TOSS, SHUFFLE = 0, 1  # the draws
FIXED = 200  # a uniform permutation fixes more places with probability 1/200! at most
COUNTED = 18  # derangements beyond which m!/e is right to the last digit of a double


def subset_shuffled(form: MixtureForm, words: Words) -> Integers:
    """A uniform permutation of a uniform subset; below p = 1/n, derangements for the most part."""
    n = form.size
    every = np.array([n], dtype=np.int64)
    if form.truth * n >= form.whole:
        size = _size(form, words)
        order = np.arange(n)
        if size < 2:
            return order
        # The first places of a uniform order are a uniform subset, in an order that is uniform too.
        chosen = shuffled(every, SHUFFLE, words, word_bits=form.word_bits)[:size]
        member = np.zeros(n, dtype=bool)
        member[chosen] = True
        order[member] = chosen
        return order
    if tossed(Fraction(n * form.truth, form.whole), TOSS, words, word_bits=form.word_bits):
        return shuffled(every, SHUFFLE, words, word_bits=form.word_bits)
    attempt = 0
    while True:  # one uniform permutation in e moves everybody
        order = shuffled(every, SHUFFLE, _later(words, attempt), word_bits=form.word_bits)
        if (order != np.arange(n)).all():
            return order
        attempt += 1


def _size(form: MixtureForm, words: Words) -> int:
    """A whole number of mean 1 + n(1-p), next to that mean: exactly, on the integers."""
    whole, rest = divmod(form.size * (form.size - 1) * form.lie, form.whole)
    more = tossed(Fraction(rest, form.whole), TOSS, words, word_bits=form.word_bits)
    return 1 + whole + int(more)


def _later(words: Words, tries: int) -> Words:
    """Fresh words for another try: attempts far beyond those that ties ask for."""

    def later(draw: int, attempt: int, cells: NDArray[Any] | None) -> NDArray[np.uint64]:
        return words(draw, attempt + (tries << 16), cells)

    return later


def subset_bits(form: MixtureForm) -> float:
    r"""$-\sum_m C(n,m)\,d_m\,q_m\log_2 q_m$: those that move equally many are equally likely.

    $d_m$ counts those of m places that move all of them, and
    $q_m = \sum_s w_s\,C(n-m,s-m)/(C(n,s)\,s!)$ is how likely each of them is.
    """
    n = form.size
    if form.truth * n < form.whole:
        return _deranged_bits(n, n * form.truth / form.whole)
    whole, rest = divmod(n * (n - 1) * form.lie, form.whole)
    sizes = [(1 + whole, 1 - rest / form.whole), (2 + whole, rest / form.whole)]
    sizes = [(size, weight) for size, weight in sizes if weight > 0]
    moved = np.arange(max(sizes[-1][0] - FIXED, 0), min(sizes[-1][0], n) + 1)
    log_q = np.full(moved.size, -np.inf)
    for size, weight in sizes:
        inside = moved <= size
        m = moved[inside]
        term = math.log(weight) + _log_binomial(n - m, size - m)
        term = term - _log_binomial(n, size) - gammaln(size + 1)
        log_q[inside] = np.logaddexp(log_q[inside], term)
    log_share = _log_binomial(n, moved) + _log_derangements(moved) + log_q
    seen = np.isfinite(log_share)
    return float(max(-(np.exp(log_share[seen]) * log_q[seen]).sum() / LN2, 0.0))


def _deranged_bits(n: int, uniform: float) -> float:
    """A uniform permutation with one probability, a uniform derangement otherwise."""
    log_all, log_deranged = gammaln(n + 1), float(_log_derangements(np.array([n]))[0])
    log_fixed = math.log(uniform) - log_all if uniform else -math.inf
    log_moved = np.logaddexp(log_fixed, math.log1p(-uniform) - log_deranged)
    share = math.exp(log_deranged + log_moved)
    bits = -share * log_moved - ((1 - share) * log_fixed if uniform else 0.0)
    return float(bits / LN2)


def _log_binomial(n: Any, k: Any) -> Any:
    n, k = np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64)
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def _log_derangements(m: Integers) -> NDArray[np.float64]:
    """The logarithm of the number of permutations of m that move everybody: m!/e, rounded."""
    exact = [1.0, 0.0]
    for k in range(2, COUNTED + 1):
        exact.append((k - 1) * (exact[-1] + exact[-2]))
    with np.errstate(divide="ignore"):
        small = np.log(np.array(exact))
    return np.where(m <= COUNTED, small[np.minimum(m, COUNTED)], gammaln(m + 1.0) - 1)
