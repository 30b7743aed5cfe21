"""Files of records as rows, read as `records.reader` reads them.

Each file is handed to Python whole. Nineteen rows of twenty say how often a property brought a requirement into play,
and our writer gives them one form: a pattern takes those apart, and all of one worker stay together as one sheet. Every
other line is read by `records.rows`, so that there is one reader to trust, and no line is read by two.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, LongType, StructField, StructType

from records.reader import MAX_LINE
from records.rows import CoverageRow, FaultRow, RecordError, Row, RunRow, from_json, to_json
from records.text import encodable, octets, printable
from reports.spark import schemas

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

LARGEST: Final = 1 << 26
"""Octets of a file of records; a larger one is set aside whole, since it is read in one piece."""
_TEXT = r'"([ !#-\[\]-~]+)"'
_COUNT = r"(0|[1-9][0-9]{0,14})"
COVERAGE: Final = (
    rf'^\{{"kind":"coverage","run":{_TEXT},"worker":{_TEXT},"n":{_COUNT},"schema":[0-9]{{1,4}},"property":{_TEXT},'
    rf'"requirement":{_TEXT},"exercised":{_COUNT},"judged":{_COUNT}\}}$'
)
"""A coverage row as records.writer writes it: plain characters, no escapes, columns in their order."""
_PLAIN: Final = re.compile(COVERAGE, re.ASCII).fullmatch
COUNTED: Final = ("n", "property", "requirement", "exercised", "judged")
"""The columns of a sheet."""
_READ: Final = StructType(
    [
        *schemas.text("run", "worker", "kind", "at", "trace", "text", "reason"),
        *[StructField(name, LongType()) for name in ("line", "n", "many")],
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


def contents(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """These files: path, modificationTime, content."""
    if not paths:
        return spark.createDataFrame([], "path string, modificationTime timestamp, content binary")
    found = spark.read.format("binaryFile").load([exact(path) for path in paths])
    return found.select("path", "modificationTime", "content")


def rows(files: DataFrame) -> DataFrame:
    """What `contents` hold: source, day (when the file was modified), and the columns of _READ.

    `kind` says what a row is. Its one JSON form is its `text`; that of a run has its `at` beside it, that of a fault
    its `trace`. Rows of coverage come as sheets, which stand for `many`. A line that is no row has a `reason`, its
    number (from 1), and how it begins as `text`.
    """
    day, read = F.date_format("modificationTime", "yyyy-MM-dd"), schemas.by_columns(_files, ArrayType(_READ))
    found = files.select(F.col("path").alias("source"), day.alias("day"), F.explode(read("content")).alias("row"))
    return found.select("source", "day", "row.*")


def _files(contents: pa.Array) -> pa.Array:
    """The rows of each of these files."""
    found: list[dict[str, Any]] = []
    ends = [0]
    for content in contents:
        found += _rows(content.as_py())
        ends.append(len(found))
    return pa.ListArray.from_arrays(ends, pa.array(found, schemas.arrow(_READ)))


def _rows(content: bytes) -> Iterator[dict[str, Any]]:
    """The rows of one file, as far as they say something."""
    texts = content.decode("utf-8", "surrogateescape").split("\n")
    counted: dict[tuple[str, str], list[tuple[int, str, str, int, int]]] = {}
    for line, text in enumerate(texts, 1):
        bare = text.rstrip("\r")
        plain = _PLAIN(bare)
        if plain:
            run, worker, n, name, requirement, exercised, judged = plain.groups()
            counted.setdefault((run, worker), []).append((int(n), name, requirement, int(exercised), int(judged)))
        elif bare:
            row = _row(bare.encode("utf-8", "surrogateescape"), ended=line < len(texts))
            if isinstance(row, CoverageRow):
                one = row.n, encodable(row.property), encodable(row.requirement), row.exercised, row.judged
                counted.setdefault((encodable(row.run), encodable(row.worker)), []).append(one)
            else:
                yield {"line": line, "many": 1, **(row if isinstance(row, dict) else _told(row))}
    for (run, worker), each in counted.items():
        text = json.dumps(dict(zip(COUNTED, zip(*each, strict=True), strict=True)), separators=(",", ":"))
        yield {"run": run, "worker": worker, "kind": CoverageRow.kind, "text": text, "many": len(each)}


def _row(text: bytes, *, ended: bool) -> Row | dict[str, str]:
    """A line as records.reader reads it, or why it is set aside; `ended` is false for one that lacks its line end."""
    if len(text) > MAX_LINE:
        return _aside(f"longer than {MAX_LINE} octets", text)
    try:
        return from_json(text.decode("utf-8"))
    except (RecordError, UnicodeDecodeError) as error:
        return _aside(printable(str(error)) if ended else "torn: the last line lacks its end", text)


def _told(row: Row) -> dict[str, Any]:
    about = {"run": encodable(row.run), "worker": encodable(row.worker), "n": row.n, "kind": row.kind}
    if isinstance(row, RunRow):
        about["at"] = encodable(row.at)
    elif isinstance(row, FaultRow):
        about["trace"] = encodable(row.trace)
    return {**about, "text": to_json(row)}


def _aside(reason: str, text: bytes) -> dict[str, str]:
    return {"reason": reason, "text": octets(text, 120)}
