"""Bad input: one clear message each, told by its text."""

import math

import numpy as np
import pytest

import bistochastic as bs

HALF = [[0.5, 0.5], [0.5, 0.5]]
NAN = math.nan
LAPLACIAN = np.array([[1.0, -1], [-1, 1]])

MATRIX_REFUSALS = [
    (lambda: bs.Dense([[0.5, 0.5]]), r"Dense must be square; got shape \(1, 2\)"),
    (lambda: bs.Stochastic(np.ones((2, 3)) / 3), r"Stochastic must be square; got shape \(2, 3\)"),
    (lambda: bs.Dense([0.5, 0.5]), "Dense must be square"),
    (lambda: bs.Dense([]), "Dense is empty"),
    (
        lambda: bs.Dense([[1.5, -0.5], [-0.5, 1.5]]),
        "negative entries, the least -0.5 in row 0, col",
    ),
    (lambda: bs.Dense([[NAN, 0.5], [0.5, 0.5]]), "1 entries that are NaN or infinite"),
    (lambda: bs.Dense([[math.inf, 0.5], [0.5, 0.5]]), "NaN or infinite"),
    (lambda: bs.Dense([["a", "b"], ["c", "d"]]), "Dense must hold real numbers only"),
    (lambda: bs.Dense([[1, 0], [1]]), "Dense must hold real numbers only, in a regular shape"),
    (lambda: bs.Dense([[0.5 + 0j, 0.5], [0.5, 0.5]]), "must hold real numbers only"),
    (
        lambda: bs.Dense([[0.6, 0.5], [0.4, 0.5]]),
        r"Dense needs rows that sum to 1 .* row 0 sums to 1\.1",
    ),
    (lambda: bs.Dense([[0.6, 0.4], [0.5, 0.5]]), "Dense needs columns that sum to 1"),
    (lambda: bs.Stochastic([[0.6, 0.3], [0.5, 0.5]]), "Stochastic needs rows that sum to 1"),
    (lambda: bs.Mixture(0, truth=0.5), "whole number n >= 1; got 0"),
    (lambda: bs.Mixture(2.5, truth=0.5), "whole number n >= 1; got 2.5"),
    (lambda: bs.Mixture(True, truth=1.0), "whole number n >= 1; got True"),
    (lambda: bs.Mixture(3, truth=1.2), "0 <= truth <= 1; got truth=1.2"),
    (lambda: bs.Mixture(3, truth=NAN), "0 <= truth <= 1; got truth=nan"),
    (lambda: bs.Mixture(3, truth="half"), "truth must be a number; got 'half'"),
    (lambda: bs.Mixture(1, truth=0.5), "A single category is always reported"),
    (lambda: bs.identity(0), "whole number n >= 1"),
    (lambda: bs.secrecy(-3), "whole number n >= 1"),
    (lambda: bs.randomised_response(3, epsilon=-1), "epsilon >= 0; got -1"),
    (lambda: bs.randomised_response(3, epsilon=NAN), "epsilon >= 0; got nan"),
    (lambda: bs.Circulant([]), "Circulant.first_row is empty"),
    (lambda: bs.Circulant([0.5, 0.6]), "must sum to 1; it sums to 1.1"),
    (lambda: bs.Circulant([1.5, -0.5]), "negative entries, the least -0.5"),
    (lambda: bs.Circulant(HALF), r"must be a list of numbers; got shape \(2, 2\)"),
    (lambda: bs.Tridiagonal([1.2]), "alphas between 0 and 1"),
    (lambda: bs.Tridiagonal([-0.1]), "alphas between 0 and 1"),
    (lambda: bs.Tridiagonal([0.6, 0.5]), "alphas 0 and 1 sum to 1.1"),
    (lambda: bs.Tridiagonal([NAN]), "NaN or infinite"),
    (lambda: bs.Tridiagonal(HALF), "list of alphas"),
    (lambda: bs.Blocks([]), "non-empty list of whole block sizes"),
    (lambda: bs.Blocks([2, 0]), "sizes >= 1; got one of 0"),
    (lambda: bs.Blocks([1.5]), "whole block sizes"),
    (lambda: bs.Permutation([0, 0]), "each of 0 … 1 exactly once"),
    (lambda: bs.Permutation([0, 2]), "each of 0 … 1 exactly once"),
    (lambda: bs.Permutation([]), "non-empty list of whole numbers"),
    (lambda: bs.Permutation([0.5]), "non-empty list of whole numbers"),
    (lambda: bs.Window(5, width=-1), "whole width >= 0; got -1"),
    (lambda: bs.Window(5, width=1.5), "whole width >= 0; got 1.5"),
    (lambda: bs.Window(0, width=1), "whole number n >= 1"),
    (lambda: bs.Birkhoff([1.0], [[0, 1], [1, 0]]), "1 weights and 2 permutations"),
    (lambda: bs.Birkhoff([0.5, 0.5], [[0, 1], [1, 1]]), "number 1 is none"),
    (lambda: bs.Birkhoff([0.5, 0.5], [[0, 1], [1]]), "permutations of one length"),
    (lambda: bs.Birkhoff([0.5, 0.4], [[0, 1], [1, 0]]), "must sum to 1"),
    (lambda: bs.Kronecker(), "Kronecker needs one bistochastic matrix or more"),
    (lambda: bs.Kronecker(bs.Stochastic(HALF)), "Kronecker needs one bistochastic"),
    (lambda: bs.Kronecker(*[bs.identity(2**31)] * 2), r"exceeds 2\^62 cells"),
    (lambda: bs.Composed(), "Composed needs one bistochastic matrix or more"),
    (lambda: bs.identity(2) @ bs.identity(3), r"matrices of one size; got sizes \[2, 3\]"),
    (lambda: bs.Combination([1.0], []), "1 weights and 0 matrices"),
    (lambda: bs.Combination([1.0], [3]), "Combination needs bistochastic matrices"),
    (lambda: bs.Combination([0.5, 0.5], [bs.identity(2), bs.identity(3)]), "one size"),
    (lambda: bs.identity(4).ergodic(0.3), "0 <= gamma <= 1/n, here 1/4; got 0.3"),
    (lambda: bs.identity(4).ergodic(-0.1), "0 <= gamma <= 1/n"),
    (lambda: bs.Reflected([0.5]), "steps 0 … n, at least two"),
    (lambda: bs.Reflected([0.2, 0.5, 0.1]), "never grow"),
    (lambda: bs.Reflected([0.5, 0.5, 0.5]), "sum to 1 both ways"),
    (lambda: bs.diffusion(time=1), "exactly one of laplacian, path, cycle and parents; got none"),
    (lambda: bs.diffusion(path=3, cycle=3, time=1), "got path and cycle"),
    (lambda: bs.diffusion(path=3, time=-1), "finite time >= 0; got -1"),
    (lambda: bs.diffusion(path=3, time=math.inf), "finite time >= 0; got inf"),
    (lambda: bs.diffusion(path=3, time=NAN), "finite time >= 0; got nan"),
    (lambda: bs.diffusion(laplacian=LAPLACIAN[:1], time=1), "Laplacian must be square"),
    (lambda: bs.diffusion(laplacian=-LAPLACIAN, time=1), "no positive entries off its diagonal"),
    (
        lambda: bs.diffusion(laplacian=LAPLACIAN + np.eye(2), time=1),
        "rows of a Laplacian sum to zero",
    ),
    (lambda: bs.diffusion(laplacian=[[1, -1], [0, 0]], time=1), "Laplacian must be symmetric"),
    (lambda: bs.diffusion(laplacian=LAPLACIAN * NAN, time=1), "must not hold NaN"),
    (lambda: bs.diffusion(laplacian="path", time=1), "matrix of numbers"),
    (lambda: bs.diffusion(parents={}, time=1), "at least one child with its parent"),
    (lambda: bs.diffusion(parents={"a": "b", "b": "a"}, time=1), "must not go in circles"),
    (
        lambda: bs.diffusion(parents={"a": "r", "b": "c", "c": "b"}, time=1),
        "must not go in circles",
    ),
    (lambda: bs.Taxonomy({"a": "r"}, time=-1), "finite time >= 0"),
    (lambda: bs.Ordered(3, temperature=0), "finite temperature above 0"),
    (lambda: bs.optimal(beta=0.5), "either distances or the number of ordered codes"),
    (lambda: bs.optimal(LAPLACIAN, ordered=2, beta=0.5), "either distances or the number"),
    (lambda: bs.optimal(LAPLACIAN[:1], beta=0.5), "Distances must be a square array"),
    (lambda: bs.optimal(LAPLACIAN * NAN, beta=0.5), "NaN or infinite"),
    (lambda: bs.distortion(bs.identity(3), LAPLACIAN), "distances between 3 codes; got 2"),
    (lambda: bs.invariant(bs.identity(3), [0.5, 0.5]), "prior over 3 categories; got 2"),
    (lambda: bs.invariant(bs.identity(2), [0.5, 0.6]), "The prior must sum to 1"),
    (lambda: bs.sinkhorn([[1, -1], [1, 1]]), "negative"),
    (lambda: bs.sinkhorn([[1, 0], [1, 0]]), "Column 1 holds only zeros"),
    (lambda: bs.sinkhorn([[1, 1], [0, 1]]), "1 positive entries lie in no perfect matching"),
    (lambda: bs.transfer([0.5, 0.5], [0.9, 0.1]), "p does not majorize q"),
    (lambda: bs.majorizes([1, 0], [1]), "length"),
    (lambda: bs.identity(3).matvec([1, 2]), r"meets vectors of length 3; got shape \(2,\)"),
    (lambda: bs.identity(3).solve(np.ones((2, 2))), r"got shape \(2, 2\)"),
    (lambda: bs.identity(3).row(3), "1 codes lie outside 0 … 2"),
    (lambda: bs.identity(3).column(-1), "1 codes lie outside 0 … 2"),
    (lambda: bs.identity(3).row(0.5), "Codes must be whole numbers"),
]


