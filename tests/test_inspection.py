"""A proposal says what it guesses and why, is a plan, and that plan protects the very file."""

import re
import tempfile
import tomllib
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import polars as pl
import polars.selectors as cs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bistochastic.errors import TableError
from bistochastic.inspection import inspect
from bistochastic.plan.plan import Plan
from bistochastic.population import people
from bistochastic.proposal import in_order
from bistochastic.run import protect
from bistochastic.tables.sources import from_file
from tests.surveys import KEY, survey

ENDINGS = ["csv", "csv.gz", "csv.zst", "parquet", "arrow"]
PACKED = {".csv": "uncompressed", ".csv.gz": "gzip", ".csv.zst": "zstd"}


def put(frame, path):
    """The frame in a file of the format its name says."""
    if path.name.endswith("parquet"):
        frame.write_parquet(path)
    elif path.name.endswith("arrow"):
        frame.write_ipc(path)
    else:
        frame.lazy().sink_csv(path, compression=PACKED["".join(path.suffixes)])
    return path


def proposed(tmp_path, ending="parquet", **columns):
    """The proposal for a frame with these columns, in a file."""
    return inspect(put(pl.DataFrame(columns), tmp_path / f"in.{ending}"))


def lines_of(text, name):
    """The lines that a proposal has on one column."""
    return text.partition(f"[columns.{name}]\n")[2].partition("\n\n")[0]


def taken(path, out):
    """The plan proposed for a file, after it has protected that file."""
    plan = Plan.from_text(inspect(path))
    release = protect(path, plan, KEY)
    release.write(out)
    return plan, release


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("given_", ["people", "survey"])
def test_a_proposal_protects_its_file(given_, ending, tmp_path):
    """Whatever the format, the proposal is read, checked and carried out as it is."""
    frame = people() if given_ == "people" else survey()
    plan, release = taken(put(frame, tmp_path / f"in.{ending}"), tmp_path / "out")
    assert list(plan.columns) == frame.columns
    assert release.manifest.rows == frame.height
    assert plan.said.rows == frame.height


def test_it_is_told_that_the_proposal_is_confidential(tmp_path):
    """Before anything else, because its domains are read off the data."""
    text = proposed(tmp_path, a=["x", "y"])
    assert text.startswith("# Proposed from the file; read every line before you believe it.")
    assert "# Confidential, as the file is: domains below hold labels" in text
    assert "learnt = true" in lines_of(text, "a")


ROLES = {
    "household_weights": ([25.5, 16.6], 'role = "weight"  # guessed from its name'),
    "sampling_weight": ([1, 2], 'role = "weight"  # guessed from its name'),
    "weight": (["light", "heavy"], 'role = "confidential"'),
    "household": ([1, 1], 'role = "household"  # guessed from its name'),
    "sex": ([1, 2], 'role = "key"  # guessed: by its name'),
    "illness": ([1, 2], 'role = "confidential"  # guessed: by its name'),
    "nobody": ([None, None], 'role = "plain"  # guessed: nothing stands in it'),
    "lists": ([[1], [2]], 'role = "identifier"  # guessed: its type has no categories'),
    "structures": ([{"a": 1}, None], 'role = "identifier"  # guessed: its type'),
    "bytes": ([b"1", b"2"], 'role = "identifier"  # guessed: its type has no categories'),
    "endless": ([1.0, float("inf")], 'role = "identifier"  # guessed: no list of labels'),
}


@pytest.mark.parametrize("name", ROLES)
def test_roles(name, tmp_path):
    """What a column is guessed to be, and that it is guessed."""
    values, words = ROLES[name]
    assert words in lines_of(proposed(tmp_path, **{name: values, "other": ["a", "b"]}), name)


def test_who_has_a_value_of_his_own_is_dropped(tmp_path):
    """Texts by their number, numbers only if their name says so."""
    texts, numbers = [f"p{row}" for row in range(50)], [7 * row for row in range(50)]
    text = proposed(tmp_path, who=texts, person_id=numbers, spent=numbers, other=texts)
    assert 'role = "identifier"  # guessed: nearly every row' in lines_of(text, "who")
    assert 'role = "identifier"  # guessed: nearly every row' in lines_of(text, "person_id")
    assert 'how = "permute"' in lines_of(text, "spent")


