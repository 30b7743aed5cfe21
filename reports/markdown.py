"""The summary as GitHub-flavoured Markdown, for the page of a build.

Two escapes, one for each kind of place: `plain` where Markdown is read, `_html` inside the blocks of HTML that
hold conversations. Nothing that an implementation says can open a tag, a link, a table cell or a code span.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from records.text import printable
from reports import terminal, transcript
from reports.often import shown
from reports.result import Result
from reports.summary import COLUMNS, Summary

MAX_IN_FULL: Final = 20
MAX_LISTED: Final = 100
MAX_PAGE: Final = 900_000
"""Characters; the page of a build takes 1 MiB and shows nothing at all of more."""
_SPECIAL: Final = re.compile(r"[^\w\s,;/?%.-]|(?<=www)\.|_", re.ASCII | re.IGNORECASE)


def plain(text: str, limit: int = 300) -> str:
    """Text that Markdown shows as it is. A character reference can never act as punctuation there."""
    return _SPECIAL.sub(_reference, printable(text, limit))


def _reference(match: re.Match[str]) -> str:
    char = match.group()
    return f"&#{ord(char)};" if char.isascii() else char


def render(summary: Summary, results: Path | None = None) -> str:
    """The page. `results` is where the traces are; without it failures come without their conversations."""
    shown: list[str] = []
    size = 0
    for line in _page(summary, results):
        size += len(line) + 1
        if size > MAX_PAGE:
            shown += ["", "The rest is left out here; summary.json has all of it."]
            break
        shown.append(line)
    return "\n".join(shown) + "\n"


def _page(summary: Summary, results: Path | None) -> Iterator[str]:
    run = summary.run
    claims = " ".join(plain(part, 60) for part in (run.version, run.protocol, run.role, run.profile) if part)
    yield f"## Wireproof: {plain(run.impl, 80) or 'an implementation'} {claims}".rstrip()
    yield ""
    yield f"**{summary.verdict}**: {plain(summary.sentence.removeprefix(summary.verdict + ': '), 800)}"
    yield ""
    yield f"Seed {run.seed}, {summary.plans} conversations, {summary.steps} steps{', partial' if run.partial else ''}."
    yield ""
    yield "| section | " + " | ".join(COLUMNS) + " |"
    yield "|---|" + "---:|" * len(COLUMNS)
    for section in summary.sections:
        name = plain(section.name, 60) or "(none)"
        beyond = f" (*{plain(section.basis, 40)}*)" if section.basis != "text" else ""
        yield f"| {name}{beyond} | " + " | ".join(str(section.counts.get(column, 0)) for column in COLUMNS) + " |"
    failed = summary.standing("failed")
    if failed:
        yield from ("", f"### Failures ({len(failed)})", "")
        for found in failed[:MAX_IN_FULL]:
            # The details end with a blank line: what follows is read as Markdown again.
            yield from _failure(summary, found, results)
            yield ""
        yield from listed(_one(found) for found in failed[MAX_IN_FULL:])
    for word, title in (("error", "Errors while judging"), ("warned", "Warnings")):
        yield from _part(title, [_one(found) for found in summary.standing(word)])
    unsteady = [_one(found) for found in summary.standing("inconclusive") if found.faults and not found.unseen]
    yield from _part("Seen once in a while", unsteady)
    accepted = [(found, found.accepted) for found in summary.standing("accepted") if found.accepted]
    yield from _part(
        "Known deviations, accepted",
        [f"{plain(found.id, 80)}: {plain(entry.reason)} {plain(entry.issue)}".rstrip() for found, entry in accepted],
    )
    yield from _part(
        "Known deviations, not seen in this run",
        [f"{plain(found.id, 80)}: {plain(str(found.unseen))}" for found in summary.unseen],
    )
    yield from _part("Looked on for a baseline", [plain(str(summary.left), 500)] if summary.left else [])
    yield from _part(
        "Stale baseline entries: remove them", [f"{plain(s.entry.id, 80)}: {plain(s.why)}" for s in summary.stale]
    )
    yield from _part(
        "Expired baseline entries", [f"{plain(e.id, 80)}: {plain(e.reason)} ({e.expires})" for e in summary.expired]
    )
    yield from _part("It could not be judged", [plain(row.message) for row in summary.not_begun])
    yield from _part(
        "Errors of the tester's own", [f"{plain(row.where)}: {plain(row.message)}" for row in summary.errors]
    )
    if not summary.complete:
        loose = [f"worker {plain(worker, 40)}: {plain(why)}" for worker, why in summary.unfinished.items()]
        yield from _part("Incomplete run", loose or ["there are no records of it"])


def _part(title: str, items: list[str]) -> Iterator[str]:
    if items:
        yield from ("", f"### {title} ({len(items)})", "")
        yield from listed(items)


def listed(items: Iterable[str]) -> Iterator[str]:
    """A list of items that are Markdown already; not endless."""
    for number, item in enumerate(items):
        if number == MAX_LISTED:
            yield "- and more; see summary.json"
            return
        yield f"- {item}"


def _one(found: Result) -> str:
    """A requirement in one line."""
    fault = found.fault
    times_told = f" ({shown(fault)})" if fault and fault.tried else ""
    level = plain(found.told_as, 20)
    return f"**{plain(found.id, 80)}** {level}: {plain(found.message)}{times_told}"


def _failure(summary: Summary, found: Result, results: Path | None) -> Iterator[str]:
    """A failure to unfold: one block of HTML, without a blank line, so that none of it is read as Markdown."""
    fault = found.fault
    level = _html(found.failed_as or found.requirement.level, 20)
    times_told = f" ({shown(fault)})" if fault and fault.tried else ""
    yield f"<details><summary><b>{_html(found.id, 80)}</b> {level}: {_html(found.message)}{times_told}</summary>"
    yield f"<p>{_html(found.requirement.statement, 1000)}</p>"
    if found.requirement.source:
        yield f"<p>source: {_html(found.requirement.source)}</p>"
    if fault and fault.expected:
        yield f"<p>expected: {_html(fault.expected)}</p>"
    trace = transcript.load(results, found.witness) if results and found.witness else None
    if trace:
        yield "<pre>"
        # One reference at the start keeps a line that would be blank from ending the block.
        yield from (_html(line, 10_000) or "&#32;" for line in transcript.lines(trace))
        yield "</pre>"
    if found.witness:
        yield f"<p><code>{_html(terminal.replay(summary, found.witness, results), 600)}</code></p>"
    yield "</details>"


def _html(text: str, limit: int = 500) -> str:
    return html.escape(printable(text, limit)).replace("`", "&#96;")
