"""Two tables made comparable: who is who in them, which columns they share, of which kind.

Nothing is assumed that the tables do not say. Numbers have an order and texts have none, unless a
plan or the caller declares one. Records belong together by an id, or by position where there are
as many; else nobody is linked, and only what needs no link is measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.errors import MeasureError, TableError
from bistochastic.inspection import found_gaps, guessed_delimiter
from bistochastic.measures.nominal import marginality
from bistochastic.plan.plan import Plan
from bistochastic.tables.connections import is_database
from bistochastic.tables.labels import spelled, type_name
from bistochastic.tables.opening import from_place
from bistochastic.tables.ragged import refuse_short
from bistochastic.tables.sources import Source, format_of, from_file, from_frame, understood

__all__ = ["Declared", "Kind", "Pair", "Shared", "names_of", "paired"]

Integers = NDArray[np.int64]
Kind = Literal["nominal", "ordinal", "numeric"]
TEXTS = (pl.String, pl.Categorical, pl.Enum)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Declared:
    """What is said of the columns: kinds, orders of labels, distances between labels, roles."""

    kinds: Mapping[str, Kind]
    orders: Mapping[str, Sequence[Any]]
    distances: Mapping[str, tuple[Sequence[Any], Any]]
    left_out: frozenset[str] = frozenset()


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Shared:
    """A column of both tables: numbers with NaN for missing, or codes with -1 for missing.

    `labels` spells the codes, and is never shown. `places` are numbers in place of the codes of a
    nominal column, where a distance gives it an order from the most central category to the most
    marginal one.
    """

    name: str
    kind: Kind
    why: str
    before: NDArray[Any]
    after: NDArray[Any]
    labels: tuple[str, ...] = ()
    places: NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.labels)

    @property
    def ordered(self) -> bool:
        """Whether ranks of it mean something."""
        return self.kind != "nominal" or self.places is not None

    def numbers(self, side: Literal["before", "after"]) -> NDArray[Any]:
        """What has an order, NaN for missing."""
        values: NDArray[Any] = self.before if side == "before" else self.after
        if self.kind == "numeric":
            return values
        codes = values if self.places is None else np.append(self.places, -1)[values]
        return np.where(values < 0, np.nan, codes)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pair:
    """Two tables, side by side.

    `partner` is the masked row of each original one, -1 for none, or nothing where nobody could be
    linked; `by` says how.
    """

    columns: dict[str, Shared]
    before: int
    after: int
    partner: Integers | None
    by: str
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def linked(self) -> int:
        """How many records are in both tables, as far as is known."""
        return 0 if self.partner is None else int((self.partner >= 0).sum())

    @property
    def missing(self) -> Integers:
        """The rows of the original whose record is not in the masked table, from 0."""
        return np.flatnonzero(np.zeros(0) if self.partner is None else self.partner < 0)

    @property
    def linked_rows(self) -> Integers:
        """The rows of the original whose record is in both tables, from 0."""
        return np.flatnonzero(np.zeros(0) if self.partner is None else self.partner >= 0)

    def sides(self, name: str, *, numbers: bool = False) -> tuple[NDArray[Any], NDArray[Any]]:
        """A column of the records that are in both tables, row by row; as numbers if it can be."""
        column = self.column(name)
        if self.partner is None:
            raise MeasureError(
                f"Nobody is linked: there are {self.before} records and {self.after}. Name the "
                f"column that says who is who (id), if there is one."
            )
        before, after = (
            (column.numbers("before"), column.numbers("after"))
            if numbers
            else (column.before, column.after)
        )
        if self.linked == self.before == self.after and self.by == "position":
            return before, after
        rows = self.linked_rows
        return before[rows], after[self.partner[rows]]

    def column(self, name: str) -> Shared:
        """A column by its name."""
        if name not in self.columns:
            known = ", ".join(map(repr, self.columns))
            raise MeasureError(f"No column {name!r} is compared; there are {known}.")
        return self.columns[name]


def paired(
    original: Any,
    masked: Any,
    *,
    plan: Plan | None = None,
    id: str | None = None,
    linked: bool = True,
    declared: Declared,
    delimiter: str | None = None,
) -> Pair:
    """Read two tables and put their columns and records side by side."""
    sources = [_opened(table, plan, delimiter, ordered=id is None) for table in (original, masked)]
    frames = [_read(source, plan) for source in sources]
    names = [name for name in frames[0].columns if name in frames[1].columns]
    measured = [name for name in names if name != id and name not in declared.left_out]
    if not measured:
        raise TableError(
            f"{sources[0].where} and {sources[1].where} share no column that can be compared. "
            f"The masked table must keep the names of the original."
        )
    partner, by = None, "nothing"
    if linked:
        partner, by = _linked(frames, id, [source.where for source in sources])
    notes: list[str] = []
    columns: dict[str, Shared] = {}
    text = sources[0].text, sources[1].text
    for name in measured:
        found = _shared(name, frames[0][name], frames[1][name], text, declared, notes)
        if found is not None:
            columns[name] = found
    if not columns:
        raise TableError("No column of the two tables can be compared: " + " ".join(notes))
    return Pair(
        columns,
        frames[0].height,
        frames[1].height,
        partner,
        by,
        tuple(name for name in frames[0].columns if name not in frames[1].columns),
        tuple(name for name in frames[1].columns if name not in frames[0].columns),
        tuple(notes),
    )


def names_of(table: Any) -> tuple[str, ...]:
    """The columns of a table."""
    return _opened(table, None, None, ordered=False).names


def _opened(
    table: Any, plan: Plan | None, delimiter: str | None, *, ordered: bool = True
) -> Source:
    if isinstance(table, Source):
        return table
    if not isinstance(table, str | Path):
        return from_frame(table)
    if is_database(table):
        return from_place(table, ordered=ordered)
    path = Path(table)
    mark = delimiter
    if mark is None and path.is_file() and format_of(path).startswith("csv"):
        mark = guessed_delimiter(path)
    gaps = plan.said.file.missing if plan is not None else ("",)
    return from_file(path, delimiter=mark or ",", missing=gaps)


def _read(source: Source, plan: Plan | None) -> pl.DataFrame:
    """The whole table; texts that stand for nothing are nothing."""
    with understood(source.where):
        frame = source.frame.collect(engine="streaming")
    if not source.text:
        return frame
    if frame.width and frame[frame.columns[-1]].null_count():
        refuse_short(source)
    gaps = source.missing if plan is not None else found_gaps(source)
    return frame.with_columns(
        pl.when(pl.all().is_in(list(gaps)).fill_null(False))
        .then(None)
        .otherwise(pl.all())
        .name.keep()
    )


def _linked(
    frames: Sequence[pl.DataFrame], id: str | None, where: Sequence[str]
) -> tuple[Integers | None, str]:
    """The masked row of each original one, and by what it was found."""
    if id is None:
        if frames[0].height != frames[1].height:
            return None, "nothing"
        return np.arange(frames[0].height), "position"
    sides = []
    for frame, place in zip(frames, where, strict=True):
        if id not in frame.columns:
            raise TableError(f"{place} has no column {id!r} to link records by.")
        ids = frame[id].cast(pl.String)
        gone, twice = ids.null_count(), ids.len() - ids.n_unique()
        if gone or twice:
            raise TableError(
                f"Column {id!r} of {place} names nobody in {gone} rows and repeats {twice}; "
                f"each record needs an id of its own."
            )
        sides.append(ids.to_frame("id").with_row_index("row"))
    joined = sides[0].join(sides[1], on="id", how="left", maintain_order="left")
    partner = joined["row_right"].cast(pl.Int64).fill_null(-1).to_numpy()
    if frames[0].height and frames[1].height and not (partner >= 0).any():
        raise TableError(
            f"No id in column {id!r} is in both tables. Pseudonyms link nobody: name another "
            f"column, or leave it out if records stand in the same order."
        )
    return partner, f"column {id!r}"


def _shared(
    name: str,
    before: pl.Series,
    after: pl.Series,
    text: tuple[bool, bool],
    declared: Declared,
    notes: list[str],
) -> Shared | None:
    """A column of both tables in a common form, or none if there is none."""
    for series in (before, after):
        if series.dtype.is_nested() or series.dtype in (pl.Object, pl.Binary):
            notes.append(
                f"Column {name!r} is left out: it is of type {type_name(series.dtype)}, which "
                f"holds no single values."
            )
            return None
    if name in declared.distances:
        labels, distances = declared.distances[name]
        coded = _coded(name, before, after, labels, "nominal", "a declared distance", notes)
        if coded.kind == "nominal" and coded.size == len(labels):
            counts = np.bincount(coded.before[coded.before >= 0], minlength=coded.size)
            places = marginality(distances, counts)
            return Shared(
                name, "nominal", coded.why, coded.before, coded.after, coded.labels, places
            )
        return coded
    wanted = declared.kinds.get(name)
    order = declared.orders.get(name)
    if wanted == "numeric" or (wanted is None and order is None):
        numbers = _numbers(before, after, text, insist=wanted == "numeric")
        if numbers is not None:
            why = "declared" if wanted else "numbers"
            sides = [_finite(name, side) for side in numbers]
            return Shared(name, "numeric", why, sides[0], sides[1])
        if wanted == "numeric" or any(side.dtype.is_numeric() for side in (before, after)):
            notes.append(
                f"Column {name!r} does not hold numbers in both tables: only what needs no order "
                f"is measured of it."
            )
        return _coded(name, before, after, None, "nominal", "texts, no order known", notes)
    if wanted == "ordinal" and order is None:
        raise MeasureError(f"Column {name!r} is ordinal; say in which order (orders).")
    kind: Kind = wanted or "ordinal"
    return _coded(name, before, after, order, kind, "declared", notes)


def _numbers(
    before: pl.Series, after: pl.Series, text: tuple[bool, bool], *, insist: bool
) -> tuple[pl.Series, pl.Series] | None:
    """Both columns as decimals, if that is what they hold; texts of a dataframe stay texts."""
    sides = []
    times = [side.dtype.is_temporal() for side in (before, after)]
    if any(times) and not (all(times) and before.dtype.base_type() == after.dtype.base_type()):
        return None
    for side, spelled_out in zip((before, after), text, strict=True):
        if side.dtype == pl.Null:
            sides.append(side.cast(pl.Float64))
        elif side.dtype.is_temporal():
            unit = side.dt.cast_time_unit("us") if side.dtype == pl.Datetime else side
            sides.append(unit.to_physical().cast(pl.Float64))
        elif side.dtype.is_numeric():
            sides.append(side.cast(pl.Float64))
        elif side.dtype == pl.String and (spelled_out or insist):
            made = side.str.strip_chars().cast(pl.Float64, strict=False)
            if made.null_count() > side.null_count():
                return None
            sides.append(made)
        else:
            return None
    if all(side.null_count() == side.len() for side in sides) and not any(
        side.dtype.is_numeric() for side in (before, after)
    ):
        return None
    return sides[0], sides[1]


def _finite(name: str, numbers: pl.Series) -> NDArray[Any]:
    endless = int(numbers.is_infinite().fill_null(False).sum())
    if endless:
        raise TableError(
            f"Column {name!r} holds {endless} infinite numbers. Make them missing, or finite."
        )
    return numbers.fill_null(float("nan")).to_numpy()


def _coded(
    name: str,
    before: pl.Series,
    after: pl.Series,
    order: Sequence[Any] | None,
    kind: Kind,
    why: str,
    notes: list[str],
) -> Shared:
    """Both columns as codes of one list: the declared labels, then others by their spelling."""
    sides = [_texts(side) for side in (before, after)]
    known = list(dict.fromkeys(spelled(label) for label in order or ()))
    found = pl.concat(sides).drop_nulls().unique().sort()
    others = found.filter(~found.is_in(known)).to_list() if known else found.to_list()
    if known and others and kind == "ordinal":
        notes.append(
            f"Column {name!r} holds {len(others)} labels outside its declared order: only what "
            f"needs no order is measured of it."
        )
        kind = "nominal"
    labels = pl.Enum([*known, *others])
    codes = [
        side.cast(labels).to_physical().cast(pl.Int64).fill_null(-1).to_numpy() for side in sides
    ]
    return Shared(name, kind, why, codes[0], codes[1], (*known, *others))


def _texts(side: pl.Series) -> pl.Series:
    """Labels as they are spelled; NaN is missing, and whole decimals are whole numbers."""
    if side.dtype == pl.Boolean:
        return side.cast(pl.String)
    if side.dtype.is_float():
        side = side.fill_nan(None)
        if bool((side.drop_nulls() % 1 == 0).all()):
            side = side.cast(pl.Int64, strict=False)
    return side.cast(pl.String)
