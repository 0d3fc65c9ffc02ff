r"""Independence: Pearson's test, for a table that was reported through a channel.

The distance from independence is $d_{ij} = \hat\pi_{ij} - \hat\pi_{i\cdot}\hat\pi_{\cdot j}$. What
a report v adds to it is $\psi_{ij}(v) = (Q_{ij} - \hat\pi_{\cdot j} Q_{i\cdot} - \hat\pi_{i\cdot}
Q_{\cdot j} + \hat\pi_{i\cdot}\hat\pi_{\cdot j})_v$, and $d^\top V^{-1} d$ with
$V = \frac1n\sum_v \lambda_v \psi(v)\psi(v)^\top$ is compared with $\chi^2$ of $(r-1)(c-1)$ degrees
of freedom. Where the channel allows, $\lambda$ is that of the independent table with the same
margins; for columns that nobody protected the statistic is then exactly Pearson's.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import TableError
from bistochastic.estimate.axes import Axis, along
from bistochastic.estimate.dispersion import scores
from bistochastic.estimate.tally import Tally

__all__ = ["Independence", "independence"]

Floats = NDArray[Any]


class Independence(NamedTuple):
    """A test of independence: how far the table is from it, and how often chance goes as far."""

    statistic: float
    freedom: int
    p_value: float


def independence(tally: Tally, axes: Sequence[Axis], shape: tuple[int, int]) -> Independence:
    """Whether rows and columns of a table are independent; its levels are rows times columns."""
    r, c = shape
    cells = r * c
    if r < 2 or c < 2:
        raise TableError("Independence needs two columns with at least two levels each.")
    sizes = [axis.count for axis in axes]
    counted = scores(tally, axes, np.eye(cells).reshape(cells, *sizes), every=True)
    reported = tally.laid_out(tally.shares()).ravel()
    estimate = (counted @ reported).reshape(shape)
    rows, columns = estimate.sum(axis=1), estimate.sum(axis=0)
    apart = (estimate - np.outer(rows, columns)).ravel()
    table = counted.reshape(r, c, -1)
    added = (
        table
        - columns[None, :, None] * table.sum(axis=1, keepdims=True)
        - rows[:, None, None] * table.sum(axis=0, keepdims=True)
        + np.outer(rows, columns)[:, :, None]
    ).reshape(cells, -1)
    if tally.squares is not None:
        added = added - apart[:, None]
        weights = tally.laid_out(tally.squared).ravel() / tally.total**2
    else:
        weights = _expected(axes, rows, columns, reported) / tally.rows
    inner = np.arange(cells).reshape(shape)[: r - 1, : c - 1].ravel()
    return _compared(apart[inner], (added[inner] * weights) @ added[inner].T)


def _expected(axes: Sequence[Axis], rows: Floats, columns: Floats, reported: Floats) -> Floats:
    """How reports would be distributed if rows and columns were independent."""
    if any(axis.levels.size for axis in axes):
        return reported  # sums of codes, within which nothing is known
    margins = [np.maximum(part, 0.0) / np.maximum(part, 0.0).sum() for part in (rows, columns)]
    true = np.outer(*margins).reshape([axis.size for axis in axes])
    return along(axes, true, lambda axis: axis.forward).ravel()


def _compared(apart: Floats, spread: Floats) -> Independence:
    """The distance in units of its spread, and the chance of a greater one."""
    from scipy.special import chdtrc

    values, vectors = np.linalg.eigh(spread)
    there = values > 1e-10 * max(float(values.max()), 1e-300)
    turned = vectors[:, there].T @ apart
    statistic, freedom = float((turned**2 / values[there]).sum()), int(there.sum())
    return Independence(statistic, freedom, float(chdtrc(freedom, statistic)))
