r"""Permute: individuals change places, so that margins stay exactly what they were.

The value of individual u goes to the place σ(u), with $\Pr(\sigma(u) = v) = p_{uv}$ exactly on the
integers. Each structure has a recipe of its own, and each recipe an entropy: one law for every
single individual can hide much or little about all of them together.
"""

import math
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bistochastic.errors import MaskingError
from bistochastic.masking.shuffle import shuffled
from bistochastic.matrices.birkhoff import BirkhoffForm
from bistochastic.matrices.blocks import BlocksForm
from bistochastic.matrices.combination import CombinationForm
from bistochastic.matrices.composition import ComposedForm
from bistochastic.matrices.ergodic import ErgodicForm
from bistochastic.matrices.exact import Exact
from bistochastic.matrices.mixture import MixtureForm
from bistochastic.matrices.permutation import PermutationForm
from bistochastic.matrices.tridiagonal import TridiagonalForm
from bistochastic.matrices.words import Words, shifted

__all__ = ["joint_bits", "permutation"]

Order = NDArray[np.int64]

LN2 = math.log(2.0)
DRAWS = 8  # draws set aside for each part of a recipe, so that parts never share a word
FIRST = np.zeros(1, dtype=np.int64)  # a choice for the whole column is made by its first place


@singledispatch
def permutation(form: Exact, words: Words) -> Order:
    """A random σ with the law of the integer matrix for every individual.

    >>> from bistochastic import Permutation
    >>> permutation(Permutation([2, 0, 1]).exact(), None)
    array([2, 0, 1])
    """
    raise MaskingError(
        f"{form!r} has no recipe for permuting a whole column. Draw or average with it, or permute "
        f"with blocks, a tridiagonal matrix, a mixture or compositions of them."
    )


@singledispatch
def joint_bits(form: Exact) -> float:
    """The entropy of σ as a whole, in bits: what remains to be guessed about all places."""
    raise MaskingError(f"{form!r} has no recipe for permuting a whole column.")


@permutation.register
def _(form: PermutationForm, words: Words) -> Order:
    return form.matrix.order.copy()


@joint_bits.register
def _(form: PermutationForm) -> float:
    return 0.0


@permutation.register
def _(form: BlocksForm, words: Words) -> Order:
    return shuffled(form.matrix.sizes, 0, words, word_bits=form.word_bits)


@joint_bits.register
def _(form: BlocksForm) -> float:
    return float(gammaln(form.matrix.sizes + 1.0).sum() / LN2)


@permutation.register
def _(form: TridiagonalForm, words: Words) -> Order:
    """A random matching of the path: what an exchange takes, its neighbours cannot."""
    order = np.arange(form.size)
    if form.size == 1:
        return order
    wanted = _wanted(form, words)
    # An exchange happens if wanted and the one before it did not happen: in a run of wanted ones,
    # the first, the third, the fifth …
    begins = np.maximum.accumulate(np.where(wanted, -1, np.arange(wanted.size)))
    happens = np.flatnonzero(wanted & ((np.arange(wanted.size) - begins) % 2 == 1))
    order[happens], order[happens + 1] = happens + 1, happens
    return order


def _wanted(form: TridiagonalForm, words: Words) -> NDArray[np.bool_]:
    """Whether each exchange would happen if the one before it did not: a_i out of N - a_{i-1}."""
    edges = np.arange(form.weights.size)
    before = np.append(np.uint64(0), form.weights[:-1])
    top = np.uint64((1 << form.word_bits) - 1)
    drawn = words(0, 0, edges).copy()
    late = np.flatnonzero(drawn > top - before)
    attempt = 0
    while late.size:
        attempt += 1
        drawn[late] = words(0, attempt, late)
        late = late[drawn[late] > top - before[late]]
    return (drawn < form.weights) | form.sure


@joint_bits.register
def _(form: TridiagonalForm) -> float:
    r"""$\sum_i (1-\alpha_{i-1})\,h(\alpha_i/(1-\alpha_{i-1}))$, h the entropy of a coin."""
    alphas = np.where(form.sure, 1.0, np.ldexp(form.weights.astype(float), -form.word_bits))
    room = 1 - np.append(0.0, alphas[:-1])
    chance = np.divide(alphas, room, out=np.zeros_like(alphas), where=room > 0).clip(0, 1)
    return float((room * _coin_bits(chance)).sum())


