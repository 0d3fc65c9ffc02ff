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
    with _private() as space:
        path = space / f"input{ending}"
        try:
            with path.open("wb") as file:
                file.write(start)
                shutil.copyfileobj(stream, file)
        except OSError as error:
            raise _unkept(error) from None
        yield path


@contextmanager
def _private() -> Iterator[Path]:
    """A folder for nobody else, gone at the end."""
    try:
        space = Path(tempfile.mkdtemp(prefix="bistochastic-"))
    except OSError as error:
        raise _unkept(error) from None
    try:
        yield space
    finally:
        shutil.rmtree(space, ignore_errors=True)


def _unkept(error: OSError) -> TableError:
    return TableError(
        f"Standard input cannot be kept while it is read: {error.strerror}. Name a folder with "
        f"room for it in TMPDIR, or give a file."
    )
