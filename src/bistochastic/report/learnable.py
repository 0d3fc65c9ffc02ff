"""What an intruder can learn and what analysts need more of, on a terminal."""

import math
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from bistochastic.manifest import Disclosed

__all__ = ["learnable"]

LEGEND = {
    "best guess": "how often it is right behind the report that tells most, all truths being "
    "equally likely beforehand",
    "odds": "the most that a report multiplies the odds between two truths by, whatever is "
    "believed beforehand",
    "gain": "of 100 people, for how many more at most a report makes the best guess right, "
    "whatever is believed beforehand",
    "respondents": "times as many as without it for equally precise shares; never, if shares "
    "cannot be recovered from any number",
}


def learnable(disclosed: Sequence[Disclosed]) -> Iterable[RenderableType]:
    """A line for each channel, a sentence for each, and what the headings mean."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("intruders learn", style="bold", overflow="fold", min_width=15)
    for heading in ("best guess", "odds", "gain", "respondents"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in disclosed:
        table.add_row(_name(one), _guess(one), _times(one.odds), _gain(one), _respondents(one))
    yield table
    yield Text()
    for one in disclosed:
        for sentence in one.says:
            yield Text.assemble((f"{_name(one)}: ", "bold"), sentence)
    yield Text()
    for heading, says in LEGEND.items():
        yield Text.assemble((f"{heading}: ", "italic"), (says, "dim"))


def _name(one: Disclosed) -> str:
    return " × ".join(one.columns)


def _guess(one: Disclosed) -> str:
    return "" if one.guess is None else f"{100 * one.guess:.0f} of 100"


def _gain(one: Disclosed) -> str:
    return f"+{math.ceil(100 * one.increase - 1e-9)}"


def _respondents(one: Disclosed) -> str:
    if not one.recoverable:
        return "never"
    return "" if one.respondents is None else _times(one.respondents)


def _times(factor: float) -> str:
    if math.isinf(factor):
        return "any"
    return f"×{factor:.3g}" if factor < 1000 else f"×{factor:.1e}"
