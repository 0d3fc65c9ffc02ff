"""The keystream: the same key and place give the same words, nothing else does, nobody sees it.

Where words are tested for chance, the keys are fixed, so no test flickers; with fresh keys each
of these tests would fail once in 1e9 runs.
"""

import ast
import base64
import copy
import errno
import hashlib
import json
import logging
import multiprocessing
import os
import pickle
import stat
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import date, datetime
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import bistochastic as bs
from bistochastic import errors
from bistochastic.keystream import Key, Scope, domain_digest
from bistochastic.matrices.words import restricted, shifted, uniform_below
from tests import second_keystream as second
from tests.pages import ROOT

KEY = Key(bytes(range(32)))
CANARY = b"canary-sings-from-the-coal-mine!"
DOMAIN = domain_digest(["no", "yes"])
SCOPE = Scope(release="2026", column="smoker", domain=DOMAIN, matrix="0" * 64)
VECTORS = json.loads((ROOT / "tests" / "vectors" / "keystream.json").read_text(encoding="utf-8"))
PACKAGE = {str(path) for path in Path(bs.__file__).parent.rglob("*.py")}
POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX file modes")


def changed(**fields):
    """The usual scope with another ingredient."""
    usual = {"release": "2026", "column": "smoker", "domain": DOMAIN, "matrix": "0" * 64}
    return Scope(**(usual | fields))


def read(scope):
    """A scope as the vectors write it."""
    column = scope["column"]
    return Scope(**(scope | {"column": tuple(column) if isinstance(column, list) else column}))


def record(kind, text):
    """A record id as the vectors write it."""
    return {"number": int, "text": str, "bytes": bytes.fromhex}[kind](text)


# Known answers.


def test_second_implementation_is_aes():
    """FIPS 197, C.3, and NIST SP 800-38A, F.5.5."""
    keys = second.round_keys(bytes(range(32)))
    plain = bytes.fromhex("00112233445566778899aabbccddeeff")
    assert second.encrypt(keys, plain).hex() == "8ea2b7ca516745bfeafc49904b496089"
    key = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
    text = (
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
        "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
    )
    result = (
        "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
        "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"
    )
    counter = int("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", 16)
    answer = second.counter_mode(bytes.fromhex(key), counter, bytes.fromhex(text))
    assert answer.hex() == result


def test_second_implementation_is_hkdf():
    """RFC 5869, A.1 and A.3."""
    first = second.hkdf(b"\x0b" * 22, bytes(range(0xF0, 0xFA)), salt=bytes(range(13)), length=42)
    assert first.hex() == (
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
    )
    third = second.hkdf(b"\x0b" * 22, b"", length=42)
    assert third.hex() == (
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
    )


def test_second_implementation_knows_no_package():
    """It imports the standard library only, and answers what is written down."""
    tree = ast.parse((ROOT / "tests" / "second_keystream.py").read_text(encoding="utf-8"))
    found = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    assert found == {"hashlib", "hmac", "json", "re"}
    assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(tree))
    assert json.loads(json.dumps(second.vectors())) == VECTORS


def test_domain_of_the_vectors():
    """The domain has the digest that all scopes of the vectors name."""
    assert domain_digest(VECTORS["domain"]) == VECTORS["rows"][0]["scope"]["domain"]


@pytest.mark.parametrize("case", VECTORS["rows"])
def test_known_words_of_rows(case):
    """Key, scope and purpose give the known subkey and words, read in any of the three ways."""
    rows = Key(bytes.fromhex(VECTORS["secret"])).rows(read(case["scope"]), purpose=case["purpose"])
    assert read(case["scope"]).info("rows", case["purpose"]).hex() == case["info"]
    assert rows._subkey.reveal().hex() == case["subkey"]
    for row, draw, attempt, expected in case["words"]:
        words = [
            rows.words(row, row + 1)(draw, attempt, None)[0],
            rows.at([row, 0, 5])(draw, attempt, None)[0],
            rows.words(max(row - 3, 0), row + 1)(draw, attempt, np.array([min(row, 3)]))[0],
        ]
        assert [f"{int(word):016x}" for word in words] == [expected] * 3


@pytest.mark.parametrize("case", VECTORS["records"])
def test_known_words_of_records(case):
    """Key, scope, record and code give the known words."""
    records = Key(bytes.fromhex(VECTORS["secret"])).records(read(case["scope"]))
    assert read(case["scope"]).info("records", "records").hex() == case["info"]
    assert records._subkey.reveal().hex() == case["subkey"]
    assert records._naming.reveal().hex() == case["naming"]
    for kind, text, code, draw, attempt, expected in case["words"]:
        word = records.permanent([record(kind, text)], [code])(draw, attempt, None)
        assert f"{int(word[0]):016x}" == expected


SKEWED = bs.Dense([[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]])
STEPS, EXCHANGES = bs.Circulant([0.4, 0.3, 0.2, 0.1]), bs.Tridiagonal([0.25, 0.5, 0.2])
SPLIT = bs.Blocks([40000, 1, 30000])
CHANNELS = {
    "mixture": bs.Mixture(5, truth=0.6).exact(),
    "staged": bs.Mixture(300, truth=0.5).exact(word_bits=16),
    "dense": SKEWED.exact(),
    "circulant": STEPS.exact(),
    "tridiagonal": EXCHANGES.exact(),
    "blocks": SPLIT.exact(word_bits=16),
    "joint": bs.Kronecker(SKEWED, EXCHANGES, STEPS).exact(),
    "joint16": bs.Kronecker(bs.secrecy(40000), SPLIT).exact(word_bits=16),
    "secrecy16": bs.secrecy(40000).exact(word_bits=16),
    "secrecy64": bs.secrecy(2**62 + 1).exact(),
}


