"""What the runs that stand for a version say: the tables that follow from their verdicts, in plain Python.

They are a small choice of all verdicts, and the pages show every one of them. Spark has brought them here; sending them
out again for each table would cost more than all of this.

What stands for an implementation is its *head*: of a version the latest run that was whole (complete, nothing left out
on purpose), or the latest at all when none was. So a run that was killed, or that tried one requirement, is listed
without blanking the matrix.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, fields, replace
from datetime import date
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from reports import tables
from reports.spark.rows import Fault, Last, Whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reports.spark.rows import Verdict

Row = TypeVar("Row")
VERSIONS: Final = 8
"""Versions of one implementation that have cells and failure pages, newest first."""
FAILING: Final = ("failed", "warned", "accepted")
OPEN: Final = ("inconclusive", "error")
CHANGES: Final = ("regression", "lost", "repair")


class Dated(NamedTuple):
    """A day of a version: a row of `versions.nights`."""

    slug: str
    version: str
    day: str
    runs: int
    incomplete: int
    last: Last
    whole: tuple[Whole, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A run that stands for a version, or one of the last two whole runs of its implementation."""

    slug: str
    protocol: str
    role: str
    version: str
    whole: bool
    at: str
    run: str
    day: str
    newest: bool = False

    @property
    def place(self) -> tuple[bool, str, str]:
        """The greater, the later: whole runs, then age."""
        return self.whole, self.at, self.run


def dated(nights: Iterable[tuple[Any, ...]]) -> list[Dated]:
    """The rows of `versions.nights`, read once: to ask a row of Spark for one of its columns takes a search."""
    told, found = [field.name for field in fields(Last)], []
    for slug, version, day, runs, incomplete, last, whole in nights:
        latest = Last(**dict(zip(told, last, strict=True)))
        both = tuple(Whole(at=at, run=run) for at, run in whole)
        found.append(Dated(slug, version, day, runs, incomplete, latest, both))
    return found


def heads(latest: Iterable[Dated]) -> list[Head]:
    """The runs that stand for the newest versions of each implementation, newest first."""
    best: dict[tuple[str, str], Head] = {}
    for one in latest:
        key, head = (one.slug, one.version), (_whole(one) or [_head(one, one.last, False)])[0]
        best[key] = max(head, best.get(key, head), key=attrgetter("place"))
    found = []
    for mine in _grouped(best.values(), "slug").values():
        first, *others = sorted(mine, key=attrgetter("place"), reverse=True)[:VERSIONS]
        found += [replace(first, newest=True), *others]
    return found


def pairs(latest: Iterable[Dated]) -> list[tuple[Head, Head]]:
    """The last two whole runs of each implementation that has two, the earlier one first."""
    whole = _grouped([head for one in latest for head in _whole(one)], "slug")
    last = [sorted(mine, key=attrgetter("place"))[-2:] for mine in whole.values()]
    return [(one[0], one[1]) for one in last if len(one) == 2]


def newest_day(latest: Iterable[Dated], today: date) -> date:
    """The day of the newest run, up to `today`, since a clock may have run ahead; `today` when there is none."""
    known = [one.day for one in latest if one.day[:1].isdigit() and one.day <= today.isoformat()]
    return date.fromisoformat(max(known, default=today.isoformat()))


def days(latest: Iterable[Dated], since: str) -> tuple[tables.Day, ...]:
    """The last run of each day of each implementation, from the day `since` on, and how many there were."""
    copied = [field.name for field in fields(tables.Day) if field.name not in ("slug", "day", "version", "runs")]
    shown = [one for one in latest if one.day >= since and one.day[:1].isdigit()]
    found = []
    for (slug, day), mine in sorted(_grouped(shown, "slug", "day").items()):
        one = max(mine, key=lambda one: (one.last.at, one.last.run))
        told = {name: getattr(one.last, name) for name in copied}
        found.append(tables.Day(slug=slug, day=day, version=one.version, runs=sum(o.runs for o in mine), **told))
    return tuple(found)


def _whole(one: Dated) -> list[Head]:
    return [_head(one, told, True) for told in one.whole]


def _head(one: Dated, told: Last | Whole, whole: bool) -> Head:
    return Head(
        slug=one.slug, protocol=one.last.protocol, role=one.last.role, version=one.version, whole=whole, at=told.at,
        run=told.run, day=one.day,
    )  # fmt: skip


