"""Every promise of a release can be broken, and the check of that very promise notices it."""

import json
import random
import shutil
from copy import deepcopy

import polars as pl
import pytest
from click.testing import CliRunner

from bistochastic.cli import main
from bistochastic.errors import BistochasticError, ReleaseError, TableError
from bistochastic.keystream import Key
from bistochastic.plan.plan import Plan
from bistochastic.release import fingerprint
from bistochastic.run import protect
from bistochastic.verify import as_json, verify
from tests.surveys import KEY, plan, survey

OTHER = Key(bytes(range(1, 33)))
ROWS = 60
TEXT = {"file": {"delimiter": ";", "missing": ["", "NA"]}}


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """The survey as a CSV file and as a Parquet file, and a release of each."""
    space = tmp_path_factory.mktemp("there")
    frame = survey(ROWS).with_columns(pl.col("region").cast(pl.String))
    frame.write_csv(space / "in.csv", separator=";", null_value="NA")
    frame.write_parquet(space / "in.parquet")
    protect(space / "in.csv", plan(**TEXT), KEY).write(space / "csv")
    protect(space / "in.parquet", plan(), KEY).write(space / "parquet")
    return space


@pytest.fixture
def space(there, tmp_path):
    """A copy of all that, to be tampered with."""
    shutil.copytree(there, tmp_path, dirs_exist_ok=True)
    return tmp_path


def broken(space, kind="parquet", **secrets):
    """The promises that are broken."""
    return [check.promise for check in verify(space / kind, **secrets) if not check.holds]


def tamper(folder, change):
    """Change the manifest of a release."""
    path = folder / "manifest.json"
    told = json.loads(path.read_text(encoding="utf-8"))
    change(told)
    path.write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")


def column(told, name):
    """One column of a manifest."""
    return next(one for one in told["columns"] if one["name"] == name)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_every_promise_of_a_release_is_kept(kind, there):
    """With key and original there are two promises more, and the bytes are the same."""
    alone = verify(there / kind)
    whole = verify(there / kind, key=KEY, original=there / f"in.{kind}")
    assert all(check.holds for check in whole)
    assert whole[: len(alone)] == alone
    assert [check.promise for check in whole[len(alone) :]] == [
        "key and original give the very bytes",
        "and the very manifest",
    ]


def test_wrong_key_and_wrong_original(there, tmp_path):
    """Neither gives the same bytes; a key or an original alone is not enough to tell."""
    promise = "key and original give the very bytes"
    assert promise in broken(there, key=OTHER, original=there / "in.parquet")
    survey(ROWS, seed=1).with_columns(pl.col("region").cast(pl.String)).write_parquet(
        tmp_path / "other.parquet"
    )
    assert promise in broken(there, key=KEY, original=tmp_path / "other.parquet")
    survey(ROWS).drop("sex").write_parquet(tmp_path / "fewer.parquet")
    assert promise in broken(there, key=KEY, original=tmp_path / "fewer.parquet")
    for secrets in ({"key": KEY}, {"original": there / "in.parquet"}):
        with pytest.raises(ReleaseError, match="Key and original go together"):
            verify(there / "parquet", **secrets)
    with pytest.raises(TableError, match="There is no file"):
        verify(there / "parquet", key=KEY, original=tmp_path / "none.parquet")


def rewritten(change):
    """The data changed as a frame, and the manifest made to fit the new bytes."""

    def done(folder):
        path = folder / "data.parquet"
        change(pl.read_parquet(path)).write_parquet(path)
        tamper(folder, lambda told: told["data"].update(
            sha256=fingerprint(path), bytes=path.stat().st_size
        ))  # fmt: skip

    return done


def one_byte(folder):
    """Turn one bit of the data."""
    path = folder / "data.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def linked(folder):
    """Put a link to a file elsewhere in the place of the data."""
    shutil.move(folder / "data.parquet", folder.parent / "elsewhere.parquet")
    (folder / "data.parquet").symlink_to(folder.parent / "elsewhere.parquet")


