"""Figures: a measured number with its unit, its direction and what to hold it against."""

from typing import Literal, NamedTuple

__all__ = ["NEUTRAL", "RISKIER", "SAFER", "WORSE", "Direction", "Figure"]

Direction = Literal["larger is safer", "larger is riskier", "larger is worse", "neither"]

SAFER: Direction = "larger is safer"
RISKIER: Direction = "larger is riskier"
WORSE: Direction = "larger is worse"
NEUTRAL: Direction = "neither"


class Figure(NamedTuple):
    """One number of an evaluation.

    `of` names the columns, `parameter` what the measure was asked with. `before` and `after` are
    the same statistic of both files, where the value compares two; `low` and `high` an interval,
    `reference` what a random file would give, or another line to hold the value against.
    """

    measure: str
    of: tuple[str, ...]
    value: float
    unit: str
    direction: Direction
    parameter: str = ""
    before: float | None = None
    after: float | None = None
    low: float | None = None
    high: float | None = None
    reference: float | None = None
