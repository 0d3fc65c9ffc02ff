r"""Permute: individuals change places, so that margins stay exactly what they were.

The value of individual u goes to the place σ(u), with $\Pr(\sigma(u) = v) = p_{uv}$ exactly on the
integers. Each structure has a recipe of its own, and each recipe an entropy: one law for every
single individual can hide much or little about all of them together.
"""

import math
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bistochastic.errors import MaskingError
from bistochastic.masking.matching import matched, matched_bits
from bistochastic.masking.shuffle import FIRST, shuffled
from bistochastic.masking.subset import subset_bits, subset_shuffled
from bistochastic.masking.swapping import swapped, swapped_bits
from bistochastic.matrices.birkhoff import BirkhoffForm
from bistochastic.matrices.blocks import BlocksForm
from bistochastic.matrices.bounds import AtLeast
from bistochastic.matrices.combination import CombinationForm
from bistochastic.matrices.composition import ComposedForm
from bistochastic.matrices.ergodic import ErgodicForm
from bistochastic.matrices.exact import Exact
from bistochastic.matrices.mixture import MixtureForm
from bistochastic.matrices.permutation import PermutationForm
from bistochastic.matrices.tridiagonal import TridiagonalForm
from bistochastic.matrices.window import WindowForm
from bistochastic.matrices.words import Words, shifted

__all__ = ["draws_spent", "joint_bits", "one_for_all", "permutation"]

Order = NDArray[np.int64]

LN2 = math.log(2.0)
DRAWS = 4  # the most that a recipe not made of others consumes


@singledispatch
def permutation(form: Exact, words: Words) -> Order:
    """A random σ with the law of the integer matrix for every individual.

    >>> from bistochastic import Permutation
    >>> permutation(Permutation([2, 0, 1]).exact(), None)
    array([2, 0, 1])
    """
    raise MaskingError(_no_recipe(form))


@singledispatch
def joint_bits(form: Exact) -> float:
    """The entropy of σ as a whole, in bits: what remains to be guessed about all places.

    Or a certified lower bound, as an `AtLeast`.
    """
    raise MaskingError(_no_recipe(form))


@singledispatch
def draws_spent(form: Exact) -> int:
    """How many draws the recipe may ask for: what comes after it begins there."""
    return DRAWS


@singledispatch
def one_for_all(form: Exact) -> bool:
    """Whether σ is one of a few listed permutations: one known record may then reveal them all."""
    return False


def _no_recipe(form: Exact) -> str:
    return (
        f"{form!r} has no recipe for permuting a whole column: one step or one permutation drawn "
        f"for everybody would have the right law for each, but give all away with one known "
        f"record. Draw or average with it, or permute with blocks, a mixture, a window, a "
        f"tridiagonal matrix, or several of those one after another."
    )


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


permutation.register(TridiagonalForm, matched)
joint_bits.register(TridiagonalForm, matched_bits)
permutation.register(MixtureForm, subset_shuffled)
joint_bits.register(MixtureForm, subset_bits)


@permutation.register
def _(form: WindowForm, words: Words) -> Order:
    if not form.weight:
        return np.arange(form.size)
    if form.matrix.width >= form.size - 1:
        return subset_shuffled(_everyone(form), words)
    return swapped(form, words)


@joint_bits.register
def _(form: WindowForm) -> float:
    if not form.weight:
        return 0.0
    if form.matrix.width >= form.size - 1:
        return subset_bits(_everyone(form))
    return AtLeast(swapped_bits(form))


def _everyone(form: WindowForm) -> MixtureForm:
    """A window that reaches over the whole line, as the mixture it is."""
    whole = 1 << form.word_bits
    stay = whole - (form.size - 1) * form.weight
    return MixtureForm(form.size, stay, form.weight, whole, form.word_bits, staged=False)


@permutation.register
def _(form: ComposedForm, words: Words) -> Order:
    order, spent = np.arange(form.size), 0
    for inner in form.forms:
        order = permutation(inner, shifted(words, spent))[order]
        spent += draws_spent(inner)
    return order


@joint_bits.register
def _(form: ComposedForm) -> float:
    """At least that of its most uncertain step, for the others can only add to it."""
    return AtLeast(max(joint_bits(inner) for inner in form.forms))


@draws_spent.register
def _(form: ComposedForm) -> int:
    return sum(draws_spent(inner) for inner in form.forms)


@one_for_all.register
def _(form: ComposedForm) -> bool:
    return any(map(one_for_all, form.forms)) and all(map(_listed, form.forms))


@permutation.register
def _(form: BirkhoffForm, words: Words) -> Order:
    return form.matrix.permutations[_winner(form, words)].copy()


@joint_bits.register
def _(form: BirkhoffForm) -> float:
    """The entropy of the lottery, unless some permutations in it are the same."""
    _, same = np.unique(form.matrix.permutations, axis=0, return_inverse=True)
    return _lottery_bits(np.bincount(same.ravel(), weights=form._floats()).astype(np.float64))


@one_for_all.register
def _(form: BirkhoffForm) -> bool:
    return form.sure < 0


@permutation.register
def _(form: CombinationForm, words: Words) -> Order:
    """A toss for the whole column, then the recipe of the matrix that won."""
    return permutation(form.forms[_winner(form, words)], shifted(words, 1))


@joint_bits.register
def _(form: CombinationForm) -> float:
    """At least the mean of its members: tossing does not make any of them more certain."""
    each = zip(form._shares(), form.forms, strict=True)
    return AtLeast(sum(float(share) * joint_bits(inner) for share, inner in each if share))


@draws_spent.register
def _(form: CombinationForm) -> int:
    return 1 + max(draws_spent(inner) for inner in form.forms)


@one_for_all.register
def _(form: CombinationForm) -> bool:
    used = [f for share, f in zip(form._shares(), form.forms, strict=True) if share]
    return all(map(_listed, used)) and (len(used) > 1 or one_for_all(used[0]))


@permutation.register
def _(form: ErgodicForm, words: Words) -> Order:
    return permutation(form.toss, words)


@joint_bits.register
def _(form: ErgodicForm) -> float:
    return joint_bits(form.toss)


@draws_spent.register
def _(form: ErgodicForm) -> int:
    return draws_spent(form.toss)


@one_for_all.register
def _(form: ErgodicForm) -> bool:
    return one_for_all(form.toss)


def _listed(form: Exact) -> bool:
    """Whether σ can only be what is written down in the matrix."""
    still = isinstance(form, MixtureForm) and not form.lie
    return still or isinstance(form, PermutationForm) or one_for_all(form)


def _winner(form: BirkhoffForm | CombinationForm, words: Words) -> int:
    if form.table is None:
        return form.sure
    return int(form.table.sample(None, words(0, 0, FIRST))[0])


def _lottery_bits(shares: NDArray[np.float64]) -> float:
    positive = shares[shares > 0]
    return float(-(positive * np.log2(positive)).sum()) + 0.0
