"""The command of analysts: shares of any columns of a release, with their errors."""

from pathlib import Path

import click

from bistochastic.commands.shared import TABLE, VARIANCE, estimating

__all__ = ["estimate"]


@click.command()
@click.argument("folder", type=TABLE)
@click.option("--by", required=True, multiple=True, help="The columns whose cells are wanted.")
@VARIANCE
@click.option(
    "--method", type=click.Choice(["unbiased", "likelihood"]), default="unbiased",
    show_default=True, help="Shares that may be negative, or the most likely ones.",
)  # fmt: skip
@click.option(
    "--interval", type=click.Choice(["score", "normal"]), default="score", show_default=True,
    help="The kind of interval; score suits small cells.",
)  # fmt: skip
@estimating
def estimate(
    folder: str | Path, by: tuple[str, ...], variance: str, method: str, interval: str,
    level: float, weight: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Estimate the shares of a table from a release.

    Its cells are the combinations of columns, whether they were protected independently, together
    or not at all. Nothing but the folder of the release is needed, or the address of its table in a
    database.

    Example: bistochastic estimate release --by sex,region
    """
    from bistochastic.analyst.contingency import contingency
    from bistochastic.analyst.reported import manifest_beside
    from bistochastic.analyst.statement import lines, sentences, stated
    from bistochastic.manifest import Manifest

    manifest = Manifest.read(folder) if isinstance(folder, Path) else manifest_beside(folder)
    table = contingency(
        folder, manifest, named(by, {column.name for column in manifest.columns}),
        variance=variance, method=method, interval=interval, level=level, weight=weight,  # type: ignore[arg-type]  # click lets no other word through
    )  # fmt: skip
    if as_json:
        click.echo(stated(table).text(), nl=False)
        return
    from bistochastic.report.estimates import estimates
    from bistochastic.report.terminal import console

    console().print(estimates(table.asked, lines(table), sentences(table), level=level))


def named(given: tuple[str, ...], known: set[str]) -> tuple[str, ...]:
    """Columns from a list of their names, in which a name may hold a comma itself.

    >>> named(("sex,region", "a,b"), {"sex", "region", "a,b"})
    ('sex', 'region', 'a,b')
    """
    split = [[name] if name in known else name.split(",") for name in given]
    return tuple(name.strip() for part in split for name in part)
