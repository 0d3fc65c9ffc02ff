import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bistochastic.errors import ExactnessError, MatrixError
from bistochastic.matrices.alias import CHUNK, AliasTable, sums_to_unit

laws = settings(derandomize=True, max_examples=60, deadline=None)


def integers(rng, rows, n, word_bits, *, zeros=0.3):
    """Random rows of Python integers that sum to exactly two to the power `word_bits`."""
    table = []
    for _ in range(rows):
        kept = np.flatnonzero(rng.random(n) >= zeros)
        kept = kept if kept.size > 1 else np.arange(n)
        highest = (1 << word_bits) - 1
        cuts = sorted(int(c) for c in rng.integers(0, highest, kept.size - 1, np.uint64, True))
        row = [0] * n
        for column, low, high in zip(kept, [0, *cuts], [*cuts, highest + 1], strict=True):
            row[column] = high - low
        table.append(row if max(row) <= highest else [1 << (word_bits - 1)] * 2 + [0] * (n - 2))
    return table


@st.composite
def tables(draw, word_bits, largest=70):
    """A built table with its rows of Python integers, some of them sure."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows, n = draw(st.integers(1, 5)), draw(st.integers(2, largest))
    weights = integers(rng, rows, n, word_bits, zeros=draw(st.sampled_from([0.0, 0.3, 0.9])))
    sure = np.where(rng.random(rows) < 0.2, rng.integers(0, n, rows), -1)
    for row in np.flatnonzero(sure >= 0):
        weights[row] = [0] * n
    table = AliasTable.build(np.array(weights, np.uint64), sure=sure, word_bits=word_bits)
    for row in np.flatnonzero(sure >= 0):
        weights[row][sure[row]] = 1 << word_bits
    return table, weights


def drawn_by_definition(table, row, word):
    """What a word draws, in Python integers."""
    slots = table.threshold.shape[1]
    slot, rest = divmod(word, (1 << table.word_bits) // slots)
    return slot if rest < int(table.threshold[row, slot]) else int(table.alias[row, slot])


@given(tables(16))
@laws
def test_every_word_counts_exactly_the_weights(case):
    """Over all 65536 words each column is drawn exactly as often as its integer says."""
    table, weights = case
    words = np.arange(1 << 16, dtype=np.uint64)
    for row, expected in enumerate(weights):
        drawn = table.sample(np.full(words.shape, row), words)
        assert np.bincount(drawn, minlength=table.size).tolist() == expected


@pytest.mark.parametrize(("word_bits", "n"), [(8, 2), (8, 3), (8, 127), (8, 128), (13, 300)])
@pytest.mark.parametrize("seed", range(4))
def test_small_words_count_exactly(word_bits, n, seed):
    """The law holds down to two words a slot."""
    (weights,) = integers(np.random.default_rng(seed), 1, n, word_bits)
    table = AliasTable.build(np.array(weights, np.uint64), word_bits=word_bits)
    drawn = table.sample(None, np.arange(1 << word_bits, dtype=np.uint16))
    assert np.bincount(drawn, minlength=n).tolist() == weights


@given(tables(64) | tables(53) | tables(17))
@laws
def test_thresholds_and_aliases_hold_the_weights(case):
    """Added up in Python integers, the slots give each column its weight."""
    table, weights = case
    table.certify()
    slots = table.threshold.shape[1]
    assert table.size <= slots < 2 * table.size
    for row, expected in enumerate(weights):
        drawn = [0] * slots
        for slot in range(slots):
            kept = int(table.threshold[row, slot])
            drawn[slot] += kept
            drawn[int(table.alias[row, slot])] += (1 << table.word_bits) // slots - kept
        assert drawn == expected + [0] * (slots - table.size)


@given(tables(64) | tables(20))
@laws
def test_words_at_the_edges_of_slots(case):
    """The first and last words of a slot and of its threshold follow the definition."""
    table, _ = case
    slots = table.threshold.shape[1]
    cap = (1 << table.word_bits) // slots
    for row in range(len(table.weights)):
        edges = [
            slot * cap + rest
            for slot in range(slots)
            for limit in [int(table.threshold[row, slot])]
            for rest in {0, cap - 1, max(limit - 1, 0), min(limit, cap - 1)}
        ]
        drawn = table.sample(np.full(len(edges), row), np.array(edges, np.uint64))
        assert drawn.tolist() == [drawn_by_definition(table, row, word) for word in edges]
        assert drawn.max() < table.size


@pytest.mark.parametrize(("rows", "n"), [(1, 5), (3, 2), (12, 12), (5, 257)])
@pytest.mark.parametrize("code", [np.uint8, np.int64])
def test_chunks_do_not_show(rows, n, code):
    """One long call equals many short ones, whatever the shape and the dtype of the codes."""
    rng = np.random.default_rng(rows * n)
    table = AliasTable.build(np.array(integers(rng, rows, n, 64), np.uint64))
    words = rng.integers(0, 2**64, (3, CHUNK - 5), dtype=np.uint64)
    codes = rng.integers(0, rows, words.shape).astype(code)
    whole = table.sample(codes, words)
    assert whole.shape == words.shape
    assert whole.dtype == (np.uint8 if n <= 256 else np.uint16)
    parts = zip(codes, words, strict=True)
    assert (whole == np.stack([table.sample(c[::-1], w[::-1])[::-1] for c, w in parts])).all()
    wide = table.sample(codes, words, out_dtype=np.int32)
    assert wide.dtype == np.int32
    assert (wide == whole).all()
    if rows == 1:
        assert (table.sample(None, words) == whole).all()


def test_no_words_give_no_draws():
    """An empty batch is a batch."""
    table = AliasTable.build(np.array([128, 128], np.uint64), word_bits=8)
    assert table.sample(None, np.zeros((0, 2), np.uint64)).shape == (0, 2)


def test_a_table_of_one_column():
    """The only column is always drawn."""
    table = AliasTable.build(np.zeros((1, 1), np.uint64), sure=[0])
    table.certify()
    assert table.sample(None, np.array([0, 2**63, 2**64 - 1], np.uint64)).tolist() == [0, 0, 0]


def test_arrays_of_a_table_are_its_own_and_frozen():
    """Neither the caller's array nor the table's can change what was certified."""
    weights = np.array([[100, 156]], np.uint64)
    table = AliasTable.build(weights, word_bits=8)
    weights[:] = 0
    table.certify()
    for array in (table.weights, table.sure, table.threshold, table.alias):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize(
    ("field", "row", "slot", "value"),
    [
        ("threshold", 0, 1, 41),
        ("threshold", 0, 1, 39),
        ("threshold", 0, 0, 65),
        ("threshold", 0, 2, 65),
        ("threshold", 0, 3, 1),
        ("threshold", 1, 0, 1),
        ("alias", 0, 1, 2),
        ("alias", 0, 1, 3),
        ("alias", 1, 3, 0),
        ("weights", 0, 0, 99),
        ("weights", 1, 0, 1),
    ],
)
def test_certificate_refuses_a_changed_table(field, row, slot, value):
    """A single changed threshold, alias or weight is noticed."""
    table = AliasTable.build(
        np.array([[144, 40, 72], [0, 0, 0]], np.uint64), sure=[-1, 1], word_bits=8
    )
    table.certify()
    assert (table.threshold[0, 1], table.alias[0, 1]) == (40, 0)
    changed = getattr(table, field).copy()
    changed[row, slot] = value
    with pytest.raises(ExactnessError, match=f"Row {row} of this AliasTable draws other"):
        dataclasses.replace(table, **{field: changed}).certify()


def test_certificate_refuses_a_word_kept_by_padding():
    """Weights and slots that agree, but leave a word to a column that is none, are refused."""
    table = AliasTable.build(np.array([144, 40, 72], np.uint64), word_bits=8)
    threshold = table.threshold.copy()
    threshold[0, 3] = 1
    alias = int(table.alias[0, 3])
    weights = table.weights.copy()
    weights[0, alias] -= 1
    with pytest.raises(ExactnessError, match="Row 0"):
        dataclasses.replace(table, threshold=threshold, weights=weights).certify()


HALF = np.uint64(2**63)


@pytest.mark.parametrize(
    ("weights", "options", "match"),
    [
        ([HALF, HALF - 1], {}, r"1 of 1 rows of weights do not sum to exactly 2\*\*64"),
        ([HALF, HALF + 1], {}, "first row 0"),
        ([HALF, HALF, HALF, HALF], {}, "do not sum"),
        ([0, 0], {}, "goes to `sure`"),
        ([0, 256], {"word_bits": 8}, "goes to `sure`"),
        ([128, 128], {"word_bits": 8, "sure": [0]}, "do not sum"),
    ],
)
def test_refuses_rows_that_are_no_distribution(weights, options, match):
    """A row sums to the unit or is sure, and never both."""
    with pytest.raises(ExactnessError, match=match):
        AliasTable.build(np.array(weights, np.uint64), **options)


@pytest.mark.parametrize(
    ("weights", "options", "match"),
    [
        ([128, 128], {"word_bits": 8}, "unsigned integer weights"),
        (np.zeros((2, 2, 2), np.uint64), {}, r"shape \(2, 2, 2\)"),
        (np.zeros(0, np.uint64), {}, "unsigned integer weights"),
        (np.full(2, 64, np.uint64), {"word_bits": 7}, "word_bits from 8 to 64"),
        (np.full(2, 64, np.uint64), {"word_bits": 65}, "word_bits from 8 to 64"),
        (np.full(256, 1, np.uint64), {"word_bits": 8}, "at most half"),
        (np.zeros(2, np.uint64), {"sure": [2]}, "from -1 to 1"),
        (np.zeros(2, np.uint64), {"sure": [-2]}, "from -1 to 1"),
        (np.zeros(2, np.uint64), {"sure": [0, 1]}, r"of shape \(2,\)"),
        (np.zeros(2, np.uint64), {"sure": [0.0]}, "float64"),
    ],
)
def test_refuses_arguments_that_make_no_table(weights, options, match):
    """What is wrong is said, with what was found."""
    with pytest.raises(MatrixError, match=match):
        AliasTable.build(weights, **options)


@pytest.mark.parametrize(
    ("rows", "words", "options", "match"),
    [
        (None, np.zeros(2, np.uint64), {}, "of 2 rows needs a row for each word"),
        ([0, 2], np.zeros(2, np.uint64), {}, "rows from 0 to 1"),
        ([0, -1], np.zeros(2, np.uint64), {}, "rows from 0 to 1"),
        ([0.0, 1.0], np.zeros(2, np.uint64), {}, "one integer row for each word"),
        ([0], np.zeros(2, np.uint64), {}, r"shape \(1,\) for words of shape \(2,\)"),
        ([0, 1], np.zeros(2), {}, "unsigned words; got float64"),
        ([0, 1], np.array([0, 256], np.uint64), {}, "words of 8 bits; got one of 9 bits"),
        ([0, 1], np.zeros(2, np.uint64), {"out_dtype": np.int8}, "cannot store"),
    ],
)
def test_sampling_refuses_what_it_cannot_draw(rows, words, options, match):
    """Rows, words and output type are checked before a table is read."""
    table = AliasTable.build(np.full((2, 2), 128, np.uint64), word_bits=8)
    with pytest.raises(MatrixError, match=match):
        table.sample(rows, words, **options)


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=6), st.integers(8, 64))
@laws
def test_sums_to_unit_agrees_with_python(values, word_bits):
    """Carries beyond 64 bits are counted."""
    completed = [*values, (1 << word_bits) - sum(values) % (1 << word_bits)]
    for weights in (values, completed, [v >> 3 for v in values]):
        if max(weights) < 1 << 64:
            found = bool(sums_to_unit(np.array(weights, np.uint64), word_bits))
            assert found == (sum(weights) == 1 << word_bits)


@pytest.mark.slow
def test_large_tables_are_exact():
    """A thousand rows of a thousand columns, and one row of ten million, pass their certificate."""
    rng = np.random.default_rng(0)
    AliasTable.build(np.array(integers(rng, 1000, 1000, 64), np.uint64)).certify()
    weights = rng.integers(0, 2**64 // 10**7, 10**7, dtype=np.uint64)
    weights[:1] -= weights.sum(dtype=np.uint64)
    table = AliasTable.build(weights)
    table.certify()
    assert table.alias.dtype == np.uint32
