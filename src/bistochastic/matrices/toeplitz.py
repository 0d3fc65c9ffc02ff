r"""Scaling of kernels that depend on the distance of two ranks only, for millions of ranks.

Such a matrix, $P_{uv} = \exp(f_u + f_v + k_{|u-v|})$, is never formed: a product with it is a
convolution, and away from the two ends every $f_u$ is the same.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from bistochastic.errors import MatrixError, SupportError

__all__ = ["LEAST_LOG", "convolve", "scale_toeplitz", "truncated"]

Floats = NDArray[np.float64]

LEAST_LOG = -690.0  # below 1e-300 of the largest entry, an entry is a zero
DIRECT = 24  # entries of a profile up to which adding shifted copies beats the transform
RELAXATION = 2 / 3  # exponent of a step; see `bistochastic.matrices.scaling.symmetric_rounds`
MOST_ROUNDS = 400
LEAST_MODEL = 1 << 12
ROUNDED = 2e-15  # a defect of row sums that is rounding
FLAT = 2e-15  # how equal the middle of a smaller model must be to stand for a longer middle
LARGEST_DEFECT = 1e-12


def truncated(log_profile: Floats, n: int) -> Floats:
    """The part of a profile that matters: at most n entries, none below 1e-300 of the first."""
    profile = np.asarray(log_profile, dtype=np.float64)[:n]
    kept = np.flatnonzero(profile > profile[0] + LEAST_LOG)
    support: Floats = profile[: int(kept[-1]) + 1].copy()
    return support


def convolve(profile: Floats, vector: Floats) -> Floats:
    r"""The product $\sum_v k_{|u-v|} x_v$ for a profile no longer than the vector.

    >>> convolve(np.array([2.0, 1.0]), np.array([1.0, 0.0, 3.0])).tolist()
    [2.0, 4.0, 6.0]
    """
    return convolution(profile, vector.size)(vector)


def convolution(profile: Floats, n: int) -> Callable[[Floats], Floats]:
    """The same product as a function of the vector, the profile being transformed once."""
    length = profile.size
    if length <= DIRECT:
        return partial(shifted_sum, profile)
    # A circle of n + length - 1 ranks keeps the two ends of the line out of each other's reach.
    around = next_fast_len(n + length - 1, real=True)
    circle = np.zeros(around)
    circle[:length] = profile
    circle[-length + 1 :] = profile[:0:-1]
    spectrum = rfft(circle).real.copy()  # the circle is symmetric, so the rest is rounding

    def product(vector: Floats) -> Floats:
        transform = rfft(vector, around)
        transform *= spectrum
        line: Floats = irfft(transform, around, overwrite_x=True)[:n]
        return line

    return product


def shifted_sum(profile: Floats, vector: Floats) -> Floats:
    """The product with a short profile, one lag after another."""
    total: Floats = profile[0] * vector
    for lag in range(1, profile.size):
        total[lag:] += profile[lag] * vector[:-lag]
        total[:-lag] += profile[lag] * vector[lag:]
    return total


def scale_toeplitz(log_profile: Floats, n: int, *, start: Floats | None = None) -> Floats:
    r"""The potentials f for which exp(f_u + f_v + log_profile[|u-v|]) is bistochastic of size n.

    The profile must not increase; what it lacks up to length n is zero. Long matrices of short
    memory are solved on a shorter line, whose flat middle is then drawn out.

    >>> f = scale_toeplitz(np.log([1.0, 0.5]), 3)
    >>> p = np.exp(f[:, None] + f[None, :]) * [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]
    >>> p.sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0]
    """
    profile = truncated(log_profile, n)
    if (np.diff(profile) > 0).any():
        raise MatrixError(
            f"The profile rises at lag {int(np.argmax(np.diff(profile) > 0)) + 1}. Give one that "
            f"does not increase with the distance, or scale the whole matrix."
        )
    offset = float(profile[0])
    weights = np.exp(profile - offset)
    reach = 2 * int(np.searchsorted(-weights, -1e-20)) + 2
    model = max(LEAST_MODEL, 2 * next_power(reach))
    while 2 * model <= n:
        short = solve(weights[:model], model, None)
        middle = short[model // 4 : -(model // 4)]
        if float(np.ptp(middle)) <= FLAT:
            inner = np.full(n - model, middle.mean())
            ends = model // 2
            return np.concatenate((short[:ends], inner, short[ends:])) - offset / 2
        model *= 2
    whole = None if start is None else start + offset / 2
    return solve(weights, n, whole) - offset / 2


def next_power(number: int) -> int:
    """The least power of two that is no less."""
    return 1 << (number - 1).bit_length()


def solve(weights: Floats, n: int, start: Floats | None) -> Floats:
    """The symmetric iteration on n ranks, kept a mirror image of itself."""
    multiply = convolution(weights, n)
    factors = 1 / np.sqrt(multiply(np.ones(n))) if start is None else np.exp(start)
    factors = (factors + factors[::-1]) / 2
    best, left, idle = factors, np.inf, 0
    for _ in range(MOST_ROUNDS):
        sums = factors * multiply(factors)
        defect = float(np.abs(sums - 1).max())
        idle = idle + 1 if defect > 0.9 * left else 0
        if defect < left:
            best, left = factors, defect
        # Rounding of the transform sets a floor, at which nothing more is gained.
        if left <= ROUNDED or (idle >= 3 and left < LARGEST_DEFECT):
            break
        factors = factors * sums**-RELAXATION
        factors = (factors + factors[::-1]) / 2
    if left > LARGEST_DEFECT:
        raise SupportError(
            f"The scaling came to a halt with a row sum {left:.3g} away from one. Scale the whole "
            f"matrix instead."
        )
    potentials: Floats = np.log(best)
    return potentials
