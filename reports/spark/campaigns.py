"""What the pages show of campaigns, out of what their tasks have left in the warehouse."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F  # noqa: N812

from reports.campaigns import SCORED, Alarm, Campaign, Lean, Row, Score, Sight, Told, Wave, estimate, waves

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from reports.spark.warehouse import Warehouse

LATEST: Final = 20
"""Campaigns that have a page, the newest."""


def campaigns(warehouse: Warehouse) -> tuple[Told, ...]:
    """The latest campaigns, newest first."""
    if not any("campaigns" in commit.tables for commit in warehouse.live()):
        return ()
    begun = warehouse.batches("campaigns").drop("batch").orderBy(F.desc("at"), "campaign").limit(LATEST).collect()
    return tuple(_told(warehouse, _campaign(row)) for row in begun)


def _campaign(row: Any) -> Campaign:
    return Campaign(**{**row.asDict(), "sources": tuple(row.sources)})


def _told(warehouse: Warehouse, campaign: Campaign) -> Told:
    mine = warehouse.batches("found").where(F.col("campaign") == campaign.campaign)
    sums = summed(mine).collect()
    of_kind: dict[str, list[Any]] = defaultdict(list)
    for row in sums:
        of_kind[row.kind].append(row)
    looks = Counter({row.source: 0 for row in sums})
    for row in of_kind["verdict"]:
        looks[row.source] += row.conversations
    began, ended, why = _course(mine)
    return Told(
        campaign=campaign,
        ended=ended,
        why=why,
        plans=sum(row.times for row in of_kind["task"]),
        conversations=looks.total(),
        inconclusive=sum(row.conversations for row in of_kind["verdict"] if row.name in ("inconclusive", "error")),
        waves=_waves(mine, began),
        rows=_rows(of_kind),
        leans=tuple(
            Lean(source=row.source, freedom=row.name, conversations=row.conversations) for row in of_kind["leaned"]
        ),
        sights=_sights(warehouse, campaign, mine),
        alarms=_alarms(mine),
        scores=_scores(mine),
        features=_estimates(of_kind["feature"], looks),
        faults=_estimates(of_kind["fault"], looks),
    )


def summed(mine: DataFrame) -> DataFrame:
    """What all tasks of a campaign found of each thing."""
    keys = ("source", "protocol", "role", "kind", "name", "about")
    return (
        mine.where(~F.col("kind").isin(*SCORED, "wave", "ended")).groupBy(*keys)
        .agg(F.sum("times").alias("times"), F.sum("conversations").alias("conversations"))
        .orderBy(*keys)
    )  # fmt: skip


def _estimates(rows: list[Any], looks: Counter[str]) -> tuple[tuple[str, Any], ...]:
    counts: dict[str, list[int]] = {source: [] for source in looks}
    for row in rows:
        counts[row.source].append(row.conversations)
    return tuple((source, estimate(seen, looks[source])) for source, seen in counts.items())


def _waves(mine: DataFrame, began: dict[int, str]) -> tuple[Wave, ...]:
    """A thing counts for the wave in which it was found first."""
    first = (
        mine.where("kind in ('judged', 'feature', 'fault')").groupBy("source", "kind", "name", "about")
        .agg(F.min("wave").alias("wave")).groupBy("source", "kind", "wave").count().collect()
    )  # fmt: skip
    plans = mine.where("kind = 'task'").groupBy("source", "wave").agg(F.sum("times").alias("plans")).collect()
    return waves(
        {(row.source, row.wave): row.plans for row in plans},
        {(row.source, row.kind, row.wave): row["count"] for row in first},
        began,
    )


def _course(mine: DataFrame) -> tuple[dict[int, str], str, str]:
    """When each wave began, and when and why the campaign ended, "" where it goes on or was stopped."""
    rows = mine.where(F.col("kind").isin("wave", "ended")).select("kind", "wave", "about", "why").collect()
    began = {row.wave: row.about for row in rows if row.kind == "wave"}
    ends = [(row.wave, row.about, row.why) for row in rows if row.kind == "ended"]
    wave, at, why = max(ends, default=(0, "", ""))
    return (began, at, why) if wave >= max(began, default=0) else (began, "", "")


def _rows(of_kind: dict[str, list[Any]]) -> tuple[Row, ...]:
    broken: Counter[tuple[str, str]] = Counter()
    for row in of_kind["fault"]:
        broken[row.source, row.name] += row.conversations
    return tuple(
        Row(
            source=row.source, protocol=row.protocol, role=row.role, requirement=row.name, judged=row.times,
            conversations=row.conversations, broken=broken[row.source, row.name],
        )
        for row in of_kind["judged"]
    )  # fmt: skip


def _sights(warehouse: Warehouse, campaign: Campaign, mine: DataFrame) -> tuple[Sight, ...]:
    seen = (
        mine.where("kind = 'fault'")
        .groupBy("source", "name", "level", F.col("about").alias("fingerprint"))
        .agg(F.min_by("why", F.struct("size", "program")).alias("why"), F.sum("conversations").alias("conversations"))
    )
    proved = warehouse.batches("proved").where(F.col("campaign") == campaign.campaign)
    proved = proved.groupBy("source", "fingerprint").agg(
        F.max_by(F.struct("verdict", "document", "requirement", "level", F.col("why").alias("found")), "batch").alias(
            "proof"
        )
    )
    rows = seen.join(proved, ["source", "fingerprint"], "left").orderBy("source", "name", "fingerprint").collect()
    return tuple(
        Sight(
            source=row.source, requirement=row.proof.requirement if row.proof else row.name,
            level=row.proof.level if row.proof else row.level, fingerprint=row.fingerprint,
            why=row.proof.found if row.proof else row.why, conversations=row.conversations,
            verdict=row.proof.verdict if row.proof else "", document=row.proof.document if row.proof else "",
            slug=_slug(row.proof.document) if row.proof else "",
        )
        for row in rows
    )  # fmt: skip


def _slug(document: str) -> str:
    """The implementation that a trace tells of, as `slug_of` a run would name it."""
    try:
        impl = json.loads(document)["impl"]
        return "/".join(str(impl[name]) for name in ("name", "protocol", "role", "profile"))
    except (ValueError, KeyError, TypeError):
        return ""


def _alarms(mine: DataFrame) -> tuple[Alarm, ...]:
    rows = (
        mine.where("kind = 'alarm'").groupBy("source", "name", "about")
        .agg(
            F.min(F.struct("size", "program", "key", "why")).alias("best"),
            F.sum("conversations").alias("conversations"),
        )
        .orderBy("source", "name", "about").collect()
    )  # fmt: skip
    return tuple(
        Alarm(
            source=row.source, name=row.name, about=row.about, why=row.best.why, conversations=row.conversations,
            key=row.best.key, program=row.best.program,
        )
        for row in rows
    )  # fmt: skip


def _scores(mine: DataFrame) -> tuple[Score, ...]:
    rows = mine.where(F.col("kind").isin(*SCORED)).select("protocol", "name", "kind", "about", "size").collect()
    grouped: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in rows:
        grouped[row.protocol, row.name].append(row)
    return tuple(
        Score(
            protocol=protocol, requirement=name, seeded=len(of), killed=sum(row.kind == "killed" for row in of),
            late=sum(row.kind == "late" for row in of), wrong=sum(row.kind == "wrong" for row in of),
            survived=sum(row.kind in ("survived", "broken") for row in of),
            median_ms=float(median(row.size for row in of)),
            survivors=tuple(sorted(row.about for row in of if row.kind != "killed")),
        )
        for (protocol, name), of in sorted(grouped.items())
    )  # fmt: skip
