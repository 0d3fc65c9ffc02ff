"""The audit: whether what is published has the law that was declared. `python -m tests.audit`.

Every mechanism is asked with a fresh key, by row and by record, and three things are compared with
its declared integers. *Frequencies*: a chi-square test of each row of the table of true and
reported codes, and an exact binomial one of each cell; a report of declared probability 0 is a
failure at once. *Epsilon*: a lower
bound for what the table shows, by Clopper and Pearson (1934) for each cell, must not exceed the
declared one. *Repeats*: reports of one code that stand some rows apart agree as often as
independent ones do.

`ALPHA` is shared out over all comparisons of a run (Bonferroni), so a sound package fails once in
a billion runs, as far as the chi-square law holds; rare reports are merged until 1,000 are expected
of each kind. The bounds for epsilon need no approximation. An audit sees what is large: at ten
million rows, an epsilon of 1 that is 1 % too high is missed. Exhaustive proofs see the rest.
"""

import argparse
import sys
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import stats

import bistochastic as bs
from bistochastic.masking.randomise import CHUNK

ALPHA = 1e-9  # of a false alarm in a whole run
MERGED = 1000  # expected reports of each kind, below which the chi-square law is not trusted
LAGS = (1, 2, 12, 1 << 16, CHUNK)
SKEWED = [[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]]
MECHANISMS = {
    "response, ε 0.5": bs.randomised_response(12, epsilon=0.5),
    "response, ε 1": bs.randomised_response(12, epsilon=1),
    "response, ε 4": bs.randomised_response(12, epsilon=4),
    "response, of 30": bs.randomised_response(30, epsilon=2),
    "seldom true": bs.Mixture(9, truth=1e-10),
    "dense": bs.Dense(SKEWED),
    "general": bs.Stochastic([[0.8, 0.15, 0.05], [0.3, 0.6, 0.1], [0.05, 0.05, 0.9]]),
    "circulant": bs.Circulant([0.5, 0.3, 0.05, 0.15]),
    "tridiagonal": bs.Tridiagonal([0.25, 0.5, 0.125, 0.6]),
    "window": bs.Window(9, width=2),
    "diffusion": bs.diffusion(path=6, time=2.0),
    "blocks": bs.Blocks([3, 5, 1, 4]),
    "secrecy": bs.secrecy(11),
    "permutation": bs.Permutation([2, 0, 1]),
    "birkhoff": bs.Birkhoff([0.5, 0.3, 0.2], [[0, 1, 2, 3], [1, 2, 3, 0], [3, 1, 0, 2]]),
    "joint": bs.Kronecker(bs.Dense(SKEWED), bs.secrecy(3), bs.Mixture(2, truth=0.8)),
    "composed": bs.Dense(SKEWED) @ bs.Circulant([0.5, 0.3, 0.2]),
    "combination": bs.Combination([0.25, 0.75], [bs.Dense(SKEWED), bs.secrecy(3)]),
    "ergodic": bs.Tridiagonal([0.25, 0.5, 0.125]).ergodic(0.02),
}


@dataclass(frozen=True)
class Finding:
    """What one mechanism showed when it was asked one way."""

    name: str
    way: str
    frequencies: float  # the least p-value, multiplied by how many there are
    epsilon: float  # a lower bound
    declared: float
    repeats: float  # as the frequencies
    alpha: float

    @property
    def sound(self):
        """Whether nothing contradicts what was declared."""
        fair = min(self.frequencies, self.repeats) > self.alpha
        return fair and self.epsilon <= self.declared


def tabled(codes, reports, n):
    """How often each true code was reported as each."""
    cells = codes.astype(np.int64) * n + reports
    return np.bincount(cells, minlength=n * n).reshape(n, n)


def declared_rows(form):
    """The integer matrix in doubles."""
    rows = (form.integer_row(u) for u in range(form.size))
    return np.array([[weight / whole for weight in weights] for weights, whole in rows])