KINDS = {
    "texts": ("a", ["z", "x", "y"], "nominal", ["x", "y", "z"], "if labels have an order"),
    "texts of a name": (
        "education", ["low", "mid", "high"], "nominal", ["high", "low", "mid"], "suggests an order",
    ),
    "begun by numbers": (
        "a", ["25-34", "<5", "75+", "5-24"], "ordinal", ["<5", "5-24", "25-34", "75+"],
        "begin with numbers that order them",
    ),
    "begun by like numbers": ("a", ["1 a", "1 b", "2"], "nominal", ["1 a", "1 b", "2"], ""),
    "partly begun": ("a", ["1-2", "3-4", "none"], "nominal", ["1-2", "3-4", "none"], ""),
    "two of them": ("a", ["<=50", ">50"], "nominal", ["<=50", ">50"], ""),
    "months": (
        "a", ["2026-02", "2025-12", "2026-01"], "ordinal", ["2025-12", "2026-01", "2026-02"],
        "its labels are dates",
    ),
    "codes": ("roof", [2, 9, 3], "nominal", [2, 3, 9], 'may be codes; say "ordinal" if they'),
    "codes in a row": ("water", [1, 2, 3], "nominal", {"first": 1, "last": 3}, "may be codes"),
    "ages": ("age", [3, 1, 0], "ordinal", {"first": 0, "last": 3}, "suggests an order"),
    "numbers of": ("number_of_rooms", [3, 1, 9], "ordinal", [1, 3, 9], "suggests an order"),
    "languages": ("language", [3, 1, 9], "nominal", [1, 3, 9], "may be codes"),
    "halves": ("a", [1.5, 0.5, 1.0], "ordinal", [0.5, 1.0, 1.5], "decimals have an order"),
    "Booleans": ("a", [True, False, True], "nominal", [False, True], ""),
    "one label": ("a", ["x", "x", "x"], "nominal", ["x"], "list the others there could be"),
}  # fmt: skip


@pytest.mark.parametrize("case", KINDS)
def test_kinds(case, tmp_path):
    """An order is proposed only where numbers or a name tell of one, and the reason is given."""
    name, values, kind, domain, words = KINDS[case]
    text = proposed(tmp_path, **{name: values})
    said = tomllib.loads(text)["columns"][name]
    assert said["kind"] == kind
    assert said["domain"] == domain
    assert said["matrix"] == ("optimal" if kind == "ordinal" else "mixture")
    assert words in lines_of(text, name)


@pytest.mark.parametrize(
    "values",
    [
        [date(2026, 1, 1), date(2026, 1, 2), None],
        [datetime(2026, 1, 1), datetime(2026, 1, 2), None],
        [time(1), time(2), None],
        [timedelta(1), timedelta(2), None],
        [Decimal("1.5"), Decimal("2.5"), None],
        [1 << 63, (1 << 63) + 1, None],
    ],
)
def test_moments_and_numbers_beyond_a_list_are_permuted(values, tmp_path):
    """Dates, times, decimals, and whole numbers that TOML cannot write."""
    typed = pl.Series(values, dtype=pl.UInt64) if values[0] == 1 << 63 else values
    said = tomllib.loads(proposed(tmp_path, a=typed))["columns"]["a"]
    assert said["kind"] == "numeric"
    assert (said["how"], said["k"]) == ("permute", 2)


def test_an_enum_keeps_its_order(tmp_path):
    """And labels that nobody has are not in the list."""
    values = pl.Series(["mid", "low", "low"], dtype=pl.Enum(["low", "mid", "high"]))
    assert tomllib.loads(proposed(tmp_path, a=values))["columns"]["a"]["domain"] == ["low", "mid"]


def test_texts_that_stand_for_nothing_are_found(tmp_path):
    """As they are spelled, with their spaces, but only where numbers stand around them."""
    path = tmp_path / "in.csv"
    rows = "".join(f"{row},x\n" for row in range(40))
    path.write_text("a,b\n NA,?\n ,x\nnull,x\n" + rows, encoding="utf-8")
    text = inspect(path)
    assert tomllib.loads(text)["file"]["missing"] == ["", " ", " NA", "null"]
    assert "guessed: they stand among numbers" in text
    assert "41 distinct" not in lines_of(text, "a")
    _, release = taken(path, tmp_path / "out")
    assert release.manifest.column("a").individuals == 40


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_the_delimiter_is_guessed(mark, tmp_path):
    """From the header, and written into the plan; or it is given."""
    path = tmp_path / "in.csv"
    path.write_text(f"a{mark}b\nx{mark}1\ny{mark}2\n", encoding="utf-8")
    for text in (inspect(path), inspect(path, delimiter=mark)):
        assert tomllib.loads(text)["file"]["delimiter"] == mark
        assert list(tomllib.loads(text)["columns"]) == ["a", "b"]
    assert "# guessed from the header" in inspect(path)
    taken(path, tmp_path / "out")


