"""What a terminal shows fits it, and loses nothing by being narrow."""

from functools import cache

import pytest
from rich.cells import cell_len
from rich.console import Console

import bistochastic as bs
from bistochastic.population import PLAN
from bistochastic.report.terminal import explained

LONG = """
release = "long"
rows = 1000000

[columns."a name that is longer than most, and has words"]
role = "key"
kind = "ordinal"
domain = {first = 1, last = 120}
missing = "refuse"
matrix = "tridiagonal"
beta = 0.1

[columns.income]
role = "confidential"
kind = "numeric"
how = "permute"
matrix = "blocks"
k = 1000
"""


@cache
def told_of(plan: str):
    """What there is to say."""
    return bs.Plan.from_text(plan).explain()


def shown(plan: str, width: int) -> str:
    """What is explained of a plan in a plain terminal of so many columns."""
    told = told_of(plan)
    console = Console(width=width, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(
            explained(
                told.release,
                told.columns,
                told.together,
                told.totals,
                told.warnings,
                told.families,
                rows=told.rows,
                disclosed=told.disclosed,
            )
        )
    return capture.get()


def words(text: str) -> set[str]:
    """Everything that is told, but for bars and lines."""
    return {word for word in text.split() if word.strip("─█▉▊▋▌▍▎▏·")}


@pytest.mark.parametrize("width", [80, 90, 99])
@pytest.mark.parametrize("plan", [PLAN, LONG])
def test_a_narrow_terminal_tells_what_a_wide_one_tells(plan, width):
    """At eighty columns no heading, number or word of an explanation is cut off."""
    narrow = shown(plan, width)
    assert max(cell_len(line) for line in narrow.splitlines()) <= width
    assert words(shown(plan, 100)) - {"sides"} <= words(narrow)
