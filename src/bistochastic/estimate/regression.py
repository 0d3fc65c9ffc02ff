r"""Regression on reports: corrected scores, which are those of the true values in expectation.

A coefficient solves $\sum_i w_i \psi(x_i, i; \beta) = 0$ with $\psi = z\,(y - \mu(z^\top\beta))$,
where predictors z and response y may depend on a true cell x that nobody sees. With
$Q = (P^\top)^{-1}$ the score of a report, $\psi^*(v) = \sum_x Q_{xv}\psi(x)$, has the expectation
$\psi$ of the truth (Stefanski 1989, Nakamura 1990): so the roots of its sum are consistent, and
nothing is assumed of how true cells depend on the other columns. For a linear model these are the
normal equations with corrected moments.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bistochastic.errors import MatrixError, SingularMatrixError
from bistochastic.estimate.correction import Correction
from bistochastic.estimate.design import Chunk, Data, Design, Spread
from bistochastic.estimate.shares import Variance

__all__ = ["FAMILIES", "Family", "Fit", "fitted"]

Array = NDArray[Any]
Family = Literal["linear", "logistic"]

ENOUGH = 100_000  # records from which the first steps are told
STEPS = 100  # of Newton's method
HALVINGS = 30
CLOSE = 1e-10  # the step, relative to the coefficients, at which it has arrived
LEVEL = 1e-13  # a fall, relative to the height, that is rounding
FAMILIES = ("linear", "logistic")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Coefficients with their covariance.

    Attributes:
        coefficients: One for each predictor.
        covariance: Of the coefficients.
        clipped: How many variances came out negative, and count as zero.
        steps: How many steps the solution took.
    """

    coefficients: Array
    covariance: Array
    clipped: int
    steps: int

    @property
    def se(self) -> Array:
        """Standard errors."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))


def fitted(
    data: Data,
    design: Design,
    correction: Correction,
    *,
    family: Family = "linear",
    variance: Variance = "sample",
    kept: NDArray[np.bool_] | None = None,
) -> Fit:
    r"""Coefficients from corrected scores, with the covariance of the sandwich.

    For a sample the middle is $\frac{n}{n-p}\sum_i w_i^2\psi_i^*\psi_i^{*\top}$; for the file,
    around the coefficients that the original would give, only what the channel adds:
    $\sum_i w_i^2(\psi_i^*\psi_i^{*\top} - \sum_x Q_{xv_i}\psi_x\psi_x^\top)$.

    Args:
        data: The records.
        design: What predictors and response are in each true cell.
        correction: What undoes the channel of the cells.
        family: "linear" or "logistic".
        variance: Of a sample of respondents, or of the masking of this file alone.
        kept: The true cells that count; all unless given.
    """
    spread = design.merged(correction, kept)
    n, p = data.records, len(data.predictors)
    if n <= p:
        raise MatrixError(f"{p} coefficients need more than {p} records; there are {n}.")
    first = _survey(data, spread, np.zeros(p), family)
    found, steps = _solved(first.information, first.score), 1
    information = first.information  # of a linear model the same everywhere
    if family == "logistic":  # where that was a first step, from a curve at its middle
        found, information, steps = _climbed(data, spread, _near(data, spread, found))
    if variance == "file" and not any(axis.noisy for axis in correction.axes):
        return Fit(found, np.zeros((p, p)), 0, steps)  # nothing was hidden, so nothing is open
    middle = _middle(data, spread, found, family, variance)
    if variance == "sample":
        middle *= n / (n - p)
    left = _solved(information, middle)
    covariance = _solved(information, left.T).T
    negative = int((np.diag(covariance) < 0).sum())
    return Fit(found, covariance, negative, steps)


class _Term(NamedTuple):
    """Some records in one of the distinct cells; predictors that are zero there are left out."""

    there: NDArray[np.intp]
    share: Array
    predictors: Array
    eta: Array
    response: Array


class _Survey(NamedTuple):
    """The corrected logarithm of the likelihood, its slope and its curvature, at a point."""

    height: float
    score: Array
    information: Array


def _terms(part: Chunk, spread: Spread, beta: Array) -> Iterator[_Term]:
    """Cell by cell: a record's share of it, its predictors, their sum and its response."""
    shares = np.ascontiguousarray(spread.shares[part.reports].T)
    for cell, line in enumerate(spread.cells):
        there = np.flatnonzero(line)
        predictors = part.records[:, there] * line[there]
        eta = predictors @ beta[there]
        response = spread.response[cell] * part.responses
        yield _Term(there, shares[cell], predictors, eta, response)


