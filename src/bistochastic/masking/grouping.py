"""Groups of records: who is with whom, what each publishes, and what that loses."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import MaskingError
from bistochastic.keystream import Key
from bistochastic.masking.distances import information_loss, means, standardised
from bistochastic.masking.numeric import average, permute
from bistochastic.masking.ranks import Individuals, as_column
from bistochastic.matrices.blocks import Blocks
from bistochastic.matrices.checks import frozen
from bistochastic.matrices.words import Words

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

    def average(
        self, values: ArrayLike, *, missing: ArrayLike | None = None, insist: bool = False
    ) -> Floats:
        """The mean of the group in place of each value; see `bistochastic.masking.numeric.average`.

        Missing values stay missing and count in no mean; a value that is alone in its group then
        is refused.
        """
        matrix = self._present(values, missing)
        return average(values, matrix, by=self.groups, missing=missing, insist=insist)

    def permute(
        self,
        values: ArrayLike,
        key: Key | Words,
        *,
        release: str = "",
        column: str = "",
        missing: ArrayLike | None = None,
    ) -> NDArray[Any]:
        """Values that have changed places within their groups, every one still there.

        The arguments are those of `bistochastic.masking.numeric.permute`. Missing values stay.
        """
        matrix = self._present(values, missing)
        return permute(
            values, matrix, key, release=release, column=column, by=self.groups, missing=missing
        )

    def _present(self, values: ArrayLike, missing: ArrayLike | None) -> Blocks:
        """The matrix for those records of each group that have a value."""
        given = as_column(values)
        if given.size != self.groups.size:
            raise MaskingError(
                f"{self.groups.size} records were grouped, but the column has {given.size} rows."
            )
        present = self.groups[Individuals.of(given, by="position", missing=missing).rows]
        if present.size == 0:
            raise MaskingError("All values of the column are missing: there is nothing to mask.")
        return Blocks(np.unique(present, return_counts=True)[1])

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
