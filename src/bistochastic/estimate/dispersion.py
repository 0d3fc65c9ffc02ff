r"""Dispersion: how the errors of several estimates go together.

A sum of levels $c^\top\hat\pi$ is the mean over the rows of $h(v) = (Q^\top c)_v$, so that the
covariance of several sums follows from their h alone; for single cells it is the dispersion matrix,
$Q(\mathrm{diag}\,\hat\lambda - \hat\lambda\hat\lambda^\top)Q^\top/(n-1)$ without weights.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import TooLargeError
from bistochastic.estimate.axes import Axis, along
from bistochastic.estimate.shares import LAID_OUT, Variance
from bistochastic.estimate.tally import Tally
from bistochastic.matrices.checks import DENSE_CELLS

__all__ = ["DISPERSED", "Sums", "dispersed", "scores", "sums"]

Floats = NDArray[Any]

DISPERSED = 2000  # cells up to which the whole dispersion matrix is formed


class Sums(NamedTuple):
    """Estimates of several sums of cells, and their covariance."""

    estimate: Floats
    covariance: Floats


def sums(
    tally: Tally, axes: Sequence[Axis], wanted: Floats, *, variance: Variance = "sample"
) -> Sums:
    """Sums of cells with their covariance; each is a table of how often a level counts.

    >>> import numpy as np
    >>> from bistochastic import Mixture
    >>> found = sums(Tally.from_table([50, 30, 20]), [Axis.of(Mixture(3, truth=0.8))],
    ...              np.ones((1, 3)))
    >>> found.estimate.round(9).tolist(), found.covariance.round(9).tolist()
    ([1.0], [[0.0]])
    """
    counted = scores(tally, axes, wanted)
    estimate = counted @ tally.shares()
    squared, total, rows = tally.squared, tally.total, tally.rows
    each = (counted * squared) @ counted.T
    if variance == "file":
        there = along(axes, tally.laid_out(squared), lambda axis: axis.undo).ravel()
        flat = wanted.reshape(wanted.shape[0], -1)
        return Sums(estimate, (each - (flat * there) @ flat.T) / total**2)
    own = counted @ squared
    both = np.outer(estimate, own)
    middle = each - both - both.T + squared.sum() * np.outer(estimate, estimate)
    if rows < 2:
        return Sums(estimate, np.full_like(middle, np.nan))
    return Sums(estimate, middle * rows / (rows - 1) / total**2)


def scores(tally: Tally, axes: Sequence[Axis], wanted: Floats, *, every: bool = False) -> Floats:
    """What each report that occurs, or each that could, counts for in each sum of levels."""
    cells = tally.size if every else tally.cells.size
    if tally.size > LAID_OUT or wanted.shape[0] * max(tally.size, cells) > DENSE_CELLS:
        raise TooLargeError(
            f"{wanted.shape[0]} sums over a table of {tally.size:.3g} cells are too many at once. "
            f"Ask for fewer columns."
        )
    sideways = np.moveaxis(wanted, 0, -1)
    lines = along(axes, sideways, lambda axis: axis.transposed)
    flat = lines.reshape(-1, wanted.shape[0]).T
    return np.asarray(flat if every else flat[:, tally.cells])


def dispersed(tally: Tally, axes: Sequence[Axis], *, variance: Variance = "sample") -> Floats:
    """The dispersion matrix of all cells, refused where there are more than a few thousand."""
    sizes = [axis.count for axis in axes]
    cells = int(np.prod(sizes, dtype=object))
    if cells > DISPERSED:
        raise TooLargeError(
            f"The dispersion matrix of {cells:.3g} cells is not formed; it is up to {DISPERSED} of "
            f"them. Ask for fewer columns, or for the difference or ratio you need."
        )
    return sums(tally, axes, np.eye(cells).reshape(cells, *sizes), variance=variance).covariance
