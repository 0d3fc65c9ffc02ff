"""Known: whether all cells can be coded, asked of Spark itself, which need not convert them."""

from typing import Any

from pyspark.sql import functions as F  # noqa: N812  # as everybody calls it
from pyspark.sql.types import BooleanType, DateType, IntegralType, StringType

from bistochastic.tables.batches import Steps
from bistochastic.tables.spark.reading import quoted

__all__ = ["all_known"]

SAME = (StringType, IntegralType, BooleanType, DateType)  # whose equality is that of Polars


def all_known(base: Any, fields: dict[str, Any], steps: Steps) -> bool:
    """Whether every cell of a frame certainly can be coded; if not, workers look at each.

    Decimals and moments are left to the workers, who have the last word on what they equal.
    """
    strange = [] if steps.records is None else [quoted(steps.records).isNull()]
    for name, coder in steps.coders.items():
        if not isinstance(fields[name], SAME):
            return False
        column, domain = quoted(name), coder.domain
        if domain.missing == "refuse":
            strange.append(column.isNull())
        if domain.other is None:
            strange.append(~column.isin(coder.labels.to_list()))  # null for a cell that is missing
    if not strange:
        return True
    anything = F.greatest(*strange, F.lit(False), F.lit(False))  # passes nulls over
    found = base.filter(anything).groupBy(F.spark_partition_id()).count()
    return not found.collect()