def test_known_channels():
    """The integers of the vectors are those of the package, by their digests and one by one."""
    known = VECTORS["reports"]
    assert {name: form.digest() for name, form in CHANNELS.items()} == second.MATRICES
    weights = [[str(m) for m in CHANNELS["dense"].integer_row(u)[0]] for u in range(3)]
    assert weights == known["dense"]["weights"]
    steps = [str(m) for m in CHANNELS["circulant"].integer_row(0)[0]]
    assert steps == known["circulant"]["weights"]
    exchanges = [str(CHANNELS["tridiagonal"].integer_row(u)[0][u + 1]) for u in range(3)]
    assert exchanges == known["tridiagonal"]["weights"]
    assert SPLIT.sizes.tolist() == known["blocks"]["sizes"]


def test_known_reports():
    """The way from key to report is known for tables, formulas, rejections, permanent answers."""
    key, known = Key(bytes.fromhex(VECTORS["secret"])), VECTORS["reports"]
    for name, channel in CHANNELS.items():
        scope = read(second.scope_of(name, word_bits=channel.word_bits))
        expected = [int(report) for report in known[name]["reports"]]
        codes = np.array(known[name]["codes"])
        rows = key.rows(scope)
        assert channel.sample(codes, rows.words(0, codes.size)).tolist() == expected
        worker = bs.Randomiser(channel, scope, rows, key.records(scope))
        assert worker.rows(codes).tolist() == expected
        assert worker.rows(codes[17:], 17).tolist() == expected[17:]
    assert max(known["secrecy16"]["rejections"]) >= 3
    assert max(known["secrecy64"]["rejections"]) >= 1
    case, records = known["permanent"], key.records(read(second.scope_of("mixture")))
    for ids, reports in (("ids", "reports"), ("texts", "reports_of_texts")):
        words = records.permanent(case[ids], case["codes"])
        assert CHANNELS["mixture"].sample(case["codes"], words).tolist() == case[reports]


@pytest.mark.parametrize("name", CHANNELS)
def test_second_implementation_reports_the_same(name):
    """From key to category, on rows far out and in batches that end anywhere."""
    channel, start = CHANNELS[name], 2**33 - 200
    codes = np.array(second.codes_of(name, 400))
    expected = second.reports_of(name, codes.tolist(), CANARY, start)
    scope, key = read(second.scope_of(name, word_bits=channel.word_bits)), Key(CANARY)
    worker = bs.Randomiser(channel, scope, key.rows(scope), key.records(scope))
    edges = [0, 1, 8, 199, 200, 203, 400]
    parts = [worker.rows(codes[at:end], start + at) for at, end in pairwise(edges)]
    assert np.concatenate(parts).tolist() == expected


def compare(count):
    """How many of so many words of rows and of records differ in the second implementation."""
    scope = {**second.scope_of("mixture"), "release": "many"}
    rows, records = second.RowWords(CANARY, scope), second.RecordWords(CANARY, scope)
    key, given = Key(CANARY), read(scope)
    found = key.rows(given).words(0, count)(1, 2, None)
    ids, codes = np.arange(count) * 7919 - 5, np.arange(count) % 11
    kept = key.records(given).permanent(ids, codes)(3, 1, None)
    return sum(rows.word(i, 1, 2) != int(word) for i, word in enumerate(found)) + sum(
        records.word(int(ids[i]), int(codes[i]), 3, 1) != int(word) for i, word in enumerate(kept)
    )


def test_second_implementation_agrees():
    """Two implementations, one keystream."""
    assert compare(1000) == 0


@pytest.mark.slow
def test_second_implementation_agrees_at_length():
    """The same, on 200,000 words."""
    assert compare(100_000) == 0


# One word for each place, whoever asks.


def test_words_do_not_depend_on_partitions():
    """Forty random partitions, in any order and asked in any way, give the words of one pass."""
    rows, total = KEY.rows(SCOPE), 100_003
    whole = {place: rows.words(0, total)(*place, None) for place in ((0, 0), (1, 0), (0, 2))}
    choose = np.random.default_rng(1)
    for trial in range(40):
        cuts = np.sort(choose.integers(0, total, size=choose.integers(1, 30)))
        edges = [0, *cuts.tolist(), total]
        parts = list(pairwise(edges))
        place = [*whole][trial % 3]
        found = np.zeros(total, np.uint64)
        for number in choose.permutation(len(parts)):
            start, stop = parts[number]
            order = choose.permutation(stop - start)
            if trial % 4 == 0:
                found[start:stop] = rows.words(start, stop)(*place, None)
            elif trial % 4 == 1:
                found[start + order] = rows.words(start, stop)(*place, order)
            elif trial % 4 == 2:
                found[start + order] = rows.at(start + order)(*place, None)
            else:
                found[start + order] = rows.at(np.arange(start, stop, dtype=np.uint32))(
                    *place, order
                )
        assert np.array_equal(found, whole[place])


def test_reports_do_not_depend_on_partitions():
    """Nor do reports, through two factors of which one rejects words."""
    channel = bs.Kronecker(bs.Mixture(3, truth=0.5), bs.secrecy(5000)).exact(word_bits=16)
    rows = KEY.rows(changed(matrix=channel.digest(), word_bits=16))
    choose = np.random.default_rng(2)
    codes = choose.integers(0, channel.size, 20_000)
    whole = channel.sample(codes, rows.words(0, codes.size))
    for _ in range(12):
        edges = [0, *np.sort(choose.integers(0, codes.size, 9)).tolist(), codes.size]
        for start, stop in pairwise(edges):
            part = channel.sample(codes[start:stop], rows.words(start, stop))
            assert np.array_equal(part, whole[start:stop])
        order = choose.permutation(codes.size)
        assert np.array_equal(channel.sample(codes[order], rows.at(order)), whole[order])