def _grouped(rows: Iterable[Row], *names: str) -> dict[Any, list[Row]]:
    """Rows by what these fields of them say."""
    key = attrgetter(*names)
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


# -- the matrix -------------------------------------------------------------------------------------------------------


def page(fault: Fault) -> str:
    """The name of a fault's page: the requirement, and a hash of what sets it apart."""
    whole = f"{fault.slug}|{fault.version}|{fault.requirement}|{fault.trace}"
    return f"{fault.requirement.lower()}-{hashlib.sha256(whole.encode()).hexdigest()[:12]}"


def cells(chosen: Iterable[Head], verdicts: Iterable[Verdict], faults: Iterable[Fault]) -> tuple[tables.Cell, ...]:
    """The verdicts of the chosen runs; `failure` names the page of the fault that each shows."""
    shown: dict[tuple[str, str], list[tuple[Fault, str]]] = {}
    for fault in faults:
        for name in {fault.requirement, *fault.also}:
            shown.setdefault((fault.run, name), []).append((fault, page(fault)))

    def failure(verdict: Verdict) -> str:
        bad = verdict.verdict == "fail"
        if not bad and verdict.standing != "inconclusive":
            return ""
        mine = [
            (fault.trace != verdict.trace, fault.requirement != verdict.requirement, name)
            for fault, name in shown.get((verdict.run, verdict.requirement), ())
            if bad or fault.requirement == verdict.requirement
        ]
        return min(mine, default=(False, False, ""))[2]

    newest = {head.run: head.newest for head in chosen}
    copied = [field.name for field in fields(tables.Cell) if field.name not in ("newest", "failure")]
    told = attrgetter(*copied)
    found = [
        tables.Cell(**dict(zip(copied, told(one), strict=True)), newest=newest[one.run], failure=failure(one))
        for one in verdicts
        if one.run in newest
    ]
    return tuple(sorted(found, key=lambda cell: (cell.slug, not cell.newest, cell.version, cell.requirement)))


def requirements(
    chosen: Iterable[Head], listed: Iterable[Any], grid: Iterable[tables.Cell]
) -> tuple[tables.Requirement, ...]:
    """Each requirement as the newest run lists it, and how the implementations stand in their whole runs."""
    protocols = {head.run: head.protocol for head in chosen if head.newest and head.whole}
    count: dict[tuple[str, str], Counter[str]] = {}
    for cell in grid:
        if cell.run in protocols:
            mine = count.setdefault((protocols[cell.run], cell.requirement), Counter())
            mine["open" if cell.standing in OPEN else cell.standing] += 1
            mine.update(exercised=cell.exercised, judged=cell.judged)
    texts = ("section", "level", "basis", "statement", "source", "untestable")
    numbers = ("passed", *FAILING, "open", "exercised", "judged")
    found = []
    for one in sorted(listed, key=lambda one: (one.protocol, one.place)):
        many = count.get((one.protocol, one.id), Counter())
        told: dict[str, Any] = {name: one.r[name] or "" for name in texts} | {name: many[name] for name in numbers}
        found.append(tables.Requirement(id=one.id, protocol=one.protocol, **told))
    return tuple(found)


def strictness(grid: Iterable[tables.Cell]) -> tuple[tables.Strictness, ...]:
    """How the newest cells stand, level by level."""
    found = []
    levels = _grouped((cell for cell in grid if cell.newest), "slug", "level", "run")
    for (slug, level, run), mine in sorted(levels.items()):
        many = Counter(cell.standing for cell in mine)
        found.append(
            tables.Strictness(
                slug=slug, run=run, level=level, passed=many["passed"], failed=many["failed"] + many["warned"],
                accepted=many["accepted"], open=sum(many[word] for word in OPEN),
            )
        )  # fmt: skip
    return tuple(found)


