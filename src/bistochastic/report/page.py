"""A page: parts with sentences, facts, drawings, tables and code, written as one HTML file.

The file needs nothing but itself: no script, no network. Whatever is told stands in it as text,
and is escaped where it is put in.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, final

from bistochastic.errors import ReleaseError
from bistochastic.report.drawing.sheet import COLOURS, Drawing, Table, plain

__all__ = ["DARK", "Fact", "Page", "Part", "Sentence", "html", "put", "refuse_taken"]

NUMERIC = re.compile(r"[−×+]?\s?[\d∞]")

# The same names as `COLOURS`, for readers whose screens are dark.
DARK = {
    "ink": "#e6e9ec",
    "soft": "#a9b3bd",
    "line": "#39424c",
    "accent": "#4fc3b8",
    "second": "#f2a65a",
    "third": "#b79cf0",
    "paper": "#12161b",
    "shade": "#1d242c",
}


@final
class Sentence(NamedTuple):
    """What is said of something, which is named first."""

    about: str
    says: str


@final
class Fact(NamedTuple):
    """A number with its name and, in a few words, what it means."""

    name: str
    value: str
    means: str = ""


@final
@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page under its heading; what is empty is not shown."""

    title: str
    texts: Sequence[str] = ()
    sentences: Sequence[Sentence] = ()
    facts: Sequence[Fact] = ()
    drawings: Sequence[Drawing] = ()
    table: Table | None = None
    code: str = ""
    parts: "Sequence[Part]" = ()
    alert: bool = False  # whether it is about something that should not be overlooked


@final
@dataclass(frozen=True, slots=True)
class Page:
    """All that a reader is told."""

    title: str
    kind: str  # what sort of page this is, in a few words
    lead: str  # the whole in one sentence
    parts: Sequence[Part]
    sentences: Sequence[Sentence] = field(default=())
    confidential: bool = False
    footer: str = ""


def html(page: Page) -> str:
    """The page as one file."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("bistochastic.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_plain,
    )
    environment.filters["sides"] = sides
    template = environment.get_template("page.html.j2")
    return template.render(page=page, parts=list(_numbered(page.parts)), light=COLOURS, dark=DARK)


def sides(table: Table) -> list[str]:
    """The class of each column of a table: numbers stand to the right, words to the left.

    >>> sides(Table(("a", "b"), (("x", "1.5"), ("y", ""))))
    ['words', 'numbers']
    """
    columns = zip(*table.lines, strict=True)
    found = [all(NUMERIC.match(cell) for cell in column if cell) for column in columns]
    return ["numbers" if numeric and place else "words" for place, numeric in enumerate(found)]


def _plain(given: Any) -> Any:
    """What is put in, without characters no page may hold; markup of ours is left as it is."""
    return plain(given, keep="\n") if type(given) is str else given


def _numbered(parts: Sequence[Part]) -> Iterator[tuple[str, Part, list[tuple[str, Part]]]]:
    """Each part with an anchor of its own, and the parts in it with theirs."""
    for place, part in enumerate(parts, start=1):
        inner = [(f"part-{place}-{own}", one) for own, one in enumerate(part.parts, start=1)]
        yield f"part-{place}", part, inner


def put(text: str, path: str | Path) -> Path:
    """Write a page where no file is yet."""
    refuse_taken(path)
    where = Path(path)
    try:
        file = where.open("x", encoding="utf-8", newline="\n")
    except FileExistsError:
        raise _taken(where) from None
    except OSError as error:
        raise ReleaseError(f"{str(where)!r} cannot be written: {error.strerror}.") from None
    try:
        with file:
            file.write(text)
    except BaseException as error:  # half a page would be in the way of the next try
        where.unlink(missing_ok=True)  # "x" made it, so it is ours
        if isinstance(error, OSError):
            raise ReleaseError(f"{str(where)!r} cannot be written: {error.strerror}.") from None
        raise
    return where


def refuse_taken(path: str | Path) -> None:
    """Refuse a file that is there already, before anything is computed for it."""
    if os.path.lexists(path):
        raise _taken(Path(path))


def _taken(path: Path) -> ReleaseError:
    return ReleaseError(f"{str(path)!r} exists and is not written over. Choose another name.")
