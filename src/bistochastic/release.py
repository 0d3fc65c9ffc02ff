"""A release: the masked table and its manifest, and the folder they are published in."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self, final

from bistochastic.errors import ReleaseError
from bistochastic.folder import appearing
from bistochastic.manifest import Data, Manifest
from bistochastic.tables.base import Table
from bistochastic.tables.connections import Database, is_database
from bistochastic.tables.databases import published, refuse_present
from bistochastic.tables.sources import from_file

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bistochastic.telling import Audience

__all__ = ["MANIFEST", "REPORT", "Release", "fingerprint"]

MANIFEST = "manifest.json"
REPORT = "report.html"
STEP = 1 << 20
PAUSE = 0.02  # seconds between looks at a file that has not grown


@final
class Release:
    """What may be published. Made by `protect`; nothing in it tells the key."""

    __slots__ = ("_manifest", "_masked", "_table")

    def __init__(self, table: Table, manifest: Manifest) -> None:
        self._table = table
        self._masked: Any = None
        self._manifest = manifest

    @property
    def manifest(self) -> Manifest:
        """What was done and what it guarantees; its `data` are known once it is written."""
        if self._manifest.rows < 0:  # a text file, whose rows nobody has counted yet
            counted = {"rows": self._table.counted()}
            self._manifest = self._manifest.model_copy(update=counted)
        return self._manifest

    @property
    def data(self) -> Any:
        """The masked table, as the kind of dataframe that came in; of a file, as Polars."""
        back = self._table.source.back
        return self._frame() if back is None else back(self._frame())

    @property
    def text(self) -> bool:
        """Whether it was made of a text file, in which every cell is a text."""
        return bool(self._table.source.text)

    def _frame(self) -> Any:
        if self._masked is None:
            self._masked = self._table.masked()
        return self._masked

    def report(
        self,
        path: str | Path,
        *,
        audience: "Audience" = "public",
        original: Any = None,
        prior: "Mapping[str, ArrayLike] | None" = None,
    ) -> Path:
        """Write what people are told of the release, as one HTML file that needs nothing else.

        Args:
            path: The file; none may be there yet.
            audience: `"public"` tells what the release tells anyway, `"internal"` also the risks
                and losses that only the original does.
            original: What the release was made of, a file or a dataframe; for `"internal"` only.
            prior: What a reader thinks of a column beforehand, a share for each category; all are
                equally likely unless given.
        """
        from bistochastic.report.page import put, refuse_taken
        from bistochastic.telling import told

        refuse_taken(path)

        frame, source = self._frame(), self._table.source
        if not hasattr(frame, "lazy"):  # of another engine, whose rows are not here
            raise ReleaseError(
                "A report is made of rows that are on this machine. Write the release into a "
                "folder first, then: bistochastic report FOLDER --html FILE."
            )
        masked = replace(
            source, frame=frame.lazy(), names=tuple(frame.columns), where="the masked table",
            lines=None,
        )  # fmt: skip
        text = told(self.manifest, masked, audience=audience, original=original, prior=prior)
        return put(text, path)

    def write(self, folder: str | Path, *, report: bool = False) -> Path | None:
        """Publish the data and the manifest in a folder, which appears whole or not at all.

        The address of a table in a database will do as well; its manifest is in a table beside it,
        of the same name with `_manifest` at its end, and nothing comes back.

        Args:
            folder: The folder, not there yet or empty; or a table, not there yet.
            report: Whether the public report is published beside them, as `report.html`.
        """
        if isinstance(folder, str) and is_database(folder):
            self._into(folder)
            return None
        source = self._table.source
        with appearing(folder) as hidden:
            path = hidden / f"data.{source.extension}"
            with Following(path) as following:
                rows = self._table.write(path)
            data = self._described(path, rows, following.hexdigest())
            told = self._manifest.model_copy(update={"rows": rows, "data": data})
            if report:
                told = self._reported(told, path)
            (hidden / MANIFEST).write_text(told.text(), encoding="utf-8", newline="\n")
        self._manifest = told
        return Path(folder)

    def _reported(self, told: Manifest, path: Path) -> Manifest:
        """The manifest, with the hash of the public report that is now beside the data."""
        from bistochastic.telling import told as page

        source = self._table.source
        released = from_file(path, delimiter=source.delimiter, missing=(*source.missing, ""))
        text = page(told, released).encode()  # whatever the folder is called
        (path.parent / REPORT).write_bytes(text)
        return told.model_copy(update={"report": hashlib.sha256(text).hexdigest()})

    def _into(self, database: str) -> None:
        refuse_present(Database.of(database))
        with TemporaryDirectory(prefix="bistochastic-") as space:
            path = Path(space) / f"data.{self._table.source.extension}"
            rows = self._table.write(path)
            told = self._manifest.model_copy(update={"rows": rows, "data": None})
            source = self._table.source
            masked = from_file(path, delimiter=source.delimiter, missing=source.missing)
            published(database, masked.frame, told.text())
        self._manifest = told

    def _described(self, path: Path, rows: int, sha256: str) -> Data:
        source = self._table.source
        return Data(
            name=path.name,
            format=source.extension,
            rows=rows,
            bytes=path.stat().st_size,
            sha256=sha256,
            delimiter=source.delimiter if source.text else None,
            gap=next(iter(source.missing), "") if source.text else None,
        )

    def __repr__(self) -> str:
        return f"<Release {self._manifest.release!r}>"


@final
class Following:
    """The SHA-256 of a file while it is being written from its beginning to its end."""

    def __init__(self, path: Path) -> None:
        self._path, self._state, self._ended = path, hashlib.sha256(), Event()
        self._thread = Thread(target=self._follow, daemon=True)
        self._error: OSError | None = None

    def __enter__(self) -> Self:
        self._path.touch()
        self._thread.start()
        return self

    def __exit__(self, *trace: object) -> None:
        self._ended.set()
        self._thread.join()

    def _follow(self) -> None:
        try:
            space = memoryview(bytearray(STEP))
            with self._path.open("rb", buffering=0) as file:
                while True:
                    ended = self._ended.is_set()  # asked before the last look, not after
                    size = file.readinto(space)
                    if size:
                        self._state.update(space[:size])
                    elif ended:
                        return
                    else:
                        self._ended.wait(PAUSE)
        except OSError as error:
            self._error = error

    def hexdigest(self) -> str:
        """The digest of all that was written."""
        if self._error is not None:
            raise self._error
        return self._state.hexdigest()


def fingerprint(path: Path) -> str:
    """The SHA-256 of a published file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ReleaseError(f"{path.name!r} cannot be read: {error.strerror}.") from None
