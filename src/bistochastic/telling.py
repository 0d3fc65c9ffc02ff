"""Reports of releases: the published table is counted once, and what it amounts to is told."""

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import ReleaseError, TableError
from bistochastic.manifest import Manifest, Published
from bistochastic.plan.families import FAMILIES
from bistochastic.report.material import Counted, Histogram, Material, Pair
from bistochastic.report.page import html
from bistochastic.report.publication import publication
from bistochastic.tables.base import Domain, Recode, Unseen, merged
from bistochastic.tables.labels import spelled
from bistochastic.tables.local import as_numbers, coders_of
from bistochastic.tables.sources import Source, from_file, from_frame, understood

__all__ = ["AUDIENCES", "Audience", "report", "told"]

Audience = Literal["public", "internal"]
AUDIENCES: tuple[Audience, ...] = ("public", "internal")
Counts = NDArray[np.int64]
Step = Callable[[str], None]

MISSING = "(missing)"
MOST_CELLS = 4096  # of a pair of columns that is counted
MOST_PAIRS = 200
BINS = 16
TAIL = 0.01  # of the numbers beyond the first and the last edge
STEPS = np.array([1.0, 2.0, 2.5, 5.0, 10.0])


def report(
    folder: str | Path,
    path: str | Path,
    *,
    audience: Audience = "public",
    original: Any = None,
    prior: Mapping[str, ArrayLike] | None = None,
    on_step: Step = lambda step: None,
) -> Path:
    """Write the report of a published release as one HTML file.

    Args:
        folder: The folder of the release.
        path: The file to write; none may be there yet.
        audience: `"public"` tells what the release tells anyway, `"internal"` also what only the
            original does.
        original: What the release was made of, a file or a dataframe; for `"internal"` only.
        prior: What a reader thinks of a column beforehand, a share for each label; all labels are
            equally likely unless given.
        on_step: Told what is being done.
    """
    where = Path(folder)
    manifest = Manifest.read(where)
    data = manifest.data
    if data is None or not (where / Path(data.name).name).is_file():
        raise ReleaseError(f"There are no data in {str(where)!r} that its manifest names.")
    released = from_file(
        where / Path(data.name).name, delimiter=data.delimiter or ",", missing=_gaps(manifest)
    )
    text = told(
        manifest, released, audience=audience, original=original, prior=prior, on_step=on_step,
        where=where.name,
    )  # fmt: skip
    return put(text, path)


def put(text: str, path: str | Path) -> Path:
    """Write a page where no file is yet."""
    where = Path(path)
    try:
        with where.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise ReleaseError(
            f"{str(where)!r} exists and is not written over. Choose another name."
        ) from None
    except OSError as error:
        raise ReleaseError(f"{str(where)!r} cannot be written: {error.strerror}.") from None
    return where


def told(
    manifest: Manifest,
    released: Source,
    *,
    audience: Audience = "public",
    original: Any = None,
    prior: Mapping[str, ArrayLike] | None = None,
    on_step: Step = lambda step: None,
    where: str = "release",
) -> str:
    """The report of a release as HTML."""
    refuse_audience(audience, original)
    priors = {name: _prior(name, given, manifest) for name, given in (prior or {}).items()}
    before = None if original is None else opened(original, manifest)
    on_step("counting what is reported")
    after = counts(manifest, released)
    truth: dict[str, Counts] = {}
    if before is not None:
        on_step("counting the original")
        truth = counts(manifest, before)
    columns = {
        name: Counted(_labels(manifest.column(name)), after[name], truth.get(name))
        for name in _categorical(manifest, released)
    }
    on_step("looking at numbers")
    material = Material(
        manifest=manifest,
        rows=_height(released),
        families={name: family.says for name, family in FAMILIES.items()},
        columns=columns,
        numbers=dict(_histograms(manifest, released, before)),
        pairs=tuple(_pairs(after, truth)),
        priors=priors,
        internal=before is not None,
        where=where,
    )
    on_step("drawing")
    return html(publication(material))


