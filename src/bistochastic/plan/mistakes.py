"""Mistakes in a plan, each with its place, what was found and what to do."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from pydantic import ValidationError

from bistochastic.errors import PlanError
from bistochastic.plan.lines import line_of
from bistochastic.plan.model import Column, FileFormat, PlanModel, Together

__all__ = ["Mistake", "from_validation", "refuse"]

Path = tuple[str | int, ...]


@final
@dataclass(frozen=True, slots=True)
class Mistake:
    """Something a plan says that it cannot mean."""

    path: Path
    says: str

    def told(self, lines: dict[Path, int]) -> str:
        """The mistake with its line, where the plan was read from a text."""
        line = line_of(lines, self.path)
        where = f"line {line}, " if line else ""
        return f"{where}{key(self.path)}: {self.says}"


def key(path: Path) -> str:
    """A place in a plan as one would write it.

    >>> key(("columns", "sex", "beta")), key(("together", 0, "columns"))
    ('columns.sex.beta', 'together[0].columns')
    """
    told = ""
    for part in path:
        told += f"[{part}]" if isinstance(part, int) else f".{part}" if told else str(part)
    return told or "the plan"


def refuse(mistakes: Sequence[Mistake], name: str, lines: dict[Path, int]) -> None:
    """Raise all mistakes at once, in the order of the text."""
    if not mistakes:
        return
    ordered = sorted(mistakes, key=lambda mistake: line_of(lines, mistake.path) or 0)
    told = [mistake.told(lines) for mistake in ordered]
    if len(told) == 1:
        raise PlanError(f"{name}, {told[0]}")
    listed = "".join(f"\n  - {one}" for one in told)
    raise PlanError(f"{name} has {len(told)} mistakes:{listed}")


def from_validation(error: ValidationError) -> list[Mistake]:
    """What the reader of a plan found, in words."""
    found: dict[Path, Mistake] = {}
    for fault in sorted(error.errors(), key=lambda fault: fault["type"] != "value_error"):
        path = _place(fault["loc"])  # several alternatives may have failed at one place
        found.setdefault(path, Mistake(path, _words(fault, path)))
    return list(found.values())


def _place(loc: Path) -> Path:
    """The place of a fault, without the names of the alternatives that were tried there."""
    return tuple(
        part for at, part in enumerate(loc) if at < 3 or isinstance(part, int) or part in KEYS
    )


def _words(fault: Any, path: Path) -> str:
    kind, context = fault["type"], fault.get("ctx", {})
    if kind == "extra_forbidden":
        return f"is not known here.{_meant(str(path[-1]), _known(path))}"
    if kind == "missing":
        return f"is missing.{NEEDED.get(str(path[-1]), '')}"
    if kind == "literal_error":
        return f"must be {context['expected']}; got {fault['input']!r}."
    if kind == "value_error":
        return f"{context['error']}."
    if kind in BOUNDS:
        return f"must be {BOUNDS[kind]} {next(iter(context.values()))}; got {fault['input']!r}."
    if "domain" in path:
        return "must be a list of labels, or {first = …, last = …} for whole numbers."
    expected = EXPECTED.get(kind)
    if expected:
        return f"must be {expected}; got {_short(fault['input'])}."
    return f"{fault['msg']}."


def _short(value: Any) -> str:
    told = repr(value)
    return told if len(told) <= 40 else f"{told[:37]}…"


def _known(path: Path) -> tuple[str, ...]:
    model: Any = {"columns": Column, "together": Together, "file": FileFormat}.get(
        str(path[0]) if len(path) > 1 else "", PlanModel
    )
    return tuple(model.model_fields)


def _meant(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {near[0]!r}?" if near else f" There are {', '.join(sorted(known))}."


KEYS = {*Column.model_fields, *Together.model_fields, *FileFormat.model_fields}
NEEDED = {
    "release": " Write release = \"…\" at the top: every release has a name of its own.",
    "role": " Write role = \"key\", \"confidential\", \"identifier\", \"weight\", \"household\" or "
    "\"plain\".",
    "columns": " Write a table [columns.NAME] for each column of the file.",
}  # fmt: skip
BOUNDS = {
    "greater_than_equal": "at least",
    "less_than_equal": "at most",
    "greater_than": "above",
    "less_than": "below",
}
EXPECTED = {
    "bool_type": "true or false",
    "string_type": "a text",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "string_too_short": "a text that is not empty",
    "string_too_long": "a single character",
    "too_short": "a longer list",
}
