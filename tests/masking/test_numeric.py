"""Numeric columns: three ways with one expectation, order, ties and missing values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.errors import KeystreamError
from bistochastic.keystream import Key, Rows, Scope, domain_digest
from bistochastic.masking.numeric import average, draw, permute, sources, uncertainty
from bistochastic.masking.ranks import Individuals
from bistochastic.matrices.bounds import AtLeast
from bistochastic.testing import of_size
from tests.many import Many

COLUMNS = 4000
KEY = Key(bytes(range(32)))
NAMED = {"release": "2026", "column": "income"}


@pytest.mark.parametrize(
    "matrix",
    [
        bs.Tridiagonal([0.5, 0.3, 0.4]) @ bs.Blocks([2, 2]),
        bs.Birkhoff([0.6, 0.4], [[1, 2, 3, 0], [0, 1, 3, 2]]),
        bs.Mixture(4, truth=0.4),
        bs.Window(4, width=1),
    ],
)
def test_all_three_ways_agree_on_average(matrix):
    """E[draw] = E[permute] = average, for matrices that are not symmetric too.

    Seven standard errors of the widest spread of four values: false alarms below 1e-10.
    """
    values = np.array([10.0, 1.0, 4.0, 2.0])
    mean = average(values, matrix, insist=True)
    rows = [Many(column, size=4) for column in range(COLUMNS)]
    drawn = np.mean([draw(values, matrix, words) for words in rows], axis=0)
    moved = np.mean([permute(values, matrix, words, insist=True) for words in rows], axis=0)
    spread = 7 * 4.5 / np.sqrt(COLUMNS)
    np.testing.assert_allclose(drawn, mean, atol=spread)
    np.testing.assert_allclose(moved, mean, atol=spread)
    assert mean.mean() == pytest.approx(values.mean())


def test_the_direction_is_from_the_row_to_the_column():
    """With one step up around a circle, everybody's place takes the value of the one before."""
    step = bs.Permutation([1, 2, 0])
    values = np.array([30.0, 10.0, 20.0])
    expected = [20.0, 30.0, 10.0]
    assert permute(values, step, Many(0, size=3)).tolist() == expected
    assert draw(values, step, Many(0, size=3)).tolist() == expected
    assert average(values, step, insist=True).tolist() == expected


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(of_size(n), st.just(n))))
def test_average_is_the_transpose_times_the_sorted_values(pair):
    """By definition, with the individuals in order of value."""
    matrix, n = pair
    values = np.arange(n)[::-1] ** 2.0
    expected = np.empty(n)
    expected[::-1] = matrix.to_dense().T @ np.sort(values)
    np.testing.assert_allclose(average(values, matrix, insist=True), expected, atol=1e-9)


cells = st.lists(st.one_of(st.integers(-3, 3), st.none()), min_size=1, max_size=12)


@settings(max_examples=50)
@given(cells, st.integers(0, 99))
def test_permuting_keeps_margins_and_missing_places(column, number):
    """Every value is still there exactly once, every missing one where it was."""
    values = np.array([np.nan if cell is None else cell for cell in column], dtype=float)
    present = int((~np.isnan(values)).sum())
    if not present:
        assert Individuals.of(values).present == 0
        return
    moved = permute(values, bs.secrecy(present), Many(number, size=present))
    np.testing.assert_array_equal(np.isnan(moved), np.isnan(values))
    np.testing.assert_array_equal(np.sort(moved), np.sort(values))


@settings(max_examples=50)
@given(cells, st.integers(0, 99), st.sampled_from(["draw", "permute", "average"]))
def test_missing_values_have_no_rank(column, number, how):
    """A column with gaps is masked as the column without them, by NaN and by a mask alike."""
    held = np.array([cell for cell in column if cell is not None], dtype=np.int32)
    if not held.size:
        return
    gaps = np.array([cell is None for cell in column])
    matrix = bs.Window(held.size, width=2)

    def masked(values, **options):
        if how == "average":
            return average(values, matrix, insist=True, **options)
        call = draw if how == "draw" else permute
        return call(values, matrix, Many(number, size=held.size), **options)

    without = masked(held)
    by_mask = np.full(gaps.size, 99, dtype=np.int32)
    by_mask[~gaps] = held
    by_nan = np.where(gaps, np.nan, by_mask)
    np.testing.assert_array_equal(masked(by_nan)[~gaps], without)
    np.testing.assert_array_equal(masked(by_mask, missing=gaps)[~gaps], without)
    assert np.isnan(masked(by_nan)[gaps]).all()
    assert np.isnan(masked(by_nan, missing=np.zeros(gaps.size, dtype=bool))[gaps]).all()
    assert (masked(by_mask, missing=gaps)[gaps] == 99).all()


