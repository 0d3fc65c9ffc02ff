"""The report of a release: what was done, what it guarantees, and what can be learnt from it."""

from collections.abc import Iterator

from bistochastic.manifest import Guarantee, Manifest, Published
from bistochastic.report.columns import column_part, group_part
from bistochastic.report.drawing.bars import gauge
from bistochastic.report.drawing.numbers import counted, decimal, epsilon
from bistochastic.report.drawing.sheet import Table
from bistochastic.report.judgement import judged
from bistochastic.report.material import Material
from bistochastic.report.page import Fact, Page, Part
from bistochastic.report.words import DONE, RANKED, listed, of_columns, of_file, recovery

__all__ = ["publication"]

TARGETS = ("beta", "bits", "epsilon", "truth", "k", "deniability")
READERS = {"csv": "read_csv", "parquet": "read_parquet", "arrow": "read_ipc"}


def publication(material: Material) -> Page:
    """The page, in the order in which those who review releases look for things."""
    manifest = material.manifest
    parts: list[Part] = []
    if manifest.warnings:
        parts.append(_warnings(manifest))
    parts += [_file(material), _plan(manifest), _guarantees(material)]
    parts.append(_columns(material))
    if material.evaluation is not None:
        parts += judged(material.evaluation, manifest, material.utility)
    parts += [_analysis(material), _proof(material)]
    return Page(
        title=manifest.release,
        kind="internal report of a release" if material.internal else "report of a release",
        lead=of_file(manifest, material.rows),
        sentences=of_columns(manifest, material.rows),
        parts=parts,
        confidential=material.internal,
        footer="Made by bistochastic "
        f"{manifest.version}. This file needs no network and runs no program.",
    )


def _warnings(manifest: Manifest) -> Part:
    many = len(manifest.warnings)
    title = "One thing to think about" if many == 1 else f"{many} things to think about"
    return Part(title, texts=manifest.warnings, alert=True)


def _file(material: Material) -> Part:
    """What went in, and which columns are not there any more."""
    manifest = material.manifest
    gone = [column.name for column in manifest.columns if column.treatment == "dropped"]
    roles: dict[str, list[str]] = {}
    for column in manifest.columns:
        roles.setdefault(column.role, []).append(column.name)
    data = manifest.data
    facts = [
        Fact("rows", counted(material.rows)),
        Fact("columns", str(len(manifest.columns)), f"{len(gone)} left out" if gone else ""),
    ]
    if data is not None:
        facts.append(Fact("file", data.name, f"{counted(data.bytes)} bytes"))
    facts.append(
        Fact(
            "answers",
            "permanent" if manifest.addressed_by == "records" else "by row",
            "the same for a record whenever it is published under this release and key"
            if manifest.addressed_by == "records"
            else "drawn for the rows of this file",
        )
    )
    lines = tuple((role, listed(names)) for role, names in roles.items())
    return Part("The file", facts=facts, table=Table(("role", "columns"), lines))


def _plan(manifest: Manifest) -> Part:
    """What was asked for and what was done, a line for each column."""
    columns = manifest.plan.get("columns", {})
    groups = manifest.plan.get("together", [])
    lines = []
    for column in manifest.columns:
        said = columns.get(column.name, {})
        group = manifest.group(column.name)
        if group is not None:
            said = next((g for g in groups if column.name in g.get("columns", ())), {})
        asked = listed([f"{name} {_target(said[name])}" for name in TARGETS if name in said])
        given = group.guarantee if group else column.guarantee
        lines.append(
            (
                column.name,
                column.role,
                column.kind or "",
                DONE[column.treatment],
                group.matrix if group else column.matrix or "",
                asked or _shape(said),
                "" if given is None else f"{decimal(given.bits)} of {decimal(given.max_bits)}",
                _epsilon(column, given),
            )
        )
    headings = ("column", "role", "kind", "what is done", "matrix", "asked for", "bits", "epsilon")
    return Part(
        "The plan",
        texts=("What was decided before any data were touched, and what came of it.",),
        table=Table(headings, tuple(lines)),
    )


def _epsilon(column: Published, given: Guarantee | None) -> str:
    """An epsilon of categories; over ranks it is about who has a number, and says so."""
    if given is None:
        return ""
    return f"{decimal(given.epsilon)}{' (index)' if column.treatment in RANKED else ''}"


