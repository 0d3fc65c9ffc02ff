"""No value of the data is ever told: canaries in every cell, and every way a run can go wrong."""

import gzip
import io
import logging
import os
import pty
import subprocess
import sys
import traceback
import warnings
from contextlib import nullcontext
from datetime import date, timedelta
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner

import bistochastic.run
from bistochastic.cli import main
from bistochastic.errors import BistochasticError
from bistochastic.plan.plan import Plan
from bistochastic.run import protect
from bistochastic.tables import local, numbers, sources
from bistochastic.tables.labels import Coder
from bistochastic.verify import verify
from tests.surveys import KEY

BIRD = "CaNaRy"
DIGITS = "987654321"
NUMBER = 987654321.25
DAY = date(4321, 9, 8)
LINES = "more than one line"
BIRDS = (BIRD, DIGITS, "4321-09", "4321, 9", LINES)

LABEL = {"role": "key", "kind": "nominal", "domain": ["no", "yes"], "matrix": "mixture",
         "epsilon": 1.0, "missing": "refuse"}  # fmt: skip
NUMERIC = {"role": "confidential", "kind": "numeric", "how": "permute", "matrix": "secrecy"}
AVERAGE = {"role": "confidential", "kind": "numeric", "how": "average", "matrix": "blocks", "k": 2}
NAMES = {"role": "household", "pseudonym": True}
GONE, PLAIN = {"role": "identifier"}, {"role": "plain"}
COLUMNS = {"id": GONE, "house": NAMES, "a": LABEL, "x": NUMERIC, "z": AVERAGE, "y": PLAIN}
TOML = """
release = "r"
[columns.id]
role = "identifier"
[columns.house]
role = "household"
pseudonym = true
[columns.a]
role = "key"
kind = "nominal"
domain = ["no", "yes"]
matrix = "mixture"
epsilon = 1.0
missing = "refuse"
[columns.x]
role = "confidential"
kind = "numeric"
how = "permute"
matrix = "secrecy"
[columns.z]
role = "confidential"
kind = "numeric"
how = "average"
matrix = "blocks"
k = 2
[columns.y]
role = "plain"
"""

HEAD = "id,house,a,x,z,y\n"
GOOD = (
    f"{BIRD}1,{BIRD}2,no,{NUMBER},{NUMBER},{BIRD}3\n{BIRD}4,{BIRD}5,yes,{DIGITS},{DIGITS},{DAY}\n"
)


def row(**cells):
    """A line with canaries wherever nothing else is said."""
    usual = {"id": BIRD, "house": BIRD, "a": "no", "x": str(NUMBER), "z": DIGITS, "y": BIRD}
    return ",".join((usual | cells).values()) + "\n"


