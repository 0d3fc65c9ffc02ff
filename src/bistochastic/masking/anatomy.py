r"""Anatomy: two tables that only the number of a class links (Xiao and Tao 2006).

One table holds the quasi-identifiers as they are, the other the sensitive values. Within a class
any row of one may belong to any of the other: the channel is `Blocks`, and its bits and beta are
what the release hides. Nothing else may link the tables, so both are in an order of their own, and
the classes are numbered at random: the order of a file is often that of a name or a date.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MaskingError
from bistochastic.masking.diversity import (
    DIVERSITIES,
    ROUNDING,
    as_labels,
    attained,
    random_order,
    refuse_impossible,
)
from bistochastic.masking.grouping import Grouping
from bistochastic.masking.microaggregation import as_least
from bistochastic.matrices.blocks import Blocks
from bistochastic.matrices.checks import frozen
from bistochastic.matrices.words import Words, restricted

__all__ = ["Anatomy", "anatomy"]

Integers = NDArray[np.int64]

# The draws of each shuffle, so that no two of them share a word.
QUASI, SENSITIVE, NUMBERS = 0, 1, 2


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Anatomy:
    """The class of each record and the orders of two tables; made by `anatomy`.

    `quasi_rows[i]` is the record at place i of the table of quasi-identifiers, `sensitive_rows[i]`
    that at place i of the table of sensitive values, and `classes[r]` the class of record r. All
    three are secret; the columns `quasi_classes` and `sensitive_classes` are published.
    """

    classes: Integers
    quasi_rows: Integers
    sensitive_rows: Integers

    @property
    def quasi_classes(self) -> Integers:
        """The class column of the table of quasi-identifiers."""
        return self.classes[self.quasi_rows]

    @property
    def sensitive_classes(self) -> Integers:
        """The class column of the table of sensitive values."""
        return self.classes[self.sensitive_rows]

    @property
    def sizes(self) -> Integers:
        """The number of records in each class."""
        return np.bincount(self.classes)

    @property
    def order(self) -> Integers:
        """The rows class by class, those of a class ascending."""
        return np.argsort(self.classes, kind="stable")

    @property
    def matrix(self) -> Blocks:
        """The channel on records in this order: within a class anyone may be anyone."""
        return Blocks(self.sizes)

    def __repr__(self) -> str:
        sizes = self.sizes
        return (
            f"Anatomy({self.classes.size} records, {sizes.size} classes of "
            f"{sizes.min()} to {sizes.max()})"
        )


def anatomy(
    classes: Grouping | ArrayLike,
    words: Words,
    *,
    k: int = 2,
    sensitive: ArrayLike | None = None,
    diversity: float | None = None,
    kind: str = "frequency",
    word_bits: int = 64,
) -> Anatomy:
    """Two tables in random orders, linked by classes of at least k records and by nothing else.

    Both orders and the numbers of the classes are uniform, independent of each other, and a
    function of the words alone.

    Args:
        classes: What `microaggregate` or `diverse_classes` found, or a label for each record.
        words: Random words for the rows; draws 0, 1 and 2 of them are used.
        k: The least number of records in a class.
        sensitive: The sensitive value of each record, to have its diversity checked.
        diversity: The l that each class must attain.
        kind: What l counts: "frequency", "distinct" or "entropy".
        word_bits: The size of the words.

    Raises:
        MaskingError: A class is too small or not diverse enough.

    >>> from bistochastic import Key, Scope, domain_digest
    >>> scope = Scope(release="r", column="illness", domain=domain_digest(["a", "b"]), matrix=None)
    >>> rows = Key.new().rows(scope, purpose="anatomy")
    >>> tables = anatomy(["x", "y", "x", "y"], rows.words(0, 4))
    >>> tables, tables.matrix.bits, sorted(tables.quasi_rows.tolist())
    (Anatomy(4 records, 2 classes of 2 to 2), 1.0, [0, 1, 2, 3])
    """
    given = classes.groups if isinstance(classes, Grouping) else as_classes(classes)
    n, sizes = given.size, np.bincount(given)
    least = as_least(k, n)
    if sizes.min() < least:
        raise MaskingError(
            f"{int((sizes < least).sum())} of {sizes.size} classes have fewer than k = {least} "
            f"records, the smallest {sizes.min()}. Merge classes, or choose a smaller k."
        )
    refuse_uniform(given, sensitive, diversity, kind)
    number = restricted(words, np.arange(sizes.size))
    return Anatomy(
        frozen(random_order(sizes.size, NUMBERS, number, word_bits=word_bits)[given]),
        frozen(random_order(n, QUASI, words, word_bits=word_bits)),
        frozen(random_order(n, SENSITIVE, words, word_bits=word_bits)),
    )


def as_classes(classes: ArrayLike) -> Integers:
    """Classes numbered from 0, from labels that are there for every record."""
    if np.asarray(classes).dtype.kind == "f":
        raise MaskingError("Class labels are whole numbers or texts; got floating-point numbers.")
    return as_labels(classes, "class labels")


def refuse_uniform(
    classes: Integers, sensitive: ArrayLike | None, diversity: float | None, kind: str
) -> None:
    """Refuse classes whose sensitive values are less diverse than asked for."""
    if sensitive is None and diversity is None:
        return
    if sensitive is None or diversity is None:
        raise MaskingError("Give both the sensitive values and their diversity, or neither.")
    if kind not in DIVERSITIES:
        raise MaskingError(f"kind must be one of {', '.join(DIVERSITIES)}; got {kind!r}.")
    least = as_number(diversity)
    codes = as_labels(sensitive, "sensitive values")
    if codes.size != classes.size:
        raise MaskingError(
            f"There are {classes.size} records in classes but {codes.size} sensitive values."
        )
    refuse_impossible(codes, least, kind)
    found = attained(classes, codes, kind)
    short = int((found < least * (1 - ROUNDING)).sum())
    if short:
        raise MaskingError(
            f"{short} of {found.size} classes are not {least:g}-diverse ({kind}); the least "
            f"diverse attains {found.min():.4g}. Form classes with diverse_classes, or merge some."
        )


def as_number(diversity: object) -> float:
    """An l that a class can attain."""
    if not isinstance(diversity, int | float | np.integer | np.floating) or not diversity >= 1:
        raise MaskingError(f"The diversity of a class is a number, at least 1; got {diversity!r}.")
    return float(diversity)
