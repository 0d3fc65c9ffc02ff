r"""Taxonomy: climb a tree of meanings by chance, then report any leaf below.

Every inner node a draws anew, uniformly among the leaves below it, with probability
$1-e^{-t}$; the highest node that does so decides. That is $\exp(-tL)$ for the Laplacian *on the
leaves* $L = \sum_a (I_a - J_a/n_a)$: two leaves are linked with weight $\sum 1/n_a$ over their
common ancestors, so the nearer in the tree, the stronger. (The exponential of the tree itself,
restricted to its leaves, would not be bistochastic.)
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MatrixError
from bistochastic.matrices.base import Bistochastic, Truthfulness, Vector, refuse_singular
from bistochastic.matrices.checks import as_line, guard_line
from bistochastic.matrices.entries import Entries, Part
from bistochastic.matrices.exact import Exact, bits_below, log_up
from bistochastic.matrices.tree import Tree, branches_of, by_depth, last_common, read_tree
from bistochastic.matrices.words import Words, uniform_below

__all__ = ["Taxonomy"]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Taxonomy(Bistochastic):
    """Diffusion on the leaves of a taxonomy, given as child → parent.

    >>> animals = {"cat": "mammal", "dog": "mammal", "eagle": "bird", "mammal": "animal",
    ...            "bird": "animal"}
    >>> Taxonomy(animals, time=1.0).row(0).round(3)
    array([0.462, 0.327, 0.211])
    """

    parents: Mapping[Hashable, Hashable]
    time: float
    tree: Tree = field(init=False)

    def __init__(self, parents: Mapping[Hashable, Hashable], *, time: float) -> None:
        if not 0 <= time < math.inf:
            raise MatrixError(f"Taxonomy needs a finite time >= 0; got {time!r}.")
        object.__setattr__(self, "parents", dict(parents))
        object.__setattr__(self, "time", float(time))
        object.__setattr__(self, "tree", read_tree(self.parents))

    @property
    def size(self) -> int:
        return len(self.tree.leaves)

    @property
    def leaves(self) -> tuple[Hashable, ...]:
        """The labels of the codes 0 … n-1."""
        return self.tree.leaves

    @property
    def T(self) -> Self:
        return self

    def weights(self) -> tuple[Vector, Vector]:
        """The chance that each inner node decides for a leaf below it, and that none does."""
        tree, redraw, keep = self.tree, -math.expm1(-self.time), math.exp(-self.time)
        depths = tree.depths()
        decides = redraw * keep**depths
        stays = np.where(tree.home >= 0, keep ** (depths[tree.home] + 1.0), 1.0)
        return decides, stays

    def entry(self, u: ArrayLike, v: ArrayLike) -> Vector:
        decides, stays = self.weights()
        tree = self.tree
        u, v = np.broadcast_arrays(tree.place[np.asarray(u)], tree.place[np.asarray(v)])
        per_leaf = np.append(decides / tree.count, 0.0)
        total = np.where(u == v, stays[u], 0.0)
        above = tree.home[u]
        while (above >= 0).any():  # one round for each level of the tree
            inside = (v >= tree.start[above]) & (v < tree.start[above] + tree.count[above])
            total += np.where((above >= 0) & inside, per_leaf[above], 0.0)
            above = np.where(above >= 0, tree.parent[above], -1)
        return total

    def matvec(self, x: ArrayLike) -> Vector:
        line = as_line(x, self.size)
        keep, redraw = math.exp(-self.time), -math.expm1(-self.time)
        return self._levels(line, keep, redraw)

    def solve(self, y: ArrayLike) -> Vector:
        line = as_line(y, self.size)
        refuse_singular(self)
        # Undoing e^{-t} on what differs from the mean is e^{+t}: the same walk, run backwards.
        return self._levels(line, math.exp(self.time), -math.expm1(self.time))

    def diagonal(self) -> Vector:
        guard_line(self.size, "This diagonal")
        codes = np.arange(self.size)
        return self.entry(codes, codes)

    def entries(self) -> Entries:
        """One kind of row for each inner node right above a leaf."""
        decides, stays = self.weights()
        return _tree_entries(self.tree, decides, stays)

    @property
    def bits(self) -> float:
        return self.entries().bits

    @property
    def min_row_bits(self) -> float:
        return self.entries().min_row_bits

    @property
    def epsilon(self) -> float:
        tree = self.tree
        if self.size == 1:
            return 0.0
        if (tree.parent < 0).sum() + (tree.home < 0).sum() > 1 or self.time == 0:
            return math.inf  # separate trees never meet
        return math.log(float(self.diagonal().max()) / self._shared_by_all())

    @property
    def truthfulness(self) -> Truthfulness:
        return Truthfulness.of(self.diagonal())

    @property
    def condition(self) -> float:
        """e^{t·depth}: what differs only within the deepest node is damped at every level."""
        tree = self.tree
        damping = [
            depth + 1
            for depth, children in zip(tree.depths(), branches_of(tree), strict=True)
            if children > 1
        ]
        return math.exp(min(self.time * max(damping, default=0), 700.0))

    def integers(self, word_bits: int) -> "tuple[TaxonomyForm, int]":
        decides, stays = self.weights()
        units = np.array([int(Fraction(d) * (1 << word_bits)) for d in decides], dtype=object)
        form = TaxonomyForm(self.tree, tuple(int(unit) for unit in units), word_bits)
        lost = sum(1 for d, unit in zip(decides, units, strict=True) if d > 0 and not unit)
        gone = sum(1 for s, unit in zip(stays, form.stays(), strict=True) if s > 0 and unit <= 0)
        return form, lost + gone

    def _shared_by_all(self) -> float:
        """The least entry: what the nodes above every leaf give to each leaf."""
        decides, _ = self.weights()
        per_leaf, node, total = decides / self.tree.count, last_common(self.tree), 0.0
        while node >= 0:
            total += float(per_leaf[node])
            node = int(self.tree.parent[node])
        return total

    def _levels(self, line: Vector, keep: float, redraw: float) -> Vector:
        """At each node, keep what differs from its mean only so far; deepest nodes first."""
        tree = self.tree
        moved = line[tree.code].astype(np.float64)
        for nodes in by_depth(tree):
            starts, counts = tree.start[nodes], tree.count[nodes]
            edges = np.column_stack((starts, starts + counts)).ravel()
            padded = np.concatenate((moved, np.zeros((1, *moved.shape[1:]))))
            means = np.add.reduceat(padded, edges, axis=0)[::2]
            means /= counts.reshape(-1, *[1] * (line.ndim - 1))
            where = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
            moved[where] = keep * moved[where] + redraw * np.repeat(means, counts, axis=0)
        return moved[tree.place]


def _tree_entries(tree: Tree, decides: Vector, stays: Vector) -> Entries:
    """Kinds of rows by home node: an entry for staying, and one value for each node above."""
    homes, first, repeats = np.unique(tree.home, return_index=True, return_counts=True)
    n, kinds, depth = len(tree.leaves), homes.size, tree.depth
    per_leaf = np.append(decides / np.maximum(tree.count, 1), 0.0)
    total = np.zeros((kinds, depth + 1))
    counts = np.zeros((kinds, depth + 1))
    above = np.where(homes >= 0, homes, -1)
    chain = [above]
    while (chain[-1] >= 0).any():
        chain.append(np.where(chain[-1] >= 0, tree.parent[chain[-1]], -1))
    covered = np.ones(kinds)
    for level, nodes in enumerate(chain[:-1]):
        size = np.where(nodes >= 0, tree.count[nodes], covered)
        counts[:, level] = size - covered
        covered = size
    # Entries of leaves first met at a level sum the shares of that node and of all above it.
    running = np.zeros(kinds)
    for level in range(len(chain) - 2, -1, -1):
        running = running + np.where(chain[level] >= 0, per_leaf[chain[level]], 0.0)
        total[:, level] = running
    staying = (stays[first] + running)[:, None]
    rest = Part(np.zeros((1, 1)), (n - covered)[:, None])
    return Entries((Part(staying, np.ones((1, 1))), Part(total, counts), rest), repeats)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TaxonomyForm(Exact):
    """A whole weight for each node that may decide; what is left of the whole decides nothing."""

    tree: Tree
    decides: tuple[int, ...]
    word_bits: int

    @property
    def size(self) -> int:
        return len(self.tree.leaves)

    @property
    def draws(self) -> int:
        return 2

    @property
    def denominators(self) -> tuple[int, ...]:
        return (math.lcm(*(int(count) for count in self.tree.count)) << self.word_bits,)

    def stays(self) -> list[int]:
        """The weight of staying for each place."""
        whole = 1 << self.word_bits
        taken: list[int] = []
        for node, above in enumerate(self.tree.parent):
            taken.append(self.decides[node] + (taken[above] if above >= 0 else 0))
        return [whole - (taken[home] if home >= 0 else 0) for home in self.tree.home]

    def integer_row(self, u: int) -> tuple[list[int], int]:
        tree = self.tree
        common = math.lcm(*(int(count) for count in tree.count))
        place = int(tree.place[u])
        row = [0] * self.size
        row[u] = self.stays()[place] * common
        node = int(tree.home[place])
        while node >= 0:
            share = self.decides[node] * (common // int(tree.count[node]))
            for below in range(int(tree.start[node]), int(tree.start[node] + tree.count[node])):
                row[int(tree.code[below])] += share
            node = int(tree.parent[node])
        return row, common << self.word_bits

    def entries(self) -> Entries:
        whole = 1 << self.word_bits
        decides = np.array([unit / whole for unit in self.decides])
        stays = np.array([unit / whole for unit in self.stays()])
        return _tree_entries(self.tree, decides, stays)

    def entropy_range(self) -> tuple[float, float]:
        return bits_below(self.entries())

    def log_ratio(self) -> float:
        """Exactly, from the staying leaf with most weight over the entry shared by all."""
        tree = self.tree
        if self.size == 1:
            return 0.0
        if (tree.parent < 0).sum() + (tree.home < 0).sum() > 1:
            return math.inf
        stays = self.stays()
        shared: list[Fraction] = []
        for node, above in enumerate(tree.parent):
            share = Fraction(self.decides[node], int(tree.count[node]))
            shared.append(share + (shared[above] if above >= 0 else 0))
        homes: dict[int, int] = {}
        for place, home in enumerate(tree.home):
            homes.setdefault(int(home), place)
        low = shared[last_common(tree)]
        if not low:
            return math.inf
        return log_up(max((stays[place] + shared[home]) / low for home, place in homes.items()))

    def ingredients(self) -> tuple[Any, ...]:
        tree = self.tree
        return (*self.decides, tree.parent + 1, tree.home + 1, tree.place)

    def draw(self, codes: NDArray[Any], words: Words) -> NDArray[Any]:
        tree = self.tree
        place = tree.place[codes]
        first = words(0, 0, None)
        chosen = self._deciding(place, first)
        within = uniform_below(
            np.where(chosen >= 0, tree.count[chosen], 1).astype(np.uint64),
            1,
            words,
            word_bits=self.word_bits,
        )
        redrawn = tree.start[chosen] + within.astype(np.int64)
        return tree.code[np.where(chosen >= 0, redrawn, place)]

    def _deciding(self, place: NDArray[Any], first: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The node that decides for each place, from the root down; -1 where none does."""
        tree = self.tree
        whole = 1 << self.word_bits
        ends: list[int] = []
        for node, above in enumerate(tree.parent):
            ends.append(self.decides[node] + (ends[above] if above >= 0 else 0))
        last = np.array([min(end, whole) - 1 if end else 0 for end in ends], dtype=np.uint64)
        none = np.array([end == 0 for end in ends])
        chosen = np.full(place.shape, -1, dtype=np.int64)
        above = tree.home[place]
        while (above >= 0).any():  # a higher node has lower words, so the last match is the highest
            decides = (above >= 0) & (first <= last[above]) & ~none[above]
            chosen = np.where(decides, above, chosen)
            above = np.where(above >= 0, tree.parent[above], -1)
        return chosen
