"""A campaign on Spark: waves of tasks, each committed before the next begins.

Nothing here schedules or retries: a wave is one Spark job whose partitions are the tasks. Spark does a task again that
was lost, and lets the rows of one attempt count. A wave is a batch of the warehouse (`reports/spark/warehouse.py`), so
that a job that is killed has left whole waves, and the next one goes on behind them.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType

from campaigns.found import Found, Known, Order, program_of
from campaigns.proving import prove
from campaigns.scoring import FAULTS, names, score
from campaigns.work import work
from reports.campaigns import Campaign, Settled
from reports.spark import schemas
from reports.spark.rejudge import digest
from suites.session import SUITE_VERSION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from reports.spark.warehouse import Warehouse

PARENTS: Final = 200
"""Programs of one property that others are bred from, the shortest first."""
FEATURES: Final = 50_000
"""Features of one role that are known by their shortest program at most."""
PROOFS: Final = 40
"""Faults that are looked into behind one wave at most; the others follow behind the next ones."""
PROOF_S: Final = 60.0
"""Seconds for one of them."""
SETTINGS: Final = {
    # A task that is done twice at the same time would be two loads on one implementation.
    "spark.speculation": "false",
    "spark.task.maxFailures": "4",
    "spark.excludeOnFailure.enabled": "true",
    "spark.excludeOnFailure.task.maxTaskAttemptsPerExecutor": "2",
}
"""What a campaign asks of Spark, beside what every job of ours asks for."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for: `campaign` with `hours` on the clock, or 0.0 where its plans end it. At most `connections`
    tasks at once where that is not 0. `seconds` bounds one task."""

    campaign: Campaign
    hours: float = 0.0
    connections: int = 0
    seconds: float = 600.0


class Differs(Exception):
    """A campaign of this name was begun with something else."""


@dataclass(frozen=True, slots=True)
class Done:
    """What stands in the warehouse when a job ends."""

    waves: int
    plans: int
    faults: int


def run(warehouse: Warehouse, wanted: Wanted, progress: Callable[[str], None]) -> Done:
    """Go on with a campaign, or begin it, until its plans are played or its time is up. Raises Differs."""
    campaign, until = _begun(warehouse, wanted.campaign), time.monotonic() + wanted.hours * 3600
    while True:
        _prove(warehouse, campaign, wanted, progress)
        wave, done = _standing(warehouse, campaign)
        orders = _orders(campaign, wave + 1, done, wanted)
        if not orders or (wanted.hours and time.monotonic() >= until):
            break
        known = {source: _known(warehouse, campaign, source) for source in _played(campaign)}
        batch = warehouse.begin()
        warehouse.write(batch, "found", _asked(warehouse.spark, orders, partial(_work, known), Found, wanted))
        warehouse.commit(batch, ("found",), warehouse.part(batch, "found").count())
        progress(_told(warehouse, campaign, wave + 1))
        warehouse.compact()
    wave, done = _standing(warehouse, campaign)
    faults = warehouse.batches("proved").where(F.col("campaign") == campaign.campaign)
    return Done(wave, sum(done.values()), faults.where("verdict = 'fail'").count())


def _work(known: Mapping[str, Known], order: Order) -> Iterator[Found]:
    if order.source.startswith(FAULTS):
        return score(order, names(order.source)[order.first : order.first + order.plans])
    return work(order, known[order.source])


def _played(campaign: Campaign) -> list[str]:
    """The sources that are played with; of others every seeded fault is hunted once."""
    return [source for source in campaign.sources if not source.startswith(FAULTS)]


def _begun(warehouse: Warehouse, asked: Campaign) -> Campaign:
    """The campaign of that name as it was begun, written down now if it is new."""
    before = warehouse.batches("campaigns").where(F.col("campaign") == asked.campaign).collect()
    if not before:
        batch = warehouse.begin()
        warehouse.write(batch, "campaigns", schemas.sent(warehouse.spark, [astuple(asked)], schemas.of(Campaign)))
        warehouse.commit(batch, ("campaigns",), 1)
        return asked
    known = Campaign(**{each.name: _plain(before[0][each.name]) for each in fields(Campaign)})
    same = replace(asked, at=known.at, plans=known.plans, digest=known.digest, suite_version=known.suite_version)
    if same != known:
        raise Differs(
            f"the campaign {known.campaign!r} was begun with {', '.join(known.sources)}, seed {known.seed}, "
            f"{known.each} plans a task and {known.wide} tasks a wave; say the same, or give this one another --name"
        )
    return replace(known, plans=asked.plans)  # more plans than before go on where it stopped


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def new(name: str, sources: Sequence[str], *, seed: int, plans: int, each: int, wide: int, fresh: float) -> Campaign:
    """A campaign that begins now."""
    return Campaign(
        campaign=name, at=datetime.now(UTC).isoformat(timespec="seconds"), sources=tuple(sources), seed=seed,
        plans=plans, each=each, wide=wide, fresh=fresh, suite_version=SUITE_VERSION, digest=digest(),
    )  # fmt: skip


def _mine(warehouse: Warehouse, campaign: Campaign) -> DataFrame:
    return warehouse.batches("found").where(F.col("campaign") == campaign.campaign)


def _standing(warehouse: Warehouse, campaign: Campaign) -> tuple[int, dict[str, int]]:
    """The last wave, and the plans that were ordered of each source."""
    rows = (
        _mine(warehouse, campaign).where("kind = 'task'").groupBy("source")
        .agg(F.count("*").alias("tasks"), F.max("wave").alias("wave")).collect()
    )  # fmt: skip
    return max((row.wave for row in rows), default=0), {row.source: row.tasks * campaign.each for row in rows}


def _orders(campaign: Campaign, wave: int, done: dict[str, int], wanted: Wanted) -> list[Order]:
    """The tasks of a wave: each source gets the same number, as long as plans of it are left."""
    orders: list[Order] = []
    seeded = {source: len(names(source)) for source in campaign.sources if source.startswith(FAULTS)}
    for nth in range(campaign.wide):
        source = campaign.sources[nth % len(campaign.sources)]
        ordered = done.get(source, 0) + sum(order.source == source for order in orders) * campaign.each
        if ordered >= seeded.get(source, math.inf if wanted.hours else campaign.plans):
            continue
        task = wave * campaign.wide + nth
        orders.append(
            Order(
                campaign=campaign.campaign, wave=wave, task=task, source=source, seed=_seed(campaign, task),
                plans=campaign.each, seconds=wanted.seconds, fresh=campaign.fresh,
            )
        )  # fmt: skip
    return orders


def _seed(campaign: Campaign, task: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{campaign.seed} {task}".encode()).digest()[:6])


def _known(warehouse: Warehouse, campaign: Campaign, source: str) -> Known:
    """What all campaigns so far know of what this source speaks, and this one of the faults of the source."""
    mine = _mine(warehouse, campaign).where(F.col("source") == source)
    spoken = mine.select("protocol", "role").limit(1).collect()
    everything = warehouse.batches("found").where("kind in ('feature', 'fault') and program <> ''")
    if spoken:
        everything = everything.where((F.col("protocol") == spoken[0].protocol) & (F.col("role") == spoken[0].role))
    else:
        everything = everything.where(F.col("source") == source)
    shortest = (
        everything.groupBy("name").agg(F.min(F.struct("size", "program", "key")).alias("best"))
        .select("name", "best.*").orderBy("size", "program", "name").limit(FEATURES).collect()
    )  # fmt: skip
    programs: dict[str, dict[str, None]] = {}
    for row in shortest:
        of_property = programs.setdefault(row.key, {})
        if len(of_property) < PARENTS:
            of_property.setdefault(row.program)
    proved = warehouse.batches("proved").where(F.col("campaign") == campaign.campaign)
    aside = proved.where((F.col("source") == source) & (F.col("verdict") == "fail")).select("fingerprint").collect()
    return Known(
        {row.name: row.size for row in shortest},
        {key: tuple(map(program_of, texts)) for key, texts in programs.items()},
        frozenset(row.fingerprint for row in aside),
    )


def _asked(
    spark: SparkSession, orders: Sequence[Any], answer: Callable[[Any], Iterator[Any]], table: type, wanted: Wanted
) -> DataFrame:
    """The rows that the executors answer to the orders, a task for each, or fewer that do several one after another."""
    kind = schemas.of(table)
    rows = ArrayType(kind)
    parts = min(len(orders), wanted.connections or len(orders))

    def each(places: pa.Array) -> pa.Array:
        told = [
            [dict(zip(kind.names, astuple(row), strict=True)) for row in answer(orders[place])]
            for place in places.to_pylist()
        ]
        return pa.array(told, schemas.arrow(rows))

    said = schemas.by_columns(each, rows)
    return spark.range(0, len(orders), 1, parts).select(F.explode(said("id")).alias("row")).select("row.*")


def _prove(warehouse: Warehouse, campaign: Campaign, wanted: Wanted, progress: Callable[[str], None]) -> None:
    """Look into the faults that no job has looked into yet."""
    known = warehouse.batches("proved").where(F.col("campaign") == campaign.campaign)
    seen = (
        _mine(warehouse, campaign)
        .where("kind = 'fault'")
        .join(known.select("source", F.col("fingerprint").alias("about")), ["source", "about"], "left_anti")
    )
    columns = [each.name for each in fields(Found)]
    shortest = seen.groupBy("source", "about").agg(
        F.min_by(F.struct(*columns), F.struct("size", "program")).alias("row")
    )
    waiting = [Found(**row.row.asDict()) for row in shortest.orderBy("source", "about").limit(PROOFS).collect()]
    if not waiting:
        return
    progress(f"looking into {len(waiting)} faults")
    orders = [
        (Order(campaign.campaign, row.wave, row.task, row.source, _seed(campaign, row.task), 0, PROOF_S), row)
        for row in waiting
    ]

    def answer(pair: tuple[Order, Found]) -> Iterator[Settled]:
        return prove(*pair)

    batch = warehouse.begin()
    warehouse.write(batch, "proved", _asked(warehouse.spark, orders, answer, Settled, wanted))
    warehouse.commit(batch, ("proved",), len(waiting))


def _told(warehouse: Warehouse, campaign: Campaign, wave: int) -> str:
    """A line of progress."""
    mine = _mine(warehouse, campaign)
    row = mine.agg(
        F.sum(F.when(F.col("kind") == "task", F.col("times"))).alias("plans"),
        F.countDistinct(F.when(F.col("kind") == "judged", F.col("name"))).alias("judged"),
        F.countDistinct(F.when(F.col("kind") == "feature", F.struct("protocol", "role", "name"))).alias("features"),
        F.countDistinct(F.when(F.col("kind") == "fault", F.struct("source", "about"))).alias("faults"),
    ).collect()[0]
    return (
        f"wave {wave}: {row.plans} plans, {row.judged} requirements judged, {row.features} features, "
        f"{row.faults} sorts of fault"
    )
