"""Closed forms: a matrix as the few numbers that say which one it is, for a manifest.

What is written is JSON and exact: a double is written so that it is read back to the last bit, and
long runs of one number are told as such, so that a matrix over ten million records is a short line.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from bistochastic.errors import MatrixError
from bistochastic.matrices.base import Channel
from bistochastic.matrices.birkhoff import Birkhoff
from bistochastic.matrices.blocks import Blocks
from bistochastic.matrices.circulant import Circulant
from bistochastic.matrices.combination import Combination
from bistochastic.matrices.composition import Composed
from bistochastic.matrices.dense import Dense
from bistochastic.matrices.diffusion import diffusion
from bistochastic.matrices.ergodic import Ergodic
from bistochastic.matrices.graph import Graph
from bistochastic.matrices.kronecker import Kronecker
from bistochastic.matrices.mixture import Mixture
from bistochastic.matrices.optimal import Ordered
from bistochastic.matrices.permutation import Permutation
from bistochastic.matrices.reflected import Reflected
from bistochastic.matrices.stochastic import Stochastic
from bistochastic.matrices.taxonomy import Taxonomy
from bistochastic.matrices.tridiagonal import Tridiagonal
from bistochastic.matrices.window import Window

__all__ = ["described", "rebuilt"]

Closed = dict[str, Any]


def described(matrix: Channel) -> Closed:
    """Which matrix this is, as JSON; `rebuilt` makes it again.

    >>> described(Blocks([5, 5, 5, 5, 5, 6]))
    {'family': 'blocks', 'sizes': {'runs': [[5, 5], [6, 1]]}}
    """
    family = FAMILIES[type(matrix)]
    return {"family": family, **WRITERS[family](matrix)}


def rebuilt(closed: Mapping[str, Any]) -> Channel:
    """The matrix that a closed form describes.

    >>> rebuilt({"family": "mixture", "n": 3, "truth": 0.8}).truth
    0.8
    """
    parts = dict(closed)
    family = parts.pop("family", None)
    if family not in READERS:
        raise MatrixError(
            f"No matrix has the family {family!r}; there are {', '.join(sorted(READERS))}."
        )
    try:
        return READERS[family](**parts)
    except (TypeError, KeyError, ValueError) as error:
        if isinstance(error, MatrixError):
            raise
        raise MatrixError(f"The closed form of a {family} is not complete or not valid.") from None


def runs(line: Any) -> Any:
    """A list of numbers, as runs of equal ones where that is shorter."""
    array = np.asarray(line)
    values = array.tolist()
    starts = np.flatnonzero(np.concatenate(([True], array[1:] != array[:-1])))
    if array.ndim != 1 or 3 * starts.size > array.size:
        return values
    lengths = np.diff(np.append(starts, array.size)).tolist()
    told = [[values[start], length] for start, length in zip(starts, lengths, strict=True)]
    return {"runs": told}


def line(told: Any) -> Any:
    """The numbers that `runs` told."""
    if not isinstance(told, Mapping):
        return told
    values, lengths = zip(*told["runs"], strict=True)
    return np.repeat(values, lengths)


def _members(matrix: Combination | Birkhoff) -> Closed:
    if isinstance(matrix, Birkhoff):
        return {
            "weights": matrix.weights.tolist(),
            "permutations": matrix.permutations.tolist(),
        }
    return {
        "weights": matrix.weights.tolist(),
        "matrices": [described(member) for member in matrix.matrices],
    }


def _graph(matrix: Graph) -> Closed:
    links = sparse.triu(matrix.laplacian, k=1).tocoo()
    edges = zip(links.row.tolist(), links.col.tolist(), (-links.data).tolist(), strict=True)
    return {"n": matrix.size, "edges": [list(edge) for edge in edges], "time": matrix.time}


def _linked(n: int, edges: list[list[float]], time: float) -> Channel:
    u, v, weight = (np.array(part) for part in zip(*edges, strict=True))
    rows, columns = np.concatenate((u, v)).astype(int), np.concatenate((v, u)).astype(int)
    links = sparse.coo_array((np.tile(weight, 2), (rows, columns)), shape=(n, n)).tocsr()
    return diffusion(sparse.diags_array(links.sum(axis=1)) - links, time=time)


WRITERS: dict[str, Callable[[Any], Closed]] = {
    "birkhoff": _members,
    "blocks": lambda matrix: {"sizes": runs(matrix.sizes)},
    "circulant": lambda matrix: {"first_row": runs(matrix.first_row)},
    "combination": _members,
    "composed": lambda matrix: {"factors": [described(factor) for factor in matrix.factors]},
    "dense": lambda matrix: {"array": matrix.array.tolist()},
    "ergodic": lambda matrix: {"matrix": described(matrix.matrix), "gamma": matrix.gamma},
    "graph": _graph,
    "kronecker": lambda matrix: {"factors": [described(factor) for factor in matrix.factors]},
    "mixture": lambda matrix: {"n": matrix.n, "truth": matrix.truth},
    "ordered": lambda matrix: {
        "n": matrix.n, "temperature": matrix.temperature, "power": matrix.power,
    },
    "permutation": lambda matrix: {"order": matrix.order.tolist()},
    "reflected": lambda matrix: {"steps": runs(matrix.steps)},
    "stochastic": lambda matrix: {"array": matrix.array.tolist()},
    "taxonomy": lambda matrix: {
        "parents": [list(link) for link in matrix.parents.items()], "time": matrix.time,
    },
    "tridiagonal": lambda matrix: {"alphas": runs(matrix.alphas)},
    "window": lambda matrix: {"n": matrix.n, "width": matrix.width},
}  # fmt: skip

READERS: dict[str, Callable[..., Channel]] = {
    "birkhoff": Birkhoff,
    "blocks": lambda sizes: Blocks(line(sizes)),
    "circulant": lambda first_row: Circulant(line(first_row)),
    "combination": lambda weights, matrices: Combination(weights, map(rebuilt, matrices)),
    "composed": lambda factors: Composed(*map(rebuilt, factors)),  # type: ignore[arg-type]  # Composed checks it
    "dense": Dense,
    "ergodic": lambda matrix, gamma: Ergodic(rebuilt(matrix), gamma),  # type: ignore[arg-type]  # written by one
    "graph": _linked,
    "kronecker": lambda factors: Kronecker(*map(rebuilt, factors)),  # type: ignore[arg-type]  # Kronecker checks it
    "mixture": lambda n, truth: Mixture(n, truth=truth),
    "ordered": lambda n, temperature, power: Ordered(n, temperature=temperature, power=power),
    "permutation": Permutation,
    "reflected": lambda steps: Reflected(line(steps)),
    "stochastic": Stochastic,
    "taxonomy": lambda parents, time: Taxonomy(dict(parents), time=time),
    "tridiagonal": lambda alphas: Tridiagonal(line(alphas)),
    "window": Window,
}  # fmt: skip

FAMILIES: dict[type[Channel], str] = {
    Birkhoff: "birkhoff",
    Blocks: "blocks",
    Circulant: "circulant",
    Combination: "combination",
    Composed: "composed",
    Dense: "dense",
    Ergodic: "ergodic",
    Graph: "graph",
    Kronecker: "kronecker",
    Mixture: "mixture",
    Ordered: "ordered",
    Permutation: "permutation",
    Reflected: "reflected",
    Stochastic: "stochastic",
    Taxonomy: "taxonomy",
    Tridiagonal: "tridiagonal",
    Window: "window",
}