def test_words_fit_the_samplers():
    """A later draw, some of the cells and rejected words are asked for as samplers do."""
    words = KEY.rows(SCOPE).words(10, 1010)
    cells = np.array([5, 999, 5, 0])
    assert np.array_equal(shifted(words, 3)(0, 0, None), words(3, 0, None))
    assert np.array_equal(restricted(words, cells)(1, 2, None), words(1, 2, None)[cells])
    answer = uniform_below(2**63 + 1, 0, words, word_bits=64)
    assert int(answer.max()) <= 2**63
    assert len(np.unique(answer)) == 1000


def test_words_are_the_callers_own():
    """Asking again changes no words given before, and changing them changes none given later."""
    words = KEY.rows(SCOPE).words(1, 1000)
    first = words(0, 0, None)
    kept = first.copy()
    words(1, 0, None)
    assert np.array_equal(first, kept)
    first[:] = 0
    assert np.array_equal(words(0, 0, None), kept)
    assert first.dtype == np.uint64
    assert first.dtype.isnative


@pytest.mark.parametrize("bits", [8, 16, 53])
def test_short_words_are_the_top_of_their_own_stream(bits):
    """A word of b bits lies below 2^b, and another size of word is another stream."""
    short = KEY.rows(changed(word_bits=bits))
    words = short.words(0, 5000)(0, 0, None)
    assert int(words.max()) >> bits == 0
    assert len(np.unique(words >> np.uint64(bits - 8))) == 256
    assert not np.array_equal(words, KEY.rows(SCOPE).words(0, 5000)(0, 0, None) >> 64 - bits)
    kept = KEY.records(changed(word_bits=bits)).permanent(np.arange(5000), np.zeros(5000, int))
    assert int(kept(0, 0, None).max()) >> bits == 0


def test_nothing_to_answer():
    """No rows, no records, no cells: no words."""
    rows, none = KEY.rows(SCOPE), np.array([], np.int64)
    assert rows.words(7, 7)(0, 0, None).size == 0
    assert rows.words(7, 9)(0, 0, none).size == 0
    assert rows.at([])(0, 0, None).size == 0
    for ids in ([], np.array([], np.int64), np.array([], object)):
        assert KEY.records(SCOPE).permanent(ids, [])(0, 0, None).size == 0


def part_of(rows, start):
    """The words of some rows at several draws and attempts, as bytes."""
    words = rows.words(start, start + 1000)
    return b"".join(words(draw, attempt, None).tobytes() for draw in (0, 1) for attempt in (0, 1))


def part_from_file(path, start):
    """What a spawned worker does: read the key, then ask."""
    return part_of(Key.read(path).rows(SCOPE), start)


def part_from_secret(secret, start):
    """The same without a file that both see."""
    return part_of(Key(secret).rows(SCOPE), start)


def part_through(pipe, rows, start, count):
    """What a forked worker does: use what it inherited."""
    pipe.send_bytes(rows.words(start, start + count)(0, 0, None).tobytes())
    pipe.close()


def test_threads_share_one_stream():
    """Eight threads on one object, each with its rows, get what one thread gets."""
    rows = KEY.rows(SCOPE)
    starts = list(range(0, 64_000, 1000))
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda start: part_of(rows, start), starts)) == [
            part_of(rows, start) for start in starts
        ]


