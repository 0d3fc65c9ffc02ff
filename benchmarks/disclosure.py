"""Disclosure: what intruders learn and what analysts need, by formula and by the dense twin."""

from collections.abc import Callable, Iterator

import numpy as np
from rich.table import Table

import bistochastic as bs
from benchmarks.timing import best, seconds, table
from bistochastic.matrices.inverse import inverse_squares
from bistochastic.measures.posterior import Alone

SMALL, LARGE = 2000, 10**6

CHANNELS: dict[str, Callable[[int], bs.Bistochastic]] = {
    "mixture": lambda n: bs.Mixture(n, truth=0.7),
    "tridiagonal": lambda n: bs.Tridiagonal(np.full(n - 1, 0.2)),
    "circulant, 3 steps": lambda n: bs.Circulant(np.r_[0.7, 0.2, 0.1, np.zeros(n - 3)]),
    "blocks of 5": lambda n: bs.Blocks(np.full(n // 5, 5)),
    "window, width 5": lambda n: bs.Window(n, width=5),
    "mixture ⊗ tridiagonal": lambda n: bs.Kronecker(
        bs.Mixture(n // 20, truth=0.7), bs.Tridiagonal(np.full(19, 0.2))
    ),
}


def tables() -> Iterator[Table]:
    """Every table, as it is measured."""
    yield against_the_twin()
    yield a_million()


def prior(n: int) -> np.ndarray:
    """A distribution in which no two categories are alike."""
    weights = 2 + np.cos(np.arange(n))
    return weights / weights.sum()


def read(channel: bs.Channel, share: np.ndarray) -> None:
    """Every quantity of every report."""
    told = Alone(channel, share)
    codes = np.arange(channel.size)
    told.deniability(codes), told.guess(codes)
    _ = told.mutual_information, told.posterior_vulnerability


def against_the_twin() -> Table:
    """How much a formula saves over the array."""
    made = table(
        f"Structure against dense twin, n = {SMALL} (times the twin needs)",
        "channel", "deniability, guesses, information", "squares of the inverse",
    )  # fmt: skip
    share = prior(SMALL)
    for name, make in CHANNELS.items():
        channel = make(SMALL)
        twin = bs.Dense(channel.to_dense())
        ratio = best(lambda: read(twin, share), 1) / best(lambda: read(channel, share))
        undone = "singular"
        if not channel.singular and name != "window, width 5":
            whole = best(lambda: np.linalg.inv(twin.array.T) ** 2 @ share, 1)
            undone = f"{whole / best(lambda: inverse_squares(channel, share)):,.0f}"
        made.add_row(name, f"{ratio:,.0f}", "by columns" if "window" in name else undone)
    return made


def a_million() -> Table:
    """The same at n = 10⁶, where the twin would need 8 TB, beside one sort of as many numbers."""
    share = prior(LARGE)
    floor = best(lambda: np.sort(share))
    made = table(
        f"n = 10⁶ in multiples of one sort ({seconds(floor)})",
        "channel", "deniability, guesses, information", "squares of the inverse",
    )  # fmt: skip
    for name, make in CHANNELS.items():
        channel = make(LARGE)
        cells = [f"{best(lambda: read(channel, share), 1) / floor:.1f}"]
        if name.startswith(("mixture", "tridiagonal", "circulant")):
            cells.append(f"{best(lambda: inverse_squares(channel, share), 1) / floor:.1f}")
        made.add_row(name, *cells, *["–"] * (2 - len(cells)))
    return made