def refuse_audience(audience: str, original: Any) -> None:
    """Refuse an audience nobody knows, and an original where it must not be told of."""
    if audience not in AUDIENCES:
        raise ReleaseError(f"There is no audience {audience!r}; there are public and internal.")
    if audience == "public" and original is not None:
        raise ReleaseError(
            "A public report tells nothing of the original. Leave the original out, or make the "
            "report internal."
        )
    if audience == "internal" and original is None:
        raise ReleaseError("An internal report compares with the original. Give the original.")


def opened(original: Any, manifest: Manifest) -> Source:
    """The original as a release was read from it."""
    if not isinstance(original, str | Path):
        return from_frame(original)
    file = manifest.plan.get("file", {})
    missing = tuple(file.get("missing", ("",)))
    return from_file(Path(original), delimiter=file.get("delimiter", ","), missing=missing)


def _gaps(manifest: Manifest) -> tuple[str, ...]:
    return (*manifest.plan.get("file", {}).get("missing", ()), "")


def _categorical(manifest: Manifest, source: Source) -> list[str]:
    """The columns that went through a channel over labels, and are there."""
    return [
        column.name
        for column in manifest.columns
        if column.labels and column.treatment in ("randomised", "together")
        and column.name in source.names
    ]  # fmt: skip


def _labels(column: Published) -> tuple[str, ...]:
    """The labels of a column as they are shown, and one for missing values where they count."""
    labels = tuple(spelled(label) for label in column.labels or ())
    return labels if column.missing == "refuse" else (*labels, MISSING)


def _height(source: Source) -> int:
    with understood(source.where):
        return int(source.frame.select(pl.len()).collect(engine="streaming").item())


def counts(manifest: Manifest, source: Source) -> dict[Any, Counts]:
    """How often each label of each column stands there, and each pair of labels, in one pass."""
    names = _categorical(manifest, source)
    if not names:
        return {}
    counter = _Counter(manifest, source, names)
    stream = source.frame.select(names).map_batches(
        counter.take, schema={names[0]: counter.schema[names[0]]}, streamable=True
    )
    with understood(source.where):
        stream.collect(engine="streaming")
    counter.refuse()
    return counter.found


