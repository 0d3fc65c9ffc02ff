"""Each command does what its help says, ends as it should, and speaks on the right channel."""

import json
import os
import pty
import re
import select
import subprocess
import sys

import jsonschema
import polars as pl
import pytest
from click.testing import CliRunner

from bistochastic import schemas
from bistochastic.cli import main
from bistochastic.plan.plan import Plan
from bistochastic.population import PLAN, people

ENDED = {0: "all is well", 1: "a check failed", 2: "something was refused", 3: "a defect"}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a file and its plan, in which commands are typed."""
    monkeypatch.chdir(tmp_path)
    people().write_csv("people.csv")
    (tmp_path / "plan.toml").write_text(PLAN, "utf-8")
    return tmp_path


def said(*words, ends=0, **more):
    """What a command says on both channels, if it ends as it should."""
    told = CliRunner().invoke(main, list(words), **more)
    assert told.exit_code == ends, (ENDED.get(told.exit_code), told.output)
    return told


def protected(*more):
    """A release of the people, made with a key."""
    return said("protect", "people.csv", "--plan", "plan.toml", "--out", "out", *more)


def test_the_whole_way(place):
    """From a file to a plan, an explanation, a release and its verification."""
    said("inspect", "people.csv", "-o", "proposal.toml")
    assert "die" in said("explain", "proposal.toml").stdout
    told = protected("--key", "key").stdout
    assert "5,000 rows" in told
    assert "in key" in told
    verified = said("verify", "out", "--key", "key", "--original", "people.csv").stdout
    assert "✗" not in verified
    assert "the very bytes" in verified
    again = said("protect", "people.csv", "--plan", "plan.toml", "--out", "2", "--key", "key", "-q")
    assert again.output == ""
    assert (place / "2" / "data.csv").read_bytes() == (place / "out" / "data.csv").read_bytes()


def test_the_key_file_is_its_owners(place):
    """A key that is made stays, with its mode, and is not in the manifest."""
    protected("--key", "key")
    assert (place / "key").stat().st_mode & 0o777 == 0o600
    secret = (place / "key").read_text().split(":")[1]
    assert secret not in (place / "out" / "manifest.json").read_text("utf-8")


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_standard_input(place, ending):
    """A dash is standard input, whatever its format, and gives the same as the file."""
    table = pl.read_csv("people.csv", infer_schema_length=None)
    if ending == "parquet":
        table.write_parquet("in.parquet")
    elif ending == "arrow":
        table.write_ipc("in.arrow")
    else:
        table.write_csv("in.csv")
    for out, given, stream in (("a", f"in.{ending}", None), ("b", "-", f"in.{ending}")):
        words = ("protect", given, "--plan", "plan.toml", "--out", out, "--key", "key", "-q")
        said(*words, input=None if stream is None else (place / stream).read_bytes())
    one, other = ((place / out / f"data.{ending}").read_bytes() for out in "ab")
    assert one == other
    assert list(place.glob("**/bistochastic-*")) == []


def test_a_plan_from_standard_input(place):
    """A plan may come through a pipe too, and its mistakes are told with their lines."""
    assert "index ε" in said("explain", "-", input=PLAN).stdout
    told = said("explain", "-", input="release = 3\n[columns.a]\nrole = 'plain'\n", ends=2)
    assert "standard input, line 1, release: must be a text" in told.stderr


REFUSED = {
    "no file": (("protect", "no.csv", "--plan", "plan.toml", "--out", "o"), "'no.csv'"),
    "no plan": (("protect", "people.csv", "--plan", "no.toml", "--out", "o"), "'no.toml' cannot"),
    "a place taken": (("protect", "people.csv", "--plan", "plan.toml", "--out", "."), "not empty"),
    "no release": (("verify", "no"), "no folder 'no' of a release"),
    "key alone": (("verify", "out", "--key", "plan.toml"), "--key and --original go together"),
    "no key": (
        ("protect", "people.csv", "--plan", "plan.toml", "--out", "o", "--key", "plan.toml"),
        "plan.toml",
    ),
    "a plan is there": (("inspect", "people.csv", "-o", "plan.toml"), "is not written over"),
    "a place that is none": (("inspect", "people.csv", "-o", "no/plan.toml"), "cannot be written"),
    "no such command": (("protekt",), "No such command"),
    "no such option": (("explain", "plan.toml", "--betta"), "No such option"),
    "no delimiter": (("inspect", "people.csv", "--delimiter", "ab"), "is one ASCII character"),
    "too many categories": (("families", "100000"), "not in the range"),
    "nothing comes": (("protect", "-", "--plan", "plan.toml", "--out", "o"), "input is empty"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name, place):
    """One readable block on the other channel, the exit code 2, no traceback, nothing written."""
    words, told = REFUSED[name]
    before = sorted(place.iterdir())
    refused = said(*words, ends=2, input=b"")
    assert told in refused.stderr
    assert refused.stdout == ""
    assert "Traceback" not in refused.stderr
    assert sorted(place.iterdir()) == before


def test_a_file_that_could_not_be_written_is_not_in_the_way(place, monkeypatch):
    """A write that fails leaves no half of a plan, at which the next try would stop."""
    monkeypatch.setattr("bistochastic.inspection.inspect", lambda *_, **__: "\ud800")
    assert CliRunner().invoke(main, ["inspect", "people.csv", "-o", "half.toml"]).exit_code == 3
    assert not (place / "half.toml").exists()


def test_a_broken_promise_ends_with_one(place):
    """Whoever runs `verify` in a script hears of it."""
    protected()
    with (place / "out" / "data.csv").open("ab") as file:
        file.write(b"\n")
    broken = said("verify", "out", ends=1)
    assert "✗" in broken.stdout
    assert "promises are broken" in broken.stderr
    checks = json.loads(said("verify", "out", "--json", ends=1).stdout)
    assert not all(check["holds"] for check in checks)


def test_a_defect_tells_where_and_no_data(place, monkeypatch):
    """What nobody foresaw ends with 3 and one line, which may be passed on."""

    def fails(path):
        raise RuntimeError("canary")

    monkeypatch.setattr("bistochastic.plan.plan.Plan.read", fails)
    told = said("explain", "plan.toml", ends=3)
    assert "A defect of this program: RuntimeError at test_cli.py:" in told.stderr
    assert "canary" not in told.output


def test_stopped_by_hand(place, monkeypatch):
    """Whoever interrupts is told that nothing was published."""

    def stops(path):
        raise KeyboardInterrupt

    monkeypatch.setattr("bistochastic.plan.plan.Plan.read", stops)
    assert "Stopped. Nothing was published." in said("explain", "plan.toml", ends=130).stderr


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("explain", "plan.toml", "--json"), "explanation"),
        (("protect", "people.csv", "--plan", "plan.toml", "--out", "o", "--json"), "manifest"),
        (("verify", "out", "--json"), "checks"),
        (
            (
                "tradeoff",
                "people.csv",
                "--key-column",
                "school",
                "--confidential",
                "illness",
                "--plan",
                "plan.toml",
                "--points",
                "3",
                "--methods",
                "--json",
            ),
            "tradeoff",
        ),
    ],
)
def test_json_has_the_schema_that_is_published(words, name, place):
    """What a machine reads is as its schema says, and nothing else is on that channel."""
    protected()
    schema = json.loads(said("schema", name).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    given = json.loads(said(*words).stdout)
    jsonschema.validate(given, schema)
    spoilt = [*given, {"promise": 3}] if isinstance(given, list) else given | {"release": 3}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(spoilt, schema)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("estimate", "out", "--by", "sex,school"), "estimates"),
        (("within", "out", "--column", "weight", "--by", "sex"), "summaries"),
        (
            ("within", "out", "--column", "hours", "--by", "sex", "--statistic", "bounds"),
            "summaries",
        ),
        (("regress", "out", "weight ~ school"), "coefficients"),
    ],
)
def test_answers_to_analysts_have_schemas_too(words, name, place):
    """Shares, means, bounds and coefficients are as their schemas say, and no other things are."""
    protected()
    schema = json.loads(said("schema", name).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(said(*words, "--json").stdout), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate([{"estimate": ["much"]}], schema)


def test_the_schema_of_a_plan_knows_plans():
    """Every kind of part is accepted, and a word that is not known is not."""
    schema = schemas.schema("plan")
    jsonschema.Draft202012Validator.check_schema(schema)
    good = Plan.from_text(PLAN).dump()
    jsonschema.validate(good, schema)
    with pytest.raises(jsonschema.ValidationError, match="betta"):
        jsonschema.validate(good | {"betta": 1}, schema)


def test_every_schema_can_be_asked_for():
    """The command offers the schemas that there are."""
    offered = main.commands["schema"].params[0].type.choices
    assert list(offered) == list(schemas.SCHEMAS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    """A shell's script names the command, and the program completes what the script asks."""
    assert "_BISTOCHASTIC_COMPLETE" in said("completion", shell).stdout
    asked = {"COMP_WORDS": "bistochastic ver", "COMP_CWORD": "1"}
    env = os.environ | asked | {"_BISTOCHASTIC_COMPLETE": "bash_complete"}
    program = "from bistochastic.cli import main; main(prog_name='bistochastic')"
    run = [sys.executable, "-c", program]
    assert "verify" in subprocess.run(run, env=env, capture_output=True, text=True).stdout