BODY = HEAD + GOOD * 50
PACKED = gzip.compress((HEAD + "".join(row(y=f"{BIRD}{i * i}") for i in range(50_000))).encode())
TEXTS = {
    "unseen label": BODY + row(a=BIRD),
    "missing refused": BODY + row(a=""),
    "not a number": BODY + row(x=BIRD),
    "not a number to average": BODY + row(z=f"{DIGITS},5".join('""')),
    "hexadecimal": BODY + row(x=f"0x{DIGITS}"),
    "infinite": BODY + row(x=f"{DIGITS}e999"),
    "endless": BODY + row(x="-inf"),
    "open quote": BODY + row(y=f'"{BIRD}'),
    "open quote in the middle": BODY + row(a=f'"{BIRD}') + GOOD,
    "text after a quote": BODY + row(y=f'"{BIRD}"{BIRD}'),
    "quote within a cell": BODY + row(y=f'{BIRD}"{BIRD}'),
    "too many fields": BODY + row(y=f"{BIRD},{BIRD}"),
    "latin cell": BODY.encode() + row(y=f"{BIRD}ö").encode("latin1"),
    "latin head": BODY.replace("house", "häuser").encode("latin1"),
    "utf-16": BODY.encode("utf-16"),
    "surrogate": BODY.encode() + row(y=f"{BIRD}%").encode().replace(b"%", b"\xed\xa0\x80"),
    "a null in a label": BODY + row(a=f"{BIRD}\0"),
    "a null in a number": BODY + row(x=f"{DIGITS}\0"),
    "a bare carriage return in a label": BODY + row(a=f"{BIRD}\r{BIRD}"),
    "only carriage returns": BODY.replace("\n", "\r"),
    "carriage return after the head": BODY.replace("\n", "\r", 1),
    "open quote in the head": BODY.replace(",y\n", ',"y\n'),
    "quote in the head closed by a cell": BODY.replace(",y\n", ',"y\n') + row(y='"'),
    "duplicate head": BODY.replace("house", "id"),
    "no name": BODY.replace("house", ""),
    "other columns": BODY.replace("house", "haus"),
    "a very long cell": BODY + row(a=BIRD * 200_000),
    "a very long number": BODY + row(x=DIGITS * 20_000),
    "broken line": BODY + f"{BIRD}\n{BIRD},{DIGITS}\n",
    "a blank line": BODY + "\n" + GOOD,
    "gzip that is none": ("csv.gz", BODY),
    "gzip cut short": ("csv.gz", PACKED[: len(PACKED) // 2]),
    "gzip without its end": ("csv.gz", PACKED[:-4]),
    "gzip and something else": ("csv.gz", PACKED + BIRD.encode()),
    "zstd cut short": ("csv.zst", 2),
    "parquet that is none": ("parquet", BODY),
    "parquet cut short": ("parquet", 2),
    "parquet without its end": ("parquet", 1.001),
    "arrow that is none": ("arrow", BODY),
    "arrow cut short": ("arrow", 2),
    "arrow without its end": ("arrow", 1.001),
}


def content(said):
    """The ending and the bytes of a case."""
    ending, given = said if isinstance(said, tuple) else ("csv", said)
    if isinstance(given, int | float):
        whole = written(pl.DataFrame({"y": [f"{BIRD}{i * i}" for i in range(50_000)]}), ending)
        given = whole[: int(len(whole) / given)]
    return ending, given if isinstance(given, bytes) else given.encode()


def written(frame, ending):
    """A frame as the bytes of a file."""
    space = io.BytesIO()
    if ending == "parquet":
        frame.write_parquet(space)
    elif ending == "arrow":
        frame.write_ipc(space)
    else:
        frame.lazy().sink_csv(space, compression="zstd")
    return space.getvalue()


def series(values, dtype=None):
    """A frame of one column."""
    return pl.DataFrame({"x": pl.Series(values, dtype=dtype)})


TYPES = {
    "texts": [BIRD],
    "struct": [{"u": BIRD}],
    "list": [[BIRD]],
    "enum": pl.Series([BIRD], dtype=pl.Enum([BIRD])),
    "categorical": pl.Series([BIRD], dtype=pl.Categorical),
    "list of enum": pl.Series([[BIRD]], dtype=pl.List(pl.Enum([BIRD]))),
    "binary": [BIRD.encode()],
    "decimal": [Decimal(f"{DIGITS}.25")],
    "huge": pl.Series([int(DIGITS) * 10**25], dtype=pl.Int128),
    "huge and positive": pl.Series([int(DIGITS) * 10**25], dtype=pl.UInt128),
    "beyond signed": pl.Series([2**63 + int(DIGITS)], dtype=pl.UInt64),
    "day": [DAY],
    "duration": [timedelta(seconds=int(DIGITS))],
    "nothing": pl.Series([None], dtype=pl.Null),
    "infinite": [float("inf")],
    "object": pl.Series([{BIRD}], dtype=pl.Object),
}
USES = {
    "label": LABEL | {"domain": ["no", "yes"]},
    "number label": LABEL | {"domain": [1, 2]},
    "permute": NUMERIC,
    "average": AVERAGE,
    "names": NAMES,
    "plain": PLAIN,
}
FRAMES = {
    "pandas, mixed texts and numbers": (pd.DataFrame({"x": ["no", int(DIGITS), BIRD]}), LABEL),
    "pandas, mixed numbers and texts": (pd.DataFrame({"x": [1, BIRD]}), NUMERIC),
    "pandas, lists and dictionaries": (pd.DataFrame({"x": [[1], {BIRD: BIRD}]}), PLAIN),
    "pandas, objects": (pd.DataFrame({"x": [type(BIRD, (), {})()]}), PLAIN),
    "pandas, complex": (pd.DataFrame({"x": [complex(NUMBER)]}), PLAIN),
    "pandas, categories": (pd.DataFrame({"x": pd.Categorical([BIRD])}), LABEL),
    "pandas, categories to permute": (pd.DataFrame({"x": pd.Categorical([BIRD])}), NUMERIC),
    "pandas, twice a name": (pd.DataFrame([[BIRD, BIRD]], columns=["x", "x"]), PLAIN),
    "pandas, numbers for names": (pd.DataFrame([[BIRD, BIRD]]), PLAIN),
    "pandas, a nameless column": (pd.DataFrame([[BIRD, BIRD]], columns=["x", None]), PLAIN),
    "pandas, names of two levels": (
        pd.DataFrame([[BIRD]], columns=pd.MultiIndex.from_tuples([("x", "y")])),
        PLAIN,
    ),
    "pandas, a series": (pd.Series([BIRD], name="x"), PLAIN),
    "pyarrow, twice a name": (pa.table([[BIRD], [BIRD]], names=["x", "x"]), PLAIN),
    "pyarrow, dictionary": (pa.table({"x": pa.array([BIRD]).dictionary_encode()}), LABEL),
    "pyarrow, wide decimals": (
        pa.table({"x": pa.array([Decimal(DIGITS)], pa.decimal256(60, 2))}),
        NUMERIC,
    ),
    "pyarrow, union": (
        pa.table({"x": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([BIRD])])}),
        PLAIN,
    ),
    "duckdb, a cast that fails": (
        lambda: duckdb.sql(f"select cast(v as int) as x from (select '{BIRD}' v)"),
        LABEL | {"domain": [1, 2]},
    ),
    "lazy, a cast that fails": (series([BIRD]).lazy().cast({"x": pl.Int64}), NUMERIC),
    "lazy, a column that is not there": (series([BIRD]).lazy().select("x", "none"), NUMERIC),
    "no table": ([BIRD], PLAIN),
    "a dictionary": ({"x": [BIRD]}, PLAIN),
    "no column": (pl.DataFrame(), PLAIN),
} | {
    f"{name} as {use}": (series(values), said)
    for name, values in TYPES.items()
    for use, said in USES.items()
}
PASS = {"texts as plain", "texts as names", "struct as plain", "list as plain", "enum as plain",
        "enum as names", "categorical as plain", "categorical as names", "list of enum as plain",
        "binary as plain", "decimal as names", "decimal as plain", "huge as names",
        "huge as plain", "huge and positive as names", "huge and positive as plain",
        "beyond signed as names", "beyond signed as plain", "day as names", "day as plain",
        "duration as plain", "nothing as names", "nothing as plain", "infinite as names",
        "infinite as plain", "decimal as permute", "huge as permute",
        "huge and positive as permute", "beyond signed as permute", "day as permute",
        "duration as permute"}  # fmt: skip


