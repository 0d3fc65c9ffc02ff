r"""What a report gathers from all true values, without the matrix: column by column, by formula.

Two folds answer every question about posteriors: the sum $\sum_u f(p_{uv})x_u$ and the peak
$\max_u f(p_{uv})x_u$, for every report v. Each structure says here how it folds; what has no
formula is asked as an array, as long as that fits.
"""

from collections.abc import Callable
from functools import reduce, singledispatch
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from bistochastic.matrices.base import Bistochastic, Channel
from bistochastic.matrices.blocks import Blocks
from bistochastic.matrices.checks import DENSE_CELLS, as_line, guard_cells
from bistochastic.matrices.circulant import Circulant
from bistochastic.matrices.dense import Arrayed, Dense
from bistochastic.matrices.ergodic import Ergodic
from bistochastic.matrices.kronecker import Kronecker
from bistochastic.matrices.mixture import Mixture
from bistochastic.matrices.permutation import Permutation
from bistochastic.matrices.stochastic import Stochastic
from bistochastic.matrices.tridiagonal import Tridiagonal
from bistochastic.matrices.window import Window

__all__ = ["gathered", "itself", "legible", "peaks", "surprise"]

Floats = NDArray[np.floating[Any]]
Function = Callable[[Floats], Floats]  # of entries; for peaks it must not fall

LN2 = float(np.log(2.0))
FEW = 64  # steps of a circulant that differ from the rest and are worth taking one by one


def itself(p: Floats) -> Floats:
    """The entry as it is."""
    return p


def surprise(p: Floats) -> Floats:
    r"""$-p\log_2 p$, with $0\log 0=0$."""
    found: Floats = entr(p) / LN2
    return found


def legible(channel: Channel) -> Channel:
    """The channel, or its array where it has no folds of its own; refused where that is too big."""
    if isinstance(channel, Bistochastic):
        return _legible(channel)
    return channel if isinstance(channel, Arrayed) else Stochastic(channel.to_dense())


def _legible(channel: Bistochastic) -> Bistochastic:
    match channel:
        case Kronecker():
            return Kronecker(*(_legible(factor) for factor in channel.factors))
        case Ergodic():
            return Ergodic(_legible(channel.matrix), channel.gamma)
        case Mixture() | Circulant() | Tridiagonal() | Blocks() | Permutation() | Window():
            return channel
        case Dense():
            return channel
    return Dense(np.maximum(channel.to_dense(), 0.0))


def gathered(channel: Channel, x: ArrayLike, of: Function = itself) -> Floats:
    r"""$\sum_u f(p_{uv})x_u$ for every report v, for one vector or several side by side."""
    return _sums(channel, as_line(x, channel.size), of)


def peaks(channel: Channel, x: ArrayLike, of: Function = itself) -> Floats:
    r"""$\max_u f(p_{uv})x_u$ for every report v; x must not be negative, nor f fall.

    >>> peaks(Mixture(3, truth=0.5), [0.5, 0.25, 0.25])
    array([0.25 , 0.125, 0.125])
    """
    return _peaks(channel, as_line(x, channel.size), of)


@singledispatch
def _sums(channel: Channel, x: Floats, of: Function) -> Floats:
    return of(channel.to_dense()).T @ x


@singledispatch
def _peaks(channel: Channel, x: Floats, of: Function) -> Floats:
    array = channel.array if isinstance(channel, Arrayed) else channel.to_dense()
    best = np.zeros((channel.size, *x.shape[1:]))
    for row, weight in zip(array, x, strict=True):  # a turn for each row of an array that fits
        np.maximum(best, np.multiply.outer(of(row), weight), out=best)
    return best


@_sums.register
def _(channel: Arrayed, x: Floats, of: Function) -> Floats:
    return of(channel.array).T @ x


@_sums.register
def _(channel: Mixture, x: Floats, of: Function) -> Floats:
    truth, lie = of(np.array([channel.truth, channel.lie]))
    return lie * (x.sum(axis=0) - x) + truth * x


