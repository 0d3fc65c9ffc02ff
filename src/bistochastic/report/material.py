"""What a report is made of: what was counted in the published table and, inside, the original."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.manifest import Manifest
from bistochastic.measures.figures import Figure

if TYPE_CHECKING:
    from bistochastic.referee.evaluation import Evaluation

__all__ = ["Counted", "Histogram", "Material", "Recovered"]

Floats = NDArray[np.float64]


@final
class Recovered(NamedTuple):
    """Shares as an analyst estimates them, with the ends of their intervals."""

    shares: Floats
    low: Floats
    high: Floats


@final
class Counted(NamedTuple):
    """How often each label of a column stands in the table."""

    labels: tuple[str, ...]
    reported: NDArray[np.int64]
    original: NDArray[np.int64] | None = None
    recovered: Recovered | None = None


@final
class Histogram(NamedTuple):
    """How many numbers fall between round edges; the first and the last bin are open."""

    edges: Floats
    reported: NDArray[np.int64]
    original: NDArray[np.int64] | None = None


@final
@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """All that a report may tell of; what only the original tells is there for readers inside."""

    manifest: Manifest
    rows: int
    families: Mapping[str, str]  # the matrices of a plan, each in words
    columns: Mapping[str, Counted] = field(default_factory=dict)
    numbers: Mapping[str, Histogram] = field(default_factory=dict)
    priors: Mapping[str, Any] = field(default_factory=dict)
    evaluation: "Evaluation | None" = None
    utility: Sequence[Figure] | None = None  # of the evaluation, where not all is waited for
    where: str = "release"  # the folder, as code for analysts names it

    @property
    def internal(self) -> bool:
        """Whether it tells what only the original does."""
        return self.evaluation is not None
