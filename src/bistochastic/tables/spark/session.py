"""Sessions of Spark: the one that runs already, or a quiet one on this machine."""

import os
import sys
from typing import Any

from bistochastic.errors import TableError

__all__ = ["INSTALL", "parallelism", "session", "setting"]

INSTALL = 'Spark is not installed. Install it: pip install "bistochastic[spark]", and Java 17.'
BYTES = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
LOOPBACK = "127.0.0.1"


def session() -> Any:
    """The session that runs or, where none does, one that the settings of Spark describe.

    Where they name no cluster it is this machine: it listens on loopback only, shows no page, and
    its log says nothing, since it might quote cells.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise TableError(INSTALL) from None
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    builder = SparkSession.builder.appName("bistochastic")
    if "MASTER" not in os.environ and "SPARK_CONF_DIR" not in os.environ:
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        quiet = {
            "spark.master": "local[*]",
            "spark.driver.host": LOOPBACK,
            "spark.driver.bindAddress": LOOPBACK,
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "OFF",
            "spark.io.encryption.enabled": "true",  # what is put on disk on the way
        }
        for name, value in quiet.items():
            builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except Exception as error:  # of Java's own words, which may be a page
        raise TableError(
            f"Spark could not be started ({type(error).__name__}). It needs Java 17 or later: "
            f"set JAVA_HOME, or install it, say with apt-get install openjdk-17-jre-headless."
        ) from None


def setting(spark: Any, name: str, default: str) -> str:
    """A setting of a session."""
    return str(spark.conf.get(name, default))


def piece_bytes(spark: Any) -> int:
    """How much of a file Spark gives to one task."""
    said = setting(spark, "spark.sql.files.maxPartitionBytes", "128m").strip().lower()
    digits = said.rstrip("bkmgt")
    unit = said[len(digits) :].rstrip("b") if len(said) > len(digits) + 1 else said[len(digits) :]
    return max(int(float(digits) * BYTES[unit or ""]), 1)


def parallelism(spark: Any) -> int:
    """How many tasks run at once."""
    return int(spark.sparkContext.defaultParallelism)
