from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bistochastic.errors import SupportError
from bistochastic.matrices.assignment import assign, in_some_matching, require_total_support

laws = settings(derandomize=True, max_examples=80, deadline=None)
seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 6)


def costs_of(seed, n, *, tied=False):
    """Costs of any sign; tied ones are small whole numbers, so that many permutations are best."""
    rng = np.random.default_rng(seed)
    return rng.integers(-2, 3, (n, n)).astype(float) if tied else rng.normal(size=(n, n)) * 10


def best_permutations(costs):
    """Every permutation of least cost, by trying all."""
    n = len(costs)
    orders = list(permutations(range(n)))
    totals = np.array([costs[np.arange(n), order].sum() for order in orders])
    return [orders[i] for i in np.flatnonzero(totals < totals.min() + 1e-9)]


@laws
@given(seeds, sizes, st.booleans())
def test_prices_prove_the_assignment_best(seed, n, tied):
    """Reduced costs are not negative, vanish along the assignment, and differ by prices only."""
    costs = costs_of(seed, n, tied=tied)
    best = assign(costs)
    assert best.reduced.min() >= 0
    assert not best.reduced[np.arange(n), best.columns].any()
    prices = best.row_prices[:, None] + best.column_prices[None, :]
    assert np.abs(costs - prices - best.reduced).max() <= 1e-10


@laws
@given(seeds, sizes)
def test_reduced_costs_show_every_best_permutation(seed, n):
    """Zeros in some matching are the union of all permutations of least cost."""
    costs = costs_of(seed, n, tied=True)
    best = assign(costs)
    union = np.zeros((n, n), dtype=bool)
    for order in best_permutations(costs):
        union[np.arange(n), order] = True
    assert np.array_equal(in_some_matching(best.reduced == 0, best.columns), union)


@laws
@given(seeds, sizes)
def test_symmetric_costs_keep_symmetric_reduced_costs(seed, n):
    """Symmetry survives to the last digit."""
    costs = costs_of(seed, n)
    reduced = assign(costs + costs.T).reduced
    assert np.array_equal(reduced, reduced.T)


def test_a_long_chain_of_exchanges_is_priced():
    """Points on a line are priced along chains as long as the line."""
    rng = np.random.default_rng(5)
    here, there = rng.random((2, 300))
    best = assign((here[:, None] - there) ** 2)
    assert np.array_equal(np.argsort(np.argsort(there))[best.columns], np.argsort(np.argsort(here)))
    assert best.reduced.min() >= 0
    assert not best.reduced[np.arange(300), best.columns].any()


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e9])
def test_costs_of_prices_alone_are_all_tight(scale):
    """A row term plus a column term leaves no cell dearer than another, despite rounding."""
    rng = np.random.default_rng(2)
    costs = scale * (1000 + rng.normal(size=(60, 1)) + rng.normal(size=60))
    assert not assign(costs).reduced.any()


@pytest.mark.parametrize(
    ("support", "message"),
    [
        ([[1, 1], [0, 0]], "Row 1 holds only zeros"),
        ([[1, 0], [1, 0]], "Column 1 holds only zeros"),
        (
            [[1, 0, 0], [1, 0, 0], [1, 1, 1]],
            "no perfect matching: only 2 of 3 rows find a column",
        ),
        (
            [[1, 1, 1], [0, 1, 1], [0, 1, 1]],
            "2 positive entries lie in no perfect matching, the first at row 0, column 1,",
        ),
    ],
)
def test_supports_without_a_bistochastic_matrix_are_refused(support, message):
    """What stands in the way is named with its position."""
    with pytest.raises(SupportError, match=message):
        require_total_support(np.array(support, dtype=bool))
