"""What a plan guarantees and what a release keeps, on a terminal."""

import math
from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bistochastic.manifest import Disclosed, Guarantee, Manifest, Published, Totals
from bistochastic.manifest import Group as Together
from bistochastic.report.learnable import learnable

__all__ = [
    "checked",
    "console",
    "explained",
    "gauge",
    "hanging",
    "known",
    "number",
    "percent",
    "plain_table",
    "published",
    "written",
]

BAR = 6  # characters of a gauge
PARTS = " ▏▎▍▌▋▊▉█"
NARROW = 80
WIDE = 100
LEGEND = {
    "least": "the bits of the value that is protected worst",
    "true": "how often a report is the truth, all truths being equally likely",
    "die": "an intruder’s, as uncertain as the truth behind the report that tells most, if all "
    "truths are equally likely beforehand",
    "jointly": "the bits that all ranks together leave open",
    "shares": "by how much errors of estimated shares grow at most; never, if they are lost",
}
TREATED = ("randomised",)
RANKED = ("permuted", "drawn", "averaged")
PASSED = {
    "untouched": "published as it is",
    "dropped": "left out",
    "pseudonyms": "replaced by keyed pseudonyms",
}


def console(*, stderr: bool = False) -> Console:
    """A terminal of at least eighty columns, or a file that is read as one."""
    made = Console(stderr=stderr, highlight=False)
    made.width = min(max(made.width if made.is_terminal else WIDE, NARROW), WIDE)
    return made


def written(page: RenderableType) -> str:
    """A page as the text that a file would get of it."""
    paper = console()
    with paper.capture() as told:
        paper.print(page)
    return told.get()


def explained(
    release: str,
    columns: Sequence[Published],
    together: Sequence[Together],
    totals: Totals,
    warnings: Sequence[str],
    families: Sequence[tuple[str, str]],
    *,
    rows: int | None = None,
    disclosed: Sequence[Disclosed] = (),
) -> RenderableType:
    """What is done to each column and what that guarantees, then the whole, then warnings."""
    parts: list[RenderableType] = [Text(release, style="bold"), Text()]
    categorical = [
        (column.name, str(column.matrix), column.guarantee)
        for column in columns
        if column.treatment in TREATED and column.guarantee
    ]
    categorical += [
        (" × ".join(group.columns), group.matrix, group.guarantee) for group in together
    ]
    if categorical:
        parts += [_Categories(categorical), Text()]
    ranked = [column for column in columns if column.treatment in RANKED]
    if ranked:
        parts += [_individuals(ranked, rows), Text()]
    passed = [column for column in columns if column.treatment in PASSED]
    if passed:
        parts += [*_passing(passed), Text()]
    parts += [*_whole(totals, [(name, given) for name, _, given in categorical]), Text()]
    if disclosed:
        parts += [*learnable(disclosed), Text()]
    if families:
        parts += [*_legend(families), Text()]
    return Group(*parts, *_warned(warnings))


class _Categories:
    """A line for each channel, with bars and units where there is room for them."""

    def __init__(self, lines: Sequence[tuple[str, str, Guarantee]]) -> None:
        self.lines = lines

    def __rich_console__(self, on: Console, options: ConsoleOptions) -> RenderResult:
        roomy = options.max_width >= WIDE
        table = plain_table()
        table.add_column("column", style="bold", overflow="fold", min_width=9)
        table.add_column("matrix", overflow="fold", no_wrap=roomy)
        table.add_column("beta", no_wrap=True)
        for heading in ("bits", "least", "epsilon", "true", "die", "shares"):
            table.add_column(heading, justify="right", no_wrap=True)
        for name, matrix, given in self.lines:
            table.add_row(
                name,
                matrix,
                f"{given.beta:.2f} {gauge(given.beta)}" if roomy else f"{given.beta:.2f}",
                f"{given.bits:.2f}/{given.max_bits:.2f}",
                f"{given.min_row_bits:.2f}",
                number(given.epsilon),
                percent(given.truth_mean),
                die(given) if roomy else die(given).removesuffix(" sides"),
                recoverable(given),
            )
        yield table


def _individuals(columns: Iterable[Published], rows: int | None) -> Table:
    """A line for each column whose ranks are masked."""
    table = plain_table()
    table.add_column("numbers", style="bold", overflow="fold", min_width=9)
    for heading in ("how", "bits each", "least", "jointly", "index ε", "holds"):
        words = heading in ("how", "holds")  # they may go on in the next line, numbers may not
        table.add_column(heading, justify="left" if words else "right", no_wrap=not words)
    for column in columns:
        given = column.guarantee
        how = f"{column.treatment}, {column.matrix}"
        if given is None:
            table.add_row(column.name, how, "", "", "", "", "depends on the rows: --rows")
            continue
        joint = "" if column.joint_bits is None else f"{column.joint_bits:,.0f}"
        holds = {
            "permuted": "every value, once each",
            "drawn": "margins, on average",
            "averaged": "means",
        }[column.treatment]
        table.add_row(
            column.name, how, f"{given.bits:.2f}", f"{given.min_row_bits:.2f}", joint,
            number(given.epsilon), holds,
        )  # fmt: skip
    return table


