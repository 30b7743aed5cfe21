"""The verdict on one requirement, folded from all rows that speak of it.

fail > error > inconclusive > pass > unsupported: the first that any row gives stands. A requirement that was never
exercised and judged is never a pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final, Protocol

from records.rows import FaultRow, RequirementRow

LEVELS: Final = ("MUST", "SHOULD", "ASSUMED", "MAY")
"""Strongest first. A level that is not among them counts as MUST: nothing is hidden by a word we do not know."""
VERDICTS: Final = ("fail", "error", "inconclusive", "pass", "unsupported")
_DONE_IN_A_PHASE: Final = re.compile(r" \S.* in (?=[A-Z_]+$)")
NEVER_REACHED: Final = "never reached"
ENOUGH_PASSES: Final = 10
"""How often the conversation that is kept for an entry of the baseline has to pass, and never to fail, until the entry
is stale."""


class Deviation(Protocol):
    """A known failure as the manifest gives it; `expires` is the last day on which it is accepted, None for ever."""

    @property
    def reason(self) -> str:
        """Why it is accepted."""

    @property
    def issue(self) -> str:
        """Where it is followed up."""

    @property
    def expires(self) -> date | None:
        """The last day."""


def sort_of(fingerprint: str) -> str:
    """The sort of failure that a fingerprint names: whatever is done in a phase in which nothing may be done is one."""
    return _DONE_IN_A_PHASE.sub(" in ", fingerprint)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A baseline entry: that `id` may fail, at any level, until the end of the day `expires`. `sometimes`: a run in
    which it does not fail does not make it stale. `fingerprints`: the sorts of failure that it accepts; none: any."""

    id: str
    reason: str
    issue: str
    expires: date | None
    sometimes: bool = False
    fingerprints: tuple[str, ...] = ()

    def expired(self, today: date) -> bool:
        """True after the last day."""
        return self.expires is not None and today > self.expires

    def accepts(self, fault: FaultRow) -> bool:
        """True for a failure of a sort that the entry was written for, or that another rule of the requirement calls
        so; a fault that says no sort is of any."""
        names = (each for each in fault.rivals if each.partition(" ")[0] == fault.requirement)
        return any(map(self.accepts_sort, (fault.fingerprint, *names)))

    def accepts_sort(self, fingerprint: str) -> bool:
        """The same by the name of the sort."""
        return not self.fingerprints or not fingerprint or sort_of(fingerprint) in map(sort_of, self.fingerprints)


@dataclass(frozen=True, slots=True)
class Unseen:
    """A known deviation that a run did not see: in so many judgements, and in so many plays of the conversations that
    are kept for it (none: no conversation is kept, or there was no time)."""

    judged: int
    replayed: int = 0

    def __str__(self) -> str:
        times = "judgement" if self.judged == 1 else "judgements"
        own = f", {self.replayed} of them of its own conversation" if self.replayed else ""
        return f"not seen in {self.judged} {times}{own}"


@dataclass(frozen=True, slots=True)
class Result:
    """What a run says about one requirement.

    `standing` is the one word a table counts it under: "passed", "failed" (it decides the exit status), "warned" (it
    failed at a level that does not), "accepted" (it failed and the baseline says so), "inconclusive", "error",
    "untestable", "unsupported", "unselected". `failed_as` is the strongest level at which it failed. `fault` is the one
    to show: the strongest, then the steadiest, then the shortest; `faults` are all, that one first. `unseen` is given
    where the baseline says that it fails and this run did not see it, which is no pass: then the verdict is
    "inconclusive". `missed`: what comes to it on a reference was played, and did not come to it.
    """

    requirement: RequirementRow
    verdict: str
    standing: str
    exercised: int = 0
    judged: int = 0
    message: str = ""
    failed_as: str | None = None
    faults: tuple[FaultRow, ...] = ()
    accepted: Acceptance | None = None
    unseen: Unseen | None = None
    missed: bool = False

    @property
    def id(self) -> str:
        """The id of the requirement."""
        return self.requirement.id

    @property
    def fault(self) -> FaultRow | None:
        """The fault to show."""
        return self.faults[0] if self.faults else None

    @property
    def told_as(self) -> str:
        """The level to show: that at which it failed, or is only suspected to fail."""
        return self.failed_as or (_level(self.fault, self.requirement) if self.fault else self.requirement.level)

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """The sorts of failure of its own that were seen."""
        own = (fault for fault in self.faults if fault.requirement == self.id and fault.verdict != "inconclusive")
        return tuple(sorted({fault.fingerprint for fault in own if fault.fingerprint}))

    @property
    def witness(self) -> str | None:
        """Where the conversation that shows the fault is kept, relative to the results."""
        return next((fault.trace for fault in self.faults if fault.trace), None)


def acceptance(requirement: str, deviation: Deviation) -> Acceptance:
    """A manifest's entry as plain data."""
    expires: date | None = deviation.expires
    if isinstance(expires, datetime):  # TOML has both, and Python does not compare them
        expires = expires.date()
    sometimes = bool(getattr(deviation, "sometimes", False))
    fingerprints = tuple(getattr(deviation, "fingerprints", ()))
    return Acceptance(requirement, deviation.reason, deviation.issue, expires, sometimes, fingerprints)


