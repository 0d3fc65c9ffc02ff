"""Axes undo what columns went through, by themselves or as part of a group."""

from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.estimate.axes import Axis, lumped
from bistochastic.estimate.shares import estimated
from bistochastic.estimate.tally import Tally
from bistochastic.testing import distributions, of_size, stochastic, structures, vectors
from tests.estimate.dense import dense

SMALL = st.integers(1, 6)


def members(levels, n):
    """A row for each level, with ones for its codes."""
    return (levels == np.arange(int(levels.max()) + 1)[:, None]).astype(float).reshape(-1, n)


@settings(max_examples=60)
@given(st.data())
def test_every_inverse_agrees_with_its_dense_twin(data):
    """Estimates, squares, transposes and spreads, of any structure, of sums of its codes too."""
    matrix = data.draw(structures(SMALL) | stochastic(SMALL))
    assume(matrix.condition < 1e3)
    n = matrix.size
    levels = None
    if data.draw(st.booleans()):
        drawn = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
        levels = np.unique(drawn, return_inverse=True)[1]
    axis = Axis.of(matrix, levels=levels)
    sums = members(np.arange(n) if levels is None else levels, n)
    undone = sums @ np.linalg.inv(matrix.to_dense().T)
    x = data.draw(vectors(n))
    wanted = data.draw(vectors(sums.shape[0]))
    close = dict(atol=1e-7 * (1 + (undone**2).max()) * 100)
    np.testing.assert_allclose(axis.undo(x[:, None])[:, 0], undone @ x, **close)
    np.testing.assert_allclose(axis.squared(x[:, None])[:, 0], undone**2 @ x, **close)
    np.testing.assert_allclose(axis.transposed(wanted[:, None])[:, 0], undone.T @ wanted, **close)
    own = (matrix.to_dense() @ (undone**2).T * sums.T).sum(axis=0) / sums.sum(axis=1)
    np.testing.assert_allclose(axis.spread(), own, **close)


def test_what_is_not_symmetric():
    """Of a circulant of three, rows are told from columns, and members from others."""
    matrix = bs.Circulant([0.7, 0.2, 0.1])
    undone, n = np.linalg.inv(matrix.to_dense().T), 3
    axis, x = Axis.of(matrix), np.array([[0.5], [0.2], [0.3]])
    np.testing.assert_allclose(axis.undo(x), undone @ x)
    np.testing.assert_allclose(axis.transposed(x), undone.T @ x)
    np.testing.assert_allclose(axis.forward(axis.undo(x)), x)
    squares = undone**2 @ matrix.to_dense().T
    np.testing.assert_allclose(axis.spread(), np.diag(squares))
    found = estimated(Tally.from_table(np.array([5, 2, 3])), [axis])
    np.testing.assert_allclose(found.rest, (squares.sum(axis=1) - np.diag(squares)) / (n - 1))
    sums = Axis.of(matrix, levels=np.array([0, 1, 0]))
    found = estimated(Tally.from_table(np.array([5, 2, 3])), [sums])
    both = (undone[0] + undone[2]) ** 2 @ matrix.to_dense().T
    np.testing.assert_allclose(found.own[0], (both[0] + both[2]) / 2)
    np.testing.assert_allclose(found.rest[0], both[1])


