"""Ten thousand releases of a known table, and how many of their intervals hold what is true.

`python -m tests.estimate.coverage` prints the tables of docs/estimate.md.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import bistochastic as bs
from bistochastic.estimate.axes import Axis, along
from bistochastic.estimate.comparison import difference, odds_ratio, ratio
from bistochastic.estimate.dispersion import sums
from bistochastic.estimate.independence import independence
from bistochastic.estimate.intervals import around, intervals, quantile
from bistochastic.estimate.likelihood import fitted
from bistochastic.estimate.shares import estimated
from bistochastic.estimate.tally import Tally

RELEASES = 10_000
Z = quantile(0.95)
SHARES = [0.5, 0.2, 0.1, 0.05, 0.05, 0.03, 0.03, 0.02, 0.01, 0.005, 0.003, 0.002]
TWO = [[0.4, 0.1, 0.1, 0.06, 0.04], [0.1, 0.06, 0.05, 0.05, 0.04]]


class Scenario(NamedTuple):
    """A true table, the channels of its axes, and how many respondents it has."""

    name: str
    channels: tuple[bs.Channel, ...]
    shares: object
    rows: int
    variance: str = "sample"

    @property
    def axes(self):
        return [Axis.of(channel) for channel in self.channels]

    @property
    def truth(self):
        shares = np.asarray(self.shares, dtype=float)
        return shares / shares.sum()


def mixture(n, truth):
    """A mixture, shorter."""
    return bs.Mixture(n, truth=truth)


ADD = bs.randomised_response(3, epsilon=2)
SCENARIOS = {
    one.name: one
    for one in (
        Scenario("mixture(3, ε = 2)", (ADD,), [0.9, 0.09, 0.01], 200),
        Scenario("mixture(3, ε = 2) ", (ADD,), [0.9, 0.09, 0.01], 10_000),
        Scenario("mixture(12, 0.4)", (mixture(12, 0.4),), SHARES, 500),
        Scenario("tridiagonal(12, 0.1)", (bs.Tridiagonal([0.1] * 11),), SHARES, 1000),
        Scenario("mixture(2) × untouched(4)", (mixture(2, 0.8), bs.identity(4)),
                 [[0.4, 0.3, 0.04, 0.01], [0.1, 0.1, 0.03, 0.02]], 500),
        Scenario("mixture(2) × diffusion(5)", (mixture(2, 0.8), bs.diffusion(path=5, time=0.3)),
                 TWO, 1000),
        Scenario("mixture(3), file", (mixture(3, 0.8),), [0.9, 0.09, 0.01], 1000, "file"),
        Scenario("tridiagonal(5, 0.2), file", (bs.Tridiagonal([0.2] * 4),),
                 [0.6, 0.2, 0.1, 0.09, 0.01], 1000, "file"),
        Scenario("mixture(2) × mixture(3), file", (mixture(2, 0.8), mixture(3, 0.7)),
                 [[0.4, 0.3, 0.04], [0.1, 0.1, 0.06]], 1000, "file"),
    )
}  # fmt: skip
WEIGHTED = ("mixture(3, ε = 2) ", "mixture(2) × diffusion(5)")
LIKELY = ("mixture(3, ε = 2)", "mixture(2) × untouched(4)")
SMALL = {
    one.name: one
    for one in (
        Scenario("mixture(3, 0.99)", (mixture(3, 0.99),), [0.9, 0.095, 0.005], 200),
        Scenario("mixture(3, 0.97)", (mixture(3, 0.97),), [0.9, 0.09, 0.01], 200),
        Scenario("untouched(3)", (bs.identity(3),), [0.9, 0.07, 0.03], 200),
        Scenario("mixture(12, 0.8)", (mixture(12, 0.8),), SHARES, 200),
    )
}


def releases(scenario, times=RELEASES):
    """Tallies of as many releases, and what is to be covered: the shares of people, or of files."""
    draw, axes, truth = np.random.default_rng(20), scenario.axes, scenario.truth
    if scenario.variance == "file":
        people = draw.multinomial(scenario.rows, truth.ravel())
        units = np.eye(truth.size).reshape(*truth.shape, -1)
        channel = along(axes, units, lambda axis: axis.forward).reshape(truth.size, -1).T
        counts = sum(
            draw.multinomial(n, row / row.sum(), size=times)
            for n, row in zip(people, channel, strict=True)
        )
        truth = (people / scenario.rows).reshape(truth.shape)
    else:
        reported = along(axes, truth, lambda axis: axis.forward).ravel()
        counts = draw.multinomial(scenario.rows, reported / reported.sum(), size=times)
    return (Tally.from_table(count.reshape(truth.shape)) for count in counts), truth


def shares(scenario, kind, times=RELEASES):
    """The share of intervals that hold the true share, for each cell; its estimates' mean error."""
    tallies, truth = releases(scenario, times)
    held, total, errors = np.zeros(truth.size), np.zeros(truth.size), np.zeros(truth.size)
    for tally in tallies:
        found = estimated(tally, scenario.axes, variance=scenario.variance)
        low, high = intervals(found, kind=kind, variance=scenario.variance)
        held += (low <= truth.ravel()) & (truth.ravel() <= high)
        total += found.estimate - truth.ravel()
        errors += found.variance
    return held / times, total / times, np.sqrt(errors / times / times)


