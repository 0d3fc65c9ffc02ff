"""A batch of rows, masked: what every engine does with the rows it has at hand."""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.errors import DomainError, TableError
from bistochastic.tables.base import (
    Drop,
    Names,
    Ranks,
    Recode,
    Rows,
    Step,
    Unseen,
    first_rows,
    merged,
)
from bistochastic.tables.labels import MISSING, UNSEEN, Coder, coder, type_name
from bistochastic.tables.sources import Source

__all__ = ["NAMELESS", "Steps", "as_ids", "coders_of", "refusal", "spread"]

NAMELESS = "without a record id"
REMEDIES = {
    UNSEEN: "Add the labels to the domain of the plan, or name the one that others are to be "
    "counted under (`other`).",
    MISSING: 'Say missing = "category" in the plan, which hides who gave no answer.',
    NAMELESS: "Give every row its id: answers that are permanent need one.",
}


@final
@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The steps of a plan, bound to the columns of one table."""

    steps: tuple[Step, ...]
    records: str | None  # the column that addresses permanent answers
    coders: dict[str, Coder]

    @classmethod
    def of(cls, steps: tuple[Step, ...], records: str | None, source: Source, schema: Any) -> Self:
        """Steps for a table with such types; refuses domains that do not fit them."""
        coders: dict[str, Coder] = {}
        for step in steps:
            if isinstance(step, Recode):
                coders |= coders_of(step, source, schema)
        return cls(steps, records, coders)

    @property
    def looked_at(self) -> list[str]:
        """The columns in which something may stand that cannot be coded."""
        ids = [] if self.records is None or self.records in self.coders else [self.records]
        return [*self.coders, *ids]

    def surveyed(self, batch: pl.DataFrame, rows: Rows) -> list[Unseen]:
        """The cells of a batch that cannot be coded."""
        found = [
            fault
            for one in self.coders.values()
            for fault in one.encode(batch[one.column], rows)[2]
        ]
        return [*found, *self._ids(batch, rows)[1]]

    def masked(
        self, batch: pl.DataFrame, rows: Rows, ranked: dict[str, pl.Series]
    ) -> tuple[pl.DataFrame, list[Unseen]]:
        """A batch after all steps, unless something in it cannot be coded.

        A column of ranks becomes what it was masked to before; where that is not known here, it
        stays what it is.
        """
        ids, unseen = self._ids(batch, rows)
        kept = {column.name: column for column in batch.iter_columns()}
        for step in self.steps:
            if unseen:
                return batch, unseen
            if isinstance(step, Recode):
                reports, unseen = self._recoded(step, batch, rows, ids)
                kept |= reports
            elif isinstance(step, Ranks):
                kept[step.column] = ranked.get(step.column, batch[step.column])
            elif isinstance(step, Names):
                kept[step.column] = named(step, batch[step.column])
            else:
                del kept[step.column]
        return pl.DataFrame(list(kept.values())), unseen

    def after(self, schema: Any, ranked: dict[str, Any]) -> dict[str, Any]:
        """The columns that come out, in their order, with their types."""
        types: dict[str, Any] = dict(schema)
        for step in self.steps:
            if isinstance(step, Drop):
                del types[step.column]
            elif isinstance(step, Ranks):
                types[step.column] = ranked[step.column]
            elif isinstance(step, Names):
                types[step.column] = pl.String
        return types

    def _recoded(
        self, step: Recode, batch: pl.DataFrame, rows: Rows, ids: Any
    ) -> tuple[dict[str, pl.Series], list[Unseen]]:
        coders = [self.coders[column] for column in step.columns]
        encoded = [one.encode(batch[one.column], rows) for one in coders]
        unseen = [fault for _, _, faults in encoded for fault in faults]
        if unseen:
            return {}, unseen
        reports = step.kernel(tuple(codes for codes, _, _ in encoded), rows, ids)
        told = {
            one.column: one.decode(codes, gone)
            for one, codes, (_, gone, _) in zip(coders, reports, encoded, strict=True)
        }
        return told, []

    def _ids(self, batch: pl.DataFrame, rows: Rows) -> tuple[Any, list[Unseen]]:
        if self.records is None:
            return None, []
        ids = batch[self.records]
        if ids.null_count():
            where = first_rows(ids.is_null().to_numpy(), rows)
            return None, [Unseen(ids.name, NAMELESS, ids.null_count(), where)]
        return as_ids(ids), []


def coders_of(step: Recode, source: Source, schema: Any) -> dict[str, Coder]:
    """The coders of the columns of a step in a table with such types."""
    gaps = source.missing if source.text else ()
    return {
        column: coder(column, domain, schema[column], text=source.text, gaps=gaps)
        for column, domain in zip(step.columns, step.domains, strict=True)
    }


def refusal(found: list[Unseen]) -> DomainError:
    """What cannot be coded in a table, in words."""
    together = sorted(merged(found), key=lambda one: one.column)
    told = "; ".join(one.sentence for one in together)
    remedies = " ".join(REMEDIES[why] for why in REMEDIES if any(f.why == why for f in together))
    return DomainError(f"{told[:1].upper()}{told[1:]}. Nothing was written. {remedies}")


def as_ids(ids: pl.Series) -> Any:
    """Record ids as whole numbers or texts."""
    if ids.dtype.is_integer() and ids.dtype not in (pl.Int128, pl.UInt128):
        return ids.to_numpy()
    if ids.dtype.is_nested() or ids.dtype in (pl.Binary, pl.Duration, pl.Object):
        raise TableError(
            f"Column {ids.name!r} is of type {type_name(ids.dtype)}, which names nobody. Make it "
            f"texts or whole numbers."
        )
    return ids.cast(pl.String).to_list()


def named(step: Names, ids: pl.Series) -> pl.Series:
    """Pseudonyms; a missing identifier stays missing."""
    present = ids.drop_nulls()
    told = pl.Series(step.column, step.kernel(as_ids(present)), dtype=pl.String)
    return spread(told, ids.is_not_null().to_numpy())


def spread(present: pl.Series, there: NDArray[np.bool_]) -> pl.Series:
    """Cells at the places where something is, in their order, and nothing elsewhere."""
    if present.len() == there.size:
        return present
    if not present.len():
        return pl.Series(present.name, [None] * there.size, dtype=present.dtype)
    places = np.where(there, there.cumsum() - 1, 0).astype(np.uint32)
    nothing = pl.Series([None], dtype=present.dtype)
    return present.gather(pl.Series(places)).zip_with(pl.Series(there), nothing)
