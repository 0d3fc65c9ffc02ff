r"""Diffusion: codes change places along the edges of a graph of similarity, for a time t.

$\exp(-tL)$ for a symmetric graph Laplacian L is symmetric and bistochastic for every t ≥ 0. On a
path of ordered codes it is a `Reflected` walk, on a cycle a `Circulant`, on a taxonomy a
`Taxonomy`; any other graph is `Dense` while small and a `Graph` known by its action when large.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft, sparse
from scipy.special import ive

from bistochastic.errors import MatrixError
from bistochastic.matrices.base import Bistochastic, Vector
from bistochastic.matrices.checks import as_size
from bistochastic.matrices.circulant import Circulant
from bistochastic.matrices.dense import Dense
from bistochastic.matrices.graph import Graph
from bistochastic.matrices.reflected import Reflected
from bistochastic.matrices.taxonomy import Taxonomy

__all__ = ["diffusion"]

ASYMMETRY = 1e-12  # relative to the largest entry of the Laplacian
DENSE_GRAPH = 2000  # the largest graph whose exponential is formed as an array
LATE = 2000.0  # from this argument on Bessel's asymptotic series is exact to the last digit


def diffusion(
    laplacian: Any = None,
    *,
    path: int | None = None,
    cycle: int | None = None,
    parents: Mapping[Any, Any] | None = None,
    time: float,
) -> Bistochastic:
    r"""The matrix $\exp(-tL)$ of a graph: a path, a cycle, a taxonomy or any Laplacian.

    Args:
        laplacian: A symmetric matrix, dense or sparse, with rows that sum to zero and no positive
            entry off the diagonal.
        path: The number of ordered codes; neighbours are linked with weight one.
        cycle: The same around a circle.
        parents: A taxonomy as child → parent; the codes are the leaves, in the order given.
        time: How long; 0 changes nothing, ∞ is perfect secrecy on every connected part.

    >>> round(diffusion(path=12, time=1.0).beta, 6)
    0.635009
    """
    given = {"laplacian": laplacian, "path": path, "cycle": cycle, "parents": parents}
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) != 1:
        raise MatrixError(
            f"diffusion needs exactly one of laplacian, path, cycle and parents; got "
            f"{' and '.join(chosen) or 'none'}."
        )
    if not 0 <= time < math.inf:
        raise MatrixError(f"diffusion needs a finite time >= 0; got {time!r}.")
    if path is not None:
        return _path(as_size(path, "diffusion(path=…)"), float(time))
    if cycle is not None:
        return _cycle(as_size(cycle, "diffusion(cycle=…)"), float(time))
    if parents is not None:
        return Taxonomy(parents, time=time)
    return _graph(laplacian, float(time))


def _path(n: int, time: float) -> Reflected:
    law = _circle_law(2 * n, time)[: n + 1]
    law = np.minimum.accumulate(law)
    return Reflected(law / (2 * law.sum() - law[0] - law[-1]))


def _cycle(n: int, time: float) -> Circulant:
    if n <= 2:  # a circle of two is a single edge, of one no edge at all
        stay = (1 + math.exp(-2 * time)) / 2
        return Circulant([1.0] if n == 1 else [stay, 1 - stay])
    law = _circle_law(n, time)
    return Circulant(law / law.sum())


def _circle_law(places: int, time: float) -> Vector:
    """How far a walker gets around a circle of places in a time, each entry to its own precision.

    A short walk is one on the line that goes around once at most, in Bessel's functions. A long
    one has few waves, all entries are of one order, and the cosine transform is precise.
    """
    half = np.arange(places // 2 + 1)
    if places > 6.2 * math.sqrt(2 * time) and places > 2:
        turns = [_line_law(np.abs(half + turn * places), time) for turn in (-1, 0, 1)]
        law = turns[0] + turns[1] + turns[2]
        back = law[1 : places - half[-1]][::-1]
        return np.concatenate((law, back))[:places]
    angles = 2 * np.pi * np.arange(places // 2 + 1) / places
    waves = np.exp(-2 * time * (1 - np.cos(angles)))
    law = fft.irfft(waves, n=places)
    return np.maximum(law, 0.0)


def _line_law(distance: NDArray[np.int64], time: float) -> Vector:
    r"""$e^{-2t} I_k(2t)$, the walk on the whole line; zero where no double could hold it."""
    law = np.zeros(distance.shape)
    near = distance <= _farthest(2 * time)
    law[near] = _bessel(distance[near].astype(np.float64), 2 * time)
    return law


def _bessel(k: Vector, z: float) -> Vector:
    r"""$e^{-z} I_k(z)$ to its last digits."""
    if z <= LATE:
        return np.asarray(ive(k, z), dtype=np.float64)
    radius = np.hypot(k, z)
    # Debye's uniform expansion (NIST DLMF 10.41.3) at p = k / radius.
    q = (k / radius) ** 2
    first = (3 - 5 * q) / (24 * radius)
    second = (81 - 462 * q + 385 * q**2) / (1152 * radius**2)
    third = (30375 - 369603 * q + 765765 * q**2 - 425425 * q**3) / (414720 * radius**3)
    law: Vector = np.exp(-_rate(k, z)) / np.sqrt(2 * np.pi * radius) * (1 + first + second + third)
    return law


def _rate(k: Any, z: float) -> Any:
    """How fast the walk thins out: the exponent of its leading term."""
    return k * np.arcsinh(k / z) - k**2 / (np.hypot(k, z) + z)


def _farthest(z: float) -> int:
    """The distance beyond which the walk is rarer than the smallest double."""
    if z == 0:
        return 0
    high = 1.0
    while _rate(high, z) < 760:
        high *= 2
    low = high / 2
    while high - low > 1:
        middle = (low + high) / 2
        low, high = (middle, high) if _rate(middle, z) < 760 else (low, middle)
    return math.ceil(high)


def _graph(laplacian: Any, time: float) -> Bistochastic:
    matrix = _checked_laplacian(laplacian)
    if matrix.shape[0] > DENSE_GRAPH:
        return Graph(matrix, time=time)
    values, waves = np.linalg.eigh(matrix.toarray())
    spread = (waves * np.exp(-time * np.maximum(values, 0.0))) @ waves.T
    # The constant wave is known exactly; rounding below zero is swept up, margins are kept.
    array = np.maximum((spread + spread.T) / 2, 0.0)
    reachable = sparse.csgraph.connected_components(matrix, directed=False)[1]
    array *= reachable[:, None] == reachable[None, :]
    scale = 1 / np.sqrt(array.sum(axis=1))
    return Dense(array * scale[:, None] * scale[None, :])


def _checked_laplacian(laplacian: ArrayLike) -> Any:
    """A sparse Laplacian, or a refusal that says what is wrong with it."""
    try:
        matrix = sparse.csr_matrix(laplacian, dtype=np.float64)
    except (TypeError, ValueError):
        raise MatrixError("A Laplacian must be a matrix of numbers.") from None
    if matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
        raise MatrixError(f"A Laplacian must be square; got shape {matrix.shape}.")
    if not np.isfinite(matrix.data).all():
        raise MatrixError("A Laplacian must not hold NaN or infinite entries.")
    scale = float(np.abs(matrix.data).max(initial=0.0))
    if abs(matrix - matrix.T).max() > ASYMMETRY * scale:
        raise MatrixError("A Laplacian must be symmetric; this one is not.")
    links = matrix.tocoo()
    if (links.data[links.row != links.col] > 0).any():
        raise MatrixError("A Laplacian has no positive entries off its diagonal; this one does.")
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    if np.abs(sums).max() > 1e-9 * max(scale, 1e-300):
        raise MatrixError(
            f"The rows of a Laplacian sum to zero; row {int(np.abs(sums).argmax())} sums to "
            f"{sums[np.abs(sums).argmax()]:.6g}."
        )
    return matrix
