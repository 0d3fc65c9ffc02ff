"""Displacements: laws of the tie rule, of power means, and of what chance would have done."""

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import bistochastic as bs
from bistochastic.measures.chance import random_distances, random_relative_distances
from bistochastic.measures.histogram import ZERO, Histogram
from bistochastic.measures.nominal import changed, marginality
from bistochastic.measures.permutation import (
    displacement,
    file_information_loss,
    file_protection,
    information_loss,
    relative_distances,
)

ALPHAS = np.array([-np.inf, -50, -4, -1, -1e-3, -1e-9, 0, 1e-9, 0.25, 0.5, 1 - 1e-9, 1])
THETAS = np.array([1, 1.5, 2, 4, 50, np.inf])
FEW = st.integers(-2, 2)  # few values, so that ties are everywhere
lengths = st.integers(1, 9)


@st.composite
def files(draw, columns=1, elements=FEW, size=None):
    """Columns before and after masking."""
    n = draw(lengths) if size is None else size
    shape = (n, 2 * columns)
    table = draw(arrays(np.int64, shape, elements=elements))
    return [(table[:, 2 * j], table[:, 2 * j + 1]) for j in range(columns)]


def breaks(groups):
    """Every way to give ranks to records of which some are equal."""
    order = sorted(range(len(groups)), key=lambda i: groups[i])
    runs = [list(run) for _, run in itertools.groupby(order, key=lambda i: groups[i])]
    for choice in itertools.product(*(itertools.permutations(run) for run in runs)):
        ranks = np.empty(len(groups), dtype=int)
        ranks[[i for run in choice for i in run]] = np.arange(len(groups))
        yield ranks


def all_moves(x, y):
    """Every displacement that some break of the ties gives, before and after."""
    return [tau - sigma for sigma in breaks(x.tolist()) for tau in breaks(y.tolist())]


small = files(size=4)


@given(small)
def test_ranks_follow_the_definition(file):
    """σ by (x, then y), τ by (y, then x), one common order of records that are equal in both."""
    x, y = file[0]
    told = displacement(x, y)
    rows = range(x.size)
    sigma, tau = told.ranking.original, told.ranking.masked
    assert sorted(sigma) == sorted(tau) == list(rows)
    for i, k in itertools.permutations(rows, 2):
        if (x[i], y[i]) == (x[k], y[k]):
            assert (sigma[i] < sigma[k]) == (tau[i] < tau[k])
        else:
            assert (sigma[i] < sigma[k]) == ((x[i], y[i]) < (x[k], y[k]))
            assert (tau[i] < tau[k]) == ((y[i], x[i]) < (y[k], x[k]))
    assert np.array_equal(told.moves, tau - sigma)


@given(small)
def test_the_tie_rule_is_the_least_for_every_even_convex_function(file):
    """Against every way to break the ties: weak majorization, hence all even convex φ at once."""
    x, y = file[0]
    least = np.cumsum(-np.sort(-np.abs(displacement(x, y).moves)))
    for moves in all_moves(x, y):
        assert (least <= np.cumsum(-np.sort(-np.abs(moves)))).all()


@given(small)
def test_the_least_share_moved_is_reached_and_never_undercut(file):
    """The closed form is the minimum over every way to break the ties."""
    x, y = file[0]
    told = displacement(x, y)
    least = min((moves != 0).mean() for moves in all_moves(x, y))
    assert told.least_moved == pytest.approx(least, abs=1e-12)
    assert told.least_moved <= told.moved + 1e-12


def test_the_tie_rule_is_not_the_least_share_moved():
    """For x = (3,1,2), y = (1,2,2): everybody moves by the rule, two of three at least."""
    told = displacement([3, 1, 2], [1, 2, 2])
    assert (told.moved, told.least_moved) == (1, pytest.approx(2 / 3))


@given(small)
def test_ties_at_random_are_the_mean_over_all_breaks(file):
    """How often each distance occurs on average, by enumeration in fractions."""
    x, y = file[0]
    every = all_moves(x, y)
    counted = Histogram.of(np.concatenate(every))
    told = displacement(x, y).tied_at_random()
    assert told.values.tolist() == counted.values.tolist()
    expected = [Fraction(int(count), len(every)) for count in counted.counts]
    assert told.counts == pytest.approx([float(value) for value in expected], rel=1e-12)


