"""What a plan can say: columns with what they are, what is done to them, and by how much."""

from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

__all__ = ["Column", "FileFormat", "PlanModel", "Span", "Together"]

Role = Literal["identifier", "key", "confidential", "weight", "household", "plain"]
Kind = Literal["nominal", "ordinal", "numeric"]
How = Literal["draw", "permute", "average"]
Missing = Literal["category", "keep", "refuse"]
Label = bool | int | str | float | datetime | date
Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(ge=0)]


def _distinct(labels: tuple[Label, ...]) -> tuple[Label, ...]:
    if not labels:
        raise ValueError("needs at least one label")
    twice = [label for label, times in Counter(labels).items() if times > 1]
    if twice:
        raise ValueError(f"names the label {twice[0]!r} twice")
    if any(label != label for label in labels):
        raise ValueError("holds NaN, which equals nothing; missing values have a key of their own")
    return labels


class _Said(BaseModel):
    """Something said in a plan: nothing unknown, nothing converted, nothing changed later."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Span(_Said):
    """The whole numbers from `first` to `last`, as a domain."""

    first: int
    last: int

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if self.first > self.last:
            raise ValueError("needs first <= last")
        return self


Table = Annotated[
    tuple[Annotated[tuple[float, ...], Field(strict=False)], ...], Field(strict=False)
]
Labels = Annotated[tuple[Label, ...], Field(strict=False), AfterValidator(_distinct)]


class _Treatment(_Said):
    """Which matrix, and how private or of what shape; the same words for a column and a group."""

    matrix: str | None = None
    # targets: at least this private
    beta: Share | None = None
    bits: Positive | None = None
    epsilon: Positive | None = None
    truth: Share | None = None
    k: Annotated[float, Field(ge=1)] | None = None
    deniability: Positive | None = None
    prior: Annotated[tuple[float, ...], Field(strict=False)] | None = None
    # shapes: this very matrix
    array: Table | None = None
    first_row: Annotated[tuple[float, ...], Field(strict=False)] | None = None
    sizes: Annotated[tuple[int, ...], Field(strict=False)] | None = None
    alphas: Annotated[tuple[float, ...], Field(strict=False)] | None = None
    width: Annotated[int, Field(ge=0)] | None = None
    width_share: Share | None = None
    time: Positive | None = None
    power: Annotated[float, Field(gt=0)] | None = None
    parents: dict[Any, str] | None = None
    # the trade-off: of which joint law, by what cost, and how much of it
    joint: Table | None = None
    joint_file: str | None = None
    distances: Table | None = None
    distortion: Positive | None = None
    multiplier: Annotated[float, Field(gt=0)] | None = None
    allow_zeros: bool = False  # whether reports too rare for the integers may become impossible

    @property
    def targets(self) -> dict[str, Any]:
        """The targets that are given, by name."""
        return {name: value for name in TARGETS if (value := getattr(self, name)) is not None}

    @property
    def shape(self) -> dict[str, Any]:
        """The parameters that are given, by name."""
        return {name: value for name in SHAPES if (value := getattr(self, name)) is not None}


TARGETS = ("beta", "bits", "epsilon", "truth", "k", "deniability")
SHAPES = (
    "array", "first_row", "sizes", "alphas", "width", "width_share", "time", "power", "parents",
    "joint", "distances", "distortion", "multiplier",
)  # fmt: skip


class Column(_Treatment):
    """One column: its role, its kind, its declared domain, and what is done to it.

    >>> Column(role="key", kind="nominal", domain=["no", "yes"], matrix="mixture", beta=0.5).beta
    0.5
    """

    role: Role
    kind: Kind | None = None
    domain: Labels | Span | None = None
    domain_file: str | None = None
    learnt: bool = False  # whether the domain was read off the data
    missing: Missing | None = None
    other: Label | None = None
    pseudonym: bool = False
    how: How | None = None
    by: str | None = None
    insist: bool = False

    @property
    def labels(self) -> tuple[Label, ...]:
        """The declared labels in their order; none for a numeric column."""
        if isinstance(self.domain, Span):
            return tuple(range(self.domain.first, self.domain.last + 1))
        return self.domain or ()

    @property
    def categorical(self) -> bool:
        """Whether the column has categories."""
        return self.kind in ("nominal", "ordinal")

    @property
    def missing_rule(self) -> Missing:
        """What happens to missing values: a category of the channel, unless said otherwise."""
        return self.missing or ("category" if self.categorical else "keep")


class Together(_Treatment):
    """Columns that one channel treats as one, on the product of their domains."""

    columns: Annotated[tuple[str, ...], Field(strict=False, min_length=2)]


class FileFormat(_Said):
    """How a text file is to be read."""

    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ","
    missing: Annotated[tuple[str, ...], Field(strict=False)] = ("",)


class PlanModel(_Said):
    """Everything a plan says; `Plan` reads, checks and explains it."""

    release: Annotated[str, Field(min_length=1)]
    records: str | None = None
    rows: Annotated[int, Field(ge=0)] | None = None
    file: FileFormat = FileFormat()
    columns: dict[str, Column]
    together: Annotated[tuple[Together, ...], Field(strict=False)] = ()

    @model_validator(mode="before")
    @classmethod
    def _named(cls, said: Any) -> Any:
        if isinstance(said, Mapping) and not said.get("columns"):
            raise ValueError("names no column: write a table [columns.NAME] for each")
        return said
