"""The verb of analysts: count how often each cell of some columns is reported.

An engine answers with a `Tally`; what it need not do is to form an array of the whole domain.
"""

import math
from dataclasses import dataclass
from typing import final

from bistochastic.errors import TableError
from bistochastic.tables.base import Domain

__all__ = ["Count"]

MOST_CELLS = 1 << 63  # whose numbers are signed integers of 64 bits


@final
@dataclass(frozen=True, slots=True)
class Count:
    """Count the cells of columns, the last of them fastest, by rows and by their weights.

    A missing value is the last code of a column where its domain makes it a category or keeps it.

    >>> Count(("smoker",), (Domain(("no", "yes"), "keep"),)).sizes
    (3,)
    """

    columns: tuple[str, ...]
    domains: tuple[Domain, ...]
    weight: str | None = None

    def __post_init__(self) -> None:
        if self.cells >= MOST_CELLS:
            raise TableError(
                f"{', '.join(map(repr, self.columns))} have {self.cells:.3g} cells together, more "
                f"than the 2^63 that can be numbered. Ask for fewer columns."
            )

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many codes each column has."""
        return tuple(domain.size + (domain.missing == "keep") for domain in self.domains)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return math.prod(self.sizes)
