"""Databases: a table comes in and a release goes back with every type, or not at all."""

import sqlite3
from datetime import UTC, date, datetime, time
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

from bistochastic.analyst.contingency import estimate
from bistochastic.errors import ReleaseError, TableError
from bistochastic.inspection import inspect
from bistochastic.manifest import Manifest
from bistochastic.plan.plan import Plan
from bistochastic.referee.evaluation import evaluate
from bistochastic.run import opened, protect
from bistochastic.tables import databases
from bistochastic.tables.connections import Database
from bistochastic.tables.databases import from_database, published
from tests.surveys import KEY

pytestmark = pytest.mark.xdist_group("postgresql")
SECRET = "s3cret-Pw"
SMOKER = {"role": "key", "kind": "nominal", "domain": ["no", "yes"], "matrix": "mixture",
          "truth": 0.6}  # fmt: skip

TYPES = {
    "id": ("int PRIMARY KEY", [1, 2, 3], pl.Int32),
    "price": ("numeric(10,2)", [Decimal("1.50"), None, Decimal("-12345678.90")], pl.Decimal(10, 2)),
    "exact": ("numeric", [Decimal("0.123456789012345678"), Decimal(7), None], pl.Decimal(38, 18)),
    "born": ("date", [date(1900, 2, 28), None, date(2024, 2, 29)], pl.Date),
    "seen": ("timestamp", [datetime(2020, 1, 2, 3, 4, 5, 678901), None, None], pl.Datetime("us")),
    "told": ("timestamptz", [datetime(2020, 1, 2, tzinfo=UTC), None, None],
             pl.Datetime("us", "UTC")),
    "hour": ("time", [time(23, 59), None, time(0)], pl.Time),
    "mood": ("mood", ["sad", "très bien", None], pl.String),
    "name": ("text", ["Zoë", "漢字 ' \" \\", ""], pl.String),
    "code": ("char(2)", ["ab", None, "cd"], pl.String),
    "key": ("uuid", ["00112233-4455-6677-8899-aabbccddeeff", None, None], pl.String),
    "yes": ("boolean", [True, False, None], pl.Boolean),
    "small": ("smallint", [-5, None, 32767], pl.Int16),
    "large": ("bigint", [2**62, None, -(2**62)], pl.Int64),
    "near": ("real", [0.5, None, 1e30], pl.Float32),
    "real": ("double precision", [0.1, None, float("nan")], pl.Float64),
    "raw": ("bytea", [b"\x00\xff", None, b""], pl.Binary),
}  # fmt: skip


def literal(value, kind):
    """A value as SQL spells it."""
    if value is None:
        return "NULL"
    text = f"\\x{value.hex()}" if isinstance(value, bytes) else str(value)
    return (
        "'"
        + text.replace("'", "''")
        + f"'::{kind.split()[0]}"
        + (" precision" if kind.startswith("double") else "")
    )


@pytest.fixture(scope="module")
def typed(postgresql):
    """A table with a column of each type."""
    columns = ", ".join(f'"{name}" {kind}' for name, (kind, _, _) in TYPES.items())
    rows = [
        "(" + ", ".join(literal(values[row], kind) for kind, values, _ in TYPES.values()) + ")"
        for row in (1, 0, 2)  # not in the order of the key
    ]
    postgresql.do(
        "CREATE TYPE mood AS ENUM ('sad', 'très bien')",
        f"CREATE TABLE typed ({columns})",
        f"INSERT INTO typed VALUES {', '.join(rows)}",
    )
    return postgresql


def rows_of(said):
    """All rows of a table."""
    source = from_database(said)
    return source.frame.collect()


def plain(frame):
    """A plan that lets everything pass."""
    return Plan(release="r", columns={name: {"role": "plain"} for name in frame.columns})


def test_every_type_comes_in(typed):
    """Values and types, in the order of the primary key."""
    frame = rows_of(typed.at("typed"))
    assert frame.schema == {name: dtype for name, (_, _, dtype) in TYPES.items()}
    for name, (_, values, dtype) in TYPES.items():
        assert frame[name].equals(pl.Series(name, values, dtype=dtype), null_equal=True), name