def test_spawned_workers_get_the_same_words(tmp_path):
    """Whether they are told the path of the key file or its secret."""
    KEY.write(tmp_path / "release.key")
    expected = [part_of(KEY.rows(SCOPE), start) for start in (0, 999)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        by_path = pool.map(part_from_file, [str(tmp_path / "release.key")] * 2, (0, 999))
        by_secret = pool.map(part_from_secret, [KEY.secret()] * 2, (0, 999))
        assert list(by_path) == list(by_secret) == expected


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_workers_never_repeat_a_word():
    """Eight forked workers ask a stream they inherited: the right words, and none twice.

    A million fair words have a pair among them once in 4e7 runs, this key none.
    """
    rows, count = KEY.rows(SCOPE), 125_000
    rows.words(0, 10)(0, 0, None)  # used before the fork
    context = multiprocessing.get_context("fork")
    pipes, workers = [], []
    for number in range(8):
        ours, theirs = context.Pipe(duplex=False)
        worker = context.Process(target=part_through, args=(theirs, rows, number * count, count))
        worker.start()
        theirs.close()
        pipes.append(ours)
        workers.append(worker)
    found = np.frombuffer(b"".join(pipe.recv_bytes() for pipe in pipes), np.uint64)
    for worker in workers:
        worker.join()
    assert np.array_equal(found, rows.words(0, 8 * count)(0, 0, None))
    assert len(np.unique(found)) == 1_000_000


# Different places, unrelated words.


SCOPES = {
    "release": changed(release="2027"),
    "column": changed(column="smoker "),
    "joint": changed(column=("smoker",)),
    "order": changed(column=("smoker", "sex")),
    "other order": changed(column=("sex", "smoker")),
    "split": changed(column=("smokersex",)),
    "domain": changed(domain=domain_digest(["yes", "no"])),
    "matrix": changed(matrix="0" * 63 + "1"),
    "word size": changed(word_bits=63),
}


def related(one, other, bits=64):
    """Whether the differing bits of two lines of words are fewer or more than chance allows.

    n fair bits differ in n/2 ± sqrt(n)/2 places; beyond 6.11 of these lies 1e-9 of all cases.
    """
    differing = int(np.bitwise_count(one ^ other).sum())
    total = bits * one.size
    return abs(differing - total / 2) > 6.11 * total**0.5 / 2


def test_every_ingredient_counts():
    """Words under the usual scope and under any other are as different as chance makes them."""
    count, codes = 20_000, np.zeros(20_000, int)
    ids = np.arange(count)
    lines = {
        "usual": KEY.rows(SCOPE).words(0, count)(0, 0, None),
        "key": Key(CANARY).rows(SCOPE).words(0, count)(0, 0, None),
        "purpose": KEY.rows(SCOPE, purpose="shuffle").words(0, count)(0, 0, None),
        "no matrix": KEY.rows(changed(matrix=None), purpose="s").words(0, count)(0, 0, None),
        "rows as records": KEY.rows(SCOPE, purpose="records").words(0, count)(0, 0, None),
        "draw": KEY.rows(SCOPE).words(0, count)(1, 0, None),
        "attempt": KEY.rows(SCOPE).words(0, count)(0, 1, None),
        "next row": KEY.rows(SCOPE).words(1, count + 1)(0, 0, None),
        "far row": KEY.rows(SCOPE).words(2**33, 2**33 + count)(0, 0, None),
    }
    for name, scope in SCOPES.items():
        lines[name] = KEY.rows(scope).words(0, count)(0, 0, None)
        lines[f"record, {name}"] = KEY.records(scope).permanent(ids, codes)(0, 0, None)
    records = KEY.records(SCOPE)
    lines |= {
        "record": records.permanent(ids, codes)(0, 0, None),
        "record, code": records.permanent(ids, codes + 1)(0, 0, None),
        "record, far code": records.permanent(ids, codes + 2**32)(0, 0, None),
        "record, draw": records.permanent(ids, codes)(1, 0, None),
        "record, attempt": records.permanent(ids, codes)(0, 1, None),
        "record, other id": records.permanent(ids + count, codes)(0, 0, None),
        "record, negative id": records.permanent(-1 - ids, codes)(0, 0, None),
        "record, text": records.permanent([str(i) for i in ids], codes)(0, 0, None),
        "record, bytes": records.permanent([b"%d" % i for i in ids], codes)(0, 0, None),
        "record, purpose": KEY.records(SCOPE, purpose="p").permanent(ids, codes)(0, 0, None),
        "record, key": Key(CANARY).records(SCOPE).permanent(ids, codes)(0, 0, None),
    }
    lines["word size"] <<= np.uint64(1)
    lines["record, word size"] <<= np.uint64(1)
    for (name, one), (other_name, other) in combinations(lines.items(), 2):
        top = np.uint64(1)  # the 63 bits that every line has
        assert not related(one >> top, other >> top, bits=63), (name, other_name)
    every = np.concatenate(list(lines.values()))
    assert (
        len(np.unique(every)) == every.size - np.intersect1d(lines["usual"], lines["next row"]).size
    )


def test_the_test_of_relation_sees_a_little():
    """Words that agree in one of 64 bits, always, are found related."""
    one = KEY.rows(SCOPE).words(0, 20_000)(0, 0, None)
    other = KEY.rows(SCOPE).words(0, 20_000)(1, 0, None)
    assert related(one, other & np.uint64(2**64 - 2) | one & np.uint64(1))
    assert not related(one, other)


def test_words_look_fair():
    """Bytes are equally frequent, bits are even, neighbours and halves of a block unrelated."""
    rows = KEY.rows(SCOPE).words(0, 1_000_000)(0, 0, None)
    kept = KEY.records(SCOPE).permanent(np.arange(1_000_000), np.zeros(1_000_000, int))(0, 0, None)
    for words in (rows, kept):
        for byte in range(8):
            column = words.view(np.uint8).reshape(-1, 8)[:, byte]
            assert stats.chisquare(np.bincount(column, minlength=256)).pvalue > 1e-9
        ones = np.unpackbits(words.view(np.uint8)).reshape(-1, 64).sum(axis=0, dtype=np.int64)
        assert (np.abs(ones - 500_000) < 6.8 * 500).all()  # 64 bits at 1e-9 together
        assert not related(words[1:], words[:-1])
        assert len(np.unique(words)) == words.size


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["a", "b"], ["b", "a"]),
        (["ab", "c"], ["a", "bc"]),
        (["a", "b"], ["a", "b", None]),
        (["1"], [1]),
        ([1], [1.0]),
        ([1], [True]),
        ([0.0], [-0.0]),
        (["é"], ["e\u0301"]),
        (["a"], [b"a"]),
        ([None], ["None"]),
        ([["a"], ["b"]], ["a", "b"]),
        ([["a", "b"], ["c"]], [["a"], ["b", "c"]]),
        ([date(2026, 1, 1)], [datetime(2026, 1, 1)]),
        ([date(2026, 1, 1)], ["2026-01-01"]),
        ([], [[]]),
        (["a", "a"], ["a"]),
    ],
)
def test_domains_are_told_apart(one, other):
    """A domain is its labels, their types and their order."""
    assert domain_digest(one) != domain_digest(other)


