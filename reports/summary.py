"""One run in one value: the verdict on every requirement, the whole verdict, and the exit status.

Plain Python over the rows of one run; nothing heavier stands between a user and a verdict. The order of the rows does
not matter, and reading a row twice changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from math import fsum
from typing import Final, NamedTuple, TypeVar

from records.reader import Places, unfinished
from records.rows import (
    AcceptanceRow,
    CoverageRow,
    FaultRow,
    FreedomRow,
    MissedRow,
    PropertyRow,
    RateRow,
    ReplayRow,
    RequirementRow,
    RestRow,
    RoundRow,
    Row,
    RunRow,
    TroubleRow,
    to_json,
)
from reports.known import Played, Stale, accepted, not_another_name, not_seen, own, played, stale_entries
from reports.left import Left, left
from reports.result import (
    VERDICTS,
    Acceptance,
    Deviation,
    Result,
    acceptance,
    apart,
    missed,
    rank,
    result,
    too_long,
)

UNKNOWN_SECTION: Final = "not in the list of requirements"
COLUMNS: Final = ("judged", "passed", "failed", "warned", "accepted", "inconclusive", "untestable", "unsupported")
"""What the table by section counts; `judged` is the sum of the four after it."""
KEEPS_CONVERSATIONS: Final = 4
"""Schema of the first records in which entries of a baseline had conversations of their own. In older ones a pass alone
made an entry stale."""
AnyRow = TypeVar("AnyRow", bound=Row)


START: Final = "start"
"""Where trouble happens in which the implementation has not started, or does not speak its protocol."""


@dataclass(frozen=True, slots=True)
class Section:
    """How the requirements of one section stand; those with basis other than the text itself are sections apart."""

    name: str
    basis: str
    counts: Mapping[str, int]


class Failing(NamedTuple):
    """What a new baseline accepts of one requirement. `sometimes`: it does not show each time."""

    reason: str
    trace: str
    fingerprints: tuple[str, ...]
    sometimes: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run says. `exit_code` is 0 exactly when `verdict` is "pass"; `reasons` say why it is not.

    `unfinished` maps workers that did not end to what is known of it. `plans` and `steps` are sums over the properties;
    `seconds` is the sum of their times, more than the clock on the wall when workers share them. `freedoms` counts the
    conversations that only a reading of docs/ambiguities.md allowed, by its id; `obstacles` those that a known fault
    ended, by its requirement. `played`: of the entries of the baseline whose conversations were played; `left`: what a
    run that made a baseline estimates to be left to find.
    """

    run: RunRow
    results: tuple[Result, ...]
    verdict: str
    exit_code: int
    reasons: tuple[str, ...]
    strict: bool
    complete: bool
    unfinished: Mapping[str, str]
    troubles: tuple[TroubleRow, ...] = ()
    stale: tuple[Stale, ...] = ()
    expired: tuple[Acceptance, ...] = ()
    properties: tuple[PropertyRow, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    sections: tuple[Section, ...] = ()
    freedoms: Mapping[str, int] = field(default_factory=dict)
    obstacles: Mapping[str, int] = field(default_factory=dict)
    played: Mapping[str, Played] = field(default_factory=dict)
    left: Left | None = None

    @property
    def not_begun(self) -> tuple[TroubleRow, ...]:
        """Why the implementation could not be judged at all: it did not start, listen or speak its protocol."""
        return tuple(row for row in self.troubles if row.where == START)

    @property
    def errors(self) -> tuple[TroubleRow, ...]:
        """What went wrong on the side of the tester."""
        return tuple(row for row in self.troubles if row.where != START)

    @property
    def plans(self) -> int:
        """Conversations that were held."""
        return sum(row.plans for row in self.properties)

    @property
    def steps(self) -> int:
        """Steps in them."""
        return sum(row.steps for row in self.properties)

    @property
    def seconds(self) -> float:
        """Time that the properties took."""
        return fsum(row.seconds for row in self.properties)

    def standing(self, word: str) -> tuple[Result, ...]:
        """The results that stand as `word`, in the order of the requirements."""
        return tuple(found for found in self.results if found.standing == word)

    @property
    def failing(self) -> dict[str, Failing]:
        """What a new baseline must accept: what fails by itself and counts, or is accepted already, and what is
        suspected of that and was not settled: another run may settle it. What only the same deed breaks needs no entry.
        """
        chosen = (*self.standing("failed"), *self.standing("accepted"))
        failing = {found.id: self._failing(found) for found in chosen if found.fault and own(found)}
        decisive = "SHOULD" if self.strict else "MUST"
        for found in self.standing("inconclusive"):
            fault = found.fault
            if fault and fault.fingerprint and rank(fault.level) <= rank(decisive):
                sorts = tuple(sorted({each.fingerprint for each in found.faults if each.fingerprint}))
                failing[found.id] = Failing(found.message, found.witness or "", sorts, sometimes=True)
        return failing

    def _failing(self, found: Result) -> Failing:
        played = self.played.get(found.id, Played())
        steady = played.always if played.tried else any(each.steady for each in own(found))
        return Failing(found.message, found.witness or "", found.fingerprints, sometimes=not steady)

    @property
    def unsettled(self) -> frozenset[str]:
        """Requirements of which this run cannot say that they no longer fail."""
        return frozenset(found.id for found in self.results if found.verdict != "pass" and not self._outlived(found))

    def _outlived(self, found: Result) -> bool:
        """True for a deviation that was not seen although this run looked on, and of which no conversation is kept."""
        entry, own_plays = found.accepted, self.played.get(found.id, Played())
        unseen = found.unseen is not None and self.left is not None and not own_plays.tried
        return unseen and entry is not None and not entry.sometimes

    @property
    def unseen(self) -> tuple[Result, ...]:
        """The known deviations that this run did not see."""
        return tuple(found for found in self.results if found.unseen is not None)

    @property
    def sentence(self) -> str:
        """The whole verdict, for people."""
        subject = self.run.impl or "the implementation"
        if self.exit_code:
            return f"{self.verdict}: {'; '.join(self.reasons)}"
        count = Counter(found.standing for found in self.results)
        parts = [f"{subject} keeps to the {_many(count['passed'], 'requirement')} that could be judged"]
        if count["warned"]:
            parts.append(_many(count["warned"], "recommendation missed", "recommendations missed"))
        if count["accepted"]:
            parts.append(_many(count["accepted"], "known deviation"))
        unseen = sum(found.accepted is not None for found in self.unseen)
        if unseen:
            parts.append(f"{_many(unseen, 'known deviation')} not seen this time")
        if count["inconclusive"] > unseen:
            parts.append(f"{count['inconclusive'] - unseen} not settled")
        suspected = sum(found.standing == "inconclusive" and _is_suspected(found) for found in self.results)
        if suspected:
            parts.append(f"{suspected} of them suspected of breaking a MUST: see above")
        return f"pass: {', '.join(parts)}"


def _is_suspected(found: Result) -> bool:
    """True for what may break a MUST, and was not settled."""
    return found.fault is not None and not found.unseen and found.fault.level == "MUST"


@dataclass(frozen=True, slots=True)
class Tally:
    """Coverage rows that were added up elsewhere: by requirement how often it was exercised and judged, and the places
    of all rows of each worker, theirs among them."""

    exercised: Mapping[str, int]
    judged: Mapping[str, int]
    places: Mapping[str, Places]


def baseline(rows: Iterable[Row]) -> dict[str, Acceptance]:
    """The baseline that was in force when the run began, as its rows tell."""
    return {
        row.id: Acceptance(row.id, row.reason, row.issue, _day(row.expires), row.sometimes, row.fingerprints)
        for row in rows
        if isinstance(row, AcceptanceRow)
    }


def _day(text: str) -> date | None:
    """A day in ISO form. One that nobody can read has passed: an entry is never in force for longer than it says."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return date.min


def fold(
    rows: Iterable[Row], deviations: Mapping[str, Deviation], strict: bool, today: date, tally: Tally | None = None
) -> Summary:
    """The summary of one run. `deviations` is the baseline; `strict` makes failures at level SHOULD count. `tally`
    stands for coverage rows that are not among `rows`.

    Raises ValueError when the rows come from more than one run.
    """
    distinct = sorted(set(rows), key=lambda row: (row.n, row.worker, to_json(row)))
    runs = {row.run for row in distinct}
    if len(runs) > 1:
        raise ValueError(f"rows of {len(runs)} runs cannot be one summary; choose one of them")
    run = _run(distinct)
    entries = {name: acceptance(name, entry) for name, entry in deviations.items()}
    troubles = _troubles(distinct)
    decisive = frozenset(("MUST", "SHOULD") if strict else ("MUST",))
    plays = played(_of(ReplayRow, distinct))
    results = _results(distinct, entries, troubles, decisive, today, tally)
    if run.schema >= KEEPS_CONVERSATIONS:
        results = tuple(not_seen(found, entries, plays, today) for found in results)
    loose = unfinished(distinct, tally.places if tally else None)
    complete = bool(distinct) and not loose
    expired = tuple(entry for entry in entries.values() if entry.expired(today))
    # What a partial or broken run did not see fail may fail all the same.
    stale = () if run.partial or not complete else stale_entries(entries, results, plays)
    summary = Summary(
        run=run,
        results=results,
        verdict="",
        exit_code=1,
        reasons=(),
        strict=strict,
        complete=complete,
        unfinished=loose,
        troubles=troubles,
        stale=stale,
        expired=expired,
        properties=tuple(_of(PropertyRow, distinct)),
        counts={verdict: sum(found.verdict == verdict for found in results) for verdict in VERDICTS},
        sections=_sections(results),
        freedoms=_freedoms(distinct),
        obstacles=_obstacles(distinct),
        played=plays,
        left=left(_of(RoundRow, distinct)),
    )
    verdict, reasons = _verdict(summary)
    return replace(summary, verdict=verdict, reasons=reasons, exit_code=0 if verdict == "pass" else 1)


def _rates(rows: list[Row]) -> dict[tuple[str, str], tuple[int, int]]:
    """How often each failure that shows now and then was seen, and could have been, by all workers together."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for row in _of(RateRow, rows):
        shown, chances = found.get((row.requirement, row.fingerprint), (0, 0))
        found[row.requirement, row.fingerprint] = shown + row.shown, chances + row.chances
    return found


def _freedoms(rows: list[Row]) -> dict[str, int]:
    """How many conversations leaned on each freedom, those most leaned on first."""
    counts: Counter[str] = Counter()
    for row in _of(FreedomRow, rows):
        counts[row.freedom] += row.leaned
    return dict(counts.most_common())


def _obstacles(rows: list[Row]) -> dict[str, int]:
    """How many conversations each known fault ended, the worst first. What nobody can read counts nothing."""
    counts: Counter[str] = Counter()
    for row in _of(PropertyRow, rows):
        for text in row.obstacles:
            name, _, count = text.rpartition(" ")
            counts[name] += int(count) if count.isascii() and count.isdigit() and len(count) < 16 else 0
    return {name: count for name, count in counts.most_common() if count}


def _of(kind: type[AnyRow], rows: Iterable[Row]) -> list[AnyRow]:
    return [row for row in rows if isinstance(row, kind)]


def _run(rows: list[Row]) -> RunRow:
    """What the workers say about the run; the first to begin speaks, and one that is partial makes it partial."""
    told = sorted(_of(RunRow, rows), key=lambda row: (row.at, row.n, row.worker, to_json(row)))
    if not told:
        return RunRow(run=rows[0].run if rows else "")
    return replace(told[0], partial=any(row.partial for row in told))


def _troubles(rows: list[Row]) -> tuple[TroubleRow, ...]:
    """Troubles as reported, and those that only a property's count of errors tells of."""
    told = _of(TroubleRow, rows)
    named = {name for row in told for name in (row.property, row.where)}
    for row in _of(PropertyRow, rows):
        if (row.errors or row.ended == "error") and row.property not in named:
            message = f"{_many(row.errors, 'plan')} ended in an error of ours" if row.errors else "stopped by an error"
            told.append(TroubleRow(run=row.run, worker=row.worker, property=row.property, where=row.property,
                                   message=message))  # fmt: skip
    return tuple(told)


def _results(
    rows: list[Row],
    entries: Mapping[str, Acceptance],
    troubles: tuple[TroubleRow, ...],
    decisive: frozenset[str],
    today: date,
    tally: Tally | None,
) -> tuple[Result, ...]:
    requirements: dict[str, RequirementRow] = {}
    for row in _of(RequirementRow, rows):
        requirements.setdefault(row.id, row)
    exercised: Counter[str] = Counter(tally.exercised if tally else ())
    judged: Counter[str] = Counter(tally.judged if tally else ())
    for coverage in _of(CoverageRow, rows):
        exercised[coverage.requirement] += coverage.exercised
        judged[coverage.requirement] += coverage.judged
    faults: dict[str, list[FaultRow]] = {}
    rates = _rates(rows)
    in_force = {name: entry for name, entry in entries.items() if not entry.expired(today)}
    for told in not_another_name(apart(_of(FaultRow, rows)), in_force):
        shown, chances = rates.get((told.requirement, told.fingerprint), (told.shown, told.chances))
        fault = replace(told, shown=shown, chances=chances)
        for name in dict.fromkeys((fault.requirement, *fault.also)):
            faults.setdefault(name, []).append(fault)
        # A fault is never lost because the list of requirements is torn or older than the suite.
        if fault.requirement not in requirements:
            requirements[fault.requirement] = RequirementRow(
                run=fault.run, worker=fault.worker, id=fault.requirement, section=UNKNOWN_SECTION, level=fault.level
            )
    trouble = {row.requirement: row.message or "an error of ours" for row in reversed(troubles) if row.requirement}
    rests: dict[str, float] = {}
    for rest in _of(RestRow, rows):
        rests[rest.requirement] = min(rest.needs_s, rests.get(rest.requirement, rest.needs_s))
    vain = {row.requirement: row.programs for row in _of(MissedRow, rows)}
    found = []
    for name, requirement in requirements.items():
        mine = faults.get(name, [])
        counts = (exercised[name], judged[name])
        entry = accepted(name, mine, in_force, decisive)
        if entry is None:  # what is accepted elsewhere makes nothing worse here
            mine = [f for f in mine if f.requirement not in in_force or not in_force[f.requirement].accepts(f)]
        folded = result(requirement, counts, mine, trouble=trouble.get(name, ""), accepted=entry, decisive=decisive)
        folded = too_long(folded, rests[name]) if name in rests else folded
        found.append(missed(folded, vain[name]) if name in vain else folded)
    return tuple(found)


def _sections(results: tuple[Result, ...]) -> tuple[Section, ...]:
    """Counts by section; what the text itself demands comes first."""
    groups: dict[tuple[bool, str, str], Counter[str]] = {}
    for found in results:
        basis = found.requirement.basis or "text"
        count = groups.setdefault((basis != "text", basis, found.requirement.section), Counter())
        count[found.standing] += 1
        if found.standing in ("passed", "failed", "warned", "accepted"):
            count["judged"] += 1
    ordered = sorted(groups.items(), key=lambda item: item[0][:2])  # stable: sections keep the order of the file
    return tuple(Section(name, basis, dict.fromkeys(COLUMNS, 0) | count) for (_, basis, name), count in ordered)


def _verdict(summary: Summary) -> tuple[str, tuple[str, ...]]:
    """The whole verdict and, unless it is a pass, everything that speaks against one."""
    failures: list[str] = []
    errors: list[str] = []
    gaps: list[str] = []
    levels: Counter[str] = Counter(found.failed_as or "MUST" for found in summary.standing("failed"))
    for level, count in sorted(levels.items(), key=lambda item: rank(item[0])):
        failures.append(f"{_many(count, f'{level} requirement')} {'fails' if count == 1 else 'fail'}")
    if failures and (summary.standing("accepted") or summary.stale or summary.expired):
        failures[-1] += " outside the baseline"
    if summary.stale:
        failures.append(_many(len(summary.stale), "baseline entry no longer fails", "baseline entries no longer fail"))
    if summary.expired:
        failures.append(f"{_many(len(summary.expired), 'baseline entry', 'baseline entries')} expired")
    if summary.not_begun:
        errors.append("it could not be judged")
    if summary.errors:
        errors.append(f"{_many(len(summary.errors), 'error')} of the tester's own")
    elif summary.counts["error"]:
        errors.append(f"{_many(summary.counts['error'], 'requirement')} met an error of the tester's own")
    if not summary.complete:
        gaps.append("the run is incomplete")
    if not any(found.verdict in ("pass", "fail") for found in summary.results):
        gaps.append("nothing was judged")
    verdict = "fail" if failures else "error" if errors else "inconclusive" if gaps else "pass"
    return verdict, (*failures, *errors, *gaps)


def _many(count: int, one: str, several: str = "") -> str:
    return f"{count} {one if count == 1 else several or one + 's'}"
