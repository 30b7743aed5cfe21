"""The baseline over the results of a run: what an entry accepts, what of it was not seen, and what is stale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from records.rows import FaultRow, ReplayRow
from reports.result import ENOUGH_PASSES, LEVELS, Acceptance, Result, Unseen, apart, rank, sort_of


@dataclass(frozen=True, slots=True)
class Stale:
    """A baseline entry that must go, and why."""

    entry: Acceptance
    why: str


@dataclass(frozen=True, slots=True)
class Played:
    """How often the conversations kept for one entry were played before the hunt, and how often they showed it.
    `always`: one of them did each time."""

    tried: int = 0
    shown: int = 0
    always: bool = False


def accepted(
    name: str, faults: list[FaultRow], entries: Mapping[str, Acceptance], decisive: frozenset[str]
) -> Acceptance | None:
    """The entry that accepts that `name` fails; an action accepted under one requirement needs no second entry."""
    failing = [fault for fault in faults if fault.verdict != "inconclusive"]
    mine = [fault for fault in failing if fault.requirement == name]
    blamed = mine or failing if name not in entries else mine
    # a recommendation that is missed beside that decides nothing where the demand that is broken is accepted
    deciding = [fault for fault in blamed if LEVELS[rank(fault.level)] in decisive] or blamed
    if mine and name not in entries:
        others = [_by_its_other_name(fault, entries) for fault in deciding]
        return others[0] if all(others) else None
    if not all(f.requirement in entries and entries[f.requirement].accepts(f) for f in deciding):
        return None
    causes = sorted({fault.requirement for fault in deciding})
    return entries[name] if name in entries else entries[causes[0]] if causes else None


def outside(
    faults: Iterable[FaultRow], entries: Mapping[str, Acceptance], decisive: frozenset[str] = frozenset(("MUST",))
) -> list[FaultRow]:
    """The failures that count and that no entry accepts, each by itself, as they are summed up."""
    counted = [each for each in apart(faults) if LEVELS[rank(each.level)] in decisive]
    failing = [each for each in not_another_name(counted, entries) if each.verdict != "inconclusive"]
    return [each for each in failing if accepted(each.requirement, [each], entries, decisive) is None]


def _by_its_other_name(fault: FaultRow, entries: Mapping[str, Acceptance]) -> Acceptance | None:
    """The entry that accepts the same sort of failure under the name that the model has for it: what comes and goes is
    laid on a requirement that is broken in any case. There it may be of another sort, and tells the model's as a rival;
    then the entry has to be one for what comes and goes. What is named after a way of writing is another failure."""
    name, _, kind = fault.sort.partition(" ")
    entry = entries.get(name) if kind else None
    if entry is None or not entry.accepts_sort(fault.sort):
        return None
    laid = entry.sometimes and not fault.features and fault.sort in fault.rivals
    return entry if laid or kind == fault.fingerprint.partition(" ")[2] else None


def not_another_name(faults: Sequence[FaultRow], entries: Mapping[str, Acceptance]) -> list[FaultRow]:
    """The faults, of which those are only suspected that were named after a way of writing, while the run saw the same
    sort of failure under the name that the specification gives it, no less grave and accepted by an entry: which of an
    implementation's many faults in one action is met without that way first must not make a baseline flicker."""
    seen = [fault for fault in faults if fault.verdict != "inconclusive" and not fault.features]
    known = [each for each in seen if each.requirement in entries and entries[each.requirement].accepts(each)]
    return [_suspected(fault, known) if _newly_named(fault, entries) else fault for fault in faults]


def _newly_named(fault: FaultRow, entries: Mapping[str, Acceptance]) -> bool:
    """True for a failure that is named after a way of writing and that no entry accepts under that name."""
    entry = entries.get(fault.requirement)
    named = bool(fault.features and fault.sort) and fault.verdict != "inconclusive"
    return named and not (entry is not None and entry.accepts(fault))


def _suspected(fault: FaultRow, known: Sequence[FaultRow]) -> FaultRow:
    """The fault, or no more than the suspicion of it where one of `known` is of its sort."""
    for other in known:
        if sort_of(other.fingerprint) == sort_of(fault.sort) and rank(other.level) <= rank(fault.level):
            why = f"it may be the known failure of {other.requirement}, which shows in the same way"
            return replace(fault, verdict="inconclusive", unsettled=why)
    return fault


def own(found: Result) -> list[FaultRow]:
    """The failures under its own name."""
    return [each for each in found.faults if each.requirement == found.id and each.verdict != "inconclusive"]


def played(rows: Iterable[ReplayRow]) -> dict[str, Played]:
    """By entry of the baseline, how its conversations went."""
    sorts: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        sorts.setdefault((row.requirement, row.fingerprint), Counter()).update(tried=row.tried, shown=row.shown)
    found: dict[str, Played] = {}
    for (name, _), count in sorts.items():
        before = found.get(name, Played())
        always = before.always or 0 < count["tried"] == count["shown"]
        found[name] = Played(before.tried + count["tried"], before.shown + count["shown"], always)
    return found


def not_seen(
    found: Result, entries: Mapping[str, Acceptance], played: Mapping[str, Played], today: date
) -> Result:  # fmt: skip
    """The result of a requirement whose entry is in force, or of which a conversation is kept since a recommendation
    was missed, where this run did not see that: no pass, unless those conversations have passed again and again."""
    entry, plays = entries.get(found.id), played.get(found.id, Played())
    if found.verdict != "pass" or (entry is None and not plays.tried) or (entry is not None and entry.expired(today)):
        return found
    if plays.tried >= ENOUGH_PASSES and not plays.shown and not (entry is not None and entry.sometimes):
        return found
    unseen = Unseen(found.judged, plays.tried if not plays.shown else 0)
    message = f"{'a known deviation' if entry is not None else 'a recommendation that was missed before'}, {unseen}"
    return replace(
        found, verdict="inconclusive", standing="inconclusive", message=message, accepted=entry, unseen=unseen
    )


def stale_entries(
    entries: Mapping[str, Acceptance], results: tuple[Result, ...], played: Mapping[str, Played]
) -> tuple[Stale, ...]:
    """Entries that no longer fail; where the run could not tell, an entry stays."""
    found = {each.id: each for each in results}
    return tuple(
        Stale(entry, _why_stale(found.get(name), played.get(name, Played())))
        for name, entry in entries.items()
        if name not in found or (found[name].verdict == "pass" and not entry.sometimes)
    )


def _why_stale(found: Result | None, own: Played) -> str:
    if found is None:
        return "no requirement of this run has this id"
    if not own.tried:
        return "it passes now"
    return f"its own conversation passed {own.tried} of {own.tried} times, and it held in {found.judged} judgements"
