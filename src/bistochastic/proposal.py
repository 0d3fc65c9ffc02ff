"""The text of a proposed plan: what each column seems to be, why, and what is done to it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

from bistochastic.matrices.calibration import calibrate

__all__ = ["FEW", "MOST", "Seen", "proposal"]

FEW = 30  # distinct numbers up to which they are codes rather than amounts
MOST = 1000  # labels up to which a column has categories
BETA = 0.3  # what is proposed for categories
NEAREST = 10  # ranks that exchange their numbers
ALONE = 0.95  # the share of distinct values from which a column tells one from another
FULL = 1.5  # how much longer a span of ordered numbers may be than those that occur in it
WIDTH = 90  # of a line of labels
LONGEST = 1 << 63  # whole numbers that TOML can write lie below, and not below its negative

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
    r"(?<![a-z])(age|year|month|hour|week|grade|rank|score|stage|step|count|num|child|children|"
    r"kid|room|member|visit|decile|quintile|quartile)s?(?![a-z])|number|age_?(group|band|class)|"
    r"size|level|income|educ|school|degree|satisf|frequen|severity",
    re.IGNORECASE,
)
BEGINNING = re.compile(
    r"\s*(?P<sign><=?|>=?|≤|≥|(?:under|below|up to|less than|over|above|more than)\s)?\s*"
    r"(?P<number>-?\d+(?:,\d{3})*(?:\.\d+)?)",
    re.IGNORECASE,
)
MOMENT = re.compile(r"\d{4}-\d\d(-\d\d([ T]\d\d:\d\d.*)?)?")  # as ISO 8601 writes it


@final
@dataclass(frozen=True, slots=True)
class Seen:
    """What can be seen of a column without understanding it."""

    name: str
    type: str
    rows: int
    missing: int
    distinct: int
    labels: tuple[Any, ...] | None  # in order, where they are few and a plan can write them
    numeric: bool = False  # finite numbers, all of them
    whole: bool = False
    moments: bool = False  # dates, times and what lies between them
    opaque: bool = False  # lists, structures and bytes
    text: bool = False  # of a text file

    @property
    def telling(self) -> bool:
        """Whether nearly every row has a value of its own."""
        return self.distinct > ALONE * (self.rows - self.missing) and self.rows > FEW

    @property
    def codes(self) -> bool:
        """Whether its numbers seem to be codes or steps, not amounts."""
        if not self.numeric or self.labels is None:
            return False
        return self.distinct <= FEW or (self.whole and KEYS.search(self.name) is not None)


def proposal(name: str, columns: Sequence[Seen], delimiter: str, gaps: Sequence[str]) -> str:
    """The plan as a text."""
    parts = [
        "# Proposed from the file; read every line before you believe it. What is guessed says so.",
        "# Confidential, as the file is: domains below hold labels read off the data. Replace them",
        "# by public code lists before you show this to anybody.",
        f"release = {quoted(name)}",
        f"rows = {columns[0].rows}",
    ]
    if delimiter != "," or tuple(gaps) != ("",):
        parts += ["", "[file]"]
        if delimiter != ",":
            parts.append(f"delimiter = {quoted(delimiter)}  # guessed from the header")
        if tuple(gaps) != ("",):
            parts.append(
                f"missing = [{', '.join(map(quoted, gaps))}]  # guessed: they stand among numbers"
            )
    said = {column.name: list(described(column)) for column in columns}
    if columns[0].text and all('role = "identifier"' in lines[1] for lines in said.values()):
        said[columns[0].name].append("pseudonym = true  # a text file needs a column")
    for column, lines in said.items():
        parts += ["", f"[columns.{key(column)}]", *lines]
    return "\n".join(parts) + "\n"


def described(column: Seen) -> Iterator[str]:
    """What a column seems to be, in lines of a plan; the second says its role."""
    told = "not compared" if column.opaque else f"{column.distinct} distinct"
    yield f"# {column.type}, {told}" + (f", {column.missing} missing." if column.missing else ".")
    if column.rows == column.missing:
        yield 'role = "plain"  # guessed: nothing stands in it'
    elif column.opaque:
        yield 'role = "identifier"  # guessed: its type has no categories; it is dropped'
    elif column.numeric and WEIGHTS.search(column.name):
        yield 'role = "weight"  # guessed from its name'
    elif column.moments:
        yield from amount(column, "dates and times have an order")
    elif HOUSEHOLDS.search(column.name):
        yield 'role = "household"  # guessed from its name'
        yield "pseudonym = true  # the same household, another name"
    elif column.telling and (not column.numeric or IDENTIFIERS.search(column.name)):
        yield 'role = "identifier"  # guessed: nearly every row has its own; it is dropped'
    elif column.numeric and not column.codes:
        yield from amount(column, "so many different numbers are amounts")
    elif column.labels is None:
        yield 'role = "identifier"  # guessed: no list of labels could hold it; it is dropped'
    else:
        yield from categories(column, column.labels)


def role(column: Seen) -> str:
    """Whether others may know it, as far as a name tells."""
    if KEYS.search(column.name):
        return 'role = "key"  # guessed: by its name, others may know it of somebody'
    return 'role = "confidential"  # guessed: by its name, others do not know it'


def amount(column: Seen, why: str) -> Iterator[str]:
    """A column of numbers."""
    k = min(NEAREST, column.rows - column.missing)
    yield role(column)
    yield f'kind = "numeric"  # guessed: {why}'
    yield 'how = "permute"'
    yield 'matrix = "blocks"'
    yield f"k = {k}  # each number is shuffled among that many of its nearest, or more"


def categories(column: Seen, labels: Sequence[Any]) -> Iterator[str]:
    """A column of categories."""
    why = ordered(column, labels) if len(labels) > 2 else None
    yield role(column)
    if why is not None:
        yield f'kind = "ordinal"  # guessed: {why}'
    else:
        yield f'kind = "nominal"{hint(column, labels)}'
    yield from domain(labels, FULL if why is not None else 1)
    yield "learnt = true  # replace the domain by a public code list, then take this line out"
    if len(labels) == 1:
        yield 'missing = "category"  # one label hides nothing: list the others there could be'
    elif column.missing:
        yield 'missing = "category"  # who gave no answer is hidden too'
    else:
        yield 'missing = "refuse"  # none is missing now; "category" hides who is'
    yield 'matrix = "mixture"' if why is None else 'matrix = "optimal"'
    yield f"beta = {BETA}  # three tenths of the uncertainty there could be"
    first, last = span(labels, FULL) or (1, len(labels))
    if why is not None and vanishes(last - first + 1 + bool(column.missing)):
        yield "allow_zeros = true  # far steps are too rare to be drawn: epsilon is infinite"


def ordered(column: Seen, labels: Sequence[Any]) -> str | None:
    """Why the labels seem to stand in an order, if they do."""
    if column.numeric:
        if not column.whole:
            return "numbers with decimals have an order"
        return "numbers, and the name suggests an order" if ORDERED.search(column.name) else None
    if all(isinstance(label, str) for label in labels):
        if in_order(labels) is not None:
            return "its labels begin with numbers that order them"
        if all(MOMENT.fullmatch(label) for label in labels):
            return "its labels are dates"
    return None


def hint(column: Seen, labels: Sequence[Any]) -> str:
    """What to do if labels have an order after all."""
    if len(labels) < 3:
        return ""
    if column.numeric:
        return '  # guessed: whole numbers may be codes; say "ordinal" if they have an order'
    if ORDERED.search(column.name):
        return '  # guessed; its name suggests an order: list them in it, and say "ordinal"'
    return '  # guessed; if labels have an order, list them in it and say "ordinal"'


def in_order(labels: Iterable[str]) -> list[str] | None:
    """Labels sorted by the numbers they begin with, if these tell all of them apart.

    >>> in_order(["5-14", "75+", "<5", "15-74"])
    ['<5', '5-14', '15-74', '75+']
    """
    places: dict[tuple[float, int], str] = {}
    for label in labels:
        found = BEGINNING.match(label)
        if found is None:
            return None
        sign = (found["sign"] or "").strip().lower()
        side = 0 if not sign else 1 if sign[0] in ">≥oam" else -1
        place = (float(found["number"].replace(",", "")), side)
        if place in places:
            return None
        places[place] = label
    return [places[place] for place in sorted(places)]


def vanishes(n: int) -> bool:
    """Whether the proposed matrix has entries too small for integers."""
    _, vanished = calibrate("optimal", n, beta=BETA).integers(64)
    return vanished > 0


def span(labels: Sequence[Any], most: float) -> tuple[int, int] | None:
    """The first and last of whole numbers, if they are at most so many for each that occurs."""
    whole = [label for label in labels if type(label) is int]
    if len(whole) == len(labels) > 1 and whole[-1] - whole[0] < most * len(whole):
        return whole[0], whole[-1]
    return None


def domain(labels: Sequence[Any], most: float) -> Iterable[str]:
    """The list of labels, or a span of whole numbers that are there or nearly."""
    whole = span(labels, most)
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
    return repr(label) if isinstance(label, int | float) else quoted(label)


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
