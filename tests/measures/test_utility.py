"""What is lost: against definitions in plain Python, and nothing where nothing was changed."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.measures import utility
from bistochastic.measures.associations import association, correlations
from bistochastic.measures.attributes import midranks
from bistochastic.measures.figures import WORSE
from bistochastic.measures.propensity import propensity
from bistochastic.measures.utility import Compared, column_utility, pair_utility

NAN = float("nan")


@st.composite
def files(draw):
    """Columns of each kind, of a few records, with gaps."""
    n = draw(st.integers(1, 20))
    made = []
    for place, kind in enumerate(
        draw(st.lists(st.sampled_from(["numeric", "ordinal", "nominal"]), min_size=1, max_size=3))
    ):
        cell = st.one_of(st.just(NAN), st.integers(-9, 9).map(float))
        cell = cell if kind == "numeric" else st.integers(-1, 4)
        sides = [np.array(draw(st.lists(cell, min_size=n, max_size=n))) for _ in range(2)]
        made.append(Compared.of(f"c{place}", kind, *sides))
    return made


def figures(columns):
    """Everything told of some columns, by measure and columns."""
    told = [figure for column in columns for figure in column_utility(column)]
    return {(figure.measure, figure.of): figure for figure in [*told, *pair_utility(columns)]}


@given(files())
def test_a_file_compared_with_itself_has_lost_nothing(columns):
    """Every figure is 0, has a unit, and says that larger is worse."""
    same = [Compared(c.name, c.kind, c.before, c.before) for c in columns]
    for figure in figures(same).values():
        assert figure.value == pytest.approx(0, abs=1e-12), figure
        assert figure.direction == WORSE
        assert figure.unit
    assert propensity(same).pmse == pytest.approx(0, abs=1e-18)


@settings(max_examples=60)
@given(files())
def test_figures_are_in_their_ranges(columns):
    """Shares between 0 and 1, distances and divergences not negative, missing cells counted."""
    for (measure, of), figure in figures(columns).items():
        if measure in ("total variation", "Hellinger distance", "Cramér’s V"):
            assert -1e-12 <= figure.value <= 1 + 1e-12
        elif measure != "missing cells":
            assert figure.value >= 0
        else:
            column = next(c for c in columns if c.name == of[0])
            gaps = [np.mean((side != side) | (side < 0)) for side in (column.before, column.after)]
            if column.kind == "numeric":
                gaps = [np.mean(side != side) for side in (column.before, column.after)]
            assert (figure.before, figure.after) == pytest.approx(tuple(gaps))


@settings(max_examples=60)
@given(files(), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(columns, chance):
    """Records shuffled, and columns told in another order: the same losses."""
    order = list(range(columns[0].before.size))
    chance.shuffle(order)
    other = [Compared(c.name, c.kind, c.before[order], c.after[order]) for c in columns]
    one, two = figures(columns), figures(other[::-1])
    for (measure, of), figure in one.items():
        same = two.get((measure, of)) or two[measure, of[::-1]]
        assert figure.value == pytest.approx(same.value, rel=1e-9, abs=1e-9), measure


@given(
    st.lists(st.integers(-9, 9), min_size=2, max_size=12),
    st.lists(st.integers(-9, 9), min_size=2, max_size=15),
)
def test_numbers_lose_what_they_lose(before, after):
    """Means, deviations, the way of the earth and IL1s by their formulas, in deviations before."""
    x, y = np.array(before, float), np.array(after, float)
    linked = x.size == y.size
    told = {f.measure: f for f in column_utility(Compared.of("x", "numeric", x, y, linked=linked))}
    s = x.std() if np.ptp(x) else 1.0
    assert told["mean"].value == pytest.approx(abs(y.mean() - x.mean()) / s)
    assert (told["mean"].before, told["mean"].after) == pytest.approx((x.mean(), y.mean()))
    sd = x.std() if np.ptp(x) else 0.0
    grown = abs(y.std() / sd - 1) if sd else float(np.ptp(y) > 0)
    assert told["standard deviation"].value == pytest.approx(grown, abs=1e-9)
    places = np.arange(-9, 9)
    apart = [abs(np.mean(x <= place) - np.mean(y <= place)) for place in places]
    assert told["Wasserstein distance"].value == pytest.approx(sum(apart) / s, abs=1e-12)
    if linked:
        assert told["IL1s"].value == pytest.approx(np.abs(x - y).mean() / (math.sqrt(2) * s))
    else:
        assert "IL1s" not in told


def test_units_do_not_matter():
    """Another unit or origin of a column changes no loss, however large or small it is."""
    draw = np.random.default_rng(2)
    x, y = draw.standard_normal((2, 300)).round(3)
    one = {f.measure: f.value for f in column_utility(Compared.of("x", "numeric", x, x + 0.3 * y))}
    for unit, origin in ((1e-200, 0), (1e200, 0), (4, 16)):
        a, b = (side * unit + origin for side in (x, x + 0.3 * y))
        two = {f.measure: f.value for f in column_utility(Compared.of("x", "numeric", a, b))}
        assert two == pytest.approx(one, rel=1e-6)


def test_ordered_codes_are_steps():
    """A category moved by two places is two steps of earth; missing ones do not move."""
    column = Compared.of("x", "ordinal", [0, 0, 1, -1], [2, 0, 1, -1])
    told = {figure.measure: figure.value for figure in column_utility(column)}
    assert told["Wasserstein distance"] == pytest.approx(2 / 3)
    assert told["total variation"] == pytest.approx(1 / 4)


def plain_chi_square(pairs):
    """χ² of independence, per record, from pairs of codes."""
    n = len(pairs)
    first, second = (
        {v: sum(p[k] == v for p in pairs) for v in {p[k] for p in pairs}} for k in (0, 1)
    )
    square = 0.0
    for a, many in first.items():
        for b, more in second.items():
            expected = many * more / n
            square += (sum(p == (a, b) for p in pairs) - expected) ** 2 / expected
    return square / n, min(len(first), len(second)) - 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=25))
def test_association_is_its_definition(pairs):
    """χ² per record, and Cramér's V out of it; 0 where one side is constant."""
    table = np.zeros((5, 4), dtype=int)
    for a, b in pairs:
        table[a, b] += 1
    square, strength = association(table)
    expected, degrees = plain_chi_square(pairs)
    assert square == pytest.approx(expected, abs=1e-12)
    assert strength == pytest.approx(math.sqrt(expected / degrees) if degrees else 0.0, abs=1e-9)