@pytest.mark.parametrize(("call", "message"), MATRIX_REFUSALS)
def test_what_makes_no_matrix_is_refused(call, message):
    """Each mistake is a MatrixError, and a ValueError, that says what was found."""
    with pytest.raises(bs.MatrixError, match=message) as refusal:
        call()
    assert isinstance(refusal.value, ValueError)
    assert str(refusal.value).endswith((".", ")"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bs.optimal(LAPLACIAN), "exactly one of beta, bits and temperature"),
        (lambda: bs.optimal(LAPLACIAN, beta=0.5, bits=1), "exactly one of beta, bits"),
        (lambda: bs.optimal(ordered=4, beta=1.5), "beta lies between 0 and 1"),
        (lambda: bs.optimal(ordered=4, bits=3), "carries from 0 to 2 bits; got 3"),
        (lambda: bs.optimal(LAPLACIAN, bits=3), "carries from 0 to 1 bits"),
    ],
)
def test_targets_without_meaning_are_refused(call, message):
    """A target that no matrix has is a TargetError."""
    with pytest.raises(bs.TargetError, match=message):
        call()


@pytest.mark.parametrize(
    "matrix",
    [
        bs.secrecy(4),
        bs.Blocks([2, 1]),
        bs.Mixture(4, truth=0.25),
        bs.Mixture(49, truth=1 / 49),
        bs.Circulant([0.25] * 4),
        bs.Circulant([0.5, 0.0, 0.5, 0.0]),
        bs.Window(9, width=1),
        bs.Window(700, width=2),
        bs.Tridiagonal([0.5]),
        bs.Dense(HALF),
        bs.Stochastic([[1, 0], [1, 0]]),
        bs.Birkhoff([0.5, 0.5], [[0, 1], [1, 0]]),
        bs.Kronecker(bs.identity(2), bs.secrecy(2)),
        bs.Mixture(4, truth=0.9) @ bs.secrecy(4),
        bs.Combination([0.5, 0.5], [bs.identity(2), bs.Permutation([1, 0])]),
        bs.Mixture(4, truth=0.9).ergodic(0.25),
        bs.diffusion(path=6, time=1e4),
        bs.diffusion(parents={"a": "r", "b": "r"}, time=50.0),
        bs.Ordered(30, temperature=1e4),
    ],
)
def test_singular_channels_refuse_to_be_undone(matrix):
    """What cannot be undone says so, instead of returning noise."""
    with pytest.raises(bs.SingularMatrixError, match=r"cannot be undone"):
        matrix.solve(np.linspace(0, 1, matrix.size))
    with pytest.raises(bs.SingularMatrixError, match=r"cannot be undone"):
        matrix.rsolve(np.linspace(0, 1, matrix.size))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bs.diffusion(path=12, time=0.01).exact(), r"20 positive entries are too small"),
        (lambda: bs.Circulant([1 - 2e-25, 1e-25, 1e-25]).exact(), "6 positive entries"),
        (lambda: bs.Dense([[1 - 1e-11, 2e-11], [1e-11, 1 - 1e-11]]).exact(), "within 1e-12"),
        (lambda: bs.Stochastic([[0.5, 0.5 + 1e-11], [0.5, 0.5]]).exact(), "within 1e-12"),
        (lambda: bs.Reflected([0.5 + 1e-10, 0.25, 0.0]).exact(), "sum to 1 within 1e-12"),
        (lambda: bs.Dense(np.full((1001, 1001), 1 / 1001)).exact(), "up to size 1000"),
        (lambda: bs.Tridiagonal([0.2]).exact(max_epsilon=1.0), "above the 1.0 asked for"),
        (lambda: bs.identity(3).exact(max_epsilon=5), "integers have epsilon inf, above the 5"),
        (lambda: bs.identity(3).exact(word_bits=65), "Words have 8 to 64 bits; got 65"),
        (lambda: bs.identity(300).exact(word_bits=8), "8-bit words cannot tell 300 categories"),
        (lambda: bs.identity(3).ergodic(1e-25).exact(), "positive entries are too small"),
        (
            lambda: bs.Combination([1 - 1e-25, 1e-25], [bs.identity(2), bs.secrecy(2)]).exact(),
            "positive entries are too small",
        ),
        (lambda: bs.Ordered(5000, temperature=1e9).exact(), "its integer form needs"),
    ],
)
def test_what_integers_cannot_hold_is_refused(call, message):
    """Refusals of the integer form come with their reason."""
    with pytest.raises(bs.ExactnessError, match=message):
        call()


