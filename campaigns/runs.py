"""What a campaign came to on an implementation, as a run of the nightly report: records and traces like those of any.

A job of a campaign tells one run for each implementation, of the waves since the campaign last came to its end. It is
partial, so that it never stands in the place of a run that asked for everything; its faults are those of these waves,
and those that this job looked into, with their traces. Correct peers and seeded faults are nobody's implementation.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F  # noqa: N812

from campaigns.scoring import FAULTS
from campaigns.sources import PEERS, implementations
from campaigns.standing import Standing
from records.rows import CoverageRow, EndRow, FaultRow, FreedomRow, PropertyRow
from reports.spark.campaigns import summed
from reports.spark.ingest import ingest
from suites import trace
from suites.head import RunOptions
from suites.session import Session

if TYPE_CHECKING:
    from impls.launching.manifest import Implementation
    from reports.spark.warehouse import Warehouse

FOLDER: Final = "results"
"""Where the results are, in the warehouse."""
NAME: Final = "campaign"
"""The budget of such a run, and the property under which it counts what tasks do not tell by property."""


@dataclass(slots=True)
class Sums:
    """What all tasks of a campaign found out on one source."""

    plans: dict[str, int] = field(default_factory=dict)
    judged: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By requirement: conversations, and how often."""
    leaned: dict[str, int] = field(default_factory=dict)
    verdicts: dict[str, int] = field(default_factory=dict)


def tell(warehouse: Warehouse, standing: Standing, progress: Callable[[str], None]) -> None:
    """Write the runs of a job that comes to its end, and take them into the warehouse. Where the warehouse is no folder
    of this machine there is no place for results, and nothing is done."""
    folder, campaign = warehouse.folder(), standing.campaign
    sources = [source for source in campaign.sources if not source.startswith((PEERS, FAULTS))]
    if folder is None or not folder.is_dir() or not sources:
        return
    found, results = _sums(warehouse, standing), []
    for source in sources:
        results.append(folder / FOLDER / run_of(standing, source))
        shutil.rmtree(results[-1], ignore_errors=True)  # of a job that was killed when it had come so far
        (impl,) = implementations(source)
        write(results[-1], standing, source, impl, found.get(source, Sums()))
    progress(f"runs of the nightly report: {ingest(warehouse, [str(path) for path in results], progress)}")


def run_of(standing: Standing, source: str) -> str:
    """The id of the run: the campaign's beginning, and what sets it apart from others of the same beginning."""
    campaign = standing.campaign
    own = hashlib.sha256(f"{campaign.campaign}\n{source}\n{standing.ended}-{standing.wave}".encode()).hexdigest()[:8]
    return f"{datetime.fromisoformat(campaign.at).astimezone(UTC):%Y%m%dT%H%M%SZ}-{own}"


def _confirmed(standing: Standing, source: str) -> Iterator[dict[str, Any]]:
    """The traces of the faults that waves since the last end saw first, or that this job looked into, one of a sort."""
    told: set[tuple[str, str]] = set()
    for (of, about), proof in sorted(standing.proved.items()):
        seen = standing.faults.get((of, about))
        if of != source or not proof.document or seen is None:
            continue
        new = standing.first.get((source, "fault", seen.name, about), 0) > standing.ended
        if not new and (source, about) not in standing.fresh:
            continue
        document: dict[str, Any] = json.loads(proof.document)
        sort = document["requirement"], document["fingerprint"]
        if sort not in told:  # what was blamed in several ways at first may have come to the same fault
            told.add(sort)
            yield document


def write(results: Path, standing: Standing, source: str, impl: Implementation, sums: Sums) -> None:
    """The records and the traces of one run, in a folder of their own."""
    campaign, documents = standing.campaign, list(_confirmed(standing, source))
    learnt: dict[str, Any] = next((document["learnt"] for document in documents), {})
    options = RunOptions(
        asked=source,
        command=f"campaign {campaign.campaign}",
        budget=NAME,
        budget_s=0.0,
        seed=campaign.seed,
        partial=True,
    )
    session = Session(impl, options, results, run_of(standing, source), learnt=learnt, accepted=impl.deviations)
    session.head()
    binding = {each.id for each in session.protocol.requirements.binding(impl.role, impl.profile)}
    with session.writer as writer:
        for key, plans in sorted(sums.plans.items()):
            writer.write(PropertyRow(property=key, plans=plans, ended=NAME))
        strange = {name: sums.verdicts.get(name, 0) for name in ("inconclusive", "error")}
        writer.write(
            PropertyRow(property=NAME, inconclusive=strange["inconclusive"], errors=strange["error"], ended=NAME)
        )
        for name, (conversations, times) in sorted(sums.judged.items()):
            if name in binding:
                writer.write(CoverageRow(property=NAME, requirement=name, exercised=conversations, judged=times))
        for name, conversations in sorted(sums.leaned.items()):
            writer.write(FreedomRow(property=NAME, freedom=name, leaned=conversations))
        numbers: dict[str, int] = {}
        for document in documents:
            numbers[document["requirement"]] = number = numbers.get(document["requirement"], 0) + 1
            writer.write(_fault(document, trace.save({**document, "seed": campaign.seed}, results, number)))
        writer.write(
            EndRow(
                at=datetime.now(UTC).isoformat(timespec="seconds"), status="complete", plans=sum(sums.plans.values()),
                faults=len(numbers),
            )
        )  # fmt: skip


def _fault(document: dict[str, Any], path: str) -> FaultRow:
    """The row of a fault that a trace tells."""
    return FaultRow(
        requirement=document["requirement"], level=document["level"], also=tuple(document["also"]),
        why=document["why"], expected=document["expected"], property=document["property"],
        steps=len(document["plan"]["steps"]), reproduced=document["reproduced"], tried=document["tried"],
        steady=document["reproduced"] == document["tried"], trace=path, features=tuple(document["features"]),
        verdict=document["verdict"], fingerprint=document["fingerprint"],
    )  # fmt: skip


def _sums(warehouse: Warehouse, standing: Standing) -> dict[str, Sums]:
    """What the tasks of the waves since the last end found out, by source."""
    mine = F.col("campaign") == standing.campaign.campaign
    found: dict[str, Sums] = {}
    for row in summed(warehouse.batches("found").where(mine & (F.col("wave") > standing.ended))).collect():
        sums = found.setdefault(row.source, Sums())
        match row.kind:
            case "property":
                sums.plans[row.name] = row.times
            case "judged":
                sums.judged[row.name] = (row.conversations, row.times)
            case "leaned":
                sums.leaned[row.name] = row.conversations
            case "verdict":
                sums.verdicts[row.name] = row.conversations
    return found