@given(
    st.lists(
        st.tuples(*[st.one_of(st.just(NAN), st.integers(-5, 5).map(float))] * 3),
        min_size=2,
        max_size=20,
    )
)
def test_correlations_are_over_pairs_that_are_there(rows):
    """Pearson's, of each two columns over the records that have both; 0 where one is constant."""
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    found = correlations(columns)
    for i in range(3):
        for j in range(3):
            both = (columns[i] == columns[i]) & (columns[j] == columns[j])
            x, y = columns[i][both], columns[j][both]
            flat = not both.any() or np.ptp(x) == 0 or np.ptp(y) == 0
            expected = 0.0 if flat else np.corrcoef(x, y)[0, 1]
            assert found[i, j] == pytest.approx(expected, abs=1e-9)


def test_rank_correlation_is_of_ranks():
    """A bent column keeps its rank correlations."""
    draw = np.random.default_rng(4)
    x, y = draw.standard_normal((2, 400))
    columns = [Compared.of("x", "numeric", x, np.exp(x)), Compared.of("y", "numeric", y + x, y + x)]
    told = figures(columns)["rank correlation", ("x", "y")]
    assert told.value == pytest.approx(0, abs=1e-12)
    assert told.before == pytest.approx(np.corrcoef(midranks(x), midranks(y + x))[0, 1])


def test_rare_categories_are_one_in_pairs():
    """A thousand categories do not make a million cells."""
    codes = np.arange(3000) % 1000
    column = Compared.of("x", "nominal", codes, codes)
    assert column.cells(utility.COMMON).size == utility.COMMON + 2
    assert column.cells().size == 1001


def test_a_file_drawn_anew_is_as_expected():
    """The mean ratio over 400 files drawn from the original is 1, within six standard errors."""
    draw = np.random.default_rng(8)
    x, c = draw.standard_normal((400, 2)), draw.integers(0, 3, 400)
    ratios = []
    for _ in range(400):
        rows = draw.integers(0, 400, 400)
        columns = [Compared.of(str(k), "numeric", x[:, k], x[rows, k]) for k in (0, 1)]
        found = propensity([*columns, Compared.of("c", "nominal", c, c[rows])])
        ratios.append(found.ratio)
    assert found.parameters == 5
    # A ratio is a mean of four squares: its variance is 2/4.
    assert np.mean(ratios) == pytest.approx(1, abs=6 * math.sqrt(0.5 / 400))


def test_the_model_is_fitted():
    """At the maximum of the likelihood the residuals are orthogonal to every column."""
    draw = np.random.default_rng(9)
    x = draw.standard_normal(200)
    y = draw.standard_normal(300) + 0.7
    found = propensity([Compared.of("x", "numeric", x, y, linked=False)])
    from scipy.optimize import minimize

    both, masked = np.concatenate([x, y]), np.repeat([0.0, 1.0], [200, 300])

    def deviance(w):
        score = w[0] + w[1] * both
        return (np.logaddexp(0, score) - masked * score).sum()

    w = minimize(deviance, [0, 0], method="BFGS", options={"gtol": 1e-9}).x
    fitted = 1 / (1 + np.exp(-(w[0] + w[1] * both)))
    assert found.pmse == pytest.approx(np.square(fitted - 0.6).mean(), rel=1e-5)
    assert found.expected == pytest.approx(0.4**2 * 0.6 / 500)


def test_files_told_apart_for_certain():
    """Where a column separates the files, pMSE is all it can be, and no step goes astray."""
    x = np.arange(50.0)
    found = propensity([Compared.of("x", "numeric", x, x + 100)])
    assert found.separated
    assert found.pmse == pytest.approx(0.25, rel=1e-3)


def test_columns_that_say_the_same_count_once():
    """A copy of a column, a constant and a category that nobody has add no parameter."""
    x = np.arange(10.0)
    columns = [
        Compared.of("x", "numeric", x, x[::-1]),
        Compared.of("2x", "numeric", 2 * x, 2 * x[::-1]),
        Compared.of("one", "numeric", 0 * x, 0 * x),
        Compared.of("c", "nominal", np.zeros(10, int), np.zeros(10, int)),
    ]
    assert propensity(columns).parameters == 2


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda: Compared.of("x", "numeric", ["a"], ["b"]),
            "'x' is numeric; it needs one line of n",
        ),
        (lambda: Compared.of("x", "nominal", [0.5], [1]), "'x' is nominal; it needs one line of c"),
        (lambda: Compared.of("x", "numeric", [], []), "'x' has no row"),
        (lambda: Compared.of("x", "numeric", [1], [1, 2]), "1 and 2 rows"),
        (lambda: propensity([]), "at least one column"),
    ],
)
def test_refusals(call, says):
    """What cannot be compared is refused in words."""
    with pytest.raises(bs.MeasureError, match=says):
        call()
