"""Reports of releases: the published table is counted once, and what it amounts to is told."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bistochastic.errors import ReleaseError
from bistochastic.manifest import Manifest
from bistochastic.measures.figures import Figure
from bistochastic.measures.utility import column_utility, pair_utility
from bistochastic.plan.families import FAMILIES
from bistochastic.plan.plan import Plan
from bistochastic.referee.appraisal import compared
from bistochastic.referee.evaluation import Evaluation, evaluate
from bistochastic.report.material import Histogram, Material
from bistochastic.report.page import html, put, refuse_taken
from bistochastic.report.publication import publication
from bistochastic.report.recovered import recovered
from bistochastic.tables.opening import from_place
from bistochastic.tables.profiles import (
    binned,
    categorical,
    counts,
    height,
    labels_of,
    numbers,
    round_edges,
)
from bistochastic.tables.sources import Source, from_file, from_frame

__all__ = ["AUDIENCES", "Audience", "report", "told"]

Audience = Literal["public", "internal"]
AUDIENCES: tuple[Audience, ...] = ("public", "internal")
Counts = NDArray[np.int64]
Step = Callable[[str], None]

MODELLED = 50_000  # rows up to which a report waits for a propensity score
PAIRED = 60  # columns up to which all pairs are compared


def report(
    folder: str | Path,
    path: str | Path,
    *,
    audience: Audience = "public",
    original: Any = None,
    prior: Mapping[str, ArrayLike] | None = None,
    on_step: Step = lambda step: None,
) -> Path:
    """Write the report of a published release as one HTML file.

    Args:
        folder: The folder of the release.
        path: The file to write; none may be there yet.
        audience: `"public"` tells what the release tells anyway, `"internal"` also what only the
            original does.
        original: What the release was made of, a file or a dataframe; for `"internal"` only.
        prior: What a reader thinks of a column beforehand, a share for each label; all labels are
            equally likely unless given.
        on_step: Told what is being done.
    """
    refuse_taken(path)
    where = Path(folder)
    manifest = Manifest.read(where)
    data = manifest.data
    if data is None or not (where / Path(data.name).name).is_file():
        raise ReleaseError(f"There are no data in {str(where)!r} that its manifest names.")
    released = from_file(
        where / Path(data.name).name, delimiter=data.delimiter or ",", missing=_gaps(manifest)
    )
    text = told(
        manifest, released, audience=audience, original=original, prior=prior, on_step=on_step,
        where=where.name,
    )  # fmt: skip
    return put(text, path)


def told(
    manifest: Manifest,
    released: Source,
    *,
    audience: Audience = "public",
    original: Any = None,
    prior: Mapping[str, ArrayLike] | None = None,
    on_step: Step = lambda step: None,
    where: str = "release",
) -> str:
    """The report of a release as HTML."""
    refuse_audience(audience, original)
    priors = {name: _prior(name, given, manifest) for name, given in (prior or {}).items()}
    before = None if original is None else opened(original, manifest)
    on_step("counting what is reported")
    after = counts(manifest, released)
    truth: dict[Any, Counts] = {}
    evaluation = None
    if before is not None:
        on_step("counting the original")
        truth = counts(manifest, before)
        on_step("comparing with the original")
        evaluation = evaluate(before, released, plan=Plan(**manifest.plan))
    columns = {
        name: recovered(
            manifest,
            manifest.column(name),
            labels_of(manifest.column(name)),
            after,
            truth.get(name),
        )
        for name in categorical(manifest, released)
    }
    on_step("looking at numbers")
    material = Material(
        manifest=manifest,
        rows=height(released),
        families={name: family.says for name, family in FAMILIES.items()},
        columns=columns,
        numbers=dict(_histograms(manifest, released, before)),
        priors=priors,
        evaluation=evaluation,
        utility=None if evaluation is None else _utility(evaluation),
        where=where,
    )
    on_step("drawing")
    return html(publication(material))


def _utility(evaluation: Evaluation) -> list[Figure] | None:
    """Losses of columns and pairs; of a long file without the model that tells two files apart."""
    pair = evaluation.pair
    if max(pair.before, pair.after) <= MODELLED or not (pair.before and pair.after):
        return None
    columns = compared(pair)
    alone = [figure for column in columns for figure in column_utility(column)]
    return [*alone, *pair_utility(columns)] if len(columns) <= PAIRED else alone


def refuse_audience(audience: str, original: Any) -> None:
    """Refuse an audience nobody knows, and an original where it must not be told of."""
    if audience not in AUDIENCES:
        raise ReleaseError(f"There is no audience {audience!r}; there are public and internal.")
    if audience == "public" and original is not None:
        raise ReleaseError(
            "A public report tells nothing of the original. Leave the original out, or make the "
            "report internal."
        )
    if audience == "internal" and original is None:
        raise ReleaseError("An internal report compares with the original. Give the original.")


def opened(original: Any, manifest: Manifest) -> Source:
    """The original as a release was read from it."""
    if not isinstance(original, str | Path):
        return from_frame(original)
    file = manifest.plan.get("file", {})
    missing = tuple(file.get("missing", ("",)))
    return from_place(original, delimiter=file.get("delimiter", ","), missing=missing)


def _gaps(manifest: Manifest) -> tuple[str, ...]:
    return (*manifest.plan.get("file", {}).get("missing", ()), "")


def _histograms(
    manifest: Manifest, released: Source, before: Source | None
) -> Iterator[tuple[str, Histogram]]:
    """Numbers that were masked by ranks, between round edges; one column is held at a time."""
    for column in manifest.columns:
        ranked = column.treatment in ("permuted", "drawn", "averaged")
        if not ranked or column.name not in released.names:
            continue
        reported = numbers(released, column.name)
        if reported is None or not reported.size:
            continue
        edges = round_edges(reported)
        true = None if before is None else numbers(before, column.name)
        yield (
            column.name,
            Histogram(
                edges, binned(reported, edges), None if true is None else binned(true, edges)
            ),
        )


def _prior(name: str, given: ArrayLike, manifest: Manifest) -> NDArray[np.float64]:
    """A prior that has a share for each category, and sums to one."""
    column = manifest.column(name)
    channel = column.guarantee
    prior = np.asarray(given, dtype=np.float64)
    size = 0 if channel is None or column.treatment != "randomised" else channel.categories
    if prior.shape != (size,):
        raise ReleaseError(
            f"The prior of column {name!r} needs a share for each of its {size} categories; got "
            f"{prior.size}."
        )
    if not (np.isfinite(prior).all() and (prior >= 0).all() and abs(prior.sum() - 1) < 1e-9):
        raise ReleaseError(f"The prior of column {name!r} must be shares that sum to one.")
    return prior
