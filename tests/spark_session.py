"""A Spark cluster on this machine: a master and two workers, whose executors are processes of their own.

CI sets RENYI_SPARK=require, so that no test is skipped for want of PySpark or Java.
"""

import atexit
import os
import shutil
import sys
import warnings
from functools import cache
from pathlib import Path

import pytest

import renyi

REQUIRED = os.environ.get("RENYI_SPARK") == "require"
CONFIG = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "2",
    # Executors have the package that is tested, wherever it lies.
    "spark.executorEnv.PYTHONPATH": str(Path(renyi.__file__).parents[1]),
}


@cache
def spark_session():
    """The cluster, which all tests of a process share: it takes seconds to start."""
    if not REQUIRED:
        pytest.importorskip("pyspark")
        if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
            pytest.skip("no Java is installed")
    import pyspark
    from pyspark.sql import SparkSession

    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in CONFIG.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        # PySpark is behind pandas 3, and says so.
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    atexit.register(session.stop)
    return session
