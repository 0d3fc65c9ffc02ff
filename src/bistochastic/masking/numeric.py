r"""A numeric column: the individuals are the categories, in an order, and P acts on their ranks.

The value of u goes to place v with probability $p_{uv}$ in all three ways, so that
E[draw] = E[permute] = average, for a P that is not symmetric too.
"""

from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MaskingError
from bistochastic.keystream import Key, Scope, domain_digest
from bistochastic.masking.averaging import refuse_determined
from bistochastic.masking.permute import joint_bits, one_for_all, permutation
from bistochastic.masking.ranks import Individuals, as_column
from bistochastic.matrices.base import Bistochastic
from bistochastic.matrices.bounds import AtLeast
from bistochastic.matrices.exact import Exact
from bistochastic.matrices.words import Words

__all__ = ["Uncertainty", "average", "draw", "permute", "sources", "uncertainty"]

How = Literal["draw", "permute"]
Order = ArrayLike | Literal["position"] | None


def draw(
    values: ArrayLike,
    matrix: Bistochastic,
    key: Key | Words,
    *,
    release: str = "",
    column: str = "",
    by: Order = None,
    missing: ArrayLike | None = None,
) -> NDArray[Any]:
    """Each place takes the value of an individual drawn from its column of P.

    Margins hold in expectation; one value may appear several times, another not at all.

    Args:
        values: The column; NaN is missing, and stays where it is.
        matrix: As many ranks as there are values.
        key: The secret, or the words of the ranks themselves.
        release: The name of the release, which with that of the column says whose words these are.
        column: The name of the column.
        by: What to order by: another column, or "position"; the values themselves if None.
        missing: Which rows have no value, where the column itself cannot say.
    """
    given, individuals = _met(values, matrix, by, missing)
    exact = sampled(matrix, "draw")
    came = sources(exact, _words(key, exact, "draw", release, column), "draw")
    return individuals.placed(given, given[individuals.rows[came]])


def permute(
    values: ArrayLike,
    matrix: Bistochastic,
    key: Key | Words,
    *,
    release: str = "",
    column: str = "",
    by: Order = None,
    missing: ArrayLike | None = None,
    insist: bool = False,
) -> NDArray[Any]:
    """Individuals change places: every value is still there, exactly once.

    The arguments are those of `draw`. A matrix that moves everybody by one of a few listed
    permutations is refused, for one known record may reveal all, unless the caller insists.

    >>> import numpy as np
    >>> from bistochastic import Blocks
    >>> from bistochastic.keystream import Key
    >>> income = np.array([900, 1000, 5000, 5200])
    >>> moved = permute(income, Blocks([2, 2]), Key.new(), release="2026", column="income")
    >>> sorted(moved.tolist())
    [900, 1000, 5000, 5200]
    """
    given, individuals = _met(values, matrix, by, missing)
    exact = sampled(matrix, "permute")
    refuse_listed(matrix, exact, insist)
    came = sources(exact, _words(key, exact, "permute", release, column), "permute")
    return individuals.placed(given, given[individuals.rows[came]])


def average(
    values: ArrayLike,
    matrix: Bistochastic,
    *,
    by: Order = None,
    missing: ArrayLike | None = None,
    insist: bool = False,
) -> NDArray[np.float64]:
    r"""$y = P^\top x$: each place takes the mean of who might have come there.

    P is public, so whoever can solve for x reads it off. Refused unless nobody's value is
    determined, or the caller insists; `averaging_report` says more.

    >>> import numpy as np
    >>> from bistochastic import Blocks
    >>> average(np.array([5.0, 1.0, 3.0, 9.0]), Blocks([2, 2]))
    array([7., 2., 2., 7.])
    """
    given, individuals = _met(values, matrix, by, missing)
    if not insist:
        refuse_determined(matrix)
    means = matrix.rmatvec(given[individuals.rows].astype(np.float64))
    return individuals.placed(given.astype(np.float64), means)


