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
from records.rows import CoverageRow, RecordError, RunRow, from_json, to_json
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
_READ: Final = StructType(
    [
        *[StructField(name, StringType()) for name in ("run", "worker")],
        StructField("n", LongType()),
        *[StructField(name, StringType()) for name in ("kind", "at", "text", "reason")],
    ]
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


def lines(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """The lines of these files: source, line (from 1), ended (false for one without its line end), text in octets."""
    content = F.col("content").cast("string")
    whole = spark.read.format("binaryFile").load([exact(path) for path in paths]).where(F.col("length") <= LARGEST)
    cut = whole.select(F.col("path").alias("source"), "modificationTime", F.split(content, "\n").alias("parts"))
    each = cut.select(
        "source", "modificationTime", F.size("parts").alias("many"), F.posexplode("parts").alias("at", "raw")
    )
    return each.select(
        "source",
        (F.col("at") + 1).cast("long").alias("line"),
        (F.col("at") + 1 < F.col("many")).alias("ended"),
        F.date_format("modificationTime", "yyyy-MM-dd").alias("day"),
        F.regexp_replace("raw", "\r+$", "").alias("text"),
    ).where((F.col("text") != "") | (~F.col("ended") & (F.col("text") != "")))


def coverage(found: DataFrame) -> DataFrame:
    """The coverage rows among `lines`, taken apart."""
    names = ("run", "worker", "n", "property", "requirement", "exercised", "judged")
    numbers = {"n", "exercised", "judged"}
    parts = [F.regexp_extract("text", COVERAGE, i).cast("long" if name in numbers else "string").alias(name)
             for i, name in enumerate(names, 1)]  # fmt: skip
    return found.where(F.col("text").rlike(COVERAGE)).select(*parts)


def others(found: DataFrame) -> DataFrame:
    """All other lines: source, line, day, and what `records.rows` makes of them; `reason` says why one is no row."""
    read = F.udf(_read, _READ, useArrow=False)
    rest = found.where(~F.col("text").rlike(COVERAGE))
    taken = rest.select("source", "line", "day", read(F.col("text").cast("binary"), "ended").alias("row"))
    return taken.select("source", "line", "day", "row.*")


def _read(line: Any, ended: bool) -> tuple[Any, ...]:
    text = bytes(line)
    if len(text) > MAX_LINE:
        return _aside(f"longer than {MAX_LINE} octets", text)
    try:
        row = from_json(text.decode("utf-8"))
        at = row.at if isinstance(row, RunRow) else ""
        return row.run, row.worker, row.n, row.kind, at, to_json(row), None
    except (RecordError, UnicodeDecodeError) as error:
        return _aside(printable(str(error)) if ended else "torn: the last line lacks its end", text)


def _aside(reason: str, text: bytes) -> tuple[Any, ...]:
    return None, None, None, None, None, octets(text, 120), reason


def unusual(rows: DataFrame) -> DataFrame:
    """Coverage rows that are not in our writer's form, taken apart like those that are."""
    read = F.udf(_coverage, StructType([
        StructField("property", StringType()), StructField("requirement", StringType()),
        StructField("exercised", LongType()), StructField("judged", LongType()),
    ]), useArrow=False)  # fmt: skip
    found = rows.where(F.col("kind") == CoverageRow.kind).select("run", "worker", "n", read("text").alias("row"))
    return found.select("run", "worker", "n", "row.*")


def _coverage(text: str) -> tuple[Any, ...]:
    row = from_json(text)
    assert isinstance(row, CoverageRow)
    return row.property, row.requirement, row.exercised, row.judged