@settings(max_examples=60)
@given(st.data())
def test_a_group_of_which_some_columns_are_asked(data):
    """The columns of a mixture have a mixture of their own, with the sums that the whole gives."""
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=3))
    cells = prod(sizes)
    truth = data.draw(st.sampled_from([0.0, 0.05, 0.6, 0.9])) if cells > 1 else 1.0
    matrix = bs.Mixture(cells, truth=truth)
    assume(matrix.condition < 1e3)
    wanted = data.draw(st.sets(st.integers(0, len(sizes) - 1), min_size=1))
    wanted = sorted(wanted)
    rest = tuple(set(range(len(sizes))) - set(wanted))
    counts = data.draw(st.lists(st.integers(1, 30), min_size=cells, max_size=cells))
    table = np.array(counts).reshape(sizes)
    own = lumped(matrix, sizes, wanted)
    asked = [sizes[place] for place in wanted]
    codes = np.ravel_multi_index(
        [part for place, part in enumerate(np.indices(sizes)) if place in wanted], asked
    ).ravel()
    few = estimated(Tally.from_table(table.sum(axis=rest).ravel()), [Axis.of(own)])
    many = estimated(Tally.from_table(table.ravel()), [Axis.of(matrix, levels=codes)])
    np.testing.assert_allclose(few.estimate, many.estimate, atol=1e-9)
    np.testing.assert_allclose(few.variance, many.variance, atol=1e-9)
    np.testing.assert_allclose(few.own, many.own, atol=1e-9 * few.own.max())
    whole = estimated(Tally.from_table(table.ravel()), [Axis.of(matrix)]).estimate.reshape(sizes)
    np.testing.assert_allclose(few.estimate, whole.sum(axis=rest).ravel(), atol=1e-9)


@settings(max_examples=60)
@given(st.data())
def test_sums_of_any_channel(data):
    """Where columns have no channel of their own the whole group is undone and then added up."""
    matrix = data.draw(of_size(6))
    assume(matrix.condition < 1e3)
    levels = np.repeat([0, 1], 3) if data.draw(st.booleans()) else np.tile([0, 1, 2], 2)
    true = data.draw(distributions(6))
    found = Axis.of(matrix, levels=levels).undo(matrix.rmatvec(true)[:, None])[:, 0]
    np.testing.assert_allclose(found, members(levels, 6) @ true, atol=1e-9)


def test_what_nobody_can_lump():
    """A channel that treats combinations as it likes has no channel of one column."""
    assert lumped(bs.diffusion(path=6, time=0.3), [2, 3], [0]) is None
    assert lumped(bs.secrecy(6), [2, 3], [1]).size == 3
    assert lumped(bs.Mixture(3, truth=0.5), [3, 1], [1]).size == 1


def test_an_axis_says_what_it_is():
    """Codes, levels, whether anything is hidden, and the numbers of its inverse."""
    axis = Axis.of(bs.Mixture(3, truth=0.8), kept=1)
    assert (axis.size, axis.count, axis.noisy, axis.lost) == (4, 4, True, False)
    assert axis.affine is None
    assert Axis.of(bs.Mixture(3, truth=0.8)).affine == pytest.approx((1 / 0.7, -0.1 / 0.7))
    passing = Axis.passing(3)
    assert (passing.noisy, passing.affine) == (False, (1.0, 0.0))
    assert Axis.of(bs.Blocks([1, 1])).affine == (1.0, 0.0)
    assert np.isnan(Axis.of(bs.Tridiagonal([0.1])).spread_of_each)


@settings(max_examples=40)
@given(st.data())
def test_what_members_and_others_report(data):
    """The mean squares that score intervals rest on, over two axes, one of them with sums."""
    axes = []
    for levels in (None, np.array([0, 1, 0])):
        matrix = data.draw(of_size(3))
        assume(matrix.condition < 1e3)
        axes.append(Axis.of(matrix, levels=levels, kept=data.draw(st.integers(0, 1))))
    sizes = [axis.size for axis in axes]
    tally = Tally.from_table(np.arange(1, prod(sizes) + 1).reshape(sizes))
    found = estimated(tally, axes)
    undone = np.kron(*[axis.undo(np.eye(axis.size)) for axis in axes])
    squares = undone**2 @ dense(axes).T  # of every level, for every true code
    owns = np.kron(*[members(axis.all_levels, axis.size) for axis in axes])
    close = dict(atol=1e-8 * (1 + squares.max()))
    np.testing.assert_allclose(found.own, (squares * owns).sum(1) / owns.sum(1), **close)
    others = (squares * (1 - owns)).sum(1) / (1 - owns).sum(1)
    np.testing.assert_allclose(found.rest, others, **close)
