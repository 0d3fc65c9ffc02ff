"""Stretches: a column cut anywhere is moved and averaged as if it were whole."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bistochastic as bs
from bistochastic.errors import MaskingError
from bistochastic.keystream import Key
from bistochastic.masking import stretches
from bistochastic.masking.numeric import average, draw, permute
from bistochastic.masking.stretches import Means, Moves

KEY = Key(bytes(range(32)))
NAMED = {"release": "r", "column": "x"}


def matrices(n):
    """Matrices over so many individuals, of all recipes."""
    cut = max(n // 3, 1)
    sizes = [cut, n - cut] if n > cut else [n]
    return {
        "blocks": bs.Blocks(sizes),
        "small blocks": bs.Blocks([2] * (n // 2) + [1] * (n % 2)),
        "secrecy": bs.secrecy(n),
        "mixture": bs.Mixture(n, truth=0.4),
        "window": bs.Window(n, min(2, n - 1)),
        "tridiagonal": bs.Tridiagonal([0.3] * (n - 1)),
    }


@pytest.mark.parametrize("how", ["draw", "permute"])
@pytest.mark.parametrize("kind", list(matrices(9)))
@given(st.integers(9, 60), st.lists(st.integers(0, 60), max_size=5))
def test_stretches_of_moves_make_the_whole(kind, how, n, cuts):
    """Wherever a column is cut, each rank takes its value from where it would in one piece."""
    matrix = matrices(n)[kind]
    whole = {"draw": draw, "permute": permute}[how](np.arange(n), matrix, KEY, **NAMED)
    moves = Moves.of(matrix, KEY, how=how, **NAMED)
    ends = [0, *sorted(min(cut, n) for cut in cuts), n]
    parts = [moves.came(a, b) for a, b in pairwise(ends)]
    assert np.concatenate(parts).tolist() == whole.tolist()


@given(
    st.lists(st.integers(2, 300), min_size=1, max_size=12),
    st.lists(st.integers(0, 12), max_size=4),
    st.integers(0, 100),
)
def test_blocks_averaged_apart_are_the_same_to_the_last_bit(sizes, cuts, draw_):
    """Any run of whole blocks has the averages that it has among all."""
    values = np.sort(np.random.default_rng(draw_).lognormal(3, 2, sum(sizes)))
    whole = average(values, bs.Blocks(sizes), by="position")
    means = Means.of(bs.Blocks(sizes))
    edges = np.append(0, np.cumsum(sizes))
    ends = [0, *sorted(min(cut, len(sizes)) for cut in cuts), len(sizes)]
    for a, b in pairwise(ends):
        if b > a:
            part = means.over(a, values[edges[a] : edges[b]])
            assert part.tobytes() == whole[edges[a] : edges[b]].tobytes()
    assert (
        means.block_of(0, sum(sizes)).tolist() == np.repeat(np.arange(len(sizes)), sizes).tolist()
    )


def test_blocks_are_cut_only_while_they_are_small(monkeypatch):
    """A block that everybody would have to order anew is ordered once for all."""
    assert Moves.of(bs.Blocks([4, 4]), KEY, how="permute", **NAMED).whole is None
    monkeypatch.setattr(stretches, "LARGEST", 3)
    moves = Moves.of(bs.Blocks([4, 4]), KEY, how="permute", **NAMED)
    assert moves.whole is not None
    assert sorted(moves.came(0, 8).tolist()) == list(range(8))


def test_what_cannot_be_cut_is_refused():
    """Averages over everybody, averages that give somebody away, and one permutation for all."""
    with pytest.raises(MaskingError, match="on one machine"):
        Means.of(bs.Mixture(5, truth=0.5))
    with pytest.raises(MaskingError, match="determines 1 of 3"):
        Means.of(bs.Blocks([2, 1]))
    assert Means.of(bs.Blocks([2, 1]), insist=True)
    lottery = bs.Birkhoff([0.5, 0.5], [[0, 1, 2], [1, 2, 0]])
    with pytest.raises(MaskingError, match="one known record"):
        Moves.of(lottery, KEY, how="permute", **NAMED)
