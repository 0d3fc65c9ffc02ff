"""The way of a row: what goes in comes out masked, of the same kind, and nothing else does."""

import gzip
import json
import os
import subprocess
import sys
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bistochastic.errors import DomainError, PlanError, TableError
from bistochastic.plan.plan import Plan
from bistochastic.run import protect
from tests.surveys import KEY, KINDS, plan, survey

CHANGED = ("sex", "age", "member", "smoker", "region", "income", "spend", "hours")


def loose(frame):
    """A frame without what kinds of frames cannot hold: widths, and how nothing is said."""
    return frame.select(
        pl.col(name).cast(pl.String if dtype == pl.Enum or dtype == pl.Categorical else dtype)
        if not dtype.is_numeric()
        else pl.col(name).cast(pl.Float64).fill_nan(None)
        for name, dtype in frame.schema.items()
    )


@pytest.fixture(scope="module")
def masked():
    """The survey, masked."""
    return protect(survey(), plan(), KEY).data


def test_types_order_and_categories_survive(masked):
    """Only identifiers go and pseudonyms and averages change their type."""
    before = survey().drop("id")
    assert masked.columns == before.columns
    kept = {name: dtype for name, dtype in before.schema.items() if name != "household"}
    assert {name: masked.schema[name] for name in kept} == kept
    assert masked.height == before.height
    for name in CHANGED:
        assert not masked[name].equals(before[name])
    for name in ("income_before", "weight"):
        assert masked[name].equals(before[name])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_comes_out_as_it_came_in(kind, masked):
    """And with the very same values."""
    there, back = KINDS[kind]
    given = there(survey())
    out = protect(given, plan(), KEY).data
    assert type(out) is type(given)
    assert loose(back(out)).equals(loose(masked))


def test_pandas_keeps_its_index_and_types():
    """An index of labels, integers, and categories."""
    frame = survey(50).select("age", "region").to_pandas()
    frame.index = pd.Index([f"row {row}" for row in range(50)], name="who")
    said = plan().dump()
    columns = {name: said["columns"][name] for name in ("age", "region")}
    columns["region"] |= {"matrix": "secrecy"}
    out = protect(frame, Plan(release="r", columns=columns), KEY).data
    assert out.index.equals(frame.index)
    assert (out.dtypes == frame.dtypes).all()


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "csv.gz", "csv.zst"])
def test_every_kind_of_file_comes_out_as_it_went_in(ending, tmp_path, masked):
    """The same values whatever the format, and the same bytes each time."""
    frame, path = survey(), tmp_path / f"in.{ending}"
    texts = frame.with_columns(pl.col("region").cast(pl.String))
    if ending == "parquet":
        frame.write_parquet(path)
    elif ending == "arrow":
        frame.write_ipc(path)
    else:
        packed = {"csv": "uncompressed", "csv.gz": "gzip", "csv.zst": "zstd"}[ending]
        texts.lazy().sink_csv(path, compression=packed)
    folders = [protect(path, plan(), KEY).write(tmp_path / name) for name in ("one", "two")]
    files = [{entry.name: entry.read_bytes() for entry in f.iterdir()} for f in folders]
    assert files[0] == files[1]
    assert sorted(files[0]) == [f"data.{ending}", "manifest.json"]
    written = folders[0] / f"data.{ending}"
    if ending == "parquet":
        found = pl.read_parquet(written)
    elif ending == "arrow":
        found = pl.read_ipc(written)
    else:
        types = dict(texts.drop("id").cast({"household": pl.String}).schema)
        found = pl.scan_csv(written, schema=types).collect()
    if ending.startswith("csv"):  # a text names a household by its spelling, a number by itself
        assert loose(found.drop("household")).equals(loose(masked.drop("household")))
    else:
        assert loose(found).equals(loose(masked))


