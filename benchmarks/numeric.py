"""Numeric columns: drawing, permuting and averaging ten million individuals, beside one sort."""

from collections.abc import Callable, Iterator

import numpy as np
from rich.table import Table

import bistochastic as bs
from benchmarks.timing import best, seconds, table
from bistochastic.keystream import Key

N = 10**7
NAMED = {"release": "benchmark", "column": "income"}

MATRICES: dict[str, Callable[[], bs.Bistochastic]] = {
    "secrecy": lambda: bs.secrecy(N),
    "blocks of 5": lambda: bs.Blocks(np.full(N // 5, 5)),
    "mixture, truth 0.7": lambda: bs.Mixture(N, truth=0.7),
    "tridiagonal": lambda: bs.Tridiagonal(np.full(N - 1, 0.3)),
    "window, width 50": lambda: bs.Window(N, width=50),
    "window, 5 % of N": lambda: bs.Window(N, width=N // 20),
}


def tables() -> Iterator[Table]:
    """Every table, as it is measured."""
    yield ten_million_individuals()
    yield best_noise()


def ten_million_individuals() -> Table:
    """Whole columns, ranking and words and all, as multiples of one stable sort of them."""
    values = np.random.default_rng(1).lognormal(size=N)
    key = Key.new()
    sort = best(lambda: np.argsort(values, kind="stable"), 2)
    made = table(
        f"A column of 10⁷ individuals (times one sort of it, {seconds(sort)})",
        "matrix", "permute", "draw", "average",
    )  # fmt: skip
    for name, make in MATRICES.items():
        matrix = make()
        times = (
            best(lambda: bs.permute(values, matrix, key, **NAMED), 1),
            best(lambda: bs.draw(values, matrix, key, **NAMED), 1),
            best(lambda: bs.average(values, matrix, insist=True), 1),
        )
        made.add_row(name, *(f"{time / sort:.1f}" for time in times))
    return made


def best_noise() -> Table:
    """The perturbation of least risk: how long it takes to find, and how well it is certified."""
    made = table("perturbation(), 10⁵ rows, distortion 0.2", "columns", "time", "gap in nats")
    for columns in (1, 2, 5, 10, 20):
        generator = np.random.default_rng(columns)
        mixed = generator.normal(size=(10**5, columns + 1)) @ generator.normal(
            size=(columns + 1, columns + 1)
        )
        own, secret = mixed[:, :columns], mixed[:, columns]
        plan = bs.perturbation(own, 0.2, confidential=secret)
        time = best(lambda: bs.perturbation(own, 0.2, confidential=secret), 1)
        made.add_row(str(columns), seconds(time), f"{plan.gap:.0e}")
    return made
