"""The command of analysts: means, totals, quantiles and shares within cells of a release."""

from pathlib import Path

import click

from bistochastic.commands.estimate import named
from bistochastic.commands.shared import HERE, VARIANCE, estimating

__all__ = ["within"]

STATISTICS = ["mean", "total", "quantile", "share", "bounds"]


@click.command()
@click.argument("folder", type=HERE)
@click.option("--column", required=True, help="The column that is told of.")
@click.option("--by", multiple=True, help="The columns whose cells it is told within.")
@click.option(
    "--statistic", type=click.Choice(STATISTICS), default="mean", show_default=True,
    help="What is told of it.",
)  # fmt: skip
@click.option("--share", type=float, default=0.5, show_default=True, help="Which quantile.")
@VARIANCE
@estimating
def within(
    folder: Path, column: str, by: tuple[str, ...], statistic: str, share: float, variance: str,
    level: float, weight: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Tell the mean of a column within the cells of others.

    Or its total, a quantile, bounds of its mean, or the share of each of its categories. The cells
    may have been randomised: what was reported is corrected for it. Nothing but the folder of the
    release is needed.

    Example: bistochastic within release --column income --by sex,region
    """
    from bistochastic.analyst.summaries import within as told
    from bistochastic.manifest import Manifest
    from bistochastic.report.analyses import shown

    manifest = Manifest.read(folder)
    cells = named(by, {known.name for known in manifest.columns})
    frame = told(
        folder, manifest, column, by=cells,
        statistic=statistic, share=share, variance=variance, level=level, weight=weight,  # type: ignore[arg-type]  # click lets no other word through
    )  # fmt: skip
    shown(frame, [*cells, *([column] if statistic == "share" else [])], as_json=as_json)