def test_domains_that_are_the_same():
    """It does not matter what kind of list holds them."""
    assert domain_digest([0, 1, 2]) == domain_digest(range(3)) == domain_digest(np.arange(3))
    assert domain_digest(("a", "b")) == domain_digest(np.array(["a", "b"]))
    assert domain_digest([np.float64(0.5), np.int8(3)]) == domain_digest([0.5, 3])
    days = np.array(["2026-01-01", "2026-11-19"], "M8[D]")
    assert domain_digest(days) == domain_digest([date(2026, 1, 1), date(2026, 11, 19)])
    assert domain_digest(["\ud800"]) != domain_digest(["\ud801"])


# Answers that last.


def test_ten_thousand_repeats_are_one_answer():
    """Asking the same again, in any company and order, with a new key object, tells nothing new."""
    channel = bs.randomised_response(12, epsilon=1).exact()
    scope = changed(matrix=channel.digest())
    ids, codes = np.arange(500, 600), np.arange(100) % 12
    first = channel.sample(codes, KEY.records(scope).permanent(ids, codes))
    repeats = KEY.records(scope).permanent(np.tile(ids, 100), np.tile(codes, 100))
    answers = channel.sample(np.tile(codes, 100), repeats).reshape(100, 100)
    assert (answers == first).all()
    again = Key(KEY.secret()).records(scope)
    for number in range(100):
        alone = again.permanent(ids[number : number + 1], codes[number : number + 1])
        assert channel.sample(codes[number : number + 1], alone)[0] == first[number]


def test_averaging_gains_nothing():
    """The most frequent of 50 answers is right as often as one answer is: within 5 sigma of p."""
    channel = bs.randomised_response(12, epsilon=1).exact()
    records = KEY.records(changed(matrix=channel.digest()))
    ids, codes = np.arange(20_000), np.arange(20_000) % 12
    asked = [channel.sample(codes, records.permanent(ids, codes)) for _ in range(50)]
    guess = np.array([np.bincount(column).argmax() for column in np.stack(asked).T])
    truth = np.exp(1) / (11 + np.exp(1))
    assert abs((guess == codes).mean() - truth) < 5 * (truth * (1 - truth) / 20_000) ** 0.5


def test_answers_follow_their_records():
    """Reordering records, or asking some of them, moves the words with them."""
    records, choose = KEY.records(SCOPE), np.random.default_rng(3)
    ids, codes = choose.permutation(20_000), choose.integers(0, 9, 20_000).astype(np.int8)
    whole = records.permanent(ids, codes)
    order = choose.permutation(20_000)
    moved = records.permanent(ids[order], codes[order])
    for place in ((0, 0), (2, 1)):
        assert np.array_equal(moved(*place, None), whole(*place, None)[order])
        assert np.array_equal(whole(*place, order[:50]), whole(*place, None)[order[:50]])


def test_an_id_is_its_value_however_it_is_stored():
    """The width of numbers, the kind of list and names made beforehand change nothing."""
    records, codes = KEY.records(SCOPE), [0, 1, 2]
    numbers = [5, 2**63 - 1, -7]
    expected = records.permanent(numbers, codes)(0, 0, None)
    for ids in (tuple(numbers), np.array(numbers), np.array(numbers, object), KEY.names(numbers)):
        assert np.array_equal(records.permanent(ids, codes)(0, 0, None), expected)
    small = np.array([5, 100, 0], np.uint8)
    for dtype in (np.int8, np.uint64, np.int32):
        one, other = (records.permanent(i, codes) for i in (small, small.astype(dtype)))
        assert np.array_equal(one(0, 0, None), other(0, 0, None))
    texts = ["Ada", "Łucja", "x" * 1000]
    expected = records.permanent(texts, codes)(0, 0, None)
    for ids in (np.array(texts), np.array(texts, object), KEY.names(texts)):
        assert np.array_equal(records.permanent(ids, codes)(0, 0, None), expected)
    assert np.array_equal(
        records.permanent([2**64 - 1], [0])(0, 0, None),
        records.permanent(np.array([2**64 - 1], np.uint64), [0])(0, 0, None),
    )
    apart = records.permanent([2**64 - 1, -1, "-1"][:2], [0, 0])(0, 0, None)
    assert apart[0] != apart[1]


def test_columns_share_names_and_no_words():
    """One set of names serves all columns, whose words have nothing in common."""
    names, codes = KEY.names([f"r{i}" for i in range(20_000)]), np.zeros(20_000, int)
    one = KEY.records(SCOPE).permanent(names, codes)(0, 0, None)
    other = KEY.records(changed(column="sex")).permanent(names, codes)(0, 0, None)
    assert not related(one, other)


