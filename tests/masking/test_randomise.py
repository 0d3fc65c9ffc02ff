"""A column meets a channel: one answer for one place, whoever computes it and in what company.

Keys are fixed. Where chance is tested, a fresh key would fail once in 1e9 runs.
"""

import copy
import multiprocessing
import pickle
import tracemalloc
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import combinations, pairwise

import numpy as np
import pytest

import bistochastic as bs
from bistochastic.masking.randomise import CHUNK

KEY = bs.Key(bytes(range(100, 132)))
SKEWED = [[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]]
CHANNELS = {
    "dense": bs.Dense(SKEWED),
    "mixture": bs.Mixture(7, truth=0.5),
    "staged mixture": bs.Mixture(9, truth=1e-10),
    "circulant": bs.Circulant([0.5, 0.3, 0.2]),
    "tridiagonal": bs.Tridiagonal([0.25, 0.5, 0.125]),
    "blocks": bs.Blocks([3, 5, 1, 7]),
    "joint": bs.Kronecker(bs.Dense(SKEWED), bs.secrecy(5), bs.Mixture(4, truth=0.4)),
    "composed": bs.Dense(SKEWED) @ bs.secrecy(3),
    "permutation": bs.Permutation([2, 0, 1]),
}


def randomiser(channel, **fields):
    """The randomiser of a channel under the usual names or others."""
    usual = {"release": "2026", "column": "region", "domain": range(channel.size)}
    return bs.Randomiser.of(channel, KEY, **(usual | fields))


def column(channel, size, number=0):
    """Some true codes."""
    return np.random.default_rng([7, number]).integers(0, channel.size, size).astype(np.uint16)


@pytest.mark.parametrize("name", CHANNELS)
def test_one_batch_and_any_partition(name):
    """Forty partitions in any order, some across the edge of a chunk, are one column."""
    worker, size = randomiser(CHANNELS[name]), CHUNK + 4097
    codes, choose = column(worker.form, size), np.random.default_rng(5)
    whole = worker.rows(codes)
    for trial in range(40):
        low, high = (0, size) if trial == 0 else sorted(choose.integers(0, size, 2))
        if trial % 8:  # most of them around the edge, so that the test stays quick
            low, high = CHUNK - int(choose.integers(0, 2000)), CHUNK + int(choose.integers(1, 2000))
        edges = [low, *np.sort(choose.integers(low, high, choose.integers(1, 12))).tolist(), high]
        parts = list(pairwise(edges))
        for part in choose.permutation(len(parts)):
            start, stop = parts[part]
            assert np.array_equal(worker.rows(codes[start:stop], start), whole[start:stop])


@pytest.mark.parametrize("name", CHANNELS)
def test_a_randomiser_samples_the_form_with_the_words_of_its_scope(name):
    """Nothing stands between the proved sampler and the known words."""
    channel = CHANNELS[name]
    worker, codes = randomiser(channel), column(channel, 3000)
    form = channel.exact()
    scope = bs.Scope(
        release="2026",
        column="region",
        domain=bs.domain_digest(range(channel.size)),
        matrix=form.digest(),
    )
    assert worker.scope == scope
    words = KEY.rows(scope).words(11, 3011)
    assert np.array_equal(worker.rows(codes, 11), form.sample(codes, words))
    ids = np.arange(3000) * 3
    kept = KEY.records(scope).permanent(ids, codes)
    assert np.array_equal(worker.records(ids, codes), form.sample(codes, kept))
    facade = {"release": "2026", "column": "region", "domain": range(channel.size)}
    assert np.array_equal(
        bs.randomise(codes, form, KEY, start=11, **facade), worker.rows(codes, 11)
    )
    assert np.array_equal(
        bs.randomise(codes, channel, KEY, records=ids, **facade), worker.records(ids, codes)
    )


def reports_from_secret(secret, start, size):
    """What a spawned worker does: make the randomiser anew from the secret."""
    channel = CHANNELS["joint"]
    worker = bs.Randomiser.of(
        channel, bs.Key(secret), release="2026", column="region", domain=range(channel.size)
    )
    return worker.rows(column(channel, size)[start : start + 5000], start).tobytes()