def _target(value: object) -> str:
    return decimal(value) if isinstance(value, int | float) else str(value)


def _shape(said: dict[str, object]) -> str:
    """A shape that fixes a matrix, where it can be told in a word."""
    for name in ("width", "width_share", "time"):
        value = said.get(name)
        if isinstance(value, int | float):
            return f"{name.replace('_', ' ')} {decimal(value)}"
    return ""


def _guarantees(material: Material) -> Part:
    """The file as one."""
    totals = material.manifest.totals
    if not totals.max_bits:
        return Part("Guarantees", texts=("No category was randomised, so nothing is promised.",))
    ranked = [c.name for c in material.manifest.columns if c.joint_bits is not None]
    facts = [
        Fact("epsilon in total", epsilon(totals.epsilon), "the sum over all columns of categories"),
        Fact("joint beta", decimal(totals.joint_beta), "of 1, which is perfect secrecy"),
        Fact("conservative beta", decimal(totals.conservative_beta), "each column by itself"),
    ]
    for name in ranked:
        column = material.manifest.column(name)
        facts.append(
            Fact(f"{name}, all ranks", f"{decimal(column.joint_bits or 0.0)} bits",
                 "left open about all of them together")
        )  # fmt: skip
    return Part(
        "Guarantees",
        texts=(
            "Bits say how uncertain a report is once the truth is fixed, on average over truths. "
            "Epsilon limits how much any reader can learn from a report, whatever she knew before. "
            "Both are those of the whole numbers that were sampled, rounded against the publisher.",
        ),
        facts=facts,
        drawings=[gauge(totals.bits, totals.max_bits, name="all categories of a person")],
    )


def _columns(material: Material) -> Part:
    manifest = material.manifest
    parts = [group_part(material, group) for group in manifest.together]
    told = [column_part(material, column) for column in manifest.columns]
    return Part("Column by column", parts=[*(part for part in told if part is not None), *parts])


def _analysis(material: Material) -> Part:
    return Part(
        "What an analyst can and cannot recover",
        texts=(
            "Reported shares are not the true ones: the matrices blur them in a known way, which "
            "an estimate takes back. Nothing but this folder is needed for that, and no key.",
        ),
        sentences=recovery(material.manifest),
        code=code(material),
    )


def code(material: Material) -> str:
    """Lines that an analyst can copy: one column, two in a table, a column of numbers."""
    names = [name for name, found in material.columns.items() if found.recovered is not None]
    numbers = list(material.numbers)
    data = material.manifest.data
    where = material.where
    lines = ["import bistochastic as bs", ""]
    if names:
        lines += [
            "# the true shares, with standard errors and intervals",
            f"print(bs.estimate({where!r}, columns=[{names[0]!r}]))",
        ]
    if len(names) > 1:
        lines += [
            "",
            "# how two columns go together",
            f"print(bs.estimate({where!r}, columns=[{names[0]!r}, {names[1]!r}]))",
        ]
    if numbers and data is not None and data.format in READERS:
        lines += [
            "",
            "# numbers are published as they are, at other rows",
            "import polars as pl",
            f"print(pl.{READERS[data.format]}({f'{where}/{data.name}'!r})[{numbers[0]!r}].mean())",
        ]
    lines += ["", "# what was done, in full", f"print(bs.Manifest.read({where!r}).totals)"]
    return "\n".join(lines)


def _proof(material: Material) -> Part:
    """What a sceptic compares."""
    manifest = material.manifest
    lines = [("bistochastic", manifest.version), ("format of the manifest", str(manifest.format))]
    if manifest.data is not None:
        lines.append((f"SHA-256 of {manifest.data.name}", manifest.data.sha256))
    lines += [(f"integers of {name}", digest) for name, digest in _digests(manifest)]
    return Part(
        "Versions and hashes",
        texts=(
            "Everything that is promised here can be recomputed from the folder by anybody; with "
            "the key and the original, the very bytes can be made again.",
        ),
        code=f"bistochastic verify {material.where}",
        table=Table(("what", "value"), tuple(lines)),
    )


def _digests(manifest: Manifest) -> Iterator[tuple[str, str]]:
    for column in manifest.columns:
        if column.guarantee is not None:
            yield column.name, column.guarantee.digest
    for group in manifest.together:
        yield " × ".join(group.columns), group.guarantee.digest
