"""Regressions: coefficients from a release alone, corrected for what was randomised in it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import polars as pl

from bistochastic.analyst.formula import Formula
from bistochastic.analyst.model import Model
from bistochastic.analyst.reported import Reported
from bistochastic.errors import TableError
from bistochastic.estimate.intervals import quantile
from bistochastic.estimate.latent import likeliest
from bistochastic.estimate.regression import FAMILIES, Family, Fit, fitted
from bistochastic.estimate.shares import Variance
from bistochastic.manifest import Manifest
from bistochastic.tables.kinds import in_kind_of

__all__ = ["regress"]

METHODS = ("moments", "likelihood")
Method = Literal["moments", "likelihood"]


def regress(
    data: Any,
    manifest: Manifest | str | Path | None = None,
    formula: str | None = None,
    *,
    response: str | None = None,
    predictors: Sequence[str] = (),
    family: Family = "linear",
    method: Method = "moments",
    success: Any = None,
    weight: str | None = None,
    variance: Variance = "sample",
    level: float = 0.95,
) -> Any:
    """A linear or logistic regression from a release, as if nothing in it had been randomised.

    Randomised columns may be predictors, the response, or both. A category stands for whether it is
    each of its labels but the first, as a response for whether it is its last label. Records in
    which a column is missing are left out, those whose true answer is missing too, though nobody
    knows which these are. The answer is a dataframe of the kind that came in, a row for each term.

    Args:
        data: A release, its folder, or a table with its manifest.
        manifest: The manifest of the release; may be None where the data bring theirs.
        formula: Such as "income ~ sex + age + sex:age"; names with blanks or signs in backticks.
        response: Instead of a formula, the column to explain.
        predictors: And those that explain it.
        family: "linear" or "logistic".
        method: Corrected "moments", which assume nothing of how the randomised predictors follow
            from the others; or the "likelihood" of a logistic model, which is a little sharper, and
            lets their shares differ freely between all combinations of the others.
        success: The label of a category that counts as one, of a response.
        weight: A column of weights that was published as it is.
        variance: Of a "sample" of respondents, or only what masking added to the "file".
        level: How often the interval holds.
    """
    if family not in FAMILIES:
        raise TableError(f'A regression is "linear" or "logistic"; got {family!r}.')
    if variance not in ("sample", "file"):
        raise TableError(
            f'The variance is that of the "sample" or of the "file"; got {variance!r}.'
        )
    asked = _formula(formula, response, predictors)
    _refuse_unlikely(method, family, weight, variance)
    model = Model.of(Reported.of(data, manifest), asked, success, family, weight)
    if method == "likelihood":
        fit = likeliest(*model.latent())
    else:
        fit = fitted(
            model.data(),
            model.design(),
            model.correction,
            family=family,
            variance=variance,
            kept=model.kept,
        )
    return in_kind_of(model.reported.given, _table(model.names, fit, quantile(level)))


def _refuse_unlikely(method: str, family: str, weight: str | None, variance: str) -> None:
    """Refuse a likelihood of what has none here."""
    if method not in METHODS:
        raise TableError(f'The method is "moments" or "likelihood"; got {method!r}.')
    if method == "likelihood" and (family, weight, variance) != ("logistic", None, "sample"):
        raise TableError(
            "The likelihood is that of a logistic model of a sample without weights. For a linear "
            'model, with weights or for the file, take method "moments".'
        )


def _formula(text: str | None, response: str | None, predictors: Sequence[str]) -> Formula:
    if (text is None) == (response is None):
        raise TableError("Give a formula, or a response with its predictors: one of them.")
    if text is not None:
        return Formula.of(text)
    return Formula(str(response), tuple((name,) for name in predictors))


def _table(names: Sequence[str], fit: Fit, z: float) -> pl.DataFrame:
    reach = z * fit.se
    return pl.DataFrame(
        {
            "term": list(names),
            "estimate": fit.coefficients,
            "se": fit.se,
            "low": fit.coefficients - reach,
            "high": fit.coefficients + reach,
        }
    )
