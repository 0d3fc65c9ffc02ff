"""Opening: whatever a person calls a table by, a file or an address, becomes a source."""

from pathlib import Path

from bistochastic.tables.connections import is_database
from bistochastic.tables.databases import from_database
from bistochastic.tables.sources import Source, from_file

__all__ = ["from_place"]


def from_place(
    place: str | Path,
    *,
    delimiter: str = ",",
    missing: tuple[str, ...] = ("",),
    records: str | None = None,
    ordered: bool = True,
) -> Source:
    """A file, or a table of a database; see `from_file` and `from_database`."""
    if isinstance(place, str) and is_database(place):
        return from_database(place, records=records, ordered=ordered)
    return from_file(Path(place), delimiter=delimiter, missing=missing)
