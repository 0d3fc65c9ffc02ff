r"""What an average gives away: P is public, so whoever sees $y = P^\top x$ may solve for x.

The value of individual u follows from y exactly if every direction that $P^\top$ sends to zero
leaves u alone. A matrix answers that from its structure; where it has none that tells, its singular
vectors are looked at, up to a size.
"""

import math
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from bistochastic.errors import MaskingError
from bistochastic.matrices.base import Bistochastic
from bistochastic.matrices.blocks import Blocks
from bistochastic.matrices.circulant import Circulant
from bistochastic.matrices.composition import Composed
from bistochastic.matrices.ergodic import Ergodic
from bistochastic.matrices.kronecker import Kronecker
from bistochastic.matrices.mixture import Mixture
from bistochastic.matrices.permutation import Permutation
from bistochastic.matrices.reflected import Reflected
from bistochastic.matrices.tridiagonal import Tridiagonal
from bistochastic.matrices.window import Window

__all__ = ["AveragingReport", "averaging_report", "refuse_determined"]

SMALL = 2000  # up to this size the singular vectors of any matrix are looked at
BORDER = 1000  # the widest window whose ends are looked at
BATCH = 64  # up to this length, parts of a tridiagonal matrix are looked at many at once
ZERO = 1e-9  # how small a coordinate of a unit direction counts as not there
NEARLY = 1e6  # a condition beyond which rounding alone hides something in practice
EPS = float(np.finfo(np.float64).eps)


@final
@dataclass(frozen=True, slots=True)
class AveragingReport:
    """What solving the public averages of a matrix gives away.

    Attributes:
        individuals: How many there are.
        determined: How many values follow from the averages.
        hidden: The number of directions that the averages do not tell.
        fewest_known: The least number of records of one connected part that, once known, give away
            the rest of it; None if nothing is hidden. Of products it is a lower bound.
        condition: How much solving magnifies the rounding of what is published; ∞ if singular.
        judged: Whether something is hidden only because a number is zero to double precision.
    """

    individuals: int
    determined: int
    hidden: int
    fewest_known: int | None
    condition: float
    judged: bool

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to think of before such averages are published, in sentences; none if all is well.

        >>> from bistochastic import Blocks
        >>> averaging_report(Blocks([2, 3])).warnings
        ('1 known record of some part gives away all the rest of it.',)
        """
        told = []
        if self.determined:
            told.append(f"{self.determined} of {self.individuals} values follow from the averages.")
        if self.fewest_known is not None and self.fewest_known < 3:
            known = "1 known record" if self.fewest_known == 1 else "2 known records"
            verb = "gives" if self.fewest_known == 1 else "give"
            told.append(f"{known} of some part {verb} away all the rest of it.")
        if self.judged:
            told.append(
                "The matrix is singular as far as doubles can tell: whoever knows it more exactly "
                "may solve it."
            )
        if NEARLY <= self.condition < math.inf:
            told.append(
                f"The matrix is nearly singular (condition {self.condition:.1g}): the fewer digits "
                f"are published, the less is given away, but nothing is hidden."
            )
        return tuple(told)


def averaging_report(matrix: Bistochastic) -> AveragingReport:
    """What the averages of a matrix give away to whoever solves them.

    >>> from bistochastic import Blocks
    >>> averaging_report(Blocks([2, 1, 1])).determined
    2
    """
    told = null_space(matrix)
    condition = math.inf if told.hidden else matrix.condition
    return AveragingReport(
        matrix.size, told.determined, told.hidden, told.fewest, condition, told.judged
    )


def refuse_determined(matrix: Bistochastic) -> None:
    """Refuse to average where a public matrix gives somebody's value away."""
    bare = null_space(matrix).determined
    if bare:
        raise MaskingError(
            f"Averaging with {matrix!r} determines {bare} of {matrix.size} values: the matrix is "
            f"public, and solving it gives them away. Use blocks of at least two, draw or permute "
            f"instead, or insist."
        )


@final
@dataclass(frozen=True, slots=True)
class NullSpace:
    """The directions that averages do not tell."""

    hidden: int  # how many
    determined: int  # coordinates that none of them touches
    fewest: int | None  # of all connected parts that have any, the least number
    judged: bool = False  # whether a small number was taken for zero


def _nothing(n: int) -> NullSpace:
    return NullSpace(0, n, None)