@_peaks.register
def _(channel: Mixture, x: Floats, of: Function) -> Floats:
    truth, lie = of(np.array([channel.truth, channel.lie]))
    if channel.n == 1:
        return truth * x
    first = x.argmax(axis=0)
    second = np.partition(x, -2, axis=0)[-2]
    others = np.broadcast_to(x.max(axis=0), x.shape).copy()
    np.put_along_axis(others, np.expand_dims(first, 0), np.expand_dims(second, 0), axis=0)
    return np.maximum(truth * x, lie * others)


@_sums.register
def _(channel: Tridiagonal, x: Floats, of: Function) -> Floats:
    never = of(np.zeros(1))[0]
    stay, side = _upright(of(channel.diagonal()), x), _upright(of(channel.alphas), x)
    total = (stay - never) * x
    total[1:] += (side - never) * x[:-1]
    total[:-1] += (side - never) * x[1:]
    return total + never * x.sum(axis=0)


@_peaks.register
def _(channel: Tridiagonal, x: Floats, of: Function) -> Floats:
    stay, side = _upright(of(channel.diagonal()), x), _upright(of(channel.alphas), x)
    best = np.maximum(stay * x, of(np.zeros(1))[0] * x.max(axis=0))
    best[1:] = np.maximum(best[1:], side * x[:-1])
    best[:-1] = np.maximum(best[:-1], side * x[1:])
    return best


@_sums.register
def _(channel: Blocks, x: Floats, of: Function) -> Floats:
    never, inside = of(np.zeros(1))[0], of(1 / channel.sizes)
    sums = np.add.reduceat(x, channel.starts, axis=0)
    folded = _upright(inside - never, x) * sums + never * x.sum(axis=0)
    return np.repeat(folded, channel.sizes, axis=0)


@_peaks.register
def _(channel: Blocks, x: Floats, of: Function) -> Floats:
    inside = _upright(of(1 / channel.sizes), x) * np.maximum.reduceat(x, channel.starts, axis=0)
    folded = np.maximum(inside, of(np.zeros(1))[0] * x.max(axis=0))
    return np.repeat(folded, channel.sizes, axis=0)


@_sums.register
def _(channel: Permutation, x: Floats, of: Function) -> Floats:
    never, always = of(np.array([0.0, 1.0]))
    return (always - never) * x[channel.T.order] + never * x.sum(axis=0)


@_peaks.register
def _(channel: Permutation, x: Floats, of: Function) -> Floats:
    never, always = of(np.array([0.0, 1.0]))
    return np.maximum(always * x[channel.T.order], never * x.max(axis=0))


@_sums.register
def _(channel: Window, x: Floats, of: Function) -> Floats:
    never, near = of(np.array([0.0, 1 / channel.span]))
    own = _upright(of(channel.diagonal()), x)
    low, high = channel.edges(np.arange(channel.n))
    before = np.concatenate((np.zeros((1, *x.shape[1:])), np.cumsum(x, axis=0)))
    around = before[high] - before[low] - x  # the neighbours alone
    return near * around + own * x + never * (x.sum(axis=0) - x - around)


@_peaks.register
def _(channel: Window, x: Floats, of: Function) -> Floats:
    from scipy.ndimage import maximum_filter1d

    never, near = of(np.array([0.0, 1 / channel.span]))
    width = min(channel.width, channel.n - 1)
    around = maximum_filter1d(x, size=2 * width + 1, axis=0, mode="constant", cval=0.0)
    best = np.maximum(near * around, never * x.max(axis=0))
    return np.maximum(best, _upright(of(channel.diagonal()), x) * x)


@_sums.register
def _(channel: Circulant, x: Floats, of: Function) -> Floats:
    law = of(channel.first_row)
    if (x == x[0]).all():
        return np.broadcast_to(law.sum() * x[0], x.shape).copy()
    usual, steps = _unusual(channel.first_row)
    if steps.size <= FEW:
        rest = of(np.array([usual]))[0]
        moved = ((law[step] - rest) * np.roll(x, step, axis=0) for step in steps)
        return sum(moved, start=rest * np.broadcast_to(x.sum(axis=0), x.shape))
    if channel.size**2 <= DENSE_CELLS:
        return of(channel.to_dense()).T @ x
    return _transformed(law, x)


