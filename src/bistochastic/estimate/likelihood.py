r"""Likelihood: the true table in the simplex under which the reports are most likely.

$\ell(\pi) = \sum_v \hat\lambda_v \ln(P^\top\pi)_v$ per row. A step of expectation and
maximisation takes $\pi$ to $\pi \circ g$ with $g = P(\hat\lambda / P^\top\pi)$: it never lowers the
likelihood and never leaves the simplex. It is accelerated by squared extrapolation (Varadhan &
Roland 2008), taken only where it raises the likelihood at least as much.

**Certificate.** $\ell$ is concave, so no table in the simplex has a likelihood above that of $\pi$
by more than $\max_u g_u - 1$ a row. That gap, not a number of steps, ends the search; where the
steps are slow and the table is small, those of an interior point method close it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import TableError, TooLargeError
from bistochastic.estimate.axes import Axis, along
from bistochastic.estimate.interior import polished
from bistochastic.estimate.shares import LAID_OUT
from bistochastic.estimate.tally import Tally

__all__ = ["GAP", "Fitted", "fitted"]

Floats = NDArray[Any]

GAP = 1e-6  # log-likelihood, of the whole table, that may be missing at most
WIDE_GAP = 1e-3  # and of a table too large to solve systems of its size
SOLVED = 600  # cells up to which they are solved
PATIENCE = 200  # steps before they are
MOST_STEPS = 20_000  # after which a table is given up, and told as such
FREE = 1e-5  # log-likelihood that meeting the reports exactly would add, and that is nothing


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """The likelihood estimate over the true codes of all axes, and how near it is to the best."""

    shares: Floats  # a table, an axis for each
    levels: Floats  # the same, added up to levels
    log_likelihood: float  # of the whole table, up to what does not depend on the shares
    gap: float  # what a better table could add to it at most
    path: tuple[float, ...]  # the log-likelihood after each step taken

    interior: bool  # whether the reports are met exactly, so that no zero holds the table back


def fitted(tally: Tally, axes: Sequence[Axis]) -> Fitted:
    """The most likely table, from a strictly positive start near the unbiased one.

    >>> from bistochastic import Mixture
    >>> shy = fitted(Tally.from_table([90, 5, 5]), [Axis.of(Mixture(3, truth=0.8))])
    >>> shy.levels.round(4).tolist()
    [1.0, 0.0, 0.0]
    """
    if tally.size > LAID_OUT:
        raise TooLargeError(
            f"A likelihood estimate lays out its table, and this one has {tally.size:.3g} cells, "
            f"more than {LAID_OUT}. Ask for fewer columns, or the unbiased estimate."
        )
    return _Search(tally, axes).run()


@final
class _Search:
    """One search: the reports, the axes, and the likelihood on the way."""

    def __init__(self, tally: Tally, axes: Sequence[Axis]) -> None:
        self.axes = axes
        self.reported = tally.laid_out(tally.shares())
        self.seen = self.reported > 0
        self.told = self.reported[self.seen]
        self.total = tally.total
        self.gap = GAP if self.reported.size <= SOLVED else WIDE_GAP

    def refuse_impossible(self) -> None:
        """Refuse reports that no truth leads to: the channel is not theirs."""
        even = along(self.axes, np.ones(self.reported.shape), lambda axis: axis.forward)
        strange = int((even[self.seen] <= 0).sum())
        if strange:
            raise TableError(
                f"{strange} cells were reported that the channel never reports. The manifest is "
                f"not the one of this table, or the table was changed."
            )

    def start(self) -> Floats:
        """The unbiased table, pushed into the simplex; a uniform one where there is none."""
        size = self.reported.size
        if any(axis.inverse.affine is None and axis.levels.size for axis in self.axes):
            return np.full(self.reported.shape, 1 / size)
        guess = along(self.axes, self.reported, lambda axis: axis.undo)
        return _normal(np.maximum(guess, 1e-3 / size))

    def run(self) -> Fitted:
        """Steps until the certificate holds."""
        self.refuse_impossible()
        shares = self.start()
        value, gains = self.ascent(shares)
        path = [value * self.total]
        stretch = 1.0
        for step in range(MOST_STEPS):
            missing = float(gains.max() - 1) * self.total
            if missing > self.gap and step == PATIENCE and shares.size <= SOLVED:
                shares, value, gains = self._polished(shares, value, gains)
                path.append(value * self.total)
                missing = float(gains.max() - 1) * self.total
            if missing <= self.gap:
                return self._found(shares, path, missing)
            shares, value, gains, stretch = self._step(shares, value, gains, stretch)
            path.append(value * self.total)
        raise TableError(
            f"The likelihood estimate was not found in {MOST_STEPS} steps: up to "
            f"{float(gains.max() - 1) * self.total:.2g} of log-likelihood may be missing. The "
            f"channel hides too much of this table; ask for fewer columns, or the unbiased one."
        )

    def _found(self, shares: Floats, path: list[float], missing: float) -> Fitted:
        most = float(self.told @ np.log(self.told)) * self.total
        levels = along(self.axes, shares, lambda axis: axis.summed)
        free = most - path[-1] <= FREE
        return Fitted(shares, levels, path[-1], max(missing, 0.0), tuple(path), free)

    def ascent(self, shares: Floats) -> tuple[float, Floats]:
        """The log-likelihood a row, and the factor by which each share is to grow."""
        expected = along(self.axes, shares, lambda axis: axis.forward)
        there = np.maximum(expected[self.seen], 1e-300)
        ratios = np.zeros(expected.shape)
        ratios[self.seen] = self.told / there
        gains = along(self.axes, ratios, lambda axis: axis.backward)
        return float(self.told @ np.log(there)), gains

    def _step(
        self, shares: Floats, value: float, gains: Floats, stretch: float
    ) -> tuple[Floats, float, Floats, float]:
        """Two plain steps, and as far beyond them as the likelihood rises."""
        once = _normal(shares * gains)
        _, further = self.ascent(once)
        twice = _normal(once * further)
        first, second = once - shares, twice - 2 * once + shares
        turn = float(np.sqrt((second**2).sum()))
        plain, plain_gains = self.ascent(twice)
        if turn > 0:
            length = max(float(np.sqrt((first**2).sum())) / turn, 1.0)
            length = min(length, 4.0 * stretch)
            tried = shares + 2 * length * first + length**2 * second
            if tried.min() > 0:  # strictly: zeros would never come back
                tried = _normal(tried)
                reached, tried_gains = self.ascent(tried)
                if reached >= plain:
                    return tried, reached, tried_gains, max(stretch, length)
                return twice, plain, plain_gains, max(stretch / 2, 1.0)
            return twice, plain, plain_gains, max(stretch / 2, 1.0)
        return twice, plain, plain_gains, stretch

    def _polished(
        self, shares: Floats, value: float, gains: Floats
    ) -> tuple[Floats, float, Floats]:
        """Newton's steps from here, if they end at a table that is at least as likely."""
        units = np.eye(shares.size).reshape(*shares.shape, -1)
        channel = along(self.axes, units, lambda axis: axis.forward).reshape(shares.size, -1).T
        enough = self.gap / self.total / 2
        found = polished(channel, self.reported.ravel(), shares.ravel(), enough)
        better = found.reshape(shares.shape)
        reached, growth = self.ascent(better)
        return (better, reached, growth) if reached >= value else (shares, value, gains)


def _normal(shares: Floats) -> Floats:
    return np.asarray(shares / shares.sum())
