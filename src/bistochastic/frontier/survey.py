"""A plane as it is written for machines; what is not finite is null."""

import json
import math
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from bistochastic.frontier.planes import Plane
from bistochastic.tradeoff.curve import TradeoffCurve
from bistochastic.tradeoff.placed import Placed

__all__ = ["Survey", "surveyed"]


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Mark(_Said):
    """A point of the curve, with its certificate."""

    distortion: float
    risk: float
    gap: float
    multiplier: float | None
    worst: float | None
    disclosure: float | None


class Place(_Said):
    """A plan or a method beside the curve."""

    name: str
    distortion: float
    risk: float
    error: float
    least: float
    excess: float
    thin: bool
    says: str


class Survey(_Said):
    """The whole plane."""

    key_columns: tuple[str, ...]
    confidential: tuple[str, ...]
    units: str
    rows: int
    left_out: int
    largest_risk: float
    silent_distortion: float
    constant_distortion: float
    curve: tuple[Mark, ...]
    methods: tuple[Place, ...]
    plan: Place | None

    def text(self) -> str:
        """The same as JSON."""
        told = self.model_dump(mode="json")
        return json.dumps(told, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def surveyed(found: Plane, curve: TradeoffCurve, placed: Sequence[Placed]) -> Survey:
    """A plane, the points of its curve and the methods on it."""
    return Survey(
        key_columns=tuple(one.name for one in found.keys),
        confidential=tuple(one.name for one in found.secrets),
        units=curve.units,
        rows=found.rows,
        left_out=found.left_out,
        largest_risk=found.tradeoff.largest_risk,
        silent_distortion=found.tradeoff.silent_distortion,
        constant_distortion=found.tradeoff.constant_distortion,
        curve=tuple(
            Mark(
                distortion=point.distortion,
                risk=point.risk,
                gap=point.gap,
                multiplier=_finite(point.multiplier),
                worst=_finite(point.closeness.worst),
                disclosure=_finite(point.closeness.disclosure),
            )
            for point in curve
        ),
        methods=tuple(map(_place, placed)),
        plan=None if found.plan is None else _place(found.plan),
    )


def _place(one: Placed) -> Place:
    return Place(
        name=one.name,
        distortion=one.distortion,
        risk=one.risk,
        error=one.error,
        least=one.least,
        excess=one.excess,
        thin=one.thin,
        says=one.sentence,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