def _coin_bits(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = (chance > 0) & (chance < 1)
    p = np.where(inside, chance, 0.5)
    return np.where(inside, -(p * np.log2(p) + (1 - p) * np.log2(1 - p)), 0.0)


@permutation.register
def _(form: MixtureForm, words: Words) -> Order:
    """A uniform permutation of a uniform subset; below p = 1/n, derangements for the most part."""
    n = form.size
    if form.truth * n >= form.whole:
        return _subset_shuffled(n, _subset_size(form, words), words, form.word_bits)
    every = np.array([n], dtype=np.int64)
    if _below(n * form.truth, form.whole, words, form.word_bits):
        return shuffled(every, 2, words, word_bits=form.word_bits)
    attempt = 0
    while True:  # a uniform permutation moves everybody once in e times
        order = shuffled(every, 2, _later(words, attempt), word_bits=form.word_bits)
        if (order != np.arange(n)).all():
            return order
        attempt += 1


def _later(words: Words, tries: int) -> Words:
    """Fresh words for another try: attempts far beyond those that ties ask for."""

    def later(draw: int, attempt: int, cells: NDArray[Any] | None) -> NDArray[np.uint64]:
        return words(draw, attempt + (tries << 16), cells)

    return later


def _subset_size(form: MixtureForm, words: Words) -> int:
    """A whole number of mean 1 + n(1-p), next to that mean: exactly, on the integers."""
    moved = form.size * (form.size - 1) * form.lie
    whole, rest = divmod(moved, form.whole)
    return 1 + whole + int(_below(rest, form.whole, words, form.word_bits))


def _below(numerator: int, whole: int, words: Words, word_bits: int) -> bool:
    """An exact toss of chance numerator/whole, for the column as one."""
    digits = -(-whole.bit_length() // word_bits)
    limit = (1 << (digits * word_bits)) // whole * whole
    attempt = 0
    while True:
        value = 0
        for digit in range(digits):
            word = int(words(0, attempt * digits + digit, FIRST)[0])
            value = value << word_bits | word
        if value < limit:
            return value % whole < numerator
        attempt += 1


def _subset_shuffled(n: int, size: int, words: Words, word_bits: int) -> Order:
    """The first `size` places of a uniform order are the subset, and their order is uniform."""
    order = np.arange(n)
    if size < 2:
        return order
    chosen = shuffled(np.array([n], dtype=np.int64), 2, words, word_bits=word_bits)[:size]
    order[np.sort(chosen)] = chosen
    return order


@joint_bits.register
def _(form: MixtureForm) -> float:
    r"""$-\sum_m C(n,m)\,d_m\,q_m\log_2 q_m$: σ that move equally many are equally likely."""
    n = form.size
    if form.truth * n < form.whole:
        return _deranged_bits(n, n * form.truth / form.whole)
    whole, rest = divmod(n * (n - 1) * form.lie, form.whole)
    sizes = [(1 + whole, 1 - rest / form.whole), (2 + whole, rest / form.whole)]
    sizes = [(size, weight) for size, weight in sizes if weight > 0]
    moved = np.arange(max(sizes[-1][0] - 200, 0), min(sizes[-1][0], n) + 1)
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
    return (
        gammaln(np.asarray(n) + 1.0)
        - gammaln(np.asarray(k) + 1.0)
        - gammaln(np.asarray(n) - np.asarray(k) + 1.0)
    )


def _log_derangements(m: NDArray[np.int64]) -> NDArray[np.float64]:
    """The logarithm of the number of permutations of m that move everybody: m!/e, rounded."""
    exact = [1.0, 0.0]
    for k in range(2, 19):
        exact.append((k - 1) * (exact[-1] + exact[-2]))
    with np.errstate(divide="ignore"):
        small = np.log(np.array(exact))
    return np.where(m < 19, small[np.minimum(m, 18)], gammaln(m + 1.0) - 1)


@permutation.register
def _(form: ComposedForm, words: Words) -> Order:
    order = np.arange(form.size)
    for part, inner in enumerate(form.forms):
        order = permutation(inner, shifted(words, DRAWS * part))[order]
    return order


@joint_bits.register
def _(form: ComposedForm) -> float:
    """At least that of its most uncertain step, for the others can only add to it."""
    return max(joint_bits(inner) for inner in form.forms)


@permutation.register
def _(form: BirkhoffForm, words: Words) -> Order:
    """One permutation for everybody: whoever knows where one went may know where all did."""
    winner = (
        form.sure if form.table is None else int(form.table.sample(None, words(0, 0, FIRST))[0])
    )
    return form.matrix.permutations[winner].copy()


@joint_bits.register
def _(form: BirkhoffForm) -> float:
    shares = form._floats()
    shares = shares[shares > 0]
    return float(-(shares * np.log2(shares)).sum())


@permutation.register
def _(form: CombinationForm, words: Words) -> Order:
    """A toss for the whole column, then the recipe of the matrix that won."""
    winner = (
        form.sure if form.table is None else int(form.table.sample(None, words(0, 0, FIRST))[0])
    )
    return permutation(form.forms[winner], shifted(words, DRAWS))


@joint_bits.register
def _(form: CombinationForm) -> float:
    """At least the mean of its members: tossing does not make any of them more certain."""
    each = zip(form._shares(), form.forms, strict=True)
    return float(sum(share * joint_bits(inner) for share, inner in each if share))


@permutation.register
def _(form: ErgodicForm, words: Words) -> Order:
    return permutation(form.toss, words)


@joint_bits.register
def _(form: ErgodicForm) -> float:
    return joint_bits(form.toss)
