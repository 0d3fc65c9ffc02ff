"""Masking: what a secret, exact and repeatable report costs beside what is usual."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

import bistochastic as bs
from benchmarks.timing import best, table
from bistochastic.masking.randomise import CHUNK

ROWS = 10**7
PART = 1 << 17  # rows at a time that keep NumPy's own ways in cache, their best form
KEY = bs.Key.new()

Codes = NDArray[np.uint8]


def tables() -> Iterator[Table]:
    """Every table, as it is measured."""
    yield general()
    yield keep_or_redraw()
    yield structures()
    yield constant_columns()


def randomiser(channel: bs.Channel) -> bs.Randomiser:
    """The randomiser of a column with this channel."""
    domain = range(channel.size) if channel.size < 10**6 else [range(1000)] * 4
    column = "c" if channel.size < 10**6 else ("a", "b", "c", "d")
    return bs.Randomiser.of(channel, KEY, release="bench", column=column, domain=domain)


def in_threads(worker: bs.Randomiser, codes: NDArray[np.unsignedinteger], threads: int) -> None:
    """One column cut into as many parts as there are threads."""
    cuts = np.linspace(0, codes.size, threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda a, b: worker.rows(codes[a:b], int(a)), cuts[:-1], cuts[1:]))


def keystream_alone() -> None:
    """The words of ten million rows, made and thrown away."""
    words = randomiser(bs.secrecy(2))._rows
    for at in range(0, ROWS, CHUNK):
        words.words(at, min(at + CHUNK, ROWS))(0, 0, None)


def parts(report: Callable[[Codes], NDArray[np.unsignedinteger]], codes: Codes) -> None:
    """One of NumPy's ways, part by part."""
    out = np.empty_like(codes)
    for at in range(0, codes.size, PART):
        out[at : at + PART] = report(codes[at : at + PART])


def rate(time: float) -> str:
    """Millions of cells a second."""
    return f"{ROWS / time / 1e6:.0f}"


def general() -> Table:
    """Any matrix, against the usual ways with NumPy's default generator."""
    made = table(
        f"Any matrix, {ROWS:,} rows: M cells/s",
        "matrix", "ours", "two threads", "keystream alone",
        "u > cumsum[x]", "searchsorted", "alias in floats", "ratio to each",
    )  # fmt: skip
    choose = np.random.default_rng(1)
    for n in (12, 100):
        codes = choose.integers(0, n, ROWS).astype(np.uint8)
        channel = bs.sinkhorn(choose.random((n, n)))
        worker = randomiser(channel)
        ours, two = best(lambda: worker.rows(codes)), best(lambda: in_threads(worker, codes, 2))
        sums = channel.to_dense().cumsum(axis=1)
        lines = (sums + np.arange(n)[:, None]).ravel()
        kept, other = float_alias(worker)

        def compared(part: Codes) -> NDArray[np.unsignedinteger]:
            return (choose.random(part.size)[:, None] > sums[part]).sum(axis=1)

        def searched(part: Codes) -> NDArray[np.unsignedinteger]:
            return np.searchsorted(lines, choose.random(part.size) + part) - part * np.int64(n)

        def aliased(part: Codes) -> NDArray[np.unsignedinteger]:
            scaled = choose.random(part.size) * n
            column = scaled.astype(np.int64)
            cell = part * np.int64(n) + column
            return np.where(scaled - column < kept[cell], column, other[cell])

        usual = [
            best(lambda way=way: parts(way, codes), 2) for way in (compared, searched, aliased)
        ]
        made.add_row(
            f"general, r = {n}", rate(ours), rate(two), rate(best(keystream_alone)),
            *map(rate, usual), " ".join(f"{time / ours:.1f}" for time in usual),
        )  # fmt: skip
    return made


def float_alias(worker: bs.Randomiser) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Vose's tables in doubles, as one would write them: not exact, not secret."""
    n = worker.form.size
    kept, other = np.ones((n, n)), np.tile(np.arange(n, dtype=np.uint8), (n, 1))
    for u in range(n):
        weights, whole = worker.form.integer_row(u)
        left = [n * weight / whole for weight in weights]
        small = [j for j in range(n) if left[j] < 1]
        large = [j for j in range(n) if left[j] >= 1]
        while small and large:
            s, big = small.pop(), large.pop()
            kept[u, s], other[u, s] = left[s], big
            left[big] -= 1 - left[s]
            (small if left[big] < 1 else large).append(big)
    return kept.ravel(), other.ravel()


