"""At 64 bits, where nobody can try all words: those at the edges of what each outcome owns.

An outcome owns runs of words. If the first and the last word of every run have the right outcome,
and the runs are as long as the integers say, so have all others. The second implementation says
what is right, in whole numbers of Python.
"""

import numpy as np
import pytest

import bistochastic as bs
from tests import second_keystream as second

WHOLE = 1 << 64
CHOOSE = np.random.default_rng(6)
GENERAL = bs.Stochastic(CHOOSE.dirichlet(np.full(11, 0.7), size=11))
FORMS = {
    "general": GENERAL.exact(),
    "dense": bs.Dense(second.DENSE / np.float64(WHOLE)).exact(),
    "mixture": bs.Mixture(7, truth=0.3).exact(),
    "response": bs.randomised_response(12, epsilon=1).exact(),
    "circulant": bs.Circulant(CHOOSE.dirichlet(np.ones(13))).exact(),
    "tridiagonal": bs.Tridiagonal([0.25, 0.5, 0.3, 0.1]).exact(),
    "blocks": bs.Blocks([3, 1, 7]).exact(),
}


def table_edges(weights):
    """Where each slot begins, and where what it keeps ends."""
    kept, _, k = second.alias(weights, 64)
    return [(slot << (64 - k)) + end for slot in range(1 << k) for end in (0, kept[slot])]


def of_table(rows):
    """Edges and reports of a general matrix."""
    return [table_edges(row) for row in rows], lambda c, word: second.dense(c, word, rows, 64)


def of_mixture(rows):
    """Edges and reports where each lie has an equally long run above the truth."""
    truth, lie, n = rows[0][0], rows[0][1], len(rows)
    runs = [truth + at * lie for at in range(n)]
    return [runs] * n, lambda c, word: second.mixture(c, word, n, truth, lie)


def of_circulant(rows):
    """Edges and reports of one table for all codes."""
    return [table_edges(rows[0])] * len(rows), lambda c, word: second.circulant(
        c, word, rows[0], 64
    )


def of_tridiagonal(rows):
    """Edges and reports of steps to the neighbours."""
    steps = [rows[u][u + 1] for u in range(len(rows) - 1)]
    ends = [[down, down + up] for down, up in zip([0, *steps], [*steps, 0], strict=True)]
    return ends, lambda c, word: second.tridiagonal(c, word, steps)


def of_blocks(rows):
    """Edges and reports of equal shares; the words left over are nobody's."""
    sizes = [3, 1, 7]
    shares = [[at * (WHOLE // sum(row)) for at in range(sum(row) + 1)] for row in rows]
    return shares, lambda c, word: second.blocks(c, word, sizes, 64)


KINDS = {
    "general": of_table,
    "dense": of_table,
    "mixture": of_mixture,
    "response": of_mixture,
    "circulant": of_circulant,
    "tridiagonal": of_tridiagonal,
    "blocks": of_blocks,
}


@pytest.mark.parametrize("name", FORMS)
def test_the_first_and_last_word_of_every_run(name):
    """Each word next to an edge, on either side, has the outcome that whole numbers give it."""
    form = FORMS[name]
    rows = [form.integer_row(u)[0] for u in range(form.size)]
    ends, report = KINDS[name](rows)
    for code, edges in enumerate(ends):
        near = {edge + by for edge in [*edges, 0, WHOLE] for by in (-2, -1, 0, 1)}
        top = edges[-1] if name == "blocks" else WHOLE
        words = sorted(word for word in near if 0 <= word < top)
        found = form.sample(np.full(len(words), code), np.array(words, np.uint64))
        assert found.tolist() == [report(code, lambda *_, word=word: word) for word in words]
