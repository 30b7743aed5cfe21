"""Stored conversations judged again with today's specifications, on the executors.

A fault was found under the specification of its day. When that is corrected, the conversations in the warehouse say
which of the old faults still stand: each is read and judged anew, once for each state of the specifications. Faults
that no longer stand are left out of their runs, which are folded again: so history is corrected, and the table
`rejudged` keeps what was changed and why.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import BooleanType, StructField, StructType

from records.text import printable
from reports.spark import schemas
from reports.spark.ingest import fold, overturned, told_of
from reports.spark.rows import UNKNOWN_DAY
from reports.spark.session import ROOT
from specs.protocol import find
from specs.recorded import judge_again

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from reports.spark.warehouse import Warehouse

Judge = Callable[[str, int | None], tuple[str, str]]
SAID: Final = schemas.text("after", "why")
PENDING: Final = StructType([*schemas.text("run", "trace", "batch").fields, StructField("overturned", BooleanType())])
"""A trace that has to be judged again, and whether it stands as one that is allowed."""


@dataclass(frozen=True, slots=True)
class Rejudgement:
    """What one job did: conversations judged, verdicts that changed, those that could not be judged, runs corrected."""

    judged: int = 0
    changed: int = 0
    errors: int = 0
    runs: int = 0

    def __str__(self) -> str:
        if not self.judged:
            return "nothing to judge again"
        return (
            f"{self.judged} conversations judged again: {self.changed} no longer fail, {self.errors} cannot be judged, "
            f"{self.runs} runs corrected"
        )


@cache
def digest() -> str:
    """A hash of everything that specifies: two equal ones judge alike."""
    made = hashlib.sha256()
    for path in sorted(p for p in (ROOT / "specs").rglob("*") if p.suffix in (".py", ".toml")):
        octets = path.read_bytes()
        made.update(f"{path.relative_to(ROOT).as_posix()} {len(octets)}\n".encode())
        made.update(octets)
    return made.hexdigest()


def again(document: str, seed: int | None) -> tuple[str, str]:
    """What today's specification says of the fault in the text of a trace file, as (after, why).

    `after`: "fail" when something is blamed now, "pass" when nothing is, "error" when that cannot be told. `seed` is
    that of the run, None when it is not known.
    """
    try:
        return _again(json.loads(document), seed)
    except Exception as error:  # noqa: BLE001 - a trace file is a stranger's: what is wrong with it goes into the table
        return "error", printable(f"{type(error).__name__}: {error}", 300)


def _again(document: dict[str, Any], seed: int | None) -> tuple[str, str]:
    if seed is not None and "seed" in document and document["seed"] != seed:
        return "error", "the trace file was written by another run than the one that names it"
    protocol = find(str(document["impl"]["protocol"]))
    judgement = judge_again(document, protocol)
    blamed = set(document["blamed"])
    found: dict[str, str] = {}
    for blame in judgement.faults:
        for name in (blame.breach.requirement, *blame.breach.also):
            found.setdefault(name, blame.breach.why)
    still = sorted(blamed & found.keys())
    if still:
        return "fail", found[still[0]]
    if protocol.crash in blamed:
        return "fail", "that the implementation died is not in the conversation; what was seen then stands"
    if not blamed:
        return "error", "the trace does not say what was blamed"
    if judgement.verdict in ("error", "inconclusive"):
        return "error", f"today's specification cannot tell: {judgement.why or judgement.verdict}"
    if found:
        # It stays where it was found: a conversation that is still wrong never vanishes from its run.
        return "fail", f"today's specification blames {', '.join(sorted(found))} instead; a new run will say so"
    return "pass", "today's specification allows this conversation"


def rejudge(warehouse: Warehouse, progress: Callable[[str], None], judge: Judge = again) -> Rejudgement:
    """Judge what these specifications have not judged yet, commit it, and fold anew the runs that it corrects."""
    batch = warehouse.begin()
    before, traces = warehouse.rejudged(), warehouse.batches("traces")
    waiting = traces.transform(pending(before, digest())).collect()
    if not waiting:
        return Rejudgement()
    progress(f"judging {len(waiting)} conversations again")
    asked = schemas.sent(warehouse.spark, waiting, PENDING)
    runs = warehouse.newest("runs").select("run", "slug", "version", "seed")
    tasks = 4 * int(warehouse.spark.conf.get("spark.sql.shuffle.partitions") or 2)
    documents = traces.join(F.broadcast(asked), ["run", "trace", "batch"]).repartition(tasks, "run", "trace")
    said = documents.transform(judged(runs, digest(), judge)).persist()
    warehouse.write(batch, "rejudged", said)
    told = said.select("run", "after", "overturned", "changed").collect()
    affected = {row.run for row in told if row.overturned != row.changed}
    parts = {}
    if affected:
        progress(f"correcting {len(affected)} runs")
        kept = before.join(F.broadcast(asked), ["run", "trace"], "left_anti").transform(overturned)
        corrected = schemas.sent(warehouse.spark, [(run,) for run in sorted(affected)], schemas.text("run"))
        gone = kept.unionByName(overturned(said))
        folded = fold(warehouse, corrected, None, gone, warehouse.holding(corrected)).persist()
        parts = told_of(warehouse, folded, again=True)
        warehouse.write_all(batch, parts)
        folded.unpersist()
    warehouse.commit(batch, ("rejudged", *parts), len(told))
    said.unpersist()
    after = Counter(row.after for row in told)
    return Rejudgement(judged=len(told), changed=after["pass"], errors=after["error"], runs=len(affected))


def pending(before: DataFrame, today: str) -> Callable[[DataFrame], DataFrame]:
    """The newest copy of each trace that the specifications `today` have not judged, as PENDING."""
    known = before.select(
        "run", "trace", (F.col("digest") == today).alias("done"), F.col("changed").alias("overturned")
    )

    def made(traces: DataFrame) -> DataFrame:
        newest = traces.groupBy("run", "trace").agg(F.max("batch").alias("batch"))
        both = newest.join(known, ["run", "trace"], "left").fillna(False, ["done", "overturned"])
        return both.where(~F.col("done")).select(*PENDING.names)

    return made


def judged(runs: DataFrame, today: str, judge: Judge) -> Callable[[DataFrame], DataFrame]:
    """The table `rejudged` for these traces, and whether each was `overturned` before."""

    def each(documents: pa.Array, seeds: pa.Array) -> pa.Array:
        asked = zip(documents.to_pylist(), seeds.to_pylist(), strict=True)
        return pa.array([dict(zip(SAID.names, judge(*one), strict=True)) for one in asked], schemas.arrow(SAID))

    say = schemas.by_columns(each, SAID)

    def made(traces: DataFrame) -> DataFrame:
        told = traces.join(F.broadcast(runs), "run", "left").fillna("", ["slug", "version"])
        said = told.withColumn("said", say("document", "seed"))
        return said.select(
            "run", "slug", "version",
            F.coalesce(F.get_json_object("document", "$.requirement"), F.lit("")).alias("requirement"),
            "trace", F.lit("fail").alias("before"), "said.after", (F.col("said.after") == "pass").alias("changed"),
            "said.why", F.lit(today).alias("digest"), F.coalesce("day", F.lit(UNKNOWN_DAY)).alias("day"), "overturned",
        )  # fmt: skip

    return made
