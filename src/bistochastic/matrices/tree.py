"""A tree of meanings, laid out so that the leaves below any node stand side by side."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import MatrixError

__all__ = ["Tree", "branches_of", "by_depth", "last_common", "read_tree"]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A forest laid out so that the leaves below any node stand side by side.

    Nodes are numbered parents first. `place[u]` is where leaf u stands in that layout, `code` is
    the inverse; node a covers the places start[a] … start[a] + count[a].
    """

    leaves: tuple[Hashable, ...]
    parent: NDArray[np.int64]  # of each inner node, -1 for a root
    start: NDArray[np.int64]
    count: NDArray[np.int64]
    home: NDArray[np.int64]  # the inner node right above each place, -1 for a lone leaf
    place: NDArray[np.int64]
    code: NDArray[np.int64]

    @property
    def depth(self) -> int:
        """The largest number of inner nodes above a leaf."""
        return int(self.depths().max(initial=-1)) + 1

    def depths(self) -> NDArray[np.int64]:
        """How many inner nodes stand above each inner node."""
        depths = np.zeros(self.parent.size, dtype=np.int64)
        for a, above in enumerate(self.parent):
            depths[a] = depths[above] + 1 if above >= 0 else 0
        return depths


def read_tree(parents: Mapping[Hashable, Hashable]) -> Tree:
    """The tree of a child → parent mapping, checked for cycles; leaves keep the order given."""
    if not parents:
        raise MatrixError("A taxonomy needs at least one child with its parent.")
    inner = set(parents.values())
    leaves = tuple(child for child in parents if child not in inner)
    children: dict[Hashable, list[Hashable]] = {}
    for child, above in parents.items():
        children.setdefault(above, []).append(child)
    roots = [node for node in children if node not in parents]
    numbers: dict[Hashable, int] = {}
    order: dict[Hashable, int] = {}
    parent: list[int] = []
    home: list[int] = []
    span: dict[int, list[int]] = {}
    stack: list[tuple[Hashable, int, bool]] = [(root, -1, False) for root in reversed(roots)]
    while stack:
        node, above, leaving = stack.pop()
        if leaving:
            span[numbers[node]].append(len(order))
        elif node in children:
            numbers[node] = len(parent)
            parent.append(above)
            span[numbers[node]] = [len(order)]
            stack.append((node, above, True))
            stack.extend((child, numbers[node], False) for child in reversed(children[node]))
        else:
            order[node] = len(order)
            home.append(above)
    if len(order) != len(leaves) or len(numbers) != len(children):
        raise MatrixError("A taxonomy must not go in circles; some nodes are their own ancestors.")
    bounds = np.array([span[a] for a in range(len(parent))], dtype=np.int64).reshape(-1, 2)
    place = np.array([order[leaf] for leaf in leaves], dtype=np.int64)
    return Tree(
        leaves,
        np.array(parent, dtype=np.int64),
        bounds[:, 0],
        bounds[:, 1] - bounds[:, 0],
        np.array(home, dtype=np.int64),
        place,
        np.argsort(place),
    )


def by_depth(tree: Tree) -> list[NDArray[np.int64]]:
    """The inner nodes of each depth, the deepest first; nodes of one depth do not overlap."""
    depths = tree.depths()
    order = np.argsort(depths, kind="stable")
    cuts = np.flatnonzero(np.diff(depths[order])) + 1
    levels = np.split(order, cuts)
    return [level[np.argsort(tree.start[level])] for level in reversed(levels)]


def branches_of(tree: Tree) -> NDArray[np.int64]:
    """How many children each inner node has, inner ones and leaves."""
    branches = np.bincount(tree.parent[tree.parent >= 0], minlength=tree.parent.size)
    branches += np.bincount(tree.home[tree.home >= 0], minlength=tree.parent.size)
    return branches


def last_common(tree: Tree) -> int:
    """The deepest node above every leaf of a single tree: where its first branches part."""
    branches, node = branches_of(tree), 0
    below = np.flatnonzero(tree.parent == node)
    while branches[node] == 1 and below.size:
        node = int(below[0])
        below = np.flatnonzero(tree.parent == node)
    return node