def keep_or_redraw() -> Table:
    """A mixture, against NumPy's own way: keep, or draw any category anew."""
    made = table(
        f"Mixture, {ROWS:,} rows: M cells/s",
        "matrix", "ours", "two threads", "keystream alone", "NumPy's keep or redraw", "ratio",
    )  # fmt: skip
    choose = np.random.default_rng(2)
    for n in (12, 100):
        codes = choose.integers(0, n, ROWS).astype(np.uint8)
        worker = randomiser(bs.Mixture(n, truth=0.7))
        redraw = 1 - (0.7 * n - 1) / (n - 1)

        def usual(part: Codes, n: int = n, redraw: float = redraw) -> Codes:
            lies = choose.integers(0, n, part.size, dtype=np.uint8)
            return np.where(choose.random(part.size, dtype=np.float32) < redraw, lies, part)

        ours, two = best(lambda: worker.rows(codes)), best(lambda: in_threads(worker, codes, 2))
        numpy = best(lambda: parts(usual, codes))
        made.add_row(
            f"mixture, r = {n}", rate(ours), rate(two), rate(best(keystream_alone)),
            rate(numpy), f"{numpy / ours:.1f}",
        )  # fmt: skip
    return made


def structures() -> Table:
    """Structures that sample from their formula, small and with a million categories or more."""
    million, steps = 10**6, np.zeros(10**6)
    steps[:3] = 0.7, 0.2, 0.1
    channels: dict[str, bs.Channel] = {
        "circulant, r = 12": bs.Circulant([0.5] + [0.5 / 11] * 11),
        "tridiagonal, r = 12": bs.Tridiagonal([0.2] * 11),
        "blocks, r = 12": bs.Blocks([3, 4, 5]),
        "window, r = 12": bs.Window(12, width=2),
        "mixture, r = 10^6": bs.Mixture(million - 1, truth=0.7),
        "circulant, r = 10^6": bs.Circulant(steps[:-1]),
        "tridiagonal, r = 10^6": bs.Tridiagonal(np.full(million - 2, 0.2)),
        "blocks, r = 10^6": bs.Blocks(np.full(million // 5 - 1, 5)),
        "four mixtures, r = 10^12": bs.Kronecker(*[bs.Mixture(1000, truth=0.7)] * 4),
    }
    made = table(f"By formula, {ROWS:,} rows: M cells/s", "structure", "by row", "by record")
    choose, ids = np.random.default_rng(3), np.arange(ROWS)
    for name, channel in channels.items():
        worker = randomiser(channel)
        codes = choose.integers(0, channel.size, ROWS)
        codes = codes.astype(np.min_scalar_type(channel.size - 1))
        by_row = best(lambda: worker.rows(codes), 2)
        by_record = best(lambda: worker.records(ids, codes), 2)
        made.add_row(name, rate(by_row), rate(by_record))
    return made


def constant_columns() -> Table:
    """Whether the time of a batch tells its value: columns of one value each, in turns."""
    made = table(
        "Constant columns of a million rows: spread of the fastest of 40 turns",
        "matrix", "slowest over fastest",
    )  # fmt: skip
    choose = np.random.default_rng(4)
    channels: dict[str, bs.Channel] = {
        f"{kind}, r = 12, ε = {epsilon}": channel
        for epsilon in (1.5, 6.0)
        for kind, channel in (
            ("mixture", bs.randomised_response(12, epsilon=epsilon)),
            ("general", bs.Dense(bs.randomised_response(12, epsilon=epsilon).to_dense())),
        )
    }
    channels["general, r = 12, random"] = bs.sinkhorn(choose.random((12, 12)))
    for name, channel in channels.items():
        worker = randomiser(channel)
        columns = [np.full(10**6, code, np.uint8) for code in range(12)]
        times: list[list[float]] = [[] for _ in columns]
        for _ in range(40):
            for code in choose.permutation(12):
                start = perf_counter()
                worker.rows(columns[code])
                times[code].append(perf_counter() - start)
        fastest = [min(time) for time in times]
        made.add_row(name, f"{100 * (max(fastest) / min(fastest) - 1):.1f} %")
    return made
