"""Microaggregation beside the plain quadratic algorithm, and anatomy beside its sorts."""

from collections.abc import Callable, Iterator

import numpy as np
from rich.table import Table

import bistochastic as bs
from benchmarks.timing import best, seconds, table
from bistochastic.masking.distances import standardised
from bistochastic.masking.mdav import mdav
from bistochastic.masking.univariate import optimal

K = 5
MANY = 100_000
MILLIONS = 10**7

KINDS: dict[str, Callable[[int, int], np.ndarray]] = {
    "normal": lambda n, d: np.random.default_rng(d).standard_normal((n, d)),
    "lognormal": lambda n, d: np.exp(np.random.default_rng(d).standard_normal((n, d))),
    "five values": lambda n, d: np.random.default_rng(d).integers(0, 5, (n, d)).astype(float),
}


def tables() -> Iterator[Table]:
    """Every table, as it is measured."""
    yield many_records()
    yield any_size()
    yield one_column()
    yield growth()
    yield two_tables()


def plain(points: np.ndarray, k: int) -> np.ndarray:
    """MDAV over all distances, in NumPy: what one writes first. Ties fall as they may."""
    groups = np.zeros(len(points), dtype=np.int64)
    left, rows, label = points, np.arange(len(points)), 0

    def squares(place: np.ndarray) -> np.ndarray:
        apart = left - place
        return np.einsum("nd,nd->n", apart, apart)

    def gather(place: np.ndarray) -> None:
        nonlocal left, rows, label
        near = np.argpartition(squares(place), k - 1)[:k]
        label += 1
        groups[rows[near]] = label
        left, rows = np.delete(left, near, axis=0), np.delete(rows, near)

    while len(rows) >= 3 * k:
        r = left[squares(left.mean(axis=0)).argmax()]
        gather(r)
        gather(left[squares(r).argmax()])
    if len(rows) >= 2 * k:
        gather(left[squares(left.mean(axis=0)).argmax()])
    return groups


def many_records() -> Table:
    """MDAV where trees help, beside the plain algorithm."""
    made = table(
        f"MDAV of {MANY:,} records, k = {K}", "columns", "time", "plain", "ratio", "mu-approx"
    )
    for name in ("normal", "lognormal"):
        for d in (1, 3, 8):
            points = standardised(KINDS[name](MANY, d))
            ours, direct = best(lambda: mdav(points, K), 2), best(lambda: plain(points, K), 1)
            other = best(lambda: bs.microaggregate(points, K, "mu-approx"), 1)
            cells = [seconds(ours), seconds(direct), f"{direct / ours:.0f}", seconds(other)]
            made.add_row(f"{d}, {name}", *cells)
    return made


def any_size() -> Table:
    """Never slower: the ratio to the plain algorithm at all sizes and of awkward data."""
    sizes = (20, 100, 1000, 3000, 10_000)
    made = table(
        "MDAV: how many times the plain algorithm takes", "columns", *(f"n = {n:,}" for n in sizes)
    )
    for name, kind in KINDS.items():
        for d, k in ((1, 10), (3, 3), (3, 10), (13, 10), (30, 10)):
            cells = []
            for n in sizes:
                points, runs = standardised(kind(n, d)), max(3, 1000 // n)
                ours = best(lambda: mdav(points, k), runs)
                cells.append(f"{best(lambda: plain(points, k), runs) / ours:.1f}")
            made.add_row(f"{d}, {name}, k = {k}", *cells)
    return made


def one_column() -> Table:
    """The optimum beside the stable sort it begins with."""
    made = table("Optimal, one column of 100,000", "values", "k", "time", "stable sort", "ratio")
    values = np.random.default_rng(1).standard_normal(MANY)
    for name, column in (("normal", values), ("evenly spaced", np.arange(float(MANY)))):
        shuffled = np.random.default_rng(2).permutation(column)
        sort = best(lambda: np.argsort(shuffled, kind="stable"), 5)
        for k in (3, K, 10):
            ours = best(lambda: optimal(shuffled, k), 5)
            made.add_row(name, str(k), seconds(ours), seconds(sort), f"{ours / sort:.1f}")
    return made


def growth() -> Table:
    """The whole call on three columns, up to a million records."""
    made = table(f"microaggregate, three normal columns, k = {K}", "records", "mdav", "mu-approx")
    for n in (10**4, 10**5, 10**6):
        array = KINDS["normal"](n, 3)
        times = (best(lambda: bs.microaggregate(array, K, how), 1) for how in ("mdav", "mu-approx"))
        made.add_row(f"{n:,}", *map(seconds, times))
    return made


def two_tables() -> Table:
    """Anatomy of ten million records with words from a key, beside sorts of that size."""
    made = table("Anatomy of 10⁷ records, 20 sensitive values", "call", "time", "sorts")
    scope = bs.Scope(release="r", column="c", domain=bs.domain_digest(range(20)), matrix=None)
    words = bs.Key.new().rows(scope, purpose="anatomy").words(0, MILLIONS)
    values = np.random.default_rng(1).integers(0, 20, MILLIONS)
    keys = words(0, 0, None)
    sort = best(lambda: np.argsort(keys), 1)
    classes = bs.diverse_classes(values, 10, words)
    calls: dict[str, Callable[[], object]] = {
        "diverse_classes": lambda: bs.diverse_classes(values, 10, words),
        "anatomy": lambda: bs.anatomy(classes, words),
        "anatomy, diversity checked": lambda: bs.anatomy(
            classes, words, sensitive=values, diversity=10
        ),
    }
    for name, call in calls.items():
        time = best(call, 1)
        made.add_row(name, seconds(time), f"{time / sort:.1f}")
    return made