@final
class _Counter:
    """What was counted so far."""

    def __init__(self, manifest: Manifest, source: Source, names: list[str]) -> None:
        with understood(source.where):
            self.schema = source.frame.collect_schema()
        self.source, self.names = source, names
        self.unseen: list[Unseen] = []
        self.rows = 0
        columns = [manifest.column(name) for name in names]
        domains = tuple(Domain(c.labels or (), c.missing or "refuse") for c in columns)
        step = Recode(tuple(names), domains, lambda codes, start, ids: codes)
        self.coders = coders_of(step, source, self.schema)
        self.sizes = {column.name: len(_labels(column)) for column in columns}
        self.found: dict[Any, Counts] = {
            name: np.zeros(size, np.int64) for name, size in self.sizes.items()
        }
        pairs = [
            (one, two)
            for one, two in combinations(names, 2)
            if self.sizes[one] * self.sizes[two] <= MOST_CELLS
        ]
        for one, two in pairs[:MOST_PAIRS]:
            self.found[one, two] = np.zeros((self.sizes[one], self.sizes[two]), np.int64)

    def take(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Count one batch."""
        codes: dict[str, NDArray[Any]] = {}
        for name in self.names:
            found, gone, faults = self.coders[name].encode(batch[name], self.rows)
            self.unseen += faults
            codes[name] = found if gone is None else np.where(gone, self.sizes[name] - 1, found)
        self.rows += batch.height
        for key, into in () if self.unseen else self.found.items():
            if isinstance(key, str):
                into += np.bincount(codes[key], minlength=into.size)
            else:
                cells = codes[key[0]].astype(np.uint16) * into.shape[1] + codes[key[1]]
                into += np.bincount(cells, minlength=into.size).reshape(into.shape)
        return batch.select(batch.columns[0]).clear()

    def refuse(self) -> None:
        """Say what could not be counted, if anything."""
        if self.unseen:
            told = "; ".join(one.sentence for one in merged(self.unseen))
            raise TableError(
                f"In {self.source.where}, {told}. The manifest is not the one of this table, or "
                f"the table was changed."
            )


def _pairs(after: Mapping[Any, Counts], before: Mapping[Any, Counts]) -> Iterator[Pair]:
    """How strongly columns go together, reported and in truth."""
    for key, table in after.items():
        if isinstance(key, tuple) and key in before:
            yield Pair(*key, association(table), association(before[key]))


def association(table: NDArray[Any]) -> float:
    """Cramér's V, from 0 for columns that have nothing to do with each other to 1.

    >>> association(np.array([[5, 0], [0, 5]])), association(np.array([[2, 2], [3, 3]]))
    (1.0, 0.0)
    """
    total = table.sum()
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    kept = table[np.ix_(rows > 0, columns > 0)]
    if min(kept.shape, default=0) < 2:
        return 0.0
    expected = np.outer(kept.sum(axis=1), kept.sum(axis=0)) / total
    square = float(((kept - expected) ** 2 / expected).sum()) / total
    return math.sqrt(min(1.0, max(0.0, square / (min(kept.shape) - 1))))


def _histograms(
    manifest: Manifest, released: Source, before: Source | None
) -> Iterator[tuple[str, Histogram]]:
    """Numbers that were masked by ranks, between round edges; one column is held at a time."""
    for column in manifest.columns:
        ranked = column.treatment in ("permuted", "drawn", "averaged")
        if not ranked or column.name not in released.names:
            continue
        reported = _numbers(released, column.name)
        if reported is None or not reported.size:
            continue
        edges = round_edges(reported)
        true = None if before is None else _numbers(before, column.name)
        yield column.name, Histogram(
            edges, binned(reported, edges), None if true is None else binned(true, edges)
        )


def _numbers(source: Source, name: str) -> NDArray[Any] | None:
    with understood(source.where):
        column = source.frame.select(name).collect(engine="streaming")[name]
    if column.dtype.is_temporal():
        return None
    numbers, present = as_numbers(column, source)
    return numbers[present]


def round_edges(values: NDArray[Any]) -> NDArray[np.float64]:
    """Round numbers that part the bulk of values into about a dozen bins of one width."""
    low, high = (float(x) for x in np.quantile(values, (TAIL, 1 - TAIL)))
    if not low < high:
        low, high = float(values.min()), float(values.max())
    width = (high - low) / BINS or 1.0
    power = 10.0 ** math.floor(math.log10(width))
    step = float(STEPS[np.searchsorted(STEPS, width / power * (1 - 1e-9))] * power)
    return np.arange(math.floor(low / step) + 1, math.ceil(high / step)) * step


def binned(values: NDArray[Any], edges: NDArray[np.float64]) -> Counts:
    """How many values lie below the first edge, from each to the next, and from the last on."""
    found = np.searchsorted(edges, values, side="right")
    return np.bincount(found, minlength=edges.size + 1)


def _prior(name: str, given: ArrayLike, manifest: Manifest) -> NDArray[np.float64]:
    """A prior that has a share for each category, and sums to one."""
    column = manifest.column(name)
    channel = column.guarantee
    prior = np.asarray(given, dtype=np.float64)
    size = 0 if channel is None or column.treatment != "randomised" else channel.categories
    if prior.shape != (size,):
        raise ReleaseError(
            f"The prior of column {name!r} needs a share for each of its {size} categories; got "
            f"{prior.size}."
        )
    if not (np.isfinite(prior).all() and (prior >= 0).all() and abs(prior.sum() - 1) < 1e-9):
        raise ReleaseError(f"The prior of column {name!r} must be shares that sum to one.")
    return prior
