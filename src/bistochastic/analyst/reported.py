"""What was reported: a release, or a table with its manifest, seen as axes that can be undone.

Nothing but the release is needed. Columns that were protected together are bound as one axis, also
where only some of them are asked for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, final

import numpy as np
from pydantic import ValidationError

from bistochastic.analyst.sides import Side
from bistochastic.errors import ReleaseError, TableError
from bistochastic.estimate.axes import Axis, lumped
from bistochastic.estimate.tally import Tally
from bistochastic.manifest import Group, Manifest, Published
from bistochastic.matrices.closed import rebuilt
from bistochastic.matrices.kronecker import Kronecker
from bistochastic.release import Release
from bistochastic.tables.base import Domain
from bistochastic.tables.connections import is_database
from bistochastic.tables.counting import Count
from bistochastic.tables.databases import beside
from bistochastic.tables.opening import from_place
from bistochastic.tables.sources import Source, from_file, from_frame
from bistochastic.tables.tallies import counted, labels_of, refuse_absent

__all__ = ["Reported"]

INSTEAD = {
    "permuted": "its numbers are all there, once each, but not beside their owners. Leave it out "
    "of this table; `within` tells its means in the cells of other columns, or bounds of them.",
    "drawn": "its numbers are those of others of similar rank. Leave it out of this table; "
    "`within` tells its quantiles.",
    "averaged": "its numbers are means of several people, and the mean of all is exact. Leave it "
    "out of this table.",
    "pseudonyms": "it names people or households. Leave it out of this table.",
    "dropped": "it was left out of the release.",
}


@final
@dataclass(frozen=True, slots=True, eq=False)
class Reported:
    """A table of reports and the manifest that says how they came about."""

    source: Source
    manifest: Manifest
    given: Any = None  # the dataframe that came in; none of a file

    @classmethod
    def of(cls, data: Any, manifest: Manifest | str | Path | None = None) -> Self:
        """A release, its folder, or a file or dataframe with the manifest of its release."""
        if isinstance(data, Release):
            frame = data.data
            source = from_frame(frame)
            if data.text:  # labels are compared by their spelling, as they are in its file
                source = replace(source, format="csv", missing=_gaps(data.manifest))
            return cls(source, data.manifest, frame)
        if is_database(data):
            read = _manifest(manifest) if manifest is not None else manifest_beside(data)
            return cls(from_place(data, ordered=False), read)
        path = Path(data) if isinstance(data, str | Path) else None
        if path is not None and path.is_dir():
            read = Manifest.read(path) if manifest is None else _manifest(manifest)
            return cls(_file(_inside(path, read), read), read)
        if manifest is None:
            raise ReleaseError(
                "Estimates need to know how the reports came about: give the folder of a release, "
                "or a table and its manifest."
            )
        read = _manifest(manifest)
        if path is not None:
            return cls(_file(path, read), read)
        return cls(from_frame(data), read, data)

    def sides(self, columns: Sequence[str]) -> tuple[Side, ...]:
        """The axes that hold these columns, in the order in which they are asked for."""
        asked = (columns,) if isinstance(columns, str) else tuple(columns)
        if not asked:
            raise TableError("A table needs at least one column; name those that make its cells.")
        if len(set(asked)) < len(asked):
            raise TableError("A column is asked for twice. Name each once.")
        said = {name: self.manifest.column(name) for name in asked}
        for name, column in said.items():
            if column.treatment in INSTEAD:
                raise TableError(
                    f"Column {name!r} makes no cells: it was {_treated(column)}, so "
                    f"{INSTEAD[column.treatment]}"
                )
        refuse_absent(self.source, asked)
        return tuple(self._sides(asked))

    def tally(self, sides: Sequence[Side], weight: str | None = None) -> Tally:
        """How often each cell of these axes was reported, a size for each axis."""
        columns = [name for side in sides for name in side.columns]
        domains = [domain for side in sides for domain in side.domains]
        if weight is not None:
            self._weighs(weight)
        found = counted(self.source, Count(tuple(columns), tuple(domains), weight))
        sizes = tuple(side.axis.size for side in sides)
        return Tally(sizes, found.cells, found.counts, found.weights, found.squares)

    def _weighs(self, name: str) -> None:
        treated = self.manifest.column(name).treatment
        if treated != "untouched":
            raise TableError(
                f"Column {name!r} cannot weigh rows: it was {treated}. Take a column that was "
                f"published as it is."
            )

    def _sides(self, asked: Sequence[str]) -> Iterator[Side]:
        done: set[str] = set()
        for name in asked:
            if name in done:
                continue
            column, group = self.manifest.column(name), self.manifest.group(name)
            if group is not None:
                wanted = [other for other in group.columns if other in asked]
                done |= set(wanted)
                yield from self._together(group, wanted)
            elif column.treatment == "randomised":
                yield _alone(column, self.manifest)
            else:
                yield self._passing(column)

    def _passing(self, column: Published) -> Side:
        """A column that nobody protected: its labels may be read off the release."""
        found, gaps = labels_of(self.source, column.name)
        declared = [label for label in column.labels or () if label in set(found)]
        others = [label for label in found if label not in set(declared)]
        domain = Domain((*declared, *others), "keep" if gaps else "refuse")
        if not found and not gaps:
            raise TableError(f"Column {column.name!r} makes no cells: the release has no rows.")
        axis = Axis.passing(len(domain.labels) + gaps)
        return Side(axis, (column.name,), (domain,), (column.name,))

    def _together(self, group: Group, wanted: list[str]) -> Iterator[Side]:
        """The axis of a group, or of the columns asked for where they have one of their own."""
        domains = {name: _domain(self.manifest.column(name)) for name in group.columns}
        sizes = [domain.size for domain in domains.values()]
        channel = rebuilt(group.channel)
        if channel.size != int(np.prod(sizes, dtype=object)):
            raise ReleaseError(
                f"The matrix of {' × '.join(map(repr, group.columns))} is over {channel.size} "
                f"cells, and their labels make another number. Verify the release."
            )
        if isinstance(channel, Kronecker) and list(channel.sizes) == sizes:
            for name, factor in zip(group.columns, channel.factors, strict=True):
                if name in wanted:
                    yield Side(Axis.of(factor), (name,), (domains[name],), (name,))
            return
        places = [group.columns.index(name) for name in wanted]
        own = lumped(channel, sizes, places)
        if own is not None:
            kept = tuple(domains[name] for name in wanted)
            yield Side(Axis.of(own), tuple(wanted), kept, tuple(wanted))
            return
        codes = np.unravel_index(np.arange(channel.size), sizes)
        if len(wanted) == len(sizes):
            axis = Axis.of(channel)
            yield Side(axis, group.columns, tuple(domains.values()), group.columns)
            return
        levels = np.ravel_multi_index(
            [codes[place] for place in places], [sizes[place] for place in places]
        )
        axis = Axis.of(channel, levels=levels)
        yield Side(axis, group.columns, tuple(domains.values()), tuple(wanted))


def _alone(column: Published, manifest: Manifest) -> Side:
    domain = _domain(column)
    channel = manifest.channel(column.name)
    if channel.size != domain.size:
        raise ReleaseError(
            f"The matrix of {column.name!r} is over {channel.size} categories, and it has "
            f"{domain.size}. Verify the release."
        )
    axis = Axis.of(channel, kept=int(domain.missing == "keep"))
    return Side(axis, (column.name,), (domain,), (column.name,))


def _domain(column: Published) -> Domain:
    return Domain(tuple(column.labels or ()), column.missing or "refuse")


def _treated(column: Published) -> str:
    return {"pseudonyms": "replaced by pseudonyms"}.get(column.treatment, column.treatment)


def manifest_beside(said: str) -> Manifest:
    """The manifest of a release in a database, which is in a table of its own."""
    try:
        return Manifest.model_validate_json(beside(said))
    except ValidationError:
        raise ReleaseError(
            "The manifest beside the table is not one. Give the manifest of the release."
        ) from None


def _manifest(given: Manifest | str | Path) -> Manifest:
    return given if isinstance(given, Manifest) else Manifest.read(given)


def _inside(folder: Path, manifest: Manifest) -> Path:
    """The file of the data in the folder of a release, wherever its manifest points."""
    data = manifest.data
    if data is None or data.name != f"data.{data.format}" or not (folder / data.name).is_file():
        raise ReleaseError(
            f"The manifest in {str(folder)!r} names no data that are there. Give the folder of a "
            f"whole release; `bistochastic verify` says what is missing."
        )
    return folder / data.name


def _file(path: Path, manifest: Manifest) -> Source:
    data = manifest.data
    delimiter = (data.delimiter if data else None) or ","
    return from_file(path, delimiter=delimiter, missing=_gaps(manifest))


def _gaps(manifest: Manifest) -> tuple[str, ...]:
    """The texts that stand for a missing value in a text file."""
    return (*manifest.plan.get("file", {}).get("missing", ()), "")
