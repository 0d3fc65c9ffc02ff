"""Write what people are told of a release."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from bistochastic.commands.shared import HERE, THERE

__all__ = ["report"]


@click.command()
@click.argument("folder", type=HERE)
@click.option("--original", type=HERE, help="The file it was made of; the report is then internal.")
@click.option("--html", type=THERE, required=True, help="The file to write, not there yet.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing when all is well.")
def report(folder: Path, original: Path | None, html: Path, quiet: bool) -> None:
    """Write what people are told of a release, as one HTML file.

    Without --original the report is public: it tells what the release tells anyway. With it the
    report is internal and as confidential as the original is.

    Example: bistochastic report release --original people.csv --html internal.html
    """
    from bistochastic.telling import report as reported

    with steps(quiet) as on_step:
        audience: Any = "public" if original is None else "internal"
        reported(folder, html, audience=audience, original=original, on_step=on_step)
    if not quiet:
        kind = "public" if original is None else "internal: keep it as the original"
        click.echo(f"Wrote {html}, {kind}.", err=True)


def steps(quiet: bool) -> Any:
    """What is being done, on a terminal; nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        return nullcontext(lambda step: None)
    from bistochastic.report.progress import saying

    return saying()
