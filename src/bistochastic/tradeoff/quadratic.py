r"""The quadratic-Gaussian bound: squared distortion, and a W that has a density.

$$R(D) \ge h(W) - \tfrac m2\ln 2\pi e - \max_\Sigma\tfrac12\ln\det(\Sigma_{W|X} +
\Sigma_{WX}\Sigma_X^{-1}\Sigma\Sigma_X^{-1}\Sigma_{XW})\quad\text{over}\quad 0\preceq\Sigma\preceq
\Sigma_X,\ \operatorname{tr}\Sigma\le D,$$

with equality where W and X are jointly Gaussian (Rebollo-Monedero, Forné & Domingo-Ferrer 2010,
theorem 2). For a discrete W there is no differential entropy and no such bound.

**By water-filling.** With $\Sigma_{W|X} = BB^\top$ and the eigenvalues l and eigenvectors V of
$G^\top G$, $G = B^{-1}\Sigma_{WX}\Sigma_X^{-1}$, Hadamard's inequality bounds the determinant by
$\det(BB^\top)\prod(1+l_ix_i)$ with $x_i \le (V^\top\Sigma_XV)_{ii}$ and $\sum x_i \le D$, which
`filling` maximises in closed form. It is the maximum itself wherever $V\operatorname{diag}(x)V^\top
\preceq \Sigma_X$, so at every D up to the least eigenvalue of $\Sigma_X$.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from bistochastic.errors import MatrixError
from bistochastic.matrices.checks import as_number, as_numbers, frozen
from bistochastic.matrices.gaussian import ErrorCovariance, least_risk
from bistochastic.tradeoff.filling import water_filling
from bistochastic.tradeoff.point import UNITS
from bistochastic.tradeoff.problem import Floats

__all__ = ["GaussianChannel", "QuadraticGaussian", "quadratic_gaussian"]

SLACK = 1e-9  # of the largest variance, what rounding may make negative


class GaussianChannel(NamedTuple):
    """X̂ = kept (X - μ) + μ + e, e normal with the covariance `noise`: what attains the bound."""

    kept: Floats
    noise: Floats


@final
@dataclass(frozen=True, slots=True, eq=False)
class QuadraticGaussian:
    """The bound for given second moments.

    Attributes:
        covariance: Σ_X.
        confidential: Σ_W.
        cross: Σ_WX, a row for each entry of W.
        entropy: h(W) in nats.
        units: What risks are told in.
    """

    covariance: Floats
    confidential: Floats
    cross: Floats
    entropy: float
    units: str

    @property
    def largest_distortion(self) -> float:
        """The trace of Σ_X, from which on the mean alone may be told."""
        return float(np.trace(self.covariance))

    @property
    def behind(self) -> Floats:
        """Σ_{W|X}, what even X leaves open of W."""
        slope = self._slope
        left: Floats = self.confidential - slope @ self.cross.T
        return (left + left.T) / 2

    def risk(self, distortion: float) -> float:
        """The bound at a distortion, where W and X are jointly Gaussian the function itself.

        >>> one = quadratic_gaussian([[1.0]], confidential=[[1.0]], cross=[[0.95]])
        >>> [round(one.risk(d), 4) for d in (0.25, 0.5, 0.75, 1.0)]
        [0.5649, 0.3001, 0.1278, 0.0]
        """
        at = self._distortion(distortion)
        if at >= self.largest_distortion:
            told = 0.0
        elif at == 0:
            told = self._log_det(self.confidential) - self._log_det(self.behind)
        else:
            best = self.solution(at)
            told = best.risk - best.gap  # what is certified, not what was reached
        return self._in_units(told)

    def water_filling(self, distortion: float) -> float:
        """A bound in closed form, never above `risk`, and equal to it where `exact` says so."""
        at = self._distortion(distortion)
        gains, caps, _ = self._directions()
        spent = water_filling(gains, caps, at)
        left = self._log_det(self.behind) + 0.5 * float(np.log1p(gains * spent).sum())
        return self._in_units(self._log_det(self.confidential) - left)

    def exact(self, distortion: float) -> bool:
        """Whether water-filling attains the maximum: its covariance is one that X allows."""
        gains, caps, axes = self._directions()
        spent = water_filling(gains, caps, self._distortion(distortion))
        left = self.covariance - (axes * spent) @ axes.T
        return bool(np.linalg.eigvalsh(left)[0] >= -SLACK * np.abs(self.covariance).max())

    def solution(self, distortion: float) -> ErrorCovariance:
        """The best error covariance, with its certificate."""
        at = self._distortion(distortion)
        return least_risk(self.covariance, at, confidential=self.confidential, cross=self.cross)

    def perturbation(self, distortion: float) -> GaussianChannel:
        """The perturbation that attains the bound: A = Σ Σ_X⁻¹, noise Σ - Σ Σ_X⁻¹ Σ.

        `bistochastic.perturbation` makes the same of data.
        """
        error = self.solution(distortion).covariance
        lost = error @ np.linalg.pinv(self.covariance, hermitian=True)
        noise = error - lost @ error
        return GaussianChannel(frozen(np.eye(len(error)) - lost), frozen((noise + noise.T) / 2))

    @property
    def _slope(self) -> Floats:
        slope: Floats = self.cross @ np.linalg.pinv(self.covariance, hermitian=True)
        return slope

    def _directions(self) -> tuple[Floats, Floats, Floats]:
        """l, y and V."""
        try:
            lower = np.linalg.cholesky(self.behind)
        except np.linalg.LinAlgError:
            raise MatrixError(
                "Water-filling needs some of W left open by X: here X tells some of it for "
                "certain. `risk` needs no such thing."
            ) from None
        bend = np.linalg.solve(lower, self._slope)
        values, axes = np.linalg.eigh(bend.T @ bend)
        caps = np.einsum("ij,ik,kj->j", axes, self.covariance, axes)
        return np.maximum(values, 0.0), np.maximum(caps, 0.0), axes

    def _in_units(self, gaussian: float) -> float:
        """A risk, less what W lacks to the entropy of a Gaussian; never below 0."""
        size = len(self.confidential)
        full = 0.5 * size * math.log(2 * math.pi * math.e) + self._log_det(self.confidential)
        return max(gaussian - (full - self.entropy), 0.0) / UNITS[self.units]

    @staticmethod
    def _log_det(matrix: Floats) -> float:
        sign, value = np.linalg.slogdet(matrix)
        return 0.5 * float(value) if sign > 0 else -math.inf

    @staticmethod
    def _distortion(distortion: float) -> float:
        at = as_number(distortion, "The distortion")
        if not 0 <= at < math.inf:
            raise MatrixError(f"A distortion must be finite and at least 0; got {distortion!r}.")
        return at


def quadratic_gaussian(
    covariance: ArrayLike,
    *,
    confidential: ArrayLike,
    cross: ArrayLike,
    entropy: float | None = None,
    units: Literal["nats", "bits"] = "nats",
) -> QuadraticGaussian:
    """The lower bound for second moments: exact if W and X are Gaussian.

    Args:
        covariance: That of X, positive definite.
        confidential: That of W, positive definite.
        cross: The covariance of W with X, a row for each entry of W.
        entropy: The differential entropy h(W) in nats; that of a Gaussian if None. A discrete W has
            none, and no such bound.
        units: What risks are told in.
    """
    if units not in UNITS:
        raise MatrixError(f'A bound is told in "nats" or "bits"; got {units!r}.')
    own, secret = (
        _definite(matrix, name)
        for matrix, name in ((covariance, "The covariance of X"), (confidential, "That of W"))
    )
    joint = as_numbers(cross, "The covariance of W with X")
    if joint.shape != (len(secret), len(own)):
        raise MatrixError(
            f"The covariance of W with X needs shape {(len(secret), len(own))}; got {joint.shape}."
        )
    full = np.block([[own, joint.T], [joint, secret]])
    if np.linalg.eigvalsh(full)[0] < -SLACK * np.abs(full).max():
        raise MatrixError("The covariance of W with X exceeds what those of W and X allow.")
    normal = 0.5 * len(secret) * math.log(2 * math.pi * math.e)
    most = normal + 0.5 * float(np.linalg.slogdet(secret)[1])
    known = most if entropy is None else as_number(entropy, "The entropy")
    if not known <= most + 1e-9:
        raise MatrixError("No law of this covariance has so much entropy: a Gaussian has most.")
    return QuadraticGaussian(frozen(own), frozen(secret), frozen(joint), float(known), units)


def _definite(matrix: ArrayLike, name: str) -> Floats:
    array = as_numbers(matrix, name)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise MatrixError(f"{name} must be a square matrix; got shape {array.shape}.")
    if np.abs(array - array.T).max() > SLACK * np.abs(array).max():
        raise MatrixError(f"{name} must be symmetric; it is not.")
    if np.linalg.eigvalsh(array)[0] <= 0:
        raise MatrixError(f"{name} must be positive definite; it is not.")
    return (array + array.T) / 2