def test_untouched_texts_are_not_touched(tmp_path):
    """Leading zeros, decimals, quotes, line breaks and empty texts pass as they are written."""
    text = 'a,b,c\n007,"x, ""y""",no\n1.50,"two\nlines",yes\n,"",no\n'
    (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    columns = {
        "a": {"role": "plain"},
        "b": {"role": "plain"},
        "c": {"role": "key", "kind": "nominal", "domain": ["no", "yes"], "matrix": "mixture",
              "truth": 1.0, "missing": "refuse"},
    }  # fmt: skip
    protect(tmp_path / "in.csv", Plan(release="r", columns=columns)).write(tmp_path / "out")
    assert (tmp_path / "out" / "data.csv").read_text(encoding="utf-8") == text


def test_numbers_in_texts_move_as_they_are_written(tmp_path):
    """Permuting a text file keeps every spelling; huge whole numbers too."""
    numbers = ["1.50", "2", "003", "1e3", "99999999999999999999", "-7", ""]
    (tmp_path / "in.csv").write_text("x\n" + "\n".join(numbers) + "\n", encoding="utf-8")
    said = {"role": "confidential", "kind": "numeric", "how": "permute", "matrix": "secrecy"}
    release = protect(tmp_path / "in.csv", Plan(release="r", columns={"x": said}), KEY)
    out = release.data["x"].to_list()
    assert out[-1] is None
    assert sorted(out[:-1]) == sorted(numbers[:-1])


def test_dates_are_numbers_and_labels():
    """A date can be permuted by time, and can be a category."""
    days = [date(2026, 1, day) for day in range(1, 31)]
    columns = {
        "when": {"role": "confidential", "kind": "numeric", "how": "permute", "matrix": "blocks",
                 "k": 5},
        "day": {"role": "key", "kind": "nominal", "domain": days[:3], "missing": "refuse",
                "matrix": "secrecy"},
    }  # fmt: skip
    frame = pl.DataFrame({"when": days, "day": days[:3] * 10})
    out = protect(frame, Plan(release="r", columns=columns), KEY).data
    assert out.schema == frame.schema
    assert sorted(out["when"]) == days
    assert max(abs((b - a).days) for a, b in zip(days, out["when"], strict=True)) <= 4


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_bytes_do_not_depend_on_batches_or_threads(ending, tmp_path):
    """One key, one folder: for batches of any size and any number of threads."""
    frame = survey(30_000).with_columns(pl.col("region").cast(pl.String))
    path = tmp_path / f"in.{ending}"
    frame.write_parquet(path, row_group_size=7001) if ending == "parquet" else frame.write_csv(path)
    program = (
        "import sys, polars as pl; from tests.surveys import KEY, plan;"
        "from bistochastic.run import protect;"
        "pl.Config.set_streaming_chunk_size(int(sys.argv[3]));"
        "protect(sys.argv[1], plan(), KEY).write(sys.argv[2])"
    )
    found = []
    for place, (threads, batch) in enumerate([(1, 1000), (2, 100_000), (4, 317)]):
        out = tmp_path / f"out{place}"
        subprocess.run(
            [sys.executable, "-c", program, str(path), str(out), str(batch)],
            check=True, env=os.environ | {"POLARS_MAX_THREADS": str(threads)},
        )  # fmt: skip
        found.append({entry.name: entry.read_bytes() for entry in out.iterdir()})
    assert found[0] == found[1] == found[2]


def test_rows_shuffled_permanent_answers_stay():
    """Addressed by a record id, the same person with the same truth has the same answer."""
    said = plan().dump()
    names = ("id", "household", "sex", "age", "smoker", "region")
    said["columns"] = {name: said["columns"][name] for name in names}
    permanent = Plan(**said, records="id")
    frame = survey().select(names)
    one = frame.select("id").hstack(protect(frame, permanent, KEY).data)
    mixed = frame.sample(fraction=1.0, shuffle=True, seed=5)
    two = mixed.select("id").hstack(protect(mixed, permanent, KEY).data)
    assert one.sort("id").equals(two.sort("id"))
    other = protect(frame, Plan(**(said | {"release": "next"}), records="id"), KEY).data
    assert not other["sex"].equals(one["sex"])
    missing = frame.with_columns(pl.lit(None, dtype=pl.String).alias("id"))
    with pytest.raises(TableError, match="1000 cells without a record id, rows 1, 2, 3, 4, 5, …"):
        _ = protect(missing, permanent, KEY).data


def test_pseudonyms_connect_what_was_connected():
    """One for each household, none alike, none for a missing one, others in another release."""
    frame = survey().with_columns(
        pl.when(pl.col("household") == 7)
        .then(None)
        .otherwise(pl.col("household"))
        .alias("household")
    )
    out = protect(frame, plan(), KEY).data
    pairs = pl.DataFrame({"before": frame["household"], "after": out["household"]}).unique()
    assert pairs["before"].n_unique() == pairs["after"].n_unique() == pairs.height
    assert pairs.filter(pl.col("before").is_null())["after"].to_list() == [None]
    other = protect(frame, plan(release="next"), KEY).data["household"]
    assert set(other.drop_nulls()) & set(out["household"].drop_nulls()) == set()
    assert all(len(name) == 26 for name in out["household"].drop_nulls())


def test_missing_values_follow_their_rule():
    """A category moves, what is kept stays where it was, and numbers keep their gaps."""
    frame, out = survey(), protect(survey(), plan(), KEY).data
    assert out["member"].is_null().equals(frame["member"].is_null())
    assert out["income"].is_null().equals(frame["income"].is_null())
    assert not out["sex"].is_null().equals(frame["sex"].is_null())
    assert out["sex"].null_count() > 0


def test_margins_and_means_hold():
    """Permuted values are all there, averages keep the sum, draws come from what was there."""
    frame, out = survey(), protect(survey(), plan(), KEY).data
    assert out["income"].sort().equals(frame["income"].sort())
    assert out["spend"].sum() == pytest.approx(frame["spend"].sum())
    assert set(out["hours"]) <= set(frame["hours"])


def test_averages_follow_the_column_that_orders_them():
    """Groups of five neighbours by another column, each published as its mean."""
    frame, out = survey(), protect(survey(), plan(), KEY).data
    together = frame.select("income_before", before="spend").hstack([out["spend"]])
    groups = together.sort("income_before", maintain_order=True).with_columns(
        group=pl.int_range(pl.len()) // 5
    )
    means = groups.group_by("group").agg(pl.col("before").mean(), pl.col("spend").first())
    np.testing.assert_allclose(means["before"], means["spend"])


def test_reports_have_the_law_of_the_matrix():
    """Of 40,000 rows, within five standard errors under a fixed key (false alarms below 1e-6)."""
    n = 40_000
    said = {"role": "key", "kind": "nominal", "domain": ["a", "b", "c"], "missing": "refuse"}
    array = [[0.6, 0.3, 0.1], [0.0, 0.5, 0.5], [0.2, 0.0, 0.8]]
    columns = {"x": said | {"matrix": "stochastic", "array": array}}
    for place, label in enumerate("abc"):
        frame = pl.DataFrame({"x": [label] * n})
        out = protect(frame, Plan(release=label, columns=columns), KEY).data["x"]
        shares = np.array([(out == other).mean() for other in "abc"])
        p = np.array(array[place])
        assert (np.abs(shares - p) <= 5 * np.sqrt(p * (1 - p) / n)).all()


NASTY = {
    "header only": "a,x\n",
    "one row": "a,x\nno,1\n",
    "unicode": "a,x\nno,1\nyes,2\nno,3\n",
}


@pytest.mark.parametrize("name", NASTY)
def test_small_files(name, tmp_path):
    """No row and one row are tables like any other."""
    columns = {
        "ä b" if name == "unicode" else "a": {
            "role": "key", "kind": "nominal", "domain": ["no", "yes"], "matrix": "secrecy",
        },
        "x": {"role": "confidential", "kind": "numeric", "how": "permute", "matrix": "secrecy"},
    }  # fmt: skip
    text = NASTY[name].replace("a,", "ä b,") if name == "unicode" else NASTY[name]
    (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    release = protect(tmp_path / "in.csv", Plan(release="ü", columns=columns), KEY)
    release.write(tmp_path / "out")
    rows = text.count("\n") - 1
    assert release.manifest.rows == rows
    assert pl.read_csv(tmp_path / "out" / "data.csv").height == rows


REFUSALS = {
    "empty file": ("in.csv", b"", "'in.csv' is empty: not even a header"),
    "blank file": ("in.csv", b"  \n", "'in.csv' is empty"),
    "twice the same name": (
        "in.csv",
        b"a,a,b,b\n1,2,3,4\n",
        "2 column names stand twice, first 'a'",
    ),
    "no name": ("in.csv", b"a,\n1,2\n", "column 2 has no name"),
    "other delimiter": ("in.csv", b"a;x\nno;1\n", "one column when split at ',', and ';'"),
    "too many fields": ("in.csv", b"a,x\nno,1,canary\n", "a row has more fields than the header"),
    "latin header": ("in.csv", "ä,x\n".encode("latin1"), "is not UTF-8. Convert it first"),
    "latin cell": ("in.csv", b"a,x\n" + b"no,1\n" * 300_000 + b"n\xf6,1\n", "is not UTF-8"),
    "no gzip": ("in.csv.gz", b"a,x\nno,1\n", "cannot be unpacked as gzip"),
    "no parquet": ("in.parquet", b"canary", "cannot be read: it is damaged"),
    "no arrow": ("in.arrow", b"canary", "cannot be read: it is damaged"),
    "unknown format": ("in.xlsx", b"canary", "has no known format. Name it .csv"),
    "missing column": ("in.csv", b"x\n1\n", "1 columns that 'in.csv' does not have: 'a'"),
    "strange column": (
        "in.csv",
        b"a,x,who\nno,1,2\n",
        "1 columns that the plan does not name: 'who'",
    ),
    "unseen": (
        "in.csv",
        b"a,x\nno,1\ncanary,2\nno,3\ncanary,4\n",
        "Column 'a': 2 cells outside the declared domain, rows 2, 4",
    ),
    "not a number": (
        "in.csv",
        b"a,x\nno,1\nno,canary\n",
        "'x': 1 cell that cannot be read as a number, row 2",
    ),
    "infinite": ("in.csv", b"a,x\nno,1\nno,inf\n", "'x': 1 cell with an infinite number, row 2"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_of_files(name, tmp_path):
    """One sentence each, before anything is written, without a value."""
    file, content, words = REFUSALS[name]
    path = tmp_path / file
    path.write_bytes(content)
    columns = {
        "a": {"role": "key", "kind": "nominal", "domain": ["no", "yes"], "matrix": "secrecy"},
        "x": {"role": "confidential", "kind": "numeric", "how": "permute", "matrix": "secrecy"},
    }
    with pytest.raises(TableError, match=words) as refusal:
        protect(path, Plan(release="r", columns=columns), KEY).write(tmp_path / "out")
    assert "canary" not in str(refusal.value)
    assert [entry.name for entry in tmp_path.iterdir()] == [file]


def test_there_is_no_file_or_it_is_a_folder(tmp_path):
    """Both are said."""
    for path, words in ((tmp_path / "none.csv", "There is no file"), (tmp_path, "is a folder")):
        with pytest.raises(TableError, match=words):
            protect(path, plan(), KEY)


FRAMES = {
    "texts for numbers": (["no", "yes"], [0, 1], "is of type String, but its domain"),
    "numbers for texts": ([0, 1], ["no", "yes"], "is of type Int64, but its domain"),
    "too narrow": (pl.Series([0, 1], dtype=pl.Int8), [0, 300], "is of type Int8, but its domain"),
    "lists": ([[0], [1]], ["no", "yes"], "of type List.Int64., which has no categories"),
    "outside an enum": (
        pl.Series(["no", "no"], dtype=pl.Enum(["no"])),
        ["no", "yes"],
        "but its domain in the plan holds str that do not fit",
    ),
}


@pytest.mark.parametrize("name", FRAMES)
def test_refusals_of_frames(name):
    """A domain that a column cannot hold is told before any row is read."""
    values, domain, words = FRAMES[name]
    said = {"role": "key", "kind": "nominal", "domain": domain, "matrix": "secrecy"}
    with pytest.raises(TableError, match=words):
        protect(pl.DataFrame({"a": values}), Plan(release="r", columns={"a": said}), KEY)


def test_what_is_no_table_is_refused():
    """And what can be given instead is said."""
    with pytest.raises(TableError, match="A dict is no table this can read"):
        protect({"a": [1]}, plan(), KEY)


def test_other_takes_what_is_unseen():
    """Only what the plan declares, and only as an answer of the channel."""
    said = {"role": "key", "kind": "nominal", "domain": ["no", "yes", "rest"], "missing": "refuse",
            "matrix": "mixture", "truth": 1.0, "other": "rest"}  # fmt: skip
    frame = pl.DataFrame({"a": ["no", "what", "yes", None]})
    chosen = Plan(release="r", columns={"a": said})
    assert protect(frame.head(3), chosen, KEY).data["a"].to_list() == ["no", "rest", "yes"]
    with pytest.raises(DomainError, match="'a': 1 cell missing, which the plan refuses, row 4"):
        _ = protect(frame, chosen, KEY).data


def test_nan_is_missing():
    """In a column of floats that are categories, as in one of numbers."""
    frame = pl.DataFrame({"a": [0.5, float("nan"), None], "x": [1.0, float("nan"), None]})
    columns = {
        "a": {"role": "key", "kind": "nominal", "domain": [0.5, 1.5], "missing": "keep",
              "matrix": "secrecy"},
        "x": {"role": "confidential", "kind": "numeric", "how": "permute", "matrix": "secrecy"},
    }  # fmt: skip
    out = protect(frame, Plan(release="r", columns=columns), KEY).data
    assert out["a"].is_null().to_list() == [False, True, True]
    assert out["x"][0] == 1
    assert np.isnan(out["x"][1])
    assert out["x"][2] is None


def test_a_million_categories():
    """A domain of that size takes a moment, not a matrix."""
    labels = [f"label {place}" for place in range(1_000_000)]
    said = {
        "role": "key",
        "kind": "nominal",
        "domain": labels,
        "matrix": "mixture",
        "epsilon": 10.0,
    }
    frame = pl.DataFrame({"a": labels[::1000]})
    out = protect(frame, Plan(release="r", columns={"a": said}), KEY).data
    assert 0 < (out["a"] == frame["a"]).sum() < 1000


def test_an_average_that_tells_values_is_refused_at_its_place():
    """A block of one publishes a value; whoever insists by name may."""
    said = {"role": "confidential", "kind": "numeric", "how": "average", "matrix": "blocks",
            "sizes": [2, 1]}  # fmt: skip
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0]})
    with pytest.raises(PlanError, match=r"columns\.x: .*determines 1 of 3 values"):
        protect(frame, Plan(release="r", columns={"x": said}), KEY)
    kept = protect(frame, Plan(release="r", columns={"x": said | {"insist": True}}), KEY).data
    assert kept["x"].to_list() == [1.5, 1.5, 3.0]


def test_a_missing_order_is_refused():
    """The column that orders must be there for everybody who has a value."""
    frame = survey(20).with_columns(pl.lit(None, dtype=pl.Int64).alias("income_before"))
    with pytest.raises(TableError, match="'income_before' orders the individuals of 'spend'"):
        protect(frame, plan(), KEY)


def test_a_fresh_key_is_fresh():
    """Without a key two releases differ, and the manifest tells none."""
    one, two = (protect(survey(), plan()).data for _ in range(2))
    assert not one.equals(two)


def test_the_manifest_tells_what_was_done_and_no_secret(tmp_path):
    """Matrices can be rebuilt from it, and neither key nor identifiers are in it."""
    release = protect(survey(), plan(), KEY)
    release.write(tmp_path / "out")
    text = (tmp_path / "out" / "manifest.json").read_text(encoding="utf-8")
    told = json.loads(text)
    assert told["rows"] == 1000
    assert release.manifest.channel("sex").truthfulness.mean < 1
    assert release.manifest.column("income").individuals == survey()["income"].count()
    assert KEY.secret().hex() not in text
    assert "p17" not in text
    assert [column["treatment"] for column in told["columns"]] == [
        "dropped", "pseudonyms", "randomised", "randomised", "randomised", "together", "together",
        "permuted", "averaged", "untouched", "drawn", "untouched",
    ]  # fmt: skip


def test_the_same_guarantee_was_told_before():
    """What `explain` says of categories without data is what the manifest says after."""
    told, done = plan().explain(), protect(survey(), plan(), KEY).manifest
    assert done.totals == told.totals
    for before, after in zip(told.columns, done.columns, strict=True):
        if before.treatment == "randomised":
            assert before == after


def test_a_gzip_is_a_gzip(tmp_path):
    """What is called .csv.gz can be unpacked by everybody."""
    (tmp_path / "in.csv").write_text("a\nno\n", encoding="utf-8")
    with gzip.open(tmp_path / "in.csv.gz", "wb") as file:
        file.write(b"a\nno\n")
    said = {"role": "key", "kind": "nominal", "domain": ["no", "yes"], "matrix": "secrecy"}
    out = protect(tmp_path / "in.csv.gz", Plan(release="r", columns={"a": said}), KEY)
    out.write(tmp_path / "out")
    packed = (tmp_path / "out" / "data.csv.gz").read_bytes()
    assert gzip.decompress(packed).startswith(b"a\n")
