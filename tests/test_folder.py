"""A release appears whole or not at all: killed, refused, without room, or two at a time."""

import multiprocessing
import os
import random
import resource
import shutil
import subprocess
import time
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import bistochastic.folder
import bistochastic.release
from bistochastic.cli import main
from bistochastic.errors import BistochasticError, DomainError, KeyFileError, ReleaseError
from bistochastic.folder import appearing
from bistochastic.keystream import Key
from bistochastic.manifest import Manifest
from bistochastic.plan.plan import Plan
from bistochastic.release import fingerprint
from bistochastic.run import protect
from bistochastic.standard import from_standard_input
from bistochastic.verify import verify
from tests.surveys import KEY

FORMATS = ("csv", "csv.gz", "csv.zst", "parquet", "arrow")
LABEL = {"role": "key", "kind": "nominal", "domain": ["no", "yes"], "matrix": "mixture",
         "epsilon": 1.0, "missing": "refuse"}  # fmt: skip
PLAN = Plan(release="r", columns={"a": LABEL, "x": {"role": "plain"}})

PROCESSES = multiprocessing.get_context("forkserver")  # each is forked before Polars has threads
PROCESSES.set_forkserver_preload(["tests.test_folder"])


def table(rows):
    """So many rows that hardly shrink when packed."""
    numbers = np.random.default_rng(0).random(rows)
    return pl.DataFrame({"a": ["no", "yes"] * (rows // 2), "x": numbers.astype(str)})


def file(folder, ending, rows=1000):
    """The table in a file."""
    path = folder / f"in.{ending}"
    frame = table(rows)
    if ending == "parquet":
        frame.write_parquet(path)
    elif ending == "arrow":
        frame.write_ipc(path)
    else:
        packed = {"csv": "uncompressed", "csv.gz": "gzip", "csv.zst": "zstd"}[ending]
        frame.lazy().sink_csv(path, compression=packed)
    return path


def fault(folder):
    """What is wrong with a published folder; nothing if it is whole."""
    try:
        data = Manifest.read(folder).data
        names = sorted(entry.name for entry in folder.iterdir())
        if data is None or names != [data.name, "manifest.json"]:
            return f"it holds {names}"
        return "" if fingerprint(folder / data.name) == data.sha256 else "the data are others"
    except ReleaseError as error:
        return str(error)


def faults(place):
    """The published folders that are not whole."""
    return [entry for entry in place.iterdir() if entry.name[0] != "." and fault(entry)]


def leftovers(place):
    """The hidden folders of killed runs."""
    return [entry for entry in place.iterdir() if entry.name.startswith(".")]


def bytes_of(folder):
    """Every file of a folder, with its times."""
    return {
        entry.name: (entry.read_bytes(), entry.stat().st_mtime_ns) for entry in folder.iterdir()
    }


@contextmanager
def straight(folder):
    """A planted fault: the folder is filled under its own name."""
    folder.mkdir()
    yield folder


def forever(given, place, way, begun):
    """Publish under one name again and again; what is whole gets out of the way."""
    if way == "straight":
        bistochastic.release.appearing = straight
    release = protect(given, PLAN, KEY)
    begun.set()
    for turn in count():
        release.write(place / "out")
        os.rename(place / "out", place / f"out {os.getpid()} {turn}")


def killed(place, given, way, kills, seed=0):
    """Whether something broken was ever seen after kills at random instants, and how many cut."""
    chance, cut = random.Random(seed), 0
    for _ in range(kills):
        begun = PROCESSES.Event()
        writer = PROCESSES.Process(target=forever, args=(given, place, way, begun))
        writer.start()
        assert begun.wait(60)
        time.sleep(chance.uniform(0, 0.05))
        writer.kill()
        writer.join()
        writer.close()
        left = leftovers(place)
        assert len(left) <= 1  # the run before this one has been swept
        cut += len(left)
        if broken := faults(place):
            return fault(broken[0]), cut
        shutil.rmtree(place / "out", ignore_errors=True)  # else the next run is refused
    return "", cut


@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_at_any_instant(kills, tmp_path):
    """Under the name is nothing or a whole release, and the next run clears up."""
    given, place = file(tmp_path, "csv"), tmp_path / "releases"
    old = protect(given, PLAN, KEY).write(tmp_path / "old")
    place.mkdir()
    shutil.copytree(old, place / "older")
    before = bytes_of(old), bytes_of(place / "older")
    broken, cut = killed(place, given, "hidden", kills)
    assert not broken
    assert cut > kills / 4  # most kills met a run in the middle
    protect(given, PLAN, KEY).write(place / "out")
    assert not leftovers(place)
    assert all(check.holds for check in verify(place / "out", key=KEY, original=given))
    assert (bytes_of(old), bytes_of(place / "older")) == before


def test_a_folder_filled_under_its_own_name_is_seen(tmp_path):
    """The same kills and the same eyes see what is broken."""
    given, place = file(tmp_path, "csv"), tmp_path / "releases"
    place.mkdir()
    assert killed(place, given, "straight", 50)[0]


def keys_forever(place, begun):
    """Write one key after the other."""
    begun.set()
    for turn in count():
        Key.new().write(place / f"{turn}.key")


def test_a_key_that_was_being_written(tmp_path):
    """It is whole, or it is refused: never another key."""
    for turn in range(10):
        place, begun = tmp_path / str(turn), PROCESSES.Event()
        place.mkdir()
        writer = PROCESSES.Process(target=keys_forever, args=(place, begun))
        writer.start()
        assert begun.wait(60)
        time.sleep(0.01 + 0.002 * turn)
        writer.kill()
        writer.join()
        *whole, last = sorted(place.iterdir(), key=lambda path: int(path.stem))
        for path in whole:
            Key.read(path)
        with suppress(KeyFileError):
            assert Key.read(last)


def held(place, begun, go, said):
    """Fill a folder as slowly as somebody says."""
    try:
        with appearing(place / "out") as hidden:
            (hidden / "half").write_text("slow", encoding="utf-8")
            begun.set()
            go.wait(60)
            (hidden / "whole").write_text("slow", encoding="utf-8")
        said.put("published")
    except BistochasticError as error:
        said.put(str(error))


@pytest.mark.parametrize("locks", [True, False])
def test_a_run_that_lives_is_not_swept(locks, tmp_path, monkeypatch):
    """Nor disturbed by another for the same place; without locks it would be."""
    begun, go, said = PROCESSES.Event(), PROCESSES.Event(), PROCESSES.SimpleQueue()
    writer = PROCESSES.Process(target=held, args=(tmp_path, begun, go, said))
    writer.start()
    assert begun.wait(60)
    if not locks:  # a planted fault: every folder looks as if it were left behind
        monkeypatch.setattr(bistochastic.folder, "_locked", lambda path: os.open(path, os.O_RDONLY))
    bistochastic.folder.sweep(tmp_path / "out")
    survived = bool(leftovers(tmp_path))
    assert survived is locks
    go.set()
    assert (said.get() == "published") is locks
    writer.join()


def test_the_second_of_two_is_refused(tmp_path):
    """The place was free when it began; what the first published stays as it is."""
    begun, go, said = PROCESSES.Event(), PROCESSES.Event(), PROCESSES.SimpleQueue()
    writer = PROCESSES.Process(target=held, args=(tmp_path, begun, go, said))
    writer.start()
    assert begun.wait(60)
    protect(table(10), PLAN, KEY).write(tmp_path / "out")
    before = bytes_of(tmp_path / "out")
    go.set()
    assert "is not empty. A release is never written over" in said.get()
    writer.join()
    assert bytes_of(tmp_path / "out") == before
    assert not fault(tmp_path / "out")
    assert not leftovers(tmp_path)


def at_once(given, place, turns, together, said):
    """Publish in the same moment as others."""
    release = protect(given, PLAN, KEY)
    for turn in range(turns):
        together.wait(60)
        try:
            release.write(place / f"out {turn}")
            said.put((turn, ""))
        except BistochasticError as error:
            said.put((turn, str(error)))


def test_many_at_once(tmp_path):
    """One of them publishes, whole; the others are told why not."""
    writers, turns = 4, 20
    given, place = file(tmp_path, "csv"), tmp_path / "releases"
    place.mkdir()
    together, said = PROCESSES.Barrier(writers), PROCESSES.Queue()
    group = [
        PROCESSES.Process(target=at_once, args=(given, place, turns, together, said))
        for _ in range(writers)
    ]
    for writer in group:
        writer.start()
    told = [said.get(timeout=60) for _ in range(writers * turns)]
    for writer in group:
        writer.join()
    for turn in range(turns):
        words = [word for place_, word in told if place_ == turn]
        refused = [word for word in words if word]
        assert len(refused) == writers - 1
        assert [word for word in refused if "is not empty" not in word] == []
    assert len(list(place.iterdir())) == turns
    assert not faults(place)


def confined(given, place, limit, said):
    """Publish where no file may grow beyond a limit."""
    release = protect(given, PLAN, KEY)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        release.write(place / "out")
        said.put((None, "published"))
    except Exception as error:
        said.put((type(error), str(error)))


def said_by(target, *args):
    """What a process of its own has to say."""
    said = PROCESSES.SimpleQueue()
    writer = PROCESSES.Process(target=target, args=(*args, said))
    writer.start()
    told = said.get()
    writer.join()
    return told


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("rows", [20_000, 10])
def test_no_room(ending, rows, tmp_path):
    """For the data, and for the manifest after them: one sentence, and nothing is left."""
    given, place = file(tmp_path, ending, rows), tmp_path / "releases"
    place.mkdir()
    kind, words = said_by(confined, given, place, 1 << 16 if rows > 10 else 1 << 10)
    assert kind is ReleaseError
    assert "cannot be written: File too large. Nothing was published. Make room" in words
    assert "\n" not in words
    assert not list(place.iterdir())


@pytest.fixture
def small(tmp_path):
    """A disk of 64 kilobytes."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    try:
        subprocess.run(mounted, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("nobody but root mounts a disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("ending", FORMATS)
def test_a_full_disk(ending, small, tmp_path):
    """The same, said by the system in its own way."""
    given = file(tmp_path, ending, 20_000)
    with pytest.raises(ReleaseError, match="cannot be written: No space left on device") as refusal:
        protect(given, PLAN, KEY).write(small / "out")
    assert "\n" not in str(refusal.value)
    assert not list(small.iterdir())


def test_a_full_disk_behind_standard_input(small, tmp_path, monkeypatch):
    """What comes in is kept while it is read, and that may fail too."""
    monkeypatch.setattr("tempfile.tempdir", str(small))
    given = file(tmp_path, "csv", 20_000)
    with (
        given.open("rb") as stream,
        pytest.raises(
            BistochasticError, match=r"No space left on device\. Name a folder with room"
        ),
        from_standard_input(stream),
    ):
        pass
    assert not list(small.iterdir())
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with (
        given.open("rb") as stream,
        pytest.raises(BistochasticError, match="cannot be kept while it is read: No such file"),
        from_standard_input(stream),
    ):
        pass


def test_a_disk_that_cannot_be_written(small, tmp_path):
    """One sentence."""
    subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
    with pytest.raises(
        ReleaseError, match=r"cannot be written: Read-only file system\. Nothing was"
    ):
        protect(table(10), PLAN, KEY).write(small / "out")


@pytest.mark.parametrize(
    ("call", "number"),
    [
        ("tempfile.mkdtemp", 13), ("tempfile.mkdtemp", 30), ("os.fsync", 5), ("os.rename", 13),
        ("os.rename", 20), ("pathlib.Path.write_text", 122), ("pathlib.Path.touch", 28),
        ("pathlib.Path.iterdir", 13), ("pathlib.Path.chmod", 1),
    ],
)  # fmt: skip
def test_what_the_system_refuses(call, number, tmp_path, monkeypatch):
    """Each step of a release may be refused: what for is said, and nothing is left."""
    release = protect(table(10), PLAN, KEY)
    (tmp_path / "out").mkdir()

    def refused(*args, **kwargs):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(call, refused)
        with pytest.raises(ReleaseError, match=f"cannot be written: {os.strerror(number)}") as told:
            release.write(tmp_path / "out")
    assert str(told.value).count("\n") == 0
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
    assert not list((tmp_path / "out").iterdir())
    assert not fault(release.write(tmp_path / "out"))


def test_a_parent_that_cannot_be_waited_for(tmp_path, monkeypatch):
    """Once the name stands, the release is published, and nothing else is said."""
    real = bistochastic.folder._reach_disk

    def deaf(path):
        if path == tmp_path:
            raise OSError(22, "Invalid argument")
        real(path)

    monkeypatch.setattr(bistochastic.folder, "_reach_disk", deaf)
    assert not fault(protect(table(10), PLAN, KEY).write(tmp_path / "out"))


def test_a_stranger_takes_the_new_folder(tmp_path, monkeypatch):
    """A run that sweeps before the lock is there: another folder is made."""
    real, turns = bistochastic.folder._locked, count()

    def late(folder):
        if next(turns) == 0:
            shutil.rmtree(folder)
        return real(folder)

    monkeypatch.setattr(bistochastic.folder, "_locked", late)
    assert not fault(protect(table(10), PLAN, KEY).write(tmp_path / "out"))
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def occupied(place, kind):
    """Something that stands where the release shall be."""
    out = place / "out"
    if kind == "file":
        out.write_text("precious", encoding="utf-8")
    elif kind == "dangling link":
        out.symlink_to(place / "nothing")
    else:
        (place / "full").mkdir()
        (place / "full" / "precious").write_text("precious", encoding="utf-8")
        out.symlink_to(place / "full") if kind == "link" else (place / "full").rename(out)
    return out


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("folder", "is not empty. A release is never written over: choose another name"),
        ("file", "exists and is no empty folder. Choose another name"),
        ("link", "exists and is no empty folder. Choose another name"),
        ("dangling link", "exists and is no empty folder. Choose another name"),
    ],
)
def test_what_is_there_stays(kind, words, tmp_path):
    """To the byte; and it is refused before the table is looked at."""
    release = protect(table(10), PLAN, KEY)
    out = occupied(tmp_path, kind)
    before = sorted(tmp_path.iterdir()), bytes_of(out) if out.is_dir() else None
    with pytest.raises(ReleaseError, match=words):
        release.write(out)
    (tmp_path / "plan.toml").write_text('release = "r"\n[columns.a]\nrole = "plain"\n', "utf-8")
    told = CliRunner().invoke(
        main,
        ["protect", "/no/table.csv", "--plan", str(tmp_path / "plan.toml"), "--out", str(out)],
    )
    (tmp_path / "plan.toml").unlink()
    assert told.exit_code == 2
    assert words in told.stderr
    assert (sorted(tmp_path.iterdir()), bytes_of(out) if out.is_dir() else None) == before
    if kind == "file":
        assert out.read_text(encoding="utf-8") == "precious"


def test_an_empty_folder_is_free(tmp_path, monkeypatch):
    """Also the one that somebody stands in, and one with marks that mean something in a pattern."""
    for name in ("out", "o*t", "[o]?", ".out"):
        (tmp_path / name).mkdir()
        assert not fault(protect(table(10), PLAN, KEY).write(tmp_path / name))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    protect(table(10), PLAN, KEY).write(".")
    assert not fault(here)


def test_marks_in_a_name_sweep_nobody_else(tmp_path):
    """Only what was left for the very same name is removed."""
    (tmp_path / ".out.x.partial").mkdir()
    (tmp_path / ".o*t.x.partial").mkdir()
    protect(table(10), PLAN, KEY).write(tmp_path / "o*t")
    assert {entry.name for entry in tmp_path.iterdir()} == {"o*t", ".out.x.partial"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("file/out", "There is no folder .* to write 'out' into"),
        ("none/out", "There is no folder .* to write 'out' into"),
        ("x" * 300, "cannot be written: File name too long. Nothing was published"),
        ("x" * 250, "cannot be written: File name too long. Nothing was published"),
    ],
)
def test_places_that_are_none(name, words, tmp_path):
    """One sentence each."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ReleaseError, match=words):
        protect(table(10), PLAN, KEY).write(tmp_path / name)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_fault_in_the_last_row_leaves_nothing(ending, tmp_path):
    """When most of the file has been written already."""
    given, place, masked = tmp_path / f"in.{ending}", tmp_path / "releases", []
    place.mkdir()
    frame = pl.concat([table(600_000), pl.DataFrame({"a": ["perhaps"], "x": ["1"]})])
    frame.write_csv(given) if ending == "csv" else frame.write_parquet(given)
    with pytest.raises(DomainError, match=r"'a': 1 cell outside .*, row 600001\. Nothing was"):
        protect(given, PLAN, KEY, on_rows=masked.append).write(place / "out")
    assert sum(masked) > 0
    assert not list(place.iterdir())


def test_stopped_by_hand(tmp_path):
    """As any other end of a block."""

    def stopped(rows):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        protect(table(10), PLAN, KEY, on_rows=stopped).write(Path(tmp_path) / "out")
    assert not list(tmp_path.iterdir())
