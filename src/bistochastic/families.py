"""The families side by side at three budgets."""

import io
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

import bistochastic as bs

__all__ = ["BUDGETS", "SIZE", "Offer", "offers", "screen", "show"]

SIZE = 12
BUDGETS = (0.3, 0.6, 0.9)
WIDE = 96  # columns from which on there is room for longer bars and wider gaps


@final
@dataclass(frozen=True, slots=True)
class Offer:
    """What a family answers to a budget: its least private member that meets it, or its most."""

    family: str
    budget: float
    matrix: bs.Bistochastic

    @property
    def met(self) -> bool:
        """Whether the family reaches the budget at all."""
        return self.matrix.beta >= self.budget

    @property
    def parameter(self) -> str:
        """The one number that tells this member of the family from the others."""
        name, value = PARAMETERS[self.family]
        return f"{name} {_short(value(self.matrix))}"

    @property
    def die(self) -> float:
        """Sides of the fair die that is as uncertain as the report of the worst protected value."""
        return float(2**self.matrix.min_row_bits)

    @property
    def moved(self) -> float:
        """The mean squared distance between a value and its report."""
        codes = np.arange(self.matrix.size)
        return bs.distortion(self.matrix, (codes[:, None] - codes) ** 2)


def _time(walk: Any) -> float:
    """The time a diffusion along a path took, read from how much its slowest wave has faded."""
    return float(-math.log(walk.spectrum()[1]) / (2 - 2 * math.cos(math.pi / walk.size)))


PARAMETERS: dict[str, tuple[str, Callable[[Any], float]]] = {
    "mixture": ("truth", lambda matrix: matrix.truth),
    "tridiagonal": ("alpha", lambda matrix: matrix.alphas[0]),
    "window": ("width", lambda matrix: matrix.width),
    "blocks": ("k", lambda matrix: matrix.sizes.min()),
    "diffusion": ("time", _time),
    "optimal": ("heat", lambda matrix: matrix.temperature),
}


def offers(n: int = SIZE, budgets: Sequence[float] = BUDGETS) -> list[Offer]:
    """One offer for each budget and family, in that order.

    >>> [offer.family for offer in offers(12, [0.9]) if not offer.met]
    ['tridiagonal', 'window']
    """
    return [_offer(family, n, budget) for budget in budgets for family in PARAMETERS]


def _offer(family: str, n: int, budget: float) -> Offer:
    try:
        return Offer(family, budget, bs.calibrate(family, n, beta=budget))
    except bs.TargetError:
        return Offer(family, budget, _most_private(family, n))


