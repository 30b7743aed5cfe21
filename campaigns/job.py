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

from campaigns import progress as progress_page
from campaigns import runs
from campaigns.found import Found, Known, Order
from campaigns.proving import prove
from campaigns.scoring import FAULTS, names, score
from campaigns.standing import Standing, read, summed
from campaigns.work import work
from reports.campaigns import Campaign, Settled
from reports.spark import schemas, session
from reports.spark.rejudge import digest
from suites.head import SUITE_VERSION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from reports.spark.warehouse import Batch, Warehouse

PROOFS: Final = 40
"""Faults that are looked into behind one wave at most; the others follow behind the next ones."""
PROOF_S: Final = 60.0
"""Seconds for one of them."""
LIGHT: Final = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""Options of a JVM that leaves the cores to others."""
SETTINGS: Final = {
    # A task that is done twice at the same time would be two loads on one implementation.
    "spark.speculation": "false",
    "spark.task.maxFailures": "4",
    "spark.excludeOnFailure.enabled": "true",
    "spark.excludeOnFailure.task.maxTaskAttemptsPerExecutor": "2",
    # The conversations are played by Python: a JVM that collects garbage and compiles with threads of its own takes
    # their cores from them.
    "spark.executor.extraJavaOptions": LIGHT,
}
"""What a campaign asks of Spark, beside what every job of ours asks for."""


def settings(master: str) -> dict[str, str]:
    """`SETTINGS` for this machine (`master` is "") or for a cluster, whose executors have our modules at the same
    place, or installed."""
    if not master:
        return dict(SETTINGS)
    return {
        **SETTINGS,
        "spark.executorEnv.PYTHONPATH": str(session.ROOT),
        "spark.driver.extraJavaOptions": LIGHT,
    }


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
    """What stands in the warehouse when a job ends. Its waves took it `seconds`, of which executors worked for
    `working_s`: the rest is the driver's own."""

    waves: int
    plans: int
    faults: int
    alarms: int
    seconds: float = 0.0
    working_s: float = 0.0

    @property
    def share(self) -> float:
        """The driver's own part of the time."""
        return 1 - self.working_s / self.seconds if self.seconds else 0.0


def run(warehouse: Warehouse, wanted: Wanted, progress: Callable[[str], None]) -> Done:
    """Go on with a campaign, or begin it, until its plans are played or its time is up. Raises Differs."""
    campaign, until = _begun(warehouse, wanted.campaign), time.monotonic() + wanted.hours * 3600
    standing, working_s = read(warehouse, campaign), 0.0
    begun = time.monotonic()
    while True:
        working_s += _prove(warehouse, standing, wanted, progress)
        _show(warehouse, standing, wanted, time.monotonic() - begun)
        orders = _orders(standing, wanted)
        if not orders or (wanted.hours and time.monotonic() >= until):
            break
        known = {source: standing.known(source) for source in _played(campaign)}
        batch, mark = warehouse.begin(), _mark(standing, "wave")
        asked = _asked(warehouse.spark, orders, partial(_work, known), Found, wanted)
        working_s += _done(warehouse, batch, "found", asked.unionByName(_sent(warehouse, mark)))
        part = warehouse.part(batch, "found")
        warehouse.commit(batch, ("found",), part.count())
        standing.take(summed(part))
        progress(standing.told())
        warehouse.compact()
    if not working_s and standing.wave and standing.ended == standing.wave:
        return _ended(standing)
    while standing.waiting() and not wanted.hours:
        working_s += _prove(warehouse, standing, wanted, progress)
    runs.tell(warehouse, standing, progress)
    why = "its time was up" if orders else "all was played that was asked for"
    batch = warehouse.begin()
    warehouse.write(batch, "found", _sent(warehouse, _mark(standing, "ended", why)))
    warehouse.commit(batch, ("found",), 1)
    took_s = time.monotonic() - begun
    _show(warehouse, standing, wanted, took_s, why)
    return replace(_ended(standing), seconds=took_s, working_s=working_s)


def _ended(standing: Standing) -> Done:
    return Done(standing.wave, standing.plans, standing.failing(), len(standing.alarms))


def _mark(standing: Standing, kind: str, why: str = "") -> Found:
    """A row of the driver: a wave begins, or the campaign has ended."""
    wave, at = standing.wave + (kind == "wave"), datetime.now(UTC).isoformat(timespec="seconds")
    return Found(
        campaign=standing.campaign.campaign, wave=wave, task=0, source="", protocol="", role="", profile="", kind=kind,
        name="", about=at, why=why,
    )  # fmt: skip


def _sent(warehouse: Warehouse, row: Found) -> DataFrame:
    return schemas.sent(warehouse.spark, [astuple(row)], schemas.of(Found))


def _show(warehouse: Warehouse, standing: Standing, wanted: Wanted, seconds: float, ended: str = "") -> None:
    """Write the page of progress, where the warehouse is a folder of this machine."""
    folder = warehouse.folder()
    if folder is not None and folder.is_dir():
        plans = 0 if wanted.hours else standing.campaign.plans * len(_played(standing.campaign))
        progress_page.write(folder, standing, wanted=plans, seconds=seconds, ended=ended)


def _done(warehouse: Warehouse, batch: Batch, table: str, rows: DataFrame) -> float:
    """Let the executors work, and write what they answer; the seconds that it took them."""
    begun = time.monotonic()
    warehouse.write(batch, table, rows)
    return time.monotonic() - begun


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


def _orders(standing: Standing, wanted: Wanted) -> list[Order]:
    """The tasks of the next wave: each source gets the same number, as long as plans of it are left."""
    campaign, wave = standing.campaign, standing.wave + 1
    orders: list[Order] = []
    seeded = {source: len(names(source)) for source in campaign.sources if source.startswith(FAULTS)}
    for nth in range(campaign.wide):
        source = campaign.sources[nth % len(campaign.sources)]
        ordered = standing.ordered(source) + sum(order.source == source for order in orders) * campaign.each
        if ordered >= seeded.get(source, math.inf if wanted.hours else campaign.plans):
            continue
        task = wave * campaign.wide + nth
        orders.append(
            Order(
                campaign=campaign.campaign, wave=wave, task=task, source=source, seed=_seed(campaign, task),
                plans=campaign.each, seconds=wanted.seconds, fresh=campaign.fresh, first=ordered,
            )
        )  # fmt: skip
    return orders


def _seed(campaign: Campaign, task: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{campaign.seed} {task}".encode()).digest()[:6])


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


def _prove(warehouse: Warehouse, standing: Standing, wanted: Wanted, progress: Callable[[str], None]) -> float:
    """Look into the faults that no job has looked into yet; the seconds that executors worked."""
    campaign, waiting = standing.campaign, standing.waiting()[:PROOFS]
    if not waiting:
        return 0.0
    progress(f"looking into {len(waiting)} faults")
    orders = [
        (Order(campaign.campaign, row.wave, row.task, row.source, _seed(campaign, row.task), 0, PROOF_S), row)
        for row in waiting
    ]

    def answer(pair: tuple[Order, Found]) -> Iterator[Settled]:
        return prove(*pair)

    batch = warehouse.begin()
    working_s = _done(warehouse, batch, "proved", _asked(warehouse.spark, orders, answer, Settled, wanted))
    warehouse.commit(batch, ("proved",), len(waiting))
    standing.settle(Settled(**row.asDict()) for row in warehouse.part(batch, "proved").collect())
    return working_s
