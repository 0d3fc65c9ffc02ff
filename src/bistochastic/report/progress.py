"""How far a long run is, on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bistochastic.report.terminal import console

__all__ = ["counting", "saying"]


@contextmanager
def counting() -> Iterator[Callable[[int], None]]:
    """A line that counts rows and vanishes at the end."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed:,.0f} rows masked"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as shown:
        task = shown.add_task("rows", total=None)
        yield lambda rows: shown.advance(task, rows)


@contextmanager
def saying() -> Iterator[Callable[[str], None]]:
    """A line that says what is being done and vanishes at the end."""
    with console(stderr=True).status("") as shown:
        yield lambda step: shown.update(f"{step} …")
