"""What sdcMicro made of the Census file: MDAV of 3, 20 % noise, and rank swapping within 5 %."""

import csv

import mpmath
import numpy as np
import pytest

from bistochastic.measures.dominance import dominance
from bistochastic.measures.histogram import ZERO
from bistochastic.measures.permutation import displacement
from bistochastic.measures.preference import preference
from tests.pages import ROOT

DATA = ROOT.parent / "shared" / "data"
MASKINGS = ("mdav3", "noise20", "rankswap5")


def table(path):
    """A file of numbers, without its names."""
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    with path.open(newline="") as file:
        lines = list(csv.reader(file))
    return lines[0], np.array(lines[1:], dtype=float)


@pytest.fixture(scope="module")
def told():
    """The displacements of each masking, column by column."""
    _, original = table(DATA / "census.csv")
    found = {}
    for name in MASKINGS:
        _, masked = table(DATA / "masked" / f"census_sdcmicro_{name}.csv")
        found[name] = [displacement(x, y) for x, y in zip(original.T, masked.T, strict=True)]
    return found


def test_ranks_are_those_of_sorted_pairs(told):
    """Python's sort of (y, x, row) and of (x, y, row) gives the same moves in all 39 columns."""
    _, original = table(DATA / "census.csv")
    for name in MASKINGS:
        _, masked = table(DATA / "masked" / f"census_sdcmicro_{name}.csv")
        for x, y, column in zip(original.T, masked.T, told[name], strict=True):
            rows = range(x.size)
            ranks = np.empty((2, x.size), dtype=int)
            ranks[0, sorted(rows, key=lambda i: (x[i], y[i], i))] = rows
            ranks[1, sorted(rows, key=lambda i: (y[i], x[i], i))] = rows
            assert np.array_equal(column.moves, ranks[1] - ranks[0])


def test_rank_swapping_within_five_percent_stays_there(told):
    """Nobody moves by more than 54 of 1080 ranks, ties notwithstanding; noise and groups do."""
    furthest = {name: [c.distances.values[-1] for c in told[name]] for name in MASKINGS}
    assert max(furthest["rankswap5"]) <= 54
    assert min(furthest["mdav3"]) > 200
    assert min(furthest["noise20"]) > 200


def test_who_is_better_for_everybody(told):
    """Groups of three and noise both protect more than rank swapping, neither more than other."""
    files = {name: [column.distances for column in told[name]] for name in MASKINGS}
    order = preference(files)
    assert order.edges == (("mdav3", "rankswap5"), ("noise20", "rankswap5"))
    assert order.best == ("mdav3", "noise20")
    assert order.undecided == ()


def test_crossings_of_real_files_are_where_they_are_said(told):
    """With 60 digits, the means of the two files change places exactly there."""
    crossed = 0
    for one, other in zip(told["mdav3"], told["noise20"], strict=True):
        found = dominance(one, other)
        for alpha in found.crossings:
            crossed += 1
            before, after = (
                precise(one, alpha + step) - precise(other, alpha + step) for step in (-1e-7, 1e-7)
            )
            assert before * after < 0
            assert np.sign(float(before)) == found.better(alpha - 1e-7)
    assert crossed == 3


def precise(column, alpha):
    """D(α) with 60 digits."""
    with mpmath.workdps(60):
        pairs = zip(column.distances.values.tolist(), column.distances.counts.tolist(), strict=True)
        power = mpmath.mpf(alpha)
        total = mpmath.fsum(m * mpmath.power(x or mpmath.mpf(ZERO), power) for x, m in pairs)
        return mpmath.power(total / column.size, 1 / power)