def test_twenty_zeros_may_be_accepted_by_name():
    """The path of twelve at t = 0.01: 20 entries become 0 and epsilon honestly infinite."""
    form = bs.diffusion(path=12, time=0.01).exact(allow_zeros=True)
    rows = [form.integer_row(u)[0] for u in range(12)]
    assert sum(row.count(0) for row in rows) == 20
    assert form.epsilon == math.inf


def test_words_that_do_not_fit_are_refused():
    """Too few words, words of another type, words that had to be rejected."""
    form = bs.Mixture(3, truth=0.5).exact()
    codes = np.zeros(2, dtype=int)
    with pytest.raises(bs.ExactnessError, match="64-bit unsigned integers"):
        form.sample(codes, np.zeros(2))
    pair = bs.Kronecker(bs.Mixture(3, truth=0.5), bs.Mixture(3, truth=0.5)).exact()
    with pytest.raises(bs.ExactnessError, match="consumes more than the 1 words"):
        pair.sample(codes, np.zeros((1, 2), dtype=np.uint64))
    with pytest.raises(bs.ExactnessError, match="rejected and there is no other"):
        bs.secrecy(3).exact().sample(codes, np.full(2, 2**64 - 1, dtype=np.uint64))
    with pytest.raises(bs.MatrixError, match="1 codes lie outside"):
        form.sample(np.array([0, 3]), np.zeros(2, dtype=np.uint64))
    with pytest.raises(bs.MatrixError, match=r"a single column; got shape \(1, 2\)"):
        form.sample(codes[None, :], np.zeros(2, dtype=np.uint64))
    with pytest.raises(bs.ExactnessError, match="2 codes but 3 words"):
        form.sample(codes, np.zeros(3, dtype=np.uint64))


