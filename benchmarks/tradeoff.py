"""The trade-off: a certified point beside a general conic solver and the paper's descent."""

from collections.abc import Iterator

import numpy as np
from rich.table import Table

import bistochastic as bs
from benchmarks.timing import best, seconds, table
from bistochastic.tradeoff.conic import conic
from bistochastic.tradeoff.descent import alternating, steepest

MULTIPLIER = 1.21606648199446
STEPS = 1000  # of a descent, of which the paper takes 32,000


def tables() -> Iterator[Table]:
    """Every table, as it is measured."""
    yield points()
    yield curves()


def gaussian(points: int) -> bs.Tradeoff:
    """Two normal variables of correlation 0.95 on a grid, squared distance."""
    grid = np.linspace(-3, 3, points)
    density = bs.discretised(bs.gaussian_density(0.95), grid, grid)
    return bs.tradeoff(density, bs.squared(grid))


def points() -> Table:
    """One point: what it costs to be certain, and what steps cost that never are."""
    made = table(
        "One point of the curve, w × x × x̂ values",
        "values", "ours", "gap, nats", "Clarabel", "ratio",
        f"descent, {STEPS} steps", "its excess", "Blahut–Arimoto’s step", "its excess",
    )  # fmt: skip
    for size in (11, 31, 61, 101):
        function = gaussian(size)
        problem, slope = function.problem, function.problem.span / MULTIPLIER
        point = function.point(multiplier=MULTIPLIER)
        ours = best(lambda: function.point(multiplier=MULTIPLIER), 2)
        row = [f"{size} × {size} × {size}", seconds(ours), f"{point.gap:.0e}"]
        if size <= 61:
            general = best(lambda: conic(problem, slope), 1)
            row += [seconds(general), f"{general / ours:.1f}"]
        else:
            row += ["", ""]
        for descent in (steepest, alternating):
            time = best(lambda: descent(problem, slope, steps=STEPS), 1)
            placed = function.place(problem.whole(descent(problem, slope, steps=STEPS)))
            cost = placed.distortion + MULTIPLIER * placed.risk
            row += [seconds(time), f"{cost - point.cost:.0e}"]
        made.add_row(*row)
    return made


def curves() -> Table:
    """Fifty points from neighbour to neighbour, beside as many from nothing."""
    made = table("The curve at fifty distortions", "values", "ours", "point by point", "ratio")
    for size in (11, 31):
        function = gaussian(size)
        found = function.curve(50)
        whole = best(lambda: function.curve(50), 2)
        alone = best(lambda: [function.point(distortion=d) for d in found.distortion], 2)
        made.add_row(
            f"{size} × {size} × {size}", seconds(whole), seconds(alone), f"{alone / whole:.2f}"
        )
    return made