@settings(max_examples=50)
@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=12),
    st.randoms(use_true_random=False),
    st.sampled_from(["draw", "permute", "average"]),
)
def test_ties_are_harmless(column, shuffler, how):
    """What rows of one value receive together does not depend on the order of the rows."""
    values = np.array(column, dtype=float)
    matrix = bs.Tridiagonal(np.full(values.size - 1, 0.4))

    def received(given):
        if how == "average":
            masked = average(given, matrix, insist=True)
        else:
            call = draw if how == "draw" else permute
            masked = call(given, matrix, Many(7, size=given.size))
        return {value: sorted(masked[given == value].tolist()) for value in set(given.tolist())}

    other = values.copy()
    shuffler.shuffle(order := list(range(values.size)))
    assert received(values) == received(other[order])


def test_equal_values_keep_the_order_of_their_rows():
    """The documented rule for ties: by row."""
    individuals = Individuals.of(np.array([2.0, 1.0, 2.0, 1.0, 2.0]))
    assert individuals.rows.tolist() == [1, 3, 0, 2, 4]


def test_types_are_kept():
    """Drawing and permuting keep the type of the column; averaging needs fractions."""
    for dtype in (np.int8, np.int32, np.uint64, np.float32):
        values = np.array([5, 3, 9], dtype=dtype)
        assert draw(values, bs.Mixture(3, truth=0.5), Many(1, size=3)).dtype == dtype
        assert permute(values, bs.secrecy(3), Many(1, size=3)).dtype == dtype
        assert average(values, bs.secrecy(3)).dtype == np.float64
    large = np.array([2**63 + 1, 2**63 + 3], dtype=np.uint64)
    assert set(permute(large, bs.secrecy(2), Many(1, size=2)).tolist()) == set(large.tolist())


def test_the_column_that_was_given_is_left_alone():
    """Masking makes a new column."""
    values = np.array([3.0, 1.0, 2.0])
    for call in (
        lambda: permute(values, bs.Permutation([1, 2, 0]), Many(1)),
        lambda: draw(values, bs.secrecy(3), Many(1, size=3)),
        lambda: average(values, bs.secrecy(3)),
    ):
        call()
        assert values.tolist() == [3.0, 1.0, 2.0]


def test_another_column_or_the_position_may_order_the_individuals():
    """Blocks of neighbours by age, by date, by name or by place in the file, not by income."""
    income = np.array([1.0, 100.0, 2.0, 50.0])
    pairs = bs.Blocks([2, 2])
    ages = [70, 30, 71, 31]
    dates = np.array(["2026-02-01", "2026-01-01", "2026-02-02", "2026-01-02"], dtype="M8[D]")
    for by in (ages, np.array(ages, dtype=float), dates, ["c", "a", "d", "b"]):
        assert average(income, pairs, by=by).tolist() == [1.5, 75, 1.5, 75]
    assert average(income, pairs, by="position").tolist() == [50.5, 50.5, 26, 26]
    assert average(income, pairs).tolist() == [1.5, 75, 1.5, 75]


def test_a_gap_in_the_order_is_harmless_where_the_column_has_one_too():
    """Only individuals need a place in the order."""
    income = np.array([1.0, np.nan, 3.0])
    assert np.nanmax(average(income, bs.secrecy(2), by=[5.0, np.nan, 1.0])) == 2.0


def test_one_key_masks_one_column_in_one_way():
    """The same key, names and matrix give the same column; any other gives another one."""
    values = np.arange(64.0)
    matrix = bs.secrecy(64)
    once = permute(values, matrix, KEY, **NAMED)
    np.testing.assert_array_equal(once, permute(values, matrix, KEY, **NAMED))
    others = [
        permute(values, matrix, Key(bytes(32)), **NAMED),
        permute(values, matrix, KEY, release="2027", column="income"),
        permute(values, matrix, KEY, release="2026", column="wealth"),
        permute(values, bs.Mixture(64, truth=1 / 64), KEY, **NAMED),
        draw(values, matrix, KEY, **NAMED),
    ]
    for other in others:
        assert (other != once).mean() > 0.5


@pytest.mark.parametrize("how", ["draw", "permute"])
def test_the_words_are_those_of_the_ranks(how):
    """Scope, purpose and place as documented, so that any engine can ask for the same words."""
    matrix = bs.Tridiagonal([0.5, 0.3, 0.4]) @ bs.Blocks([2, 2])
    exact = (matrix.T if how == "draw" else matrix).exact()
    scope = Scope(
        release="2026",
        column="income",
        domain=domain_digest(["individuals", 4]),
        matrix=exact.digest(),
    )
    rows = KEY.rows(scope, purpose=how)
    assert isinstance(rows, Rows)
    came = sources(exact, rows.words(0, 4), how)
    values = np.array([40, 10, 30, 20])
    masked = (draw if how == "draw" else permute)(values, matrix, KEY, **NAMED)
    assert masked[[1, 3, 2, 0]].tolist() == np.sort(values)[came].tolist()


