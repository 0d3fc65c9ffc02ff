"""Parts: what workers wrote, put together as the very file that one machine writes."""

import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from bistochastic.errors import BistochasticError, ReleaseError
from bistochastic.tables.local import refuse_full, sink
from bistochastic.tables.sources import Source

__all__ = ["Part", "put_together", "rising"]


class Part(NamedTuple):
    """Rows that a worker has written into a file of their own."""

    first: int
    last: int
    rows: int
    sorted: bool
    file: str


def rising(parts: list[Part]) -> bool:
    """Whether the rows of the parts, by the names of their files, are in the order of numbers."""
    return all(part.sorted for part in parts) and all(a.last < b.first for a, b in pairwise(parts))


def put_together(
    parts: list[Part], folder: Path, path: Path, source: Source, types: dict[str, Any]
) -> int:
    """One file of all parts in their order, the very bytes that one machine would have written."""
    files = [folder / part.file for part in parts]
    if any(not file.is_file() for file in files):
        raise ReleaseError(
            "What the workers of Spark wrote is not here: they do not see the folder of the "
            "release. Give one that all of them see, or write the frame (`release.data`) with "
            "Spark."
        )
    try:
        if source.text:
            header = pl.DataFrame(schema=types).write_csv(separator=source.delimiter)
            with path.open("wb") as whole:
                whole.write(header.encode())
                for file in files:
                    with file.open("rb") as part:
                        shutil.copyfileobj(part, whole, 1 << 20)
        else:
            nothing = pl.LazyFrame(schema=types)
            sink(pl.scan_ipc(files, glob=False) if files else nothing, path, source)
    except BistochasticError:
        raise
    except (OSError, pl.exceptions.PolarsError) as error:
        refuse_full(str(error))
        raise ReleaseError(
            "The release cannot be written: its parts cannot be put together. Nothing was "
            "published. Make room, or give a folder elsewhere."
        ) from None
    return sum(part.rows for part in parts)
