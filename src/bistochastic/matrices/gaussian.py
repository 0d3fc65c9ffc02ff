r"""Gaussian: the error covariance that gives away least about W at a given squared distortion.

$$\max_\Sigma\ \tfrac12\ln\det(\Sigma_{W|X} +
\Sigma_{WX}\Sigma_X^{-1}\Sigma\Sigma_X^{-1}\Sigma_{XW})
\quad\text{over}\quad 0 \preceq \Sigma \preceq \Sigma_X,\ \operatorname{tr}\Sigma \le D$$

(Rebollo-Monedero, Forné & Domingo-Ferrer 2010, theorem 2). In whitened coordinates
$\Sigma = RYR^\top$, $RR^\top = \Sigma_X$, only $K^2$, the squared canonical correlations of W and
X, remains: $F(Y) = \tfrac12\ln\det(I - K^2 + KYK)$ is concave, over $0 \preceq Y \preceq I$ and
$\operatorname{tr}(LY) \le D$, L the variances of X along its axes.

**Certificate.** A concave F lies below its tangent at any Y, and a tangent is maximised in closed
form: for Q the gradient at Y and every μ ≥ 0,
$F^* \le F(Y) - \operatorname{tr}(QY) + \mu D + \operatorname{tr}(Q - \mu L)_+$.

It is a question of matrices alone, which whoever adds such noise and whoever draws the trade-off
both ask.
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve

from bistochastic.errors import MatrixError
from bistochastic.matrices.checks import as_numbers, frozen

__all__ = ["ErrorCovariance", "least_risk"]

Floats = NDArray[np.float64]

GAP = 1e-9  # nats within which the risk is certified to be the least
COLUMNS = 30  # columns that vary, of which pairs are unknowns
COOLING = 0.1  # what a barrier's weight is multiplied by
HALVINGS = 60  # of where the best multiplier may lie
STEPS = 60  # of Newton's method at one weight, far more than it takes
FLAT = 1e-12  # a variance this small beside the largest is none


@final
@dataclass(frozen=True, slots=True, eq=False)
class ErrorCovariance:
    """The covariance of X - X̂ with the least risk, and the proof that none has less.

    Attributes:
        covariance: Σ, between 0 and that of X.
        distortion: Its trace, the mean squared distance of X̂ from X.
        risk: I(W; X̂) in nats, if W and X are jointly Gaussian.
        gap: By how much a smaller risk is not ruled out; 0 where there is a formula.
    """

    covariance: Floats
    distortion: float
    risk: float
    gap: float


def least_risk(
    covariance: ArrayLike,
    distortion: float,
    *,
    confidential: ArrayLike | None = None,
    cross: ArrayLike | None = None,
) -> ErrorCovariance:
    """The error covariance of least risk at a distortion.

    Args:
        covariance: That of X.
        distortion: The mean squared distance that is allowed, in all columns together.
        confidential: The covariance of W; if None, W is X itself.
        cross: The covariance of W with X, a row for each column of W.

    >>> best = least_risk([[1.0]], 0.25, confidential=[[1.0]], cross=[[0.95]])
    >>> round(best.risk, 10) == round(-0.5 * math.log(1 - 0.75 * 0.95**2), 10)
    True
    """
    if not 0 < distortion < math.inf:
        raise MatrixError(f"least_risk needs a finite distortion above 0; got {distortion!r}.")
    variances, axes = _axes(_symmetric(covariance, "The covariance of X"))
    roots = axes * np.sqrt(variances)
    if confidential is None:
        kept, risk, gap = _water_filled(variances, distortion)
    else:
        square = _squared_correlations(axes / np.sqrt(variances), confidential, cross)
        kept, risk, gap = _solved(square, variances, distortion)
    error = roots @ kept @ roots.T
    return ErrorCovariance(frozen((error + error.T) / 2), float(np.trace(error)), risk, gap)


def _symmetric(matrix: ArrayLike, name: str) -> Floats:
    array = as_numbers(matrix, name)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not array.size:
        raise MatrixError(f"{name} must be a square matrix; got shape {array.shape}.")
    if np.abs(array - array.T).max() > 1e-9 * max(np.abs(array).max(), 1e-300):
        raise MatrixError(f"{name} must be symmetric; it is not.")
    return (array + array.T) / 2


def _axes(covariance: Floats) -> tuple[Floats, Floats]:
    """The variances along the axes on which X varies at all, and those axes."""
    values, vectors = np.linalg.eigh(covariance)
    if values[-1] <= 0 or values[0] < -1e-9 * values[-1]:
        raise MatrixError("A covariance matrix has no negative variance, and some positive one.")
    alive = values > FLAT * values[-1]
    if alive.sum() > COLUMNS:
        raise MatrixError(
            f"{int(alive.sum())} columns vary independently; the best noise is found for up to "
            f"{COLUMNS}. Mask them in groups."
        )
    return values[alive], vectors[:, alive]


def _squared_correlations(
    whitening: Floats, confidential: ArrayLike, cross: ArrayLike | None
) -> Floats:
    """What of each whitened direction of X is in W: between 0 and 1 in every direction."""
    if cross is None:
        raise MatrixError("least_risk needs the covariance of W with X beside that of W.")
    variances, axes = _axes(_symmetric(confidential, "The covariance of W"))
    joint = as_numbers(cross, "The covariance of W with X")
    if joint.shape != (axes.shape[0], whitening.shape[0]):
        raise MatrixError(
            f"The covariance of W with X needs {axes.shape[0]} rows and {whitening.shape[0]} "
            f"columns; got shape {joint.shape}."
        )
    correlations = (axes / np.sqrt(variances)).T @ joint @ whitening
    _, values, right = np.linalg.svd(correlations, full_matrices=False)
    if values[0] > 1 + 1e-6:
        raise MatrixError("The covariance of W with X exceeds what those of W and X allow.")
    return (right.T * np.minimum(values, 1.0) ** 2) @ right


def _water_filled(variances: Floats, distortion: float) -> tuple[Floats, float, float]:
    """Every direction keeps an error of the same level, or all of its variance if that is less."""
    if distortion >= variances.sum():
        return np.eye(variances.size), 0.0, 0.0
    rising = np.sort(variances)
    filled = np.append(0.0, np.cumsum(rising)[:-1])
    levels = (distortion - filled) / np.arange(rising.size, 0, -1)
    level = float(levels[np.argmax(levels <= rising)])
    shares = np.minimum(level / variances, 1.0)
    return np.diag(shares), float(-0.5 * np.log(shares).sum()), 0.0


def _solved(square: Floats, variances: Floats, distortion: float) -> tuple[Floats, float, float]:
    """The interior point method: a barrier at every border, Newton's method, weights that fall."""
    total = float(variances.sum())
    if distortion >= total:
        return np.eye(variances.size), 0.0, 0.0
    if variances.size == 1:
        share = distortion / total
        return np.array([[share]]), float(-0.5 * math.log1p(-(1 - share) * square[0, 0])), 0.0
    problem = _Problem(square, variances / total, distortion / total)
    y = np.eye(variances.size) * (0.5 * distortion / total)
    weight, gap = 1.0, math.inf
    while gap > GAP:
        y = problem.centred(y, weight)
        gap = problem.gap(y, weight)
        weight *= COOLING
        if weight < 1e-14:
            break
    return y, max(-problem.value(y), 0.0), max(gap, 0.0)