def test_every_type_goes_back(typed):
    """A release is a table again, its manifest beside it; what comes in from it is the same."""
    frame = rows_of(typed.at("typed"))
    release = protect(typed.at("typed"), plain(frame), KEY)
    assert release.data.equals(frame, null_equal=True)
    assert release.write(typed.at("public.typed_out")) is None
    source = from_database(typed.at('SELECT * FROM typed_out ORDER BY "id"'))
    again = source.frame.collect()
    for name in TYPES:
        column = again[name].cast(frame.schema[name])
        assert column.equals(frame[name], null_equal=True), name
    told = typed.do("SELECT manifest FROM typed_out_manifest")[0][0]
    manifest = Manifest.model_validate_json(told)
    assert manifest == release.manifest
    assert (manifest.rows, manifest.data) == (3, None)
    assert SECRET not in told
    assert "127.0.0.1" not in told


def test_a_database_and_a_file_give_the_same_release(postgresql, tmp_path):
    """The same rows and the same key: the same bytes."""
    postgresql.do(
        "CREATE TABLE people (id int PRIMARY KEY, smoker text, income int)",
        "INSERT INTO people SELECT i, CASE WHEN i % 3 = 0 THEN 'yes' ELSE 'no' END, i * 7 % 100 "
        "FROM generate_series(100, 1, -1) i",
    )
    income = {"role": "key", "kind": "numeric", "how": "permute", "matrix": "blocks", "k": 5}
    asked = Plan(
        release="r", columns={"id": {"role": "identifier"}, "smoker": SMOKER, "income": income}
    )
    frame = rows_of(postgresql.at("people"))
    assert frame["id"].to_list() == list(range(1, 101))
    frame.write_parquet(tmp_path / "people.parquet")
    release = protect(postgresql.at("people"), asked, KEY)
    folders = [
        release.write(tmp_path / "a"),
        protect(tmp_path / "people.parquet", asked, KEY).write(tmp_path / "b"),
    ]  # fmt: skip
    assert folders[0].joinpath("data.parquet").read_bytes() == (
        folders[1].joinpath("data.parquet").read_bytes()
    )
    source = opened(postgresql.at("SELECT * FROM people WHERE (id > 50) ORDER BY id"), asked)
    assert source.frame.collect()["id"].min() == 51
    release.write(postgresql.at("people_out"))
    counted = estimate(postgresql.at("people_out"), columns=["smoker"])
    assert counted.equals(estimate(folders[0], columns=["smoker"]))
    judged = evaluate(postgresql.at("people"), tmp_path / "people.parquet")
    assert judged.protection("income", 1.0) == evaluate(frame, frame).protection("income", 1.0)
    told = inspect(postgresql.at("people"))
    assert "[columns.smoker]" in told
    assert 'release = "people"' in told


