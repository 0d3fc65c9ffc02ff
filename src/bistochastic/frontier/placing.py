"""Where a plan or a masked column lies: exactly if it has a channel, else by what it did once."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bistochastic.errors import PlanError
from bistochastic.frontier.attributes import Attribute, coded, together
from bistochastic.keystream import Key
from bistochastic.plan.plan import Plan
from bistochastic.run import protect
from bistochastic.tables.local import as_numbers
from bistochastic.tables.sources import Source, from_frame
from bistochastic.tradeoff.function import Tradeoff
from bistochastic.tradeoff.information import estimated_information
from bistochastic.tradeoff.placed import Placed
from bistochastic.tradeoff.problem import Floats

if TYPE_CHECKING:
    from bistochastic.frontier.planes import Plane

__all__ = ["counted", "estimated", "placed"]


def counted(secret: NDArray[np.int64], told: NDArray[np.int64], size: int) -> Floats:
    """Counts of pairs, a row for each confidential value that occurs."""
    _, rows = np.unique(secret, return_inverse=True)
    counts = np.bincount(rows * size + told, minlength=(int(rows.max()) + 1) * size)
    return counts.reshape(-1, size).astype(np.float64)


def placed(
    made: "Plane", plan: Plan, data: Any, columns: pl.DataFrame, source: Source, key: Key | None
) -> Placed:
    """Where a plan lies: exactly if it has a channel, else by masking once."""
    name = plan.said.release
    for one in made.keys:
        if one.name not in plan.columns:
            raise PlanError(f"The plan says nothing of the key column {one.name!r}.")
        if plan.columns[one.name].role == "identifier":
            raise PlanError(f"The plan leaves out the key column {one.name!r}: nothing to place.")
    ranked = [
        one
        for one in made.keys
        if plan.columns[one.name].kind == "numeric" and plan.columns[one.name].matrix
    ]
    if not ranked:
        return made.tradeoff.place(_channel(made.keys, plan), name)
    masked = protect(data, plan, key).data
    return _sampled(made, from_frame(masked), plan, columns, source, name)


def _channel(keys: tuple[Attribute, ...], plan: Plan) -> Floats:
    """The joint channel of the key columns, in their order."""
    names = [one.name for one in keys]
    sizes = {one.name: one.size for one in keys}
    order: list[str] = []
    whole: NDArray[Any] = np.ones((1, 1))
    for part in plan.treated.values():
        shared = [name for name in part.columns if name in sizes]
        if shared and len(shared) < len(part.columns):
            raise PlanError(
                f"The plan treats {' × '.join(map(repr, part.columns))} as one; name all of them "
                f"as key columns."
            )
        if shared:
            whole = np.kron(whole, part.matrix.to_dense())
            order += shared
    for name in names:
        if name not in order:
            whole = np.kron(whole, np.eye(sizes[name]))
            order.append(name)
    shape = [sizes[name] for name in order]
    places = [order.index(name) for name in names]
    turned = whole.reshape(*shape, *shape).transpose(*places, *(len(shape) + p for p in places))
    return turned.reshape(whole.shape)


def _sampled(
    made: "Plane", masked: Source, plan: Plan, columns: pl.DataFrame, source: Source, name: str
) -> Placed:
    """A plan by what it made of the rows, with the error of one file."""
    after = masked.frame.select([one.name for one in made.keys]).collect()
    distortion, codes = np.zeros(columns.height), []
    for one, weight in zip(made.keys, made.weights, strict=True):
        if one.edges is not None:
            before, _ = as_numbers(columns[one.name], source)
            now, _ = as_numbers(after[one.name], masked)
            again = replace(one, codes=one.again(now))
        else:
            again = coded(after[one.name], masked, plan, 2, None)
        if one.squares:
            distortion += weight * (now - before.astype(np.float64)) ** 2 / one.unit
        else:
            distortion += weight * one.costs[one.codes, again.codes]
        codes.append(again)
    _, here = together(made.keys)
    reported, still = together(codes)
    secret, there = together(made.secrets)
    kept = here & there & still
    return estimated(made.tradeoff, name, distortion[kept], secret[kept], reported[kept])


def estimated(
    function: Tradeoff,
    name: str,
    distortion: NDArray[np.floating[Any]],
    secret: NDArray[np.int64],
    reported: NDArray[np.int64],
) -> Placed:
    """A method by what it did to each record: the risk is estimated, and has an error."""
    units = function.units
    codes = np.unique(reported, return_inverse=True)[1]
    counts = counted(secret, codes, int(codes.max()) + 1)
    told = estimated_information(counts, units=units)
    at = float(distortion.mean())
    least = function.least_at(at)
    return Placed(name, at, told.value, told.error, least, units, told.thin)
