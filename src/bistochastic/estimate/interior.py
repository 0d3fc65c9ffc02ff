r"""Interior: the last steps to the most likely table, where expectation and maximisation is slow.

With $\mu = P^\top\pi$ the conditions of the best table are $g_u + s_u = \nu$, $\pi_u s_u = 0$,
$\pi, s \ge 0$ and $\sum\pi = 1$. Newton steps on them with $\pi_u s_u = \tau$, and $\tau$ falling,
take some twenty solutions of a system as large as the table, however badly conditioned it is.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["polished"]

Floats = NDArray[Any]

STEPS = 80
INSIDE = 0.99  # of the way to the boundary


def polished(channel: Floats, reported: Floats, start: Floats, enough: float) -> Floats:
    """Shares under which the reports are most likely, a row of the channel for each of them.

    Args:
        channel: The probabilities of every report, a row for each true cell.
        reported: The share of each report.
        start: Positive shares to begin at.
        enough: The gap to reach.
    """
    shares = np.maximum(start, 1e-6 / start.size)
    shares = shares / shares.sum()
    slack, level = np.ones_like(shares), 2.0
    for _ in range(STEPS):
        expected = np.maximum(shares @ channel, 1e-300)
        gains = channel @ (reported / expected)
        away = level - gains - slack
        if gains.max() - 1 <= enough and np.abs(away).max() <= enough:
            break
        target = 0.1 * float(shares @ slack) / shares.size
        bend = (channel * (reported / expected**2)) @ channel.T
        bend[np.diag_indices_from(bend)] += slack / shares
        right = -away + target / shares - slack
        both = _solved(bend, np.stack([right, np.ones_like(right)], axis=1))
        if both is None:
            break
        turn = (both[:, 0].sum() - (1 - shares.sum())) / both[:, 1].sum()
        move = both[:, 0] - turn * both[:, 1]
        slide = (target - shares * slack - slack * move) / shares
        step = min(_room(shares, move), _room(slack, slide))
        shares, slack, level = shares + step * move, slack + step * slide, level + step * turn
    return np.asarray(shares / shares.sum())


def _room(positive: Floats, move: Floats) -> float:
    """How much of a move keeps everything positive."""
    falling = move < 0
    if not falling.any():
        return 1.0
    return float(min(1.0, INSIDE * (positive[falling] / -move[falling]).min()))


def _solved(matrix: Floats, right: Floats) -> Floats | None:
    """The solution of a system that ought to be positive definite."""
    from scipy.linalg import LinAlgError, solve

    scale = 1 / np.sqrt(np.diag(matrix))
    try:
        found = solve(matrix * np.outer(scale, scale), right * scale[:, None], assume_a="pos")
    except LinAlgError:
        return None
    return np.asarray(found * scale[:, None])
