r"""Shares: the unbiased estimate of a table and its variance.

$\hat\pi = Q\hat\lambda$ with $Q = (P^\top)^{-1}$, and for rows of weight $w_i$, $W = \sum w_i$,

* sample: $\frac{n}{n-1}\frac1{W^2}\sum_i w_i^2 (Q_{u v_i} - \hat\pi_u)^2$, respondents and masking
  being random; without weights it is the diagonal of
  $Q(\mathrm{diag}\,\hat\lambda - \hat\lambda\hat\lambda^\top)Q^\top/(n-1)$;
* file: $\frac1{W^2}\sum_i w_i^2 (Q_{u v_i}^2 - Q_{u v_i})$, the file being fixed and only the
  masking random; without weights $\frac1n(\sum_v Q_{uv}^2\hat\lambda_v - \hat\pi_u)$. It can be
  negative.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import TooLargeError
from bistochastic.estimate.axes import Axis, along
from bistochastic.estimate.margins import transformed
from bistochastic.estimate.tally import Tally

__all__ = ["LAID_OUT", "Shares", "Variance", "estimated"]

Floats = NDArray[Any]
Variance = Literal["sample", "file"]

LAID_OUT = 1_000_000  # cells of a table up to which all of them are estimated, seen or not


@final
@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Estimated cells, numbered over the levels of the axes with the last one fastest.

    What an interval needs stands beside them: the mean square that a member of the cell reports,
    and that of everybody else.
    """

    sizes: tuple[int, ...]  # levels of each axis
    cells: NDArray[np.int64]
    estimate: Floats
    variance: Floats  # clipped at zero
    clipped: NDArray[np.bool_]  # where the estimate of the variance was negative
    own: Floats  # Σ_v p_uv Q_uv²
    rest: Floats  # the mean of the same over all who are not members
    moment: Floats  # Σ_v Q_uv² λ_v
    rows: int
    total: float
    weighted: bool

    @property
    def complete(self) -> bool:
        """Whether every cell of the table is there."""
        return self.cells.size == np.prod(self.sizes, dtype=object)


def estimated(tally: Tally, axes: Sequence[Axis], *, variance: Variance = "sample") -> Shares:
    """The unbiased shares of all cells or, in a domain too large for that, of those reported.

    >>> from bistochastic import Mixture
    >>> shares = estimated(Tally.from_table([500, 300, 200]), [Axis.of(Mixture(3, truth=0.8))])
    >>> shares.estimate.round(4).tolist()
    [0.5714, 0.2857, 0.1429]
    """
    if tally.size <= LAID_OUT:
        return _of_all(tally, axes, variance)
    if any(axis.affine is None for axis in axes):
        raise TooLargeError(
            f"This table has {tally.size:.3g} cells, more than the {LAID_OUT} that are laid out; "
            f"beyond them only mixtures and columns that passed are undone. Ask for fewer columns."
        )
    return _of_reported(tally, axes, variance)


def _of_all(tally: Tally, axes: Sequence[Axis], variance: Variance) -> Shares:
    """Every cell, acting along the axes of a table."""
    reported = tally.laid_out(tally.shares())
    squares = tally.laid_out(tally.squared)
    estimate = along(axes, reported, lambda axis: axis.undo)
    estimate -= (estimate.sum() - 1) / estimate.size  # shares sum to one, whatever was rounded
    moment = along(axes, reported, lambda axis: axis.squared)
    if tally.squares is None:
        own, each = estimate * tally.total, moment * tally.total
    else:
        own = along(axes, squares, lambda axis: axis.undo)
        each = along(axes, squares, lambda axis: axis.squared)
    spread, every, members = (
        reduce(np.multiply.outer, parts)
        for parts in zip(*((axis.spread(), *axis.whole()) for axis in axes), strict=True)
    )
    rest = (every - members * spread) / np.maximum(tally.size - members, 1)
    cells = np.arange(estimate.size)
    sizes = tuple(axis.count for axis in axes)
    flat = [table.ravel() for table in (estimate, own, each, spread, rest, moment)]
    return _shares(tally, sizes, cells, variance, *flat)


def _of_reported(tally: Tally, axes: Sequence[Axis], variance: Variance) -> Shares:
    """The cells that were reported, by sums over their margins."""
    values = [tally.shares()] + ([] if tally.squares is None else [tally.squared])
    inverses = [axis.affine or (1.0, 0.0) for axis in axes]
    squares = [(own * (own + 2 * each), each**2) for own, each in inverses]
    once, twice = transformed(tally, [inverses, squares], values)
    estimate, moment = once[0], twice[0]
    if tally.squares is None:
        own, each = estimate * tally.total, moment * tally.total
    else:
        own, each = once[1], twice[1]
    # An axis whose inverse is aI + bJ has the same spread for all of its codes.
    spread = np.full(estimate.size, float(np.prod([axis.spread_of_each for axis in axes])))
    every = np.prod([a + b * axis.size for axis, (a, b) in zip(axes, squares, strict=True)])
    rest = (every - spread) / max(tally.size - 1, 1)
    sizes = tuple(axis.count for axis in axes)
    return _shares(tally, sizes, tally.cells, variance, estimate, own, each, spread, rest, moment)


def _shares(
    tally: Tally,
    sizes: tuple[int, ...],
    cells: NDArray[np.int64],
    variance: Variance,
    estimate: Floats,
    own: Floats,
    each: Floats,
    spread: Floats,
    rest: Floats,
    moment: Floats,
) -> Shares:
    """Variances from the sums of squares that a cell reports, by either way of seeing them."""
    total, rows = tally.total, tally.rows
    if variance == "file":
        raw = (each - own) / total**2
    else:
        raw = each - 2 * estimate * own + estimate**2 * tally.squared.sum()
        raw *= rows / max(rows - 1, 1) / total**2
    noise = 1e-12 * each / total**2  # what rounding leaves of a variance that is zero
    clipped = raw < -noise
    kept = np.where(raw > noise, raw, 0.0)
    if rows < 2 and variance == "sample":
        kept = np.full_like(kept, np.nan)
    return Shares(
        sizes,
        cells,
        estimate,
        kept,
        clipped,
        spread,
        rest,
        moment,
        rows,
        total,
        tally.weights is not None,
    )
