"""Values computed independently of this package, to full precision, and the errata of Table 1."""

import math

import numpy as np
import pytest

import bistochastic as bs

TIGHT = {"rel": 1e-12, "abs": 1e-12}
CODES = np.arange(12.0)
SQUARES = (CODES[:, None] - CODES) ** 2


def close(value, expected):
    """Equal to twelve digits."""
    return value == pytest.approx(expected, **TIGHT)


def one_sided(stay):
    """The circulant of Table 1: one probability of staying, the rest equal."""
    return bs.Circulant([stay] + [(1 - stay) / 11] * 11)


def test_randomised_response_of_three_at_epsilon_two():
    """Diagonal, off-diagonal, bits, beta and epsilon of mixture(3, ε = 2)."""
    matrix = bs.randomised_response(3, epsilon=2)
    assert close(matrix.truth, 0.7869860421615985)
    assert close(matrix.lie, 0.10650697891920075)
    assert close(matrix.bits, 0.960218407526404)
    assert close(matrix.beta, 0.6058303632354114)
    assert close(matrix.epsilon, 2.0)


@pytest.mark.parametrize(
    ("epsilon", "beta"),
    [(5, 0.16761786574142332), (3, 0.6029721880220981), (1, 0.9741126779170418)],
)
def test_mixture_betas(epsilon, beta):
    """Randomised response of twelve categories."""
    assert close(bs.randomised_response(12, epsilon=epsilon).beta, beta)
    assert close(bs.calibrate("mixture", 12, epsilon=epsilon).beta, beta)


def test_mixture_without_truth():
    """At p = 0 beta is below one: privacy falls again beyond p = 1/n."""
    assert bs.Mixture(12, truth=0.0).beta == pytest.approx(0.96498, abs=5e-6)