@pytest.fixture
def overheard(capfd, caplog):
    """Everything that a call prints, logs, warns of, raises or answers, as one text."""
    caplog.set_level(logging.DEBUG)

    def listen(call):
        told = []
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                told.append(call())
            except BaseException as error:
                told += [str(error), repr(error), *traceback.format_exception(error)]
        told += [str(warning.message) for warning in warned]
        told += [record.getMessage() for record in caplog.records]
        told += capfd.readouterr()
        caplog.clear()
        return "\n".join(map(str, told))

    return listen


def heard(text):
    """The canaries in a text."""
    return [bird for bird in BIRDS if bird in text]


def reprs(release):
    """What the objects of a run say of themselves."""
    table = release._table
    parts = (release, table, table.source, release.manifest, *table.steps)
    return "\n".join([*map(repr, parts), *map(str, parts), release.manifest.text()])


def published(given, columns, folder, **said):
    """A whole run, and what it says of itself; a refusal in one line."""
    try:
        release = protect(given, Plan(release="r", columns=columns, **said), KEY)
        release.write(folder / "out")
        promises = "\n".join(map(str, verify(folder / "out")))
    except BistochasticError as error:
        if "\n" in str(error):
            raise AssertionError(LINES) from error
        raise
    return reprs(release) + (folder / "out" / "manifest.json").read_text("utf-8") + promises


def frame(name):
    """The frame of a case, and the use it is put to."""
    given, said = FRAMES[name]
    return given() if callable(given) else given, said


def put(name, folder):
    """The file of a case."""
    ending, given = content(TEXTS[name])
    path = folder / f"in.{ending}"
    path.write_bytes(given)
    return path


@pytest.mark.parametrize("name", TEXTS)
def test_files(name, tmp_path, overheard):
    """Refused without a word of what stands in them, and nothing is left."""
    path = put(name, tmp_path)
    text = overheard(lambda: published(path, COLUMNS, tmp_path))
    assert not heard(text)
    assert "bistochastic.errors." in text
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", FRAMES)
def test_frames(name, tmp_path, overheard):
    """The same for frames of every kind and columns of every type, in every use."""
    given, said = frame(name)
    text = overheard(lambda: published(given, {"x": said}, tmp_path))
    assert not heard(text)
    assert ("bistochastic.errors." in text) is (name not in PASS)
    assert bool(list(tmp_path.iterdir())) is (name in PASS)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("name", [name for name in TYPES if name != "object"])
