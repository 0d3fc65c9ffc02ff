"""The manifest of a release: what was done and what it guarantees, for everybody to read.

Public by construction: matrices in closed form, guarantees of the integers that were sampled, and
hashes of what is in the folder. Never a key, never a hash of what came in, never a file's name.
"""

import json
import math
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, ValidationError
from pydantic.json_schema import WithJsonSchema

from bistochastic.errors import MatrixError, ReleaseError
from bistochastic.matrices.base import Channel
from bistochastic.matrices.bounds import AtLeast, AtMost
from bistochastic.matrices.closed import described, rebuilt
from bistochastic.matrices.exact import Exact
from bistochastic.matrices.targets import worst_deniability

__all__ = [
    "FORMAT",
    "Data",
    "Disclosed",
    "Explanation",
    "Group",
    "Guarantee",
    "Manifest",
    "Published",
    "Totals",
    "guarantee",
]

FORMAT = 1

Epsilon = Annotated[
    float,
    BeforeValidator(lambda given: math.inf if given == "infinite" else given),
    PlainSerializer(lambda given: "infinite" if math.isinf(given) else given, when_used="json"),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"const": "infinite"}]}),
]


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Guarantee(_Said):
    """What a channel promises, from the integers sampled, rounded against the publisher."""

    family: str
    categories: int
    bits: float
    max_bits: float
    beta: float
    min_row_bits: float
    deniable_bits: float | None  # of the report that tells most, all truths equally likely
    epsilon: Epsilon
    truth_min: float
    truth_mean: float
    condition: Epsilon
    bounded: bool = False  # whether some of these are bounds, at worst this
    digest: str
    word_bits: int

    @property
    def sides(self) -> float | None:
        """The sides of the die an intruder faces for the report that tells most."""
        return None if self.deniable_bits is None else 2**self.deniable_bits

    @property
    def recoverable(self) -> bool:
        """Whether the true distribution can be estimated from the reports."""
        return math.isfinite(self.condition)


Treatment = Literal[
    "randomised", "together", "permuted", "drawn", "averaged", "untouched", "pseudonyms", "dropped"
]


class Published(_Said):
    """One column of the original, and what became of it."""

    name: str
    role: str
    kind: str | None
    treatment: Treatment
    matrix: str | None = None  # as the plan names it
    labels: tuple[Any, ...] | None = None
    missing: Literal["category", "keep", "refuse"] | None = None
    channel: dict[str, Any] | None = None
    guarantee: Guarantee | None = None
    by: str | None = None  # what ordered the individuals of a numeric column
    joint_bits: float | None = None  # what a permutation leaves open about all of them together
    individuals: int | None = None  # how many had a value


class Group(_Said):
    """Columns that one channel treated as one; the last of them changes fastest in its codes."""

    columns: tuple[str, ...]
    matrix: str  # as the plan names it
    channel: dict[str, Any]
    guarantee: Guarantee


class Totals(_Said):
    """What the categorical key and confidential columns amount to, for one person."""

    bits: float
    max_bits: float
    conservative_beta: float
    joint_beta: float
    epsilon: Epsilon


class Disclosed(_Said):
    """What an intruder can learn from a report of some columns, and what that costs analysts."""

    columns: tuple[str, ...]
    guess: float | None  # of the report that tells most, all truths equally likely; None: too large
    odds: Epsilon  # the factor by which a report changes odds at most, whatever is believed
    increase: float  # how much more often a best guess is right at most, whatever is believed
    respondents: float | None  # times as many as without it, for the category that suffers most
    recoverable: bool  # whether any number of respondents brings the shares back
    says: tuple[str, ...]


class Explanation(_Said):
    """What a plan does to each column, what that guarantees, and what to think about."""

    release: str
    columns: tuple[Published, ...]
    together: tuple[Group, ...]
    totals: Totals
    warnings: tuple[str, ...]
    families: tuple[tuple[str, str], ...]  # the matrices used, each in words
    disclosed: tuple[Disclosed, ...] = ()
    rows: int | None  # the number of rows assumed for numeric columns

    def text(self) -> str:
        """The same as JSON."""
        return _json(self)


class Data(_Said):
    """The file of a release."""

    name: str
    format: str
    rows: int
    bytes: int
    sha256: str
    delimiter: str | None = None
    gap: str | None = None  # what stands for a missing value in a text file


class Manifest(_Said):
    """Everything an analyst or a sceptic needs to know of a release."""

    format: Literal[1]
    version: str
    release: str
    rows: int
    addressed_by: Literal["rows", "records"]
    columns: tuple[Published, ...]
    together: tuple[Group, ...]
    totals: Totals
    warnings: tuple[str, ...]
    plan: dict[str, Any]
    data: Data | None = None  # none before a release is written
    report: str | None = None  # the SHA-256 of the report beside the data, where there is one

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """The manifest in a file, or in the folder of a release."""
        where = Path(path)
        where = where / "manifest.json" if where.is_dir() else where
        try:
            return cls.model_validate_json(where.read_bytes())
        except OSError as error:
            raise ReleaseError(f"{str(where)!r} cannot be read: {error.strerror}.") from None
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the whole"
            raise ReleaseError(
                f"{str(where)!r} is no manifest of a release: {place}: {first['msg']}."
            ) from None

    def text(self) -> str:
        """The manifest as JSON, the same for the same release on every machine."""
        return _json(self)

    def column(self, name: str) -> Published:
        """What became of a column."""
        found = [column for column in self.columns if column.name == name]
        if not found:
            known = ", ".join(repr(column.name) for column in self.columns)
            raise ReleaseError(f"The release has no column {name!r}; it has {known}.")
        return found[0]

    def group(self, name: str) -> Group | None:
        """The group that treated a column together with others, if one did."""
        return next((group for group in self.together if name in group.columns), None)

    def channel(self, name: str) -> Channel:
        """The matrix a column went through by itself."""
        closed = self.column(name).channel
        if closed is None:
            raise ReleaseError(f"Column {name!r} went through no matrix of its own.")
        return rebuilt(closed)


def _json(said: BaseModel) -> str:
    told = said.model_dump(mode="json")
    return json.dumps(told, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def guarantee(matrix: Channel, exact: Exact) -> Guarantee:
    """What a matrix promises once it is sampled from its integers."""
    numbers: list[Any] = [matrix.truthfulness.min, matrix.truthfulness.mean, matrix.condition]
    return Guarantee(
        family=described(matrix)["family"],
        categories=exact.size,
        bits=exact.bits,
        max_bits=matrix.max_bits,
        beta=exact.beta,
        min_row_bits=exact.min_row_bits,
        deniable_bits=_deniable(matrix),
        epsilon=exact.epsilon,
        truth_min=float(numbers[0]),
        truth_mean=float(numbers[1]),
        condition=float(numbers[2]),
        bounded=any(isinstance(number, AtLeast | AtMost) for number in (*numbers, exact.bits)),
        digest=exact.digest(),
        word_bits=exact.word_bits,
    )


def _deniable(matrix: Channel) -> float | None:
    """The bits of the report that tells most under equal priors; none where it is not computed."""
    try:
        return float(worst_deniability(matrix))
    except MatrixError:
        return None
