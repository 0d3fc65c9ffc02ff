r"""Logistic regression by likelihood, where predictors or response are known by report only.

The true cell of a record is latent. With a the predictors among its columns and y the response, a
record of stratum s that reports v has the likelihood
$\sum_{x=(a,y)} P_{xv}\,\pi_s(a)\,\mu_a^y(1-\mu_a)^{1-y}$ with $\mu_a$ the logistic mean, and
the shares $\pi_s(a)$ of the predictors are free within each stratum, that is within each
combination of the other predictors; where no predictor was randomised there are none to estimate.

Each step is Newton's with the observed information (Louis 1982) or, where that is not positive, the
gradient step of the EM algorithm (Lange 1995), shortened until the likelihood does not decrease.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import expit

from bistochastic.errors import MatrixError
from bistochastic.estimate.design import Chunk, Data, Design
from bistochastic.estimate.regression import Fit

__all__ = ["MOST_SHARES", "Latent", "likeliest"]

Array = NDArray[Any]

MOST_SHARES = 400  # that are estimated beside the coefficients
STEPS = 500
HALVINGS = 40
CLOSE = 1e-9  # the rise, relative to the number of records, at which the top is reached
RIDGE = 1e-12
FLAT = 1e-11  # a curvature, on the scale of the coefficients, that is none
NEVER = 1e-8  # a share below which nobody is taken to be there


@final
@dataclass(frozen=True, slots=True, eq=False)
class Latent:
    """What is not seen: the law of reports, which predictors a cell holds, and the strata."""

    channel: Array  # P, true by reported cells
    groups: NDArray[np.int64]  # the predictors in each true cell, as a number
    strata: NDArray[np.int64]  # of each record

    @property
    def shape(self) -> tuple[int, int]:
        """How many strata and how many combinations of latent predictors there are."""
        return int(self.strata.max(initial=0)) + 1, int(self.groups.max(initial=0)) + 1


class _Place(NamedTuple):
    """A point of the likelihood: coefficients, and the logits of shares against the last one."""

    beta: Array
    logits: Array  # strata × (groups - 1)

    @property
    def shares(self) -> Array:
        full = np.column_stack((self.logits, np.zeros(self.logits.shape[0])))
        full = np.exp(full - full.max(axis=1, keepdims=True))
        made: Array = full / full.sum(axis=1, keepdims=True)
        return made

    def moved(self, step: Array) -> "_Place":
        p = self.beta.size
        return _Place(self.beta + step[:p], self.logits + step[p:].reshape(self.logits.shape))


class _Slope(NamedTuple):
    height: float
    score: Array
    observed: Array
    complete: Array


def likeliest(data: Data, design: Design, latent: Latent, start: Array | None = None) -> Fit:
    """The coefficients of greatest likelihood, with the inverse of the observed information.

    Args:
        data: The records, without weights.
        design: What predictors and response are in each true cell.
        latent: What is not seen.
        start: Coefficients to begin with; none unless given.
    """
    strata, groups = latent.shape
    if strata * (groups - 1) > MOST_SHARES:
        raise MatrixError(
            f"The likelihood needs {strata * (groups - 1)} shares of randomised predictors, one "
            f"set for each of {strata} combinations of the others; at most {MOST_SHARES} are "
            f"estimated. Group the others, or use corrected moments."
        )
    p = len(data.predictors)
    place = _Place(np.zeros(p) if start is None else start, np.zeros((strata, groups - 1)))
    slope = _slope(data, design, latent, place)
    many = float(sum(part.weights.sum() for part in data.chunks()))
    for taken in range(1, STEPS + 1):
        move = _direction(slope)
        for _ in range(HALVINGS):
            new = place.moved(move)
            after = _slope(data, design, latent, new)
            if np.isfinite(after.height) and after.height >= slope.height:
                break
            move = move / 2
        else:
            return _found(place, slope, latent, taken)
        rise = after.height - slope.height
        place, slope = new, after
        if rise <= CLOSE * many and np.abs(move[:p]).max() < 1e-6 * (1 + np.abs(place.beta).max()):
            return _found(place, slope, latent, taken)
    raise MatrixError(
        f"The likelihood has no top within {STEPS} steps: some predictor, or a mix of them, tells "
        f"the response for sure, or the channel left too little for so many coefficients. Use "
        f"fewer of them, or merge rare categories."
    )


def _direction(slope: _Slope) -> Array:
    """Uphill: Newton's step where the surface is round, else that of the EM algorithm."""
    for information in (slope.observed, slope.complete):
        scale = np.sqrt(np.maximum(np.diag(slope.complete), np.finfo(float).tiny))
        try:
            factor = cho_factor(information / np.outer(scale, scale) + RIDGE * np.eye(scale.size))
        except LinAlgError:
            continue
        step: Array = cho_solve(factor, slope.score / scale) / scale
        if np.isfinite(step).all():
            return step
    return slope.score / max(float(np.abs(slope.score).max()), 1.0)


