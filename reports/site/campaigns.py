"""The pages of campaigns: one that lists them, and one for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reports import transcript
from reports.campaigns import Estimate, Told, Wave
from reports.site import sequence
from reports.site.names import file_name

if TYPE_CHECKING:
    from reports.site.pages import Page

WIDTH, HEIGHT, LEFT, BASE, TOP = 760, 190, 52, 150, 12
"""The drawing of a curve, in px."""
ALARMS = 100
"""Sorts of alarm that a page lists."""


@dataclass(frozen=True, slots=True)
class Curve:
    """What one source showed, wave by wave: a line for features, one for requirements judged, as SVG points from 0 to 1
    of the most that was seen."""

    source: str
    waves: Sequence[Wave]
    lines: Sequence[tuple[str, str, int]]
    """(name, points, most)"""


def page_of(told: Told) -> str:
    """Where a campaign's page is, from the root of the site."""
    return f"campaigns/{file_name(told.campaign.campaign)}.html"


def pages(told: Sequence[Told], page: type[Page]) -> Iterator[Page]:
    """A page for each campaign, then the list; none where there is no campaign."""
    for one in told:
        yield page(page_of(one), "campaign.html", "campaigns", one.campaign.campaign, _context(one), {"campaign": one})
    if told:
        listed = [(page_of(one), one) for one in told]
        data = {"campaigns": [{"page": at, "campaign": one.campaign, "plans": one.plans} for at, one in listed]}
        yield page(
            "campaigns.html",
            "campaigns.html",
            "campaigns",
            "Campaigns",
            {"listed": listed, "unfinished": unfinished},
            data,
        )


def _context(told: Told) -> dict[str, Any]:
    features, faults = dict(told.features), dict(told.faults)
    sources = sorted(source for source, found in features.items() if found.looks)
    return {
        "told": told,
        "open": unfinished(told),
        "ALARMS": ALARMS,
        "conversation": conversation,
        "curves": [curve(source, [wave for wave in told.waves if wave.source == source]) for source in sources],
        "estimates": [(source, features[source], faults[source]) for source in sources],
        "killed": sum(score.killed for score in told.scores),
        "seeded": sum(score.seeded for score in told.scores),
    }


def conversation(document: str) -> list[str]:
    """The conversation of a trace as lines; none where there is none."""
    trace, _ = sequence.read(document) if document else (None, "")
    return transcript.lines(trace, 120) if trace else []


def unfinished(told: Told) -> str:
    """Why there may be more to come of a campaign, or ""."""
    if told.ended:
        return ""
    played: Counter[str] = Counter()
    for wave in told.waves:
        played[wave.source] = max(played[wave.source], wave.plans)
    hunted = [source for source in told.campaign.sources if not source.startswith("faults:")]
    began = max((wave.at for wave in told.waves), default="")
    if not began and told.waves and all(played[source] >= told.campaign.plans for source in hunted):
        return ""  # of a release that did not say when a campaign ended
    since = f" Its last whole wave began at {began[:16].replace('T', ' ')} UTC." if began else ""
    return f"It runs, or was stopped before its end: the waves that are whole are told here.{since}"


def curve(source: str, waves: Sequence[Wave]) -> Curve:
    """The discovery curve of one source."""
    most = max((wave.plans for wave in waves), default=0)
    lines = []
    for name in ("features", "judged", "faults"):
        values = [getattr(wave, name) for wave in waves]
        top = max(values, default=0)
        points = [(0, 0), *((wave.plans, value) for wave, value in zip(waves, values, strict=True))]
        drawn = " ".join(f"{_x(plans, most):.1f},{_y(value, top):.1f}" for plans, value in points)
        lines.append((name, drawn, top))
    return Curve(source, waves, lines)


def _x(plans: int, most: int) -> float:
    return LEFT + (WIDTH - LEFT - 12) * (plans / most if most else 0)


def _y(value: int, top: int) -> float:
    return BASE - (BASE - TOP) * (value / top if top else 0)


def left(found: Estimate) -> str:
    """An estimate as a sentence without its full stop."""
    chance = "less than 1 in a million" if found.chance < 1e-6 else f"about {found.chance:.2g}"
    return (
        f"{found.seen:,} seen, {found.once} of them once; the next conversation shows a new one with a chance of "
        f"{chance}, and at least {found.unseen:,.0f} are left"
    )
