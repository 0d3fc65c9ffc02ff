"""Records on one machine: the columns that an estimate needs, as codes and numbers in row order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.errors import BistochasticError, DomainError, TableError
from bistochastic.tables.base import Domain, Recode, Unseen, merged
from bistochastic.tables.labels import Coder
from bistochastic.tables.local import as_numbers, coders_of
from bistochastic.tables.sources import Source, understood
from bistochastic.tables.tallies import refuse_absent

__all__ = ["Records", "laid_out", "numeric"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Columns in row order: codes of the narrowest type, numbers as floats with NaN for missing."""

    rows: int
    codes: dict[str, NDArray[Any]]
    numbers: dict[str, NDArray[np.float64]]

    def where(self, kept: NDArray[np.bool_]) -> "Records":
        """Only these rows."""
        if kept.all():
            return self
        return Records(
            int(kept.sum()),
            {name: codes[kept] for name, codes in self.codes.items()},
            {name: numbers[kept] for name, numbers in self.numbers.items()},
        )


def laid_out(source: Source, domains: dict[str, Domain], numbers: Sequence[str] = ()) -> Records:
    """Read these columns, and no others, once; batch by batch they become codes and numbers.

    A missing value is the last code of a column, where its domain keeps it or makes it a category.

    Args:
        source: The table.
        domains: The columns that are categories, with their domains.
        numbers: The columns that are numbers.
    """
    wanted = tuple(dict.fromkeys((*domains, *numbers)))
    if not wanted:
        with understood(source.where):
            rows = source.frame.select(pl.len()).collect(engine="streaming").item()
        return Records(int(rows), {}, {})
    refuse_absent(source, wanted)
    reader = _Reader(source, domains, tuple(dict.fromkeys(numbers)))
    stream = source.frame.select(wanted).map_batches(reader.take, schema=reader.schema)
    try:
        with understood(source.where):
            frame = stream.collect(engine="streaming")
    except (BistochasticError, pl.exceptions.PolarsError):
        reader.refuse()
        raise
    reader.refuse()
    codes = {name: frame[_code(name)].to_numpy() for name in domains}
    return Records(
        frame.height, codes, {name: frame[_number(name)].to_numpy() for name in reader.numbers}
    )


def numeric(source: Source, column: str) -> bool:
    """Whether a column that no plan describes holds numbers, in a text file too."""
    refuse_absent(source, (column,))
    with understood(source.where):
        dtype = source.frame.collect_schema()[column]
    if dtype != pl.String:
        return bool(dtype.is_numeric() or dtype.is_temporal())
    if not source.text:
        return False
    try:
        return laid_out(source, {}, [column]).rows >= 0
    except TableError:
        return False


class _Reader:
    """What becomes of a batch, and what was found that cannot be read."""

    def __init__(
        self, source: Source, domains: dict[str, Domain], numbers: tuple[str, ...]
    ) -> None:
        with understood(source.where):
            schema = source.frame.collect_schema()
        step = Recode(tuple(domains), tuple(domains.values()), lambda codes, start, ids: codes)
        self.coders: dict[str, Coder] = coders_of(step, source, schema)
        self.source, self.domains, self.numbers = source, domains, numbers
        self.types = {name: _narrow(domain) for name, domain in domains.items()}
        self.schema: dict[str, Any] = {_code(name): self.types[name] for name in domains}
        self.schema |= {_number(name): pl.Float64() for name in numbers}
        self.unseen: list[Unseen] = []
        self.failure: BistochasticError | None = None
        self.row = 0

    def take(self, batch: pl.DataFrame) -> pl.DataFrame:
        """One batch, as codes and numbers."""
        try:
            made = [self._codes(name, batch[name]) for name in self.domains]
            made += [self._numbers(batch[name]) for name in self.numbers]
        except BistochasticError as error:
            self.failure = error
            raise
        self.row += batch.height
        return pl.DataFrame(made)

    def _codes(self, name: str, given: pl.Series) -> pl.Series:
        codes, gone, faults = self.coders[name].encode(given, self.row)
        self.unseen += faults
        if gone is not None:
            codes = np.where(gone, self.domains[name].size, codes)
        return pl.Series(_code(name), codes).cast(self.types[name])

    def _numbers(self, given: pl.Series) -> pl.Series:
        numbers, present = as_numbers(given, self.source)
        made = numbers.astype(np.float64)
        return pl.Series(_number(given.name), np.where(present, made, np.nan))

    def refuse(self) -> None:
        """Say what could not be read, if anything."""
        if self.failure is not None:
            raise self.failure from None
        if self.unseen:
            told = "; ".join(one.sentence for one in merged(self.unseen))
            raise DomainError(
                f"In {self.source.where}, {told}. The manifest is not the one of this table, or "
                f"the table was changed."
            ) from None


def _narrow(domain: Domain) -> Any:
    """The narrowest type for the codes of a domain, with one for missing beyond it."""
    for dtype, most in ((pl.UInt8(), 1 << 8), (pl.UInt16(), 1 << 16)):
        if domain.size < most:
            return dtype
    return pl.UInt32()


def _code(name: str) -> str:
    return f"code of {name}"


def _number(name: str) -> str:
    return f"number of {name}"
