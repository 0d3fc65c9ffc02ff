"""The report beside the data: no value of the original in it, its hash kept, its command honest."""

import hashlib
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import bistochastic as bs
from bistochastic.cli import main
from tests.pages import ROOT
from tests.report.pages import KEY, plan, released, survey

BIRD, DIGITS = "CaNaRy", "98765432"


def canaries(rows=400):
    """A table whose every cell outside a declared domain can be recognised."""
    choose = np.random.default_rng(9)
    odd = choose.permutation(rows)
    return survey(rows).with_columns(
        person=pl.Series([f"{BIRD}p{row}" for row in range(rows)]),
        house=pl.Series([f"{BIRD}h{row}" for row in range(rows)]),
        income=pl.Series(odd * 1000.0 + 0.98765432),
        hours=pl.Series(odd * 10 + 9876543200),
        rent=pl.Series(odd * 7 + 0.98765432),
        weight=pl.Series(odd + 0.98765432),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A release with its report, and what it was made of."""
    place = tmp_path_factory.mktemp("release")
    canaries().write_csv(place / "people.csv")
    bs.protect(place / "people.csv", plan(), KEY).write(place / "out", report=True)
    return place


def heard(text, table):
    """The cells of a table, outside declared domains, that a text holds."""
    declared = {"coast", "hills", "plain", "none", "some", "degree", "no", "yes"}
    cells = {
        str(cell) for column in table.iter_columns() for cell in column.unique() if cell is not None
    }
    return sorted(cell for cell in cells - declared if len(cell) > 4 and cell in text)


def test_no_value_of_the_original_is_in_a_public_report(folder):
    """Canaries in every column sing nowhere in it, nor does the key."""
    text = (folder / "out" / "report.html").read_text("utf-8")
    assert "income" in text
    assert "CaNaRy" not in text
    assert DIGITS not in text
    assert heard(text, canaries()) == []
    assert bytes(range(32)).hex() not in text
    assert "original" not in text.replace("with the key and the original, the very bytes", "")


def test_a_canary_in_a_report_is_heard(folder):
    """The listener does hear what the published table itself says."""
    published = (folder / "out" / "data.csv").read_text("utf-8")
    assert len(heard(published, canaries())) > 300


def test_no_path_of_the_machine_is_in_a_report(folder, tmp_path):
    """Neither the folder above a release nor the name of what came in is told."""
    inside = bs.report(
        folder / "out", tmp_path / "i.html", audience="internal", original=folder / "people.csv"
    )
    for text in (inside.read_text("utf-8"), (folder / "out" / "report.html").read_text("utf-8")):
        assert str(folder) not in text
        assert "people.csv" not in text


def test_the_manifest_keeps_the_hash_of_the_report(folder):
    """It is the SHA-256 of the file that is there, and every promise holds."""
    manifest = bs.Manifest.read(folder / "out")
    page = (folder / "out" / "report.html").read_bytes()
    assert manifest.report == hashlib.sha256(page).hexdigest()
    checks = bs.verify(folder / "out", key=KEY, original=folder / "people.csv")
    assert [check.promise for check in checks if not check.holds] == []
    assert "the report is the one that was published" in [check.promise for check in checks]


@pytest.mark.parametrize("harm", ["changed", "gone", "linked"])
def test_a_report_that_was_tampered_with_is_found_out(harm, folder, tmp_path):
    """Another page under its name, none, or a link to one breaks a promise."""
    out = tmp_path / "out"
    bs.protect(folder / "people.csv", plan(), KEY).write(out, report=True)
    page = out / "report.html"
    if harm == "changed":
        page.write_text(page.read_text("utf-8").replace("Epsilon", "No epsilon"), "utf-8")
    else:
        os.rename(page, tmp_path / "elsewhere.html")
    if harm == "linked":
        page.symlink_to(tmp_path / "elsewhere.html")
    broken = [check.promise for check in bs.verify(out) if not check.holds]
    assert broken == ["the report is the one that was published"]


def test_without_a_report_nothing_is_said_of_one(tmp_path):
    """A release that is written without one has no hash of one, and no promise."""
    released().write(tmp_path / "out")
    assert bs.Manifest.read(tmp_path / "out").report is None
    assert not (tmp_path / "out" / "report.html").exists()
    assert all("report is" not in check.promise for check in bs.verify(tmp_path / "out"))


def test_a_report_that_fails_publishes_nothing(tmp_path, monkeypatch):
    """The folder appears with its report or not at all."""

    def defect(*args, **more):
        raise RuntimeError

    monkeypatch.setattr("bistochastic.telling.html", defect)
    with pytest.raises(RuntimeError):
        released().write(tmp_path / "out", report=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst", "parquet", "arrow"])
def test_one_report_of_every_format(ending, tmp_path):
    """A release reads the same whatever its format, from its folder and from itself."""
    table = survey(300)
    path = tmp_path / f"people.{ending}"
    if ending == "parquet":
        table.write_parquet(path)
    elif ending == "arrow":
        table.write_ipc(path)
    else:
        table.lazy().sink_csv(path, compression={"gz": "gzip", "zst": "zstd"}.get(ending[4:],
                              "uncompressed"))  # fmt: skip
    release = bs.protect(path, plan(), KEY)
    early = release.report(tmp_path / "early.html").read_text("utf-8")
    release.write(tmp_path / "release", report=True)
    late = (tmp_path / "release" / "report.html").read_text("utf-8")
    again = bs.report(tmp_path / "release", tmp_path / "again.html").read_text("utf-8")
    assert again == late
    assert (
        late.partition("Column by column</h2>")[2].partition("<pre")[0]
        == early.partition("Column by column</h2>")[2].partition("<pre")[0]
    )


def test_a_frame_of_another_kind(tmp_path):
    """Reports are of frames too, whatever kind came in."""
    table = survey(300).to_pandas()
    release = bs.protect(table, plan(), KEY)
    public = release.report(tmp_path / "p.html")
    inside = release.report(tmp_path / "i.html", audience="internal", original=table)
    assert 0 < public.stat().st_size < inside.stat().st_size


def test_a_report_of_a_table_that_does_not_fit(folder, tmp_path):
    """A manifest and a table that disagree are refused, without a value."""
    out = tmp_path / "out"
    released(survey(50)).write(out)
    data = out / "data.parquet"
    pl.read_parquet(data).with_columns(region=pl.lit(BIRD)).write_parquet(data)
    with pytest.raises(bs.TableError, match="The manifest is not the one of this table") as refusal:
        bs.report(out, tmp_path / "r.html")
    assert BIRD not in str(refusal.value)
    data.unlink()
    with pytest.raises(bs.ReleaseError, match="no data"):
        bs.report(out, tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


PLAN = """
release = "r"
[columns.smoker]
role = "confidential"
kind = "nominal"
domain = ["no", "yes"]
missing = "refuse"
matrix = "mixture"
beta = 0.5
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a table and a plan, in which commands are typed."""
    (tmp_path / "people.csv").write_text("smoker\n" + "no\nno\nyes\n" * 40)
    (tmp_path / "plan.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def typed(line):
    """What a command says."""
    return CliRunner().invoke(main, line.split())


def test_protect_publishes_a_report(place):
    """It does by default, and leaves it out when told to."""
    done = typed("protect people.csv --plan plan.toml --out with")
    assert done.exit_code == 0
    assert "report.html" in done.stdout
    assert (place / "with" / "report.html").is_file()
    done = typed("protect people.csv --plan plan.toml --out without --no-report")
    assert done.exit_code == 0
    assert "report.html" not in done.stdout
    assert sorted(path.name for path in Path("without").iterdir()) == ["data.csv", "manifest.json"]


def test_the_command_report(place):
    """Public without an original, internal with one; it says which it wrote and where."""
    typed("protect people.csv --plan plan.toml --out out --no-report -q")
    done = typed("report out --html public.html")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "Wrote public.html, public." in done.stderr
    done = typed("report out --original people.csv --html internal.html")
    assert "Wrote internal.html, internal: keep it as the original." in done.stderr
    assert "Confidential" in (place / "internal.html").read_text("utf-8")
    assert "Confidential" not in (place / "public.html").read_text("utf-8")
    assert typed("report out --html more.html -q").output == ""


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("report out --html public.html", "cannot be read"),
        ("report people.csv --html public.html", "is no manifest of a release"),
        ("report kept --original nothing.csv --html public.html", "There is no file 'nothing.csv'"),
        ("report kept --html people.csv", "exists and is not written over"),
    ],
)
def test_the_command_refuses(line, says, place):
    """What cannot be reported ends with 2, one readable block, and no file."""
    typed("protect people.csv --plan plan.toml --out kept --no-report -q")
    done = typed(line)
    assert done.exit_code == 2
    assert says in done.stderr
    assert not (place / "public.html").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["testdata", "adult"])
def test_the_files_that_everybody_knows(name, tmp_path):
    """Public reports of the test files hold no number that the original alone has."""
    path = ROOT.parent / "shared" / "data" / f"{name}.csv"
    if not path.is_file():
        pytest.skip(f"{name}.csv is not there")
    proposed = bs.inspect(path)
    release = bs.protect(path, bs.Plan.from_text(proposed), KEY)
    text = release.report(tmp_path / "r.html").read_text("utf-8")
    assert len(text.encode()) < 1_000_000
    inside = release.report(tmp_path / "i.html", audience="internal", original=path)
    assert inside.stat().st_size < 1_000_000