@pytest.mark.parametrize("name", main.commands)
def test_every_help_has_an_example(name):
    """Each command is explained in a sentence and shown at work."""
    told = said(name, "--help").stdout
    assert f"Example: {'eval' if name == 'completion' else 'bistochastic ' + name}" in told


def test_the_demonstration(place):
    """It goes the whole way, keeps what it made where it is told to, and every promise holds."""
    told = said("demo", "--out", "kept").stdout
    assert "38 of 38 promises hold" in told
    assert re.search("the same +to the unit", told)
    assert (place / "kept" / "release" / "report.html").is_file()
    assert {path.name for path in (place / "kept").iterdir()} == {
        "people.csv", "plan.toml", "release", "release.key",
    }  # fmt: skip
    said("demo", "--out", "kept", ends=2)


def test_the_families():
    """The families of the algebra are shown for any number of categories."""
    assert "mixture" in said("families", "5").stdout
    said("families", "1", ends=2)


def test_the_module_is_the_command():
    """`python -m bistochastic` is the same program."""
    run = subprocess.run(
        [sys.executable, "-m", "bistochastic", "--version"], capture_output=True, text=True
    )
    assert run.stdout.startswith("bistochastic, version ")


def test_a_reader_who_leaves(place):
    """A pipe whose end has gone is no traceback."""
    line = f"'{sys.executable}' -m bistochastic explain plan.toml | head -1 > /dev/null"
    run = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=place)
    assert "Traceback" not in run.stderr