def test_a_file_of_identifiers_leaves_something(tmp_path):
    """Where everything would be dropped, the first column becomes pseudonyms."""
    path = put(pl.DataFrame({"who": [f"p{row}" for row in range(40)]}), tmp_path / "in.csv")
    _, release = taken(path, tmp_path / "out")
    assert release.data.height == 40
    assert "p1" not in set(release.data["who"])


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_a_few_rows_or_none(rows, ending, tmp_path):
    """No row and one row are tables like any other; a single label is never published bare."""
    frame = survey(40).head(rows)
    frame = frame.with_columns(pl.col("region").cast(pl.String))
    _, release = taken(put(frame, tmp_path / f"in.{ending}"), tmp_path / "out")
    assert release.manifest.rows == rows
    if rows:
        assert release.manifest.column("smoker").treatment == "randomised"


def test_a_file_without_columns_and_a_hidden_one(tmp_path):
    """The first is refused; the second names a release all the same."""
    with pytest.raises(TableError, match="has no column, so there is nothing to plan"):
        inspect(put(pl.DataFrame(), tmp_path / "in.parquet"))
    path = put(pl.DataFrame({"a": ["x"]}), tmp_path / ".hidden.csv")
    assert tomllib.loads(inspect(path))["release"] == "hidden"


def test_a_damaged_file_is_refused(tmp_path):
    """With the same sentence as everywhere."""
    path = tmp_path / "in.parquet"
    path.write_bytes(b"canary")
    with pytest.raises(TableError, match="it is damaged") as refusal:
        inspect(path)
    assert "canary" not in str(refusal.value)
    with pytest.raises(TableError, match="There is no file"):
        inspect(tmp_path / "none.csv")


def test_labels_sorted_by_their_numbers():
    """With signs in words and symbols, thousands and decimals; or not at all."""
    assert in_order(["up to 1,000", "1,000-2,000", "over 2,000"]) == [
        "up to 1,000", "1,000-2,000", "over 2,000",
    ]  # fmt: skip
    assert in_order(["≥2.5", "≤ -1", "0.5"]) == ["≤ -1", "0.5", "≥2.5"]
    assert in_order(["1", "one"]) is None
    assert in_order(["<1", "< 1"]) is None


@pytest.mark.parametrize("name", ["age", "workclass", "nationality", "wage", "language", "image"])
def test_names_are_read_by_their_words(name, tmp_path):
    """An age is ordered; a wage, a language and an image only look like one."""
    said = tomllib.loads(proposed(tmp_path, **{name: [1, 3, 9]}))["columns"][name]
    assert (said["kind"] == "ordinal") == (name == "age")


NASTY = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs"], exclude_characters="\0"), max_size=6
)
TEXTS = st.one_of(
    NASTY,
    st.sampled_from(['"', "'", "\\", "\n", "\r\n", "a,b", " x ", "#", "]", "=", "'''", "ü", "NA",
                     "?", "true", "1", "1.0", "01", "-", "1e5", "inf", "nan", "<5", "5-9",
                     "99999999999999999999", "2026-01-01", " 3", "3 ", "0x1"]),
)  # fmt: skip
VALUES = {
    pl.String: TEXTS,
    pl.Int64: st.integers(-(1 << 63), (1 << 63) - 1),
    pl.Int8: st.integers(-3, 3),
    pl.UInt64: st.integers(0, (1 << 64) - 1),
    pl.Float64: st.floats(),
    pl.Float32: st.floats(width=32),
    pl.Boolean: st.booleans(),
    pl.Date: st.dates(date(1700, 1, 1), date(2300, 1, 1)),
    pl.Datetime("us"): st.datetimes(datetime(1700, 1, 1), datetime(2300, 1, 1)),
    pl.Duration("us"): st.timedeltas(timedelta(-99), timedelta(99)),
    pl.Time: st.times(),
    pl.Decimal(12, 2): st.decimals(-9999, 9999, places=2),
    pl.Enum(["a", "b\n", '"']): st.sampled_from(["a", "b\n", '"']),
    pl.Categorical: TEXTS,
    pl.Binary: st.binary(max_size=3),
    pl.List(pl.Int64): st.lists(st.integers(0, 3), max_size=2),
    pl.Null: st.none(),
}
NAMES = st.one_of(
    st.sampled_from(["age", "sex", "id", "household", "weight", "a.b", 'q"q', "it's", "x y", "ä",
                     "#", "[t]", "=", "\\", "size", "hhid", "2026"]),
    NASTY.filter(lambda name: name and f"{name}x".splitlines() == [f"{name}x"]),
)  # fmt: skip