def test_types_in_files(name, ending, tmp_path, overheard):
    """The same from a file, where nothing but the schema tells the type."""
    path = tmp_path / f"in.{ending}"
    path.write_bytes(written(series(TYPES[name]), ending))
    for use, said in USES.items():
        folder = tmp_path / use
        folder.mkdir()
        text = overheard(lambda folder=folder, said=said: published(path, {"x": said}, folder))
        assert not heard(text)
        assert ("bistochastic.errors." in text) is (f"{name} as {use}" not in PASS)


def test_rows_without_an_id(overheard, tmp_path):
    """They are counted, and no other id is told; nor is a type that names nobody."""
    label = LABEL | {"missing": "category"}
    for ids in ([BIRD, None], [[BIRD], [BIRD]], [int(DIGITS), None]):
        frame = pl.DataFrame({"id": ids, "a": ["no", "yes"]})
        text = overheard(
            lambda frame=frame: published(frame, {"id": GONE, "a": label}, tmp_path, records="id")
        )
        assert "bistochastic.errors." in text
        assert not heard(text)


def test_an_order_with_gaps(overheard, tmp_path):
    """The column that orders is named, its values are not."""
    frame = pl.DataFrame({"x": [NUMBER, NUMBER], "y": [NUMBER, None]})
    text = overheard(lambda: published(frame, {"x": NUMERIC | {"by": "y"}, "y": PLAIN}, tmp_path))
    assert "orders the individuals" in text
    assert not heard(text)


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow", "csv", "parquet", "arrow"])
def test_all_is_well(kind, tmp_path, overheard):
    """Not even then, in what the objects say of themselves and in the manifest."""
    frame = pl.read_csv(io.BytesIO(BODY.encode()), infer_schema=True)
    path = tmp_path / f"in.{kind}"
    if kind == "csv":
        path.write_text(BODY, "utf-8")
    elif kind in ("parquet", "arrow"):
        path.write_bytes(written(frame, kind))
    given = {"polars": frame, "pandas": frame.to_pandas(), "pyarrow": frame.to_arrow()}
    text = overheard(lambda: published(given.get(kind, path), COLUMNS, tmp_path))
    assert "bistochastic.errors." not in text
    assert '"sha256"' in text
    assert not heard(text)


def command(*args, **more):
    """A command as it ends: its output, its code and, if it fell, its traceback."""
    told = CliRunner().invoke(main, list(map(str, args)), **more)
    fallen = traceback.format_exception(*told.exc_info) if told.exc_info else []
    return "\n".join([told.stdout, told.stderr, f"code {told.exit_code}", *fallen])


@pytest.fixture
def said(tmp_path):
    """The plan in a file of its own folder."""
    path = tmp_path / "plan" / "plan.toml"
    path.parent.mkdir()
    path.write_text(TOML, "utf-8")
    return path


@pytest.mark.parametrize("name", TEXTS)
def test_the_command_line(name, tmp_path, overheard, said):
    """The same words, ended with 2; standard input is no other way."""
    path, out = put(name, tmp_path), tmp_path / "out"
    text = overheard(lambda: command("protect", path, "--plan", said, "--out", out, "--json"))
    assert not heard(text)
    assert "code 2" in text
    if path.suffix == ".csv":
        with path.open("rb") as stream:
            text = overheard(
                lambda: command("protect", "-", "--plan", said, "--out", out, input=stream)
            )
        assert "code 2" in text
        assert not heard(text)


@pytest.mark.parametrize("name", TEXTS)
def test_inspect_refuses_without_a_value(name, tmp_path, overheard):
    """What it proposes is made of labels; what it refuses is not."""
    path = put(name, tmp_path)
    text = overheard(lambda: command("inspect", path, "-o", tmp_path / "plan.toml"))
    assert not heard(text)
    assert "code 0" in text or "code 2" in text


def test_verify_of_a_table_that_was_changed(tmp_path, overheard, said):
    """It tells that values are strange, not which."""
    path, out = tmp_path / "in.csv", tmp_path / "out"
    path.write_text(BODY, "utf-8")
    assert "code 0" in command("protect", path, "--plan", said, "--out", out)
    for strange in (row(a=BIRD), row(y=f'"{BIRD}'), row(y=f"{BIRD},{BIRD}")):
        data = BODY.replace("id,", "", 1).replace(f"{BIRD}1,", "").replace(f"{BIRD}4,", "")
        (out / "data.csv").write_text(data + strange.partition(",")[2], "utf-8")
        for extra in ([], ["--json"]):
            text = overheard(lambda extra=extra: command("verify", out, *extra))
            assert "code 1" in text
            assert not heard(text)


