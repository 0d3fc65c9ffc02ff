"""The command that draws privacy against distortion for a file."""

from pathlib import Path
from typing import Any

import click

from bistochastic.commands.shared import (
    AS_JSON,
    HERE,
    TABLE,
    THERE,
    read_plan,
    refuse_page,
    spooled,
    write_page,
)

__all__ = ["tradeoff"]


@click.command()
@click.argument("data", type=TABLE)
@click.option(
    "--key-column", "keys", multiple=True, required=True, help="What others may know; repeatable."
)
@click.option(
    "--confidential", multiple=True, required=True, help="What nobody may learn; repeatable."
)
@click.option("--plan", "plan_path", type=HERE, help="A plan to place beside the curve.")
@click.option("--measure", type=click.Choice(["hamming", "squared"]), help="What an error costs.")
@click.option("--units", type=click.Choice(["bits", "nats"]), default="bits", show_default=True)
@click.option(
    "--bins",
    type=click.IntRange(2, 200),
    default=25,
    show_default=True,
    help="Cells for numbers with more different values.",
)
@click.option("--points", type=click.IntRange(2, 200), default=21, show_default=True)
@click.option("--methods", is_flag=True, help="Place the usual matrices too.")
@click.option("--html", type=THERE, help="Write a page with the drawing to this file.")
@AS_JSON
def tradeoff(
    data: str | Path,
    keys: tuple[str, ...],
    confidential: tuple[str, ...],
    plan_path: Path | None,
    measure: Any,
    units: Any,
    bins: int,
    points: int,
    methods: bool,
    html: Path | None,
    as_json: bool,
) -> None:
    """Draw the least that any masking can leak at each distortion.

    The leak is what the published key columns tell of the confidential ones, I(W; X̂). With a plan
    one sentence says how far it is from the best possible.

    What is shown describes the confidential file: it is as confidential as the file is.

    Example: bistochastic tradeoff people.csv --key-column region --confidential ill
    """
    from bistochastic.frontier.planes import plane
    from bistochastic.plan.plan import Plan

    refuse_page(html)
    plan = None if plan_path is None else read_plan(plan_path, Plan)
    with spooled(data) as path:
        found = plane(path, keys, confidential, plan=plan, measure=measure, units=units, bins=bins)
    curve = found.tradeoff.curve(points)
    placed = found.families() if methods else ()
    if html is not None:
        from bistochastic.report.frontier import page

        write_page(page(found, curve, placed), html, as_="file")
    if as_json:
        from bistochastic.frontier.survey import surveyed

        click.echo(surveyed(found, curve, placed).text(), nl=False)
    if as_json or html is not None:
        return
    from bistochastic.report.planes import shown
    from bistochastic.report.terminal import console

    console().print(shown(found, curve, placed))
