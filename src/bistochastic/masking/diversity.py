r"""How diverse the sensitive values of each class are: the l of l-diversity, in three readings.

With $c_v$ of the $c$ records of a class holding the value v, and shares $q_v = c_v/c$:
"frequency" is $1/\max q_v$, what an intruder who knows the class has to guess against (Xiao and Tao
2006); "distinct" the number of values; "entropy" $2^H$ of the shares (Machanavajjhala et al. 2007).
The first is never above the third, and the third never above the second. Whatever all classes
attain, the whole file attains too: what it does not, no classes can.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MaskingError
from bistochastic.masking.shuffle import shuffled
from bistochastic.matrices.words import Words

__all__ = [
    "DIVERSITIES",
    "ROUNDING",
    "as_labels",
    "attained",
    "diverse_classes",
    "random_order",
    "refuse_impossible",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Counts = tuple[Integers, Integers]  # how often each value occurs in a class; where classes begin

DIVERSITIES: dict[str, Callable[[Counts], Floats]] = {
    "frequency": lambda found: sums(found) / np.maximum.reduceat(*found),
    "distinct": lambda found: np.diff(np.append(found[1], found[0].size)).astype(np.float64),
    "entropy": lambda found: np.exp2(entropies(found)),
}

ROUNDING = 1e-12  # of an entropy that is exactly what was asked for
SHUFFLE = 3  # the draw of `diverse_classes`; `anatomy` uses those before it


def diverse_classes(
    sensitive: ArrayLike, diversity: int, words: Words, *, word_bits: int = 64
) -> Integers:
    """Classes of at least l records, no two of a class with the same sensitive value.

    The records are dealt out like cards, value after value, in random order within a value, to as
    many classes as l allows; so class sizes differ by one at most. It gives what the bucketisation
    of Xiao and Tao (2006) gives, without a loop, and whenever any classes are l-diverse by
    frequency. Given the classes and their values, every way in which the values of each class may
    belong to its records is equally likely to have led to them.

    Args:
        sensitive: The sensitive value of each record: numbers, texts or codes.
        diversity: The l, a whole number.
        words: Random words for the rows; draw 3 of them is used, and no other.
        word_bits: The size of the words.

    Raises:
        MaskingError: A value is held by more than 1/l of the records.

    >>> from bistochastic import Key, Scope, domain_digest
    >>> domain = domain_digest(["a", "b", "c"])
    >>> scope = Scope(release="r", column="illness", domain=domain, matrix=None)
    >>> rows = Key.new().rows(scope, purpose="anatomy")
    >>> classes = diverse_classes(["a", "a", "b", "b", "c", "c"], 3, rows.words(0, 6))
    >>> sorted(classes.tolist())
    [0, 0, 0, 1, 1, 1]
    """
    codes = as_labels(sensitive, "sensitive values")
    values = as_whole(diversity)
    refuse_impossible(codes, values, "frequency")
    n = codes.size
    order = random_order(n, SHUFFLE, words, word_bits=word_bits)
    order = order[np.argsort(codes[order], kind="stable")]
    classes = np.empty(n, dtype=np.int64)
    # A value is held by at most n // l records: it meets no class twice.
    classes[order] = np.arange(n) % (n // values)
    return classes


def random_order(n: int, draw: int, words: Words, *, word_bits: int) -> Integers:
    """A uniform order of n records, if there are words for them and for no others."""
    given = words(draw, 0, None).size
    if given != n:
        raise MaskingError(f"There are {n} records but words for {given}; give one for each.")
    return shuffled(np.array([n]), draw, words, word_bits=word_bits)


def attained(classes: Integers, codes: Integers, kind: str) -> Floats:
    """The l that each class attains, classes and values being numbered from 0 without a gap.

    >>> attained(np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 0, 1]), "frequency").tolist()
    [1.5, 2.0]
    """
    both = classes * (codes.max() + 1) + codes
    held, counts = np.unique(both, return_counts=True)
    starts = np.searchsorted(held // (codes.max() + 1), np.arange(classes.max() + 1))
    return DIVERSITIES[kind]((counts, starts))


def sums(found: Counts) -> Floats:
    """The sizes of the classes."""
    return np.asarray(np.add.reduceat(*found), dtype=np.float64)


def entropies(found: Counts) -> Floats:
    """The entropy of the values of each class, in bits."""
    counts, starts = found
    sizes = sums(found)
    return np.asarray(np.log2(sizes) - np.add.reduceat(counts * np.log2(counts), starts) / sizes)


def refuse_impossible(codes: Integers, diversity: float, kind: str) -> None:
    """Refuse what no classes at all can attain, and say why."""
    n, counts = codes.size, np.bincount(codes)
    whole = float(attained(np.zeros_like(codes), codes, kind)[0])
    if whole >= diversity * (1 - ROUNDING):
        return
    why = {
        "frequency": f"one sensitive value is held by {counts.max()} of {n} records, which is more "
        f"than one in {diversity:g}",
        "distinct": f"there are only {counts.size} sensitive values",
        "entropy": f"as a whole they are as diverse as {whole:.4g} equally frequent values",
    }[kind]
    raise MaskingError(
        f"No classes are {diversity:g}-diverse ({kind}): {why}. Ask for a smaller diversity, or "
        f"merge sensitive values or leave records out."
    )


def as_whole(diversity: object) -> int:
    """An l that records can be counted by."""
    if isinstance(diversity, bool) or not isinstance(diversity, int | np.integer) or diversity < 1:
        raise MaskingError(f"diverse_classes needs a whole number l >= 1; got {diversity!r}.")
    return int(diversity)


def as_labels(values: ArrayLike, name: str) -> Integers:
    """Labels of any kind as numbers from 0 without a gap; all that are NaN are one."""
    labels: NDArray[Any] = np.asarray(values)
    if labels.ndim != 1 or labels.size == 0:
        raise MaskingError(f"The {name} are one for each record; got shape {labels.shape}.")
    if labels.dtype.kind in "iu":
        low, high = int(labels.min()), int(labels.max())
        # Counting is many times as fast as sorting.
        if high - low < 2 * labels.size and high < 1 << 63:
            codes = labels.astype(np.int64) - low
            return (np.cumsum(np.bincount(codes) > 0) - 1)[codes]
    try:
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        raise MaskingError(
            f"The {name} are of several types, which have no common order. Give codes instead."
        ) from None
