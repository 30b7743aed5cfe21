"""Starting Spark, or joining a cluster that runs already."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reports.spark import classes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

ROOT: Final = Path(__file__).resolve().parent.parent.parent
QUIET: Final = Path(__file__).with_name("log4j2.properties")
SHIPPED: Final = ("records", "reports", "specs")
"""What executors need of this checkout."""
PACKAGES: Final = {"pyspark": ">=4.1,<5", "pyarrow": ">=18,<30"}
CONNECT: Final = ("pyspark", "pyarrow", "pandas", "grpc", "grpc_status", "zstandard")
"""What joining by Spark Connect imports."""
JAVA: Final = 17
"""The oldest Java that Spark 4 runs on."""


class NoSpark(Exception):
    """Spark cannot run here; says what is missing, and what to do."""


def missing() -> str:
    """What Spark lacks on this machine, or "" when it lacks nothing. Joining by Spark Connect needs no Java."""
    for package, wanted in PACKAGES.items():
        if find_spec(package) is None:
            return f"the Python package {package} is not installed; pip install '{package}{wanted}'"
    java = _java()
    if not java or not shutil.which(java):
        return f"there is no Java; install a JDK of version {JAVA} or newer, or set JAVA_HOME to one"
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{java} does not run: {error}"
    said = (told.stderr or told.stdout).partition('"')[2].partition('"')[0]
    major = said.removeprefix("1.").partition(".")[0].partition("-")[0]
    if major.isdigit() and int(major) < JAVA:
        return f"{java} is of version {said}; Spark needs {JAVA} or newer"
    return ""


def _java() -> str:
    """The Java that Spark takes, or ""."""
    home = os.environ.get("JAVA_HOME", "")
    return str(Path(home) / "bin" / "java") if home else shutil.which("java") or ""


def start(
    *,
    master: str = "",
    remote: str = "",
    name: str = "wireproof",
    settings: Mapping[str, str] | None = None,
    ships: bool = True,
) -> SparkSession:
    """A session: of a cluster's Spark Connect server (`remote`, as sc://host:port), of `master`, or of this machine.
    `settings` are what one job asks for beside what all of ours do. `ships`: a cluster is sent our modules; one that
    has to start implementations has them already.

    Raises NoSpark when Spark cannot run here.
    """
    if not remote:
        why = missing()
        if why:
            raise NoSpark(why)
    elif lacks := next((package for package in CONNECT if find_spec(package) is None), ""):
        raise NoSpark(f"the Python package {lacks} is not installed; pip install 'pyspark[connect]>=4.1,<5'")
    from pyspark.errors import PySparkException  # noqa: PLC0415 - all else here works without it
    from pyspark.sql import SparkSession  # noqa: PLC0415

    local = not remote and (not master or master.startswith("local"))
    kept, kept_by = None, ""
    if local:
        try:
            kept = classes.file(_java())
            kept_by = classes.options(kept)
        except OSError as error:
            raise NoSpark(f"{classes.FOLDER} must name a folder that can be written to: {error}") from error
        # Executors of a laptop are children of this process: they are the same Python, whatever another project has
        # set, and find our modules as we do.
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    # What PySpark would log of an exception is in the exception.
    logging.getLogger("DataFrameQueryContextLogger").setLevel(logging.CRITICAL)
    builder = SparkSession.builder.appName(name)
    asked = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parser.escapedStringLiterals": "false",  # `schemas.among` relies on it
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        "spark.sql.parquet.compression.codec": "zstd",
        # What goes to Python and comes back at once: a row may be a file, a run or a conversation of some megabytes.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(1 << 25),
    }
    if local:
        cores = os.cpu_count() or 2
        asked |= {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": str(sys.stderr.isatty()).lower(),
            "spark.log.level": "ERROR",
            "spark.driver.memory": os.environ.get("SPARK_DRIVER_MEMORY", "2g"),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.shuffle.partitions": str(max(2, cores)),
            # On one disk checksums beside each file double the files, and a part that nobody sees before its commit
            # need not be moved into place twice.
            "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
            "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
            # A folder for each day is many small files: on one disk a task to list or to read each costs more than it
            # does.
            "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
            "spark.sql.files.openCostInBytes": str(1 << 18),
            # One night is over before the thorough compiler of the JVM has earned what it costs.
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=128m "
            f"-Dlog4j2.configurationFile={QUIET.as_uri()} " + kept_by,
        }
    for key, value in (asked | dict(settings or {})).items():
        builder = builder.config(key, value)
    builder = builder.remote(remote) if remote else builder.master(master or "local[*]")
    try:
        spark = builder.getOrCreate()
    except (PySparkException, RuntimeError, OSError) as error:
        raise NoSpark(f"Spark did not start: {error}") from error
    classes.awaited(spark, kept)
    if not local and ships:
        spark.addArtifacts(str(_package()), pyfile=True)
    return spark


def _package() -> Path:
    """Our modules as one file that a cluster can be sent."""
    path = Path(tempfile.mkdtemp(prefix="wireproof-")) / "wireproof.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in SHIPPED:
            for file in sorted((ROOT / package).rglob("*")):
                if file.is_file() and file.suffix in (".py", ".toml"):
                    archive.write(file, str(file.relative_to(ROOT)))
    return path