def reports_through(pipe, worker, start, size):
    """What a forked worker does: use the randomiser it inherited."""
    pipe.send_bytes(worker.rows(column(worker.form, size)[start : start + 5000], start).tobytes())
    pipe.close()


def test_threads_and_spawned_workers():
    """Eight threads on one randomiser, and two processes with their own, make one column."""
    worker = randomiser(CHANNELS["joint"])
    codes, starts = column(worker.form, 40_000), range(0, 40_000, 5000)
    whole = worker.rows(codes)
    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(lambda at: worker.rows(codes[at : at + 5000], at), starts))
    assert np.array_equal(np.concatenate(parts), whole)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        sent = pool.map(reports_from_secret, [KEY.secret()] * 2, (5000, 30_000), [40_000] * 2)
        assert list(sent) == [whole[at : at + 5000].tobytes() for at in (5000, 30_000)]


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_workers():
    """Forked workers share the randomiser and repeat nothing."""
    worker = randomiser(CHANNELS["joint"])
    codes = column(worker.form, 40_000)
    whole, context, running = worker.rows(codes), multiprocessing.get_context("fork"), []
    for start in range(0, 40_000, 5000):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=reports_through, args=(theirs, worker, start, 40_000))
        process.start()
        theirs.close()
        running.append((process, ours))
    found = b"".join(pipe.recv_bytes() for _, pipe in running)
    for process, _ in running:
        process.join()
    assert found == whole.tobytes()


# Permanent answers.


def test_ten_thousand_repeats_are_one_report():
    """In one batch of ten thousand, in ten thousand of one, among others and under a new object."""
    worker = randomiser(bs.randomised_response(12, epsilon=1))
    kinds = {"number": 7, "text": "Łucja", "bytes": b"\x00\xff"}
    for one in kinds.values():
        codes = np.full(10_000, 5, np.int8)
        found = worker.records([one] * 10_000, codes)
        assert len(set(found.tolist())) == 1
        again = randomiser(bs.randomised_response(12, epsilon=1))
        assert {int(again.records([one], [5])[0]) for _ in range(500)} == {int(found[0])}
    ids = np.arange(2 * CHUNK)
    codes = column(worker.form, ids.size)
    whole, order = worker.records(ids, codes), np.random.default_rng(2).permutation(ids.size)
    assert np.array_equal(worker.records(ids[order], codes[order]), whole[order])
    named = KEY.names(ids)
    assert np.array_equal(worker.records(named, codes), whole)
    assert np.array_equal(worker.records(ids.tolist(), codes), whole)
    assert np.array_equal(worker.records(ids[CHUNK - 3 : CHUNK + 3], codes[CHUNK - 3 : CHUNK + 3]),
                          whole[CHUNK - 3 : CHUNK + 3])  # fmt: skip


def test_any_change_gives_an_unrelated_report():
    """Of 20,000 uniform reports 1/16 agree by chance, 6.11 standard deviations from 1e-9 cases."""
    channel, size = bs.secrecy(16), 20_000
    ids, codes = np.arange(size), np.arange(size) % 16
    usual = randomiser(channel)
    lines = {
        "usual": usual.records(ids, codes),
        "rows": usual.rows(codes),
        "later rows": usual.rows(codes, 1),
        "far rows": usual.rows(codes, 2**32),
        "id": usual.records(ids + size, codes),
        "text": usual.records([str(i) for i in ids], codes),
        "true code": usual.records(ids, (codes + 1) % 16),
        "column": randomiser(channel, column="regions").records(ids, codes),
        "joint": randomiser(channel, column=("region",), domain=[range(16)]).records(ids, codes),
        "release": randomiser(channel, release="2027").records(ids, codes),
        "domain": randomiser(channel, domain=range(1, 17)).records(ids, codes),
        "order": randomiser(channel, domain=range(16)[::-1]).records(ids, codes),
        "words": randomiser(channel.exact(word_bits=32)).records(ids, codes),
        "key": bs.randomise(
            codes, channel, bs.Key(b"k" * 32), records=ids,
            release="2026", column="region", domain=range(16),
        ),
    }  # fmt: skip
    mixture = randomiser(bs.Mixture(16, truth=1 / 16)).records(ids, codes)
    for (one, left), (other, right) in combinations((lines | {"matrix": mixture}).items(), 2):
        agree = int((left == right).sum())
        assert abs(agree - size / 16) < 6.11 * (size * 15 / 256) ** 0.5, (one, other)


