"""The referee beside its peers, its direct definitions and the sorts that it comes down to."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import polars as pl
from rich.table import Table

import bistochastic as bs
from benchmarks.timing import best, seconds, table
from bistochastic.measures.attributes import Attribute

ROWS = 10**6
RECORDS = 10**5
FEW = 3000


def tables() -> Iterator[Table]:
    """Every table, as it is measured."""
    yield classes()
    yield links()
    yield whole()


def keys(n: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Five keys and a confidential attribute, as in the census extract that ARX is shown with."""
    draw = np.random.default_rng(1)
    made = [draw.integers(0, size, n) for size in (74, 2, 5, 7, 41)]
    return made, draw.integers(0, 14, n)


def frame_of(columns: list[np.ndarray], values: np.ndarray) -> Any:
    """The same as a dataframe of pandas, as the peers want it."""
    import pandas as pd

    named = {f"k{place}": column.astype(str) for place, column in enumerate(columns)}
    return pd.DataFrame(named | {"w": values.astype(str)})


def peers(columns: list[np.ndarray], values: np.ndarray) -> dict[str, Callable[[], object]]:
    """Packages that measure the same, as far as they are installed, and the direct definition."""
    frame = frame_of(columns, values)
    names = list(frame.columns[:-1])

    def grouped() -> float:
        """t-closeness by group-by, as one writes it first."""
        whole = frame["w"].value_counts(normalize=True)
        shares = frame.groupby(names)["w"].value_counts(normalize=True)
        wide = shares.unstack(fill_value=0)
        return float((wide - whole[wide.columns]).abs().sum(axis=1).max() / 2)

    found: dict[str, Callable[[], object]] = {"pandas, group-by": grouped}
    if find_spec("pycanon") is not None:
        from pycanon import anonymity

        found["pycanon"] = lambda: anonymity.t_closeness(frame, names, ["w"])
    return found


def classes() -> Table:
    """K and t of a million rows, beside one sort of them."""
    columns, values = keys(ROWS)

    def ours() -> float:
        return bs.closeness(bs.anonymity(columns), values).t

    def ordered() -> float:
        return bs.closeness(bs.anonymity(columns), values, ordered=True).t

    folded = columns[0] * 10**6 + values
    sort = best(lambda: np.argsort(folded))
    made = table(f"k and t of {ROWS:,} rows, 5 keys", "measure", "time", "sorts")
    calls: dict[str, Callable[[], object]] = {
        "k": lambda: bs.anonymity(columns).k,
        "k and t, nominal": ours,
        "k and t, ordered": ordered,
        "average information gain": lambda: bs.closeness(bs.anonymity(columns), values).information,
        **peers(columns, values),
    }
    for name, call in calls.items():
        time = best(call, 1 if "py" in name else 3)
        made.add_row(name, seconds(time), f"{time / sort:.1f}")
    return made


def links() -> Table:
    """Record linkage, beside all distances where those can be had."""
    draw = np.random.default_rng(2)
    made = table("Record linkage by ranks", "file", "records", "time", "all distances", "right")
    for name, d, noise in (
        ("3 numbers, noise 0.2", 3, 0.2),
        ("10 numbers, noise 0.2", 10, 0.2),
        ("10 numbers, noise 1", 10, 1.0),
        ("10 numbers, unmasked", 10, 0.0),
    ):
        for n in (FEW, RECORDS):
            x = draw.standard_normal((n, d))
            y = x + noise * draw.standard_normal((n, d))
            columns = [Attribute.of(a, b) for a, b in zip(x.T, y.T, strict=True)]
            found = bs.linkage(columns)
            time = best(lambda: bs.linkage(columns), 1)
            direct = seconds(best(lambda: distances(columns), 1)) if n == FEW else ""
            made.add_row(name, f"{n:,}", seconds(time), direct, f"{found.expected:.2%}")
    codes = draw.integers(0, 8, (RECORDS, 6))
    moved = np.where(draw.random(codes.shape) < 0.2, draw.integers(0, 8, codes.shape), codes)
    nominal = [Attribute.of(a, b, nominal=True) for a, b in zip(codes.T, moved.T, strict=True)]
    x = draw.standard_normal((RECORDS, 4))
    y = x + 0.2 * draw.standard_normal(x.shape)
    numbers = [Attribute.of(a, b) for a, b in zip(x.T, y.T, strict=True)]
    for name, some in (("6 nominal", nominal), ("4 nominal, 4 numbers", nominal[:4] + numbers)):
        found = bs.linkage(some)
        time = best(partial(bs.linkage, some), 1)
        made.add_row(name, f"{RECORDS:,}", seconds(time), "", f"{found.expected:.2%}")
    return made


def distances(columns: list[Attribute]) -> float:
    """Linkage as one writes it first: an array of all distances."""
    n = columns[0].original.size
    far = np.zeros((n, n))
    for column in columns:
        one, two = (np.argsort(np.argsort(side)) for side in (column.original, column.masked))
        far += np.square(one[:, None] - two)
    return float((far.argmin(axis=1) == np.arange(n)).mean())


def whole() -> Table:
    """A whole evaluation of a million records in ten columns, beside sorts of its columns."""
    draw = np.random.default_rng(3)
    numbers = {f"x{place}": draw.standard_normal(ROWS) for place in range(6)}
    codes = {f"c{place}": draw.integers(0, 12, ROWS) for place in range(4)}
    noisy = {name: line + 0.3 * draw.standard_normal(ROWS) for name, line in numbers.items()}
    moved = {
        name: np.where(draw.random(ROWS) < 0.2, draw.integers(0, 12, ROWS), line)
        for name, line in codes.items()
    }
    before, after = pl.DataFrame(numbers | codes), pl.DataFrame(noisy | moved)
    kinds: dict[str, Any] = dict.fromkeys(codes, "nominal")
    found = bs.evaluate(before, after, kinds=kinds, keys=list(codes), confidential=["x0"])
    sort = best(lambda: [np.argsort(line) for line in (*numbers.values(), *codes.values())], 1)
    made = table(f"evaluate, {ROWS:,} records in 10 columns", "section", "time", "sorts of all")
    for name in found.figures:
        fresh = bs.evaluate(before, after, kinds=kinds, keys=list(codes), confidential=["x0"])
        time = best(lambda: fresh.section(name), 1)
        made.add_row(name, seconds(time), f"{time / sort:.1f}")
    return made
