"""Where the usual methods lie: a numeric key column masked by each, and what that tells of W."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import TableError
from bistochastic.frontier.placing import estimated
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
from bistochastic.tradeoff.function import Tradeoff
from bistochastic.tradeoff.placed import Placed
from bistochastic.tradeoff.problem import Floats

__all__ = ["rivals"]

Masks = Iterator[tuple[str, Floats]]  # a method, and what it makes of x

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
    tridiagonal: Sequence[float] = (0.5,),
    methods: Sequence[str] = ("mdav", "mu-approx"),
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
        tridiagonal: Off-diagonals, for swaps with the next rank.
        methods: Of microaggregation.
        key: The secret; a fresh one unless given.
    """
    x, w = as_numbers(key_column, "The key column"), as_numbers(confidential, "The confidential")
    if x.ndim != 1 or x.shape != w.shape or x.size < 2 or not x.std() or not w.std():
        raise TableError("Both columns need as many numbers as each other, not all the same.")
    secret = _cells(w)
    key = Key.new() if key is None else key
    found = []
    masks = chain(
        _grouped(x, k, methods),
        _moved(x, key, truth, width, tridiagonal),
        _drawn(x, key, beta),
        _noisy(x, w, key, distortion),
    )
    for name, masked in masks:
        error = (x - masked) ** 2 / x.var()
        found.append(estimated(function, name, error, secret, _cells(masked, x)))
    return tuple(found)


def _grouped(x: Floats, k: Sequence[int], methods: Sequence[str]) -> Masks:
    for method in methods:
        for size in k:
            found = microaggregate(x, size, method)
            yield f"{method}, k {size}", found.centroids[found.groups]


def _moved(
    x: Floats, key: Key, truth: Sequence[float], width: Sequence[float], steps: Sequence[float]
) -> Masks:
    """Values change places on their ranks."""
    n = x.size
    matrices: dict[str, Bistochastic] = {
        f"mixture, truth {share:g}": Mixture(n, truth=share) for share in truth
    }
    for step in steps:
        matrices[f"tridiagonal, α {step:g}"] = Tridiagonal(np.full(n - 1, step))
    for share in width:
        matrices[f"rank swapping, {share:g} of the ranks"] = Window(n, max(1, int(share * n)))
    for name, matrix in matrices.items():
        yield name, _plain(permute(x, matrix, key, release=name, column="x"))


def _drawn(x: Floats, key: Key, beta: Sequence[float]) -> Masks:
    for share in beta if x.size <= MOST else ():
        name = f"optimal, beta {share:g}"
        matrix = optimal(ordered=x.size, beta=share)
        yield name, _plain(draw(x, matrix, key, release=name, column="x"))


def _noisy(x: Floats, w: Floats, key: Key, distortion: Sequence[float]) -> Masks:
    for share in distortion:
        name = f"noise, {share:g} of the variance"
        yield name, gaussian_noise(x, share, key, release=name, names=("x",), confidential=w)


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
