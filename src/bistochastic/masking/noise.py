r"""Noise: the Gaussian perturbation that gives away least at a given distortion.

$\hat X = (I-A)X + A\mu_X + e$, $A = \Sigma\Sigma_X^{-1}$, $e \sim N(0, \Sigma -
\Sigma\Sigma_X^{-1}\Sigma)$ (Rebollo-Monedero, Forné & Domingo-Ferrer 2010, theorem 2, without the
inverse of A that it prints, which does not exist once a direction is left alone). Columns shrink
towards their mean before noise is added, so that $\hat X$ varies less than X; adding noise alone
would cost more for the same risk.

Noise on floating point numbers is not exact, has no integer form and no epsilon.
"""

import hashlib
import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from bistochastic.errors import MaskingError
from bistochastic.keystream import Key, Scope, domain_digest
from bistochastic.matrices.checks import frozen
from bistochastic.matrices.gaussian import least_risk
from bistochastic.matrices.words import Words

__all__ = ["Perturbation", "gaussian_noise", "normals", "perturbation"]

Floats = NDArray[np.float64]

LOW_BITS = np.uint64((1 << 63) - 1)
HALF_STEP = math.ldexp(1.0, -64)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Perturbation:
    """How columns are perturbed, and what that gives away; all of it may be published.

    Attributes:
        mean: What the columns shrink towards.
        kept: I - A, what is kept of a deviation from the mean.
        spread: A root of the covariance of the noise, which is spread · spreadᵀ.
        distortion: The mean squared error as a share of the variance, each column in its unit.
        risk: I(W; X̂) in nats, if W and X are jointly Gaussian with the moments of the data.
        gap: By how much, in nats, a smaller risk is not ruled out.
    """

    mean: Floats
    kept: Floats
    spread: Floats
    distortion: float
    risk: float
    gap: float

    def words(self, key: Key, rows: int, release: str, names: tuple[str, ...]) -> Words:
        """The words of the first rows for this perturbation: any other has unrelated ones."""
        state = hashlib.sha256(b"perturbation")
        for part in (self.mean, self.kept, self.spread):
            state.update(part.astype("<f8").tobytes())
        scope = Scope(
            release=release,
            column=names,
            domain=domain_digest(["rows", *names]),
            matrix=state.hexdigest(),
        )
        return key.rows(scope, purpose="noise").words(0, rows)

    def apply(self, columns: ArrayLike, words: Words) -> Floats:
        """The columns perturbed, with the normal numbers of their own rows' words.

        A missing entry stays missing, and counts as the mean for the other entries of its row. Rows
        are added up one column after the other, so that batches of them give the same numbers.
        """
        table = as_table(columns)
        if table.shape[1] != self.mean.size:
            raise MaskingError(
                f"This perturbation is one of {self.mean.size} columns; got {table.shape[1]}."
            )
        away = table - self.mean
        absent = np.isnan(away)
        away[absent] = 0.0
        masked = np.tile(self.mean, (len(table), 1))
        for source in range(self.mean.size):
            noise = normals(words(source, 0, None))
            masked += away[:, source, None] * self.kept[:, source]
            masked += noise[:, None] * self.spread[:, source]
        masked[absent] = np.nan
        return masked


def gaussian_noise(
    columns: ArrayLike,
    distortion: float,
    key: Key | Words,
    *,
    release: str = "",
    names: tuple[str, ...] = (),
    confidential: ArrayLike | None = None,
) -> Floats:
    """Columns with the noise that gives away least of the confidential ones at a distortion.

    Args:
        columns: One column or several side by side.
        distortion: The mean squared error as a share of the variance, between 0 and 1, each column
            measured by its own standard deviation.
        key: The secret, or the words of the rows themselves.
        release: The name of the release.
        names: The names of the columns.
        confidential: Columns that are not published and that these might give away; the columns
            themselves if None.

    >>> import numpy as np
    >>> from bistochastic.keystream import Key
    >>> income = np.array([900.0, 1000.0, 5000.0, 5200.0])
    >>> masked = gaussian_noise(income, 0.2, Key.new(), release="2026", names=("income",))
    >>> masked.shape
    (4,)
    """
    table = as_table(columns)
    planned = perturbation(table, distortion, confidential=confidential)
    words = planned.words(key, len(table), release, names) if isinstance(key, Key) else key
    masked = planned.apply(table, words)
    return masked.reshape(np.shape(columns))