def _found(place: _Place, slope: _Slope, latent: Latent, steps: int) -> Fit:
    """The covariance of the coefficients; shares that came out as zero count as known."""
    p = place.beta.size
    shares = place.shares
    known = (shares[:, :-1] < NEVER).ravel() | np.repeat(
        (shares[:, -1] < NEVER), max(shares.shape[1] - 1, 0)
    )
    free = np.concatenate((np.ones(p, dtype=bool), ~known))
    information = slope.observed[np.ix_(free, free)]
    scale = np.sqrt(np.maximum(np.abs(np.diag(information)), np.finfo(float).tiny))
    scaled = information / np.outer(scale, scale)
    if not np.isfinite(scaled).all() or np.linalg.eigvalsh(scaled)[0] <= FLAT:
        raise MatrixError(
            "The likelihood is flat at its top: the reports do not tell some of the coefficients "
            "apart. Use fewer predictors, or merge rare categories."
        )
    covariance = np.linalg.inv(scaled)[:p, :p] / np.outer(scale[:p], scale[:p])
    return Fit(place.beta, covariance, 0, steps)


def _slope(data: Data, design: Design, latent: Latent, place: _Place) -> _Slope:
    """Height, score and information, complete and observed, summed over records."""
    p, (strata, groups) = place.beta.size, latent.shape
    size = p + strata * (groups - 1)
    height, score = 0.0, np.zeros(size)
    complete, observed = np.zeros((size, size)), np.zeros((size, size))
    shares, at = place.shares, 0
    for part in data.chunks():
        where = latent.strata[at : at + part.reports.size]
        at += part.reports.size
        chances, each = _joint(part, design, latent, place, shares, where)
        total = chances.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            height += float(part.weights @ np.log(total))
            chances = chances / total[:, None]
        mean = np.zeros((part.reports.size, size))
        for cell, (predictors, residual, slope) in enumerate(each):
            weight = chances[:, cell]
            scores = _scores(predictors * residual[:, None], latent.groups[cell], where, shares)
            mean += weight[:, None] * scores
            heavy = part.weights * weight
            complete[:p, :p] += predictors.T @ (predictors * (heavy * slope)[:, None])
            observed -= scores.T @ (scores * heavy[:, None])
        score += part.weights @ mean
        observed += mean.T @ (mean * part.weights[:, None])
        held = np.bincount(where, weights=part.weights, minlength=strata)
        for stratum in range(strata if groups > 1 else 0):
            law = shares[stratum, :-1]
            block = slice(p + stratum * (groups - 1), p + (stratum + 1) * (groups - 1))
            complete[block, block] += held[stratum] * (np.diag(law) - np.outer(law, law))
    return _Slope(height, score, observed + complete, complete)


def _joint(
    part: Chunk,
    design: Design,
    latent: Latent,
    place: _Place,
    shares: Array,
    where: NDArray[np.int64],
) -> tuple[Array, list[tuple[Array, Array, Array]]]:
    """How likely each true cell is with what is seen; and its predictors, residual and slope."""
    chances = np.empty((part.reports.size, latent.groups.size))
    each = []
    for cell, line in enumerate(design.cells):
        predictors = part.records * line
        response = design.response[cell] * part.responses
        mu = expit(predictors @ place.beta)
        told = np.where(response > 0, mu, 1 - mu)
        chances[:, cell] = latent.channel[cell, part.reports] * told
        chances[:, cell] *= shares[where, latent.groups[cell]]
        each.append((predictors, response - mu, mu * (1 - mu)))
    return chances, each


def _scores(of_beta: Array, group: int, where: NDArray[np.int64], shares: Array) -> Array:
    """The scores of complete records: of coefficients, and of the logits of their stratum."""
    n, p = of_beta.shape
    strata, groups = shares.shape
    made = np.zeros((n, p + strata * (groups - 1)))
    made[:, :p] = of_beta
    rows = np.arange(n)
    for other in range(groups - 1):
        made[rows, p + where * (groups - 1) + other] = (group == other) - shares[where, other]
    return made
