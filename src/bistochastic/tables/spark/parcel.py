"""What travels to the workers of Spark, and how their refusals travel back.

A worker gets the steps with the subkeys of its columns, never the key itself: what was derived for
a column cannot be taken back to it. Who may read what Spark sends may undo those columns, so it
travels as confidentially as the rows do.
"""

import io
import pickle
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from pyspark import cloudpickle
from pyspark.errors import PySparkException

from bistochastic import errors
from bistochastic.errors import BistochasticError, ReleaseError, TableError
from bistochastic.secret import Secret

__all__ = ["heard", "jobs", "over", "wrapped"]

Batches = Iterator[Any]  # of pyarrow.RecordBatch
Work = Callable[[Batches], Batches]

REFUSED = re.compile(r"<refused by=\"(\w+)\">(.*?)</refused>", re.DOTALL)
LOST = ("Python worker exited", "crashed", "ExecutorLost", "Connection reset", "EOFException")


class _Wrapper(cloudpickle.Pickler):  # type: ignore[misc]  # which ships no types
    """Takes subkeys along, which no other pickling does."""

    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is Secret:
            return Secret, (obj.reveal(),)
        return super().reducer_override(obj)  # as it came


def wrapped(work: Work) -> bytes:
    """Work as bytes, for a worker of Spark only."""
    parcel = io.BytesIO()
    wrapper: Any = _Wrapper
    wrapper(parcel).dump(work)
    return parcel.getvalue()


def performed(parcel: bytes, batches: Batches) -> Batches:
    """What a worker does. Whatever goes wrong, no value and no trace of the program gets out."""
    try:
        yield from pickle.loads(parcel)(batches)
    except BistochasticError as error:
        kind, told = type(error).__name__, str(error)
    except Exception as error:  # what it says may quote data, so only its kind is told
        kind, told = "TableError", _unexpected(error)
    else:
        return
    raise RuntimeError(f'<refused by="{kind}">{told}</refused>')


def _unexpected(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "?"
    return f"A worker of Spark failed: {type(error).__name__} at {where}. Nothing was published."


def over(frame: Any, work: Work, schema: Any) -> Any:
    """The frame that comes out when workers do this to each partition of another."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # that pandas, which is not used, is new
        return frame.mapInArrow(partial(performed, wrapped(work)), schema)


@contextmanager
def jobs() -> Iterator[None]:
    """Running jobs; what goes wrong in one comes out as one of our errors."""
    try:
        yield
    except Exception as error:
        if not (isinstance(error, PySparkException) or type(error).__module__.startswith("py4j")):
            raise
        heard(error)


def heard(error: Exception) -> NoReturn:
    """The refusal of a worker, raised here; or what became of the job, without Spark's own words.

    Those may quote cells.
    """
    said = str(error)
    refused = REFUSED.search(said)
    if refused is not None:
        raise getattr(errors, refused[1])(refused[2]) from None
    if any(mark in said for mark in LOST):
        raise ReleaseError(
            "A worker of Spark stopped in the middle. Nothing was published. The log of its "
            "executor says why; often it had too little memory."
        ) from None
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    raise TableError(
        f"Spark could not finish its work ({condition or type(error).__name__}). Nothing was "
        f"published. Its log says more, and may quote the data."
    ) from None
