"""The running example of Ruiz: every number of its tables, and what is printed wrongly there."""

import numpy as np
import pytest

from bistochastic.measures.histogram import ZERO, Histogram
from bistochastic.measures.permutation import displacement, information_loss

ORIGINAL = np.array(
    [[13, 135, 3707], [20, 52, 826], [2, 123, -1317], [15, 165, 2419], [29, 160, -1008]]
)
MASKED = np.array([[8, 160, 3248], [20, 57, 822], [-1, 122, 248], [18, 135, 597], [29, 164, -1927]])
LOCAL = np.array(
    [[13, 135, 3707], [20, 57, 822], [-1, 122, 248], [15, 165, 2419], [29, 160, -1008]]
)


def columns(masked, by="position"):
    """The displacements of the three columns."""
    return [displacement(ORIGINAL[:, j], masked[:, j], by=by) for j in range(3)]


def descending(ranks):
    """Ranks from 1 for the largest value, as the tables print them."""
    return np.stack([5 - column for column in ranks], axis=1).tolist()


def test_table_1_ranks():
    """Ranks of the original and of the masked columns."""
    told = columns(MASKED)
    assert descending([column.ranking.original for column in told]) == [
        [4, 3, 1], [2, 5, 3], [5, 4, 5], [3, 1, 2], [1, 2, 4],
    ]  # fmt: skip
    assert descending([column.ranking.masked for column in told]) == [
        [4, 2, 1], [2, 5, 2], [5, 4, 4], [3, 3, 3], [1, 1, 5],
    ]  # fmt: skip


def test_table_2_reverse_mapping_and_noise():
    """What the original values are in the masked order, and what is left over."""
    told = columns(MASKED)
    mapped = [column.mapped(ORIGINAL[:, j]).tolist() for j, column in enumerate(told)]
    assert mapped == [
        [13, 20, 2, 15, 29], [160, 52, 123, 135, 165], [3707, 2419, -1008, 826, -1317],
    ]  # fmt: skip
    noise = [
        column.residual(ORIGINAL[:, j], MASKED[:, j]).tolist() for j, column in enumerate(told)
    ]
    assert noise == [
        [-5, 0, -3, 3, 0], [0, 5, -1, 0, -1], [-459, -1597, 1256, -229, -610],
    ]  # fmt: skip


def test_the_permutation_matrices():
    """Z = PX with the matrices that are printed below table 2."""
    two, three = np.zeros((5, 5)), np.zeros((5, 5))
    two[range(5), [4, 1, 2, 0, 3]] = 1
    three[range(5), [0, 3, 4, 1, 2]] = 1
    for column, printed in zip(columns(MASKED), (np.eye(5), two, three), strict=True):
        assert np.array_equal(column.matrix.to_dense(), printed)


def test_displacements_by_position_and_by_rank():
    """The printed vectors count places in the file; ranks, which the text defines, are others."""
    assert [told.moves.tolist() for told in columns(MASKED)] == [
        [0, 0, 0, 0, 0], [3, 0, 0, 1, -4], [0, 2, 2, -2, -2],
    ]  # fmt: skip
    by_rank = [(-told.moves).tolist() for told in columns(MASKED, by="rank")]  # descending
    assert by_rank == [[0, 0, 0, 0, 0], [-1, 0, 0, 2, -1], [0, -1, -1, 1, 1]]


def test_table_3():
    """T, and D at 1, ½ and -4; at ½ the printed 0.97 and 1.06 raise the mean to α, not 1/α."""
    told = columns(MASKED)
    assert [round(column.moved, 12) for column in told] == [0, 0.6, 0.8]
    at_one, at_half, at_minus_four = np.array(
        [column.protection([1, 0.5, -4]) for column in told]
    ).T
    assert at_one == pytest.approx([ZERO, 1.6 + 2 * ZERO / 5, 1.6 + ZERO / 5], rel=1e-12)
    assert at_half == pytest.approx([ZERO, 0.8957679082, 1.280045255], rel=1e-9)
    assert at_minus_four.round(6).tolist() == [0, 0, 0]
    printed = [
        (np.sqrt(np.maximum(np.abs(column.moves), ZERO)).mean()) ** 0.5 for column in told[1:]
    ]
    assert np.round(printed, 2).tolist() == [0.97, 1.06]


