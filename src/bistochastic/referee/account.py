"""What an evaluation found, in the form in which it is written for machines."""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer
from pydantic.json_schema import WithJsonSchema

from bistochastic.measures.figures import Figure
from bistochastic.referee.pairing import Kind, Pair

__all__ = ["Account", "Number", "accounted", "tabled"]

ENDS = {
    "infinite": math.inf,
    "minus infinite": -math.inf,
}  # in words, which JSON has no numbers for
WORDS = {value: word for word, value in ENDS.items()}
Number = Annotated[
    float,
    BeforeValidator(lambda given: ENDS.get(given, given) if isinstance(given, str) else given),
    PlainSerializer(lambda given: WORDS.get(given, given), when_used="json"),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"enum": list(ENDS)}]}),
]
NUMBERS = ("value", "low", "high", "reference", "before", "after")


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Judged(_Said):
    """One column: its kind, and why it is taken for that."""

    name: str
    kind: Kind
    why: str
    ordered: bool


class Line(_Said):
    """One figure: a measure of some columns with its unit, direction and reference line."""

    section: str
    measure: str
    of: tuple[str, ...]
    parameter: str
    value: Number | None
    low: Number | None
    high: Number | None
    reference: Number | None
    before: Number | None
    after: Number | None
    unit: str
    direction: str


class Account(_Said):
    """Everything an evaluation found, for machines."""

    original_records: int
    masked_records: int
    linked_records: int
    linked_by: str
    missing_records: int
    only_in_original: tuple[str, ...]
    only_in_masked: tuple[str, ...]
    columns: tuple[Judged, ...]
    figures: tuple[Line, ...]
    notes: tuple[str, ...]

    def text(self) -> str:
        """The same as JSON."""
        told = self.model_dump(mode="json")
        return json.dumps(told, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def accounted(pair: Pair, figures: Iterable[tuple[str, Figure]], notes: Sequence[str]) -> Account:
    """A pair of tables, every figure of it by section, and what to know before believing them."""
    return Account(
        original_records=pair.before,
        masked_records=pair.after,
        linked_records=pair.linked,
        linked_by=pair.by,
        missing_records=int(pair.missing.size),
        only_in_original=pair.only_before,
        only_in_masked=pair.only_after,
        columns=tuple(
            Judged(name=c.name, kind=c.kind, why=c.why, ordered=c.ordered)
            for c in pair.columns.values()
        ),
        figures=tuple(Line(section=section, **_plain(figure)) for section, figure in figures),
        notes=tuple(notes),
    )


def tabled(lines: Sequence[tuple[str, Figure]]) -> Any:
    """Figures as a dataframe."""
    import polars as pl

    texts = ("section", "measure", "columns", "parameter", "unit", "direction")
    schema: dict[str, Any] = {
        name: pl.String if name in texts else pl.Float64
        for name in (*texts[:4], *NUMBERS, *texts[4:])
    }
    rows = [
        {"section": section, "columns": " × ".join(figure.of)} | figure._asdict()
        for section, figure in lines
    ]
    return pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema=schema)


def _plain(figure: Figure) -> dict[str, Any]:
    """A figure as JSON can say it: no NaN, ∞ in words."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in figure._asdict().items()
    }
