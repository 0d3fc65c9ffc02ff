"""The closed form in a manifest is the matrix: read back, it is sampled from the same integers."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.matrices.closed import FAMILIES, READERS, WRITERS, line, runs
from bistochastic.testing import stochastic, structures


def told(matrix):
    """The closed form after a journey through a file."""
    return json.loads(json.dumps(bs.described(matrix), allow_nan=False))


@given(st.one_of(structures(), stochastic()))
def test_a_matrix_read_back_has_the_same_integers(matrix):
    """For every structure, nested ones too: the same digest, and the same closed form again."""
    again = bs.rebuilt(told(matrix))
    assert type(again) is type(matrix)
    assert told(again) == told(matrix)
    before, after = (one.exact(allow_zeros=True) for one in (matrix, again))
    assert after.digest() == before.digest()


@given(st.lists(st.sampled_from([0.0, 0.1, 0.25]), max_size=40))
def test_runs_tell_the_very_numbers(numbers):
    """Whether they are told one by one or as runs."""
    assert np.array_equal(line(json.loads(json.dumps(runs(numbers)))), numbers)


def test_ten_million_individuals_are_a_short_line():
    """A matrix over a long column is a page of the manifest, not a file of its own."""
    n = 10**7
    for matrix in (
        bs.Blocks(np.append(np.full(n // 10 - 1, 10), [4, 6])),
        bs.Tridiagonal(np.full(n - 1, 0.3)),
        bs.Window(n, width=50),
        bs.diffusion(path=n, time=3.0),
    ):
        assert len(json.dumps(bs.described(matrix))) < 10_000
        assert bs.rebuilt(told(matrix)).size == n


def test_every_family_is_written_and_read():
    """The three tables name the same families."""
    assert sorted(WRITERS) == sorted(READERS) == sorted(FAMILIES.values())


@pytest.mark.parametrize(
    ("closed", "words"),
    [
        ({}, "No matrix has the family None; there are birkhoff,"),
        ({"family": "sphere"}, "No matrix has the family 'sphere'"),
        ({"family": "mixture", "n": 3}, "closed form of a mixture is not complete"),
        ({"family": "mixture", "n": 3, "truth": 0.5, "lie": 1}, "not complete or not valid"),
        ({"family": "mixture", "n": 3, "truth": 2.0}, "truth"),
        ({"family": "blocks", "sizes": "many"}, "[Bb]locks"),
        ({"family": "kronecker", "factors": [{"family": "none"}]}, "family 'none'"),
    ],
)
def test_what_is_no_closed_form_is_refused(closed, words):
    """A manifest may come from anywhere."""
    with pytest.raises(bs.MatrixError, match=words):
        bs.rebuilt(closed)
