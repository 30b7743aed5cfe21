"""Files of records as rows, read as `records.reader` reads them.

Nineteen rows of twenty say how often a property brought a requirement into play, and our writer gives them one form:
Spark itself takes those apart. Every other line is read by `records.rows` on the executors, so that there is one
reader to trust, and no line is read by two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import LongType, StringType, StructField, StructType

from records.reader import MAX_LINE
from records.rows import CoverageRow, FaultRow, RecordError, RunRow, from_json, to_json
from records.text import octets, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

LARGEST: Final = 1 << 29
"""Octets of a file of records; a larger one is set aside whole, since it is read in one piece."""
_TEXT = r'"([ !#-\[\]-~]+)"'
_COUNT = r"(0|[1-9][0-9]{0,14})"
COVERAGE: Final = (
    rf'^\{{"kind":"coverage","run":{_TEXT},"worker":{_TEXT},"n":{_COUNT},"schema":[0-9]{{1,4}},"property":{_TEXT},'
    rf'"requirement":{_TEXT},"exercised":{_COUNT},"judged":{_COUNT}\}}$'
)
"""A coverage row as records.writer writes it: plain characters, no escapes, columns in their order."""
COUNTED: Final = StructType(
    [
        *[StructField(name, StringType()) for name in ("run", "worker")],
        StructField("n", LongType()),
        *[StructField(name, StringType()) for name in ("property", "requirement")],
        *[StructField(name, LongType()) for name in ("exercised", "judged")],
    ]
)
"""The columns of a coverage row."""
_READ: Final = StructType(
    [*COUNTED.fields, *[StructField(name, StringType()) for name in ("kind", "at", "trace", "text", "reason")]]
)


class NoResults(Exception):
    """There is nothing at the place that the user named."""


def listing(spark: SparkSession, sources: Sequence[str]) -> DataFrame:
    """Every file under `sources`: path, length in octets, and when it was last modified.

    Raises NoResults when one of them does not exist.
    """
    found = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    try:
        return found.load([exact(source) for source in sources]).select(
            "path", "length", F.col("modificationTime").alias("modified")
        )
    except AnalysisException as error:
        if "PATH_NOT_FOUND" not in str(error.getCondition()):
            raise
        raise NoResults(f"{', '.join(sources)}: not all of them exist; name folders that --results named") from None


def exact(path: str) -> str:
    """A path in which no character stands for others."""
    return "".join(f"\\{char}" if char in "\\*?[]{}," else char for char in path)


def contents(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """These files: path, modificationTime, and their content as text, of whatever octets."""
    if not paths:
        return spark.createDataFrame([], "path string, modificationTime timestamp, content string")
    found = spark.read.format("binaryFile").load([exact(path) for path in paths])
    return found.select("path", "modificationTime", F.col("content").cast("string").alias("content"))


def lines(files: DataFrame) -> DataFrame:
    """The lines of `contents`: source, line (from 1), ended (false for one without its line end), text."""
    day = F.date_format("modificationTime", "yyyy-MM-dd").alias("day")
    cut = files.select(F.col("path").alias("source"), day, F.split("content", "\n").alias("parts"))
    # Counted before they are taken apart, so that no line carries all of them along.
    counted = cut.withColumn("many", F.size("parts"))
    each = counted.select("source", "day", "many", F.posexplode("parts").alias("at", "raw"))
    line, text = F.col("at").cast("long") + 1, F.rtrim("raw", F.lit("\r"))
    told = each.select("source", "day", line.alias("line"), (line < F.col("many")).alias("ended"), text.alias("text"))
    return told.where("text != ''")


def rows(found: DataFrame) -> DataFrame:
    """What these `lines` hold: source, line, day, and the columns of a row, those of coverage only where it is one.

    `kind` says what it is. Any other row has its one JSON form as `text`, that of a run its `at`, that of a fault its
    `trace`. A line that is no row has a `reason`, and `text` is how it begins.
    """
    plain, place = F.col("text").rlike(COVERAGE), ("source", "line", "day")
    counted = found.where(plain).select(*place, F.from_json("text", COUNTED).alias("row"))
    read = F.udf(_read, _READ, useArrow=False)
    other = found.where(~plain).select(*place, read(F.col("text").cast("binary"), "ended").alias("row"))
    kind = F.lit(CoverageRow.kind).alias("kind")
    return other.select(*place, "row.*").unionByName(counted.select(*place, "row.*", kind), allowMissingColumns=True)


def _read(line: Any, ended: bool) -> tuple[Any, ...]:
    text = bytes(line)
    if len(text) > MAX_LINE:
        return _aside(f"longer than {MAX_LINE} octets", text)
    try:
        row = from_json(text.decode("utf-8"))
    except (RecordError, UnicodeDecodeError) as error:
        return _aside(printable(str(error)) if ended else "torn: the last line lacks its end", text)
    place = row.run, row.worker, row.n
    if isinstance(row, CoverageRow):
        return *place, row.property, row.requirement, row.exercised, row.judged, row.kind, None, None, None, None
    at = row.at if isinstance(row, RunRow) else None
    trace = row.trace if isinstance(row, FaultRow) else None
    return *place, None, None, None, None, row.kind, at, trace, to_json(row), None


def _aside(reason: str, text: bytes) -> tuple[Any, ...]:
    return *[None] * (len(_READ) - 2), octets(text, 120), reason
