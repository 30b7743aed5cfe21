"""A warehouse as many nights would leave it, made up by Spark itself, and files of records as runs leave them.

Twenty implementations are judged for 500 nights (or as many as are asked for), once a night for each million of rows;
every 25 nights brings a new version of each. A hundred requirements: most stand as the version before, some flicker.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from bench.transport import LEARNT, STOMP, drawn, setting
from impls.driver.drive import drive
from records.rows import CoverageRow, EndRow, PropertyRow, RequirementRow, Row, RunRow, to_json
from reports.spark import versions
from reports.spark.rows import SCHEMAS
from reports.spark.warehouse import Warehouse
from specs.plan import Plan
from strategies.stomp import sessions
from suites import trace

IMPLEMENTATIONS: Final = 20
NIGHTS: Final = 500
REQUIREMENTS: Final = 100
A_VERSION: Final = 25
"""Nights after which there is a new version."""
PROPERTIES: Final = 60
WEIGHT: Final = "explode(sequence(0, {}))"


def fill(spark: SparkSession, root: str, count: int, most: int = NIGHTS) -> int:
    """Write a warehouse of about `count` verdicts at `root`, of `most` nights at most; answers how many they are."""
    runs = max(2 * IMPLEMENTATIONS, count // REQUIREMENTS)
    each = max(1, runs // (IMPLEMENTATIONS * most))
    nights = max(2, runs // (IMPLEMENTATIONS * each))
    warehouse = Warehouse(spark, root)
    batch = warehouse.begin()
    # Nights lie together, so that a folder of one day gets one file.
    parts = max(2, min(nights, runs * REQUIREMENTS // 2_000_000))
    made = spark.range(0, nights * each * IMPLEMENTATIONS, 1, parts).transform(_runs(nights, each))
    for table, rows in (("runs", made.transform(_told)), ("verdicts", made.transform(_verdicts)),
                        ("settled", made.transform(_settled)),
                        ("efforts", made.transform(_efforts)), ("faults", made.transform(_faults)),
                        ("held", made), ("ledger", made.transform(_read)),
                        ("rows", made.where(F.col("night") == nights - 1).transform(_listed))):  # fmt: skip
        warehouse.write(batch, table, rows.transform(_whole(table)))
    warehouse.write(batch, "versions", versions.summed(*(warehouse.part(batch, table) for table in versions.FROM)))
    written = ("runs", "verdicts", "settled", "efforts", "faults", "held", "ledger", "rows", "versions")
    warehouse.commit(batch, written, count)
    return nights * each * IMPLEMENTATIONS * REQUIREMENTS


def _whole(table: str):  # type: ignore[no-untyped-def]
    """The columns of a table; those that were not made are empty."""
    empty = {"string": F.lit(""), "bigint": F.lit(0).cast("long"), "double": F.lit(0.0), "boolean": F.lit(False)}

    def filled(rows: DataFrame) -> DataFrame:
        def column(name: str, kind: str) -> Column:
            return (
                F.col(name) if name in rows.columns else empty.get(kind, F.slice(F.array(F.lit("")), 1, 0)).alias(name)
            )

        return rows.select(*[column(field.name, field.dataType.simpleString()) for field in SCHEMAS[table].fields])

    return filled


def _runs(nights: int, each: int):  # type: ignore[no-untyped-def]
    def made(ids: DataFrame) -> DataFrame:
        night = (F.col("id") / (IMPLEMENTATIONS * each)).cast("int")
        moment = F.timestamp_seconds(F.lit(1_700_000_000) + night * 86_400 + F.col("id") % (IMPLEMENTATIONS * each))
        return ids.select(
            "id",
            night.alias("night"),
            (F.col("id") % IMPLEMENTATIONS).alias("i"),
            F.format_string("run-%09d", "id").alias("run"),
            F.date_format(moment, "yyyy-MM-dd'T'HH:mm:ssxxx").alias("at"),
            F.date_format(moment, "yyyy-MM-dd").alias("day"),
            F.format_string("1.%d", (night / A_VERSION).cast("int")).alias("version"),
            F.format_string("broker-%d/stomp/server/1.2", F.col("id") % IMPLEMENTATIONS).alias("slug"),
        )

    return made


def _told(runs: DataFrame) -> DataFrame:
    return runs.withColumns({
        "impl": F.split("slug", "/")[0], "protocol": F.lit("stomp"), "role": F.lit("server"), "profile": F.lit("1.2"),
        "verdict": F.lit("fail"), "complete": F.col("id") % 97 != 0, "suite_version": F.lit("0.1.0"),
        "plans": F.lit(20_000), "passed": F.lit(80), "failed": F.lit(5), "judged": F.lit(85),
    })  # fmt: skip


def _id() -> Column:
    return F.format_string("STOMP-1.2-MADE-%02d", "r")


def _verdicts(runs: DataFrame) -> DataFrame:
    """Most as the version has it, one in a hundred by the run."""
    each = runs.withColumn("r", F.expr(WEIGHT.format(REQUIREMENTS - 1)))
    steady, loose = F.abs(F.hash("i", "version", "r")) % 100, F.abs(F.hash("id", "r")) % 100
    chance = F.when(loose == 0, F.abs(F.hash("r", "id")) % 100).otherwise(steady)
    word = F.when(chance < 6, "failed").when(chance < 14, "inconclusive").otherwise("passed")
    verdicts = F.when(word == "failed", "fail").when(word == "passed", "pass").otherwise("inconclusive")
    failing = word == "failed"
    return each.withColumns({
        "requirement": _id(), "standing": word, "verdict": verdicts, "whole": F.col("id") % 97 != 0,
        "level": F.when(F.col("r") % 6 == 3, "SHOULD").otherwise("MUST"),
        "failed_as": F.when(failing, "MUST").otherwise(""),
        "exercised": (loose * 7).cast("long"), "judged": (loose * 5).cast("long"),
        "message": F.when(failing, "the answer is not the one that was asked for").otherwise(""),
        "trace": F.when(failing, F.concat(F.lit("traces/"), _id(), F.lit(".json"))).otherwise(""),
    })  # fmt: skip


def _settled(runs: DataFrame) -> DataFrame:
    return (
        runs.transform(_verdicts).where("verdict in ('pass', 'fail')").withColumn("failed", F.expr("verdict = 'fail'"))
    )


def _faults(runs: DataFrame) -> DataFrame:
    failing = runs.transform(_verdicts).where("verdict = 'fail'")
    return failing.withColumns({
        "why": F.col("message"), "expected": F.lit("another answer"), "property": F.lit("stomp/test_made.py::test_1"),
        "steps": F.lit(4), "reproduced": F.lit(5), "tried": F.lit(5),
    })  # fmt: skip


def _efforts(runs: DataFrame) -> DataFrame:
    each = runs.withColumn("p", F.expr(WEIGHT.format(PROPERTIES - 1)))
    return each.withColumns({
        "property": F.format_string("stomp/test_made.py::test_%d", "p"), "plans": F.lit(300), "steps": F.lit(2400),
        "seconds": F.lit(1.5),
    })  # fmt: skip


def _read(runs: DataFrame) -> DataFrame:
    path = F.format_string("file:/results/%s/records/%s-main.jsonl", "day", "run")
    return runs.select(path.alias("path"), F.lit(400_000).alias("length"), F.to_timestamp("at").alias("modified"))


def _listed(runs: DataFrame) -> DataFrame:
    each = runs.withColumn("r", F.expr(WEIGHT.format(REQUIREMENTS - 1)))
    text = F.to_json(F.struct(
        F.lit("requirement").alias("kind"), _id().alias("id"), F.lit("Section").alias("section"),
        F.lit("MUST").alias("level"), F.lit("text").alias("basis"), F.lit("What is said.").alias("statement"),
    ))  # fmt: skip
    return each.withColumns({"kind": F.lit("requirement"), "n": F.col("r") + 2, "text": text, "worker": F.lit("main")})


def records(root: Path, runs: int, first: int = 0, *, impl: str = "broker", version: str = "1.0") -> int:
    """Files of records of whole runs, as `records.writer` writes them; answers how many rows they have."""
    (root / "records").mkdir(parents=True, exist_ok=True)
    lines = list(_lines(impl, version))
    text = "".join(f"{line}\n" for line in lines)
    for n in range(first, first + runs):
        name = f"20261001T{n // 3600 % 24:02d}{n // 60 % 60:02d}{n % 60:02d}Z-{n:08x}"
        (root / "records" / f"{name}-main.jsonl").write_text(text.replace("RUN", name), encoding="ascii")
    return runs * len(lines)


def _lines(impl: str, version: str) -> Iterator[str]:
    rows: list[Row] = [
        RunRow(at="2026-10-01T00:00:00+00:00", impl=impl, protocol="stomp", role="server", profile="1.2",
               version=version, asked=impl, workers=("main",)),
        *(RequirementRow(id=f"STOMP-1.2-MADE-{n:02d}", statement="What is said.") for n in range(REQUIREMENTS)),
    ]  # fmt: skip
    for p in range(PROPERTIES):
        name = f"stomp/test_made.py::test_{p}[lock-step]"
        rows += [
            CoverageRow(property=name, requirement=f"STOMP-1.2-MADE-{n:02d}", exercised=n * 3, judged=n * 7 + p)
            for n in range(p % 2, REQUIREMENTS, 2)
        ]
        rows.append(PropertyRow(property=name, plans=300, steps=2400, seconds=1.5, ended="budget"))
    rows.append(EndRow(at="2026-10-01T00:01:00+00:00", rows=len(rows), seconds=60.0))
    for n, row in enumerate(rows, 1):
        yield json.dumps(json.loads(to_json(row)) | {"run": "RUN", "worker": "main", "n": n}, separators=(",", ":"))


def conversations(spark: SparkSession, root: str, count: int) -> list[str]:
    """A warehouse of `count` stored conversations, a hundred different ones; answers their texts."""
    made = setting()
    programs = drawn(sessions.sessions(sessions.EVERYTHING), 100, 1)
    different = [_document(sessions.interpret(program, made.config, hurry=False)) for program in programs]
    texts = list(islice(cycle(different), count))
    rows = [(f"run-{n:09d}", "traces/made.json", text, "", "2026-10-01") for n, text in enumerate(texts)]
    warehouse = Warehouse(spark, root)
    batch = warehouse.begin()
    warehouse.write(batch, "traces", spark.createDataFrame(rows, SCHEMAS["traces"]))
    warehouse.commit(batch, ("traces",), count)
    return texts


def _document(plan: Plan) -> str:
    recording = drive(plan, setting(), "made-")
    impl = {"name": "broker", "version": "1", "protocol": "stomp", "role": "server", "profile": "1.2"}
    facts = {name: fact.default for name, fact in STOMP.facts.items()}
    told = {"impl": impl, "facts": facts, "learnt": LEARNT, "requirement": "STOMP-1.2-MSG-06"}
    blamed = {"blamed": ["STOMP-1.2-MSG-06"], "conversation": trace.conversation(recording, STOMP)}
    return json.dumps({"schema": trace.SCHEMA, **told, **blamed, "plan": trace.plan_to_json(plan, STOMP)})
