"""The permutation paradigm: a million records and ten columns, beside sorts of the same columns."""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from rich.table import Table

import bistochastic as bs
from benchmarks.timing import best, seconds, table

N, COLUMNS = 10**6, 10
ALPHAS = (1.0, 0.5, 0.0, -1.0, -4.0, -np.inf)
THETAS = (1.0, 2.0, 4.0, np.inf)


def tables() -> Iterator[Table]:
    """Every table, as it is measured."""
    yield one_file()
    yield dominance_of_long_files()
    yield permutations_to_a_target()


def file() -> list[tuple[Any, Any]]:
    """Columns as files have them: measured, rounded, money in whole numbers, and codes."""
    generator = np.random.default_rng(1)
    columns = []
    for number in range(COLUMNS):
        x = generator.normal(size=N)
        y = x + generator.normal(0, 0.3, N)
        kinds: tuple[Callable[[Any], Any], ...] = (
            lambda z: z,
            lambda z: z.round(2),
            lambda z: (30_000 * np.exp(z)).astype(np.int64),
            lambda z: (20 + 5 * z).astype(np.int64),
        )
        kind = kinds[number % len(kinds)]
        columns.append((kind(x), kind(y)))
    return columns


def one_file() -> Table:
    """All measures of a file, as multiples of what sorting takes."""
    columns = file()
    sort = best(lambda: [np.sort(x) for x, _ in columns])
    ranks = best(lambda: [np.argsort(x, kind="stable") for x, _ in columns], 1)
    told = [bs.displacement(x, y) for x, y in columns]
    made = table(
        f"10⁶ records × 10 columns (np.sort of the originals {seconds(sort)}, stable argsort "
        f"{seconds(ranks)})",
        "", "time", "sorts", "argsorts",
    )  # fmt: skip
    steps: dict[str, Callable[[], Any]] = {
        "displacements": lambda: [bs.displacement(x, y) for x, y in columns],
        "D(α) at 6 α, T, TD": lambda: [
            (one.protection(ALPHAS), one.moved, one.moved_protection()) for one in told
        ],
        "least T": lambda: [one.least_moved for one in told],
        "ties at random": lambda: [one.tied_at_random() for one in told],
        "I(θ) at 4 θ of 45 pairs": lambda: [
            bs.information_loss(one, other, THETAS) for one, other in combinations(told, 2)
        ],
        "permuted privacy": lambda: [
            bs.permuted_privacy(x, y).diversity(100, 0.9) for x, y in columns
        ],
    }
    for name, step in steps.items():
        time = best(step, 1)
        made.add_row(name, seconds(time), f"{time / sort:.1f}", f"{time / ranks:.1f}")
    return made


def dominance_of_long_files() -> Table:
    """Deciding for all α, as a multiple of D(α) at a grid of 100, which decides nothing."""
    generator = np.random.default_rng(2)
    made = table(
        "dominance(), protection", "records", "time", "grids of 100 α", "verdict", "because"
    )
    for n in (10**3, 10**5, 10**6):
        x = generator.normal(size=n)
        one, other = (bs.displacement(x, x + generator.normal(0, 0.3, n)) for _ in range(2))
        grid = best(lambda: [some.protection(np.linspace(-4, 1, 100)) for some in (one, other)], 1)
        time = best(lambda: bs.dominance(one, other), 1)
        told = bs.dominance(one, other)
        made.add_row(f"{n}", seconds(time), f"{time / grid:.2f}", told.verdict, told.reason)
    return made


def permutations_to_a_target() -> Table:
    """Meeting a D(α), as a multiple of one stable sort of the column."""
    values = np.random.default_rng(3).lognormal(size=N)
    sort = best(lambda: np.argsort(values, kind="stable"), 2)
    key = bs.Key.new()
    made = table(f"displace(), 10⁶ records (one sort {seconds(sort)})", "target", "time", "sorts")
    for alpha in (1.0, 0.0):
        for target in (10.0, 10_000.0):
            time = best(
                lambda: bs.displace(
                    values, target, key, alpha=alpha, release="benchmark", column="income"
                ),
                1,
            )
            made.add_row(f"D({alpha:g}) = {target:g}", seconds(time), f"{time / sort:.1f}")
    return made