def direct_ties(x, y):
    """The same on a few hundred records, group by group, with doubles."""
    told = displacement(x, y).ranking
    weights = np.zeros(x.size)
    for g, h, count in told.cells:
        s = np.arange(told.before.starts[g], told.before.starts[g + 1])
        t = np.arange(told.after.starts[h], told.after.starts[h + 1])
        apart = np.abs(np.subtract.outer(t, s)).ravel()
        np.add.at(weights, apart, count / apart.size)
    return weights


@pytest.mark.parametrize("groups", [(2, 300), (300, 3), (7, 7), (40, 250), (1, 1)])
def test_ties_at_random_of_a_longer_file(groups):
    """Few and many groups, before and after, against all pairs of ranks."""
    generator = np.random.default_rng(sum(groups))
    x, y = (generator.integers(0, k, 400) for k in groups)
    told, wanted = displacement(x, y).tied_at_random(), direct_ties(x, y)
    assert told.values.tolist() == np.flatnonzero(wanted).tolist()
    assert told.counts == pytest.approx(wanted[told.values], rel=1e-9)


def test_ties_at_random_stay_sharp_in_a_long_file():
    """A constant column of 200 000: (n² - 1)/3n, and the harmonic mean of random order."""
    n = 200_000
    told = displacement(np.arange(n), np.zeros(n)).tied_at_random()
    assert told.means(1) == pytest.approx((n**2 - 1) / (3 * n), rel=1e-12)
    assert np.allclose(told.counts, random_distances(n).counts, rtol=1e-6, atol=0)
    assert told.counts[0] == pytest.approx(1, rel=1e-12)  # on which small α hang
    assert told.means(-1, zero=ZERO) == pytest.approx(random_distances(n).means(-1, zero=ZERO))