def _survey(data: Data, spread: Spread, beta: Array, family: Family) -> _Survey:
    """All three in one pass over the records."""
    height, score = 0.0, np.zeros(beta.size)
    information = np.zeros((beta.size, beta.size))
    for part in data.chunks():
        for there, share, predictors, eta, response in _terms(part, spread, beta):
            weight = part.weights * share
            heavy = weight
            mean = eta
            if family == "logistic":
                far = np.exp(-np.abs(eta))
                mean = np.where(eta < 0, far, 1.0) / (1 + far)
                height += float(weight @ (response * eta - np.maximum(eta, 0) - np.log1p(far)))
                heavy = weight * mean * (1 - mean)
            score[there] += (weight * (response - mean)) @ predictors
            information[np.ix_(there, there)] += predictors.T @ (predictors * heavy[:, None])
    return _Survey(height, score, information)


def _middle(data: Data, spread: Spread, beta: Array, family: Family, variance: Variance) -> Array:
    """The middle of the sandwich, without the factor for a sample."""
    total = np.zeros((beta.size, beta.size))
    for part in data.chunks():
        scores = np.zeros_like(part.records)
        for there, share, predictors, eta, response in _terms(part, spread, beta):
            residual = response - (eta if family == "linear" else expit(eta))
            scores[:, there] += predictors * (share * residual)[:, None]
            if variance == "file":
                heavy = part.squares * share * residual**2
                total[np.ix_(there, there)] -= predictors.T @ (predictors * heavy[:, None])
        total += scores.T @ (scores * part.squares[:, None])
    return total


def _near(data: Data, spread: Spread, beta: Array) -> Array:
    """A place near the root, from every so manieth record where there are many."""
    stride = data.reports.size // ENOUGH
    if stride < 2:
        return beta
    try:
        return _climbed(data.taken(np.arange(0, data.reports.size, stride)), spread, beta)[0]
    except (MatrixError, SingularMatrixError):
        return beta


def _climbed(data: Data, spread: Spread, beta: Array) -> tuple[Array, Array, int]:
    """The root of the corrected score that Newton's method reaches uphill, with its information."""
    here = _survey(data, spread, beta, "logistic")
    for step in range(1, STEPS + 1):
        move = _solved(here.information, here.score)
        if np.abs(move).max() <= CLOSE * (1 + np.abs(beta).max()):
            return beta, here.information, step
        if float(move @ here.score) < 0:
            move = -move
        for _ in range(HALVINGS):
            after = _survey(data, spread, beta + move, "logistic")
            if after.height >= here.height - abs(here.height) * LEVEL:
                break
            move = move / 2
        else:
            break
        beta, here = beta + move, after
    raise MatrixError(
        f"The logistic regression has no finite solution within {STEPS} steps: some predictor, or "
        f"a mix of them, tells the response for sure, or the channel left too little for so many "
        f"coefficients. Use fewer of them, or merge rare categories."
    )


def _solved(information: Array, line: Array) -> Array:
    """Undo the information, or say that predictors cannot be told apart."""
    scale = np.sqrt(np.maximum(np.abs(np.diag(information)), np.finfo(float).tiny))
    scaled = information / np.outer(scale, scale)
    if not np.isfinite(scaled).all() or np.linalg.cond(scaled) > 1e12:
        raise SingularMatrixError(
            "Some predictor is a mix of the others or does not vary, or the channel left too "
            "little to tell them apart. Take one out, or merge rare categories."
        )
    shape = scale if line.ndim == 1 else scale[:, None]
    return np.linalg.solve(scaled, line / shape) / shape
