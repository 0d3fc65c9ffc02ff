r"""What t-closeness means in terms of ε, and what can still be denied inside a cluster.

The distance is the ratio of probabilities: a cluster is t-close to its file if no value is more
than t times as frequent, or as rare, in it. A file whose clusters all are
$e^{\varepsilon/2}$-close gives ε-differential privacy to the view on one subject's confidential
values (Domingo-Ferrer & Soria-Comas 2015; 2018, proposition 1).
"""

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from bistochastic.errors import MatrixError
from bistochastic.matrices.checks import as_number, probabilities
from bistochastic.measures.distances import ratio

__all__ = [
    "ClusterDeniability",
    "closeness_epsilon",
    "cluster_deniability",
    "epsilon_closeness",
    "largest_share",
    "raised",
]

Floats = NDArray[np.floating[Any]]
LN2 = math.log(2)


def closeness_epsilon(t: float) -> float:
    r"""The ε that t-closeness by the ratio distance gives, $2\ln t$.

    >>> import math
    >>> closeness_epsilon(math.e)
    2.0
    """
    if not as_number(t, "t") >= 1:
        raise MatrixError(f"A ratio distance is at least 1; got t={t!r}.")
    return 2 * math.log(t)


def epsilon_closeness(epsilon: float) -> float:
    r"""The t that suffices for ε, $e^{\varepsilon/2}$.

    >>> epsilon_closeness(2.0)
    2.718281828459045
    """
    if not as_number(epsilon, "epsilon") >= 0:
        raise MatrixError(f"An epsilon is at least 0; got {epsilon!r}.")
    return math.exp(epsilon / 2) if epsilon < 1418 else math.inf


def largest_share(share: float, epsilon: float) -> float:
    r"""The largest share a value can have in an $e^{\varepsilon/2}$-close cluster.

    The factor t lifts it to at most $t\pi$, and the others fall to at least $1/t$ of theirs.

    >>> round(largest_share(0.2, 2.0), 4)
    0.5437
    """
    if not 0 <= as_number(share, "A share") <= 1:
        raise MatrixError(f"A share lies between 0 and 1; got {share!r}.")
    t = epsilon_closeness(epsilon)
    lifted = share * t if share else 0.0
    return min(lifted, 1 - (1 - share) / t)


def raised(file: ArrayLike, value: int, epsilon: float) -> Floats:
    r"""The $e^{\varepsilon/2}$-close cluster that holds one value as often as it may.

    The others keep their proportions among themselves (Domingo-Ferrer & Soria-Comas 2018,
    example 3).

    >>> raised([0.2] * 5, 0, 2.0).round(4)
    array([0.5437, 0.1141, 0.1141, 0.1141, 0.1141])
    """
    shares = probabilities(file, "The file's distribution")
    if not -shares.size <= value < shares.size:
        raise MatrixError(f"The file has values 0 … {shares.size - 1}; got {value}.")
    own = float(shares[value])
    most = largest_share(own, epsilon)
    cluster = shares * ((1 - most) / (1 - own) if own < 1 else 0.0)
    cluster[value] = most
    return cluster


@final
@dataclass(frozen=True, slots=True, eq=False)
class ClusterDeniability:
    """Somebody is known to be in a cluster: what that leaves to deny, cluster by cluster.

    Attributes:
        deniability: The bits of doubt about a member's value.
        sides: The sides of the fair die that leaves as much doubt.
        guess: How often the best guess is right.
        file_bits: The bits of doubt before the cluster is known.
        ratio: The ratio distance between cluster and file; the largest of them is the file's t.
    """

    deniability: Any
    sides: Any
    guess: Any
    file_bits: float
    ratio: Any

    @property
    def closeness(self) -> float:
        """The least t for which the file is t-close."""
        return float(np.max(self.ratio))

    @property
    def epsilon(self) -> float:
        """The differential privacy that this gives a subject's confidential values."""
        return closeness_epsilon(self.closeness)


def cluster_deniability(clusters: ArrayLike, file: ArrayLike) -> ClusterDeniability:
    """What can be denied by who is known to be in a cluster: the cluster is the report.

    Args:
        clusters: The distribution of the confidential values in a cluster, or in one a line.
        file: Their distribution in the whole file.

    >>> told = cluster_deniability(raised([0.2] * 5, 0, 2.0), [0.2] * 5)
    >>> round(float(told.deniability), 4), round(float(told.guess), 4), round(told.epsilon, 4)
    (1.9072, 0.5437, 2.0)
    """
    whole = probabilities(file, "The file's distribution")
    apart = ratio(clusters, whole)  # which refuses what is no distribution
    shares = np.asarray(clusters, dtype=np.float64)
    bits = np.maximum(entr(shares).sum(axis=-1) / LN2, 0.0)
    return ClusterDeniability(
        deniability=bits,
        sides=np.exp2(bits),
        guess=shares.max(axis=-1),
        file_bits=float(entr(whole).sum() / LN2) + 0.0,
        ratio=apart,
    )
