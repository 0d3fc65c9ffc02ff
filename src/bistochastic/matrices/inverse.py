r"""The squares of the inverse, which the variance of every estimate is made of.

With $Q=(P^\top)^{-1}$ an estimate is $\hat\pi = Q\hat\lambda$, and its variance needs
$\sum_v Q_{uv}^2\lambda_v$ for every u. Each structure says here how it folds its inverse; the
others are solved for as many columns at a time as fit.
"""

import math
from collections.abc import Iterator
from functools import partial, singledispatch
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft
from scipy.linalg import lapack, solve_banded

from bistochastic.errors import TooLargeError
from bistochastic.matrices.base import HOPELESS, Channel, refuse_singular
from bistochastic.matrices.blocks import Blocks
from bistochastic.matrices.checks import as_line
from bistochastic.matrices.circulant import Circulant
from bistochastic.matrices.ergodic import Ergodic
from bistochastic.matrices.kronecker import Kronecker
from bistochastic.matrices.mixture import Mixture
from bistochastic.matrices.permutation import Permutation
from bistochastic.matrices.tridiagonal import Tridiagonal

__all__ = ["inverse_columns", "inverse_squares"]

Floats = NDArray[np.floating[Any]]

INVERTED = 2000  # below this an inverse is formed whole
COLUMNS = 1 << 21  # cells of an inverse that are formed at a time
MOST = 50_000  # categories up to which its columns are formed at all: minutes beyond


def inverse_squares(channel: Channel, x: ArrayLike) -> Floats:
    r"""$(Q\circ Q)x$ with $Q=(P^\top)^{-1}$, for one vector or several side by side.

    >>> inverse_squares(Mixture(2, truth=0.75), [0.5, 0.5])
    array([1.25, 1.25])
    """
    return _squares(channel, as_line(x, channel.size))


def inverse_columns(channel: Channel) -> Iterator[tuple[NDArray[np.int64], Floats]]:
    """Some reports at a time, and their columns of Q: what each counts for in every estimate."""
    n = channel.size
    if n > MOST:
        raise TooLargeError(
            f"The inverse of this channel has no formula, and its {n} columns are more than the "
            f"{MOST} that are solved for one by one. Take fewer categories, or a family whose "
            f"inverse has one."
        )
    width = max(COLUMNS // n, 1)
    for start in range(0, n, width):
        codes = np.arange(start, min(start + width, n))
        units = np.zeros((n, codes.size))
        units[codes, np.arange(codes.size)] = 1.0
        yield codes, channel.rsolve(units)


@singledispatch
def _squares(channel: Channel, x: Floats) -> Floats:
    if channel.size <= INVERTED:
        refuse_singular(channel)
        return np.square(np.linalg.inv(channel.to_dense().T)) @ x
    total = np.zeros(x.shape)
    for codes, part in inverse_columns(channel):
        total += np.square(part) @ x[codes]
    return total


@_squares.register
def _(channel: Mixture, x: Floats) -> Floats:
    refuse_singular(channel)
    keep = channel.truth - channel.lie
    own, other = (1 - channel.lie) / keep, -channel.lie / keep
    return own**2 * x + other**2 * (x.sum(axis=0) - x)


@_squares.register
def _(channel: Permutation, x: Floats) -> Floats:
    return channel.matvec(x)


@_squares.register
def _(channel: Blocks, x: Floats) -> Floats:
    refuse_singular(channel)
    return x.copy()  # all blocks have size one, or it were singular


@_squares.register
def _(channel: Circulant, x: Floats) -> Floats:
    unit = np.zeros(channel.size)
    unit[0] = 1.0
    squares = np.square(channel.solve(unit))  # one column of an inverse that is a circulant too
    gains = fft.rfft(squares).conj().reshape(-1, *[1] * (x.ndim - 1))
    folded: Floats = fft.irfft(fft.rfft(x, axis=0) * gains, n=channel.size, axis=0)
    return folded


@_squares.register
def _(channel: Kronecker, x: Floats) -> Floats:
    return channel.along_axes(x, [partial(_squares, factor) for factor in channel.factors])


@_squares.register
def _(channel: Ergodic, x: Floats) -> Floats:
    if channel.kept <= channel.size * np.finfo(np.float64).eps:
        refuse_singular(channel, math.inf)
    # The inverse is (Q - γJ)/κ, for a bistochastic matrix leaves J as it is.
    crossed = 2 * channel.gamma * channel.matrix.rsolve(x)
    squares = _squares(channel.matrix, x) - crossed + channel.gamma**2 * x.sum(axis=0)
    return squares / channel.kept**2


@_squares.register
def _(channel: Tridiagonal, x: Floats) -> Floats:
    if channel.size < 3:
        refuse_singular(channel)
        return np.square(np.linalg.inv(channel.to_dense())) @ x
    stay, side = channel.diagonal(), channel.alphas
    down, fall, failed = lapack.dpttrf(stay, side)
    up, rise, failed_too = lapack.dpttrf(stay[::-1], side[::-1])
    if failed or failed_too:  # not positive definite: no pivots to rely on
        by_columns: Floats = _squares.dispatch(object)(channel, x)
        return by_columns
    # Away from the diagonal a column of the inverse falls by the factors of the elimination.
    diagonal = 1 / (down + up[::-1] - stay)
    if diagonal.max() >= HOPELESS:
        refuse_singular(channel, math.inf)
    before, after = _faded(fall, x), _faded(rise, x[::-1])[::-1]
    return np.square(diagonal).reshape(-1, *[1] * (x.ndim - 1)) * (before + x + after)


def _faded(factors: Floats, x: Floats) -> Floats:
    r"""The sums $s_u = f_{u-1}^2(s_{u-1}+x_{u-1})$, as a system with two diagonals."""
    squares = np.square(factors)
    bands = np.ones((2, x.shape[0]))
    bands[1, :-1] = -squares
    right = np.zeros(x.shape)
    right[1:] = squares.reshape(-1, *[1] * (x.ndim - 1)) * x[:-1]
    solved: Floats = solve_banded((1, 0), bands, right)
    return solved