def _most_private(family: str, n: int) -> bs.Bistochastic:
    """The member nearest to the largest beta that the family reaches, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(24):
        middle = (low + high) / 2
        try:
            low = bs.calibrate(family, n, beta=middle).beta
        except bs.TargetError:
            high = middle
    return bs.calibrate(family, n, beta=low)


def screen(given: Sequence[Offer], width: int) -> RenderableType:
    """The table and what to read from it, for a terminal of so many columns."""
    wide = width >= WIDE
    size = given[0].matrix.size
    table = Table(
        title=f"Ways to blur {size} ordered categories, by how much is left open\n",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1 if wide else 0, 0, 0),
        pad_edge=False,
        header_style="bold",
    )
    for name, justify in COLUMNS:
        table.add_column(name, justify=justify, no_wrap=True, vertical="bottom")
    budget = None
    for offer in given:
        if offer.budget != budget:
            table.add_section()
        table.add_row(*_cells(offer, first=offer.budget != budget, bar=8 if wide else 3))
        budget = offer.budget
    lines = [Padding(Text(line), (0, 1, 1, 0)) for line in sentences(given)]
    return Group(table, "", *lines)


COLUMNS: tuple[tuple[str, Any], ...] = (
    ("\nβ ≥", "left"),
    ("\nfamily", "left"),
    ("\nparameter", "left"),
    ("\nbits", "right"),
    ("\nbeta β", "left"),
    ("epsilon\nlimit", "right"),
    ("told\ntrue", "right"),
    ("least\nbits", "right"),
    ("die\nsides", "right"),
    ("undo\nerror", "right"),
    ("moved\n|u−v|²", "right"),
)


def _cells(offer: Offer, *, first: bool, bar: int) -> list[Text]:
    matrix = offer.matrix
    budget = Text(f"{offer.budget:.1f}" if first else "", "bold")
    if not offer.met:
        reach = Text(f"{matrix.beta:.2f} ", "dim") + _bar(matrix.beta, bar, "bright_black")
        return [budget, Text(offer.family, "dim"), Text("at most", "dim"), Text(), reach]
    beta = Text(f"{matrix.beta:.2f} ") + _bar(matrix.beta, bar, "cyan")
    epsilon = matrix.epsilon
    limit = Text("∞ none", "yellow") if math.isinf(epsilon) else Text(_short(epsilon))
    undo = Text("never", "yellow") if matrix.singular else Text(f"×{_short(matrix.condition)}")
    return [
        budget,
        Text(offer.family, "bold green"),
        Text(offer.parameter),
        Text(f"{matrix.bits:.2f}"),
        beta,
        limit,
        Text(f"{matrix.truthfulness.mean:.0%}"),
        Text(f"{matrix.min_row_bits:.2f}"),
        Text(f"{offer.die:.1f}"),
        undo,
        Text(_short(offer.moved)),
    ]


def _bar(share: float, cells: int, style: str) -> Text:
    """A bar of so many cells, filled in eighths."""
    eighths = round(share * cells * 8)
    full, rest = divmod(eighths, 8)
    filled = "█" * full + ("▏▎▍▌▋▊▉"[rest - 1] if rest else "")
    return Text(filled, style) + Text("·" * (cells - len(filled)), "bright_black")


def _short(value: float) -> str:
    """Three digits that say most: 0.859, 9.14, 37.9, 217, 2e9."""
    if isinstance(value, int | np.integer) or value == 0:
        return str(int(value))
    if abs(value) >= 9999.5:
        mantissa, exponent = f"{value:.0e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    decimals = max(0, min(3, 2 - math.floor(math.log10(abs(value)))))
    return f"{value:.{decimals}f}"


def sentences(given: Sequence[Offer]) -> list[str]:
    """What a newcomer can take home, with the numbers of the table itself."""
    budgets = sorted({offer.budget for offer in given})
    beta = budgets[len(budgets) // 2]
    middle = {offer.family: offer for offer in given if offer.budget == beta}
    mixture, optimal = middle["mixture"], middle["optimal"]
    return [
        f"Bits say how much is left open: a report through this mixture at β {beta} leaves "
        f"{mixture.matrix.bits:.2f} bits, as much doubt as a fair die of {mixture.die:.1f} sides. "
        f"Beta is the mean over all categories; the least bits are what the worst protected one "
        f"gets.",
        f"The same bits can cost very different things: at β {beta} optimal moves a value by "
        f"{_short(optimal.moved)} squared places on average and mixture by "
        f"{_short(mixture.moved)}, but the epsilon of optimal is "
        f"{_short(optimal.matrix.epsilon)} against {_short(mixture.matrix.epsilon)}. ∞ none: some "
        f"reports rule some truths out for certain.",
        "Whoever knows the matrix can estimate the true shares from many reports, with an error up "
        "to × times as large; no single report is undone by it. Never: some shares are lost for "
        "good, and only sums of them, as over a whole block, can still be estimated.",
    ]


def show(n: int = SIZE) -> None:
    """Print the table for n categories to the terminal, or plainly into a pipe."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a code page without β must not stop it
    console = Console(highlight=False)
    console.width = min(console.width, 100)
    console.print()
    console.print(screen(offers(n), console.width))