def test_rows_without_an_order_need_an_id(postgresql):
    """No key, no ORDER BY: only permanent answers are the same next time."""
    postgresql.do(
        "CREATE TABLE loose (person text, smoker text)", "INSERT INTO loose VALUES ('u', 'no')"
    )
    columns = {"person": {"role": "plain"}, "smoker": SMOKER}
    for asked in ("loose", "SELECT * FROM (SELECT * FROM loose ORDER BY person) AS ordered",
                  "SELECT person, smoker, 'order by' FROM loose -- ORDER BY 1"):  # fmt: skip
        with pytest.raises(TableError, match="no fixed order"):
            protect(postgresql.at(asked), Plan(release="r", columns=columns), KEY)
    named = Plan(release="r", records="person", columns=columns)
    assert protect(postgresql.at("loose"), named, KEY).data["person"].to_list() == ["u"]
    assert "[columns.smoker]" in inspect(postgresql.at("loose"))


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("ARRAY[1, 2]", "holds arrays"),
        ("'1 day'::interval", "of type month_day_nano_interval"),
        ("'10.0.0.1'::inet", "of type inet"),
        ("'NaN'::numeric", "no finite number in 1 cells"),
        ("repeat('9', 40)::numeric", "more than 38 digits"),
    ],
)
def test_what_no_table_holds_is_refused_with_a_reason(column, told, postgresql):
    """The column, what it holds and what to do; no value."""
    with pytest.raises(TableError, match=told) as caught:
        from_database(postgresql.at(f"SELECT {column} AS odd ORDER BY 1"))
    assert "'odd'" in str(caught.value)
    assert "query" in str(caught.value)
    assert "999" not in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("nowhere", "no such table"),
        ("nothing.people", "no such table"),
        ("SELECT no FROM pg_class ORDER BY 1", "no such column"),
        ("SELECT FROM WHERE ORDER BY 1", "no SQL it knows"),
        ("SELECT 'canary'::text::int AS x ORDER BY 1", "a cell does not fit"),
        ("SELECT 1 ORDER BY 1; DROP TABLE people", "more than one"),
        ("", "ends in # and the name of a table"),
    ],
)
def test_a_refusal_of_the_database_is_a_sentence_of_ours(asked, told, postgresql):
    """Neither its words, nor cells, nor the address."""
    with pytest.raises(TableError) as caught:
        from_database(postgresql.at(asked), records=None if "SELECT" in asked else "id")
    said = str(caught.value)
    assert told in said
    for secret in (SECRET, "127.0.0.1", "canary", "LINE 1", "libpq"):
        assert secret not in said


def test_credentials_come_from_the_usual_places_and_are_never_shown(
    postgresql, monkeypatch, tmp_path
):
    """The address, PGPASSWORD and a password file; a wrong one is refused without being told."""
    asked = "SELECT 1 AS one ORDER BY 1"
    with pytest.raises(TableError, match="refuses the login") as caught:
        from_database(postgresql.at(asked, password="wr0ng"))
    assert "wr0ng" not in str(caught.value)
    monkeypatch.setenv("PGPASSWORD", SECRET)
    assert rows_of(postgresql.at(asked, password="")).item() == 1
    monkeypatch.delenv("PGPASSWORD")
    secrets = tmp_path / "pgpass"
    secrets.write_text(f"127.0.0.1:{postgresql.port}:*:tester:{SECRET}\n", encoding="utf-8")
    secrets.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(secrets))
    assert rows_of(postgresql.at(asked, password="")).item() == 1
    assert SECRET not in repr(Database.of(postgresql.at("people")))
    assert SECRET not in repr(from_database(postgresql.at(asked)))
    nobody = f"postgresql://tester:{SECRET}@127.0.0.1:1/postgres#x"
    with pytest.raises(TableError, match="nobody answers") as caught:
        from_database(nobody)
    assert SECRET not in str(caught.value)
    missing = postgresql.at(asked).replace("/postgres#", "/elsewhere#")
    with pytest.raises(TableError, match="no such database"):
        from_database(missing)


def test_a_release_is_never_written_over(postgresql):
    """A table of that name, or a query, is no place for one."""
    frame = pl.LazyFrame({"x": [1]})
    postgresql.do("CREATE TABLE taken (x int)")
    with pytest.raises(ReleaseError, match="is there already"):
        published(postgresql.at("taken"), frame, "{}")
    with pytest.raises(ReleaseError, match="is no table"):
        published(postgresql.at("SELECT 1"), frame, "{}")
    with pytest.raises(ReleaseError, match="no such schema"):
        published(postgresql.at("nothing.here"), frame, "{}")


def tables(server):
    """The names of all tables."""
    asked = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'"
    return {row[0] for row in server.do(asked)}


