"""Shares are unbiased, their variances those of the formulas, for every structure and any mix."""

from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.errors import TableError, TooLargeError
from bistochastic.estimate import margins
from bistochastic.estimate import shares as module
from bistochastic.estimate.axes import Axis, along
from bistochastic.estimate.shares import estimated
from bistochastic.estimate.tally import Tally
from bistochastic.testing import distributions, of_size, structures
from tests.estimate.dense import dense, inverse

SMALL = st.integers(1, 5)
VARIANCES = ("sample", "file")


@st.composite
def tables(draw, axes):
    """A table of counts over some axes, with at least two rows."""
    sizes = [axis.size for axis in axes]
    counts = draw(st.lists(st.integers(0, 30), min_size=prod(sizes), max_size=prod(sizes)))
    counts[0] += 2
    return np.array(counts).reshape(sizes)


@st.composite
def sides(draw):
    """One to three axes of any structures that can be undone, some with codes that pass."""
    axes = []
    for _ in range(draw(st.integers(1, 3))):
        channel = draw(structures(SMALL))
        assume(channel.condition < 1e3)
        axes.append(Axis.of(channel, kept=draw(st.integers(0, 1))))
    return axes


@settings(max_examples=60)
@given(st.data())
def test_what_was_reported_in_expectation_gives_back_the_truth(data):
    """Undoing the distribution that a true one is reported as gives the true one."""
    axes = data.draw(sides())
    sizes = [axis.size for axis in axes]
    true = data.draw(distributions(prod(sizes))).reshape(sizes)
    reported = along(axes, true, lambda axis: axis.forward)
    found = along(axes, reported, lambda axis: axis.undo)
    np.testing.assert_allclose(found, true, atol=1e-9)


@settings(max_examples=60)
@given(st.data())
def test_the_dense_twin_agrees(data):
    """Estimates and variances are those of the matrices multiplied out, in both ways of seeing."""
    axes = data.draw(sides())
    table = data.draw(tables(axes))
    tally = Tally.from_table(table)
    undone, n = inverse(axes), table.sum()
    reported = table.ravel() / n
    estimate = undone @ reported
    each = undone**2 @ reported
    wanted = {"sample": (each - estimate**2) / (n - 1), "file": (each - estimate) / n}
    for variance in VARIANCES:
        found = estimated(tally, axes, variance=variance)
        np.testing.assert_allclose(found.estimate, estimate, atol=1e-9)
        scale = 1e-9 * (1 + each.max())
        np.testing.assert_allclose(
            found.variance, np.maximum(wanted[variance], 0), atol=scale, rtol=1e-9
        )
        assert not (found.clipped & (wanted[variance] > scale)).any()
        assert abs(found.estimate.sum() - 1) < 1e-13 * table.size


@settings(max_examples=60)
@given(st.data())
def test_weights_are_as_if_each_row_were_written_out(data):
    """The weighted estimate and its variance are the sums over rows that define them."""
    axes = data.draw(sides())
    sizes = [axis.size for axis in axes]
    rows = data.draw(st.integers(2, 20))
    cells = np.array(data.draw(st.lists(st.integers(0, prod(sizes) - 1), min_size=rows,
                                        max_size=rows)))  # fmt: skip
    weights = np.array(data.draw(st.lists(st.integers(1, 9), min_size=rows, max_size=rows))) / 2
    tally = weighed(sizes, cells, weights)
    each = inverse(axes)[:, cells]  # what every row says of every cell
    share = weights / weights.sum()
    estimate = each @ share
    sample = ((each - estimate[:, None]) ** 2 @ share**2) * rows / (rows - 1)
    file = (each**2 - each) @ share**2
    scale = 1e-9 * (1 + (each**2).max())
    found = estimated(tally, axes)
    np.testing.assert_allclose(found.estimate, estimate, atol=1e-9)
    np.testing.assert_allclose(found.variance, sample, atol=scale)
    found = estimated(tally, axes, variance="file")
    np.testing.assert_allclose(found.variance, np.maximum(file, 0), atol=scale)


def weighed(sizes, cells, weights):
    """A tally of rows with weights."""
    known = np.unique(cells)
    sums = [np.bincount(cells, values, minlength=prod(sizes))[known]
            for values in (np.ones(cells.size), weights, weights**2)]  # fmt: skip
    return Tally(tuple(sizes), known, sums[0].astype(np.int64), *sums[1:])


