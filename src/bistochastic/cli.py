"""The command line: each command parses, calls one public function and prints."""

import sys
from pathlib import Path
from typing import Any, Literal

import click

from bistochastic import __version__
from bistochastic.commands.compare import compare
from bistochastic.commands.estimate import estimate
from bistochastic.commands.evaluate import evaluate
from bistochastic.commands.regress import regress
from bistochastic.commands.report import report
from bistochastic.commands.shared import (
    AS_JSON,
    HERE,
    TABLE,
    THERE,
    progress,
    read_plan,
    refuse,
    spooled,
    the_key,
)
from bistochastic.commands.tradeoff import tradeoff
from bistochastic.commands.within import within
from bistochastic.errors import BistochasticError

__all__ = ["main"]


class Commands(click.Group):
    """Commands in the order of the work, whose refusals are one readable block."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BistochasticError as error:
            refuse(str(error), 2)
        except KeyboardInterrupt:
            refuse("Stopped. Nothing was published.", 130)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # which click ends by itself, without a traceback
        except Exception as error:  # what it says may quote data, so only its kind is told
            refuse(unexpected(error), 3)


def unexpected(error: BaseException) -> str:
    """Where an error nobody foresaw came up, without what it says."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "?"
    return (
        f"A defect of this program: {type(error).__name__} at {where}. Nothing was published. "
        f"Please report it with this line; it holds no data."
    )


WAY = """\
Release confidential tables safely, with the privacy paid for in bits.

\b
bistochastic demo                              see the whole way
bistochastic inspect people.csv -o plan.toml   propose a plan
bistochastic explain plan.toml                 what it guarantees
bistochastic protect people.csv --plan plan.toml --out release
bistochastic estimate release --by sex,region  what analysts recover
bistochastic within release --column income --by sex
bistochastic regress release "income ~ sex + age"
bistochastic report release --html report.html what people are told of it
bistochastic verify release                    what was promised is there
bistochastic evaluate people.csv masked.csv    judge a masked file
bistochastic compare people.csv a.csv b.csv    order several

Ends with 0 if all is well, 1 if a check failed, 2 if something given was refused, 3 at a defect.
"""


