"""What it costs to report x as x̂: the usual tables."""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from bistochastic.errors import MatrixError
from bistochastic.matrices.checks import as_numbers, as_size, guard_cells
from bistochastic.matrices.tree import read_tree
from bistochastic.tradeoff.problem import Floats

__all__ = ["hamming", "squared", "taxonomic", "weighted"]


def hamming(n: int) -> Floats:
    """1 for any other value than the true one: its mean is how often a report is wrong.

    >>> hamming(2)
    array([[0., 1.],
           [1., 0.]])
    """
    size = as_size(n, "hamming")
    return 1.0 - np.eye(size)


def squared(values: ArrayLike, reports: ArrayLike | None = None) -> Floats:
    r"""$(x-\hat x)^2$ or, for rows of several numbers, $\|x-\hat x\|^2$.

    Args:
        values: The number that each value stands for.
        reports: The numbers that may be reported; the values themselves if None.

    >>> squared([0, 1, 3])[0]
    array([0., 1., 9.])
    """
    true = as_numbers(values, "The values")
    told = true if reports is None else as_numbers(reports, "The reports")
    true, told = (side[:, None] if side.ndim == 1 else side for side in (true, told))
    if true.ndim != 2 or told.ndim != 2 or true.shape[1] != told.shape[1]:
        raise MatrixError(
            f"squared needs numbers, or rows of as many numbers; got shapes {true.shape} and "
            f"{told.shape}."
        )
    guard_cells(len(true) * len(told), "These distances")
    return sum((a[:, None] - b[None, :]) ** 2 for a, b in zip(true.T, told.T, strict=True))


def taxonomic(parents: Mapping[Hashable, Hashable]) -> Floats:
    """Half the edges between two leaves of a tree: how far up one must go, on average, to meet.

    Leaves are in the order of the mapping child → parent, as those of `Taxonomy`.

    >>> taxonomic({"cat": "mammal", "dog": "mammal", "eagle": "bird", "mammal": "animal",
    ...            "bird": "animal"})[0]
    array([0., 1., 2.])
    """
    tree = read_tree(parents)
    if int((tree.parent < 0).sum()) + int((tree.home < 0).sum()) != 1:
        raise MatrixError("taxonomic needs a single tree: separate ones are never met.")
    n = len(tree.leaves)
    guard_cells(n * n, "These distances")
    shared = np.zeros((n, n))
    for start, count in zip(tree.start, tree.count, strict=True):
        shared[start : start + count, start : start + count] += 1.0
    depth = shared.diagonal()
    apart = (depth[:, None] + depth) / 2 + 1.0 - shared
    np.fill_diagonal(apart, 0.0)
    places = tree.place
    return apart[np.ix_(places, places)]


def weighted(parts: Sequence[ArrayLike], weights: Sequence[float] | None = None) -> Floats:
    """The weighted sum over several attributes, on the product of their domains.

    The last attribute changes fastest, as in the codes of a product.

    >>> weighted([hamming(2), squared([0, 2])], [1, 0.5])[0]
    array([0., 2., 1., 3.])
    """
    tables = [as_numbers(part, "A distortion") for part in parts]
    shares = [1.0] * len(tables) if weights is None else [float(weight) for weight in weights]
    if not tables or len(shares) != len(tables) or min(shares) < 0:
        raise MatrixError(
            f"weighted needs a weight of at least 0 for each of its {len(tables)} tables; got "
            f"{len(shares)}."
        )
    if any(table.ndim != 2 for table in tables):
        raise MatrixError("weighted needs tables with a row for each x and a column for each x̂.")
    total = np.zeros((1, 1))
    for table, share in zip(tables, shares, strict=True):
        guard_cells(total.size * table.size, "These distances")
        both = total[:, None, :, None] + share * table[None, :, None, :]
        total = both.reshape(len(total) * len(table), -1)
    return total
