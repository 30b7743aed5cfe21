"""One fault of a campaign looked into: confirmed, shrunk and repeated, as a run would do it, and told as a trace."""

from __future__ import annotations

import json
from collections.abc import Iterator

from campaigns.found import Found, Order, program_of
from campaigns.sources import PEERS, Judged, opened
from reports.campaigns import Settled
from suites import trace
from suites.calibration import CannotJudge
from suites.deadline import TimeUp
from suites.head import SUITE_VERSION
from suites.hunt import Hunter
from suites.investigate import Investigator
from suites.properties import properties
from suites.pursuit import Fault, Investigated


def prove(order: Order, seen: Found) -> Iterator[Settled]:
    """What is behind a row of the kind `fault`: the trace of the fault, or why nothing is told of it. A false alarm,
    which correct peers show, is told as it was seen: the switches of a peer cannot be had again."""
    if order.source.startswith(PEERS):
        yield _settled(seen, "fail", seen.why)
        return
    with opened(order, frozenset()) as target:
        assert isinstance(target, Judged)
        try:
            found = _looked_into(target.hunter, seen)
        except TimeUp:
            found = Investigated(None, "there was no time to confirm it")
        if found.fault is None:
            yield _settled(seen, "inconclusive", found.unsettled or "it was only slow")
            return
        yield _settled(
            found_as(seen, found.fault), found.fault.verdict, found.fault.why, _document(target, found.fault)
        )


def _looked_into(hunter: Hunter, seen: Found) -> Investigated:
    prop = next((prop for prop, _ in properties(seen.protocol, seen.role) if prop.key == seen.key), None)
    if prop is None:
        raise CannotJudge(f"no property is called {seen.key!r}: the campaign was begun by another release")
    hunter.prepare()
    program = program_of(seen.program)
    recording = hunter.play(prop.plan(program, hunter.setting.config))
    if not any(name == seen.name for name, _, _ in hunter.blamed(recording)):
        return Investigated(None, "it was seen, and not when it was played again")
    look = Investigator.of_budget(hunter.ground.deadline.left() / 2)
    silent = any(getattr(event, "final", False) for event in recording.events)
    return look(hunter, prop, program, seen.name, 0.0, silent, hunter.ground.deadline)


def found_as(seen: Found, fault: Fault) -> Found:
    """The row with what the investigation came to: it may be another requirement than the one that was blamed first."""
    return Found(
        campaign=seen.campaign, wave=seen.wave, task=seen.task, source=seen.source, protocol=seen.protocol,
        role=seen.role, profile=seen.profile, kind="fault", name=fault.requirement, about=seen.about,
        level=fault.level, why=fault.why,
    )  # fmt: skip


def _settled(seen: Found, verdict: str, why: str, document: str = "") -> Settled:
    return Settled(
        campaign=seen.campaign, source=seen.source, requirement=seen.name, fingerprint=seen.about, level=seen.level,
        verdict=verdict, why=why, document=document,
    )  # fmt: skip


def _document(target: Judged, fault: Fault) -> str:
    session = target.session
    told = trace.document(
        fault, target.hunter.setting, session.impl, session.learnt, session.options.seed, SUITE_VERSION
    )
    return json.dumps(told, ensure_ascii=False)
