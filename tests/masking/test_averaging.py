"""What averages give away: structure against singular vectors, and the sentences about it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.masking.averaging import (
    _looked_at,
    averaging_report,
    null_space,
    refuse_determined,
)
from bistochastic.masking.numeric import average
from bistochastic.testing import of_size


def determined_by_hand(array):
    """Who is determined, by asking whether e_u lies in the row space of the transpose."""
    keeps = np.linalg.pinv(array.T, rcond=1e-11) @ array.T
    return int((np.abs(np.diag(keeps) - 1) < 1e-7).sum())


@settings(max_examples=150)
@given(st.integers(1, 8).flatmap(of_size))
def test_structure_tells_what_singular_vectors_tell(matrix):
    """Every structure, nested ones too, unless its condition is in doubt."""
    values = np.linalg.svd(matrix.to_dense(), compute_uv=False)
    if ((values > 1e-15) & (values < 1e-9)).any():
        return
    told, seen = null_space(matrix), _looked_at(matrix.T.to_dense())
    assert (told.hidden, told.determined) == (seen.hidden, seen.determined)
    assert told.determined == determined_by_hand(matrix.to_dense())


@pytest.mark.parametrize("n", range(3, 15))
@pytest.mark.parametrize("width", range(1, 5))
def test_windows_tell_from_their_ends(n, width):
    """Some windows are singular, and some of those determine a few."""
    matrix = bs.Window(n, width)
    told, seen = null_space(matrix), _looked_at(matrix.to_dense())
    assert (told.hidden, told.determined, told.fewest) == (
        seen.hidden,
        seen.determined,
        seen.fewest,
    )


@pytest.mark.parametrize(
    ("matrix", "bare", "hidden", "fewest"),
    [
        (bs.identity(4), 4, 0, None),
        (bs.Permutation([1, 0]), 2, 0, None),
        (bs.Blocks([2, 1, 1]), 2, 1, 1),
        (bs.Blocks([2, 3]), 0, 3, 1),
        (bs.Blocks([4, 3]), 0, 5, 2),
        (bs.Mixture(4, truth=0.9), 4, 0, None),
        (bs.Mixture(4, truth=0.25), 0, 3, 3),
        (bs.secrecy(4), 0, 3, 3),
        (bs.Kronecker(bs.secrecy(2), bs.identity(2)), 0, 2, 1),
        (bs.Kronecker(bs.secrecy(3), bs.identity(2)), 0, 4, 2),
        (bs.Kronecker(bs.Blocks([2, 1]), bs.Blocks([2, 1])), 1, 5, 1),
        (bs.Circulant([0.5, 0.0, 0.5, 0.0]), 0, 2, 1),
        (bs.Circulant([0.5, 0.25, 0.0, 0.25]), 0, 1, 1),
        (bs.Tridiagonal([0.5, 0.0, 0.5]), 0, 2, 1),
        (bs.Tridiagonal([0.5, 0.0, 0.2]), 2, 1, 1),
        (bs.Reflected([0.5, 0.25, 0.0, 0.0]), 3, 0, None),
        (bs.Reflected([1 / 3, 1 / 3, 0.0, 0.0]), 0, 1, 1),
        (bs.Dense((bs.Blocks([2, 1]) @ bs.Tridiagonal([0.1, 0.2])).to_dense()), 1, 1, 1),
        (bs.secrecy(3).ergodic(0.1), 0, 2, 2),
        (bs.identity(3).ergodic(1 / 3), 0, 2, 2),
        (bs.Permutation([2, 0, 1]) @ bs.Blocks([2, 1]), 1, 1, 1),
        (bs.Blocks([2, 1]) @ bs.Permutation([2, 0, 1]), 1, 1, 1),
        (bs.Blocks([2, 2]) @ bs.Tridiagonal([0.2, 0.2, 0.2]), 0, 2, 1),
        (bs.Combination([0.5, 0.5], [bs.Blocks([2, 1, 1]), bs.Blocks([2, 1, 1])]), 2, 1, 1),
    ],
)
def test_who_is_determined_by_an_average(matrix, bare, hidden, fewest):
    """Singular alone is not enough: blocks(2, 1, 1) publishes two values."""
    report = averaging_report(matrix)
    assert (report.determined, report.hidden, report.fewest_known) == (bare, hidden, fewest)
    assert report.individuals == matrix.size
    if bare:
        with pytest.raises(bs.MaskingError, match=f"determines {bare} of {matrix.size} values"):
            average(np.arange(float(matrix.size)), matrix)
        average(np.arange(float(matrix.size)), matrix, insist=True)
    else:
        average(np.arange(float(matrix.size)), matrix)


def long_walk(n):
    """A reflected walk that loses the wave of six places alone, still at every third of them."""
    steps = np.zeros(n + 1)
    steps[:4] = [0.2, 0.16, 0.12, 0.12]  # g₀ + g₁ - g₂ - 2g₃ = 0
    return bs.Reflected(steps)


LARGE = 10**6


@pytest.mark.parametrize(
    ("matrix", "bare", "hidden"),
    [
        (bs.Blocks(np.full(LARGE // 4, 4)), 0, LARGE // 4 * 3),
        (bs.Tridiagonal(np.full(LARGE - 1, 0.2)), LARGE, 0),
        (bs.Tridiagonal(np.resize([0.5, 0.0], LARGE - 1)), 0, LARGE // 2),
        (bs.Circulant(np.append(np.full(4, 0.25), np.zeros(LARGE - 4))), 0, 3),
        (long_walk(3 * 10**5), 10**5, 1),
        (bs.Window(LARGE - 1, 1), 0, 1),
        (bs.Window(LARGE + 1, 2), LARGE // 5 + 1, 1),
        (bs.secrecy(LARGE), 0, LARGE - 1),
        (bs.secrecy(LARGE).ergodic(0.5 / LARGE), 0, LARGE - 1),
        (bs.Mixture(LARGE, truth=0.5), LARGE, 0),
        (bs.Kronecker(bs.secrecy(1000), bs.identity(1000)), 0, 999_000),
        (bs.Blocks(np.full(LARGE // 4, 4)) @ bs.Mixture(LARGE, truth=0.9), 0, LARGE // 4 * 3),
    ],
    ids=lambda value: str(value),
)
def test_large_structures_answer_from_their_formula(matrix, bare, hidden):
    """A million individuals, nothing dense."""
    told = null_space(matrix)
    assert (told.determined, told.hidden) == (bare, hidden)


def test_long_parts_of_a_path_are_looked_at_one_by_one():
    """A path of three parts beyond a batch, one of them singular: an exact half in its middle."""
    singular = np.array([0.5])
    for length in range(2, 80):  # a part stays singular when it grows by what has a zero pivot
        if bs.Tridiagonal(np.full(length, 1 / 3)).singular and length > 70:
            singular = np.full(length, 1 / 3)
    alphas = np.concatenate((np.full(70, 0.1), [0.0], singular, [0.0], np.full(70, 0.1)))
    matrix = bs.Tridiagonal(alphas)
    told, seen = null_space(matrix), _looked_at(matrix.to_dense())
    assert (told.hidden, told.determined) == (seen.hidden, seen.determined)
    assert singular.size > 64
    assert told.hidden == 1


@pytest.mark.parametrize(
    "matrix",
    [
        bs.Combination([0.5, 0.5], [bs.secrecy(3000), bs.Blocks([1500, 1500])]),
        bs.Blocks([1] * 10 + [2990]) @ bs.Blocks([2990] + [1] * 10),
        bs.Window(4002, 2000),
    ],
)
def test_what_is_too_large_to_see_is_refused(matrix):
    """No formula, and too large for singular vectors: a remedy, not a guess."""
    with pytest.raises(bs.MaskingError, match=r"too (large|wide) to see"):
        refuse_determined(matrix)


def test_warnings_are_sentences():
    """What to think of before averages are published; nothing where all is well."""
    assert averaging_report(bs.Blocks([4, 4])).warnings == ()
    (few,) = averaging_report(bs.Blocks([3, 4])).warnings
    assert few == "2 known records of some part give away all the rest of it."
    told = averaging_report(bs.Blocks([2, 1])).warnings
    assert told[0] == "1 of 3 values follow from the averages."
    assert told[1].startswith("1 known record of some part gives")
    near = averaging_report(bs.Mixture(50, truth=0.02 + 1e-9))
    assert "nearly singular (condition" in near.warnings[-1]
    assert math.isinf(averaging_report(bs.secrecy(5)).condition)
    late = averaging_report(bs.diffusion(path=12, time=400.0))
    assert late.judged
    assert late.warnings == (
        "The matrix is singular as far as doubles can tell: whoever knows it more exactly may "
        "solve it.",
    )