def weighted(scenario, kind, times=RELEASES):
    """The same with weights of one and three, the more threes the later the cell."""
    axes, truth, draw = scenario.axes, scenario.truth, np.random.default_rng(21)
    heavy = np.linspace(0.1, 0.7, truth.size).reshape(truth.shape)
    reported = np.stack(
        [along(axes, truth * chance, lambda axis: axis.forward) for chance in (1 - heavy, heavy)]
    ).ravel()
    target = (truth * (1 + 2 * heavy)).ravel()
    target /= target.sum()
    held, cells = np.zeros(truth.size), np.arange(truth.size)
    for counts in draw.multinomial(scenario.rows, reported / reported.sum(), size=times):
        light, three = counts.reshape(2, -1)
        sums = (light + three, light + 3.0 * three, light + 9.0 * three)
        there = sums[0] > 0
        tally = Tally(truth.shape, cells[there], *(part[there] for part in sums))
        found = estimated(tally, axes, variance=scenario.variance)
        low, high = intervals(found, kind=kind, variance=scenario.variance)
        held += (low <= target) & (target <= high)
    return held / times


def likely(scenario, times=RELEASES):
    """The same for intervals around the likelihood estimate."""
    tallies, truth = releases(scenario, times)
    held = np.zeros(truth.size)
    for tally in tallies:
        found = estimated(tally, scenario.axes, variance=scenario.variance)
        limits = intervals(found, variance=scenario.variance)
        low, high = around(limits, fitted(tally, scenario.axes).levels.ravel())
        held += (low <= truth.ravel()) & (truth.ravel() <= high)
    return held / times


def compared(scenario, times=RELEASES):
    """The coverage of a difference, a ratio, a conditional share and an odds ratio of cells."""
    tallies, truth = releases(scenario, times)
    cells = np.eye(truth.size)[[0, 1, truth.shape[-1], truth.shape[-1] + 1]]
    a, b, c, d = (truth.ravel() @ cell for cell in cells)
    row = np.zeros(truth.shape)
    row[0] = 1.0
    wanted = np.concatenate([cells, [row.ravel()]]).reshape(5, *truth.shape)
    true = (a - b, a / b, a / truth[0].sum(), a * d / (b * c))
    held = np.zeros(4)
    for tally in tallies:
        found = sums(tally, scenario.axes, wanted, variance=scenario.variance)
        two, within, four = (
            (found.estimate[where], found.covariance[np.ix_(where, where)])
            for where in ([0, 1], [0, 4], [0, 1, 2, 3])
        )
        told = (difference(*two, Z), ratio(*two, Z), ratio(*within, Z), odds_ratio(*four, Z))
        held += [one.low <= value <= one.high for one, value in zip(told, true, strict=True)]
    return held / times


def rejected(scenario, times=RELEASES):
    """How often the test at five in a hundred rejects, of an independent and of the true table."""
    answers = []
    for shares_ in (np.outer(scenario.truth.sum(axis=1), scenario.truth.sum(axis=0)),
                    scenario.truth):  # fmt: skip
        tallies, _ = releases(scenario._replace(shares=shares_), times)
        tests = [independence(tally, scenario.axes, shares_.shape) for tally in tallies]
        answers.append(np.mean([test.p_value < 0.05 for test in tests]))
    return answers


TABLES = {
    one.name: one
    for one in (
        Scenario("mixture(2) × diffusion(5)", (mixture(2, 0.8), bs.diffusion(path=5, time=0.3)),
                 TWO, 8000),
        Scenario("mixture(2) × untouched(5)", (mixture(2, 0.7), bs.identity(5)), TWO, 4000),
        Scenario("mixture(2) × mixture(5), file",
                 (mixture(2, 0.9), mixture(5, 0.8)), TWO, 5000, "file"),
    )
}  # fmt: skip


TESTED = {name: one._replace(rows=one.rows // 8) for name, one in list(TABLES.items())[:2]}


def lines() -> Iterator[str]:
    """The tables as the page shows them."""
    yield "| channel | rows | score interval | normal interval |\n|---|---|---|---|"
    for one in (*SCENARIOS.values(), *SMALL.values()):
        score, normal = shares(one, "score")[0], shares(one, "normal")[0]
        yield (
            f"| {one.name.strip()} | {one.rows:,} | {score.min():.3f} … {score.max():.3f} "
            f"| {normal.min():.3f} … {normal.max():.3f} |"
        )
    yield "\n| with weights, channel | rows | score interval | normal interval |\n|---|---|---|---|"
    for name in WEIGHTED:
        score, normal = (weighted(SCENARIOS[name], kind) for kind in ("score", "normal"))
        yield (
            f"| {name.strip()} | {SCENARIOS[name].rows:,} | {score.min():.3f} … {score.max():.3f} "
            f"| {normal.min():.3f} … {normal.max():.3f} |"
        )
    yield "\n| likelihood, channel | rows | interval |\n|---|---|---|"
    for name in LIKELY:
        held = likely(SCENARIOS[name])
        yield f"| {name} | {SCENARIOS[name].rows:,} | {held.min():.3f} … {held.max():.3f} |"
    yield "\n| table | rows | difference | ratio | conditional share | odds ratio |\n"
    yield "|---|---|---|---|---|---|"
    for one in TABLES.values():
        held = " | ".join(f"{share:.3f}" for share in compared(one))
        yield f"| {one.name} | {one.rows:,} | {held} |"
    yield "\n| table | rows | rejected if independent | rejected as it is |\n|---|---|---|---|"
    for one in TESTED.values():
        told = " | ".join(f"{share:.3f}" for share in rejected(one))
        yield f"| {one.name} | {one.rows:,} | {told} |"


if __name__ == "__main__":
    for line in lines():
        print(line)