def weight(fault: FaultRow) -> tuple[object, ...]:
    """Sorts the fault to show first: failing, strong, reproducible, short; then anything that makes it one order."""
    share = fault.reproduced / fault.tried if fault.tried > 0 else 0.0
    return (
        fault.verdict == "inconclusive", rank(fault.level), not fault.steady, -share, fault.steps,
        fault.property, fault.trace, fault.why, fault.worker, fault.n,
    )  # fmt: skip


def apart(faults: Iterable[FaultRow]) -> list[FaultRow]:
    """The faults, of which those are only suspected that may be another one of them again: one that shows in the same
    way and is as grave. Of two that may each be the other, the first by name is confirmed. So one action fails the same
    requirements, whichever of its conversations was met first, and nothing passes that was blamed."""
    faults = list(faults)
    failing = {fault.fingerprint: fault for fault in sorted(faults, key=lambda each: rank(each.level), reverse=True)
               if fault.verdict != "inconclusive" and fault.fingerprint}  # fmt: skip
    return [_told_as(fault, [failing[rival] for rival in fault.rivals if rival in failing]) for fault in faults]


def _told_as(fault: FaultRow, rivals: Sequence[FaultRow]) -> FaultRow:
    """The fault, or no more than the suspicion of it where one of `rivals` stands for both."""
    for rival in rivals:
        if rival.requirement == fault.requirement or rank(rival.level) > rank(fault.level):
            continue
        if fault.fingerprint not in rival.rivals or rival.fingerprint < fault.fingerprint:
            return replace(fault, verdict="inconclusive", unsettled=f"it may be the failure of {rival.requirement}")
    return fault


def rank(level: str) -> int:
    """0 for the strongest level."""
    return LEVELS.index(level) if level in LEVELS else 0


def weaker(one: str, other: str) -> str:
    """The weaker of two levels."""
    return max(one, other, key=rank)


def result(
    requirement: RequirementRow,
    counts: tuple[int, int],
    faults: Sequence[FaultRow],
    *,
    trouble: str,
    accepted: Acceptance | None,
    decisive: frozenset[str],
) -> Result:
    """The fold for one requirement. `faults` name it, or name it in `also`; `counts` are exercised and judged.

    `trouble` says what went wrong on our side while it was tried, if anything; `accepted` is the baseline entry in
    force; `decisive` are the levels at which a failure counts.
    """
    claimed = requirement.applies == "judged" and not requirement.untestable
    # The strongest is shown, and of these the requirement's own before those that break it beside another.
    ordered = sorted(
        faults, key=lambda each: (rank(_level(each, requirement)), each.requirement != requirement.id, weight(each))
    )
    own = [fault for fault in ordered if fault.requirement == requirement.id]
    # A deed that breaks a second requirement says nothing about one that this implementation does not claim.
    blaming = ordered if claimed else own
    failing = [fault for fault in blaming if fault.verdict != "inconclusive"]

    def made(verdict: str, standing: str, message: str, failed_as: str | None = None) -> Result:
        shown = tuple(failing + [fault for fault in own if fault.verdict == "inconclusive"])
        settled = accepted if verdict == "fail" else None
        return Result(requirement, verdict, standing, *counts, message, failed_as, shown, settled)

    if failing:
        levels = [_level(fault, requirement) for fault in failing]
        failed_as = min(levels, key=rank)
        standing = "failed" if LEVELS[rank(failed_as)] in decisive else "warned"
        first = failing[0]
        message = first.why or "fails"
        if first.requirement != requirement.id:
            message = f"broken by the same action as {first.requirement}: {message}"
        return made("fail", "accepted" if accepted else standing, message, failed_as)
    if trouble:
        return made("error", "error", trouble)
    if own:
        fault = own[0]
        if fault.unsettled:
            return made("inconclusive", "inconclusive", f"suspected, not settled: {fault.why}; {fault.unsettled}")
        often = "" if fault.chances else f"seen {fault.reproduced} of {fault.tried} times, and "
        seen = f"{often}the text tolerates it once in a while"
        return made("inconclusive", "inconclusive", f"{fault.why}: {seen}" if fault.why else seen)
    if requirement.applies == "unsupported":
        return made("unsupported", "unsupported", "not claimed")
    if requirement.untestable:
        return made("inconclusive", "untestable", f"untestable: {requirement.untestable}")
    if requirement.applies == "unselected":
        return made("inconclusive", "unselected", "not selected in this run")
    if counts[1] > 0:
        return made("pass", "passed", "")
    return made("inconclusive", "inconclusive", "exercised, never judged" if counts[0] > 0 else NEVER_REACHED)


def too_long(found: Result, needs_s: float) -> Result:
    """What was never reached since it takes `needs_s` seconds of silence, told so."""
    if found.message != NEVER_REACHED:
        return found
    return replace(found, message=f"not judged: needs {needs_s:.0f} s of silence")


def missed(found: Result, programs: int) -> Result:
    """What was never reached by `programs` conversations that come to it on a reference, told so."""
    if found.message != NEVER_REACHED:
        return found
    played = "a conversation that comes" if programs == 1 else f"{programs} conversations that come"
    return replace(found, message=f"{NEVER_REACHED} in {played} to it on the reference", missed=True)


def _level(fault: FaultRow, requirement: RequirementRow) -> str:
    """The level at which `fault` fails `requirement`; a second requirement never fails harder than it binds."""
    if fault.requirement == requirement.id:
        return fault.level
    return weaker(fault.level, requirement.level)