def frequencies(counts, law):
    """The least p-value of the rows by chi-square and of the cells alone; 0 for what cannot be.

    Multiplied by how many there are, so that it is below alpha as seldom as alpha says.
    """
    if counts[law == 0].any():
        return 0.0
    least = 1.0
    for found, row in zip(counts, law, strict=True):
        found, expected = merged(found, row * found.sum())
        if expected.size > 1:
            least = min(least, stats.chisquare(found, expected, sum_check=False).pvalue)
    totals = counts.sum(axis=1, keepdims=True)
    tails = stats.binom.cdf(counts, totals, law), stats.binom.sf(counts - 1, totals, law)
    alone = 2 * np.minimum(*tails).min()
    return 2 * min(least * len(law), alone * law.size)


def merged(found, expected):
    """Rare kinds as one, together with the rarest of the others if that is not enough."""
    rare = expected < MERGED
    if 0 < expected[rare].sum() < MERGED and not rare.all():
        rare[np.where(rare, np.inf, expected).argmin()] = True
    kinds = [np.append(line[~rare], line[rare].sum()) for line in (found, expected)]
    return tuple(kind[kinds[1] >= MERGED] for kind in kinds)


def epsilon_below(counts, alpha):
    """The largest ratio within a column that the counts are sure of, all cells together."""
    n, totals = len(counts), counts.sum(axis=1, keepdims=True)
    each = alpha / (2 * n * n)
    with np.errstate(invalid="ignore"):
        low = np.where(counts > 0, stats.beta.ppf(each, counts, totals - counts + 1), 0)
        high = np.where(counts < totals, stats.beta.ppf(1 - each, counts + 1, totals - counts), 1)
    return max(0.0, float(np.log(np.maximum(low.max(axis=0), 1e-300) / high.min(axis=0)).max()))


def repeats(reports, row):
    """How well reports of one code agree some rows apart; pairs share no report."""
    chance, least, used = float((row**2).sum()), 1.0, 0
    for lag in LAGS:
        whole = reports[: reports.size // (2 * lag) * 2 * lag].reshape(-1, 2, lag)
        if whole.size and chance < 1:
            same = int((whole[:, 0] == whole[:, 1]).sum())
            least = min(least, stats.binomtest(same, whole.size // 2, chance).pvalue)
            used += 1
    return least * max(used, 1)


def examined(name, channel, key, rows, alpha, instead=None):
    """The findings about one mechanism, by row and by record; or about what stands in."""
    form = channel.exact()
    worker = bs.Randomiser.of(form, key, release="audit", column=name, domain=range(form.size))
    law, ids = declared_rows(form), np.arange(rows)
    codes = (ids % form.size).astype(np.uint8)
    ways = {"rows": worker.rows, "records": lambda codes: worker.records(ids, codes)}
    for way, ask in ({"instead": instead} if instead else ways).items():
        counts = tabled(codes, ask(codes), form.size)
        yield Finding(
            name,
            way,
            frequencies(counts, law),
            epsilon_below(counts, alpha),
            form.epsilon,
            repeats(ask(np.zeros(rows, np.uint8)), law[0]),
            alpha,
        )


def audit(rows, new_key):
    """The findings about every mechanism, each with a key of its own."""
    alpha = ALPHA / (3 * 2 * len(MECHANISMS))
    for name, channel in MECHANISMS.items():
        yield from examined(name, channel, new_key(), rows, alpha)


def main():
    """Audit with fresh keys; the exit code is 1 if something contradicts its declaration."""
    parser = argparse.ArgumentParser(prog="python -m tests.audit", description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7, help="of each mechanism")
    rows = int(parser.parse_args().rows)
    table = Table(title=f"{rows:,} rows each, fresh keys, a false alarm in {1 / ALPHA:.0e} runs")
    for heading in ("mechanism", "by", "frequencies", "repeats", "ε shown", "ε declared", ""):
        table.add_column(
            heading, no_wrap=True, justify="left" if heading in ("mechanism", "by") else "right"
        )
    sound = True
    for found in audit(rows, bs.Key.new):
        sound &= found.sound
        table.add_row(
            found.name,
            found.way,
            f"{min(found.frequencies, 1):.2g}",
            f"{min(found.repeats, 1):.2g}",
            f"{found.epsilon:.4f}",
            f"{found.declared:.4f}",
            "sound" if found.sound else "FAILS",
        )
    Console(width=100).print(table)
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()
