"""The algebra: structures against their dense twins, decomposition, rounding, optima, sampling."""

import tracemalloc
from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np
from rich.table import Table
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

import bistochastic as bs
from benchmarks.timing import best, seconds, table

MILLIONS = 10**7
SMALL = 3000

STRUCTURES: dict[str, Callable[[int], bs.Bistochastic]] = {
    "mixture": lambda n: bs.Mixture(n, truth=0.7),
    "blocks of 5": lambda n: bs.Blocks(np.full(n // 5, 5)),
    "tridiagonal": lambda n: bs.Tridiagonal(np.linspace(0, 0.24, n - 1)),
    "circulant": lambda n: bs.Circulant(np.concatenate(([0.7, 0.2, 0.1], np.zeros(n - 3)))),
    "window, width 5": lambda n: bs.Window(n, width=5),
    "window, 5 % of n": lambda n: bs.Window(n, width=n // 20 + 1),
    "diffusion, path": lambda n: bs.diffusion(path=n, time=2.0),
}


def tables() -> Iterator[Table]:
    """Every table, as it is measured."""
    yield against_the_twin()
    yield ten_million()
    yield joint_domain()
    yield decomposition()
    yield integers()
    yield optima()
    yield sampling()


def against_the_twin() -> Table:
    """How much a formula saves: the same call on the structure and on its dense twin."""
    made = table(
        f"Structure against dense twin, n = {SMALL} (times the twin needs)",
        "structure", "bits", "epsilon", "matvec", "solve",
    )  # fmt: skip
    x = np.cos(np.arange(SMALL))
    for name, make in STRUCTURES.items():
        matrix = make(SMALL)
        twin = bs.Dense(matrix.to_dense())
        ratios = [
            best(lambda: twin.bits) / best(lambda: matrix.bits),
            best(lambda: twin.epsilon) / best(lambda: matrix.epsilon),
            best(lambda: twin.matvec(x)) / best(lambda: matrix.matvec(x)),
        ]
        cells = [f"{ratio:,.0f}" for ratio in ratios]
        if matrix.singular:
            cells.append("singular")
        else:
            direct = best(lambda: np.linalg.solve(twin.array, x), runs=1)
            cells.append(f"{direct / best(lambda: matrix.solve(x)):,.0f}")
        made.add_row(name, *cells)
    return made


def ten_million() -> Table:
    """The same calls at n = 10⁷, where the twin would need 800 TB, beside one FFT and one sort."""
    x = np.cos(np.arange(MILLIONS))
    floor = f"one sort {seconds(best(lambda: np.sort(x), 1))}, "
    floor += f"one real FFT {seconds(best(lambda: np.fft.rfft(x), 1))}"
    made = table(
        f"n = 10⁷ in seconds ({floor}; peak in multiples of the vector)",
        "structure", "build", "bits", "least bits", "epsilon", "truth", "matvec", "solve", "peak",
    )  # fmt: skip
    for name, make in STRUCTURES.items():
        start = perf_counter()
        matrix = make(MILLIONS)
        built = perf_counter() - start
        calls = [
            lambda: matrix.bits,
            lambda: matrix.min_row_bits,
            lambda: matrix.epsilon,
            lambda: matrix.truthfulness,
            lambda: matrix.matvec(x),
        ]
        cells = [seconds(built), *(seconds(best(call, 2)) for call in calls)]
        blocks = isinstance(matrix, bs.Blocks)
        cells.append("singular" if blocks else seconds(best(lambda: matrix.solve(x), 2)))
        tracemalloc.start()
        matrix.matvec(x)
        if not blocks:
            matrix.solve(x)
        cells.append(f"{tracemalloc.get_traced_memory()[1] / x.nbytes:.1f}")
        tracemalloc.stop()
        made.add_row(name, *cells)
    return made


def joint_domain() -> Table:
    """A Kronecker product of 10¹² cells: nothing is formed."""
    factors = [bs.Mixture(1000, truth=0.6), bs.diffusion(path=1000, time=3.0)]
    joint = bs.Kronecker(*factors, bs.Window(1000, 7), bs.Circulant(np.full(1000, 1e-3)))
    made = table("A joint domain of 10¹² cells", "call", "time")
    made.add_row("bits, least bits, epsilon, truth, condition", seconds(best(lambda: (
        joint.bits, joint.min_row_bits, joint.epsilon, joint.truthfulness, joint.condition
    ))))  # fmt: skip
    made.add_row("a row, 1000 of its entries", seconds(best(lambda: joint.row(7)[range(1000)])))
    form = joint.exact()
    made.add_row("the integer form", seconds(best(joint.exact)))
    codes = np.random.default_rng(1).integers(0, joint.size, 10**6)
    words = np.random.default_rng(2).integers(0, 2**64, (form.draws, 10**6), dtype=np.uint64)
    time = best(lambda: form.sample(codes, words))
    made.add_row("10⁶ reports, words given", f"{seconds(time)} ({1 / time:.1f} M/s)")
    return made


def decomposition() -> Table:
    """Terms and time of Birkhoff's decomposition beside the textbook's: any permutation, repeat."""
    made = table(
        "decompose: random bistochastic matrices",
        "n", "terms", "time", "worst cell", "bound n²-2n+2", "textbook terms", "textbook time",
    )  # fmt: skip
    for n in (16, 64, 128, 300):
        matrix = bs.sinkhorn(np.random.default_rng(n).random((n, n)))
        start = perf_counter()
        lottery = bs.decompose(matrix)
        time = perf_counter() - start
        off = np.abs(lottery.to_dense() - matrix.array).max()
        cells = [
            str(n),
            str(lottery.weights.size),
            seconds(time),
            f"{off:.0e}",
            f"{n * n - 2 * n + 2}",
        ]
        if n <= 128:
            start = perf_counter()
            terms = textbook(matrix.array)
            cells += [str(terms), seconds(perf_counter() - start)]
        made.add_row(*cells)
    return made


def textbook(array: np.ndarray) -> int:
    """Take away any permutation inside the positive cells until nothing is left; count them."""
    left, terms = array.copy(), 0
    rows = np.arange(len(left))
    while left.max() > 1e-13:
        columns = maximum_bipartite_matching(csr_array(left > 0), perm_type="column")
        if (columns < 0).any():
            break
        least = left[rows, columns].min()
        left[rows, columns] -= least
        left[left < 1e-16] = 0.0
        terms += 1
    return terms


def integers() -> Table:
    """The integer form of dense matrices: controlled rounding, table and certificate."""
    made = table("exact() of dense matrices", "n", "time", "largest move of a cell")
    for n in (12, 100, 300, 1000):
        matrix = bs.sinkhorn(np.random.default_rng(n).random((n, n)) + 0.01)
        form = matrix.exact()
        row, whole = form.integer_row(0)
        moved = max(abs(w / whole - p) for w, p in zip(row, matrix.array[0], strict=True))
        made.add_row(str(n), seconds(best(matrix.exact, 2)), f"{moved:.0e}")
    return made


def optima() -> Table:
    """Optimal matrices for their bits: any distances, and ordered codes by structure."""
    made = table("optimal at beta 0.6, squared distance", "codes", "dense", "ordered")
    for n in (100, 1000, 10_000, 10**6):
        line = np.arange(float(n))
        dense = "-"
        if n <= 1000:
            squares = (line[:, None] - line) ** 2
            dense = seconds(best(lambda: bs.optimal(squares, beta=0.6), 1))
        ordered = seconds(best(lambda: bs.optimal(ordered=n, beta=0.6), 1))
        made.add_row(f"{n:,}", dense, ordered)
    return made


def sampling() -> Table:
    """Exact reports for 10⁷ codes beside NumPy's usual way with its own floats, words given."""
    made = table(
        "10⁷ reports, millions a second (words and floats given beforehand)",
        "matrix", "exact", "u > cumsum[x]", "ratio",
    )  # fmt: skip
    generator = np.random.default_rng(3)
    words = generator.integers(0, 2**64, MILLIONS, dtype=np.uint64)
    floats = generator.random(MILLIONS)
    for n in (12, 100):
        codes = generator.integers(0, n, MILLIONS).astype(np.uint8)
        dense = bs.sinkhorn(generator.random((n, n)))
        for name, matrix in (("dense", dense), ("mixture", bs.Mixture(n, truth=0.7))):
            form = matrix.exact()
            exact = best(lambda: form.sample(codes, words))
            usual = best(lambda: compared(matrix.to_dense(), codes, floats), 1)
            rates = (MILLIONS / exact / 1e6, MILLIONS / usual / 1e6)
            made.add_row(
                f"{name}, n = {n}", *(f"{rate:.0f}" for rate in rates), f"{usual / exact:.1f}"
            )
    return made


def compared(array: np.ndarray, codes: np.ndarray, floats: np.ndarray) -> np.ndarray:
    """The usual inverse of the cumulative sums, a slice at a time so that it fits in memory."""
    sums = array.cumsum(axis=1)
    parts = range(0, codes.size, 1 << 17)
    return np.concatenate(
        [
            (floats[i : i + (1 << 17), None] > sums[codes[i : i + (1 << 17)]]).sum(axis=1)
            for i in parts
        ]
    )
