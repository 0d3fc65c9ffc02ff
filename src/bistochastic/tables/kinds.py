"""Kinds: a table of ours as the kind of dataframe that somebody else's is."""

from typing import Any

import narwhals as nw
import polars as pl

from bistochastic.tables.sources import of_spark

__all__ = ["in_kind_of"]


def in_kind_of(given: Any, frame: pl.DataFrame) -> Any:
    """A table as the kind of another, which need not have its rows; of a file, as Polars.

    >>> in_kind_of(pl.LazyFrame({"x": [1]}), pl.DataFrame({"y": [2]})).collect().item()
    2
    """
    if given is None or isinstance(given, pl.DataFrame):
        return frame
    if isinstance(given, pl.LazyFrame):
        return frame.lazy()
    if of_spark(given):
        return frame  # what was counted there is small, and looked at here
    spoken = nw.from_native(given, pass_through=True)
    if not isinstance(spoken, nw.DataFrame | nw.LazyFrame):
        return frame  # what only speaks Arrow's capsule interface
    if spoken.implementation.is_duckdb():
        import duckdb

        return duckdb.from_arrow(frame.to_arrow())
    if spoken.implementation.is_pyarrow():
        return frame.to_arrow()
    if spoken.implementation.is_pandas_like():
        return nw.from_native(frame).to_pandas()
    return nw.from_arrow(frame, backend=spoken.implementation).to_native()