# Refusals.


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: Key(20261118), "made from 32 secret bytes; got int.*there is no seed"),
        (lambda: Key("x" * 32), "got str"),
        (lambda: Key(b"x" * 31), "got 31 bytes"),
        (lambda: changed(release=""), "by texts, none empty"),
        (lambda: changed(release=7), "by texts, none empty"),
        (lambda: changed(column=()), "by texts, none empty"),
        (lambda: changed(column=("a", "")), "by texts, none empty"),
        (lambda: changed(domain="no"), "64 hexadecimal digits"),
        (lambda: changed(domain=["no", "yes"]), "64 hexadecimal digits"),
        (lambda: changed(domain=None), "64 hexadecimal digits"),
        (lambda: changed(matrix="A" * 64), "64 hexadecimal digits"),
        (lambda: changed(word_bits=65), "8 to 64 bits; got word_bits=65"),
        (lambda: changed(word_bits=16.0), "got word_bits=16.0"),
        (lambda: domain_digest("no"), "list of labels; got str"),
        (lambda: domain_digest({"no", "yes"}), "list of labels; got set"),
        (lambda: domain_digest([object()]), "type object has no fixed spelling"),
        (lambda: domain_digest(np.array(["2026-01-01"], "M8[ns]")), "type datetime64.ns. has no"),
        (lambda: domain_digest([np.timedelta64(5, "ns")]), "type timedelta64.ns. has no"),
        (lambda: KEY.rows(changed(matrix=None)), "Reports need the digest"),
        (lambda: KEY.records(changed(matrix=None)), "Permanent answers need the digest"),
        (lambda: KEY.rows(SCOPE).words(-1, 3), "from 0 to 2.41; got -1 to 3"),
        (lambda: KEY.rows(SCOPE).words(3, 2), "got 3 to 2"),
        (lambda: KEY.rows(SCOPE).words(0, 2**41 + 1), "from 0 to 2.41"),
        (lambda: KEY.rows(SCOPE).at([0, -1]), "got -1 to 1"),
        (lambda: KEY.rows(SCOPE).at([0.0]), "whole numbers; got float64"),
        (lambda: KEY.rows(SCOPE).at([[0]]), "got int64, shape .1, 1."),
        (lambda: KEY.rows(SCOPE).words(0, 3)(0, 0, np.array([3])), "outside the 3 rows"),
        (lambda: KEY.rows(SCOPE).words(0, 3)(0, 0, np.array([-1])), "outside the 3 rows"),
        (lambda: KEY.rows(SCOPE).words(0, 3)(-1, 0, None), "Draw -1, attempt 0 has no place"),
        (lambda: KEY.rows(SCOPE).words(0, 3)(0, 2**32, None), "attempt 4294967296 has no place"),
        (lambda: KEY.rows(SCOPE).words(0, 2**40)(2, 0, None), "Draw 2 has no row"),
        (lambda: KEY.rows(SCOPE).at([0, 2**40])(2, 0, None), "Draw 2 has no row"),
        (lambda: KEY.records(SCOPE).permanent([1], [0])(2**32, 0, None), "has no place"),
        (lambda: KEY.names("one id"), "got str"),
        (lambda: KEY.names(7), "got int"),
        (lambda: KEY.names([1.5]), "got float"),
        (lambda: KEY.names(np.array([1.5])), "got float"),
        (lambda: KEY.names([True]), "got bool"),
        (lambda: KEY.names(["a", None]), "none missing; got NoneType, str"),
        (lambda: KEY.names(["a", 1]), "got int, str"),
        (lambda: KEY.names([2**64]), "at most 64 bits"),
        (lambda: KEY.names([-(2**63) - 1]), "at most 64 bits"),
        (lambda: KEY.names(np.array([[1]])), "got list"),
        (lambda: KEY.records(SCOPE).permanent([1, 2], [0]), "Each of 2 record ids"),
        (lambda: KEY.records(SCOPE).permanent([1], [0.0]), "got float64"),
        (lambda: KEY.records(SCOPE).permanent([1, 2], [-1, 0]), "1 of the true codes are negative"),
    ],
)
def test_what_has_no_words(call, text):
    """Each refusal says what was found."""
    with pytest.raises(errors.KeystreamError, match=text):
        call()


def test_the_last_rows_of_a_subkey():
    """The limit of 2^40 blocks is exact, and the same however it is reached."""
    rows = KEY.rows(SCOPE)
    assert rows.words(2**41 - 3, 2**41)(0, 0, None).size == 3
    assert rows.words(2**40 - 3, 2**40)(1, 0, None).size == 3
    for ask in (rows.words(2**40, 2**40 + 1), rows.at([2**40, 0])):
        with pytest.raises(errors.KeystreamError, match=r"2\^40 blocks"):
            ask(1, 0, None)


# The key and its file.


@pytest.mark.parametrize("given", [b"", b"x" * 31, b"x" * 33])
def test_too_little_randomness_makes_no_key(monkeypatch, given):
    """A short read from the operating system is refused."""
    monkeypatch.setattr(os, "urandom", lambda count: given)
    with pytest.raises(errors.EntropyError, match="too little randomness"):
        Key.new()


@pytest.mark.parametrize("failure", [OSError("gone"), NotImplementedError("none")])
def test_no_randomness_makes_no_key(monkeypatch, failure):
    """So is a source that fails; no other source stands in."""

    def fail(count):
        raise failure

    monkeypatch.setattr(os, "urandom", fail)
    with pytest.raises(errors.EntropyError, match="gave no randomness") as refusal:
        Key.new()
    assert isinstance(refusal.value, OSError)


def test_keys_are_new_and_equal_to_themselves():
    """Fresh keys differ; a key equals one of the same bytes and nothing else, and has no hash."""
    assert Key.new() != Key.new()
    assert Key(KEY.secret()) == KEY
    assert KEY.secret() != KEY
    assert copy.copy(KEY) == KEY
    with pytest.raises(TypeError, match="unhashable"):
        hash(KEY)


def test_a_key_survives_its_file(tmp_path):
    """What is written is read, with the line ends of any editor."""
    path = tmp_path / "a.key"
    key = Key.new()
    key.write(path)
    assert Key.read(path) == key == Key.read(str(path))
    content = path.read_bytes()
    for end in (b"", b"\r\n", b"\n"):
        path.write_bytes(content.rstrip() + end)
        assert Key.read(path) == key


@POSIX
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_a_key_file_is_its_owners_alone(tmp_path, umask):
    """Whatever the umask says."""
    before = os.umask(umask)
    try:
        KEY.write(tmp_path / "a.key")
    finally:
        os.umask(before)
    assert (tmp_path / "a.key").stat().st_mode & 0o7777 == 0o600