def test_a_coarsening_protects_by_chance_only():
    """Groups of k in order: nothing by the tie rule, (k² - 1)/3k if chance breaks the ties."""
    x = np.random.default_rng(1).permutation(120)
    told = displacement(x, x // 6)
    assert told.moved == 0
    assert told.protection([1, 0, -1]) == pytest.approx(ZERO)
    assert told.tied_at_random().means(1) == pytest.approx((36 - 1) / 18)


@given(files(columns=2), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(file, random):
    """Nor what the measures say, nor ranks in which a record is found: pairs of values decide."""
    order = list(range(file[0][0].size))
    random.shuffle(order)
    first = [displacement(x, y) for x, y in file]
    second = [displacement(x[order], y[order]) for x, y in file]
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(one.distances.values, other.distances.values)
        assert np.array_equal(one.distances.counts, other.distances.counts)
        assert one.least_moved == other.least_moved
        moved = {*zip(file[0][0], file[0][1], strict=True)} if one is first[0] else set()
        for x, y in moved:  # every cell is displaced alike, record by record
            cell = (file[0][0] == x) & (file[0][1] == y)
            shuffled = (file[0][0][order] == x) & (file[0][1][order] == y)
            assert one.moves[cell].tolist() == other.moves[shuffled].tolist()


@given(files(elements=st.integers(-50, 50)))
def test_increasing_transformations_change_nothing(file):
    """Of either column, each by its own: only ranks are looked at."""
    x, y = file[0]
    told = displacement(x, y)
    other = displacement(np.exp(x / 10), y.astype(float) ** 3 - 7)
    assert np.array_equal(told.moves, other.moves)
    assert np.array_equal(told.tied_at_random().counts, other.tied_at_random().counts)
    dates = np.datetime64("2020-01-01") + x.astype("timedelta64[D]")
    texts = np.array([f"{value + 100:03d}" for value in y])
    assert np.array_equal(told.moves, displacement(dates, texts).moves)


@given(files(columns=2), st.sampled_from(["rank", "position"]))
def test_power_means_rise_with_their_order(file, by):
    """D(α) never falls with α, I(θ) never with θ; none leaves the range of its distances."""
    told = [displacement(x, y, by=by) for x, y in file]
    for column in told:
        protection = column.protection(ALPHAS)
        assert (np.diff(protection) >= -1e-12 * protection[1:]).all()
        assert protection[0] == max(column.distances.values[0], ZERO)
        assert column.protection(1, rescaled=True) <= 1
        assert column.moved_protection() == pytest.approx(column.moved * column.protection(1))
    loss = information_loss(*told, THETAS)
    assert (np.diff(loss) >= -1e-12 * loss[1:]).all()
    assert information_loss(*told, np.inf, rescaled=True) <= 1


@given(arrays(np.int64, st.integers(1, 30), elements=st.integers(0, 10**6)))
def test_power_means_agree_with_sixty_digits(distances):
    """Every order, small ones and huge ones too, against arithmetic with 60 digits."""
    with mpmath.workdps(60):
        values = [mpmath.mpf(int(d)) if d else mpmath.mpf(ZERO) for d in distances]
        wanted = []
        for alpha in ALPHAS[1:]:
            if alpha == 0:
                wanted.append(mpmath.exp(mpmath.fsum(map(mpmath.log, values)) / len(values)))
            else:
                power = mpmath.mpf(float(alpha))
                mean = mpmath.fsum(value**power for value in values) / len(values)
                wanted.append(mean ** (1 / power))
        wanted = [float(value) for value in wanted]
    found = Histogram.of(distances).means(ALPHAS[1:], zero=ZERO)
    assert found == pytest.approx(wanted, rel=1e-12)


def test_huge_orders_are_the_ends():
    """No power of any order overflows, and no rounding leaves the range of the distances."""
    told = Histogram.of([3, 3, 7, 1000, 10**6])
    huge = 10.0 ** np.array([10, 16, 18, 19, 300, 308])
    assert told.means(huge) == pytest.approx(10**6)
    assert told.means(-huge) == pytest.approx(3)
    for distances in ([3, 3, 3, 7], [10, 11, 11, 11], [1, 2**40]):
        means = Histogram.of(distances).means(np.append(huge, -huge))
        assert means.min() >= min(distances)
        assert means.max() <= max(distances)


@given(files())
def test_no_protection_exactly_where_all_are_in_place(file):
    """D(α) is the zero of the paradigm at any α iff T = 0 iff the order is as it was."""
    x, y = file[0]
    told = displacement(x, y)
    still = bool((told.moves == 0).all())
    assert still == (told.moved == 0) == bool((told.order == np.arange(x.size)).all())
    assert still == bool(told.protection(1) <= ZERO)
    assert displacement(x, x).moved == 0
    assert displacement(x, 3 * x + 1).protection(-4) == pytest.approx(ZERO)


@given(files(elements=st.integers(-5, 5)))
def test_reverse_mapping_is_a_permutation_in_the_masked_order(file):
    """Z holds the original values, is ordered like y, and P acts as a matrix on x."""
    x, y = file[0]
    told = displacement(x, y)
    z = told.mapped(x)
    assert sorted(z) == sorted(x)
    by_rank = np.argsort(told.ranking.masked)
    assert (np.diff(z[by_rank]) >= 0).all()
    assert (np.diff(y[by_rank]) >= 0).all()
    assert np.array_equal(told.matrix.matvec(x), z)
    assert np.array_equal(z + told.residual(x, y), y)
    assert told.moved == 1 - told.matrix.diagonal().mean()


@given(files(columns=3), st.permutations(range(9)))
def test_whole_records_that_move_lose_nothing(file, order):
    """Block permutation: I = 0 between columns moved by the same records, counted by position."""
    n = file[0][0].size
    order = [place for place in order if place < n]
    columns = [np.argsort(x, kind="stable") * 2 for x, _ in file]  # without ties
    told = [displacement(x, x[order], by="position") for x in columns]
    assert file_information_loss(told, THETAS, THETAS).max() == 0
    alike = [displacement(x, x[order]) for x in (columns[0], 5 + columns[0] ** 3)]
    assert information_loss(*alike, np.inf) == 0  # by rank where columns have the same ranks


@given(files(columns=2, size=6), files(columns=2, size=6), files(columns=2, size=4))
def test_sub_blocks_are_consistent(one, other, rest):
    """If D falls and I rises within some records and others stay, they do so in the whole."""

    def of(files):
        moves = [displacement(x, y).moves for x, y in files]
        return np.abs(moves[0]), np.abs(moves[0] - moves[1])

    (near, apart), (far, together), (kept, same) = of(one), of(other), of(rest)
    for alpha in (-4.0, 0.0, 0.5, 1.0):
        part = [Histogram.of(moves).means(alpha, zero=ZERO) for moves in (near, far)]
        whole = [
            Histogram.of(np.append(moves, kept)).means(alpha, zero=ZERO) for moves in (near, far)
        ]
        if part[0] < part[1] * (1 - 1e-9):
            assert whole[0] < whole[1]
    for theta in (1.0, 2.0, 7.0):
        part = [Histogram.of(moves).means(theta) for moves in (apart, together)]
        whole = [Histogram.of(np.append(moves, same)).means(theta) for moves in (apart, together)]
        if part[0] > part[1] * (1 + 1e-9):
            assert whole[0] > whole[1]


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_the_random_line_is_the_mean_over_all_permutations(n):
    """Every permutation counted: how often each distance occurs, and E D(1) = (n² - 1)/3n."""
    every = np.array(list(itertools.permutations(range(n)))) - np.arange(n)
    counted = Histogram.of(every.ravel())
    told = random_distances(n)
    assert told.values.tolist() == counted.values.tolist()
    assert told.counts == pytest.approx(counted.counts / len(every))
    assert told.means(1) == pytest.approx((n * n - 1) / (3 * n))
    assert told.means(1) == pytest.approx(np.abs(every).mean())
    assert told.means(1) <= n * n // 2 / n


@given(files(columns=2, size=4))
def test_the_random_line_of_information_is_the_mean_over_all_pairs(file):
    """Both columns permuted in every way, ranks before as they are."""
    told = [displacement(x, y) for x, y in file]
    orders = np.array(list(itertools.permutations(range(4))))
    apart = told[0].ranking.original - told[1].ranking.original
    every = (orders[:, None] - orders[None, :] - apart).ravel()
    counted = Histogram.of(every)
    line = random_relative_distances(*told)
    assert line.values.tolist() == counted.values.tolist()
    assert line.counts == pytest.approx(counted.counts / len(orders) ** 2)
    assert line.size == 4


def test_the_random_line_of_information_by_position():
    """Where records go is random, where they come from does not matter."""
    told = [displacement(range(4), order, by="position") for order in ([1, 0, 3, 2], [2, 3, 0, 1])]
    orders = np.array(list(itertools.permutations(range(4))))
    counted = Histogram.of((orders[:, None] - orders[None, :]).ravel())
    assert random_relative_distances(*told).counts == pytest.approx(counted.counts / 24**2)


@given(files(columns=3))
def test_a_file_is_between_its_columns(file):
    """D(α, β) and I(θ, π) are means over columns and pairs, ends at -∞ and +∞."""
    told = [displacement(x, y) for x, y in file]
    each = np.array([column.protection([1, -2]) for column in told])
    whole = file_protection(told, [1, -2], [-np.inf, -1, 0, 1])
    assert whole.shape == (2, 4)
    assert whole[:, 0] == pytest.approx(each.min(axis=0))
    assert whole[:, 2] == pytest.approx(np.exp(np.log(each).mean(axis=0)))
    assert whole[:, 3] == pytest.approx(each.mean(axis=0))
    pairs = [information_loss(told[i], told[j], [1, 3]) for i, j in ((0, 1), (0, 2), (1, 2))]
    lost = file_information_loss(told, [1, 3], [1, 2, np.inf])
    assert lost[:, 0] == pytest.approx(np.mean(pairs, axis=0))
    assert lost[:, 1] == pytest.approx(np.sqrt(np.square(pairs).mean(axis=0)))
    assert lost[:, 2] == pytest.approx(np.max(pairs, axis=0))


def test_one_exponent_over_the_number_of_attributes_would_be_no_mean():
    """1/p, as printed, instead of 1/β: three equal columns would not have their own value."""
    told = [displacement(range(4), [3, 2, 1, 0])] * 3
    assert file_protection(told, 1, 0.5) == pytest.approx(2)
    assert np.mean([column.protection(1) ** 0.5 for column in told]) ** (1 / 3) < 1.2


@given(files(columns=2, elements=st.integers(0, 3)), st.data())
def test_missing_values_have_no_rank(file, data):
    """They are left out and counted; what is left is as if they had never been in the file."""
    n = file[0][0].size
    masks = [data.draw(arrays(bool, n)) for _ in range(4)]
    keep = [~(masks[0] | masks[1]), ~(masks[2] | masks[3])]
    if not (keep[0].any() and keep[1].any()):
        return
    told = []
    for (x, y), before, after, kept in zip(file, masks[::2], masks[1::2], keep, strict=True):
        as_nan = displacement(np.where(before, np.nan, x), np.where(after, np.nan, y))
        marked = displacement(x, y, missing_before=before, missing_after=after)
        alone = displacement(x[kept], y[kept])
        assert np.array_equal(as_nan.moves, alone.moves)
        assert np.array_equal(marked.moves, alone.moves)
        assert np.array_equal(as_nan.rows, np.flatnonzero(kept))
        assert (as_nan.blanks.total, as_nan.records) == (int((~kept).sum()), n)
        assert as_nan.blanks.suppressed == int((after & ~before).sum())
        assert as_nan.blanks.filled == int((before & ~after).sum())
        told.append(as_nan)
    both = np.flatnonzero(keep[0] & keep[1])
    if both.size:
        moves = [dict(zip(one.rows, one.moves, strict=True)) for one in told]
        apart = [moves[0][row] - moves[1][row] for row in both]
        found = relative_distances(*told)
        assert found.counts.tolist() == Histogram.of(apart).counts.tolist()
        assert random_relative_distances(*told).size == both.size


def test_what_needs_no_order():
    """Nominal columns: the share changed; an order only by a declared distance."""
    x, y = np.array(list("aabbc")), np.array(list("ababc"))
    assert changed(x, y) == pytest.approx(0.4)
    assert changed(x, y) == pytest.approx(displacement(x, y).least_moved)  # margins are the same
    line = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    assert marginality(line, [1, 1, 1, 1, 1]).tolist() == [2, 1, 0, 1, 2]
    assert marginality(line, [9, 0, 0, 0, 0]).tolist() == [0, 1, 2, 3, 4]
    squares_decide = marginality([[0, 1, 4], [1, 0, 3], [4, 3, 0]], [2, 1, 1])
    assert squares_decide.tolist() == [1, 0, 2]  # mean distances of the first two are equal


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: displacement([1, 2], [1]), "2 before and 1 after"),
        (lambda: displacement([], []), "None of 0 records"),
        (lambda: displacement([np.nan, 1], [1, np.nan]), "None of 2 records"),
        (lambda: displacement([[1]], [1]), r"original column .* shape \(1, 1\)"),
        (lambda: displacement([1], [1j]), "masked column .* complex"),
        (lambda: displacement([1], [1], by="row"), "by \"position\"; got 'row'"),
        (lambda: displacement([1], [1], missing_after=[1]), "1 booleans; got int64"),
        (lambda: displacement([1], [2]).protection(1.5), "alpha of at most 1"),
        (lambda: displacement([1], [2]).protection(np.nan), "alpha of at most 1"),
        (lambda: file_protection([], 1), "at least one column"),
        (lambda: file_protection([displacement([1], [2])], 1, 2), "beta of at most 1"),
        (lambda: file_information_loss([displacement([1], [2])], 1), "at least two columns"),
        (
            lambda: information_loss(displacement([1], [2]), displacement([1, 2], [2, 1])),
            "1 records by rank and 2 by rank",
        ),
        (
            lambda: information_loss(displacement([1], [2]), displacement([1], [2]), 0.5),
            "theta of at least 1",
        ),
        (
            lambda: information_loss(
                displacement([1, np.nan], [2, 2]), displacement([np.nan, 1], [2, 2])
            ),
            "No record has a value in both columns",
        ),
        (lambda: Histogram.of([]), "a line of one or more"),
        (lambda: Histogram.of([np.inf]), "1 distances are not finite"),
        (lambda: Histogram.of([1]).means(np.nan), "got NaN"),
        (lambda: random_distances(0), "at least one record; got 0"),
        (lambda: changed([1], [1, 2]), "same records"),
        (lambda: marginality([[0, 1]], [1]), "square"),
        (lambda: marginality([[0, 1], [2, 0]], [1, 1]), "as large one way"),
        (lambda: marginality([[0, -1], [-1, 0]], [1, 1]), "not negative"),
        (lambda: marginality([[0, 1], [1, 0]], [0, 0]), "nor all 0"),
    ],
)
def test_what_cannot_be_measured_is_refused(attempt, message):
    """Each refusal says what was found, and no value of the data."""
    with pytest.raises(bs.MeasureError, match=message):
        attempt()


def test_one_record_cannot_move():
    """A file of one: everything is in place, and nothing divides by zero."""
    told = displacement([5], [9])
    assert (told.moved, told.span) == (0, 0)
    assert told.protection([1, -1], rescaled=True) == pytest.approx(ZERO)


def test_wide_whole_numbers_keep_their_order():
    """Neither 64-bit numbers that doubles would merge nor unsigned ones lose their ranks."""
    x = np.array([2**63 - 1, 2**63 - 2, -(2**63)])
    assert displacement(x, [3, 2, 1]).moved == 0
    assert displacement(np.array([2**64 - 1, 2**64 - 2], np.uint64), [1, 2]).moved == 1
    assert displacement(np.array([-128, 127, 0], np.int8), [0, 2, 1]).moved == 0
    assert displacement(np.array([True, False]), [0.0, -0.0]).moved == 0