@pytest.mark.parametrize("kind", [RuntimeError, ValueError, KeyError, MemoryError, OSError])
def test_a_defect_tells_its_place_only(kind, tmp_path, overheard, said, monkeypatch):
    """Nobody foresaw it, so nobody knows what it quotes."""

    def defect(*args):
        raise kind(BIRD, NUMBER)

    (tmp_path / "in.csv").write_text(BODY, "utf-8")
    monkeypatch.setattr(bistochastic.run, "bound", defect)
    arguments = ("protect", tmp_path / "in.csv", "--plan", said, "--out", tmp_path / "out")
    text = CliRunner().invoke(main, list(map(str, arguments)))
    assert text.exit_code == 3
    assert "A defect of this program" in text.stderr
    assert not heard(text.output)


def screen(*args):
    """What a terminal shows of a command, all that was ever drawn on it."""
    mine, its = pty.openpty()
    program = [sys.executable, "-m", "bistochastic", *map(str, args)]
    process = subprocess.Popen(program, stdin=its, stdout=its, stderr=its, cwd="/")
    os.close(its)
    shown = b""
    try:
        while chunk := os.read(mine, 1 << 16):
            shown += chunk
    except OSError:  # how a terminal says that nobody writes to it any more
        pass
    os.close(mine)
    return shown.decode(), process.wait()


@pytest.mark.parametrize("name", ["all is well", "unseen label", "not a number", "open quote"])
def test_a_terminal(name, tmp_path, said):
    """Progress counts rows, and what is drawn over was no value either."""
    path = tmp_path / "in.csv"
    tail = "" if name == "all is well" else TEXTS[name].removeprefix(BODY)
    path.write_text(HEAD + GOOD * 100_000 + tail, "utf-8")
    shown, code = screen("protect", path, "--plan", said, "--out", tmp_path / "out")
    assert code == (0 if name == "all is well" else 2)
    assert not heard(shown)
    assert "rows masked" in shown


def test_a_release_made_by_another_process(tmp_path, said):
    """With everything that Python can be told to say."""
    (tmp_path / "in.csv").write_text(TEXTS["unseen label"], "utf-8")
    told = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "always", "-m", "bistochastic", "protect",
         tmp_path / "in.csv", "--plan", said, "--out", tmp_path / "out"],
        capture_output=True, text=True, check=False, env=os.environ | {"RUST_BACKTRACE": "full"},
    )  # fmt: skip
    assert told.returncode == 2
    assert "outside the declared domain, row 101" in told.stderr
    assert not heard(told.stdout + told.stderr)


def quoting(self, given, start):
    """A planted fault: what cannot be coded is quoted."""
    codes, gone, faults = ENCODE(self, given, start)
    for one in faults:
        object.__setattr__(one, "why", f"hold {given[one.rows[0] - start]!r}")
    return codes, gone, faults


ENCODE, START = Coder.encode, local._start


def while_masking(say):
    """A planted fault: batches are told to somebody."""

    def told(batch, row):
        say(str(batch))
        return START(batch, row)

    return local, "_start", told


PLANTED = {
    "a message that quotes": (Coder, "encode", quoting, "unseen label"),
    "the words of the reader": (sources, "_cause", str, "text after a quote"),
    "an error that passes": (
        sources.understood, "__exit__", lambda *error: None, "text after a quote",
    ),
    "categories in a type": (numbers, "type_name", str, "enum as permute"),
    "the words of pandas": (
        sources, "_brought", nullcontext, "pandas, mixed numbers and texts",
    ),
    "the words of DuckDB": (sources, "_brought", nullcontext, "duckdb, a cast that fails"),
    "a print": (*while_masking(print), "unseen label"),
    "standard error": (
        *while_masking(lambda text: os.write(2, text.encode()) and None), "unseen label",
    ),
    "a log": (*while_masking(logging.getLogger("deep.below").debug), "unseen label"),
    "a warning": (*while_masking(warnings.warn), "unseen label"),
}  # fmt: skip


@pytest.mark.parametrize("planted", PLANTED)
def test_a_leak_is_heard(planted, tmp_path, overheard, monkeypatch):
    """Faults planted on purpose, each on another way out."""
    where, name, leak, case = PLANTED[planted]
    monkeypatch.setattr(where, name, leak)
    given, columns = (put(case, tmp_path), COLUMNS) if case in TEXTS else (
        frame(case)[0], {"x": frame(case)[1]},
    )  # fmt: skip
    text = overheard(lambda: protect(given, Plan(release="r", columns=columns), KEY).data)
    assert heard(text)