@settings(max_examples=60)
@given(st.data())
def test_the_sample_variance_is_unbiased(data):
    """Over all samples of two or three respondents its mean is the variance of the estimate."""
    matrix = data.draw(of_size(3, depth=1))
    assume(matrix.condition < 1e3)
    axes, rows = [Axis.of(matrix)], data.draw(st.integers(2, 3))
    true = data.draw(distributions(3))
    reported = matrix.rmatvec(true)
    means = np.zeros((3, 3))  # of the estimate, of its square and of the estimated variance
    for counts in product(range(rows + 1), repeat=3):
        if sum(counts) != rows:
            continue
        ways = zip(reported, counts, strict=True)
        chance = factorial(rows) * prod(p**c / factorial(c) for p, c in ways)
        found = estimated(Tally.from_table(np.array(counts)), axes)
        means += chance * np.stack([found.estimate, found.estimate**2, found.variance])
    np.testing.assert_allclose(means[0], true, atol=1e-9)
    scale = 1e-9 * (1 + means[1].max())
    np.testing.assert_allclose(means[2], means[1] - means[0] ** 2, atol=scale)


@given(st.data())
def test_the_file_variance_is_unbiased(data):
    """In expectation it is the variance that masking a fixed file causes, row by row."""
    matrix = data.draw(structures(SMALL))
    assume(matrix.condition < 1e3)
    axes, undone, channel = [Axis.of(matrix)], inverse([Axis.of(matrix)]), matrix.to_dense()
    true = data.draw(distributions(matrix.size))
    caused = true @ (channel @ (undone**2).T - np.eye(matrix.size))
    reported = matrix.rmatvec(true)
    raw = along(axes, reported, lambda axis: axis.squared) - true
    np.testing.assert_allclose(raw, caused, atol=1e-9 * (1 + (undone**2).max()))


def test_golden_values():
    """The estimate and standard errors of the reference case."""
    matrix = bs.randomised_response(3, epsilon=2)
    found = estimated(Tally.from_table(np.array([500, 300, 200])), [Axis.of(matrix)])
    np.testing.assert_allclose(found.estimate, [0.5782588214, 0.2843482357, 0.1373929429],
                               atol=1e-10)  # fmt: skip
    np.testing.assert_allclose(np.sqrt(found.variance), [0.0232472985, 0.021306501, 0.0185978388],
                               atol=1e-10)  # fmt: skip


def test_a_negative_variance_is_told():
    """A tridiagonal matrix of five has one down to -0.206 over n, by the file; it is clipped."""
    axis, n = Axis.of(bs.Tridiagonal([0.2] * 4)), 1000
    lowest = (inverse([axis]) ** 2 - inverse([axis])).min()
    assert lowest == pytest.approx(-0.206, abs=1e-3)
    column = int(np.argmin((inverse([axis]) ** 2 - inverse([axis])).min(axis=0)))
    table = np.zeros(5, int)
    table[column] = n
    found = estimated(Tally.from_table(table), [axis], variance="file")
    assert found.clipped.any()
    assert found.variance.min() == 0.0
    mixture = [Axis.of(bs.Mixture(5, truth=0.5))]
    assert not estimated(Tally.from_table(table), mixture, variance="file").clipped.any()


@pytest.mark.parametrize("n", [2, 3, 12, 100])
def test_generalised_randomised_response_written_out(n):
    """As others write it: (count - Nq)/(p - q), with the variance of Wang, Wu and Hu."""
    epsilon, draw = 1.5, np.random.default_rng(n)
    p = np.exp(epsilon) / (np.exp(epsilon) + n - 1)
    q = (1 - p) / (n - 1)
    counts = draw.multinomial(10_000, np.full(n, 1 / n))
    total = counts.sum()
    share = (counts - total * q) / (total * (p - q))
    axes = [Axis.of(bs.randomised_response(n, epsilon=epsilon))]
    found = estimated(Tally.from_table(counts), axes, variance="file")
    np.testing.assert_allclose(found.estimate, share, rtol=1e-9)
    masked = q * (1 - q) / (p - q) ** 2 + share * (1 - p - q) / (p - q)
    np.testing.assert_allclose(found.variance, masked / total, rtol=1e-9)
    drawn = counts / total * (1 - counts / total) / ((total - 1) * (p - q) ** 2)
    found = estimated(Tally.from_table(counts), axes)
    np.testing.assert_allclose(found.variance, drawn, rtol=1e-9)


def test_warner_written_out():
    """Warner's own estimate of 1965 and its variance, for a question with two answers."""
    p, yes, n = 0.7, 420, 1000
    reported = yes / n
    share = (p - 1) / (2 * p - 1) + reported / (2 * p - 1)
    error = reported * (1 - reported) / ((n - 1) * (2 * p - 1) ** 2)
    found = estimated(Tally.from_table(np.array([n - yes, yes])), [Axis.of(bs.Mixture(2, truth=p))])
    assert found.estimate[1] == pytest.approx(share, rel=1e-12)
    assert found.variance[1] == pytest.approx(error, rel=1e-12)


