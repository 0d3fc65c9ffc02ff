"""JSON schemas of what is read and written: the plan, and what the commands say with `--json`.

An editor of TOML takes the one of the plan to complete keys and to mark mistakes as they are made.
"""

import json
from typing import Any

from pydantic import BaseModel, TypeAdapter

from bistochastic.analyst.statement import Statement
from bistochastic.frontier.survey import Survey
from bistochastic.manifest import Explanation, Manifest
from bistochastic.plan.model import PlanModel
from bistochastic.referee.account import Account
from bistochastic.referee.comparison import Verdicts
from bistochastic.verify import Check

__all__ = ["SCHEMAS", "schema", "text"]


class Coefficient(BaseModel, extra="forbid"):
    """A term of a model; what is not finite is null."""

    term: str
    estimate: float | None
    se: float | None
    low: float | None
    high: float | None


Row = dict[str, str | bool | int | float | None]  # labels of a cell, then numbers

SCHEMAS: dict[str, tuple[str, TypeAdapter[Any], bool]] = {
    "plan": ("A plan, as TOML or JSON", TypeAdapter(PlanModel), True),
    "explanation": ("explain --json", TypeAdapter(Explanation), False),
    "manifest": ("manifest.json and protect --json", TypeAdapter(Manifest), False),
    "checks": ("verify --json", TypeAdapter(list[Check]), False),
    "estimates": ("estimate --json", TypeAdapter(Statement), False),
    "summaries": ("within --json", TypeAdapter(list[Row]), False),
    "coefficients": ("regress --json", TypeAdapter(list[Coefficient]), False),
    "evaluation": ("evaluate --json", TypeAdapter(Account), False),
    "comparison": ("compare --json", TypeAdapter(Verdicts), False),
    "tradeoff": ("tradeoff --json", TypeAdapter(Survey), False),
}


def schema(name: str) -> dict[str, Any]:
    """One of the schemas, by its name.

    >>> schema("plan")["required"]
    ['release', 'columns']
    """
    title, model, read = SCHEMAS[name]
    made = model.json_schema(mode="validation" if read else "serialization")
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return draft | _plain(made) | {"title": title}


def text(name: str) -> str:
    """A schema as JSON, the same on every machine."""
    return json.dumps(schema(name), ensure_ascii=False, indent=1) + "\n"


def _plain(node: Any) -> Any:
    """A schema without the titles that repeat its keys and the examples of docstrings."""
    if isinstance(node, list):
        return [_plain(part) for part in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _plain(part) for key, part in node.items() if not _repeats(key, part)}
    if isinstance(kept.get("description"), str):
        kept["description"] = kept["description"].partition("\n")[0]
    return kept


def _repeats(key: str, part: Any) -> bool:
    return key == "title" and isinstance(part, str)