@singledispatch
def null_space(matrix: Bistochastic) -> NullSpace:
    """The null space of the transpose: by structure, or by singular vectors if small."""
    if _invertible(matrix):
        return _nothing(matrix.size)
    if matrix.size > SMALL:
        raise MaskingError(
            f"{matrix!r} is too large to see whose values an average determines. Average with "
            f"blocks, which tell, or insist."
        )
    return _looked_at(matrix.T.to_dense())


def _invertible(matrix: Bistochastic) -> bool:
    """Whether it certainly can be undone: an upper bound of ∞ tells nothing."""
    return not math.isinf(matrix.condition)


def _looked_at(array: NDArray[np.floating[Any]]) -> NullSpace:
    """Connected part by connected part, by singular vectors."""
    links = csr_array(array > 0)
    parts, part = connected_components(links, directed=False)
    found = []
    for which in range(parts):
        inside = np.flatnonzero(part == which)
        _, values, vectors = np.linalg.svd(array[np.ix_(inside, inside)])
        lost = vectors[values <= len(inside) * EPS * max(values[0], 1.0)]
        bare = int((np.abs(lost).max(axis=0, initial=0.0) <= ZERO).sum())
        found.append(NullSpace(len(lost), bare, len(lost) or None, judged=len(lost) > 0))
    return _together(found)


def _together(parts: list[NullSpace]) -> NullSpace:
    """Parts side by side."""
    each = [part.fewest for part in parts if part.fewest is not None]
    return NullSpace(
        sum(part.hidden for part in parts),
        sum(part.determined for part in parts),
        min(each, default=None),
        any(part.judged for part in parts),
    )


@null_space.register
def _(matrix: Blocks) -> NullSpace:
    """Each block tells its mean only."""
    hiding = matrix.sizes[matrix.sizes > 1]
    fewest = int(hiding.min()) - 1 if hiding.size else None
    return NullSpace(matrix.size - matrix.sizes.size, int((matrix.sizes == 1).sum()), fewest)


@null_space.register
def _(matrix: Mixture) -> NullSpace:
    """With p = 1/n all tell the same mean; otherwise everything is told."""
    n = matrix.size
    return _nothing(n) if _invertible(matrix) else NullSpace(n - 1, 0, n - 1)


@null_space.register
def _(matrix: Permutation) -> NullSpace:
    return _nothing(matrix.size)


