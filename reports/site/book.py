"""The report, looked up: which rows belong to which implementation, requirement and page.

The tables come from many runs and need not fit together: a row may name an implementation of which no run is left, or
a requirement that no list has. Such rows are shown under the name that they give; nothing is dropped.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from reports.site.names import file_name
from reports.tables import Cell, Change, Day, Failure, Report, Requirement, Run

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Implementation:
    """An implementation with its newest run, if that is still in the report, and the cells of its newest version."""

    slug: str
    name: str
    protocol: str
    role: str
    profile: str
    version: str
    run: Run | None
    counts: Mapping[str, int]

    @property
    def page(self) -> str:
        """Its page, from the root of the site."""
        return f"implementations/{file_name(self.slug)}.html"

    @property
    def badge(self) -> str:
        """Its badge, without ending."""
        return f"badges/{file_name(self.slug)}"

    @property
    def verdict(self) -> str:
        """The verdict of its newest run; empty when no run is left."""
        return self.run.verdict if self.run else ""

    @property
    def judged(self) -> int:
        """Requirements that its newest run settled."""
        return sum(self.counts.get(word, 0) for word in ("passed", "failed", "warned", "accepted"))


@dataclass(frozen=True, slots=True)
class Group:
    """What one matrix shows: the implementations of one protocol and role, and the requirements of that protocol."""

    protocol: str
    role: str
    implementations: tuple[Implementation, ...]
    requirements: tuple[Requirement, ...]

    @property
    def page(self) -> str:
        """Its page, from the root of the site."""
        return f"matrix/{file_name(f'{self.protocol}-{self.role}' if self.role else self.protocol)}.html"

    @property
    def title(self) -> str:
        """As people say it."""
        return f"{self.protocol} {self.role}".strip()


class Book:
    """Look-ups in one report. Every list keeps the order of the report unless it says otherwise."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.cells = _by(report.cells, lambda cell: cell.slug)
        self.by_requirement = _by(report.cells, lambda cell: cell.requirement)
        self.days = {slug: sorted(days, key=_day) for slug, days in _by(report.days, lambda d: d.slug).items()}
        self.changes = _by(report.changes, lambda change: change.kind)
        self.failures = {failure.failure: failure for failure in report.failures}
        self.failures_of = _by(report.failures, lambda failure: failure.slug)
        self.failures_on = _by(report.failures, lambda failure: failure.requirement)
        self.runs_of = _by(report.runs, lambda run: run.slug)
        self.stale_of = _by(report.stale, lambda entry: entry.slug)
        self.times_of = _by(report.times, lambda time: time.slug)
        self.flickers_of = _by(report.flickers, lambda flicker: flicker.slug)
        self.strictness_of = _by(report.strictness, lambda row: row.slug)
        self.difference_on = _by(report.differences, lambda difference: difference.requirement)
        self.sights_of = _by(
            ((told, sight) for told in report.campaigns for sight in told.sights if sight.verdict == "fail"),
            lambda found: found[1].slug,
        )
        """What campaigns have confirmed, by implementation."""
        self.rejudged_changes = [row for row in report.rejudged if row.changed]

    @cached_property
    def implementations(self) -> dict[str, Implementation]:
        """By slug; ordered by protocol, role, name and profile."""
        r = self.report
        tables: tuple[Iterable[object], ...] = (
            r.runs, r.cells, r.days, r.changes, r.flickers, r.times, r.strictness, r.stale, r.failures, r.rejudged,
        )  # fmt: skip
        slugs = dict.fromkeys(str(getattr(row, "slug", "")) for table in tables for row in table)
        found = [self._implementation(slug) for slug in slugs]
        found.sort(key=lambda i: (i.protocol, i.role, _natural(i.name), i.profile, i.slug))
        return {made.slug: made for made in found}

    def _implementation(self, slug: str) -> Implementation:
        runs = self.runs_of.get(slug, ())
        run = max(runs, key=lambda run: (run.complete and not run.partial, run.at, run.run), default=None)
        cells = self.newest(slug)
        counts = Counter(cell.standing for cell in cells)
        if run:
            return Implementation(slug, run.impl or slug, run.protocol, run.role, run.profile, run.version, run, counts)
        known = (self.requirements.get(cell.requirement) for cell in cells)
        protocol = next((found.protocol for found in known if found), "")
        return Implementation(slug, slug, protocol, "", "", cells[0].version if cells else "", None, counts)

    def newest(self, slug: str) -> list[Cell]:
        """The cells of the newest version of an implementation, in the order of the requirements."""
        cells = self.cells.get(slug, [])
        place = self.place
        return sorted((cell for cell in cells if cell.newest), key=lambda c: place.get(c.requirement, len(place)))

    def older(self, slug: str) -> dict[str, list[Cell]]:
        """The cells of the other versions, by version."""
        return _by((cell for cell in self.cells.get(slug, ()) if not cell.newest), lambda cell: cell.version)

    @cached_property
    def requirements(self) -> dict[str, Requirement]:
        """By id; those that only a cell or a failure names are made up from what it says."""
        found = {requirement.id: requirement for requirement in self.report.requirements}
        protocols = {run.slug: run.protocol for run in self.report.runs}
        named: Iterable[Cell | Failure | Change] = (*self.report.cells, *self.report.failures, *self.report.changes)
        for row in named:
            if row.requirement not in found:
                found[row.requirement] = _unknown(row.requirement, row.level, protocols.get(row.slug, ""))
        for difference in self.report.differences:
            if difference.requirement not in found:
                found[difference.requirement] = _unknown(difference.requirement, difference.level, difference.protocol)
        return found

    @cached_property
    def place(self) -> dict[str, int]:
        """The place of each requirement in the list."""
        return {name: place for place, name in enumerate(self.requirements)}

    @cached_property
    def groups(self) -> list[Group]:
        """One for each protocol and role, ordered by both."""
        found = _by(self.implementations.values(), lambda i: (i.protocol, i.role))
        made = []
        for (protocol, role), members in sorted(found.items()):
            named = {cell.requirement for member in members for cell in self.cells.get(member.slug, ())}
            requirements = tuple(r for r in self.requirements.values() if r.id in named)
            made.append(Group(protocol, role, tuple(members), requirements))
        return made

    @cached_property
    def groups_on(self) -> dict[str, list[Group]]:
        """The groups that have a requirement, by its id."""
        found: dict[str, list[Group]] = defaultdict(list)
        for group in self.groups:
            for requirement in group.requirements:
                found[requirement.id].append(group)
        return dict(found)

    def group(self, slug: str) -> Group | None:
        """The group of an implementation."""
        return next((group for group in self.groups if any(i.slug == slug for i in group.implementations)), None)

    @cached_property
    def incomplete(self) -> list[Run]:
        """Runs that did not end."""
        return [run for run in self.report.runs if not run.complete]

    def name(self, slug: str) -> str:
        """The name of an implementation; its profile with it when another one has the same name."""
        found = self.implementations.get(slug)
        if found is None:
            return slug
        return f"{found.name} {found.profile}".strip() if self._names[found.name, found.protocol] > 1 else found.name

    @cached_property
    def _names(self) -> Counter[tuple[str, str]]:
        return Counter((i.name, i.protocol) for i in self.implementations.values())

    def page_of(self, slug: str) -> str:
        """The page of an implementation, from the root of the site."""
        return self.implementations[slug].page if slug in self.implementations else ""

    def requirement_page(self, name: str) -> str:
        """The page of a requirement, from the root of the site; empty when it has none."""
        return f"requirements/{file_name(name)}.html" if name in self.requirements else ""

    def failure_page(self, name: str) -> str:
        """The page of a failure, from the root of the site; empty when it has none."""
        return f"failures/{file_name(name)}.html" if name in self.failures else ""

    def status(self) -> tuple[str, str]:
        """The state of everything in a word ("failed", "open", "passed") and a sentence."""
        regressions, lost = self.changes.get("regression", []), self.changes.get("lost", [])
        if regressions:
            at = len({change.slug for change in regressions})
            return (
                "failed",
                f"{_many(len(regressions), 'regression')} in {_many(at, 'implementation')} since the run before",
            )
        if not self.report.total_runs and not self.report.runs:
            return "open", "No runs yet"
        if lost:
            return "open", f"No regressions; {_many(len(lost), 'requirement')} could not be judged any more"
        if self.report.incomplete_runs:
            return "open", f"No regressions; {_many(self.report.incomplete_runs, 'run')} did not end"
        return "passed", "No regressions since the run before"


def _unknown(name: str, level: str, protocol: str) -> Requirement:
    return Requirement(
        id=name, protocol=protocol, section="not in the list of requirements", level=level, basis="", statement="",
        source="", untestable="", passed=0, failed=0, warned=0, accepted=0, open=0, exercised=0, judged=0,
    )  # fmt: skip


def _day(day: Day) -> str:
    return day.day


def _by(rows: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    found: dict[K, list[T]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return dict(found)


def _natural(text: str) -> list[tuple[int, str]]:
    """Sorts names as people do: the second before the tenth, whatever the case."""
    parts = re.split(r"([0-9]{1,18})", text.lower(), maxsplit=20)
    return [(int(part), "") if place % 2 else (0, part) for place, part in enumerate(parts)]


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