def test_information_loss():
    """At θ = 1 and 4 it is 2.4 and 2.5457 of the printed differences, not 2 and 2.49; ∞ is 3."""
    _, two, three = columns(MASKED)
    assert np.abs(two.moves - three.moves).tolist() == [3, 2, 2, 3, 2]
    found = information_loss(two, three, [1, 4, np.inf])
    assert found == pytest.approx([2.4, 2.5457298, 3], rel=1e-7)
    assert found.round(4).tolist() == [2.4, 2.5457, 3]
    by_rank = columns(MASKED, by="rank")
    assert information_loss(by_rank[1], by_rank[2]) == pytest.approx(6 / 5)


def test_table_4_local_masking():
    """Two records masked, and the permutation, reverse mapping and noise of that."""
    told = columns(LOCAL)
    assert descending([column.ranking.masked for column in told]) == [
        [4, 3, 1], [2, 5, 3], [5, 4, 4], [3, 1, 2], [1, 2, 5],
    ]  # fmt: skip
    mapped = np.stack([c.mapped(ORIGINAL[:, j]) for j, c in enumerate(told)], axis=1)
    assert mapped.tolist() == [
        [13, 135, 3707], [20, 52, 826], [2, 123, -1008], [15, 165, 2419], [29, 160, -1317],
    ]  # fmt: skip
    noise = np.stack([c.residual(ORIGINAL[:, j], LOCAL[:, j]) for j, c in enumerate(told)], axis=1)
    assert noise.tolist() == [[0, 0, 0], [0, 5, -4], [-3, -1, 1256], [0, 0, 0], [0, 0, 309]]
    assert [round(column.moved, 12) for column in told] == [0, 0, 0.4]
    footnote = np.eye(5)[[0, 1, 4, 3, 2]]
    assert np.array_equal(told[2].matrix.to_dense(), footnote)
    assert told[2].moves.tolist() == [0, 0, 2, 0, -2]


def test_table_4_prints_a_noise_of_zero_that_is_minus_one():
    """The second column of the third record goes from 123 to 122: -1, where 0 is printed."""
    assert LOCAL[2, 1] - columns(LOCAL)[1].mapped(ORIGINAL[:, 1])[2] == -1


def test_rescaled_information_by_rank_needs_twice_the_range():
    """Two columns that are turned around, one up and one down, reach I(1) = 4 with 4 records."""
    up, down = np.arange(4), np.arange(4)[::-1]
    one, other = displacement(up, down), displacement(down, up)
    assert information_loss(one, other) == 4
    assert information_loss(one, other) / (4 - 1) > 1
    assert information_loss(one, other, np.inf, rescaled=True) == 1


def test_moving_whole_records_is_free_by_position_but_not_by_rank():
    """A block permutation (Ruiz's proposition 4) has I = 0 by position; ranks move differently."""
    whole = ORIGINAL[[1, 2, 3, 4, 0]]
    by_position, by_rank = columns(whole), columns(whole, by="rank")
    assert information_loss(by_position[0], by_position[1], np.inf) == 0
    assert information_loss(by_rank[0], by_rank[1]) > 0


def test_the_third_column_dominates_the_second_by_position():
    """As the text says of table 3: at no α is the second better protected."""
    _, two, three = columns(MASKED)
    alphas = np.append(-np.geomspace(50, 1e-3, 60), [0, 0.3, 0.7, 1])
    assert (three.protection(alphas) >= two.protection(alphas) * (1 - 1e-8)).all()


def test_records_permuted_often_and_far_against_once_and_near():
    """{0,3,6,6} against {0,4,4,5}: the common zeros hide who is worse below -1.905."""
    a, b = Histogram.of([0, 3, 6, 6]), Histogram.of([0, 4, 4, 5])
    assert a.means(1, zero=ZERO) > b.means(1, zero=ZERO)
    without_a, without_b = Histogram.of([3, 6, 6]), Histogram.of([4, 4, 5])
    assert without_a.means(-1.90) > without_b.means(-1.90)
    assert without_a.means(-1.91) < without_b.means(-1.91)