def test_a_key_is_never_written_over_anything(tmp_path):
    """Not over a file, not over a key, not through a link, and not where there is no folder."""
    there = tmp_path / "a.key"
    there.write_text("something")
    with pytest.raises(errors.KeyFileError, match=r"a\.key' cannot be created: File exists"):
        KEY.write(there)
    assert there.read_text() == "something"
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(errors.KeyFileError, match="cannot be created"):
        KEY.write(tmp_path / "link")
    assert not (tmp_path / "target").exists()
    with pytest.raises(errors.KeyFileError, match="No such file"):
        KEY.write(tmp_path / "no folder" / "a.key")


def test_a_key_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    """A full disk leaves no half of a key behind."""

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(errors.KeyFileError, match="cannot be written: No space left"):
        KEY.write(tmp_path / "a.key")
    assert list(tmp_path.iterdir()) == []


@POSIX
def test_the_disk_has_a_key_and_its_name(tmp_path, monkeypatch):
    """Writing waits for the file, then for the folder that names it."""
    waited, fsync = [], os.fsync

    def noted(descriptor):
        waited.append(stat.S_IFMT(os.fstat(descriptor).st_mode))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    KEY.write(tmp_path / "a.key")
    assert waited == [stat.S_IFREG, stat.S_IFDIR]


def test_an_interrupted_key_leaves_nothing(tmp_path, monkeypatch):
    """Neither does a person who changes her mind, and her interruption goes on its way."""

    def interrupted(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        KEY.write(tmp_path / "a.key")
    assert list(tmp_path.iterdir()) == []


@POSIX
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o610, 0o666, 0o644])
def test_a_key_file_open_to_others_is_refused(tmp_path, mode):
    """To read, to write or to run."""
    path = tmp_path / "a.key"
    KEY.write(path)
    path.chmod(mode)
    with pytest.raises(errors.KeyFileError, match="open to others"):
        Key.read(path)
    path.chmod(0o400)
    assert Key.read(path) == KEY


def test_what_is_no_key_file_is_refused(tmp_path):
    """A link, a folder, a pipe that nobody writes to, or nothing at all."""
    KEY.write(tmp_path / "a.key")
    (tmp_path / "link").symlink_to(tmp_path / "a.key")
    with pytest.raises(errors.KeyFileError, match="is a symbolic link"):
        Key.read(tmp_path / "link")
    with pytest.raises(errors.KeyFileError, match="not a regular file"):
        Key.read(tmp_path)
    with pytest.raises(errors.KeyFileError, match="cannot be read: No such file"):
        Key.read(tmp_path / "none")
    if os.name == "posix":
        os.mkfifo(tmp_path / "pipe", 0o600)
        with pytest.raises(errors.KeyFileError, match="not a regular file"):
            Key.read(tmp_path / "pipe")


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="needs O_NOFOLLOW")
def test_a_link_put_there_in_between_is_refused(tmp_path, monkeypatch):
    """The descriptor itself is never that of a link's target."""
    KEY.write(tmp_path / "a.key")
    (tmp_path / "link").symlink_to(tmp_path / "a.key")
    monkeypatch.setattr(os, "lstat", os.stat)
    with pytest.raises(errors.KeyFileError, match="cannot be read"):
        Key.read(tmp_path / "link")


def damaged(line):
    """A key file after many accidents, with what is said of each."""
    digit = b"0" if line[30:31] != b"0" else b"1"
    for length in range(len(line)):
        yield line[:length], "cut short or too long"
    yield line + b"0", "cut short or too long: 93 characters, not 92"
    yield line + b"\n" + line, "cut short or too long"
    yield line + b"\n\n", "cut short or too long"
    yield line[:30] + digit + line[31:], "does not fit its checksum"
    yield line[:30] + line[31:32] + line[30:31] + line[32:], "does not fit its checksum"
    yield line[:-1] + (b"0" if line[-1:] != b"0" else b"1"), "does not fit its checksum"
    yield line[:30] + b"O" + line[31:], "characters that a key does not have"
    yield line.upper().replace(b"BISTOCHASTIC-KEY", b"bistochastic-key"), "characters"
    yield line.replace(b"key-1", b"key-2"), "or one of another version"
    yield b" " + line, "does not hold a key"
    yield b"\xff\xfe" + line, "does not hold a key"
    yield b"-----BEGIN PRIVATE KEY-----\n", "does not hold a key"
    yield line.split(b":")[1], "does not hold a key"


def test_a_damaged_key_file_is_told_apart(tmp_path):
    """Cut short, mistyped, of another version: each is said, and nothing of the key is."""
    path = tmp_path / "a.key"
    Key(CANARY).write(path)
    line = path.read_bytes().rstrip()
    for content, text in damaged(line):
        path.write_bytes(content)
        with pytest.raises(errors.KeyFileError, match=text) as refusal:
            Key.read(path)
        assert not shown(str(refusal.value))


# Nobody sees it.


def shown(text):
    """Whether eight bytes of the canary in a row stand in a text, spelled in any usual way."""
    spellings = []
    for at in range(len(CANARY) - 7):
        piece = CANARY[at : at + 8]
        spellings += [piece.decode(), piece.hex(), piece.hex().upper(), str(list(piece))[1:-1]]
    spellings += [base64.b64encode(CANARY[at : at + 9]).decode() for at in range(3)]
    return any(spelling in text for spelling in spellings)


def frames(error):
    """The variables of the package's own frames on the way of an error, as a debugger shows."""
    found = []
    while error is not None:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename in PACKAGE:
                found.append(repr(frame.f_locals))
        error = error.__cause__ or error.__context__
    return "\n".join(found)


