"""Sizes at which nothing dense exists: ten million records, and domains of 10^12 cells."""

import math

import numpy as np
import pytest
from scipy import sparse

import bistochastic as bs

MILLIONS = 10**7


def ring(n: int) -> sparse.csr_matrix:
    """The Laplacian of a cycle, as any sparse graph would be given."""
    ones = np.ones(n)
    links = sparse.coo_matrix((ones, (np.arange(n), np.roll(np.arange(n), -1))), shape=(n, n))
    links = (links + links.T).tocsr()
    return sparse.diags(np.asarray(links.sum(axis=1)).ravel()) - links


LARGE = {
    "mixture": lambda n: bs.Mixture(n, truth=0.7),
    "blocks": lambda n: bs.Blocks(np.full(n // 5, 5)),
    "tridiagonal": lambda n: bs.Tridiagonal(np.linspace(0, 0.24, n - 1)),
    "circulant": lambda n: bs.Circulant(np.concatenate(([0.7, 0.2, 0.1], np.zeros(n - 3)))),
    "narrow window": lambda n: bs.Window(n, width=5),
    "wide window": lambda n: bs.Window(n, width=n // 20),
    "path": lambda n: bs.diffusion(path=n, time=2.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("family", LARGE)
def test_ten_million_records(family):
    """All quantities, products, solutions and reports at n = 10^7, checked against small twins."""
    matrix, small = LARGE[family](MILLIONS), LARGE[family](1000)
    assert matrix.size == MILLIONS
    if family not in ("mixture", "tridiagonal", "wide window"):  # rows alike at any size
        assert matrix.bits == pytest.approx(small.bits, rel=0.02)
    assert 0 < matrix.beta < 1
    assert matrix.min_row_bits <= matrix.bits
    assert matrix.truthfulness.min <= matrix.truthfulness.mean
    x = np.cos(np.arange(MILLIONS))
    y = matrix.matvec(x)
    assert y.mean() == pytest.approx(x.mean(), abs=1e-12)  # bistochastic: means are kept
    cells = np.array([0, 1, 12_345, MILLIONS - 1])
    near = np.clip(cells[:, None] + np.arange(-60, 61), 0, MILLIONS - 1)
    if family in ("tridiagonal", "narrow window", "path"):
        for cell, around in zip(cells, near, strict=True):
            around = np.unique(around)
            assert y[cell] == pytest.approx(matrix.entry(cell, around) @ x[around], abs=1e-10)
    if family != "blocks":
        np.testing.assert_allclose(matrix.solve(y), x, atol=1e-5)
    form = matrix.exact()
    assert form.bits == pytest.approx(matrix.bits, abs=1e-9)
    codes = np.arange(0, MILLIONS, 1000)
    words = np.random.default_rng(5).integers(0, 2**64, (form.draws, codes.size), dtype=np.uint64)
    reports = form.sample(codes, words)
    assert ((reports >= 0) & (reports < MILLIONS)).all()
    stay = (reports == codes).mean()
    assert stay == pytest.approx(matrix.truthfulness.mean, abs=6 * 0.5 / math.sqrt(codes.size))


def test_a_joint_domain_of_a_trillion_cells():
    """Every quantity, rows, entries and reports of a Kronecker product without forming it."""
    factors = [bs.Mixture(1000, truth=0.6), bs.diffusion(path=1000, time=3.0), bs.Window(1000, 7)]
    factors.append(bs.Circulant(np.full(1000, 1e-3)))
    joint = bs.Kronecker(*factors)
    assert joint.size == 10**12
    assert joint.bits == pytest.approx(sum(factor.bits for factor in factors))
    assert joint.min_row_bits == pytest.approx(sum(factor.min_row_bits for factor in factors))
    assert joint.epsilon == math.inf
    assert joint.beta == pytest.approx(joint.bits / math.log2(1e12))
    assert joint.truthfulness.mean == pytest.approx(
        math.prod(factor.truthfulness.mean for factor in factors)
    )
    assert joint.singular
    code = 123_456_789_012
    row = joint.row(code)
    assert len(row) == 10**12
    some = np.array([code, code + 1, 0])
    expected = [
        math.prod(
            f.entry(a, b) for f, a, b in zip(factors, [123, 456, 789, 12], digits, strict=True)
        )
        for digits in ([123, 456, 789, 12], [123, 456, 789, 13], [0, 0, 0, 0])
    ]
    np.testing.assert_allclose(row[some], expected)
    np.testing.assert_allclose(joint.T.entry(some, code), expected)
    form = joint.exact()
    assert form.certificate.draws == 4
    words = np.random.default_rng(6).integers(0, 2**64, (4, 1000), dtype=np.uint64)
    reports = form.sample(np.full(1000, code), words)
    assert (joint.entry(code, reports) > 0).all()
    assert np.unique(reports).size == 1000
    with pytest.raises(bs.TooLargeError, match="more than are ever formed at once"):
        np.asarray(row)


def test_a_mixture_over_a_trillion_cells():
    """Randomised response on a joint domain: finite epsilon, exact integers, two words a cell."""
    matrix = bs.randomised_response(10**12, epsilon=30)
    form = matrix.exact()
    assert form.draws == 2
    assert 30 - 1e-6 < form.epsilon <= 30
    assert form.denominators == (2**64 * (10**12 - 1),)
    assert matrix.row(5)[[5, 6]].tolist() == [matrix.truth, matrix.lie]
    codes = np.arange(0, 10**12, 10**9)
    words = np.random.default_rng(7).integers(0, 2**64, (2, codes.size), dtype=np.uint64)
    kept = (form.sample(codes, words) == codes).mean()
    assert kept == pytest.approx(matrix.truth, abs=6 * 0.5 / math.sqrt(codes.size))


@pytest.mark.parametrize(
    "make",
    [
        lambda n: bs.Tridiagonal(np.full(n - 1, 0.2)) @ bs.Window(n, width=4),
        lambda n: bs.Combination(
            [0.3, 0.7], [bs.Tridiagonal(np.full(n - 1, 0.2)), bs.Window(n, 4)]
        ),
    ],
)
def test_bounds_of_large_products_and_mixtures_hold(make):
    """What is labelled a bound is one: checked at a size where the truth can be formed."""
    matrix = make(1103)
    truth = bs.Dense(matrix.to_dense())
    assert isinstance(matrix.bits, bs.AtLeast)
    assert isinstance(matrix.beta, bs.AtLeast)
    assert isinstance(matrix.epsilon, bs.AtMost)
    assert 0 < matrix.bits <= truth.bits
    assert 0 < matrix.min_row_bits <= truth.min_row_bits
    assert matrix.epsilon >= truth.epsilon
    assert matrix.truthfulness.min <= truth.truthfulness.min
    assert matrix.condition >= truth.condition * (1 - 1e-6)
    form = matrix.exact()
    assert form.bits <= truth.bits
    assert form.epsilon >= truth.epsilon


def test_bounds_on_a_large_graph_hold():
    """Diffusion on a sparse graph of 2500 vertices: certified bounds, exact products."""
    laplacian = ring(2500)
    graph = bs.diffusion(laplacian=laplacian, time=0.8)
    truth = bs.diffusion(cycle=2500, time=0.8)
    assert isinstance(graph.bits, bs.AtLeast)
    assert 0.5 * truth.bits < graph.bits <= truth.bits
    assert 0 < graph.min_row_bits <= truth.min_row_bits
    assert graph.truthfulness.mean <= truth.truthfulness.mean
    assert graph.condition >= truth.condition * (1 - 1e-9)
    x = np.cos(np.arange(2500))
    np.testing.assert_allclose(graph.matvec(x), truth.matvec(x), atol=1e-12)
    np.testing.assert_allclose(graph.solve(graph.matvec(x)), x, atol=1e-9)
    np.testing.assert_allclose(graph.entry(3, [2, 3, 4]), truth.entry(3, [2, 3, 4]), atol=1e-14)
    for refused in (graph.diagonal, graph.entries):
        with pytest.raises(bs.TooLargeError, match="would need its whole exponential"):
            refused()
    with pytest.raises(bs.ExactnessError, match="has no integer form"):
        graph.exact()


@pytest.mark.parametrize("time", [3e4, 3e5, 5e6, 1e9])
def test_long_walks_have_the_bits_of_their_coarse_twin(time):
    """The coarse grid of a long reflected walk against all its entries."""
    n = 5000
    walk = bs.diffusion(path=n, time=time)
    codes = np.arange(n)
    rows = np.concatenate(
        [
            -np.where(p > 0, p * np.log2(np.where(p > 0, p, 1)), 0).sum(axis=1)
            for p in (walk.entry(part[:, None], codes) for part in np.split(codes, 10))
        ]
    )
    assert walk.bits == pytest.approx(rows.mean(), abs=1e-12)
    assert walk.min_row_bits == pytest.approx(rows.min(), abs=1e-12)


def test_a_long_rough_walk_has_a_bound():
    """A step law that is long and not smooth: folding loses at most one bit, and it is said."""
    n = 4001
    law = np.zeros(n + 1)
    law[:1500] = 1.0
    walk = bs.Reflected(law / (2 * law.sum() - law[0]))
    assert isinstance(walk.bits, bs.AtLeast)
    truth = bs.Reflected(walk.steps).entry(np.arange(n)[:, None], np.arange(n)[None, :])
    rows = -np.where(truth > 0, truth * np.log2(np.where(truth > 0, truth, 1)), 0).sum(axis=1)
    assert rows.mean() - 1 <= walk.bits <= rows.mean()
    assert walk.min_row_bits <= rows.min()


@pytest.mark.slow
def test_optimal_on_a_million_ordered_codes():
    """The ordered optimum at n = 10^6: calibrated, sampled, its middle like a longer line's."""
    matrix = bs.optimal(ordered=10**6, beta=0.4)
    assert matrix.beta == pytest.approx(0.4, abs=1e-12)
    np.testing.assert_allclose(matrix.matvec(np.ones(10**6)), 1, atol=1e-12)
    colder = bs.Ordered(10**6, temperature=30.0)
    form = colder.exact()
    row, whole = form.integer_row(500_000)
    assert sum(row) == whole
    codes = np.arange(0, 10**6, 50)
    words = np.random.default_rng(8).integers(0, 2**64, (1, codes.size), dtype=np.uint64)
    moved = form.sample(codes, words) - codes
    assert (moved.astype(float) ** 2).mean() == pytest.approx(colder.distortion, rel=0.05)


@pytest.mark.parametrize("n", [600, 1100, 3000])
def test_the_ordered_integer_form_is_bistochastic(n):
    """Beyond the dense sizes: symmetric whole weights, every row exact, close to the matrix."""
    matrix = bs.Ordered(n, temperature=4.0)
    form = matrix.exact()
    whole = np.zeros((n, n), dtype=object)
    for u in range(n):
        row, denominator = form.integer_row(u)
        assert sum(row) == denominator == 2**64
        whole[u] = row
    assert (whole == whole.T).all()
    np.testing.assert_allclose((whole / 2**64).astype(float), matrix.to_dense(), atol=1e-12)
    assert form.epsilon == math.inf
    assert form.bits == pytest.approx(matrix.bits, abs=1e-9)


def test_hot_ordered_forms_have_finite_epsilon():
    """When every report is possible, epsilon is that of the integers' columns."""
    matrix = bs.Ordered(700, temperature=5e4)
    form = matrix.exact()
    columns = np.array([form.integer_row(u)[0] for u in range(700)], dtype=float)
    assert form.epsilon == pytest.approx(np.log(columns.max(axis=0) / columns.min(axis=0)).max())
    assert isinstance(matrix.epsilon, bs.AtMost)
    assert matrix.epsilon >= form.epsilon - 1e-9
    assert form.sample(np.array([0, 699]), np.array([0, 2**64 - 1], dtype=np.uint64)).max() < 700


@pytest.mark.slow
def test_a_taxonomy_of_a_hundred_thousand_leaves():
    """A tree of 100 groups of 1000: products, bits and reports without a dense twin."""
    parents = {f"leaf {i}": f"group {i // 1000}" for i in range(100_000)}
    parents |= {f"group {i}": "all" for i in range(100)}
    matrix = bs.diffusion(parents=parents, time=1.0)
    assert matrix.size == 100_000
    x = np.cos(np.arange(100_000))
    np.testing.assert_allclose(matrix.solve(matrix.matvec(x)), x, atol=1e-10)
    form = matrix.exact()
    assert form.bits == pytest.approx(matrix.bits, abs=1e-9)
    assert form.epsilon == pytest.approx(matrix.epsilon, rel=1e-9)
    codes = np.arange(100_000)
    words = np.random.default_rng(9).integers(0, 2**64, (2, codes.size), dtype=np.uint64)
    reports = form.sample(codes, words)
    away = (reports // 1000 != codes // 1000).mean()
    assert away == pytest.approx((1 - math.exp(-1)) * 0.99, abs=6 * 0.5 / math.sqrt(codes.size))
