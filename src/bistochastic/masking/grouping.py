"""Groups of records: who is with whom, what each publishes, and what that loses."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from bistochastic.masking.distances import information_loss, means, standardised
from bistochastic.matrices.blocks import Blocks
from bistochastic.matrices.checks import frozen

__all__ = ["Grouping", "grouping"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Grouping:
    r"""Records in groups, numbered by the lowest row of each; made by `microaggregate`.

    `groups` holds the group of each record and `centroids` the means of each group, in the units
    of the data. `loss` is $100\,SSE/SST$ on columns of variance one.
    """

    groups: Integers
    centroids: Floats
    loss: float

    @property
    def sizes(self) -> Integers:
        """The number of records in each group."""
        return np.bincount(self.groups)

    @property
    def order(self) -> Integers:
        """The rows group by group, those of a group ascending."""
        return np.argsort(self.groups, kind="stable")

    @property
    def matrix(self) -> Blocks:
        """The channel on records in this order: within a group anyone may be anyone."""
        return Blocks(self.sizes)

    def __repr__(self) -> str:
        sizes = self.sizes
        return (
            f"Grouping({self.groups.size} records, {sizes.size} groups of "
            f"{sizes.min()} to {sizes.max()}, loss {self.loss:.4f})"
        )


def grouping(array: Floats, labels: Integers) -> Grouping:
    """The grouping of the rows of an array by labels of any kind."""
    _, firsts, inverse = np.unique(labels, return_index=True, return_inverse=True)
    groups = np.argsort(np.argsort(firsts))[inverse]
    columns = array.reshape(len(array), -1)
    order = np.argsort(groups, kind="stable")
    # A quarter of the largest numbers, so that differences of them are numbers too.
    centroids = 4 * means(columns[order] / 4, np.bincount(groups))
    return Grouping(
        frozen(groups.astype(np.int64)),
        frozen(centroids.reshape(-1, *array.shape[1:])),
        information_loss(standardised(columns), groups),
    )
