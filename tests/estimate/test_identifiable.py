"""Of a singular channel what is identifiable is estimated, and nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.errors import TooLargeError
from bistochastic.estimate.axes import Axis
from bistochastic.estimate.identifiable import identified
from bistochastic.estimate.likelihood import fitted
from bistochastic.estimate.shares import estimated
from bistochastic.estimate.tally import Tally
from bistochastic.testing import distributions, stochastic, structures


@settings(max_examples=100)
@given(st.data())
def test_sums_over_classes_are_what_reports_determine(data):
    """From the expected reports every class has its true share, whatever hides within it."""
    matrix = data.draw(structures(st.integers(1, 7)) | stochastic(st.integers(1, 7)))
    found = identified(matrix)
    true = data.draw(distributions(matrix.size))
    wanted = np.bincount(found.levels, true)
    told = found.matrix @ matrix.rmatvec(true)
    np.testing.assert_allclose(told, wanted, atol=1e-6)


@settings(max_examples=100)
@given(st.data())
def test_no_class_could_be_told_apart_by_its_codes(data):
    """A class of several codes holds a vector that no report shows and that touches all of them."""
    matrix = data.draw(structures(st.integers(1, 7)))
    levels = identified(matrix).levels
    assert levels[0] == 0
    _, sizes, right = np.linalg.svd(matrix.to_dense().T)
    hidden = right[(sizes > 1e-9 * sizes[0]).sum():]  # fmt: skip
    for level in range(levels.max() + 1):
        members = levels == level
        if members.sum() > 1 and hidden.size:
            assert (np.abs(hidden[:, members]).max(axis=0) > 1e-8).all()
        else:
            assert members.sum() == 1
            assert np.abs(hidden[:, members]).max(initial=0.0) < 1e-6


@settings(max_examples=100)
@given(st.data())
def test_no_class_is_finer_than_what_is_asked_for(data):
    """Where sums are asked for, classes are made of them and have their true shares."""
    matrix = data.draw(structures(st.integers(2, 7)))
    n = matrix.size
    drawn = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    wanted = np.unique(drawn, return_inverse=True)[1]
    found = identified(matrix, wanted)
    for level in range(int(wanted.max()) + 1):
        assert len(set(found.levels[wanted == level])) == 1
    true = data.draw(distributions(n))
    told = found.matrix @ matrix.rmatvec(true)
    np.testing.assert_allclose(told, np.bincount(found.levels, true), atol=1e-6)
    whole = identified(matrix).levels
    if whole.max() == n - 1:
        assert found.levels.max() == wanted.max()


def test_blocks_give_their_sums():
    """Blocks of two, one and three: three sums, which both methods agree on."""
    axes = [Axis.of(bs.Blocks([2, 1, 3]))]
    tally = Tally.from_table(np.array([10, 20, 30, 15, 5, 20]))
    found = estimated(tally, axes)
    assert axes[0].lost
    assert found.estimate.tolist() == pytest.approx([0.3, 0.3, 0.4], rel=1e-15)
    np.testing.assert_allclose(found.variance, np.array([0.21, 0.21, 0.24]) / 99)
    np.testing.assert_allclose(fitted(tally, axes).levels, [0.3, 0.3, 0.4], atol=1e-6)
    np.testing.assert_allclose(axes[0].spread(), 1.0)


def test_secrecy_tells_nothing():
    """One class of all codes, also of as many as never form a matrix, and of a silent mixture."""
    for matrix in (bs.secrecy(4), bs.secrecy(10**6), bs.Mixture(4, truth=0.25),
                   bs.Mixture(10**5, truth=1e-5)):  # fmt: skip
        axis = Axis.of(matrix)
        assert axis.lost
        assert axis.count == 1


def test_sums_asked_for_can_be_known_though_their_codes_are_not():
    """Blocks of two over columns of two: the first column is known, and it is no loss."""
    axis = Axis.of(bs.Blocks([2, 2]), levels=np.array([0, 0, 1, 1]))
    assert not axis.lost
    assert axis.count == 2
    crossing = Axis.of(bs.Blocks([2, 2]), levels=np.array([0, 1, 0, 1]))
    assert crossing.lost
    assert crossing.count == 1
    half = Axis.of(bs.Blocks([2, 1]), levels=np.array([0, 1, 1]))
    assert half.lost
    assert half.count == 1


def test_a_large_singular_channel_is_refused():
    """Null vectors of thousands of categories are not looked for."""
    with pytest.raises(TooLargeError, match="up to 3000 categories"):
        identified(bs.Window(4000, width=4000))