def perturbation(
    columns: ArrayLike, distortion: float, *, confidential: ArrayLike | None = None
) -> Perturbation:
    """The perturbation of least risk for the means and covariances of these columns.

    >>> import numpy as np
    >>> plan = perturbation(np.array([1.0, 2.0, 3.0, 4.0]), 0.25)
    >>> float(plan.kept[0, 0]), round(plan.risk, 12) == round(math.log(4) / 2, 12)
    (0.75, True)
    """
    if not 0 < distortion <= 1:
        raise MaskingError(f"Noise needs a distortion above 0, at most 1; got {distortion!r}.")
    table = as_table(columns)
    width = table.shape[1]
    both = table if confidential is None else np.hstack((table, _beside(confidential, table)))
    mean, covariance, units = _moments(both)
    own, others = slice(None, width), slice(width, None)
    scaled = covariance / np.outer(units, units)
    spread_out = float(np.trace(scaled[own, own]))
    best = least_risk(
        scaled[own, own],
        distortion * spread_out,
        confidential=None if confidential is None else scaled[others, others],
        cross=None if confidential is None else scaled[others, own],
    )
    shrink = best.covariance @ np.linalg.pinv(scaled[own, own], hermitian=True)
    noise = best.covariance - shrink @ best.covariance
    unit = units[own]
    return Perturbation(
        frozen(mean[own]),
        frozen((np.eye(width) - shrink) * np.divide.outer(unit, unit)),
        frozen(_root(noise) * unit[:, None]),
        best.distortion / spread_out,
        best.risk,
        best.gap,
    )


def normals(words: NDArray[np.uint64]) -> Floats:
    """Normal numbers from words: one bit for the side, 63 for how far out, up to 9.2 deviations.

    The inverse of the normal distribution function is taken in its lower tail only, where doubles
    tell the smallest probabilities apart.

    >>> normals(np.array([0, 2**63 - 1, 2**63], dtype=np.uint64)).round(3) + 0.0
    array([ 9.155,  0.   , -9.155])
    """
    below = ((words & LOW_BITS).astype(np.float64) + 0.5) * HALF_STEP
    away = ndtri(np.minimum(below, 0.5))
    result: Floats = np.where(words > LOW_BITS, away, -away)
    return result


def as_table(columns: ArrayLike) -> Floats:
    """One column or several, as floats, none infinite."""
    given = np.asarray(columns)
    if given.ndim not in (1, 2) or given.dtype.kind not in "iuf" or not given.size:
        raise MaskingError(
            f"Noise needs a numeric column, or several side by side; got {given.dtype} of shape "
            f"{given.shape}."
        )
    table: Floats = given.reshape(len(given), -1).astype(np.float64)
    if np.isinf(table).any():
        raise MaskingError(f"The columns hold {int(np.isinf(table).sum())} infinite values.")
    return table


def _beside(confidential: ArrayLike, table: Floats) -> Floats:
    other = as_table(confidential)
    if len(other) != len(table):
        raise MaskingError(
            f"The confidential columns have {len(other)} rows, the others {len(table)}."
        )
    return other


def _moments(table: Floats) -> tuple[Floats, Floats, Floats]:
    """Means, covariances and standard deviations of the rows that have all entries."""
    complete = table[~np.isnan(table).any(axis=1)]
    if len(complete) <= table.shape[1]:
        raise MaskingError(
            f"{len(complete)} rows have every entry: too few for the covariances of "
            f"{table.shape[1]} columns."
        )
    mean = complete.mean(axis=0)
    away = complete - mean
    units = np.sqrt((away**2).mean(axis=0))
    flat = int((units <= 1e-12 * np.abs(mean)).sum())
    if flat:
        raise MaskingError(f"{flat} of the columns are constant: there is nothing to perturb.")
    return mean, away.T @ away / len(complete), units


def _root(covariance: Floats) -> Floats:
    """A root of a covariance, what rounding made negative counting as nothing."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root: Floats = vectors * np.sqrt(np.maximum(values, 0.0))
    return root
