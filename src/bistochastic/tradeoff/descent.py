r"""Descents: the papers' steepest descent, and the step that is Blahut's and Arimoto's when W = X.

Both are here to be compared with. Neither knows how far it is from the best; the certificate says.
"""

import numpy as np

from bistochastic.tradeoff.certificate import TINY
from bistochastic.tradeoff.problem import Floats, Problem

__all__ = ["alternating", "between", "steepest"]


def between(problem: Problem, share: float = 0.5) -> Floats:
    """The nearest report with one probability, and the best constant one with the other."""
    size = problem.charges.shape
    nearest = np.zeros(size)
    nearest[np.arange(size[0]), problem.charges.argmin(axis=1)] = 1.0
    constant = np.zeros(size)
    constant[:, int((problem.prior @ problem.charges).argmin())] = 1.0
    return (1 - share) * nearest + share * constant


def steepest(
    problem: Problem, slope: float, *, steps: int = 32_000, factor: float = 1e-4
) -> Floats:
    """Rebollo-Monedero, Forné & Domingo-Ferrer's modification of steepest descent (2010, 6.1).

    The gradient is projected onto rows that sum to one, and negative entries are reset to zero.

    Args:
        problem: The joint law and the distortions.
        slope: κ of κD + R, nats per span of distortion.
        steps: How many.
        factor: Of D + λR, how far along the gradient, in units of the span.
    """
    channel = between(problem)
    weights = problem.prior[:, None]
    for _ in range(steps):
        gradient = weights * (problem.charges + _logs(problem, channel) / slope)
        channel = channel - factor * (gradient - gradient.mean(axis=1, keepdims=True))
        np.maximum(channel, 0.0, out=channel)
        channel /= channel.sum(axis=1, keepdims=True)
    return channel


def alternating(problem: Problem, slope: float, *, steps: int = 10_000) -> Floats:
    """The multiplicative step from the uniform start; it always descends.

    R is 1-smooth relative to the divergence of channels, so that κD + R is at most ln n/k above
    its minimum after k steps. With W = X it is the algorithm of Blahut 1972 and Arimoto 1972.
    """
    size = problem.charges.shape
    channel = np.full(size, 1.0 / size[1])
    for _ in range(steps):
        logs = np.log(np.maximum(channel, TINY))
        logs -= slope * problem.charges + _logs(problem, channel)
        channel = np.exp(logs - logs.max(axis=1, keepdims=True))
        channel /= channel.sum(axis=1, keepdims=True)
    return channel


def _logs(problem: Problem, channel: Floats) -> Floats:
    """The gradient of R, each row divided by p(x): the mean of ln p(x̂|w)/p(x̂) given x."""
    law = problem.told(channel)
    ratio = np.log(np.maximum(law, TINY)) - np.log(np.maximum(law.sum(axis=0), TINY))
    mean: Floats = problem.behind.T @ (ratio - np.log(problem.secret)[:, None])
    return mean
