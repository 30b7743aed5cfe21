"""summary.md: the overview for a chat, a mail or the page of a build."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reports.markdown import plain
from reports.site.book import Book
from reports.tables import Change

MAX_CHANGES: Final = 50
"""Changes of one kind that are listed."""
MAX_IMPLEMENTATIONS: Final = 500
_TITLES: Final = {"regression": "Regressions", "lost": "Lost judgements", "repair": "Repairs"}


def render(book: Book) -> str:
    """The summary of the whole site. Nothing that an implementation says can act as Markdown in it."""
    return "\n".join(_lines(book)) + "\n"


def _lines(book: Book) -> Iterator[str]:
    report = book.report
    yield f"## Wireproof: {plain(book.status()[1])}"
    yield ""
    yield (
        f"Built {plain(report.built, 40)}. {report.total_runs} runs, {report.incomplete_runs} incomplete; "
        f"{len(report.flickers)} flickering verdicts; {report.quarantined_total} records in quarantine; "
        f"{len(report.stale)} stale baseline entries; {len(book.rejudged_changes)} verdicts changed on re-judging."
    )
    for kind, title in _TITLES.items():
        changes = book.changes.get(kind, [])
        if changes:
            yield from ("", f"### {title} ({len(changes)})", "")
            yield from (_change(book, change) for change in changes[:MAX_CHANGES])
        if len(changes) > MAX_CHANGES:
            yield f"- and {len(changes) - MAX_CHANGES} more"
    implementations = list(book.implementations.values())
    if implementations:
        yield from ("", "### Implementations", "")
        yield "| implementation | version | protocol and role | verdict | failed | warned | accepted | open | passed |"
        yield "|---|---|---|---|---:|---:|---:|---:|---:|"
    for i in implementations[:MAX_IMPLEMENTATIONS]:
        counts = [i.counts.get(word, 0) for word in ("failed", "warned", "accepted", "inconclusive", "passed")]
        verdict = i.verdict if i.run is None or i.run.complete else f"{i.verdict}, incomplete"
        told = [book.name(i.slug), i.version, f"{i.protocol} {i.role} {i.profile}", verdict]
        yield f"| {' | '.join(plain(text, 80) for text in told)} | {' | '.join(map(str, counts))} |"
    if len(implementations) > MAX_IMPLEMENTATIONS:
        yield from ("", f"And {len(implementations) - MAX_IMPLEMENTATIONS} more implementations.")


def _change(book: Book, change: Change) -> str:
    told = f"{plain(change.before, 40)} → {plain(change.after, 40)}"
    message = f": {plain(change.message, 200)}" if change.message else ""
    name = f"**{plain(change.requirement, 90)}** {plain(change.level, 20)}"
    return f"- {name}, {plain(book.name(change.slug), 80)}, {told}{message}"
