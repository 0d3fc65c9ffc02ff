"""Strategies that draw structures, for everyone who adds one or builds on them.

Every structure enters the laws through `structures()`: one line here, and all of them are held
against it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from bistochastic.matrices.base import Bistochastic
from bistochastic.matrices.birkhoff import Birkhoff
from bistochastic.matrices.blocks import Blocks, secrecy
from bistochastic.matrices.circulant import Circulant
from bistochastic.matrices.combination import Combination
from bistochastic.matrices.composition import Composed
from bistochastic.matrices.dense import Dense
from bistochastic.matrices.diffusion import diffusion
from bistochastic.matrices.kronecker import Kronecker
from bistochastic.matrices.mixture import Mixture, identity
from bistochastic.matrices.optimal import Ordered
from bistochastic.matrices.permutation import Permutation
from bistochastic.matrices.reflected import Reflected
from bistochastic.matrices.stochastic import Stochastic
from bistochastic.matrices.taxonomy import Taxonomy
from bistochastic.matrices.tridiagonal import Tridiagonal
from bistochastic.matrices.window import Window

__all__ = ["distributions", "leaves", "of_size", "stochastic", "structures", "vectors"]

Draw = st.DrawFn
SIZES = st.integers(1, 9)


@st.composite
def distributions(draw: Draw, n: int, *, zeros: bool = True) -> NDArray[np.float64]:
    """A probability vector with few distinct values, some of them zero if allowed."""
    weights = draw(st.lists(st.integers(0 if zeros else 1, 12), min_size=n, max_size=n))
    parts = np.array(weights, dtype=np.float64)
    if not parts.any():
        parts[draw(st.integers(0, n - 1))] = 1.0
    return parts / parts.sum()


@st.composite
def vectors(draw: Draw, n: int) -> NDArray[np.float64]:
    """A vector of moderate numbers, negative ones and zeros too."""
    numbers = st.floats(-100, 100, allow_nan=False, allow_subnormal=False)
    return np.array(draw(st.lists(numbers, min_size=n, max_size=n)))


@st.composite
def orders(draw: Draw, n: int) -> NDArray[np.int64]:
    """A permutation of 0 … n-1."""
    return np.array(draw(st.permutations(range(n))), dtype=np.int64)


@st.composite
def _mixture(draw: Draw, n: int) -> Bistochastic:
    return Mixture(n, truth=draw(st.floats(0, 1)) if n > 1 else 1.0)


@st.composite
def _circulant(draw: Draw, n: int) -> Bistochastic:
    return Circulant(draw(distributions(n)))


@st.composite
def _tridiagonal(draw: Draw, n: int) -> Bistochastic:
    steps = draw(st.lists(st.integers(0, 64), min_size=n - 1, max_size=n - 1))
    alphas = np.array(steps, dtype=np.float64) / 128
    if n > 1 and draw(st.booleans()):
        alphas[::2] *= 2  # neighbours may then sum to more than one half, up to one and a half
        alphas[1::2] = np.minimum(alphas[1::2], 1 - np.append(alphas, 0)[::2][: len(alphas[1::2])])
        alphas[1:-1:2] = np.minimum(alphas[1:-1:2], 1 - alphas[2::2])
    return Tridiagonal(alphas)


@st.composite
def _blocks(draw: Draw, n: int) -> Bistochastic:
    cuts = sorted(draw(st.sets(st.integers(1, n - 1)))) if n > 1 else []
    return Blocks(np.diff([0, *cuts, n]))


@st.composite
def _permutation(draw: Draw, n: int) -> Bistochastic:
    return Permutation(draw(orders(n)))


@st.composite
def _window(draw: Draw, n: int) -> Bistochastic:
    return Window(n, width=draw(st.integers(0, n + 3)))


@st.composite
def _birkhoff(draw: Draw, n: int) -> Bistochastic:
    terms = draw(st.integers(1, 5))
    return Birkhoff(draw(distributions(terms)), [draw(orders(n)) for _ in range(terms)])


@st.composite
def _dense(draw: Draw, n: int) -> Bistochastic:
    return Dense(draw(_birkhoff(n)).to_dense())


@st.composite
def _reflected(draw: Draw, n: int) -> Bistochastic:
    falls = draw(st.lists(st.integers(0, 6), min_size=n + 1, max_size=n + 1))
    law = np.cumsum(falls[::-1])[::-1].astype(np.float64)
    law[0] += 1
    return Reflected(law / (2 * law.sum() - law[0] - law[-1]))


@st.composite
def _diffusion(draw: Draw, n: int) -> Bistochastic:
    time = draw(st.sampled_from([0.0, 0.05, 0.3, 1.0, 4.0, 60.0]))
    where = draw(st.sampled_from(["path", "cycle", "graph"]))
    if where == "path":
        return diffusion(path=n, time=time)
    if where == "cycle":
        return diffusion(cycle=n, time=time)
    links = np.triu(
        np.array(draw(st.lists(st.integers(0, 2), min_size=n * n, max_size=n * n))).reshape(n, n), 1
    )
    links = links + links.T
    return diffusion(laplacian=np.diag(links.sum(axis=0)) - links, time=time)


@st.composite
def _taxonomy(draw: Draw, n: int) -> Bistochastic:
    """A random forest: every inner node takes in at least one leaf, so that n leaves remain."""
    inner = draw(st.integers(1, n))
    parents: dict[str, str] = {}
    for leaf in range(n):
        above = leaf if leaf < inner else draw(st.integers(0, inner - 1))
        parents[f"leaf {leaf}"] = f"node {above}"
    for node in range(1, inner):
        if draw(st.integers(0, 4)):
            parents[f"node {node}"] = f"node {draw(st.integers(0, node - 1))}"
    keys = draw(st.permutations(list(parents)))
    return Taxonomy({key: parents[key] for key in keys}, time=draw(st.sampled_from([0, 0.1, 1, 3])))


@st.composite
def _ordered(draw: Draw, n: int) -> Bistochastic:
    temperature = draw(st.sampled_from([0.3, 2.0, 20.0]))
    return Ordered(n, temperature=temperature, power=draw(st.sampled_from([1.0, 2.0])))


LEAVES: dict[str, Callable[[int], st.SearchStrategy[Bistochastic]]] = {
    "birkhoff": _birkhoff,
    "blocks": _blocks,
    "circulant": _circulant,
    "dense": _dense,
    "diffusion": _diffusion,
    "identity": lambda n: st.just(identity(n)),
    "mixture": _mixture,
    "ordered": _ordered,
    "permutation": _permutation,
    "reflected": _reflected,
    "secrecy": lambda n: st.just(secrecy(n)),
    "taxonomy": _taxonomy,
    "tridiagonal": _tridiagonal,
    "window": _window,
}


@st.composite
def leaves(draw: Draw, n: int) -> Bistochastic:
    """A structure that is not made of others, of a given size."""
    return draw(LEAVES[draw(st.sampled_from(sorted(LEAVES)))](n))


@st.composite
def of_size(draw: Draw, n: int, *, depth: int = 2) -> Bistochastic:
    """Any structure of a given size, nested ones too."""
    kind = draw(st.sampled_from(["leaf", "composed", "combination", "ergodic", "kronecker", "T"]))
    if depth == 0 or kind == "leaf":
        return draw(leaves(n))
    inner = of_size(n, depth=depth - 1)
    if kind == "composed":
        return Composed(draw(inner), draw(inner))
    if kind == "combination":
        return Combination(draw(distributions(2)), [draw(inner), draw(inner)])
    if kind == "ergodic":
        return draw(inner).ergodic(draw(st.sampled_from([0.0, 0.25, 0.5, 1.0])) / n)
    if kind == "T":
        return draw(inner).T
    left = draw(st.sampled_from([m for m in range(1, n + 1) if n % m == 0]))
    return Kronecker(draw(of_size(left, depth=0)), draw(of_size(n // left, depth=0)))


@st.composite
def structures(draw: Draw, sizes: st.SearchStrategy[int] = SIZES) -> Bistochastic:
    """Any bistochastic structure, simple or nested, of any size drawn."""
    return draw(of_size(draw(sizes)))


@st.composite
def stochastic(draw: Draw, sizes: st.SearchStrategy[int] = SIZES) -> Any:
    """A right-stochastic channel whose columns need not sum to one."""
    n = draw(sizes)
    return Stochastic([draw(distributions(n)) for _ in range(n)])