def test_the_canary_would_be_seen():
    """The search finds a key wherever it is spelled out."""
    assert shown(repr(CANARY))
    assert shown(CANARY.hex())
    assert shown(repr(list(CANARY)))
    assert shown(base64.b64encode(CANARY).decode())


def test_no_text_shows_a_key():
    """Neither do what was derived from it, its words or its names."""
    key = Key(CANARY)
    rows, records, names = key.rows(SCOPE), key.records(SCOPE), key.names(["a"])
    things = [key, key._secret, rows, records, names, rows.words(0, 9), rows.at([3, 1])]
    things += [records.permanent(names, [0]), rows._subkey, rows._subkey.derived(b"")]
    for thing in things:
        for text in (repr(thing), str(thing), f"{thing}", repr([thing]), repr({"key": thing})):
            assert not shown(text)
            assert rows._subkey.reveal().hex() not in text
    assert repr(key) == "<Key, hidden>"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_nothing_that_holds_a_key_is_pickled(protocol):
    """A pickle is refused with the two ways in which a worker may get the key."""
    key = Key(CANARY)
    rows, records = key.rows(SCOPE), key.records(SCOPE)
    ways = r"Key\.read\(path\), or send key\.secret"
    if protocol < 2:  # where Python itself refuses whatever has slots
        ways += "|__slots__ without defining __getstate__"
    for thing in (key, key._secret, rows, records, {"deep": [key]}):
        with pytest.raises(TypeError, match=ways):
            pickle.dumps(thing, protocol)
    with pytest.raises(errors.SecretError):
        copy.deepcopy(key)
    for words in (rows.words(0, 9), rows.at([3, 1]), records.permanent([1], [0])):
        with pytest.raises((errors.SecretError, AttributeError, pickle.PicklingError)):
            pickle.dumps(words, protocol)


def test_no_traceback_shows_a_key(tmp_path, monkeypatch):
    """Not even one with the variables of each of our frames, after each kind of failure."""
    path = tmp_path / "a.key"
    Key(CANARY).write(path)
    line = path.read_bytes().rstrip()
    key, seen = Key(CANARY), []

    def caught(call):
        with pytest.raises((errors.BistochasticError, TypeError, ValueError)) as refusal:
            call()
        seen.append(frames(refusal.value))

    for content, _ in damaged(line):
        path.write_bytes(content)
        caught(lambda: Key.read(path))
    caught(lambda: Key(CANARY + b"!"))
    caught(lambda: Key(CANARY.decode()))
    caught(lambda: pickle.dumps(key))
    caught(lambda: key.write(path))
    caught(lambda: key.rows(SCOPE).words(0, "x"))
    caught(lambda: key.rows(SCOPE).words(0, 3)(0, 2**32, None))
    caught(lambda: key.rows(SCOPE).at([1, 5])(2**32, 0, None))
    caught(lambda: key.names([None]))
    caught(lambda: key.records(SCOPE).permanent([1], [-1]))
    monkeypatch.setattr(os, "urandom", lambda count: CANARY[:-1])
    caught(Key.new)

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    caught(lambda: key.write(tmp_path / "b.key"))
    assert len(seen) > 100
    assert all(seen)
    assert not shown("\n".join(seen))


def test_nothing_is_logged_printed_or_put_in_the_environment(tmp_path, caplog, capfd):
    """A key's whole life leaves no line behind."""
    with caplog.at_level(logging.DEBUG):
        key = Key(CANARY)
        key.write(tmp_path / "a.key")
        channel = bs.secrecy(40_000).exact(word_bits=16)
        scope = changed(matrix=channel.digest(), word_bits=16)
        again = Key.read(tmp_path / "a.key")
        channel.sample(np.zeros(100, int), again.rows(scope).words(0, 100))
        channel.sample(np.zeros(1, int), again.records(scope).permanent(["a"], [0]))
        assert not shown(repr(Key(CANARY)))
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")
    assert not shown(repr(dict(os.environ)) + repr(sys.argv))


@pytest.mark.parametrize("path", sorted((ROOT / "src").rglob("*.py")), ids=lambda path: path.stem)
def test_randomness_comes_from_one_place(path):
    """Only the keystream asks the operating system, and nothing imports another source."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules, names = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules |= {str(node.module)} | {f"{node.module}.{a.name}" for a in node.names}
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.Name):
            names.add(node.id)
    sources = {"random", "secrets", "uuid", "randomgen", "numpy.random", "os.urandom"}
    facade = path == ROOT / "src" / "bistochastic" / "__init__.py"  # which imports its own rooms
    sources |= {"scipy.stats"} if facade else {"scipy.stats", "importlib"}  # reaches anything
    assert not {module for module in modules if sources & {module, module.rsplit(".", 1)[0]}}
    asking = {"urandom", "getrandom", "default_rng", "RandomState", "SystemRandom", "token_bytes"}
    asking |= {"randbytes", "rvs", "PCG64", "MT19937", "Philox", "SFC64", "SeedSequence"}
    asking |= {"__import__"} if facade else {"__import__", "import_module"}
    assert names & asking == ({"urandom"} if path.name == "keystream.py" else set())
    if path.name not in {"keystream.py", "secret.py"}:
        assert not any(module.startswith("cryptography") for module in modules)


def test_a_checksum_is_not_the_hash_of_a_key_alone(tmp_path):
    """The eight digits in the file are bound to its format."""
    KEY.write(tmp_path / "a.key")
    line = (tmp_path / "a.key").read_text().strip()
    start, checksum = line[:-9], line[-8:]
    assert hashlib.sha256(start.encode()).hexdigest().startswith(checksum)
    assert start == f"bistochastic-key-1:{KEY.secret().hex()}"