def test_reports_fit_their_type():
    """Reports keep the type of the codes, or the least one that holds every report."""
    words = np.array([2**64 - 1, 2**63], dtype=np.uint64)
    wide = bs.Mixture(1000, truth=0.1).exact()
    assert wide.sample(np.array([0, 1], dtype=np.uint8), words).dtype == np.uint16
    assert wide.sample(np.array([0, 1], dtype=np.uint8), words)[0] == 999
    assert wide.sample(np.array([0, 1], dtype=np.int64), words).dtype == np.int64
    assert bs.Mixture(200, truth=0.1).exact().sample(np.int8([0, 1]), words).dtype == np.uint8
    assert bs.Mixture(3, truth=0.1).exact().sample(np.int8([0, 1]), words).dtype == np.int8


def test_an_empty_column_has_an_empty_report():
    """No codes, no words, no reports, for every kind of form."""
    nothing = np.zeros(0, dtype=np.int16)
    for matrix in (
        bs.Mixture(3, truth=0.5), bs.secrecy(3), bs.Blocks([2, 1]), bs.Permutation([1, 0]),
        bs.Circulant([0.5, 0.5]), bs.Tridiagonal([0.2]), bs.Window(5, 1), bs.Dense(HALF),
        bs.diffusion(path=4, time=1), bs.diffusion(parents={"a": "r", "b": "r"}, time=1),
        bs.decompose(bs.Dense(HALF)), bs.Kronecker(bs.identity(2), bs.secrecy(3)),
        bs.identity(3) @ bs.secrecy(3), bs.identity(3).ergodic(0.1),
    ):  # fmt: skip
        form = matrix.exact()
        assert form.sample(nothing, np.zeros((form.draws, 0), dtype=np.uint64)).size == 0


def test_structures_are_frozen():
    """Neither a field nor an array inside a structure can be changed."""
    matrix = bs.Circulant([0.5, 0.5])
    with pytest.raises(AttributeError):
        matrix.first_row = np.array([1.0])
    with pytest.raises(ValueError, match="read-only"):
        matrix.first_row[0] = 1.0
    given = np.array([0.5, 0.5])
    kept = bs.Circulant(given)
    given[0] = 0.9
    assert kept.first_row[0] == 0.5


def test_no_message_shows_a_vector():
    """Values of vectors that might be confidential are not repeated in a refusal."""
    for call in (
        lambda: bs.transfer([0.123456, 0.876544], [0.987654, 0.012346]),
        lambda: bs.identity(3).matvec([0.123456, 0.987654]),
        lambda: bs.identity(3).exact().sample(np.array([123456, 0]), np.zeros(2, np.uint64)),
    ):
        with pytest.raises(bs.BistochasticError) as refusal:
            call()
        assert "123456" not in str(refusal.value)
        assert "987654" not in str(refusal.value)