# What it costs, shows and takes.


@pytest.mark.parametrize("name", ["dense", "mixture", "blocks", "joint"])
def test_temporaries_do_not_grow_with_the_column(name):
    """Two million rows need their reports and a few chunks, by row and by record."""
    worker = randomiser(CHANNELS[name])
    codes = column(worker.form, 2_000_000).astype(np.uint8)
    ids = np.arange(codes.size, dtype=np.int32)
    for call in (lambda: worker.rows(codes), lambda: worker.records(ids, codes)):
        tracemalloc.start()
        reports = call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert reports.nbytes == codes.nbytes
        assert peak < reports.nbytes + 100 * CHUNK


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64])
def test_reports_have_the_type_of_the_codes(dtype):
    """Every type of whole numbers comes back as it came, with the same reports."""
    worker, codes = randomiser(CHANNELS["blocks"]), column(CHANNELS["blocks"], 5000)
    reports = worker.rows(codes.astype(dtype))
    assert reports.dtype == dtype
    assert np.array_equal(reports, worker.rows(codes))


@pytest.mark.parametrize("n", [128, 129, 256, 257, 300])
def test_reports_beyond_the_type_of_the_codes(n):
    """A report that the type of the codes cannot hold widens it; none is cut."""
    shift = bs.Permutation(np.roll(np.arange(n), 1))
    for dtype in (np.int8, np.uint8):
        most = min(np.iinfo(dtype).max, n - 1)
        codes = np.arange(most + 1, dtype=dtype)
        reports = randomiser(shift).rows(codes)
        assert reports.tolist() == [(u - 1) % n for u in range(most + 1)]
        dense = bs.Dense(shift.to_dense())
        assert randomiser(dense).rows(codes).tolist() == reports.tolist()


def test_an_empty_column_is_a_column():
    """Nothing comes back, with its type."""
    worker = randomiser(CHANNELS["joint"])
    none = np.array([], np.int16)
    assert worker.rows(none, 17).dtype == np.int16
    for ids in ([], none, KEY.names([])):
        assert worker.records(ids, none).size == 0


def test_a_randomiser_shows_and_hands_out_nothing():
    """Its repr names column and release; it is neither pickled nor deeply copied."""
    worker = randomiser(CHANNELS["dense"])
    assert repr(worker) == "<Randomiser of 'region' in '2026', <Table 3×3 in 64-bit words>>"
    for secret in (KEY.secret(), worker._rows._subkey.reveal()):
        assert secret.hex() not in repr(worker) + repr(worker._rows) + repr(worker._records)
    with pytest.raises(bs.SecretError, match="A key, or what was derived from it, is not pickled"):
        pickle.dumps(worker)
    with pytest.raises(bs.SecretError):
        copy.deepcopy(worker)
    assert np.array_equal(copy.copy(worker).rows([0, 1, 2]), worker.rows([0, 1, 2]))
    with pytest.raises(AttributeError):
        worker.scope = None