def test_sources_need_no_column():
    """What moves a sorted column elsewhere: a rank for each rank."""
    came = sources(bs.Permutation([1, 2, 0]).exact(), Many(0), "permute")
    assert came.tolist() == [2, 0, 1]
    assert came.dtype == np.int64
    assert sources(bs.secrecy(5).exact(), Many(0, size=5), "draw").dtype == np.int64
    with pytest.raises(bs.MaskingError, match='"draw" or "permute" here; got \'average\''):
        sources(bs.secrecy(5).exact(), Many(0, size=5), "average")


def test_uncertainty_of_one_and_of_all():
    """Draws are independent, permutations less so; both beside what is open of one record."""
    matrix = bs.Tridiagonal([0.5, 0.25, 0.25])
    drawn, moved = uncertainty(matrix, "draw"), uncertainty(matrix)
    assert drawn.record_bits == moved.record_bits == pytest.approx(matrix.bits)
    assert drawn.least_record_bits == pytest.approx(matrix.min_row_bits)
    assert isinstance(drawn.joint_bits, AtLeast)
    assert drawn.joint_bits == pytest.approx(4 * matrix.bits)
    assert drawn.joint_bits_each == pytest.approx(matrix.bits)
    assert isinstance(drawn.joint_bits_each, AtLeast)
    assert moved.joint_bits < drawn.joint_bits
    assert moved.individuals == 4


def test_ten_million_individuals_are_masked():
    """No array but lines: a tenth of it here, the whole in the benchmarks."""
    n = 10**6
    values = np.arange(n)[::-1].astype(np.int32)
    for matrix in (
        bs.Blocks(np.full(n // 4, 4)),
        bs.Tridiagonal(np.full(n - 1, 0.3)),
        bs.Mixture(n, truth=0.5),
        bs.Window(n, width=50),
    ):
        moved = permute(values, matrix, KEY, **NAMED)
        assert (np.bincount(moved, minlength=n) == 1).all()


FEW = bs.Birkhoff([0.5, 0.5], [[0, 1, 2], [1, 2, 0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: permute(["a"], bs.secrecy(1), Many(1)), "numeric column is needed"),
        (lambda: permute([[1.0]], bs.secrecy(1), Many(1)), "numeric column is needed"),
        (lambda: permute([1.0, np.inf], bs.secrecy(2), Many(1)), "1 infinite values"),
        (
            lambda: permute([1.0, np.nan], bs.secrecy(2), Many(1)),
            r"1 rows have a value \(1 have none\)",
        ),
        (lambda: draw([1.0, 2.0], bs.secrecy(3), Many(1)), "2 rows have a value"),
        (lambda: average([1.0, 2.0], bs.secrecy(2), by=[1]), "order by needs 2 values"),
        (lambda: average([1.0, 2.0], bs.secrecy(2), by=[{}, {}]), "that have an order"),
        (lambda: average([1.0, 2.0], bs.secrecy(2), by=[1, np.nan]), "no value in 1 rows"),
        (
            lambda: average([1.0, 2.0], bs.secrecy(2), by=np.array(["NaT", "2026"], "M8[Y]")),
            "no value in 1 rows",
        ),
        (lambda: average([1.0, 2.0], bs.secrecy(2), by="age"), 'by a column, by "position"'),
        (lambda: average([1.0, 2.0], bs.secrecy(2), missing=[0, 1]), "told by 2 booleans"),
        (lambda: average([1.0, 2.0], bs.secrecy(2), missing=[True]), "told by 2 booleans"),
        (lambda: permute([1.0, 2.0, 3.0], FEW, KEY, **NAMED), "one known record may reveal all"),
        (lambda: permute([1.0, 2.0], bs.Circulant([0.5, 0.5]), Many(1)), "no recipe"),
        (lambda: average([1.0, 2.0], bs.identity(2)), "determines 2 of 2 values"),
    ],
)
def test_refusals_of_numeric_columns(call, message):
    """One readable sentence each, without a value."""
    with pytest.raises(bs.MaskingError, match=message):
        call()


def test_a_key_needs_names():
    """Words belong to a release and a column."""
    with pytest.raises(KeystreamError, match="names its release"):
        permute([1.0, 2.0], bs.secrecy(2), KEY)
