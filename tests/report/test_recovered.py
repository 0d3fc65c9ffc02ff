"""What is counted for a report is what stands in the table, and estimates are those of analysts."""

import numpy as np
import polars as pl
import pytest

import bistochastic as bs
from bistochastic.report.columns import column_part
from bistochastic.report.drawing.bars import Guess
from bistochastic.report.recovered import BARS, neighbours, recovered
from bistochastic.tables.profiles import binned, counts, labels_of, round_edges
from bistochastic.tables.sources import from_frame
from tests.report.pages import KEY, released, survey


def told(release, name):
    """A column of a release as it is counted and estimated."""
    manifest = release.manifest
    found = counts(manifest, from_frame(release.data))
    column = manifest.column(name)
    return recovered(manifest, column, labels_of(column), found, None)


@pytest.mark.parametrize("name", ["region", "school", "smoker", "ill"])
def test_every_label_is_counted(name):
    """As often as it stands there, missing values last where they are a category."""
    release = released()
    found = told(release, name)
    there = dict(release.data[name].value_counts().rows())
    labels = [None if label == "(missing)" else label for label in found.labels]
    assert found.reported.tolist() == [there.get(label, 0) for label in labels]
    assert found.reported.sum() == 2000
    assert (found.labels[-1] == "(missing)") is (name == "ill")


def test_missing_values_that_are_kept_are_counted_apart():
    """They stay missing, so they stand last and are estimated as they are."""
    said = {"role": "key", "kind": "nominal", "domain": ["no", "yes"], "missing": "keep",
            "matrix": "mixture", "truth": 0.9}  # fmt: skip
    table = pl.DataFrame({"a": ["no"] * 500 + ["yes"] * 300 + [None] * 200})
    found = told(bs.protect(table, bs.Plan(release="r", columns={"a": said}), KEY), "a")
    assert found.reported[2] == 200
    assert found.recovered is not None
    assert found.recovered.shares[2] == pytest.approx(0.2)
    assert found.recovered.shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", ["region", "smoker", "ill"])
def test_estimates_and_intervals_are_those_of_analysts(name):
    """The report tells what `estimate` tells, number by number; of blocks it tells none."""
    release = released()
    found, frame = told(release, name).recovered, bs.estimate(release, columns=[name])
    assert found is not None
    frame = frame.sort(name, nulls_last=True)
    order = np.argsort([label for label in told(release, name).labels if label != "(missing)"])
    order = [*order.tolist(), *range(len(order), len(found.shares))]
    for mine, theirs in zip(found, ("estimate", "low", "high"), strict=True):
        assert mine[order] == pytest.approx(frame[theirs].to_numpy())
    assert (found.low < found.shares).all()
    assert (found.shares < found.high).all()
    assert told(release, "school").recovered is None


def test_long_ordered_domains_are_told_by_neighbours():
    """Sums of neighbours add up to what each label has, and are estimated as sums."""
    said = {"role": "key", "kind": "ordinal", "domain": {"first": 1, "last": 100},
            "missing": "category", "matrix": "mixture", "epsilon": 3.0}  # fmt: skip
    ages = np.random.default_rng(4).integers(1, 101, 5000)
    release = bs.protect(
        pl.DataFrame({"age": ages}), bs.Plan(release="r", columns={"age": said}), KEY
    )
    found = told(release, "age")
    assert found.labels[:2] == ("1 – 5", "6 – 10")
    assert found.labels[-1] == "(missing)"
    assert found.reported[0] == release.data["age"].is_between(1, 5).sum()
    assert found.reported.sum() == 5000
    whole = bs.estimate(release, columns=["age"]).filter(pl.col("age").is_between(6, 10))
    assert found.recovered is not None
    assert found.recovered.shares[1] == pytest.approx(whole["estimate"].sum())
    assert found.recovered.shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("many", [1, 24, 25, 48, 49, 1000])
def test_neighbours_are_never_too_many(many):
    """At most as many groups as there are bars, each label in one, in order."""
    labels = (*map(str, range(many)), "(missing)")
    levels, names = neighbours(labels, many)
    assert len(names) <= BARS + 1
    assert (np.diff(levels) >= 0).all()
    assert levels.max() == len(names) - 1
    assert (levels == levels[-1]).sum() == 1
    assert names[-1] == "(missing)"


def test_numbers_are_counted_between_round_edges():
    """Every number is in one bin, edges are round, and none of them needs to be a value."""
    values = np.random.default_rng(1).normal(1234.567, 98.765, 10_000)
    edges = round_edges(values)
    assert 5 < edges.size < 40
    assert np.allclose(edges % (edges[1] - edges[0]), 0)
    assert edges[1] - edges[0] in (10, 20, 25, 50)
    found = binned(values, edges)
    assert found.sum() == 10_000
    assert found[1] == ((values >= edges[0]) & (values < edges[1])).sum()
    assert round_edges(np.full(9, 7.0)).size <= 3


def test_the_likeliest_truth_is_told(monkeypatch):
    """Behind each report stands the truth with the largest posterior, and how large that is."""
    seen: list[Guess] = []

    def kept(given, **more):
        seen.extend(given)
        return original(given, **more)

    from bistochastic.report import columns

    original = columns.posterior
    monkeypatch.setattr(columns, "posterior", kept)
    manifest = released().manifest
    from bistochastic.report.material import Material

    prior = np.array([0.02, 0.08, 0.9])
    material = Material(manifest, 2000, {}, priors={"region": prior})
    column_part(material, manifest.column("region"))
    matrix = manifest.channel("region").to_dense()
    law = matrix * prior[:, None]
    posterior = law / law.sum(axis=0)
    for v, one in enumerate(seen):
        assert one.before == pytest.approx(prior[v])
        assert one.after == pytest.approx(posterior[v, v])
        assert one.likeliest == ("coast", "hills", "plain")[posterior[:, v].argmax()]
        assert one.chance == pytest.approx(posterior[:, v].max())
        with np.errstate(divide="ignore"):
            assert one.bits == pytest.approx(-(posterior[:, v] * np.log2(posterior[:, v])).sum())
    assert seen[0].likeliest == "plain"


def test_what_is_counted_does_not_depend_on_batches(tmp_path):
    """A file in many row groups is counted as one in a single group is."""
    release = released(survey(6000))
    frame = release.data
    wanted = counts(release.manifest, from_frame(frame))
    frame.write_parquet(tmp_path / "many.parquet", row_group_size=97)
    found = counts(release.manifest, from_frame(pl.scan_parquet(tmp_path / "many.parquet")))
    assert found.keys() == wanted.keys()
    assert all((found[key] == wanted[key]).all() for key in wanted)