@_peaks.register
def _(channel: Circulant, x: Floats, of: Function) -> Floats:
    law = of(channel.first_row)
    if (x == x[0]).all():
        return np.broadcast_to(law.max() * x[0], x.shape).copy()
    usual, steps = _unusual(channel.first_row)
    if steps.size <= FEW and usual <= channel.first_row.min():
        moved = (law[step] * np.roll(x, step, axis=0) for step in steps)
        least = of(np.array([usual]))[0] * np.broadcast_to(x.max(axis=0), x.shape)
        return reduce(np.maximum, moved, least)
    guard_cells(channel.size**2, "The likeliest truths behind the reports of this circulant")
    best = np.zeros_like(x)
    for step, chance in enumerate(law):
        np.maximum(best, chance * np.roll(x, step, axis=0), out=best)
    return best


@_sums.register
def _(channel: Kronecker, x: Floats, of: Function) -> Floats:
    if of is not itself and of is not surprise:
        return of(channel.to_dense()).T @ x
    # -pq log pq is (-p log p)q + p(-q log q): each factor in turn is the one that surprises.
    plain, surprised = x, np.zeros_like(x)
    for axis in range(len(channel.factors)):
        if of is surprise:
            surprised = _on_axis(channel, axis, surprised, _sums, itself)
            surprised += _on_axis(channel, axis, plain, _sums, surprise)
        plain = _on_axis(channel, axis, plain, _sums, itself)
    return plain if of is itself else surprised


@_peaks.register
def _(channel: Kronecker, x: Floats, of: Function) -> Floats:
    if of is not itself:
        return _peaks(Dense(channel.to_dense()), x, of)
    for axis in range(len(channel.factors)):
        x = _on_axis(channel, axis, x, _peaks, itself)
    return x


@_sums.register
def _(channel: Ergodic, x: Floats, of: Function) -> Floats:
    return _sums(channel.matrix, x, lambda p: of(channel.kept * p + channel.gamma))


@_peaks.register
def _(channel: Ergodic, x: Floats, of: Function) -> Floats:
    return _peaks(channel.matrix, x, lambda p: of(channel.kept * p + channel.gamma))


def _upright(line: NDArray[Any], x: Floats) -> Floats:
    """A line that multiplies each of several vectors that stand side by side."""
    return line.reshape(-1, *[1] * (x.ndim - 1)).astype(np.float64)


def _unusual(row: Floats) -> tuple[float, NDArray[np.intp]]:
    """The value that most steps have, and the steps that have another."""
    values, counts = np.unique(row, return_counts=True)
    usual = float(values[counts.argmax()])
    return usual, np.flatnonzero(row != usual)


def _transformed(law: Floats, x: Floats) -> Floats:
    """The circular sums by Fourier transform; what its rounding could have made counts as zero."""
    from scipy import fft

    gains = fft.rfft(law).reshape(-1, *[1] * (x.ndim - 1))
    sums: Floats = fft.irfft(fft.rfft(x, axis=0) * gains, n=law.size, axis=0)
    rounding = 8 * np.finfo(np.float64).eps * np.sqrt(np.square(law).sum() * np.square(x).sum())
    sums[np.abs(sums) < rounding] = 0.0
    return sums


def _on_axis(
    channel: Kronecker,
    axis: int,
    x: Floats,
    fold: Callable[[Channel, Floats, Function], Floats],
    of: Function,
) -> Floats:
    """One factor folds along its own axis of the table of combinations."""
    table = np.moveaxis(x.reshape(*channel.sizes, -1), axis, 0)
    lines = np.ascontiguousarray(table).reshape(table.shape[0], -1)
    folded = fold(channel.factors[axis], lines, of).reshape(table.shape)
    return np.ascontiguousarray(np.moveaxis(folded, 0, axis)).reshape(x.shape)
