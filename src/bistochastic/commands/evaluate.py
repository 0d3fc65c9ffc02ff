"""`evaluate`: a masked file against its original."""

from pathlib import Path

import click

from bistochastic.commands.shared import (
    AS_JSON,
    HERE,
    TABLE,
    THERE,
    called,
    read_plan,
    refuse,
    refuse_page,
    write_page,
)

__all__ = ["evaluate", "listed"]


def listed(names: str | None) -> list[str] | None:
    """Names separated by commas, none where nothing is said."""
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


@click.command()
@click.argument("original", type=TABLE)
@click.argument("masked", type=TABLE)
@click.option("--plan", "plan_path", type=HERE, help="What is known of the columns.")
@click.option("--id", "who", metavar="COLUMN", help="Link records by this column.")
@click.option("--unlinked", is_flag=True, help="The masked records are nobody's: synthetic ones.")
@click.option("--keys", metavar="COLUMNS", help="What others may know, with commas between.")
@click.option("--confidential", metavar="COLUMNS", help="What classes of the keys must not tell.")
@click.option("--nominal", metavar="COLUMNS", help="Columns of numbers that have no order.")
@click.option("--delimiter", help="What separates the cells of text files; guessed if not given.")
@click.option("--html", type=THERE, help="Write a page with drawings to this file.")
@AS_JSON
def evaluate(
    original: str | Path,
    masked: str | Path,
    plan_path: Path | None,
    who: str | None,
    unlinked: bool,
    keys: str | None,
    confidential: str | None,
    nominal: str | None,
    delimiter: str | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Judge a masked file against its original, whoever masked it.

    How far records moved, who can be linked, what classes tell and what was lost, each number with
    its direction and what a random file would give. Records stand in the same order unless --id
    says who is who.

    Example: bistochastic evaluate people.csv masked.csv --keys region,sex --confidential illness
    """
    if unlinked and who is not None:
        refuse("--id links records and --unlinked says that there are none to link.", 2)
    from bistochastic.referee.evaluation import evaluate as judged

    refuse_page(html)
    plan = None
    if plan_path is not None:
        from bistochastic.plan.plan import Plan

        plan = read_plan(plan_path, Plan)
    found = judged(
        original,
        masked,
        plan=plan,
        id=who,
        linked=not unlinked,
        keys=listed(keys),
        confidential=listed(confidential),
        kinds=dict.fromkeys(listed(nominal) or (), "nominal"),
        delimiter=delimiter,
    )
    if html is not None:
        from bistochastic.report.judgement import page

        write_page(page(found, called(masked)), html, as_="original")
    if as_json:
        click.echo(found.json(), nl=False)
    if as_json or html is not None:
        return
    from bistochastic.report.judged import evaluated
    from bistochastic.report.terminal import console

    console().print(evaluated(found.account()))