@given(st.data())
def test_margins_alone_give_what_the_whole_table_gives(data):
    """What is told of the reported cells of a large domain is what its laid out twin tells."""
    axes = [
        Axis.of(bs.Mixture(n, truth=data.draw(st.sampled_from([0.0, 0.7, 0.95, 1.0])))
                if n > 1 else bs.identity(1))
        for n in data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    ]  # fmt: skip
    assume(all(axis.inverse.affine for axis in axes))
    tally = Tally.from_table(data.draw(tables(axes)))
    if data.draw(st.booleans()):
        weights = np.arange(1.0, tally.cells.size + 1)
        tally = Tally(tally.sizes, tally.cells, tally.counts, weights * tally.counts,
                      weights**2 * tally.counts)  # fmt: skip
    in_place = data.draw(st.sampled_from([0, 3, margins.IN_PLACE]))
    for variance in VARIANCES:
        whole = module._of_all(tally, axes, variance)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(margins, "IN_PLACE", in_place)
            part = module._of_reported(tally, axes, variance)
        assert part.cells.tolist() == tally.cells.tolist()
        for name in ("estimate", "variance", "own", "moment"):
            wanted = getattr(whole, name)[tally.cells]
            scale = 1e-9 * (1 + np.abs(wanted).max())
            np.testing.assert_allclose(getattr(part, name), wanted, atol=scale)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=40))
def test_keys_are_put_together_alike_in_any_way(keys):
    """Whether a key and its position fit one word or not, and whether they are in order or not."""
    given_ = np.array(keys)
    wanted, numbers = np.unique(given_, return_inverse=True)
    for size in (21, 1 << 62):
        distinct, place, starts, order = margins._distinct(given_, size)
        assert distinct.tolist() == wanted.tolist()
        assert place.tolist() == numbers.tolist()
        ordered = given_ if order is None else given_[order]
        assert ordered.tolist() == sorted(keys)
        assert ordered[starts].tolist() == wanted.tolist()


@pytest.mark.parametrize(
    "channels",
    [[bs.Mixture(10**12, truth=0.6)], [bs.Mixture(1000, truth=0.7)] * 4,
     [bs.Mixture(10**6, truth=0.7), bs.identity(10**6)]],
)  # fmt: skip
def test_a_domain_of_a_million_millions(channels):
    """Cells that hold a tenth of all rows are found again, within six standard errors: 2e-9."""
    draw, rows = np.random.default_rng(3), 20_000
    axes = [Axis.of(channel) for channel in channels]
    sizes = [axis.size for axis in axes]
    true = np.where(draw.random(rows) < 0.1, 7 * 10**11 + 77, draw.integers(0, 10**12, rows))
    codes = np.zeros(rows, np.int64)
    for channel, digit in zip(channels, np.unravel_index(true, sizes), strict=True):
        told = (
            digit
            if not channel.bits
            else np.where(
                draw.random(rows) < channel.truth, digit, draw.integers(0, channel.size, rows)
            )
        )
        codes = codes * channel.size + told  # fmt: skip
    found = estimated(Tally.of(sizes, codes), axes)
    place = np.searchsorted(found.cells, 7 * 10**11 + 77)
    error = np.sqrt(found.variance[place])
    assert abs(found.estimate[place] - (true == 7 * 10**11 + 77).mean()) < 6 * error
    assert 0 < error < 0.02
    assert not found.complete


def test_what_is_too_large_is_refused():
    """A large domain that is no product of mixtures cannot be undone cell by cell."""
    axes = [Axis.of(bs.Tridiagonal([0.1] * 1999)), Axis.of(bs.Mixture(1000, truth=0.9))]
    tally = Tally.of([2000, 1000], np.arange(10))
    with pytest.raises(TooLargeError, match="only mixtures and columns that passed"):
        estimated(tally, axes)
    many = [Axis.of(bs.Mixture(8, truth=0.9))] * 15
    with pytest.raises(TooLargeError, match="14 such columns at most"):
        estimated(Tally.of([8] * 15, np.arange(10)), many)


def test_nobody_and_one():
    """A table of nobody is refused; one row has an estimate and no standard error."""
    axes = [Axis.of(bs.Mixture(3, truth=0.8))]
    with pytest.raises(TableError, match="nobody to estimate from"):
        estimated(Tally.from_table(np.zeros(3, int)), axes)
    found = estimated(Tally.from_table(np.array([0, 1, 0])), axes)
    assert np.isnan(found.variance).all()
    assert np.isfinite(estimated(Tally.from_table(np.array([0, 1, 0])), axes,
                                 variance="file").variance).all()  # fmt: skip


def test_the_dense_twin_is_the_matrix():
    """The oracle of these tests is the Kronecker product of what each axis is."""
    axes = [Axis.of(bs.Mixture(2, truth=0.8), kept=1), Axis.passing(2)]
    first = np.array([[0.8, 0.2, 0], [0.2, 0.8, 0], [0, 0, 1]])
    np.testing.assert_allclose(dense(axes), np.kron(first, np.eye(2)))