@pytest.mark.parametrize(
    ("k", "beta"),
    [
        (2, 0.27894294565112987),
        (3, 0.4421141086977403),
        (4, 0.5578858913022597),
        (6, 0.7210570543488701),
    ],
)
def test_blocks_betas(k, beta):
    """Blocks of k on twelve, from the structure and from its dense twin."""
    blocks = bs.Blocks([k] * (12 // k))
    assert close(blocks.beta, beta)
    assert close(bs.Dense(blocks.to_dense()).beta, beta)
    assert close(bs.calibrate("blocks", 12, k=k).beta, beta)


@pytest.mark.parametrize(
    ("alpha", "beta"),
    [
        (0.1, 0.23610828411754503),
        (0.2, 0.35224362252215885),
        (0.3, 0.40614296847580605),
        (0.4, 0.39891589136406097),
        (0.5, 0.27894294565112987),
        (0.3405914377924587, 0.4112897665259084),
    ],
)
def test_tridiagonal_betas(alpha, beta):
    """Tridiagonal matrices of equal alphas, the most private one among them."""
    assert close(bs.Tridiagonal([alpha] * 11).beta, beta)


@pytest.mark.parametrize(
    ("stay", "beta"),
    [(0.9, 0.22732141697132854), (0.6, 0.6568334372914383), (0.2, 0.9733639861212641)],
)
def test_circulant_betas(stay, beta):
    """Circulants that stay with one probability and go anywhere else equally often."""
    assert close(one_sided(stay).beta, beta)
    assert close(bs.Mixture(12, truth=stay).beta, beta)


@pytest.mark.parametrize(
    ("time", "beta"),
    [
        (0.1, 0.22691056220237166),
        (0.5, 0.5121267497028269),
        (1, 0.6350090628075576),
        (5, 0.8710687227130006),
    ],
)
def test_diffusion_betas(time, beta):
    """Diffusion on the path of twelve, by its formula and by the exponential of its Laplacian."""
    laplacian = np.diag([1.0, *[2.0] * 10, 1.0]) - np.eye(12, k=1) - np.eye(12, k=-1)
    path = bs.diffusion(path=12, time=time)
    graph = bs.diffusion(laplacian=laplacian, time=time)
    assert close(path.beta, beta)
    assert close(graph.beta, beta)
    np.testing.assert_allclose(path.to_dense(), graph.to_dense(), atol=1e-14)


@pytest.mark.parametrize(
    ("temperature", "beta", "distortion"),
    [
        (1, 0.3984074424396686, 0.461022936288),
        (3, 0.5929220632231425, 1.334654962520),
        (10, 0.7838564705857012, 4.050205548575),
    ],
)
def test_optimal_betas(temperature, beta, distortion):
    """The optimal matrix on twelve codes, in its ordered and in its dense form."""
    ordered = bs.optimal(ordered=12, temperature=temperature)
    dense = bs.optimal(SQUARES, temperature=temperature)
    for matrix in (ordered, dense):
        assert close(matrix.beta, beta)
        assert bs.distortion(matrix, SQUARES) == pytest.approx(distortion, abs=1e-11)
    assert ordered.distortion == pytest.approx(distortion, abs=1e-11)


def test_the_same_bits_at_three_prices():
    """At beta 0.60 a mixture moves codes far, a diffusion little, the optimum least."""
    prices = {
        family: bs.distortion(bs.calibrate(family, 12, beta=0.6), SQUARES)
        for family in ("mixture", "diffusion", "optimal")
    }
    assert prices["mixture"] == pytest.approx(9.1365, abs=5e-5)
    assert prices["diffusion"] == pytest.approx(1.4049, abs=5e-5)
    assert prices["optimal"] == pytest.approx(1.3885, abs=5e-5)


def test_bits_of_a_joint_channel():
    """kron(mixture(3, ε = 1), tridiagonal(4, 0.2))."""
    joint = bs.Kronecker(bs.randomised_response(3, epsilon=1), bs.Tridiagonal([0.2] * 3))
    assert close(joint.bits, 2.4535399670501223)


def test_reported_shares_of_the_reference_prior():
    """(0.7, 0.2, 0.1) through mixture(3, ε = 2), and back."""
    matrix = bs.randomised_response(3, epsilon=2)
    prior = np.array([0.7, 0.2, 0.1])
    reported = matrix.rmatvec(prior)
    np.testing.assert_allclose(reported, [0.5828423232, 0.2426027916, 0.1745548852], atol=5e-11)
    np.testing.assert_allclose(matrix.rsolve(reported), prior, atol=1e-14)
    np.testing.assert_allclose(
        matrix.rsolve([0.5, 0.3, 0.2]), [0.5782588214, 0.2843482357, 0.1373929429], atol=5e-11
    )


def test_worst_deniability_of_the_reference_prior():
    """The least of H(X | Y = v) is that of the most frequent value."""
    from bistochastic.matrices.targets import worst_deniability

    matrix = bs.randomised_response(3, epsilon=2)
    found = worst_deniability(matrix, np.array([0.7, 0.2, 0.1]))
    assert close(found, 0.356876223932093)


def test_duplicate_codes_have_a_floor():
    """Codes 0, 0, 1, 2 with |i - j|: swapping the twins costs nothing, so beta starts at 0.25."""
    codes = np.array([0.0, 0.0, 1.0, 2.0])
    distances = np.abs(codes[:, None] - codes)
    assert bs.optimal(distances, temperature=0).beta == pytest.approx(0.25, abs=1e-12)
    assert bs.optimal(distances, beta=0.1).beta == pytest.approx(0.25, abs=1e-12)
    assert bs.distortion(bs.optimal(distances, beta=0.1), distances) == pytest.approx(0, abs=1e-12)


def percent(matrix):
    """A beta as Table 1 prints it."""
    return round(100 * matrix.beta)


@pytest.mark.parametrize(
    ("matrix", "printed", "true"),
    [
        (bs.Blocks([2] * 6), 28, 28),
        (bs.Blocks([3] * 4), 56, 44),
        (bs.Blocks([6] * 2), 72, 72),
        (bs.Tridiagonal([0.1] * 11), 24, 24),
        (bs.Tridiagonal([0.3] * 11), 35, 41),
        (bs.Tridiagonal([0.4] * 11), 40, 40),
        (one_sided(0.9), 21, 23),
        (one_sided(0.6), 63, 66),
        (one_sided(0.2), 93, 97),
        (bs.randomised_response(12, epsilon=5), 17, 17),
        (bs.randomised_response(12, epsilon=3), 60, 60),
        (bs.randomised_response(12, epsilon=1), 97, 97),
    ],
)
def test_errata_of_table_1(matrix, printed, true):
    """BP Table 1: what is printed beside what the stated parameters give."""
    assert percent(matrix) == true
    if printed != true:
        assert percent(matrix) != printed


def test_where_the_misprints_of_table_1_come_from():
    """56 % is k = 4, 35 % is α = 0.2; the circulants had off-diagonals (1 - p)/12."""
    assert percent(bs.Blocks([4] * 3)) == 56
    assert percent(bs.Tridiagonal([0.2] * 11)) == 35
    for stay, printed in ((0.9, 21), (0.6, 63), (0.2, 93)):
        row = np.array([stay] + [(1 - stay) / 12] * 11)
        assert row.sum() < 1
        with pytest.raises(bs.NotBistochasticError, match="must sum to 1"):
            bs.Circulant(row)
        assert round(100 * -(row * np.log2(row)).sum() / math.log2(12)) == printed


def test_erratum_of_expression_7():
    """BP (7) prints α up to n; a matrix of size n has n - 1 of them."""
    assert bs.Tridiagonal([0.1] * 11).size == 12
    assert bs.Tridiagonal([0.1] * 12).size == 13


def test_erratum_of_always_increasing_uncertainty():
    """BP 3: a matrix that is no permutation need not increase uncertainty; it never lowers it."""
    share = np.array([0.3, 0.3, 0.4])
    np.testing.assert_allclose(bs.Blocks([2, 1]).rmatvec(share), share, rtol=0, atol=1e-16)


def test_a_taxonomy_restricted_to_its_leaves_is_no_channel():
    """exp(-tL) of the whole tree loses mass to inner nodes; on the leaves it loses none."""
    from scipy.linalg import expm

    parents = {"a": "x", "b": "x", "c": "y", "x": "root", "y": "root"}
    names = ["a", "b", "c", "x", "y", "root"]
    tree = np.zeros((6, 6))
    for child, above in parents.items():
        i, j = names.index(child), names.index(above)
        tree[[i, j], [j, i]] -= 1
        tree[[i, j], [i, j]] += 1
    assert expm(-tree)[:3, :3].sum(axis=1).max() < 0.9
    leaves = bs.diffusion(parents=parents, time=1.0)
    np.testing.assert_allclose(leaves.to_dense().sum(axis=1), 1, rtol=1e-12)


def test_super_doubly_stochastic_is_not_a_channel():
    """BP's shortcut of adding γ without rescaling gives rows above one, which cannot be sampled."""
    shifted = bs.Blocks([2, 2]).to_dense() + 0.01
    with pytest.raises(bs.NotBistochasticError, match="rows that sum to 1"):
        bs.Dense(shifted)
    assert bs.Blocks([2, 2]).ergodic(0.01).to_dense().sum() == pytest.approx(4)