SAME = "the data are those that were published"
LOST = "the data are there"
DATA = {
    "a byte": (one_byte, SAME),
    "no file": (lambda folder: (folder / "data.parquet").unlink(), LOST),
    "a link": (linked, LOST),
    "another file": (
        lambda folder: (folder / "names.csv").write_text("who\n"), "nothing else is in the folder",
    ),
    "a hidden file": (
        lambda folder: (folder / ".key").write_text("who\n"), "nothing else is in the folder",
    ),
    "a row less": (rewritten(lambda frame: frame[1:]), "the rows are as many as declared"),
    "a column more": (
        rewritten(lambda frame: frame.with_columns(pl.lit(1).alias("who"))),
        "the columns are those of the manifest",
    ),
    "columns in another order": (
        rewritten(lambda frame: frame.select(reversed(frame.columns))),
        "the columns are those of the manifest",
    ),
    "another label": (
        rewritten(lambda frame: frame.with_columns(pl.lit("x").alias("sex"))),
        "every reported value is in its declared domain",
    ),
    "a number less": (
        rewritten(lambda frame: frame.with_columns(
            pl.when(pl.int_range(pl.len()) > 0).then("income")
        )),
        "as many have a number as declared",
    ),
    "no table": (
        lambda folder: ((folder / "data.parquet").write_bytes(b"who"),), "the data can be read",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", DATA)
def test_tampered_data_are_noticed(case, space):
    """By the check of what was changed, and the command line ends with 1."""
    change, promise = DATA[case]
    change(space / "parquet")
    assert promise in broken(space)
    run = CliRunner().invoke(main, ["verify", str(space / "parquet")])
    assert run.exit_code == 1
    assert "promises are broken" in run.stderr


def put(value, *path):
    """A change of one place in a manifest; a column is named by its name."""

    def done(told):
        node = told
        for part in path[:-1]:
            node = column(told, part) if node is told["columns"] else node[part]
        node[path[-1]] = value

    return done


def take(*path):
    """The removal of one place in a manifest."""

    def done(told):
        node = told
        for part in path[:-1]:
            node = column(told, part) if node is told["columns"] else node[part]
        del node[path[-1]]

    return done


def softer(told):
    """Another matrix with all its numbers right, as if the plan had asked for it."""
    other = plan().dump()
    other["columns"]["sex"]["beta"] = 0.1
    said = json.loads(Plan(**other).explain().text())
    told["columns"][2] = column(said, "sex")
    told["totals"] = said["totals"]


def fewer_neighbours(told):
    """The same for a column of numbers, whose plan says five."""
    other = plan().dump()
    other["columns"]["income"]["k"] = 2
    frame = survey(ROWS).with_columns(pl.col("region").cast(pl.String))
    said = json.loads(protect(frame, Plan(**other), KEY).manifest.text())
    place = [one["name"] for one in told["columns"]].index("income")
    told["columns"][place] = said["columns"][place]


STATED = "the columns are what the plan says they are"
DONE = "what was asked for is what was done"
TOTALS = "the plan amounts to the totals declared"
COSTS = "bits and epsilon of 'sex' are those declared"
SIZE = "the matrix of 'sex' is over its categories or individuals"
REBUILT = "the matrix of 'sex' can be rebuilt"
READ = "the plan in the manifest can be read"
ROWS_TOLD = "the rows are as many as declared"
GUARANTEE = ("columns", "sex", "guarantee")
CHANNEL = ("columns", "sex", "channel")
MANIFEST = {
    "less epsilon": (put(0.1, *GUARANTEE, "epsilon"), COSTS),
    "more epsilon": (put(9.0, *GUARANTEE, "epsilon"), COSTS),
    "endless epsilon": (put("infinite", *GUARANTEE, "epsilon"), COSTS),
    "more bits": (put(1.5, *GUARANTEE, "bits"), COSTS),
    "more beta": (put(0.9, *GUARANTEE, "beta"), COSTS),
    "more of the least": (put(1.5, *GUARANTEE, "min_row_bits"), COSTS),
    "more deniability": (put(1.5, *GUARANTEE, "deniable_bits"), COSTS),
    "less truth": (put(0.1, *GUARANTEE, "truth_mean"), COSTS),
    "a better condition": (put(1.0, *GUARANTEE, "condition"), COSTS),
    "more categories": (put(9, *GUARANTEE, "categories"), COSTS),
    "another family": (put("secrecy", *GUARANTEE, "family"), COSTS),
    "the digest": (put("0" * 64, *GUARANTEE, "digest"), "the integers of 'sex' are those declared"),
    "the truth": (put(0.9, *CHANNEL, "truth"), "the integers of 'sex' are those declared"),
    "the size": (put(4, *CHANNEL, "n"), SIZE),
    "a size that no memory holds": (put(10**15, *CHANNEL, "n"), SIZE),
    "a smaller one": (put(2, *CHANNEL, "n"), SIZE),
    "an unknown family": (put("magic", *CHANNEL, "family"), REBUILT),
    "a truth above one": (put(1.5, *CHANNEL, "truth"), REBUILT),
    "words of another length": (put(10**9, *GUARANTEE, "word_bits"), REBUILT),
    "a label less": (put(["f"], "columns", "sex", "labels"), SIZE),
    "another label": (put(["f", "x"], "columns", "sex", "labels"), STATED),
    "another role": (put("plain", "columns", "sex", "role"), STATED),
    "another treatment": (put("untouched", "columns", "sex", "treatment"), STATED),
    "another matrix": (put("secrecy", "columns", "sex", "matrix"), STATED),
    "missing by another rule": (put("keep", "columns", "sex", "missing"), SIZE),
    "no channel": (put(None, *CHANNEL), STATED),
    "no guarantee": (put(None, *GUARANTEE), STATED),
    "neither": (lambda told: column(told, "sex").update(channel=None, guarantee=None), DONE),
    "another matrix in every word": (softer, DONE),
    "a plan that asks less": (put(0.1, "plan", "columns", "sex", "beta"), DONE),
    "fewer neighbours": (fewer_neighbours, DONE),
    "fewer individuals": (
        put(10, "columns", "income", "individuals"), "as many have a number as declared",
    ),
    "more individuals": (
        put(10**15, "columns", "income", "individuals"), "as many have a number as declared",
    ),
    "no ranks": (
        lambda told: column(told, "income").update(channel=None, guarantee=None, individuals=0),
        "as many have a number as declared",
    ),
    "endless runs": (
        put({"runs": [[5, 10**12]]}, "columns", "income", "channel", "sizes"),
        "the matrix of 'income' is over its categories or individuals",
    ),
    "runs that cancel": (
        put({"runs": [[5, 10**12], [5, -(10**12)]]}, "columns", "income", "channel", "sizes"),
        "the matrix of 'income' is over its categories or individuals",
    ),
    "an endless window": (
        put({"family": "window", "n": 10**15, "width": 3}, "columns", "hours", "channel"),
        "the matrix of 'hours' is over its categories or individuals",
    ),
    "a deep product": (
        put({"family": "kronecker", "factors": [{"family": "mixture", "n": 3, "truth": 0.5}] * 60},
            "columns", "sex", "channel"),
        REBUILT,
    ),
    "more jointly": (
        put(9e9, "columns", "income", "joint_bits"),
        "bits and epsilon of 'income' are those declared",
    ),
    "rows": (put(7, "rows"), ROWS_TOLD),
    "rows of the data": (put(7, "data", "rows"), ROWS_TOLD),
    "bytes": (put(7, "data", "bytes"), SAME),
    "the hash": (put("0" * 64, "data", "sha256"), SAME),
    "no data": (put(None, "data"), LOST),
    "a name elsewhere": (put("../in.parquet", "data", "name"), LOST),
    "an absolute name": (put("/etc/passwd", "data", "name"), LOST),
    "the name of the manifest": (put("manifest.json", "data", "name"), LOST),
    "an endless name": (put("x" * 10**5, "data", "name"), LOST),
    "another format": (put("csv", "data", "format"), LOST),
    "less in total": (put(1.0, "totals", "epsilon"), TOTALS),
    "more bits in total": (put(99.0, "totals", "bits"), TOTALS),
    "more joint beta": (put(0.99, "totals", "joint_beta"), TOTALS),
    "another release": (put("next", "release"), STATED),
    "another address": (put("records", "addressed_by"), STATED),
    "a warning less": (put([], "warnings"), "no warning is left out"),
    "a column less": (lambda told: told["columns"].pop(3), "the columns are those of the manifest"),
    "a group less": (put([], "together"), STATED),
    "a group of other columns": (put(["sex", "age"], "together", 0, "columns"), STATED),
    "more epsilon of a group": (
        put(9.0, "together", 0, "guarantee", "epsilon"),
        "bits and epsilon of 'smoker' × 'region' are those declared",
    ),
    "no plan": (put({}, "plan"), READ),
    "a plan without sense": (put({"columns": 3}, "plan"), READ),
    "a plan that reads a file": (
        put("/dev/zero", "plan", "columns", "sex", "domain_file"), READ,
    ),
    "a plan of endless labels": (
        put({"first": 0, "last": 10**15}, "plan", "columns", "age", "domain"), READ,
    ),
    "a plan of another release": (put("next", "plan", "release"), STATED),
}  # fmt: skip


@pytest.mark.parametrize("case", MANIFEST)
def test_a_tampered_manifest_is_noticed(case, space):
    """By the check of what was changed, and always with the key; the command line ends with 1."""
    change, promise = MANIFEST[case]
    tamper(space / "parquet", change)
    assert promise in broken(space)
    assert "and the very manifest" in broken(
        space, key=KEY, original=space / "in.parquet"
    ) or "key and original give the very bytes" in broken(
        space, key=KEY, original=space / "in.parquet"
    )
    run = CliRunner().invoke(main, ["verify", str(space / "parquet"), "--json"])
    assert run.exit_code == 1
    assert promise in [check["promise"] for check in json.loads(run.stdout) if not check["holds"]]


TEXTS = {
    "another delimiter": (put(",", "data", "delimiter"), STATED),
    "a delimiter that is none": (put("ab", "data", "delimiter"), "the data can be read"),
    "another gap": (put("f", "data", "gap"), STATED),
}


@pytest.mark.parametrize("case", TEXTS)
def test_how_a_text_is_read_is_checked_too(case, space):
    """What separates cells and what stands for nothing follow from the plan."""
    change, promise = TEXTS[case]
    tamper(space / "csv", change)
    assert promise in broken(space, "csv")


def places(node, path=()):
    """Every place in a piece of JSON."""
    if isinstance(node, dict | list):
        for part in node if isinstance(node, dict) else range(len(node)):
            yield (*path, part)
            yield from places(node[part], (*path, part))


STRANGE = [
    None, True, False, 0, -1, 1, 3, 10**15, 10**40, -0.5, 0.5, 1e308, "", "x", "infinite", [], {},
    [[]], [None], ["f", "f"], {"runs": [[1, 10**13]]}, {"n": 10**15}, {"family": "window"}, "\0",
]  # fmt: skip


@pytest.mark.parametrize("part", range(8))
def test_no_manifest_stops_the_one_who_checks_it(part, space):
    """Hundreds of random changes: a list of checks or a refusal, and never anything else."""
    kind = ("csv", "parquet")[part % 2]
    path = space / kind / "manifest.json"
    told = json.loads(path.read_text(encoding="utf-8"))
    chance = random.Random(part)
    where = list(places(told))
    noticed = 0
    for _ in range(60):
        changed = deepcopy(told)
        *there, last = chance.choice(where)
        node = changed
        for step in there:
            node = node[step]
        if chance.random() < 0.3:
            del node[last]
        else:
            node[last] = chance.choice(STRANGE)
        path.write_text(json.dumps(changed), encoding="utf-8")
        try:
            checks = verify(space / kind)
        except BistochasticError:
            noticed += 1
        else:
            assert all(type(check.holds) is bool for check in checks)
            noticed += not all(check.holds for check in checks)
    assert noticed > 50


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 10**5, b"null", b'{"a": 1}'])
def test_what_is_no_manifest_is_refused(content, space):
    """With its place and a reason."""
    (space / "parquet" / "manifest.json").write_bytes(content)
    with pytest.raises(ReleaseError, match="is no manifest of a release: "):
        verify(space / "parquet")