def test_several_columns_at_once():
    """Columns fold into the codes of a Kronecker product of millions of cells, and out again."""
    sizes = [1000, 1000, 1000, 1000]
    factors = [bs.Mixture(1000, truth=0.9), bs.secrecy(1000), bs.identity(1000)]
    channel = bs.Kronecker(*factors, bs.Circulant(np.full(1000, 1 / 1000)))
    domain, names = [range(1000)] * 4, ("a", "b", "c", "d")
    columns = [column(bs.secrecy(1000), 20_000, number) for number in range(4)]
    folded = bs.fold(columns, sizes)
    worker = randomiser(channel, column=names, domain=domain)
    reported = bs.unfold(worker.rows(folded), sizes)
    assert [part.dtype for part in reported] == [np.uint16] * 4
    same = [float((a == b).mean()) for a, b in zip(columns, reported, strict=True)]
    assert abs(same[0] - 0.9) < 6.11 * (0.09 / 20_000) ** 0.5
    assert same[1] < 0.001 + 6.11 * (0.001 / 20_000) ** 0.5
    assert same[2] == 1
    assert same[3] < 0.001 + 6.11 * (0.001 / 20_000) ** 0.5
    assert worker.scope.domain == bs.domain_digest(domain)


WHERE = {"release": "2026", "column": "region", "domain": ["a", "b", "c"]}
DENSE = CHANNELS["dense"]


@pytest.mark.parametrize(
    ("codes", "change", "text"),
    [
        (np.ma.array([0, 1], mask=[0, 1]), {}, "Column 'region' is a masked array"),
        ([0, 3, 7], {}, "Column 'region': 2 codes lie outside 0 … 2. A missing value is a categ"),
        ([0, -1], {}, "Column 'region': 1 codes lie outside 0 … 2"),
        ([0.0], {}, "Column 'region': Codes must be whole numbers; got dtype float64"),
        ([[0]], {}, "Column 'region': Codes must be a single column"),
        ([0], {"start": -1}, "1 rows from number -1 on are not all from 0 to 2.41"),
        ([0], {"start": 2**41}, "Split the table"),
        ([0], {"start": 1.0}, "whole number of a row; got float"),
        ([0], {"start": True}, "whole number of a row; got bool"),
        ([0], {"start": 1, "records": [5]}, "record ids and a first row"),
        ([0, 1], {"records": [5]}, "has 2 codes, but there are 1 record ids"),
        ([0], {"records": np.array([5, 6])}, "has 1 codes, but there are 2 record ids"),
        ([0], {"domain": ["a", "b"]}, "has 2 labels, but the channel has 3 categories"),
        ([0], {"domain": ["a", "b", "a"]}, "domain of 'region' has 1 labels more than once"),
        ([0], {"domain": "abc"}, "domain of 'region' is a list of labels; got str"),
        ([0], {"column": ("a", "b")}, "are 2 columns, but there are 3 domains"),
        ([0], {"column": ("a",), "domain": ["abc"]}, "domain of 'a' is a list of labels; got str"),
        ([0], {"column": ("a",), "domain": [["a"]]}, "has 1 labels, but the channel has 3"),
    ],
)
def test_what_is_refused(codes, change, text):
    """Each refusal names the column and what was found, never a code."""
    with pytest.raises(bs.MaskingError, match=text):
        bs.randomise(codes, DENSE, KEY, **(WHERE | change))


def test_what_is_no_key_or_channel():
    """A seed is no key, an array no channel, an id of another kind no id."""
    with pytest.raises(bs.MaskingError, match=r"needs a Key; got int.*there is no seed"):
        bs.randomise([0], DENSE, 42, **WHERE)
    with pytest.raises(bs.MaskingError, match="meets a channel; got list"):
        bs.randomise([0], SKEWED, KEY, **WHERE)
    for ids in ([1.5], np.array([1.5]), [None], np.array([[1]])):
        with pytest.raises(bs.KeystreamError, match="Record ids are a list of"):
            bs.randomise([0], DENSE, KEY, records=ids, **WHERE)
    with pytest.raises(bs.KeystreamError, match="by texts, none empty"):
        bs.randomise([0], DENSE, KEY, **(WHERE | {"release": ""}))


def test_the_last_row():
    """Row 2^41 - 1 has a word, and no row after it."""
    worker = randomiser(DENSE)
    assert worker.rows([0, 1], 2**41 - 2).size == 2
    with pytest.raises(bs.MaskingError, match=r"2 rows from number 2199023255551 on"):
        worker.rows([0, 1], 2**41 - 1)