@final
class _Problem:
    """F, its barrier and its certificate in whitened coordinates."""

    def __init__(self, square: Floats, variances: Floats, budget: float) -> None:
        values, vectors = np.linalg.eigh(square)
        self.root = (vectors * np.sqrt(np.clip(values, 0, 1))) @ vectors.T
        self.rest = np.eye(len(square)) - self.root @ self.root
        self.costs, self.budget = np.diag(variances), budget
        self.rows, self.columns = np.triu_indices(len(square))
        diagonal = self.rows == self.columns
        self.scale = np.where(diagonal, 1.0, math.sqrt(2.0))  # an orthonormal basis

    def value(self, y: Floats) -> float:
        return 0.5 * float(np.linalg.slogdet(self.rest + self.root @ y @ self.root)[1])

    def gradient(self, y: Floats) -> Floats:
        middle = np.linalg.solve(self.rest + self.root @ y @ self.root, self.root)
        product = 0.5 * self.root @ middle
        return (product + product.T) / 2

    def barred(self, y: Floats, weight: float) -> float:
        """F with its barriers; -∞ at the borders and beyond."""
        left = self.budget - float(np.sum(self.costs * y))
        ends = np.linalg.eigvalsh(y)
        if left <= 0 or ends[0] <= 0 or ends[-1] >= 1:
            return -math.inf
        barriers = float(np.log(ends).sum() + np.log1p(-ends).sum()) + math.log(left)
        return self.value(y) + weight * barriers

    def centred(self, y: Floats, weight: float) -> Floats:
        """The maximum of the barred F, by Newton's method with halved steps."""
        now = self.barred(y, weight)
        for _ in range(STEPS):
            direction, rise = self._newton(y, weight)
            if rise < 1e-10 * weight:
                break
            step = 1.0
            while step > 1e-12:
                then = self.barred(y + step * direction, weight)
                if then >= now + 0.1 * step * rise:
                    break
                step /= 2
            else:
                break  # rounding leaves nothing more to gain
            y, now = y + step * direction, then
        return y

    def _newton(self, y: Floats, weight: float) -> tuple[Floats, float]:
        """Newton's direction, and how fast the barred F rises along it.

        Along the axes of y the barriers bend each pair of axes by itself, however near a border is;
        scaled by that bend, the system stays well conditioned.
        """
        ends, axes = np.linalg.eigh(y)
        room = 1 - ends
        left = self.budget - float(np.sum(self.costs * y))
        turned = [axes.T @ matrix @ axes for matrix in (self.gradient(y), self.costs)]
        gradient, costs = turned
        slope = self._line(gradient + weight * (np.diag(1 / ends - 1 / room) - costs / left))
        cost = self._line(costs)
        i, j = self.rows, self.columns
        bend = 2 * self._curvature(gradient) + weight / left**2 * np.outer(cost, cost)
        bend += np.diag(weight * (1 / (ends[i] * ends[j]) + 1 / (room[i] * room[j])))
        size = 1 / np.sqrt(np.diag(bend))
        line = size * cho_solve(cho_factor(bend * np.outer(size, size)), size * slope)
        return axes @ self._matrix(line) @ axes.T, float(line @ slope)

    def _curvature(self, s: Floats) -> Floats:
        """The form tr(S A S B) on symmetric A and B, as a matrix over the basis."""
        i, j = self.rows, self.columns
        pairs = s[np.ix_(i, i)] * s[np.ix_(j, j)] + s[np.ix_(i, j)] * s[np.ix_(j, i)]
        return pairs * np.outer(self.scale, self.scale) / 2

    def _line(self, matrix: Floats) -> Floats:
        return matrix[self.rows, self.columns] * self.scale

    def _matrix(self, line: Floats) -> Floats:
        matrix = np.zeros_like(self.costs)
        matrix[self.rows, self.columns] = line / self.scale
        symmetric: Floats = matrix + np.triu(matrix, 1).T
        return symmetric

    def gap(self, y: Floats, weight: float) -> float:
        """How far F at y can be below its maximum: a tangent's maximum, for the best μ tried."""
        gradient = self.gradient(y)
        told = float(np.sum(gradient * y))

        central = weight / (self.budget - float(np.sum(self.costs * y)))
        low, high, best = 0.0, 2 * central, math.inf
        for _ in range(HALVINGS):
            middle = (low + high) / 2  # at first the multiplier of the barrier itself
            values, axes = np.linalg.eigh(gradient - middle * self.costs)
            best = min(best, middle * self.budget + float(np.maximum(values, 0.0).sum()) - told)
            gains = axes[:, values > 0]
            taken = float(np.sum(gains * (self.costs @ gains)))
            low, high = (middle, high) if taken > self.budget else (low, middle)
        return best
