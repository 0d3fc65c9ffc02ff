"""Every word once: what a sampler does with all of them is its law, proved and not estimated."""

from fractions import Fraction

import numpy as np


class Laid:
    """Words laid out for one attempt; rejected ones are noted, draw by draw, and answered by 0."""

    def __init__(self, lines):
        self.lines = lines
        self.rejected = np.zeros(lines.shape, dtype=bool)

    def __call__(self, draw, attempt, cells):
        if attempt:
            self.rejected[draw, cells] = True
            return np.zeros(len(cells), dtype=np.uint64)
        return self.lines[draw] if cells is None else self.lines[draw][cells]


def counted(form):
    """How many of all words turn each code into each report, rejected ones left out."""
    every, n = np.arange(1 << form.word_bits, dtype=np.uint64)[None], form.size
    counts = np.zeros((n, n), np.int64)
    for code in range(n):
        words = Laid(every)
        reports = form.sample(np.full(every.size, code, np.min_scalar_type(n - 1)), words)
        assert 0 <= reports.min() <= reports.max() < n
        counts[code] = np.bincount(reports[~words.rejected[0]], minlength=n)
    return counts


def integers(form):
    """The integer matrix, whose rows may have a denominator each, and those denominators."""
    rows = [form.integer_row(u) for u in range(form.size)]
    return np.array([row for row, _ in rows]), np.array([whole for _, whole in rows])


def assert_counts_are_the_integers(form):
    """Over all words each report occurs exactly as often as the integer matrix says."""
    counts, (weights, wholes) = counted(form), integers(form)
    used = counts.sum(axis=1)
    assert (used > 0).all()
    assert (counts * wholes[:, None] == weights * used[:, None]).all()
    if set(wholes) == {1 << form.word_bits}:  # where nothing is rejected, no word is left out
        assert (used == wholes).all()


def sampled(form, code):
    """The law of the report of a code over all words of one or two draws, as exact fractions.

    A rejected word is drawn again, so each draw is uniform over the words that it accepts.
    """
    each = np.arange(1 << form.word_bits, dtype=np.uint64)
    axes = [each if draw < form.draws else each[:1] for draw in range(2)]
    words = Laid(np.array([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")]))
    shape = (axes[0].size, axes[1].size)
    reports = form.draw(np.full(words.lines.shape[1], code), words).astype(int).reshape(shape)
    assert 0 <= reports.min() <= reports.max() < form.size
    first, second = (rejected.reshape(shape) for rejected in words.rejected)
    alive = ~first.any(axis=1)
    kept = ~second[alive]
    cells = np.arange(kept.shape[0])[:, None] * form.size + reports[alive]
    counts = np.bincount(cells[kept], minlength=kept.shape[0] * form.size).reshape(-1, form.size)
    law = [Fraction(0)] * form.size
    for accepted in np.unique(kept.sum(axis=1)):  # each first word is equally likely
        share = counts[kept.sum(axis=1) == accepted].sum(axis=0)
        law = [p + Fraction(int(count), int(accepted)) for p, count in zip(law, share, strict=True)]
    return [p / int(alive.sum()) for p in law]


def assert_law_is_the_integers(form):
    """The same for samplers of two words, by fractions."""
    for code in range(form.size):
        weights, whole = form.integer_row(code)
        assert sampled(form, code) == [Fraction(weight, whole) for weight in weights]
