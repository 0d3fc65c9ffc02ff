"""A plan proposed for a file: what each column seems to be, ready to be corrected."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import polars as pl

from bistochastic.matrices.calibration import calibrate
from bistochastic.tables.sources import Source, first_line, format_of, from_file, understood

__all__ = ["Seen", "inspect", "proposal"]

FEW = 30  # distinct numbers up to which they are codes rather than amounts
MOST = 1000  # labels up to which a column has categories
BETA = 0.3  # what is proposed for categories
ALONE = 0.95  # the share of distinct values from which a column tells one from another
FULL = 1.5  # how much longer a span may be than the numbers that occur in it
WIDTH = 90  # of a line of labels
DELIMITERS = ",;\t|"
GAPS = ("NA", "N/A", "NULL", "null", "NaN", "nan", "?", ".", "-")  # texts often said for nothing

IDENTIFIERS = re.compile(
    r"(^|_)(id|uuid|guid|ssn|nr|no|number|name|surname|firstname|lastname|email|mail|phone|tel|"
    r"address|street|passport|iban|account|person|url|ip)($|_)",
    re.IGNORECASE,
)
HOUSEHOLDS = re.compile(r"household|(^|_)hh(id)?($|_)|^hhid|^ori_?hid$|family_?id", re.IGNORECASE)
WEIGHTS = re.compile(r"weight|(^|_)w(gt|t)?($|_)|pond|fnlwgt", re.IGNORECASE)
KEYS = re.compile(
    r"sex|gender|(^|_)age|birth|born|region|county|country|district|zip|post|city|town|urb|rur|"
    r"race|ethnic|nation|citizen|marital|marriage|educ|school|occup|work|job|relig|language|"
    r"roof|wall|water|electr",
    re.IGNORECASE,
)
ORDERED = re.compile(
    r"age|educ|school|grade|level|class|band|group|size|income|year", re.IGNORECASE
)


@final
@dataclass(frozen=True, slots=True)
class Seen:
    """What can be seen of a column without understanding it."""

    name: str
    type: str
    rows: int
    missing: int
    distinct: int
    numeric: bool
    whole: bool
    labels: tuple[Any, ...] | None  # sorted, where they are few

    @property
    def telling(self) -> bool:
        """Whether nearly every row has a value of its own."""
        return self.distinct > ALONE * (self.rows - self.missing) and self.rows > FEW


def inspect(path: str | Path, *, delimiter: str | None = None) -> str:
    """A plan in TOML for a file, with comments on what was guessed.

    Args:
        path: The file.
        delimiter: What separates the cells of a text file; guessed if not given.
    """
    where = Path(path)
    mark = delimiter
    if mark is None and where.exists() and format_of(where).startswith("csv"):
        mark = guessed_delimiter(where)
    source = from_file(where, delimiter=mark or ",")
    gaps = found_gaps(source)
    columns = [seen(source, name, gaps) for name in source.names]
    return proposal(where.stem.partition(".")[0], columns, source.delimiter, gaps)


def guessed_delimiter(path: Path) -> str:
    """The mark that splits the header into most names."""
    header = first_line(path)
    counts = {mark: len(next(csv.reader([header], delimiter=mark))) for mark in DELIMITERS}
    return max(DELIMITERS, key=lambda mark: counts[mark])


def found_gaps(source: Source) -> tuple[str, ...]:
    """Texts that stand for nothing, if any of the usual ones stands in a column of numbers."""
    if not source.text:
        return ("",)
    with understood(source.where):
        frame = source.frame.select(
            pl.col(name).str.strip_chars().is_in(GAPS).any().alias(name) for name in source.names
        ).collect(engine="streaming")
        suspects = [name for name in source.names if frame[name][0]]
        used: set[str] = set()
        for name in suspects:
            column = source.frame.select(pl.col(name).str.strip_chars()).collect()[name]
            rest = column.filter(~column.is_in(GAPS) & (column != ""))
            if rest.len() and rest.cast(pl.Float64, strict=False).null_count() == 0:
                used |= set(column.filter(column.is_in(GAPS)).unique().to_list())
    return ("", *(gap for gap in GAPS if gap in used))


def seen(source: Source, name: str, gaps: Sequence[str]) -> Seen:
    """Look at one column; only one is held at a time."""
    with understood(source.where):
        column = source.frame.select(name).collect(engine="streaming")[name]
    if source.text:
        column = column.set(column.is_in(list(gaps)).fill_null(False), None)
    present = column.drop_nulls()
    numbers = present
    if column.dtype == pl.String:
        numbers = present.str.strip_chars().cast(pl.Float64, strict=False)
    numeric = bool(present.len() and numbers.dtype.is_numeric() and not numbers.null_count())
    if numeric and numbers.dtype.is_float():
        whole = bool((numbers.is_finite() & (numbers.round() == numbers)).all())
    else:
        whole = numeric
    if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary):
        return Seen(
            name, str(column.dtype), column.len(), column.null_count(), 0, False, False, None
        )
    distinct = present.n_unique()
    labels = None
    if 0 < distinct <= MOST:
        labels = sorted_labels(present.unique(), numeric=numeric, whole=whole)
    return Seen(
        name, str(column.dtype), column.len(), column.null_count(), distinct, numeric, whole, labels
    )


def sorted_labels(distinct: pl.Series, *, numeric: bool, whole: bool) -> tuple[Any, ...]:
    """Labels in order, numbers as numbers where a plan can write them as such."""
    if distinct.dtype == pl.String and numeric and whole:
        spelled = distinct.to_list()
        values = sorted(int(float(text)) for text in spelled)
        if sorted(map(str, values)) == sorted(spelled):
            return tuple(values)
    if isinstance(distinct.dtype, pl.Enum | pl.Categorical):
        if isinstance(distinct.dtype, pl.Enum):
            kept = set(distinct.to_list())
            return tuple(label for label in distinct.dtype.categories if label in kept)
        return tuple(sorted(distinct.cast(pl.String).to_list()))
    return tuple(distinct.sort().to_list())


def proposal(name: str, columns: Sequence[Seen], delimiter: str, gaps: Sequence[str]) -> str:
    """The plan as a text."""
    parts = [
        "# Proposed from the file; read every line before you believe it. What is guessed says so.",
        f"release = {quoted(name)}",
    ]
    if columns:
        parts.append(f"rows = {columns[0].rows}")
    if delimiter != "," or tuple(gaps) != ("",):
        parts += ["", "[file]"]
        if delimiter != ",":
            parts.append(f"delimiter = {quoted(delimiter)}")
        if tuple(gaps) != ("",):
            parts.append(f"missing = [{', '.join(map(quoted, gaps))}]")
    for column in columns:
        parts += ["", f"[columns.{key(column.name)}]", *described(column)]
    return "\n".join(parts) + "\n"


def described(column: Seen) -> Iterator[str]:
    """What a column seems to be, in lines of a plan."""
    told = f"{column.distinct} distinct" + (f", {column.missing} missing" if column.missing else "")
    yield f"# {column.type}, {told}."
    if column.rows == column.missing:
        yield 'role = "plain"  # guessed: nothing stands in it'
    elif HOUSEHOLDS.search(column.name):
        yield 'role = "household"  # guessed from its name'
        yield "pseudonym = true"
    elif WEIGHTS.search(column.name) and column.numeric:
        yield 'role = "weight"  # guessed from its name'
    elif column.telling and (not column.numeric or IDENTIFIERS.search(column.name)):
        yield 'role = "identifier"  # guessed: nearly every row has its own; it is dropped'
    elif column.numeric and column.distinct > FEW and KEYS.search(column.name) is None:
        yield from amount(column, "confidential")
    elif column.labels is None and column.numeric:
        yield from amount(column, "key")
    elif column.labels is None:
        yield 'role = "identifier"  # guessed: too many labels for categories; it is dropped'
    else:
        yield from categories(column)


def amount(column: Seen, role: str) -> Iterator[str]:
    """A column of numbers."""
    yield f'role = "{role}"  # guessed'
    yield 'kind = "numeric"'
    yield 'how = "permute"'
    yield 'matrix = "blocks"'
    yield "k = 10  # each number changes places with its nine nearest"


def categories(column: Seen) -> Iterator[str]:
    """A column of categories."""
    labels = column.labels or ()
    role = "key" if KEYS.search(column.name) else "confidential"
    yield f'role = "{role}"  # guessed from its name' if role == "key" else f'role = "{role}"'
    ordinal = column.numeric or bool(ORDERED.search(column.name) and len(labels) > 2)
    kind = "ordinal" if ordinal and len(labels) > 2 else "nominal"
    why = "  # guessed: check the order of the labels" if kind == "ordinal" else ""
    yield f'kind = "{kind}"{why}'
    yield from domain(labels)
    yield "learnt = true  # replace the domain by a public code list, then take this line out"
    if column.missing:
        yield 'missing = "category"  # who gave no answer is hidden too'
    else:
        yield 'missing = "refuse"  # none is missing now; "category" hides who is'
    yield 'matrix = "optimal"' if kind == "ordinal" else 'matrix = "mixture"'
    yield f"beta = {BETA}  # three tenths of the uncertainty there could be"
    first, last = span(labels) or (1, len(labels))
    if kind == "ordinal" and vanishes(last - first + 1 + bool(column.missing)):
        yield "allow_zeros = true  # far steps are too rare to be drawn: epsilon is infinite"


def vanishes(n: int) -> bool:
    """Whether the proposed matrix has entries too small for integers."""
    _, vanished = calibrate("optimal", n, beta=BETA).integers(64)
    return vanished > 0


def span(labels: Sequence[Any]) -> tuple[int, int] | None:
    """The first and last of whole numbers of which few are left out."""
    whole = [label for label in labels if type(label) is int]
    if len(whole) == len(labels) > 1 and whole[-1] - whole[0] < FULL * len(whole):
        return whole[0], whole[-1]
    return None


def domain(labels: Sequence[Any]) -> Iterable[str]:
    """The list of labels, or a span of whole numbers that are mostly there."""
    whole = span(labels)
    if whole is not None:
        return [f"domain = {{first = {whole[0]}, last = {whole[1]}}}"]
    listed = ", ".join(map(written, labels))
    if len(listed) <= WIDTH:
        return [f"domain = [{listed}]"]
    lines = [""]
    for label in map(written, labels):
        if lines[-1] and len(lines[-1]) + len(label) > WIDTH:
            lines.append("")
        lines[-1] += f"{label}, "
    return ["domain = [", *(f"    {line.rstrip()}" for line in lines), "]"]


def written(label: Any) -> str:
    """A label as TOML writes it."""
    if isinstance(label, bool):
        return "true" if label else "false"
    if isinstance(label, int | float):
        return repr(label)
    if isinstance(label, str):
        return quoted(label)
    return str(label.isoformat())


def quoted(text: str) -> str:
    """A text as TOML writes it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(_escaped(mark) for mark in escaped) + '"'


def _escaped(mark: str) -> str:
    if mark == "\t":
        return "\\t"
    return mark if mark.isprintable() else f"\\U{ord(mark):08X}"


def key(name: str) -> str:
    """A column name as a key of TOML."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)
