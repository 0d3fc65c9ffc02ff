"""The command of analysts: a regression on the columns of a release."""

from pathlib import Path

import click

from bistochastic.commands.shared import HERE, VARIANCE, estimating

__all__ = ["regress"]


@click.command()
@click.argument("folder", type=HERE)
@click.argument("formula")
@click.option(
    "--family", type=click.Choice(["linear", "logistic"]), default="linear", show_default=True,
    help="The kind of model.",
)  # fmt: skip
@click.option(
    "--method", type=click.Choice(["moments", "likelihood"]), default="moments",
    show_default=True, help="Corrected moments, or the likelihood of a logistic model.",
)  # fmt: skip
@click.option("--success", help="The label of the response that counts as one.")
@VARIANCE
@estimating
def regress(
    folder: Path, formula: str, family: str, method: str, success: str | None, variance: str,
    level: float, weight: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Fit a linear or logistic model to a release.

    Columns that were randomised may be predictors, the response, or both: the coefficients are
    those of the true values. Nothing but the folder of the release is needed.

    Example: bistochastic regress release "illness ~ smoker + age" --family logistic
    """
    from bistochastic.analyst.regressions import regress as fitted
    from bistochastic.manifest import Manifest
    from bistochastic.report.analyses import shown

    frame = fitted(
        folder, Manifest.read(folder), formula, family=family, method=method,  # type: ignore[arg-type]  # click lets no other word through
        success=success, variance=variance, level=level, weight=weight,  # type: ignore[arg-type]  # the same
    )  # fmt: skip
    shown(frame, ["term"], as_json=as_json)
