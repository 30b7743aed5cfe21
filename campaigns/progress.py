"""A page that tells how far a campaign has come while it runs: progress-NAME.html, in the warehouse.

The driver writes it anew after each wave, where the warehouse is a folder. It is one file that fetches nothing; as long
as the campaign runs, a browser that shows it loads it again now and then.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from campaigns.standing import Standing
from reports.campaigns import Alarm, Sight, Wave
from reports.site.campaigns import curve
from reports.site.names import file_name
from reports.site.render import environment

AGAIN_S: Final = 30
"""Seconds after which a browser loads the page again."""
LISTED: Final = 100
"""Sorts of fault, and of alarm, that the page lists."""


@dataclass(frozen=True, slots=True)
class Source:
    """How far one source has come: its newest wave, what that brought, and its seeded faults by what became of them."""

    name: str
    now: Wave
    before: Wave | None

    def more(self, what: str) -> int:
        """How much the last wave has added of something."""
        now: int = getattr(self.now, what)
        return now - (getattr(self.before, what) if self.before else 0)


def path_of(folder: Path, campaign: str) -> Path:
    """Where the page of a campaign is."""
    return folder / f"progress-{file_name(campaign)}.html"


def write(folder: Path, standing: Standing, *, wanted: int, seconds: float, ended: str = "") -> Path:
    """Write the page. `wanted` plans were asked for, 0 where the clock decides; this job has run for `seconds`; `ended`
    says why it is over, "" while it goes on. Raises OSError."""
    path = path_of(folder, standing.campaign.campaign)
    text = environment().get_template("progress.html").render(context(standing, wanted, seconds, ended))
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return path


def context(standing: Standing, wanted: int, seconds: float, ended: str) -> dict[str, Any]:
    """What the template is told."""
    waves = standing.waves()
    by_source = {source: [wave for wave in waves if wave.source == source] for source in standing.campaign.sources}
    played = {source: of for source, of in by_source.items() if of}
    return {
        "campaign": standing.campaign, "wave": standing.wave, "plans": standing.plans, "wanted": wanted,
        "share": min(1.0, standing.plans / wanted) if wanted else 0.0, "seconds": seconds, "ended": ended,
        "now": datetime.now(UTC).isoformat(timespec="seconds"), "again": 0 if ended else AGAIN_S,
        "sources": [Source(name, of[-1], of[-2] if len(of) > 1 else None) for name, of in played.items()],
        "curves": [curve(name, of) for name, of in played.items()],
        "sights": _sights(standing)[:LISTED], "faults": len(standing.faults),
        "alarms": _alarms(standing)[:LISTED], "alarming": len(standing.alarms),
        "scores": Counter(standing.scores),
    }  # fmt: skip


def _sights(standing: Standing) -> list[Sight]:
    found = []
    for at, row in sorted(standing.faults.items()):
        proof = standing.proved.get(at)
        found.append(
            Sight(
                source=row.source, requirement=proof.requirement if proof else row.name, fingerprint=row.about,
                level=proof.level if proof else row.level, why=proof.why if proof else row.why,
                conversations=row.conversations, verdict=proof.verdict if proof else "", document="",
            )
        )  # fmt: skip
    return sorted(found, key=lambda one: (one.verdict != "fail", one.level != "MUST", one.requirement))


def _alarms(standing: Standing) -> list[Alarm]:
    return [
        Alarm(
            source=row.source, name=row.name, about=row.about, why=row.why, conversations=row.conversations,
            key=row.key, program=row.program,
        )
        for _, row in sorted(standing.alarms.items())
    ]  # fmt: skip
