"""`compare`: several maskings of one file."""

from collections import Counter
from pathlib import Path

import click

from bistochastic.commands.evaluate import listed
from bistochastic.commands.shared import (
    AS_JSON,
    HERE,
    THERE,
    read_plan,
    refuse,
    refuse_page,
    write_page,
)

__all__ = ["compare"]


@click.command()
@click.argument("original", type=HERE)
@click.argument("masked", type=HERE, nargs=-1, required=True)
@click.option("--plan", "plan_path", type=HERE, help="What is known of the columns.")
@click.option("--id", "who", metavar="COLUMN", help="Link records by this column.")
@click.option("--nominal", metavar="COLUMNS", help="Columns of numbers that have no order.")
@click.option("--delimiter", help="What separates the cells of text files; guessed if not given.")
@click.option("--html", type=THERE, help="Write a page with drawings to this file.")
@AS_JSON
def compare(
    original: Path,
    masked: tuple[Path, ...],
    plan_path: Path | None,
    who: str | None,
    nominal: str | None,
    delimiter: str | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Order several maskings of one file as all would agree.

    One is above another only if it is at least as good for every aversion to risk, or to loss;
    else the points are told at which the better one changes.

    Example: bistochastic compare people.csv swapped.csv noisy.csv averaged.csv
    """
    from bistochastic.referee.comparison import compare as ordered

    refuse_page(html)
    plan = None
    if plan_path is not None:
        from bistochastic.plan.plan import Plan

        plan = read_plan(plan_path, Plan)
    found = ordered(
        original,
        dict(zip(named(masked), masked, strict=True)),
        plan=plan,
        id=who,
        kinds=dict.fromkeys(listed(nominal) or (), "nominal"),
        delimiter=delimiter,
    )
    if html is not None:
        from bistochastic.report.ordered import page

        write_page(page(found.verdicts(), original.name), html, as_="original")
    if as_json:
        click.echo(found.json(), nl=False)
    if as_json or html is not None:
        return
    from bistochastic.report.compared import compared
    from bistochastic.report.terminal import console

    console().print(compared(found.verdicts()))


def named(paths: tuple[Path, ...]) -> list[str]:
    """The files by what tells their names apart, or by their paths where two have one name."""
    stems = [path.name.partition(".")[0] or path.name for path in paths]
    if max(Counter(stems).values()) == 1:
        shared = beginning(min(stems), max(stems)) if len(stems) > 1 else ""
        cut = max(shared.rfind("_"), shared.rfind("-")) + 1
        return [stem[cut:] for stem in stems] if all(stem[cut:] for stem in stems) else stems
    whole = [str(path) for path in paths]
    if len(set(whole)) < len(whole):
        refuse("A masked file is named twice. Name each once.", 2)
    return whole


def beginning(one: str, other: str) -> str:
    """What two words begin with alike: of the first and the last in order, all between do too."""
    apart = (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return one[: next(apart, min(len(one), len(other)))]
