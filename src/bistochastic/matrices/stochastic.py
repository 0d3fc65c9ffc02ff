"""Stochastic: any right-stochastic array, as general post-randomisation (PRAM) uses them."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from bistochastic.errors import MatrixError
from bistochastic.matrices.base import Channel, Vector, refuse_singular
from bistochastic.matrices.checks import SUM_TOLERANCE, as_line, as_square, probabilities
from bistochastic.matrices.dense import Arrayed, TableForm, refuse_sums, refuse_unroundable
from bistochastic.matrices.exact import DEFECT
from bistochastic.matrices.rounding import round_stochastic, vanished

__all__ = ["Stochastic", "invariant"]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Stochastic(Arrayed):
    """Any square array whose rows sum to one; its columns need not, so it can lower uncertainty.

    >>> Stochastic([[1, 0], [1, 0]]).epsilon
    0.0
    """

    array: Vector

    def __init__(self, array: ArrayLike) -> None:
        square = as_square(array, "Stochastic")
        refuse_sums(square, axis=1, name="Stochastic", tolerance=SUM_TOLERANCE)
        object.__setattr__(self, "array", square)

    def rmatvec(self, x: ArrayLike) -> Vector:
        return self.array.T @ as_line(x, self.size)

    def rsolve(self, y: ArrayLike) -> Vector:
        line = as_line(y, self.size)
        refuse_singular(self)
        return np.linalg.solve(self.array.T, line)

    def integers(self, word_bits: int) -> tuple[TableForm, int]:
        refuse_unroundable(self.array, "Stochastic")
        refuse_sums(self.array, axis=1, name="Stochastic.exact", tolerance=DEFECT)
        weights, sure = round_stochastic(self.array, word_bits=word_bits)
        return TableForm.of(weights, sure, word_bits), vanished(self.array, weights, sure)


def invariant(channel: Channel, prior: ArrayLike) -> Stochastic:
    r"""The channel that keeps a given distribution: $\pi^\top R = \pi^\top$.

    First the given channel, then its own posterior under the prior, drawn back:
    $r_{uw} = \sum_v p_{uv}\,p_{wv}\pi_w/\lambda_v$ (Gouweleeuw, Kooiman, Willenborg & de Wolf
    1998).

    >>> import numpy as np
    >>> from bistochastic import Mixture
    >>> prior = np.array([0.7, 0.2, 0.1])
    >>> invariant(Mixture(3, truth=0.8), prior).rmatvec(prior).round(12)
    array([0.7, 0.2, 0.1])
    """
    share = probabilities(prior, "The prior")
    if share.size != channel.size:
        raise MatrixError(
            f"invariant needs a prior over {channel.size} categories; got {share.size}."
        )
    given = channel.to_dense()
    reported = given.T @ share
    back = np.eye(channel.size)  # a report nobody gives under the prior is left as it is
    seen = reported > 0
    back[seen] = (given * share[:, None]).T[seen] / reported[seen, None]
    return Stochastic(given @ back)
