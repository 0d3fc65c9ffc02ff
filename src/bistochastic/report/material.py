"""What a report is made of: what was counted in the published table and, inside, the original."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from bistochastic.manifest import Manifest

__all__ = ["Counted", "Histogram", "Material", "Pair", "Recovered"]

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
class Pair(NamedTuple):
    """How strongly two columns go together, from 0 to 1: as reported and as it is."""

    first: str
    second: str
    reported: float
    original: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """All that a report may tell of; what only the original tells is there for readers inside."""

    manifest: Manifest
    rows: int
    families: Mapping[str, str]  # the matrices of a plan, each in words
    columns: Mapping[str, Counted] = field(default_factory=dict)
    numbers: Mapping[str, Histogram] = field(default_factory=dict)
    pairs: Sequence[Pair] = ()
    priors: Mapping[str, Any] = field(default_factory=dict)
    internal: bool = False
    where: str = "release"  # the folder, as code for analysts names it