@null_space.register
def _(matrix: Circulant) -> NullSpace:
    """A lost wave is lost everywhere: a wave around the circle vanishes at no place."""
    n = matrix.size
    spectrum = np.abs(matrix._spectrum())
    waves = np.full(spectrum.size, 2)
    waves[0] = 1
    waves[-1] = 1 if n % 2 == 0 or n == 1 else 2
    lost = int(waves[spectrum <= EPS * math.log2(2 * n)].sum())
    if not lost:
        return _nothing(n)
    steps = np.flatnonzero(matrix.first_row)
    parts = int(np.gcd.reduce(np.append(steps - steps[0], n)))
    return NullSpace(lost, 0, lost // parts, judged=True)


@null_space.register
def _(matrix: Reflected) -> NullSpace:
    """The cosine wave k vanishes where k(2u + 1) is an odd multiple of n, and only there."""
    n = matrix.size
    lost = np.flatnonzero(np.abs(matrix.spectrum()) <= EPS * math.log2(4 * n))
    if not lost.size:
        return _nothing(n)
    untouched = np.arange(n)
    for wave in lost:
        untouched = untouched[int(wave) * (2 * untouched + 1) % (2 * n) == n]
        if not untouched.size:
            break
    return NullSpace(int(lost.size), int(untouched.size), int(lost.size), judged=True)


@null_space.register
def _(matrix: Tridiagonal) -> NullSpace:
    """Between zeros, a part has one lost direction at most.

    A part whose diagonal outweighs the rest of each row loses none (Gershgorin).
    """
    cuts = np.flatnonzero(matrix.alphas == 0) + 1
    starts = np.append(0, cuts)
    lengths = np.diff(np.append(starts, matrix.size))
    diagonal, alphas = matrix.diagonal(), np.append(matrix.alphas, 0.0)
    plain = np.minimum.reduceat(diagonal, starts) > 0.5 + 4 * EPS
    found = [_nothing(int(lengths[plain].sum()))]
    for length in np.unique(lengths[~plain]):
        places = starts[~plain & (lengths == length)][:, None] + np.arange(length)
        found.append(_path_parts(diagonal[places], alphas[places[:, :-1]]))
    return _together(found)


def _path_parts(diagonal: NDArray[np.float64], alphas: NDArray[np.float64]) -> NullSpace:
    """Parts of one length, a line each."""
    length = diagonal.shape[1]
    threshold = 4 * length * EPS
    if length > BATCH:
        each = zip(diagonal, alphas, strict=True)
        return _together([_long_path(d, a, threshold) for d, a in each])
    kinds, repeats = np.unique(np.hstack((diagonal, alphas)), axis=0, return_counts=True)
    arrays = np.zeros((len(kinds), length, length))
    step = np.arange(length - 1)
    arrays[:, step, step + 1] = arrays[:, step + 1, step] = kinds[:, length:]
    arrays[:, np.arange(length), np.arange(length)] = kinds[:, :length]
    values, waves = np.linalg.eigh(arrays)
    lost = np.abs(values) <= threshold
    size = np.abs(np.where(lost[:, None, :], waves, 0.0)).max(axis=2)
    hidden = int(lost.sum(axis=1) @ repeats)
    bare = int((size <= ZERO).sum(axis=1) @ repeats)
    return NullSpace(hidden, bare, 1 if hidden else None, judged=hidden > 0)


def _long_path(
    diagonal: NDArray[np.float64], alphas: NDArray[np.float64], threshold: float
) -> NullSpace:
    values, waves = eigh_tridiagonal(
        diagonal, alphas, select="v", select_range=(-threshold, threshold)
    )
    if not len(values):
        return _nothing(diagonal.size)
    return NullSpace(1, int((np.abs(waves).max(axis=1) <= ZERO).sum()), 1, judged=True)


@null_space.register
def _(matrix: Window) -> NullSpace:
    """What is lost repeats with the span: the window's own sums of it stay the same."""
    n, span = matrix.size, matrix.span
    if span <= min(n, BORDER):
        lost = matrix.lost_steps()
        hidden, bare = len(lost), np.abs(lost).max(axis=0, initial=0.0) <= ZERO
        repeats = np.bincount(np.arange(n) % span, minlength=span)
        return NullSpace(hidden, int(repeats[bare].sum()), hidden or None, judged=hidden > 0)
    if _invertible(matrix):
        return _nothing(n)
    if n > SMALL:
        raise MaskingError(
            f"{matrix!r} is singular, and too wide to see whose values an average determines. "
            f"Average with blocks, which tell, or insist."
        )
    return _looked_at(matrix.to_dense())


@null_space.register
def _(matrix: Kronecker) -> NullSpace:
    """Told is what every factor tells; a part hides no less than the parts it is made of."""
    parts = [null_space(factor) for factor in matrix.factors]
    told = math.prod(f.size - part.hidden for f, part in zip(matrix.factors, parts, strict=True))
    hidden = matrix.size - told
    bare = math.prod(part.determined for part in parts)
    fewest = min((part.fewest for part in parts if part.fewest is not None), default=None)
    return NullSpace(hidden, bare, fewest, any(part.judged for part in parts))


@null_space.register
def _(matrix: Ergodic) -> NullSpace:
    """Lost directions sum to zero, so a uniform share neither adds nor takes one."""
    if matrix.kept <= matrix.size * EPS:
        return null_space(Mixture(matrix.size, truth=1 / matrix.size))
    return null_space(matrix.matrix)


@null_space.register
def _(matrix: Composed) -> NullSpace:
    """What can be undone at the end, or only changes names at the beginning, tells as much."""
    factors = list(matrix.factors)
    while len(factors) > 1 and _invertible(factors[-1]):
        factors.pop()
    while len(factors) > 1 and isinstance(factors[0], Permutation):
        factors.pop(0)
    if len(factors) == 1:
        return null_space(factors[0])
    if matrix.size <= SMALL:
        return _looked_at(matrix.T.to_dense())
    first = null_space(factors[0])
    if first.determined:
        raise MaskingError(
            f"{matrix!r} is too large to see whose values an average determines. Average with "
            f"blocks, which tell, or insist."
        )
    return first  # what the first hides, nobody finds again