@st.composite
def frames(draw):
    """Small tables with everything that is unusual in names, types and values."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    rows = draw(st.sampled_from([0, 1, 2, 3, 8, 40]))
    columns = []
    for name in names:
        dtype = draw(st.sampled_from(list(VALUES)))
        values = st.one_of(st.none(), VALUES[dtype]) if draw(st.booleans()) else VALUES[dtype]
        few = draw(st.lists(values, min_size=1, max_size=8))
        picks = draw(st.lists(st.sampled_from(few), min_size=rows, max_size=rows))
        columns.append(pl.Series(name, picks, dtype=dtype))
    return pl.DataFrame(columns)


@given(frames(), st.sampled_from(["parquet", "arrow", "csv", "csv.gz"]))
def test_every_proposal_is_a_plan_that_protects_its_file(frame, ending):
    """Whatever stands in names and cells: TOML, a plan, and a release of the very rows."""
    if ending.startswith("csv"):
        frame = frame.select(~(cs.nested() | cs.binary())).with_columns(
            cs.duration().cast(pl.Int64)
        )
        assume(frame.width and not set('"|;\t') & set("".join(frame.columns)))  # readers stumble
    with tempfile.TemporaryDirectory() as space:
        path = put(frame, Path(space) / f"in.{ending}")
        text = inspect(path)
        said = tomllib.loads(text)
        assert list(said["columns"]) == frame.columns
        assert not re.search(r"[^\S \n]", text), "white space other than blanks is escaped"
        _, release = taken(path, Path(space) / "out")
        assert release.manifest.rows == said["rows"]


def test_names_in_quotes_are_read_as_they_are_meant(tmp_path):
    """A quote in a column name, a comma, letters of any alphabet: all of it is the name."""
    path = tmp_path / "named.csv"
    rows = "".join(f"{place},x{place % 3},{place % 2}\n" for place in range(40))
    path.write_text('"größe, in cm","na""me",日本 語\n' + rows, "utf-8")
    plan = Plan.from_text(inspect(path))
    assert list(plan.columns) == ["größe, in cm", 'na"me', "日本 語"]
    assert protect(path, plan, KEY).data.columns == list(plan.columns)


@pytest.mark.parametrize("mark", ["", "ab", '"', "\n", "é"])
def test_a_delimiter_is_one_character(mark, tmp_path):
    """What cannot stand between two cells is refused in words."""
    path = put(pl.DataFrame({"a": [1, 2], "b": [3, 4]}), tmp_path / "x.csv")
    with pytest.raises(TableError, match="one ASCII character"):
        from_file(path, delimiter=mark)


@pytest.mark.parametrize("given_", [None, 3, pl.DataFrame({"a": [1]})])
def test_only_what_has_a_place_is_inspected(given_):
    """A frame, or nothing, is refused with what to do."""
    with pytest.raises(TableError, match="Write it to a file first"):
        inspect(given_)


@pytest.mark.parametrize("header", ["a,,b", "a;;b", ",,b,c"])
def test_a_column_without_a_name_is_told(header, tmp_path):
    """A nameless column is what is wrong, not what separates the cells."""
    path = tmp_path / "x.csv"
    path.write_text(f"{header}\n" + header.replace("a", "1").replace("b", "2") + "\n", "utf-8")
    with pytest.raises(TableError, match=r"has no name|stand twice"):
        inspect(path)
