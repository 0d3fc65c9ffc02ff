"""What several commands say and take alike."""

import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

__all__ = [
    "AS_JSON",
    "HERE",
    "TABLE",
    "THERE",
    "VARIANCE",
    "called",
    "estimating",
    "progress",
    "read_plan",
    "refuse",
    "refuse_page",
    "spooled",
    "the_key",
    "write_page",
]

Command = TypeVar("Command", bound=Callable[..., Any])

HERE = click.Path(path_type=Path)
THERE = click.Path(path_type=Path, exists=False)

AS_JSON = click.option("--json", "as_json", is_flag=True, help="For machines.")
VARIANCE = click.option(
    "--variance", type=click.Choice(["sample", "file"]), default="sample", show_default=True,
    help="Whether respondents are a sample, or the file is all there are.",
)  # fmt: skip
LEVEL = click.option(
    "--level", type=float, default=0.95, show_default=True, help="Of the intervals."
)
WEIGHT = click.option("--weight", help="A column of survey weights.")


def estimating(command: Command) -> Command:
    """The last options of every command that estimates: level, weight and JSON."""
    return LEVEL(WEIGHT(AS_JSON(command)))


def TABLE(value: str) -> str | Path:  # a type of parameters, as its neighbours are
    """The path of a file, or the address of a table in a database, which is no path."""
    address = value.lower().startswith(("postgresql://", "postgres://", "sqlite://"))
    return value if address else Path(value)


def called(place: str | Path) -> str:
    """The name of a file, or of a table in a database."""
    if isinstance(place, Path):
        return place.name
    from bistochastic.tables.connections import Database

    return Database.of(place).name


def refuse(message: str, code: int) -> NoReturn:
    """Say what is wrong, on the other channel, and end."""
    click.echo(f"bistochastic: {message}", err=True)
    sys.exit(code)


def read_plan(path: Path, kind: Any) -> Any:
    """A plan from a file, or from standard input for a dash."""
    if str(path) == "-":
        return kind.from_text(sys.stdin.read(), name="standard input")
    return kind.read(path)


def the_key(path: Path | None) -> Any:
    """The key in a file or, where there is none yet, a new one that is put there."""
    from bistochastic.keystream import Key

    if path is None:
        return Key.new()
    if path.exists() or path.is_symlink():
        return Key.read(path)
    key = Key.new()
    key.write(path)
    return key


def spooled(data: str | Path) -> Any:
    """The file itself; standard input is put into a file of its own first, to be read twice."""
    if str(data) != "-":
        return nullcontext(data)
    from bistochastic.standard import from_standard_input

    return from_standard_input(sys.stdin.buffer)


def progress(quiet: bool) -> Any:
    """Rows so far on a terminal; nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        return nullcontext(lambda rows: None)
    from bistochastic.report.progress import counting

    return counting()


def refuse_page(html: Path | None) -> None:
    """Refuse to write over a page, before anything is computed for it."""
    if html is not None:
        from bistochastic.report.page import refuse_taken

        refuse_taken(html)


def write_page(page: Any, html: Path, *, as_: str) -> None:
    """Write a page, and say on the other channel what it is as confidential as."""
    from bistochastic.report.page import html as written
    from bistochastic.report.page import put

    put(written(page), html)
    click.echo(f"Wrote {html}: keep it as the {as_}.", err=True)
