"""Whether what was promised of a release is what is there: everything that can be recomputed.

A manifest may have been tampered with, so nothing in it is believed: what it says of files and
sizes is compared with what is there before anything is opened or built, and whatever else it leads
to ends as a broken promise.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

from bistochastic.errors import BistochasticError, ReleaseError, TableError
from bistochastic.keystream import Key
from bistochastic.manifest import Manifest, Published
from bistochastic.promises import RANKED, Finding, asked, channels, of_channel, of_plan
from bistochastic.release import MANIFEST, REPORT, fingerprint
from bistochastic.run import protect
from bistochastic.tables.base import Domain, Recode
from bistochastic.tables.local import Local
from bistochastic.tables.numbers import as_numbers
from bistochastic.tables.sources import FORMATS, Source, from_file

__all__ = ["Check", "as_json", "verify"]


@final
@dataclass(frozen=True, slots=True)
class Check:
    """One promise: what was looked at, whether it holds, and what was found."""

    promise: str
    holds: bool
    found: str


def verify(
    folder: str | Path, *, key: Key | None = None, original: str | Path | None = None
) -> list[Check]:
    """Every promise of a release that can be checked, with the key and the original to the byte.

    Args:
        folder: The folder of the release.
        key: The secret it was made with.
        original: The file it was made of.
    """
    where = Path(folder)
    if (key is None) != (original is None):
        raise ReleaseError("Key and original go together: the bytes follow from both.")
    if original is not None and not Path(original).is_file():
        raise TableError(f"There is no file {str(original)!r}.")
    if not where.is_dir():
        raise ReleaseError(f"There is no folder {str(where)!r} of a release.")
    manifest = Manifest.read(where)
    checks = sound("the folder can be read", _folder(where, manifest))
    data = _file(where, manifest)
    rows = 0
    if data is not None:
        found, rows = _rows(data, manifest)
        checks += found
    for name, *channel in channels(manifest, rows):
        checks += sound(f"the matrix of {name} can be rebuilt", of_channel(name, *channel))
    checks += sound("the plan in the manifest can be read", of_plan(manifest, rows))
    if key is not None and original is not None:
        checks += _again(manifest, key, Path(original))
    return checks


def as_json(checks: list[Check]) -> str:
    """Checks for machines."""
    return json.dumps([asdict(check) for check in checks], ensure_ascii=False, indent=1)


def sound(promise: str, findings: Iterable[Finding]) -> list[Check]:
    """What is found, or that nothing could be: no manifest may stop the one who checks it."""
    found: list[Check] = []
    try:
        for finding in findings:
            found.append(Check(*finding))
    except BistochasticError as error:
        found.append(Check(promise, False, str(error)))
    except Exception as error:  # of what a tampered manifest may lead to, only the kind is told
        found.append(Check(promise, False, f"it makes no sense ({type(error).__name__})"))
    return found


def _file(where: Path, manifest: Manifest) -> Path | None:
    """The file of the data, if it is one and its name is that of a release."""
    data = manifest.data
    if data is None or data.format not in FORMATS.values() or data.name != f"data.{data.format}":
        return None
    path = where / data.name
    return path if path.is_file() and not path.is_symlink() else None


def _folder(where: Path, manifest: Manifest) -> Iterator[Finding]:
    """The files are those that were published, and no others."""
    path, data = _file(where, manifest), manifest.data
    if path is None or data is None:
        named = "the manifest names no data" if data is None else f"no file {data.name!r:.60} there"
        yield ("the data are there", False, named)
    else:
        same = fingerprint(path) == data.sha256 and path.stat().st_size == data.bytes
        yield (
            "the data are those that were published",
            same,
            "size and SHA-256 as in the manifest" if same else "size or SHA-256 differ",
        )
    if manifest.report is not None:
        page = where / REPORT
        there = page.is_file() and not page.is_symlink()
        same = there and fingerprint(page) == manifest.report
        yield (
            "the report is the one that was published",
            same,
            "SHA-256 as in the manifest" if same else "it is not there, or its SHA-256 differs",
        )
    known = {None if path is None else path.name, MANIFEST, REPORT}
    others = sum(entry.name not in known for entry in where.iterdir())
    yield (
        "nothing else is in the folder",
        not others,
        f"{others} other files" if others else "data, manifest and report only",
    )


def _rows(path: Path, manifest: Manifest) -> tuple[list[Check], int]:
    """The table has the rows, the columns and no other labels than the manifest says."""
    counted = 0

    def looked() -> Iterator[Finding]:
        nonlocal counted
        data: Any = manifest.data
        gaps = (*manifest.plan.get("file", {}).get("missing", ()), "")
        source = from_file(path, delimiter=data.delimiter or ",", missing=gaps)
        wanted = tuple(c.name for c in manifest.columns if c.treatment != "dropped")
        same = source.names == wanted
        yield (
            "the columns are those of the manifest",
            same,
            f"{len(wanted)} columns" if same else "names or their order differ",
        )
        table = Local(source, tuple(_lookers(manifest, source.names)))
        counted = table.counted()
        told = counted == manifest.rows == data.rows
        yield ("the rows are as many as declared", told, f"{counted} rows")
        faults = table.surveyed()
        yield (
            "every reported value is in its declared domain",
            not faults,
            "; ".join(fault.sentence for fault in faults) or "all of them",
        )
        wrong = [
            repr(column.name)
            for column in manifest.columns
            if column.treatment in RANKED and _present(column.name, source) != _counted(column)
        ]
        yield (
            "as many have a number as declared",
            not wrong,
            f"not so in {', '.join(wrong)}" if wrong else "in every column of numbers",
        )

    return sound("the data can be read", looked()), counted


def _present(name: str, source: Source) -> int:
    """How many have a number in a column; only that column is held."""
    column = source.frame.select(name).collect(engine="streaming")[name]
    return int(as_numbers(column, source)[1].sum())


def _counted(column: Published) -> int:
    """How many individuals the matrix of a column is said to be over."""
    return 0 if column.channel is None else column.individuals or 0


def _lookers(manifest: Manifest, names: tuple[str, ...]) -> Iterator[Recode]:
    """Steps that only look whether values are in their domain."""
    for column in manifest.columns:
        reported = column.treatment in ("randomised", "together") and column.name in names
        if column.labels and reported:
            domain = Domain(column.labels, column.missing or "refuse")
            yield Recode((column.name,), (domain,), lambda codes, start, ids: codes)


def _again(manifest: Manifest, key: Key, original: Path) -> list[Check]:
    """The very bytes, made once more."""

    def looked() -> Iterator[Finding]:
        with TemporaryDirectory() as space:
            made = protect(original, asked(manifest), key)
            made.write(Path(space) / "again")
            found = Manifest.read(Path(space) / "again")
        old, new = manifest.data, found.data
        same = old is not None and new is not None and old.sha256 == new.sha256
        yield (promise, same, "identical" if same else "another file comes out")
        beside = {"version": manifest.version, "report": manifest.report}
        told = found.model_copy(update=beside) == manifest
        yield ("and the very manifest", told, "identical" if told else "another manifest comes out")

    promise = "key and original give the very bytes"
    return sound(promise, looked())
