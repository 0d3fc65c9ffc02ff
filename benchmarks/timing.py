"""How a time is taken and shown, the same in every table."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

from rich.table import Table


def best(call: Callable[[], Any], runs: int = 3) -> float:
    """The shortest of several runs, in seconds."""
    times = []
    for _ in range(runs):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


def seconds(time: float) -> str:
    """A time in the unit that suits it."""
    if time < 1e-3:
        return f"{time * 1e6:.0f} µs"
    return f"{time * 1e3:.0f} ms" if time < 1 else f"{time:.2f} s"


def table(title: str, *columns: str) -> Table:
    """An empty table whose first column is text and whose others are numbers."""
    made = Table(title=title, title_justify="left", title_style="bold")
    for number, column in enumerate(columns):
        made.add_column(column, justify="right" if number else "left")
    return made