def test_what_is_no_release_is_refused(tmp_path):
    """No folder, a file, and a folder without a manifest."""
    with pytest.raises(ReleaseError, match="There is no folder"):
        verify(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(ReleaseError, match="There is no folder"):
        verify(tmp_path / "file")
    with pytest.raises(ReleaseError, match=r"manifest.json' cannot be read: No such file"):
        verify(tmp_path)


@pytest.mark.parametrize("rows", [0, 9])
def test_honest_releases_of_few_rows_keep_their_promises(rows, tmp_path):
    """Also where a plan expected more rows than there are, or nobody has a number."""
    said = plan().dump() | {"rows": 50}
    frame = survey(ROWS).with_columns(pl.col("region").cast(pl.String)).head(rows)
    for ending in ("parquet", "csv"):
        path = tmp_path / f"in.{ending}"
        frame.write_parquet(path) if ending == "parquet" else frame.write_csv(path)
        protect(path, Plan(**said), KEY).write(tmp_path / ending)
        assert broken(tmp_path, ending, key=KEY, original=path) == []


def test_checks_for_machines(there):
    """The same, as JSON."""
    checks = verify(there / "csv")
    assert [check["promise"] for check in json.loads(as_json(checks))] == [
        check.promise for check in checks
    ]


@pytest.mark.parametrize("blind", ["_claimed", "_costs", "_margins", "_stated_alike", "_unlike"])
def test_a_check_that_sees_nothing_is_seen(blind, monkeypatch, space):
    """Where one of the checks is blinded, a release it alone would notice passes: it is needed."""
    import bistochastic.promises as promises

    fine = ("a promise", True, "found")
    blinds = {
        "_claimed": lambda told: 0,
        "_costs": lambda *given: fine,
        "_margins": lambda *given: iter(()),
        "_stated_alike": lambda *given: True,
        "_unlike": lambda *given: iter(()),
    }
    cases = {
        "_costs": "more jointly",
        "_stated_alike": "another address",
        "_unlike": "fewer neighbours",
    }
    monkeypatch.setattr(promises, blind, blinds[blind])
    if blind in cases:
        tamper(space / "parquet", MANIFEST[cases[blind]][0])
    assert broken(space) == []
