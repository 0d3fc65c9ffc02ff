"""Which matrices a plan can name, what each needs, and how it is made."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from bistochastic.errors import MatrixError
from bistochastic.matrices.base import Channel
from bistochastic.matrices.blocks import Blocks, secrecy
from bistochastic.matrices.calibration import calibrate
from bistochastic.matrices.circulant import Circulant
from bistochastic.matrices.dense import Dense
from bistochastic.matrices.diffusion import diffusion
from bistochastic.matrices.mixture import Mixture
from bistochastic.matrices.stochastic import Stochastic, invariant
from bistochastic.matrices.tridiagonal import Tridiagonal
from bistochastic.matrices.window import Window
from bistochastic.tradeoff.function import tradeoff

__all__ = ["FAMILIES", "LARGEST_DISTANCES", "Family", "made"]

LARGEST_DISTANCES = 3000  # codes whose distances to each other are laid out as a table

Targets = Mapping[str, Any]  # numbers by name
Shape = Mapping[str, Any]


@final
@dataclass(frozen=True, slots=True)
class Family:
    """A matrix that a plan can name."""

    says: str  # what it does to a value, for people
    ordered: bool = False  # whether neighbouring codes must be alike
    targets: bool = False  # whether it is calibrated
    shape: tuple[str, ...] = ()  # parameters that fix it instead
    options: tuple[str, ...] = ()  # parameters beside a target
    product: bool = False  # whether it makes sense on a product of domains
    doubly: bool = True  # whether it is bistochastic, as ranks need it


FAMILIES: dict[str, Family] = {
    "mixture": Family("the truth, or any other value", targets=True, product=True),
    "secrecy": Family("anything, whatever the truth", product=True),
    "tridiagonal": Family(
        "stay, or one step to a neighbour", ordered=True, targets=True, shape=("alphas",)
    ),
    "window": Family(
        "anyone within some ranks", ordered=True, targets=True, shape=("width", "width_share")
    ),
    "blocks": Family(
        "anyone of the same block", targets=True, shape=("sizes",)
    ),
    "diffusion": Family(
        "wander along what is similar",
        ordered=True, targets=True, shape=("time",), options=("parents",),
    ),
    "optimal": Family(
        "as near as the bits allow", ordered=True, targets=True, options=("power",)
    ),
    "circulant": Family("a random step around a circle of codes", shape=("first_row",)),
    "dense": Family("as the given bistochastic array says", shape=("array",), product=True),
    "stochastic": Family(
        "as the given array says (PRAM)", shape=("array",), product=True, doubly=False
    ),
    "invariant": Family(
        "a mixture that keeps the given distribution (invariant PRAM)", targets=True, doubly=False
    ),
    "optimal-tradeoff": Family(
        "as little told of the confidential as the distortion allows",
        shape=("distortion", "multiplier"), options=("joint", "distances", "parents"),
        product=True, doubly=False,
    ),
}  # fmt: skip


def made(name: str, n: int, targets: Targets, shape: Shape, prior: Any = None) -> Channel:
    """The matrix of a family and size that meets the targets, or has the shape.

    >>> made("mixture", 3, {"truth": 0.8}, {}).truthfulness.mean
    0.8
    """
    if name in MAKERS:
        return MAKERS[name](n, targets, shape, prior)
    extra = {key: value for key, value in shape.items() if key in FAMILIES[name].options}
    return calibrate(name, n, **targets, **extra, prior=prior)


def _sized(n: int, matrix: Channel) -> Channel:
    if matrix.size != n:
        raise MatrixError(f"what is given has size {matrix.size}, but {n} is needed")
    return matrix


def _tridiagonal(n: int, targets: Targets, shape: Shape, prior: Any) -> Channel:
    if "alphas" in shape:
        return _sized(n, Tridiagonal(shape["alphas"]))
    return calibrate("tridiagonal", n, **targets, prior=prior)


def _window(n: int, targets: Targets, shape: Shape, prior: Any) -> Channel:
    if "width" in shape:
        return Window(n, shape["width"])
    if "width_share" in shape:
        return Window(n, max(1, math.floor(shape["width_share"] * n)) if n > 1 else 0)
    return calibrate("window", n, **targets, prior=prior)


def _blocks(n: int, targets: Targets, shape: Shape, prior: Any) -> Channel:
    if "sizes" in shape:
        return _sized(n, Blocks(shape["sizes"]))
    return calibrate("blocks", n, **targets, prior=prior)


def _diffusion(n: int, targets: Targets, shape: Shape, prior: Any) -> Channel:
    parents = shape.get("parents")
    if "time" in shape:
        graph = {"path": n} if parents is None else {"parents": parents}
        return _sized(n, diffusion(**graph, time=shape["time"]))
    graph = {} if parents is None else {"parents": parents}
    return _sized(n, calibrate("diffusion", n, **graph, **targets, prior=prior))


def _invariant(n: int, targets: Targets, shape: Shape, prior: Any) -> Channel:
    if prior is None:
        raise MatrixError("an invariant matrix needs the distribution to keep, as prior")
    if set(targets) - {"truth"}:
        raise MatrixError("an invariant matrix is asked for by truth, that of its mixture")
    return invariant(Mixture(n, truth=targets["truth"]), prior)


def _tradeoff(n: int, targets: Targets, shape: Shape, prior: Any) -> Channel:
    if "joint" not in shape:
        raise MatrixError("an optimal trade-off needs the joint table that it is optimal for")
    widths = {len(row) for row in shape["joint"]}
    if widths != {n}:
        raise MatrixError(
            f"each row of the joint table needs a number for each of {n} categories, missing "
            f"included where it is one; rows have {', '.join(map(str, sorted(widths)))}"
        )
    costs = shape["parents"] if "parents" in shape else shape.get("distances", "hamming")
    asked = {name: shape[name] for name in ("distortion", "multiplier") if name in shape}
    return _sized(n, tradeoff(shape["joint"], costs, units="bits").channel(**asked))


MAKERS: dict[str, Callable[[int, Targets, Shape, Any], Channel]] = {
    "secrecy": lambda n, targets, shape, prior: secrecy(n),
    "tridiagonal": _tridiagonal,
    "window": _window,
    "blocks": _blocks,
    "diffusion": _diffusion,
    "circulant": lambda n, targets, shape, prior: _sized(n, Circulant(shape["first_row"])),
    "dense": lambda n, targets, shape, prior: _sized(n, Dense(shape["array"])),
    "stochastic": lambda n, targets, shape, prior: _sized(n, Stochastic(shape["array"])),
    "invariant": _invariant,
    "optimal-tradeoff": _tradeoff,
}


def additive_distances(sizes: list[int], ordinal: list[bool]) -> Any:
    """Distances on a product of domains: steps between ordered codes, one for any other change."""
    if math.prod(sizes) > LARGEST_DISTANCES:
        raise MatrixError(
            f"distances over {math.prod(sizes)} combinations are too many; up to "
            f"{LARGEST_DISTANCES} are laid out. Choose a mixture"
        )
    codes = np.indices(sizes).reshape(len(sizes), -1)
    apart = np.abs(codes[:, :, None] - codes[:, None, :])
    return sum(gap if ordered else gap > 0 for gap, ordered in zip(apart, ordinal, strict=True))
