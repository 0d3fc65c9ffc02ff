"""Appraisal: every figure of a pair of tables, room by room, on one scale."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bistochastic.errors import MeasureError
from bistochastic.measures.attributes import Attribute, Metric, Scale
from bistochastic.measures.chance import random_distances, random_relative_distances
from bistochastic.measures.closeness import Anonymity, Closeness, anonymity, closeness
from bistochastic.measures.figures import NEUTRAL, RISKIER, SAFER, WORSE, Figure
from bistochastic.measures.histogram import ZERO
from bistochastic.measures.linkage import Linkage, linkage
from bistochastic.measures.nominal import changed
from bistochastic.measures.permutation import Displacement, displacement, information_loss
from bistochastic.measures.permuted import PermutedColumn, permuted_privacy
from bistochastic.measures.propensity import Propensity, propensity
from bistochastic.measures.utility import Compared, column_utility, pair_utility
from bistochastic.measures.windows import Criterion
from bistochastic.referee.pairing import Pair

__all__ = [
    "attributes",
    "closeness_figures",
    "compared",
    "displaced",
    "keyed",
    "linkage_figures",
    "links",
    "loss_figures",
    "moved",
    "permuted",
    "permuted_figures",
    "propensity_figures",
    "protection_figures",
    "size_figures",
    "told_by",
    "utility_figures",
]

Floats = NDArray[np.float64]

MANY = 100_000  # records up to which linkage is part of every evaluation
MODEL = 200  # columns up to which a propensity score and all pairs are
ALPHAS = (1.0, 0.0)
PERMUTED: tuple[tuple[str, Criterion, str], ...] = (
    ("permuted v, distinct", "distinct", "values within d ranks"),
    ("permuted v, variance", "variance", "variance within d ranks"),
)
NAMED = {1.0: "mean", 0.0: "geometric mean"}


def displaced(pair: Pair, name: str) -> Displacement:
    """How far masking moved each record of a column that has an order."""
    return displacement(*_in_order(pair, name))


def permuted(pair: Pair, name: str) -> PermutedColumn:
    """What permuted privacy a column that has an order attains."""
    return permuted_privacy(*_in_order(pair, name))


def _in_order(pair: Pair, name: str) -> tuple[Floats, Floats]:
    if not pair.column(name).ordered:
        raise MeasureError(
            f"Column {name!r} has no order, so nobody is displaced in it. Declare one (orders), or "
            f"a distance between its labels (distances)."
        )
    return pair.sides(name, numbers=True)


def moved(pair: Pair, name: str) -> float:
    """The share of records whose value in a column without order is another one."""
    return changed(*pair.sides(name))


def protection_figures(pair: Pair, displacements: dict[str, Displacement]) -> Iterator[Figure]:
    """How far records moved in each column, beside a random permutation and random ties."""
    for name in pair.columns:
        if name not in displacements:
            if pair.linked:
                share = moved(pair, name)
                yield Figure("changed", (name,), share, "share of records", SAFER)
            continue
        told = displacements[name]
        n = told.size
        yield Figure("moved", (name,), told.moved, "share of records", SAFER, reference=1 - 1 / n)
        chance, ties = random_distances(n), told.tied_at_random()
        span = max(told.span, 1)
        for alpha in ALPHAS:
            value = float(told.protection(alpha, rescaled=True))
            line = float(chance.means(alpha, zero=ZERO)) / span
            high = float(ties.means(alpha, zero=ZERO)) / span
            yield Figure(
                "protection", (name,), value, f"{NAMED[alpha]} way, share of n - 1 ranks", SAFER,
                parameter=f"alpha={alpha:g}", high=max(high, value), reference=line,
            )  # fmt: skip


def permuted_figures(pair: Pair, shares: Sequence[float] = (0.95,)) -> Iterator[Figure]:
    """The (d, v) of permuted privacy that so large shares of the records attain."""
    for name, column in pair.columns.items():
        if not (column.ordered and pair.linked):
            continue
        try:
            found = permuted(pair, name)
        except MeasureError:  # nobody has a value before and after
            continue
        of = (name,)
        for share in shares:
            asked, d = f"share={share:g}", int(found.distance(share))
            yield Figure("permuted d", of, d, "ranks from the look-alike", SAFER, parameter=asked)
            for title, criterion, unit in PERMUTED:
                v = float(found.diversity(d, share, criterion))
                yield Figure(title, of, v, unit, SAFER, parameter=asked)


def loss_figures(displacements: dict[str, Displacement]) -> Iterator[Figure]:
    """How differently each two columns moved, beside two independent permutations."""
    if len(displacements) > MODEL:
        return
    for one, other in combinations(displacements, 2):
        first, second = displacements[one], displacements[other]
        try:
            value = float(information_loss(first, second, rescaled=True))
            chance = float(random_relative_distances(first, second).means(1.0))
        except MeasureError:  # no record has both
            continue
        yield Figure(
            "information loss", (one, other), value, "mean way apart, share of 2(n - 1) ranks",
            WORSE, parameter="theta=1", reference=chance / max(first.span + second.span, 1),
        )  # fmt: skip


def attributes(pair: Pair, names: Sequence[str] | None) -> list[Attribute]:
    """Columns as an intruder compares them."""
    made = []
    for name in pair.columns if names is None else names:
        column = pair.column(name)
        if column.ordered:
            made.append(Attribute.of(column.numbers("before"), column.numbers("after")))
        else:
            made.append(Attribute.of(column.before, column.after, nominal=True))
    return made


def links(
    pair: Pair,
    names: Sequence[str] | None = None,
    *,
    scale: Scale = "ranks",
    metric: Metric = "euclidean",
    level: float = 0.95,
) -> Linkage:
    """Record linkage by an intruder who knows these columns of the original, or all of them."""
    if pair.partner is None:
        raise MeasureError(
            f"Nobody is linked: there are {pair.before} records and {pair.after}. Name the column "
            f"that says who is who (id)."
        )
    return linkage(
        attributes(pair, names), true=pair.partner, scale=scale, metric=metric, level=level
    )


def linkage_figures(pair: Pair) -> Iterator[Figure]:
    """Both kinds of linkage, for files in which it takes seconds."""
    if not pair.linked or max(pair.before, pair.after) > MANY:
        return
    names = tuple(pair.columns)
    ordered = any(column.ordered for column in pair.columns.values())
    scales: tuple[Scale, ...] = ("ranks", "values") if ordered else ("values",)
    for scale in scales:
        found = links(pair, scale=scale)
        title = f"linked by {scale}" if ordered else "linked by categories"
        yield Figure(
            title, names, found.expected, "share of records", RISKIER, low=found.low,
            high=found.high, reference=found.baseline,
        )  # fmt: skip


def keyed(pair: Pair, keys: Sequence[str], side: str) -> Anonymity:
    """The classes that keys make in one of the tables."""
    made = []
    for name in keys:
        column = pair.column(name)
        values = column.before if side == "original" else column.after
        made.append(values if column.kind != "numeric" else _coded(values))
    return anonymity(made)


def told_by(pair: Pair, classes: Anonymity, name: str, side: str) -> Closeness:
    """What classes tell of a confidential column."""
    column = pair.column(name)
    values = column.before if side == "original" else column.after
    if column.kind == "numeric":
        return closeness(classes, _coded(values), ordered=True)
    if column.places is not None:
        places = np.append(column.places, -1)[values]
        return closeness(classes, places, ordered=True, size=int(column.places.max()) + 1)
    return closeness(classes, values, ordered=column.ordered, size=column.size)


def closeness_figures(
    pair: Pair, keys: Sequence[str], confidential: Sequence[str]
) -> Iterator[Figure]:
    """Classical privacy models, of the masked table beside the original."""
    if not keys:
        return
    before, after = keyed(pair, keys, "original"), keyed(pair, keys, "masked")
    names = tuple(keys)
    yield Figure("k", names, after.k, "records in the least class", SAFER, before=before.k)
    yield Figure(
        "uniques", names, after.uniques / after.records, "share of records", RISKIER,
        before=before.uniques / before.records,
    )  # fmt: skip
    for name in confidential:
        was, now = (
            told_by(pair, classes, name, side)
            for classes, side in ((before, "original"), (after, "masked"))
        )
        of = (name,)
        for title, attribute, unit, direction in (
            ("distinct l", "distinct", "values in the least diverse class", SAFER),
            ("entropy l", "entropy", "2 to the bits, least diverse class", SAFER),
            ("t", "t", "earth mover’s distance, worst class", RISKIER),
            ("ratio distance", "ratio", "factor, worst class", RISKIER),
            ("delta disclosure", "delta", "nats, worst class", RISKIER),
        ):
            value, old = (float(getattr(side, attribute)) for side in (now, was))
            yield Figure(title, of, value, unit, direction, before=old)
        found, old_bits = now.information, was.information
        yield Figure(
            "information gain", of, found.corrected, "bits, corrected", RISKIER,
            before=old_bits.corrected, low=max(found.corrected - 1.96 * found.error, 0.0),
            high=min(found.corrected + 1.96 * found.error, found.whole),
        )  # fmt: skip
        yield Figure(
            "information gain, as counted", of, found.plug_in, "bits", RISKIER,
            before=old_bits.plug_in, reference=found.chance,
        )  # fmt: skip


def compared(pair: Pair) -> list[Compared]:
    """The columns as utility compares them: linked records, or all where nobody is."""
    made = []
    for name, column in pair.columns.items():
        linked = pair.linked > 0
        before, after = pair.sides(name) if linked else (column.before, column.after)
        made.append(Compared.of(name, column.kind, before, after, linked=linked))
    return made


def utility_figures(pair: Pair) -> Iterator[Figure]:
    """What distributions, associations and a propensity score lose."""
    if not (pair.before and pair.after) or (pair.partner is not None and not pair.linked):
        return
    columns = compared(pair)
    for column in columns:
        yield from column_utility(column)
    if len(columns) > MODEL:
        return
    yield from pair_utility(columns)
    yield from propensity_figures(propensity(columns), tuple(pair.columns))


def propensity_figures(found: Propensity, names: tuple[str, ...]) -> Iterator[Figure]:
    """The propensity score and what a file drawn anew would have."""
    yield Figure(
        "pMSE", names, found.pmse, "0 … ¼", WORSE, parameter=f"{found.parameters} parameters",
        reference=found.expected,
    )  # fmt: skip
    yield Figure("pMSE ratio", names, found.ratio, "times a file drawn anew", WORSE, reference=1.0)


def size_figures(pair: Pair) -> Iterator[Figure]:
    """Who is in the tables."""
    yield Figure("records", (), pair.after, "records", NEUTRAL, before=pair.before)
    if pair.partner is not None:
        yield Figure("linked", (), pair.linked, "records in both tables", NEUTRAL)


def _coded(values: Floats) -> NDArray[np.int64]:
    """Numbers as codes in their order, -1 for missing."""
    there = values == values
    codes = np.full(values.size, -1, dtype=np.int64)
    codes[there] = np.unique(values[there], return_inverse=True)[1]
    return codes
