"""What it costs to report x as x̂."""

import numpy as np
import pytest

import bistochastic as bs

TREE = {
    "nurse": "health", "doctor": "health", "cook": "food", "farmer": "all", "health": "all",
    "food": "all",
}  # fmt: skip


def test_squares_of_vectors():
    """The squared Euclidean distance, to other reports too."""
    points = np.random.default_rng(1).normal(size=(5, 3))
    reports = points[:2]
    costs = bs.squared(points, reports)
    for i, x in enumerate(points):
        for j, told in enumerate(reports):
            assert costs[i, j] == pytest.approx(((x - told) ** 2).sum())


def test_steps_up_a_taxonomy():
    """Half the edges of the path between two leaves, in the order of `Taxonomy`."""
    costs = bs.taxonomic(TREE)
    assert bs.Taxonomy(TREE, time=0.0).leaves == ("nurse", "doctor", "cook", "farmer")
    np.testing.assert_array_equal(
        costs, [[0, 1, 2, 1.5], [1, 0, 2, 1.5], [2, 2, 0, 1.5], [1.5, 1.5, 1.5, 0]]
    )
    table = np.random.default_rng(2).integers(1, 20, (3, 4))
    given = bs.tradeoff(table, TREE).point(distortion=0.4).risk
    assert given == bs.tradeoff(table, costs).point(distortion=0.4).risk


def test_weighted_attributes_add_up():
    """The distortion of a product channel is the weighted sum of its parts."""
    parts = [bs.hamming(2), bs.squared([0, 1, 3])]
    costs = bs.weighted(parts, [2.0, 0.5])
    first, second = bs.Mixture(2, truth=0.8), bs.Mixture(3, truth=0.6)
    prior = [np.array([0.3, 0.7]), np.array([0.2, 0.5, 0.3])]
    joint = bs.tradeoff(np.kron(*prior)[None, :], costs)
    placed = joint.place(bs.Kronecker(first, second))
    own = [
        p @ (c.to_dense() * d).sum(1) for p, c, d in zip(prior, (first, second), parts, strict=True)
    ]
    assert placed.distortion == pytest.approx(2 * own[0] + 0.5 * own[1])


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: bs.hamming(0), "n >= 1"),
        (lambda: bs.squared([[1, 2]], [[1, 2, 3]]), "as many numbers"),
        (lambda: bs.taxonomic({"a": "x", "b": "y"}), "a single tree"),
        (lambda: bs.weighted([]), "a weight of at least 0"),
        (lambda: bs.weighted([bs.hamming(2)], [-1]), "a weight of at least 0"),
        (lambda: bs.weighted([[1, 2]]), "tables"),
    ],
)
def test_what_cannot_be_is_refused(call, told):
    """One readable message each."""
    with pytest.raises(bs.BistochasticError, match=told):
        call()