def sources(exact: Exact, words: Words, how: How) -> NDArray[np.int64]:
    """From which rank the value at each rank comes: all that applying it to a sorted column needs.

    Args:
        exact: The integer form of the matrix to permute; to draw, that of its transpose.
        words: The words of the ranks, in order.
        how: "draw" or "permute".

    >>> from bistochastic import Permutation
    >>> sources(Permutation([2, 0, 1]).exact(), None, "permute")
    array([1, 2, 0])
    """
    if how == "draw":
        return exact.sample(np.arange(exact.size), words).astype(np.int64, copy=False)
    if how != "permute":
        raise MaskingError(f'A column is masked by "draw" or "permute" here; got {how!r}.')
    goes = permutation(exact, words)
    came = np.empty_like(goes)
    came[goes] = np.arange(goes.size)
    return came


@final
@dataclass(frozen=True, slots=True)
class Uncertainty:
    """What masking a column leaves open, in bits.

    Attributes:
        individuals: How many there are.
        record_bits: What is open about where one individual's value went, on average.
        least_record_bits: The same of the worst protected individual.
        joint_bits: What is open about all of them together; at most individuals · record_bits.
            A lower bound where it is an `AtLeast`.
    """

    individuals: int
    record_bits: float
    least_record_bits: float
    joint_bits: float

    @property
    def joint_bits_each(self) -> float:
        """What is open together, per individual."""
        return type(self.joint_bits)(self.joint_bits / self.individuals)


def uncertainty(matrix: Bistochastic, how: How = "permute") -> Uncertainty:
    """What drawing or permuting with a matrix leaves open: of one record, and of all together.

    >>> from bistochastic import Blocks
    >>> told = uncertainty(Blocks([3, 3]))
    >>> round(told.record_bits, 3), round(told.joint_bits, 3)  # log2 3, and log2 3! twice
    (1.585, 5.17)
    """
    exact = sampled(matrix, how)
    mean, least = (float(bits) for bits in exact.entropy_range())
    if how == "draw":
        joint: float = AtLeast(exact.size * mean)  # each place draws for itself
    else:
        joint = joint_bits(exact)
    return Uncertainty(exact.size, mean, least, joint)


def refuse_listed(matrix: Bistochastic, exact: Exact, insist: bool) -> None:
    """Refuse to permute with a matrix that moves everybody by one of a few permutations."""
    if one_for_all(exact) and not insist:
        raise MaskingError(
            f"{matrix!r} would move everybody by one of a few permutations: one known record may "
            f"reveal all. Permute with blocks, a mixture, a window or a tridiagonal matrix, draw "
            f"instead, or insist."
        )


def sampled(matrix: Bistochastic, how: How) -> Exact:
    """The integer form that words meet: a place draws from its column, so from the transpose.

    That entries vanish is no harm here: which individual came is not what epsilon is told of.
    """
    return (matrix.T if how == "draw" else matrix).exact(allow_zeros=True)


def _words(key: Key | Words, exact: Exact, how: How, release: str, column: str) -> Words:
    """The words of the ranks, of which there are as many as individuals."""
    if not isinstance(key, Key):
        return key
    return key.rows(individuals_scope(exact, release, column), purpose=how).words(0, exact.size)


def individuals_scope(exact: Exact, release: str, column: str) -> Scope:
    """What the words of the ranks of a column are for."""
    return Scope(
        release=release,
        column=column,
        domain=domain_digest(["individuals", exact.size]),
        matrix=exact.digest(),
        word_bits=exact.word_bits,
    )


def _met(
    values: ArrayLike, matrix: Bistochastic, by: Order, missing: ArrayLike | None
) -> tuple[NDArray[Any], Individuals]:
    given = as_column(values)
    individuals = Individuals.of(given, by=by, missing=missing)
    if matrix.size != individuals.present:
        raise MaskingError(
            f"{individuals.present} rows have a value ({individuals.missing} have none), but the "
            f"matrix has size {matrix.size}. Its size is the number of individuals."
        )
    return given, individuals
