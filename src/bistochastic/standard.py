"""Standard input as a file: a table is read more than once, and a pipe only gives it once."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from bistochastic.errors import TableError

__all__ = ["from_standard_input"]

MAGIC = {
    b"PAR1": ".parquet",
    b"ARRO": ".arrow",
    b"\x1f\x8b": ".csv.gz",
    b"\x28\xb5\x2f\xfd": ".csv.zst",
}


@contextmanager
def from_standard_input(stream: IO[bytes]) -> Iterator[Path]:
    """What comes in, in a private file that is removed at the end; its first bytes say its kind."""
    start = stream.read(4)
    if not start:
        raise TableError("Standard input is empty.")
    ending = next((MAGIC[mark] for mark in MAGIC if start.startswith(mark)), ".csv")
    with tempfile.TemporaryDirectory(prefix="bistochastic-") as space:
        path = Path(space) / f"input{ending}"
        with path.open("wb") as file:
            file.write(start)
            shutil.copyfileobj(stream, file)
        yield path