def test_a_connection_that_is_lost_leaves_nothing(postgresql, monkeypatch):
    """Neither the table nor its manifest, whether the rows stop or the server does."""
    before = tables(postgresql)
    frame = pl.LazyFrame({"x": range(500_000)})
    whole = databases._batches

    def cut(given):
        reader = whole(given)

        def each():
            for place, batch in enumerate(reader):
                if place == 4:
                    postgresql.stop()
                yield batch

        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(reader.schema, each())

    monkeypatch.setattr(databases, "_batches", cut)
    with pytest.raises(ReleaseError, match="Nothing was published"):
        published(postgresql.at("lost"), frame, "{}")
    postgresql.start()
    assert tables(postgresql) == before
    monkeypatch.undo()
    monkeypatch.setattr(databases, "_beside", lambda manifest: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        published(postgresql.at("lost"), frame, "{}")
    assert tables(postgresql) == before
    monkeypatch.undo()
    assert published(postgresql.at("lost"), frame, "{}") == 500_000
    assert tables(postgresql) == before | {"lost", "lost_manifest"}


@pytest.mark.slow
def test_a_million_rows_each_way(postgresql):
    """In, masked and back: all of them, and what nobody touched is what it was."""
    rng = np.random.default_rng(1)
    n = 1_000_000
    frame = pl.DataFrame({
        "id": np.arange(n),
        "smoker": pl.Series(rng.choice(["no", "yes"], n)),
        "weight": rng.random(n),
        "note": pl.Series([f"né {row % 97}" for row in range(n)]),
    })  # fmt: skip
    assert published(postgresql.at("many"), frame.lazy(), "{}") == n
    columns = {name: {"role": "plain"} for name in frame.columns} | {"smoker": SMOKER}
    asked = Plan(release="r", columns=columns)
    release = protect(postgresql.at("SELECT * FROM many ORDER BY id"), asked, KEY)
    release.write(postgresql.at("many_out"))
    back = rows_of(postgresql.at("SELECT * FROM many_out ORDER BY id"))
    assert back.equals(protect(frame, asked, KEY).data)


def test_sqlite_comes_in_and_goes_back(tmp_path, monkeypatch):
    """A file that holds tables; relative paths have three slashes, absolute ones four."""
    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("people.db") as base:
        base.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, smoker TEXT, spent REAL)")
        rows = [(3, "yes", 1.5), (1, "no", None), (2, None, 2.5)]
        base.executemany("INSERT INTO people VALUES (?, ?, ?)", rows)
        base.execute("CREATE TABLE loose (x TEXT)")
    base.close()
    columns = {"id": {"role": "plain"}, "smoker": SMOKER, "spent": {"role": "plain"}}
    asked = Plan(release="r", columns=columns)
    release = protect("sqlite:///people.db#people", asked, KEY)
    near = protect(
        pl.DataFrame({"id": [1, 2, 3], "smoker": ["no", None, "yes"], "spent": [None, 2.5, 1.5]}),
        asked, KEY,
    )  # fmt: skip
    assert release.data.equals(near.data)
    release.write(f"sqlite:///{tmp_path}/out.db#people")
    with sqlite3.connect("out.db") as base:
        found = base.execute("SELECT * FROM people ORDER BY id").fetchall()
        (told,) = base.execute("SELECT manifest FROM people_manifest").fetchone()
    base.close()
    assert found == near.data.rows()
    assert Manifest.model_validate_json(told).rows == 3
    with pytest.raises(TableError, match="no fixed order"):
        from_database("sqlite:///people.db#loose")
    with pytest.raises(TableError, match="no such table"):
        from_database("sqlite:///people.db#nowhere", records="id")
    with pytest.raises(TableError, match="There is no file"):
        from_database("sqlite:///nowhere.db#people")
    with pytest.raises(ReleaseError, match="There is no folder"):
        release.write("sqlite:///nowhere/out.db#people")
    with pytest.raises(ReleaseError, match="is there already"):
        release.write("sqlite:///out.db#people")


def test_without_drivers_a_sentence_says_what_to_install(monkeypatch):
    """Everything else works; who asks for a database is told."""
    import builtins

    real = builtins.__import__

    def without(name, *more, **named):
        if name.startswith("adbc"):
            raise ImportError(name)
        return real(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(TableError, match=r'pip install "bistochastic\[sql\]"'):
        from_database("postgresql://host/db#people")
