"""Which pages there are, and what stands in each: the words to its template, and the same as data for its JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from markupsafe import Markup, escape

from records.text import printable
from reports import script
from reports.site import badges, campaigns, plots, sequence, words
from reports.site.book import Book, Group, Implementation
from reports.tables import Cell, Failure, Requirement

MAX_COLUMNS: Final = 80
"""Columns of a matrix; older versions beyond them are left out."""
WIDE: Final = 6
"""Columns of a matrix up to which a cell has its word as well as its sign, and a column its name written level."""
MAX_PLOTS: Final = 24
"""Plots on the page of history; with more implementations they are on the pages of the implementations."""
MAX_ROWS: Final = 2000
"""Rows of a table that grows with the number of runs."""
LISTS: Final = ("differences", "flakiness", "coverage", "times", "rejudged", "quarantine", "runs")


@dataclass(frozen=True, slots=True)
class Page:
    """One page: where it goes, its template, the place in the navigation that it belongs to, its words and its data."""

    path: str
    template: str
    section: str
    title: str
    context: Mapping[str, Any]
    data: Mapping[str, Any]
    beside: Mapping[str, str] = field(default_factory=dict)
    """Further files, by path from the root of the site: ASCII text."""


def navigation(book: Book) -> list[tuple[str, str, str]]:
    """The pages in the head: (section, name, path)."""
    found = [("index", "Overview", "index.html")]
    if book.groups:
        found.append(("matrix", "Matrix", book.groups[0].page))
    found.append(("history", "History", "history.html"))
    if book.report.campaigns:
        found.append(("campaigns", "Campaigns", "campaigns.html"))
    return [*found, *((name, _TITLES[name][0], f"{name}.html") for name in LISTS)]


def pages(book: Book) -> Iterator[Page]:
    """Every page; the overview comes last, so that it never leads to a page that is not there yet."""
    for failure in book.failures.values():
        yield _failure(book, failure)
    for requirement in book.requirements.values():
        yield _requirement(book, requirement)
    for implementation in book.implementations.values():
        yield _implementation(book, implementation)
    for group in book.groups:
        yield _matrix(book, group)
    yield _history(book)
    yield from campaigns.pages(book.report.campaigns, Page)
    for name in LISTS:
        yield _list(book, name)
    yield _index(book)


# -- overview ---------------------------------------------------------------------------------------------------------


def _index(book: Book) -> Page:
    state, sentence = book.status()
    implementations = list(book.implementations.values())
    last = max((run.at for run in book.report.runs), default="")
    report = book.report
    data = {
        "built": report.built,
        "suite_version": report.suite_version,
        "state": sentence,
        "total_runs": report.total_runs,
        "incomplete_runs": report.incomplete_runs,
        "quarantined_total": report.quarantined_total,
        "changes": report.changes,
        "flickers": len(report.flickers),
        "stale": report.stale,
        "rejudged_changes": len(book.rejudged_changes),
        "incomplete": book.incomplete,
        "implementations": [_told(book, i) for i in implementations],
        "matrices": [{"protocol": g.protocol, "role": g.role, "page": g.page} for g in book.groups],
    }
    context = {
        "state": state,
        "sentence": sentence,
        "implementations": implementations,
        "groups": book.groups,
        "last": last,
    }
    return Page("index.html", "index.html", "index", "Overview", context, data)


def _told(book: Book, i: Implementation) -> dict[str, Any]:
    return {
        "slug": i.slug, "name": i.name, "protocol": i.protocol, "role": i.role, "profile": i.profile,
        "version": i.version, "verdict": i.verdict, "complete": bool(i.run and i.run.complete),
        "run": i.run.run if i.run else "", "page": i.page, "counts": dict(i.counts),
    }  # fmt: skip


# -- matrix -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Column:
    slug: str
    version: str
    newest: bool
    name: str
    cells: Mapping[str, Cell]


def _matrix(book: Book, group: Group) -> Page:
    columns = [
        _Column(i.slug, i.version, True, book.name(i.slug), {c.requirement: c for c in book.newest(i.slug)})
        for i in group.implementations
    ]
    older = [
        _Column(i.slug, version, False, book.name(i.slug), {c.requirement: c for c in cells})
        for i in group.implementations
        for version, cells in book.older(i.slug).items()
    ]
    kept = older[: max(0, MAX_COLUMNS - len(columns))]
    place = {i.slug: n for n, i in enumerate(group.implementations)}
    shown = sorted([*columns, *kept], key=lambda column: (place[column.slug], not column.newest))
    dense = len(columns) > WIDE
    sections = list(dict.fromkeys(r.section for r in group.requirements))
    levels = sorted({r.level for r in group.requirements}, key=lambda level: (words.level_order(level), level))
    rows = [
        {
            "requirement": r,
            "section": sections.index(r.section) + 1,
            "level": levels.index(r.level) + 1,
            "cells": Markup("").join(_cell(book, column, r.id, dense) for column in shown),
            "failing": sum(words.fails(c.cells[r.id].standing) for c in columns if r.id in c.cells),
        }
        for r in group.requirements
    ]
    context = {
        "group": group, "groups": book.groups, "columns": shown, "dense": dense, "old": len(kept),
        "left_out": len(older) - len(kept), "sections": sections, "levels": levels, "rows": rows,
    }  # fmt: skip
    data = {
        "protocol": group.protocol,
        "role": group.role,
        "columns": [{"slug": c.slug, "version": c.version, "newest": c.newest} for c in shown],
        "requirements": [
            {
                "id": r.id,
                "level": r.level,
                "section": r.section,
                "standings": [c.cells[r.id].standing if r.id in c.cells else None for c in shown],
            }
            for r in group.requirements
        ],
    }
    return Page(group.page, "matrix.html", "matrix", f"{group.title} matrix", context, data)


def _cell(book: Book, column: _Column, requirement: str, dense: bool) -> Markup:
    """One cell of a matrix. There are thousands, so that they are put together here and not in the template."""
    cell = column.cells.get(requirement)
    old = "" if column.newest else " old"
    if cell is None:
        return Markup(f'<td class="c none{old}" data-s="" data-v="99"><span class="vh">not in the run</span></td>')  # noqa: S704
    sign = words.standing(cell.standing)
    name = escape(printable(sign.name, 30))
    inside = f'<i aria-hidden="true">{sign.sign}</i>' + (f'<span class="vh"> {name}</span>' if dense else f" {name}")
    page = book.failure_page(cell.failure) if cell.failure else ""
    if page:
        title = escape(printable(f"{column.name}: {cell.message}", 200))
        inside = f'<a href="../{page}" title="{title}">{inside}</a>'
    word = escape(printable(cell.standing, 30))
    # Every part is a constant of ours, a number, a name of a file, or escaped just above.
    opened = f'<td class="c {sign.css}{old}" data-s="{word}" data-v="{words.order(cell.standing)}">'
    return Markup(f"{opened}{inside}</td>")  # noqa: S704


# -- one page for each ------------------------------------------------------------------------------------------------


def _implementation(book: Book, i: Implementation) -> Page:
    from reports.site import exports  # noqa: PLC0415 - used here only

    cells = book.newest(i.slug)
    sections: dict[str, Counter[str]] = {}
    for cell in cells:
        sections.setdefault(book.requirements[cell.requirement].section, Counter())[cell.standing] += 1
    failing = sorted(
        (cell for cell in cells if words.fails(cell.standing) or cell.standing == "error"),
        key=lambda c: (words.order(c.standing), words.level_order(c.failed_as or c.level), book.place[c.requirement]),
    )
    days = book.days.get(i.slug, [])
    older = {version: {c.requirement: c for c in table} for version, table in list(book.older(i.slug).items())[:6]}
    changes = [change for change in book.report.changes if change.slug == i.slug]
    times = sorted(book.times_of.get(i.slug, []), key=lambda time: -time.seconds)
    runs = book.runs_of.get(i.slug, [])
    badge = badges.badge(i)
    own = i.page.removesuffix(".html")
    beside = {f"{i.badge}.svg": badge.svg(), f"{i.badge}.json": badge.endpoint()}
    if i.run:
        summary = exports.summary(i.run, cells, book)
        beside |= {f"{own}.sarif": exports.to_sarif(summary), f"{own}.junit.xml": exports.to_junit(summary)}
    confirmed = book.sights_of.get(i.slug, [])
    context = {
        "i": i, "group": book.group(i.slug), "counts": i.counts, "cells": cells, "sections": list(sections.items()),
        "failing": [(cell, book.failures.get(cell.failure)) for cell in failing], "days": days,
        "plot": plots.history(days), "older": older, "changes": changes, "times": times, "runs": runs,
        "stale": book.stale_of.get(i.slug, []), "flickers": book.flickers_of.get(i.slug, []),
        "strictness": book.strictness_of.get(i.slug, []), "badge": Markup(badge.svg()),  # noqa: S704 - escaped there
        "exports": bool(i.run),
        "campaigned": [(campaigns.page_of(told), told, sight) for told, sight in confirmed],
    }  # fmt: skip
    data = {
        **_told(book, i), "latest": i.run, "cells": cells, "older": {v: list(t.values()) for v, t in older.items()},
        "days": days, "changes": changes, "times": times, "runs": runs, "stale": context["stale"],
        "flickers": context["flickers"], "strictness": context["strictness"],
        "campaigns": [{"campaign": told.campaign.campaign, "fault": sight} for told, sight in confirmed],
    }  # fmt: skip
    return Page(i.page, "implementation.html", "index", f"{i.name} {i.version}".strip(), context, data, beside)


def _requirement(book: Book, r: Requirement) -> Page:
    cells = sorted(
        book.by_requirement.get(r.id, []),
        key=lambda c: (not c.newest, words.order(c.standing), book.name(c.slug).lower(), c.version),
    )
    changes = [change for change in book.report.changes if change.requirement == r.id]
    differences = book.difference_on.get(r.id, [])
    context = {
        "r": r, "cells": cells, "counts": Counter(c.standing for c in cells if c.newest), "changes": changes,
        "differences": differences, "matrices": book.groups_on.get(r.id, []),
    }  # fmt: skip
    data = {"requirement": r, "cells": cells, "changes": changes, "differences": differences}
    return Page(book.requirement_page(r.id), "requirement.html", "matrix", r.id, context, data)


def _failure(book: Book, f: Failure) -> Page:
    trace, problem = sequence.read(f.document)
    told = sequence.conversation(trace) if trace else []
    wire = sequence.wire(trace) if trace else []
    implementation = book.implementations.get(f.slug)
    path = book.failure_page(f.failure)
    own = path.removesuffix(".html")
    # The script is made again from the conversation: one that was stored would be somebody else's program.
    beside = {}
    if trace:
        beside = {f"{own}.py": script.render(trace), f"{own}.trace.json": sequence.to_json(trace)}
    peer = printable(book.name(f.slug), 40)
    context = {
        "f": f, "r": book.requirements.get(f.requirement), "problem": problem, "told": told, "wire": wire,
        "d": sequence.diagram(told, peer), "peer": peer, "role": "IUT", "script": trace is not None,
        "document": trace is not None,
        "others": [o for o in book.failures_on.get(f.requirement, []) if o.failure != f.failure],
        "protocol": implementation.protocol if implementation else "",
    }  # fmt: skip
    rows = {name: getattr(f, name) for name in _FAILURE}
    data = rows | {"problem": problem, "conversation": told, "trace": bool(trace), "script": bool(trace)}
    return Page(path, "failure.html", "matrix", f"{f.requirement}: {book.name(f.slug)}", context, data, beside)


_FAILURE: Final = (
    "failure", "slug", "version", "run", "requirement", "level", "verdict", "standing", "also", "why", "expected",
    "property", "features", "steps", "reproduced", "tried", "first_run", "first_day", "replay",
)  # fmt: skip


# -- one page for all -------------------------------------------------------------------------------------------------


def _history(book: Book) -> Page:
    found = [
        (i, plots.history(book.days[i.slug]), book.days[i.slug])
        for i in book.implementations.values()
        if i.slug in book.days
    ]
    histories = [days for _, _, days in found]
    together = plots.together(histories)
    members = [[book.days[i.slug] for i in g.implementations if i.slug in book.days] for g in book.groups]
    groups = [(g, plots.total(part)) for g, part in zip(book.groups, members, strict=True) if part]
    if len(found) <= MAX_PLOTS:
        groups = []
    context = {
        "plots": found if not groups else [],
        "listed": found,
        "groups": groups,
        "whole": plots.total(histories),
        "together": together[-plots.MAX_DAYS :],
    }
    data = {"days": {i.slug: days for i, _, days in found}}
    return Page("history.html", "history.html", "history", "History", context, data)


_TITLES: Final = {
    "differences": (
        "Differences",
        "Requirements on which implementations of one protocol and role do not agree.",
        "No two implementations differ.",
        "",
    ),
    "flakiness": (
        "Flakiness",
        "Verdicts that changed between runs of one version, and faults that not every repetition showed.",
        "No verdict flickers.",
        "Changes of verdict within one version, and k of n repetitions",
    ),
    "coverage": (
        "Coverage",
        "How often the newest runs exercised and judged each requirement. What was never exercised is never a pass.",
        "No requirements yet.",
        "Sums over the newest run of each implementation; what nobody exercises comes first",
    ),
    "times": (
        "Times",
        "What each property of the suites cost in the newest run of each implementation.",
        "No times yet.",
        "Summed over the workers of a run",
    ),
    "rejudged": (
        "Re-judged",
        "Stored conversations, judged again with today's specifications.",
        "Nothing has been judged again.",
        "Verdicts that change",
    ),
    "quarantine": (
        "Quarantine",
        "Files and lines of results that are no records. They are set aside, counted, and never judged.",
        "Nothing is in quarantine.",
        "What was set aside, and why",
    ),
    "runs": ("Runs", "The runs behind these pages. One without its end is incomplete.", "No runs yet.", ""),
}


def _list(book: Book, name: str) -> Page:
    title, lead, nothing, caption = _TITLES[name]
    rows, data = _rows(book, name)
    whole = len(rows) if name != "quarantine" else max(len(rows), book.report.quarantined_total)
    if name == "rejudged" and book.report.rejudged:
        lead += f" {len(rows)} of {len(book.report.rejudged)} verdicts change."
        nothing = "Every verdict stands."
    if name == "coverage":
        never = sum(not r.exercised and not r.untestable for r in rows)
        lead += f" Never exercised by anybody: {never}; with no test: {sum(bool(r.untestable) for r in rows)}."
    context = {
        "kind": name, "lead": lead, "nothing": nothing, "caption": caption, "rows": rows[:MAX_ROWS],
        "left_out": max(0, whole - len(rows[:MAX_ROWS])),
        "parts": [(flag, [d for d in rows if d.ambiguous is flag]) for flag in (True, False)]
        if name == "differences" else [],
    }  # fmt: skip
    return Page(f"{name}.html", "list.html", name, title, context, data)


def _rows(book: Book, name: str) -> tuple[list[Any], dict[str, Any]]:
    """The rows of one of the lists in the order in which it shows them, and its data."""
    report = book.report
    if name == "differences":
        return list(report.differences), {"differences": report.differences}
    if name == "flakiness":
        flickers = sorted(report.flickers, key=lambda f: (-f.changes, f.reproduced / f.tried if f.tried else 1.0))
        return flickers, {"flickers": report.flickers}
    if name == "coverage":
        known = sorted(
            book.report.requirements,
            key=lambda r: (bool(r.untestable), bool(r.exercised), bool(r.judged), book.place[r.id]),
        )
        return known, {"requirements": report.requirements}
    if name == "times":
        return sorted(report.times, key=lambda time: -time.seconds), {"times": report.times}
    if name == "rejudged":
        return book.rejudged_changes, {"judged": len(report.rejudged), "changed": book.rejudged_changes}
    if name == "quarantine":
        return list(report.quarantined), {"total": report.quarantined_total, "quarantined": report.quarantined}
    return list(report.runs), {"total": report.total_runs, "runs": report.runs}


def own_name(path: str) -> str:
    """The name of a page without its folder and ending."""
    return path.rpartition("/")[2].removesuffix(".html")
