"""Distances between distributions: their axioms, their order, and what they are at the edges."""

import math

import numpy as np
import pytest
import scipy.spatial.distance
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from bistochastic.errors import MatrixError, NotBistochasticError
from bistochastic.measures.distances import (
    hellinger,
    jensen_shannon,
    kullback_leibler,
    ratio,
    total_variation,
    wasserstein,
)

ALL = [total_variation, hellinger, kullback_leibler, jensen_shannon, wasserstein, ratio]
SYMMETRIC = [total_variation, hellinger, jensen_shannon, wasserstein, ratio]
METRICS = [
    total_variation,
    hellinger,
    wasserstein,
    lambda p, q: np.sqrt(jensen_shannon(p, q)),
    lambda p, q: np.log(ratio(p, q)),
]
CLOSE = 1e-12


@st.composite
def several(draw, count=2):
    """So many distributions over the same categories, zeros among them."""
    n = draw(st.integers(1, 6))
    weights = st.lists(st.integers(0, 5), min_size=n, max_size=n).filter(any)
    return [np.array(w) / sum(w) for w in (draw(weights) for _ in range(count))]


@given(several())
@pytest.mark.parametrize("distance", ALL)
def test_a_distribution_is_at_no_distance_from_itself(distance, pair):
    """Of p and p every distance is its least; of others it is not less."""
    least = 1.0 if distance is ratio else 0.0
    p, q = pair
    assert distance(p, p) == pytest.approx(least, abs=CLOSE)
    assert distance(p, q) >= least


@given(several())
@pytest.mark.parametrize("distance", SYMMETRIC)
def test_distances_do_not_ask_who_comes_first(distance, pair):
    """All but the divergence of Kullback and Leibler are symmetric."""
    p, q = pair
    assert distance(p, q) == pytest.approx(distance(q, p), abs=CLOSE)


@given(several(3))
@pytest.mark.parametrize("distance", METRICS)
def test_a_detour_is_not_shorter(distance, three):
    """The triangle inequality holds for all that are metrics, the logarithm of ratios too."""
    p, q, r = three
    assert distance(p, r) <= distance(p, q) + distance(q, r) + 1e-7


@given(several())
def test_distances_bound_each_other(pair):
    """Hellinger's bounds on total variation, Pinsker's and Bretagnolle's on information, hold."""
    p, q = pair
    variation, roots = total_variation(p, q), hellinger(p, q)
    assert roots**2 <= variation + CLOSE
    assert variation <= math.sqrt(2) * roots + CLOSE
    assert kullback_leibler(p, q) * math.log(2) >= 2 * variation**2 - CLOSE
    assert jensen_shannon(p, q) <= variation + CLOSE
    assert kullback_leibler(p, q) <= np.log2(ratio(p, q)) + CLOSE
    steps = len(p) - 1
    assert variation - CLOSE <= wasserstein(p, q) <= steps * variation + CLOSE


@given(several())
def test_other_hands_compute_the_same(pair):
    """SciPy's entropy, Jensen-Shannon and Wasserstein agree."""
    p, q = pair
    assert kullback_leibler(p, q) == pytest.approx(max(scipy.stats.entropy(p, q, base=2), 0))
    places = np.arange(len(p)) ** 2.0
    assert wasserstein(p, q, places) == pytest.approx(
        scipy.stats.wasserstein_distance(places, places, p, q), abs=CLOSE
    )
    theirs = scipy.spatial.distance.jensenshannon(p, q, base=2)
    if np.isfinite(theirs):  # theirs takes the root of a rounding error below zero
        assert math.sqrt(jensen_shannon(p, q)) == pytest.approx(theirs, abs=1e-7)


@given(several(5))
@pytest.mark.parametrize("distance", ALL)
def test_many_are_measured_as_one_by_one(distance, five):
    """Leading axes broadcast: a file against its classes is one call."""
    file, *classes = five
    grid = np.array(classes).reshape(2, 2, -1)
    found = distance(grid, file)
    assert found.shape == (2, 2)
    alone = [[distance(one, file) for one in line] for line in grid]
    np.testing.assert_allclose(found, alone, rtol=1e-14, atol=1e-15)


def test_zeros_are_zeros():
    """What one of them holds impossible is at infinity, what both do is nowhere."""
    assert kullback_leibler([0.5, 0.5], [1, 0]) == math.inf
    assert kullback_leibler([1, 0], [0.5, 0.5]) == 1
    assert ratio([1, 0], [0.5, 0.5]) == math.inf
    assert ratio([1, 0], [1, 0]) == 1
    assert ratio([0.25, 0.75, 0], [0.5, 0.5, 0]) == 2
    assert jensen_shannon([1, 0], [0, 1]) == 1
    tiny = 5e-324
    assert jensen_shannon([1, tiny], [1, 0]) == 0


def test_positions_need_not_come_in_order():
    """Categories lie where their positions say, whatever order they are listed in."""
    assert wasserstein([1, 0, 0], [0, 0, 1], [5, 0, 2]) == 3
    assert wasserstein([1, 0, 0], [0, 0, 1], [5, 0, 2], normalised=True) == 0.6


def test_normalised_work_is_a_share():
    """From end to end it is one, and over a single place it is nothing."""
    assert wasserstein([1, 0, 0, 0], [0, 0, 0, 1], normalised=True) == 1
    assert wasserstein([1], [1], normalised=True) == 0
    assert wasserstein([1, 0], [0, 1], positions=[3, 3], normalised=True) == 0


@pytest.mark.parametrize(
    ("p", "q", "error", "words"),
    [
        ([0.5, 0.5], [1], MatrixError, "2 and 1 categories"),
        ([2, 3], [0.5, 0.5], NotBistochasticError, "1 distributions of the first .* their sum"),
        ([0.5, 0.5], [-1, 2], MatrixError, "second argument holds 1 negative"),
        ([np.nan, 1], [0.5, 0.5], MatrixError, "NaN"),
        (1.0, [1.0], MatrixError, "list of probabilities"),
        (np.ones((2, 1)), np.ones((3, 1)), MatrixError, r"broadcast; got shapes \(2, 1\)"),
        ([], [], MatrixError, "empty"),
    ],
)
@pytest.mark.parametrize("distance", ALL)
def test_what_is_no_distribution_is_refused(distance, p, q, error, words):
    """Sizes, sums, signs and holes are checked before anything is measured."""
    with pytest.raises(error, match=words):
        distance(p, q)


def test_positions_are_as_many_as_categories():
    """A position is missing: it is said how many are needed."""
    with pytest.raises(MatrixError, match="2 categories need as many positions"):
        wasserstein([1, 0], [0, 1], positions=[1])
