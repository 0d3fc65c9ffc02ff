"""Where the usual methods lie: a numeric key column masked by each, and what that tells of W."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import TableError
from bistochastic.keystream import Key
from bistochastic.masking.microaggregation import microaggregate
from bistochastic.masking.noise import gaussian_noise
from bistochastic.masking.numeric import draw, permute
from bistochastic.matrices.base import Bistochastic
from bistochastic.matrices.checks import as_numbers
from bistochastic.matrices.mixture import Mixture
from bistochastic.matrices.optimal import optimal
from bistochastic.matrices.tridiagonal import Tridiagonal
from bistochastic.matrices.window import Window
from bistochastic.planes import estimated
from bistochastic.tradeoff.function import Tradeoff
from bistochastic.tradeoff.placed import Placed
from bistochastic.tradeoff.problem import Floats

__all__ = ["rivals"]

INTERVAL = 0.15  # standard deviations, the cells of the papers' figures
MOST = 3000  # records up to which the optimal matrix over them is made


def rivals(
    key_column: ArrayLike,
    confidential: ArrayLike,
    function: Tradeoff,
    *,
    k: Sequence[int] = (3, 10, 100),
    truth: Sequence[float] = (0.9, 0.7, 0.5),
    width: Sequence[float] = (0.02, 0.05, 0.15),
    beta: Sequence[float] = (0.3, 0.6, 0.9),
    distortion: Sequence[float] = (0.1, 0.3, 0.6),
    key: Key | None = None,
) -> tuple[Placed, ...]:
    """MDAV, μ-Approx, mixture, tridiagonal, rank swapping, optimal and noise, each with its error.

    The distortion is the mean squared error in units of the variance. The risk is I(W; X̂), both in
    cells of 0.15 standard deviations where they have more values than that.

    Args:
        key_column: The numbers that are masked.
        confidential: The numbers that they tell of.
        function: The trade-off of the same two, squared distances in units of the variance.
        k: Sizes of groups, for MDAV and μ-Approx.
        truth: How many are told true, for a mixture on the ranks.
        width: Shares of the ranks, for rank swapping.
        beta: Budgets, for the optimal matrix over ranks, up to some thousand records.
        distortion: Shares of the variance, for noise.
        key: The secret; a fresh one unless given.
    """
    x, w = as_numbers(key_column, "The key column"), as_numbers(confidential, "The confidential")
    if x.ndim != 1 or x.shape != w.shape or x.size < 2 or not x.std() or not w.std():
        raise TableError("Both columns need as many numbers as each other, not all the same.")
    secret = _cells(w)
    key = Key.new() if key is None else key
    found = []
    for name, masked in _masked(x, w, key, k, truth, width, beta, distortion):
        error = (x - masked) ** 2 / x.var()
        found.append(estimated(function, name, error, secret, _cells(masked, x)))
    return tuple(found)


def _masked(
    x: Floats,
    w: Floats,
    key: Key,
    k: Sequence[int],
    truth: Sequence[float],
    width: Sequence[float],
    beta: Sequence[float],
    distortion: Sequence[float],
) -> Iterator[tuple[str, Floats]]:
    """Each method with what it makes of x."""
    n = x.size
    for method in ("mdav", "mu-approx"):
        for size in k:
            found = microaggregate(x, size, method)
            yield f"{method}, k {size}", found.centroids[found.groups]
    for share in truth:
        name = f"mixture, truth {share:g}"
        yield name, _moved(x, Mixture(n, truth=share), key, name)
    yield "tridiagonal, α 0.5", _moved(x, Tridiagonal(np.full(n - 1, 0.5)), key, "tridiagonal")
    for share in width:
        name = f"rank swapping, {share:g} of the ranks"
        yield name, _moved(x, Window(n, max(1, int(share * n))), key, name)
    for share in beta if n <= MOST else ():
        name = f"optimal, beta {share:g}"
        matrix = optimal(ordered=n, beta=share)
        yield name, _plain(draw(x, matrix, key, release=name, column="x"))
    for share in distortion:
        name = f"noise, {share:g} of the variance"
        yield name, gaussian_noise(x, share, key, release=name, names=("x",), confidential=w)


def _moved(x: Floats, matrix: Bistochastic, key: Key, name: str) -> Floats:
    return _plain(permute(x, matrix, key, release=name, column="x"))


def _plain(values: NDArray[Any]) -> Floats:
    return np.asarray(values, dtype=np.float64)


def _cells(values: Floats, like: Floats | None = None) -> NDArray[np.int64]:
    """Codes of values: each its own if they are few, else cells of one width."""
    spread = (values if like is None else like).std()
    cells: NDArray[np.int64] = np.floor(values / (INTERVAL * spread)).astype(np.int64)
    distinct, codes = np.unique(values, return_inverse=True)
    few = np.unique(cells)
    if distinct.size <= few.size:
        return codes.astype(np.int64)
    return np.unique(cells, return_inverse=True)[1].astype(np.int64)
