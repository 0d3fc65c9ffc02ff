"""One session of Spark for the whole suite: on loopback, quiet, of two threads."""

import os
import shutil
import sys
import warnings

import pytest


@pytest.fixture(scope="session")
def spark():
    """The session, or a reason why there is none."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java is not installed: .ci/system does that")
    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.session.timeZone": "UTC",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = SparkSession.builder.master("local[2]").appName("tests")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        yield session
        session.stop()


@pytest.fixture
def pieces(monkeypatch):
    """A switch for how many pieces a file is cut into."""
    from bistochastic.tables.spark import reading

    def cut(count):
        monkeypatch.setattr(reading, "parallelism", lambda spark: count)
        monkeypatch.setattr(reading, "piece_bytes", lambda spark: 1 << 40)

    return cut