def on_a_terminal(words, place):
    """What a person at a terminal of 80 columns sees on either channel, as it is typed out."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "bistochastic", *words], cwd=place, stdin=subprocess.DEVNULL,
        stdout=follower, stderr=follower, env=os.environ | {"COLUMNS": "80", "TERM": "xterm"},
    )  # fmt: skip
    os.close(follower)
    seen = b""
    while process.poll() is None or select.select([leader], [], [], 0)[0]:
        if select.select([leader], [], [], 0.1)[0]:
            try:
                part = os.read(leader, 1 << 16)
            except OSError:  # how Linux says that the other side has closed
                break
            if not part:
                break
            seen += part
    os.close(leader)
    assert process.wait() == 0
    return seen.decode()


def test_progress_is_for_terminals(place):
    """Somebody who looks sees rows being counted; a file gets the result alone."""
    words = ("protect", "people.csv", "--plan", "plan.toml", "--out", "seen")
    assert "rows masked" in on_a_terminal(words, place)
    assert "rows masked" not in protected().output
    quiet = on_a_terminal((*words[:-1], "quiet", "--quiet"), place)
    assert quiet == ""


def test_nothing_is_wider_than_the_terminal(place):
    """Tables fit into eighty columns."""
    seen = on_a_terminal(("explain", "plan.toml", "--rows", "5000"), place)
    plain = [line for line in seen.replace("\r", "").split("\n") if "\x1b" not in line]
    assert plain
    assert max(map(len, plain)) <= 80


def test_the_list_of_commands_ends_its_sentences():
    """In eighty columns, what each command is for is not broken off."""
    listed = said("--help", terminal_width=80).stdout.partition("Commands:")[2]
    assert "..." not in listed
