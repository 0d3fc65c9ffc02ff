r"""The t-closeness family: how far a report moves what is known of W.

Three readings of one channel, from the mildest to the strictest:

- *average*: $\sum_{\hat x}p(\hat x)\,D(p(w|\hat x)\,\|\,p(w)) = I(W;\hat X)$, the risk of the
  trade-off (Rebollo-Monedero, Forné & Domingo-Ferrer 2010, equation 1);
- *worst*: the largest of these divergences over all reports, t-closeness as it was defined
  (Li, Li & Venkatasubramanian 2007), with this divergence as its distance;
- *disclosure*: $\max_{w,\hat x}|\ln p(w|\hat x)/p(w)|$, the δ of δ-disclosure (Brickell &
  Shmatikov 2008): a maximum over a maximum.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from bistochastic.tradeoff.problem import Floats

__all__ = ["Leakage", "closeness"]


@final
@dataclass(frozen=True, slots=True)
class Leakage:
    """How much reports tell: on average, at worst, and of the one w that is told most about.

    Attributes:
        average: The mean divergence, which is the risk.
        worst: The divergence of the report that tells most.
        disclosure: The largest log ratio; infinite where a report rules a w out.
    """

    average: float
    worst: float
    disclosure: float


def closeness(law: Floats, unit: float = 1.0) -> Leakage:
    """The family for a joint law of W and X̂; reports that never occur are left out.

    >>> closeness(np.array([[0.4, 0.1], [0.1, 0.4]])).worst == closeness(
    ...     np.array([[0.4, 0.1], [0.1, 0.4]])).average
    True
    """
    secret = law.sum(axis=1)
    law, secret = law[secret > 0], secret[secret > 0]
    reports = law.sum(axis=0)
    law, reports = law[:, reports > 0], reports[reports > 0]
    after = law / reports
    with np.errstate(divide="ignore"):
        logs = np.log(after / secret[:, None])
    terms = np.multiply(after, logs, out=np.zeros_like(after), where=after > 0)
    each = np.maximum(terms.sum(axis=0), 0.0)
    return Leakage(
        float(reports @ each) / unit, float(each.max()) / unit, float(np.abs(logs).max()) / unit
    )