def differences(
    chosen: Iterable[Head], listed: Iterable[tables.Requirement], grid: Iterable[tables.Cell]
) -> tuple[tables.Difference, ...]:
    """Requirements that some implementation of a protocol and role keeps and another breaks."""
    kinds = {head.run: (head.protocol, head.role) for head in chosen if head.newest}
    basis = {(one.protocol, one.id): one.basis for one in listed}
    split: dict[tuple[str, str, str], list[tables.Cell]] = {}
    for cell in grid:
        if cell.run in kinds:
            split.setdefault((*kinds[cell.run], cell.requirement), []).append(cell)
    found = []
    for (protocol, role, name), mine in sorted(split.items()):
        good = tuple(sorted({cell.slug for cell in mine if cell.standing == "passed"}))
        bad = tuple(sorted({cell.slug for cell in mine if cell.standing in FAILING}))
        level, based = max(cell.level for cell in mine), basis.get((protocol, name), "text")
        if good and bad:
            found.append(
                tables.Difference(
                    protocol=protocol, role=role, requirement=name, level=level, basis=based,
                    ambiguous=level != "MUST" or based != "text", passing=good, failing=bad,
                )
            )  # fmt: skip
    return tuple(found)


def changes(
    last: Iterable[tuple[Head, Head]], verdicts: Iterable[Verdict], grid: Iterable[tables.Cell]
) -> tuple[tables.Change, ...]:
    """What stands otherwise in the last whole run of an implementation than in the one before. A failure that the
    baseline accepts is no regression; a requirement that the run before did not know is no change."""
    of_run = _grouped(verdicts, "run")
    pages = {(cell.run, cell.requirement): cell.failure for cell in grid}
    found = []
    for before, after in last:
        now = {one.requirement: one for one in of_run.get(after.run, ())}
        for was in of_run.get(before.run, ()):
            name = was.requirement
            new = now.get(name) or replace(was, verdict="unlisted", standing="unlisted", message="")
            kind = _changed(was, new)
            if kind:
                found.append(
                    tables.Change(
                        kind=kind, slug=was.slug, requirement=name, level=new.level, before=was.standing,
                        after=new.standing, before_run=before.run, after_run=after.run, before_version=before.version,
                        after_version=after.version, message=new.message, failure=pages.get((after.run, name), ""),
                    )
                )  # fmt: skip
    return tuple(sorted(found, key=lambda one: (CHANGES.index(one.kind), one.slug, one.requirement)))


def _changed(was: Verdict, now: Verdict) -> str:
    if now.verdict == "fail" and was.verdict != "fail" and now.standing != "accepted":
        return "regression"
    if now.verdict == "pass" and was.verdict == "fail":
        return "repair"
    return "lost" if was.verdict == "pass" and now.verdict not in ("pass", "fail") else ""


# -- failures ---------------------------------------------------------------------------------------------------------


def failures(
    faults: Iterable[Fault],
    grid: Iterable[tables.Cell],
    first: Mapping[tuple[str, str], tuple[str, str]],
    texts: Mapping[tuple[str, str], tuple[str, str]],
) -> tuple[tables.Failure, ...]:
    """A page for each fault of the chosen runs: one for each conversation of a requirement.

    `first`: by implementation and requirement the run and the day on which that failed first. `texts`: by run and
    trace the conversation and its script.
    """
    best: dict[str, Fault] = {}
    for fault in faults:
        best[page(fault)] = min(fault, best.get(page(fault), fault), key=_shown)
    standing = {(cell.run, cell.requirement): cell.standing for cell in grid}
    copied = [name for field in fields(tables.Failure) if (name := field.name) in {f.name for f in fields(Fault)}]
    told, found = attrgetter(*copied), []
    for name, fault in best.items():
        document, script = texts.get((fault.run, fault.trace), ("", ""))
        run, day = first.get((fault.slug, fault.requirement), (fault.run, fault.day))
        found.append(
            tables.Failure(
                failure=name, first_run=run, first_day=day, document=document, script=script,
                standing=standing.get((fault.run, fault.requirement), ""),
                **dict(zip(copied, told(fault), strict=True)),
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda one: (one.slug, one.version, one.requirement, one.failure)))


def conversations(runs: Iterable[tables.Run], texts: Iterable[Any]) -> dict[tuple[str, str], tuple[str, str]]:
    """By run and trace the conversation and its script: of several `texts` the last one.

    Runs that share a folder write traces of one name: a conversation is shown with the run whose seed it has.
    """
    seeds = {run.run: str(run.seed) for run in runs}
    mine = (one for one in texts if one.seed is None or one.seed == seeds.get(one.run))
    return {(one.run, one.trace): (one.document, one.script) for one in mine}


def _shown(fault: Fault) -> tuple[Any, ...]:
    """The smallest is the one to show: a failure, one that comes each time, a short one."""
    return fault.verdict != "fail", -fault.reproduced, fault.steps, fault.property, fault.why
