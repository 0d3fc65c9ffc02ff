r"""A certificate: a number that no channel can undercut, whoever found it and how.

For any numbers ν with $\sum_w p(w)e^{\nu(w,\hat x)} \le 1$ for each x̂ and any slope κ ≥ 0,

$$R(D) \ge \sum_x p(x)\min_{\hat x}\Bigl[\kappa d(x,\hat x) + \sum_w p(w|x)\nu(w,\hat x)\Bigr]
- \kappa D.$$

*Proof.* $I(W;\hat X) = \sum p(w,\hat x)\ln\frac{p(w|\hat x)}{p(w)} \ge \sum p(w,\hat x)\nu(w,\hat
x)$, since for each x̂ the difference is the divergence of $p(w|\hat x)$ from the sub-probability
$p(w)e^\nu$, which is not negative. What is left is linear in the channel, and a channel does no
better than the least entry of each row. ∎ The maximum over ν is R(D) itself: at the optimum
$\nu = \ln p(\hat x|w)/p(\hat x)$.
"""

import numpy as np

from bistochastic.tradeoff.problem import Floats, Problem

__all__ = ["TINY", "feasible", "gains", "least_sum"]

TINY = 1e-300  # stands for 0 where a logarithm is taken; any ν is valid


def gains(problem: Problem, reported: Floats) -> Floats:
    """ν of a positive channel, ln p(x̂|w)/p(x̂), scaled until it is feasible in doubles too."""
    secret = problem.secret
    law = np.maximum(problem.told(reported), TINY)
    logs = np.log(law) - np.log(secret)[:, None] - np.log(law.sum(axis=0))
    return feasible(problem, logs)


def feasible(problem: Problem, logs: Floats) -> Floats:
    """Any ν, moved by a constant for each x̂ so that its exponentials have a mean of one."""
    top = logs.max(axis=0)
    total: Floats = problem.secret @ np.exp(logs - top)
    return logs - top - np.log(total)


def least_sum(problem: Problem, logs: Floats, slope: float, allowed: Floats | None = None) -> float:
    """The least value of κD + R that ν leaves possible, in nats.

    Args:
        problem: The joint law and the distortions.
        logs: A feasible ν.
        slope: κ, nats per unit of distortion.
        allowed: Where only some reports of each x are possible: 1 for those, 0 for the others.
    """
    per_report = slope * problem.charges + problem.behind.T @ logs
    if allowed is not None:
        per_report = np.where(allowed > 0, per_report, np.inf)
    return float(problem.prior @ per_report.min(axis=1))