def _passing(columns: Iterable[Published]) -> Iterable[RenderableType]:
    for column in columns:
        line = Text(f"{column.name}: ", style="bold")
        line.append(f"{column.role}, {PASSED[column.treatment]}", style="not bold")
        yield line


def _whole(totals: Totals, lines: Sequence[tuple[str, Guarantee]]) -> Iterable[RenderableType]:
    """The file as one."""
    if not lines:
        yield Text("No categorical column is randomised.")
        return
    yield Text.assemble(
        "Of one person's categories ",
        (f"{totals.bits:.2f} of {totals.max_bits:.2f} bits", "bold"),
        " are left open: joint beta ",
        (f"{totals.joint_beta:.2f}", "bold"),
        f", conservative beta {totals.conservative_beta:.2f}.",
    )
    if math.isinf(totals.epsilon):
        yield Text(
            "Epsilon in total is infinite: some report rules some truth out for certain, or some "
            "column passes."
        )
    else:
        yield Text.assemble("Epsilon adds up to ", (number(totals.epsilon), "bold"), ".")
    lost = [name for name, given in lines if not given.recoverable]
    if lost:
        yield Text(
            f"Analysts cannot recover the shares of {', '.join(lost)}, only what is identifiable, "
            f"as sums over blocks."
        )


def _legend(families: Iterable[tuple[str, str]]) -> Iterable[RenderableType]:
    for name, says in families:
        yield Text.assemble((f"{name}: ", "italic"), (says, "dim"))
    for heading, says in LEGEND.items():
        yield Text.assemble((f"{heading}: ", "italic"), (says, "dim"))


def _warned(warnings: Sequence[str]) -> Iterator[RenderableType]:
    return known(warnings, "to think about", "No warnings.")


def known(notes: Sequence[str], what_for: str, none: str) -> Iterator[RenderableType]:
    """Notes under their number, or that there are none."""
    if not notes:
        yield Text(none, style="green")
        return
    yield Text(f"{len(notes)} {what_for}", style="bold yellow")
    yield from (hanging("·", note) for note in notes)


def hanging(mark: str, text: str) -> Padding:
    """A sentence after a mark, its lines flush."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=1)
    grid.add_column()
    grid.add_row(Text(mark, style="yellow"), Text(text))
    return Padding(grid, (0, 0, 0, 1))


def published(manifest: Manifest, folder: str, key: str | None) -> RenderableType:
    """What was published where, in a few lines."""
    data = manifest.data
    lines = [
        Text.assemble(
            ("Published ", "green"), (f"{manifest.rows:,} rows", "bold"), f" in {folder}"
        ),
        Text(
            f"  {data.name if data else 'data'}, {data.bytes if data else 0:,} bytes", style="dim"
        ),
        Text("  manifest.json: what was done, and what it guarantees", style="dim"),
    ]
    if manifest.report is not None:
        lines.append(Text("  report.html: the same for people, in a browser", style="dim"))
    if key is None:
        lines.append(Text("The key was fresh and is forgotten: nobody can take this back."))
    else:
        lines.append(
            Text(f"The key is in {key}. Whoever has it can take the randomisation back: keep it "
                 f"apart.")
        )  # fmt: skip
    return Group(*lines, *_warned(manifest.warnings))


def checked(lines: Iterable[tuple[str, bool, str]]) -> Table:
    """Promises, whether each is kept, and what was found."""
    table = plain_table()
    table.add_column("", width=1)
    table.add_column("promise")
    table.add_column("found", style="dim")
    for promise, holds, found in lines:
        mark = Text("✓", style="green") if holds else Text("✗", style="bold red")
        table.add_row(mark, promise, found)
    return table


def plain_table() -> Table:
    """A table with one line below its head."""
    return Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="dim")


def gauge(share: float) -> str:
    """A bar for a share of one."""
    eighths = round(share * BAR * 8)
    full, rest = divmod(eighths, 8)
    bar = "█" * full + (PARTS[rest] if rest else "")
    return bar.ljust(BAR, "·")


def die(given: Guarantee) -> str:
    """What an intruder without prior knowledge faces, for the report that tells most."""
    return "" if given.sides is None else f"{given.sides:.1f} sides"


def recoverable(given: Guarantee) -> str:
    """How well shares can be estimated from reports."""
    return f"×{number(given.condition)}" if given.recoverable else "never"


def percent(share: float) -> str:
    """A share as people read it."""
    return f"{share:.0%}"


def number(value: float) -> str:
    """A number short enough for a table."""
    if math.isinf(value):
        return "∞"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.1g}"