@click.group(cls=Commands, help=WAY, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bistochastic")
def main() -> None:
    """The command line."""


@main.command()
@click.option("--out", type=THERE, help="Keep data, plan and release in this folder.")
def demo(out: Path | None) -> None:
    """Walk the whole way on built-in data: no input, no network.

    Example: bistochastic demo --out demo
    """
    from bistochastic.demo import walk

    walk(out)


@main.command()
@click.argument("data", type=TABLE)
@click.option("-o", "--out", type=THERE, help="Write the plan to this file, never over one.")
@click.option("--delimiter", help="What separates the cells of a text file; guessed if not given.")
def inspect(data: str | Path, out: Path | None, delimiter: str | None) -> None:
    """Look at a file, or a table of a database; propose a plan.

    Its comments say what was guessed. It holds labels that were read off the file, so it is as
    confidential as the file is.

    Example: bistochastic inspect people.csv -o plan.toml
    """
    from bistochastic.inspection import inspect as proposed
    from bistochastic.report.page import put, refuse_taken

    if out is not None:
        refuse_taken(out)
    text = proposed(data, delimiter=delimiter)
    if out is None:
        click.echo(text, nl=False)
        return
    put(text, out)
    click.echo(f"Wrote {out}. Read it, correct it, then: bistochastic explain {out}", err=True)


@main.command()
@click.argument("plan", type=HERE)
@click.option("--rows", type=click.IntRange(min=1), help="How many rows numeric columns will have.")
@AS_JSON
def explain(plan: Path, rows: int | None, as_json: bool) -> None:
    """Say what a plan guarantees, before any data is touched.

    Example: bistochastic explain plan.toml --rows 5000
    """
    from bistochastic.plan.plan import Plan

    told = read_plan(plan, Plan).explain(rows=rows)
    if as_json:
        click.echo(told.text(), nl=False)
        return
    from bistochastic.report.terminal import console, explained

    console().print(
        explained(
            told.release,
            told.columns,
            told.together,
            told.totals,
            told.warnings,
            told.families,
            rows=told.rows,
            disclosed=told.disclosed,
        )
    )


@main.command()
@click.argument("data", type=TABLE)
@click.option("--plan", "plan_path", type=HERE, required=True, help="What is done to each column.")
@click.option(
    "--out",
    type=TABLE,
    required=True,
    help="The folder or the table of the release, not there yet.",
)
@click.option("--key", "key_path", type=HERE, help="The key file; made if it is not there yet.")
@click.option(
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    help="Who does it: this process, or the workers of Spark.",
)
@click.option("--report/--no-report", default=True, help="Whether report.html is published too.")
@click.option("--json", "as_json", is_flag=True, help="For machines: the manifest.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing when all is well.")
def protect(
    data: str | Path,
    plan_path: Path,
    out: str | Path,
    key_path: Path | None,
    engine: Literal["local", "spark"],
    report: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Protect a file as a plan says and publish it in a folder.

    The folder appears whole or not at all. DATA is a CSV (also .gz or .zst), Parquet or Arrow file;
    a dash is standard input. It may be the address of a table or a query in a database, too:
    postgresql://host/census#people.

    Without --key a fresh key is used and forgotten: nobody can take the masking back, and nobody
    can repeat it.

    Example: bistochastic protect people.csv --plan plan.toml --out release --key release.key
    """
    from bistochastic.folder import refuse_occupied
    from bistochastic.plan.plan import Plan
    from bistochastic.run import protect as protected
    from bistochastic.tables.connections import Database
    from bistochastic.tables.databases import refuse_present

    plan = read_plan(plan_path, Plan)
    if isinstance(out, Path):
        refuse_occupied(out)
    else:
        refuse_present(Database.of(out))
    key = the_key(key_path)
    with spooled(data) as path, progress(quiet or as_json) as on_rows:
        release = protected(path, plan, key, engine=engine, on_rows=on_rows)
        release.write(out, report=report)
    if as_json:
        click.echo(release.manifest.text(), nl=False)
    elif not quiet:
        from bistochastic.report.terminal import console, published

        where = str(out) if isinstance(out, Path) else Database.of(out).where
        console().print(published(release.manifest, where, str(key_path) if key_path else None))


main.add_command(estimate)
main.add_command(within)
main.add_command(regress)
main.add_command(report)


@main.command()
@click.argument("folder", type=HERE)
@click.option("--key", "key_path", type=HERE, help="The key the release was made with.")
@click.option("--original", type=HERE, help="The file it was made of.")
@AS_JSON
def verify(folder: Path, key_path: Path | None, original: Path | None, as_json: bool) -> None:
    """Recompute what was promised of a release.

    With its key and the original, the very bytes are made again. Ends with 1 if a promise is
    broken.

    Example: bistochastic verify release --key release.key --original people.csv
    """
    from bistochastic.keystream import Key
    from bistochastic.verify import verify as verified

    if (key_path is None) != (original is None):
        refuse("--key and --original go together: the bytes follow from both.", 2)
    key = None if key_path is None else Key.read(key_path)
    checks = verified(folder, key=key, original=original)
    if as_json:
        from bistochastic.verify import as_json as machine

        click.echo(machine(checks))
    else:
        from bistochastic.report.terminal import checked, console

        console().print(checked((check.promise, check.holds, check.found) for check in checks))
    broken = [check for check in checks if not check.holds]
    if broken:
        click.echo(f"{len(broken)} of {len(checks)} promises are broken.", err=True)
        sys.exit(1)


main.add_command(evaluate)
main.add_command(compare)
main.add_command(tradeoff)


@main.command()
@click.argument("n", type=click.IntRange(min=2, max=500), default=12)
def families(n: int) -> None:
    """Show the families of matrices side by side.

    N is the number of ordered categories.

    Example: bistochastic families 5
    """
    from bistochastic.families import show

    show(n)


@main.command()
@click.argument(
    "name",
    type=click.Choice(
        [
            "plan",
            "explanation",
            "manifest",
            "checks",
            "estimates",
            "summaries",
            "coefficients",
            "evaluation",
            "comparison",
            "tradeoff",
        ]
    ),
)
def schema(name: str) -> None:
    """Print the JSON schema of what is read or written.

    Example: bistochastic schema plan > plan.schema.json
    """
    from bistochastic.schemas import text

    click.echo(text(name), nl=False)


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    Example: eval "$(bistochastic completion bash)"
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is not None:
        click.echo(kind(main, {}, "bistochastic", "_BISTOCHASTIC_COMPLETE").source())
