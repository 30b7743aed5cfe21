"""The summary as text for a terminal."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from records.rows import FaultRow
from records.text import printable
from reports import transcript
from reports.often import shown
from reports.result import Result
from reports.summary import COLUMNS, Summary

MAX_IN_FULL: Final = 30
"""Failures that are told with their conversation; the rest in one line each."""
MAX_LISTED: Final = 50
FEW, NAMED = 4, 12
"""So many ids are named in a sentence, and of what is not settled."""
OBSTRUCTED: Final = 0.1
"""Part of all conversations that a known fault has to end to be told as an obstacle."""
MIN_WIDTH: Final = 76
"""Columns that the table by section needs."""
BASES: Final = {
    "text": "what the text demands",
    "derived": "what follows from the text",
    "robustness": "robustness, beyond the text",
}
_SHORT: Final = {"inconclusive": "open", "untestable": "no test", "unsupported": "n/a", "accepted": "known"}
_COLOURS: Final = {"red": "31", "green": "32", "yellow": "33", "dim": "2", "bold": "1"}
_LOUD: Final = {"failed": "red", "error": "red", "warned": "yellow"}
Paint = Callable[[str, str], str]


def render(summary: Summary, width: int = 100, color: bool = False, results: Path | None = None) -> str:
    """The report of one run, at most `width` characters wide (MIN_WIDTH at least), paths and commands apart.

    `results` is where the traces are; without it no conversation is shown. Everything that an implementation or a file
    says is printable; the only escapes are the colours, when `color` is true.
    """
    width = max(MIN_WIDTH, width)

    def paint(text: str, name: str) -> str:
        return f"\x1b[{_COLOURS[name]}m{text}\x1b[0m" if color and text and name else text

    shown = [*_head(summary, paint), "", *_table(summary, width, paint)]
    failed = summary.standing("failed")
    for found in failed[:MAX_IN_FULL]:
        shown += ["", *_failure(summary, found, width, paint, results)]
    if failed[MAX_IN_FULL:]:
        shown += ["", paint(f"{len(failed) - MAX_IN_FULL} more failures", "bold")]
        shown += _listed(failed[MAX_IN_FULL:], width)
    for word, title in (("error", "Errors of the tester's own"), ("warned", "Warnings")):
        found_here = summary.standing(word)
        if found_here:
            shown += ["", paint(f"{title} ({len(found_here)})", "bold"), *_listed(found_here, width, results)]
    unsteady = [found for found in summary.standing("inconclusive") if found.faults and not found.unseen]
    if unsteady:
        title = f"Suspected, not settled, or seen once in a while ({len(unsteady)})"
        shown += ["", paint(title, "bold"), *_listed(unsteady, width, results)]
    shown += _open(summary, width)
    shown += _obstacles(summary, width)
    shown += _freedoms(summary, width)
    shown += _baseline(summary, width, paint)
    shown += _troubles(summary, width, paint)
    shown += ["", *_last(summary, width, paint, results)]
    return "\n".join(shown) + "\n"


def _head(summary: Summary, paint: Paint) -> Iterator[str]:
    run = summary.run
    what = " ".join(printable(part, 80) for part in (run.impl, run.version) if part) or "an implementation"
    claims = ", ".join(printable(part, 80) for part in (run.protocol, run.role, run.profile) if part)
    yield paint(f"Wireproof {printable(run.suite_version, 40)}: {what}", "bold") + (f" ({claims})" if claims else "")
    budget = f", budget {printable(run.budget, 40)}" if run.budget else ""
    partial = ", partial" if run.partial else ""
    yield f"seed {run.seed}{budget}{partial}; {summary.plans} conversations, {summary.steps} steps"


def _open(summary: Summary, width: int) -> list[str]:
    """The requirements of which nothing is known: what judges them did not come about."""
    open_ = [found for found in summary.standing("inconclusive") if not found.faults and not found.unseen]
    shown: list[str] = []
    for title, missed in (("Not settled", False), ("Played, and not reached by this implementation", True)):
        if ids := [found.id for found in open_ if found.missed == missed]:
            shown += _prose("", f"{title} ({len(ids)}): {_named(ids, NAMED)}", width)
    return ["", *shown] if shown else []


def _obstacles(summary: Summary, width: int) -> list[str]:
    """The faults that ended a good part of all conversations, so that little was judged behind them."""
    shown: list[str] = []
    for name, count in summary.obstacles.items():
        if count >= OBSTRUCTED * max(1, summary.plans):
            why = f"{name} ended {count} of {summary.plans} conversations: what lies behind it there was not judged"
            shown += _prose("", why, width)
    return ["", *shown] if shown else []


def _freedoms(summary: Summary, width: int) -> list[str]:
    """The readings of the text without which some conversations would have failed."""
    counts = ", ".join(
        f"{printable(name, 40)} ({count})" for name, count in list(summary.freedoms.items())[:MAX_LISTED]
    )
    return (
        ["", *_prose("", f"Conversations that leaned on a reading of docs/ambiguities.md: {counts}", width)]
        if counts
        else []
    )


def _table(summary: Summary, width: int, paint: Paint) -> Iterator[str]:
    """A row for each section; a block for each basis; the sum at the end. One line where all of it would be empty."""
    if not any(section.counts.get("judged") or section.counts.get("error") for section in summary.sections):
        yield f"none of {len(summary.results)} requirements was judged"
        return
    heads = list(COLUMNS)
    if any(section.counts.get("error") for section in summary.sections):
        heads.append("error")
    longest = max([7, *(len(printable(section.name, 60)) for section in summary.sections)])
    names = {head: head for head in heads}
    if longest + sum(len(head) + 2 for head in heads) > width:
        names = {head: _SHORT.get(head, head) for head in heads}
    cells = sum(len(names[head]) + 2 for head in heads)
    longest = min(longest, max(7, width - cells))

    def row(name: str, counts: dict[str, int]) -> str:
        line = printable(name)[:longest].ljust(longest)
        for head in heads:
            count = counts.get(head, 0)
            cell = f"  {count or '.':>{len(names[head])}}"
            line += paint(cell, _LOUD.get(head, "") if count else "dim")
        return line

    yield paint("section".ljust(longest) + "".join(f"  {names[head]}" for head in heads), "bold")
    total: dict[str, int] = {}
    basis = "text"
    elsewhere: list[int] = []
    for section in summary.sections:
        for head, count in section.counts.items():
            total[head] = total.get(head, 0) + count
        if 0 < sum(section.counts.values()) == section.counts.get("unsupported"):
            elsewhere.append(section.counts["unsupported"])
            continue
        if section.basis != basis:
            basis = section.basis
            yield paint(f"-- {BASES.get(basis, printable(basis, 40))}", "dim")
        yield row(section.name or "(no section)", dict(section.counts))
    if elsewhere:
        yield paint(f"-- {_many(len(elsewhere), 'section')} of other roles and profiles", "dim")
        yield row("not claimed", {"unsupported": sum(elsewhere)})
    yield row("all", total)
    if total.get("unselected"):
        yield f"not selected in this run: {total['unselected']}"
    if names["inconclusive"] != "inconclusive":
        legend = "; ".join(f"{short}: {head}" for head, short in _SHORT.items())
        yield from (paint(line, "dim") for line in textwrap.wrap(legend, width))


def _failure(summary: Summary, found: Result, width: int, paint: Paint, results: Path | None) -> Iterator[str]:
    """Everything about one requirement that fails."""
    fault, requirement = found.fault, found.requirement
    level = found.failed_as or requirement.level
    of = f", section {printable(requirement.section, 60)}" if requirement.section else ""
    weaker = f" (here as {printable(level, 20)})" if level != requirement.level else ""
    yield paint(f"FAIL {printable(found.id, 80)}", "red") + f"  {printable(requirement.level, 20)}{weaker}{of}"
    yield from _prose("", requirement.statement, width)
    yield from _prose("source", requirement.source, width)
    trace = transcript.load(results, found.witness) if results and found.witness else None
    if fault is not None:
        expected = fault.expected or (transcript.text_of(trace, "expected") if trace else "")
        yield from _prose("expected", expected if expected != requirement.statement else "", width)
    yield from _prose("came", found.message, width)
    if fault is not None:
        yield from _prose("seen", seen(fault), width)
        others = [name for name in (fault.requirement, *fault.also) if name != found.id]
        yield from _prose("also breaks", ", ".join(others), width)
        yield from _prose("matters", ", ".join(fault.features), width)
    if trace:
        role = printable(summary.run.role, 20) or "implementation"
        yield paint(f"  conversation (ms; --> tester, <-- {role})", "dim")
        yield from transcript.lines(trace, width)
    if found.witness:
        yield f"  replay       {replay(summary, found.witness, results)}"
        if script := _script(found.witness, results):
            yield f"  script       {script}"
    if len(found.faults) > 1:
        further = _many(len(found.faults) - 1, "further fault")
        yield from _prose("more", f"{further} of this requirement; see the traces", width)


def seen(fault: FaultRow) -> str:
    """How often, how short, and by which property."""
    size = f", {_many(fault.steps, 'step')}" if fault.steps else ""
    return f"{shown(fault, ' times') or 'once'}{size}" + (f", {fault.property}" if fault.property else "")


def _many(count: int, one: str) -> str:
    return f"{count} {one if count == 1 else one + 's'}"


def _prose(label: str, text: str, width: int) -> list[str]:
    """A labelled paragraph; nothing when there is no text."""
    if not text:
        return []
    lead = f"  {label:<12} " if label else "  "
    return textwrap.wrap(
        printable(text, 2000), width, initial_indent=lead, subsequent_indent=" " * len(lead), break_on_hyphens=False
    )


def _listed(found: tuple[Result, ...] | list[Result], width: int, results: Path | None = None) -> Iterator[str]:
    """One entry a result: id, level, what came, how often, and where the conversation is."""
    for entry in found[:MAX_LISTED]:
        fault = entry.fault
        times_told = f" ({shown(fault)})" if fault and fault.tried else ""
        level = printable(entry.told_as, 20)
        yield from _prose("", f"{entry.id}  {level}: {entry.message}{times_told}", width)
        if entry.witness:
            yield f"      {_path(entry.witness, results)}"
    if len(found) > MAX_LISTED:
        yield f"  ... and {len(found) - MAX_LISTED} more; see summary.json"


def _baseline(summary: Summary, width: int, paint: Paint) -> Iterator[str]:
    accepted = summary.standing("accepted")
    if accepted:
        yield ""
        yield paint(f"Known deviations, accepted ({len(accepted)})", "bold")
        for found in accepted:
            entry = found.accepted
            if entry is None:
                continue
            under = f" (under {entry.id})" if entry.id != found.id else ""
            until = f", until {entry.expires.isoformat()}" if entry.expires else ""
            issue = f", {entry.issue}" if entry.issue else ""
            yield from _prose("", f"{found.id}{under}: {entry.reason}{issue}{until}", width)
    if summary.unseen:
        yield ""
        yield paint(
            f"Known deviations, not seen in this run: neither passed nor mended ({len(summary.unseen)})", "bold"
        )
        for found in summary.unseen:
            reason = (
                f"it was accepted as: {found.accepted.reason}" if found.accepted else "a recommendation, missed before"
            )
            yield from _prose("", f"{found.id}: {found.unseen}; {reason}", width)
    yield from _prose("", _renewal(summary), width)
    if summary.left is not None:
        yield ""
        yield from _prose("", f"Looked on for a baseline in {summary.left}", width)
    if summary.stale:
        yield ""
        yield paint(f"STALE BASELINE ({len(summary.stale)}): remove them, or run with --update-baseline", "red")
        for stale in summary.stale:
            yield from _prose("", f"{stale.entry.id}: {stale.why}; it was accepted as: {stale.entry.reason}", width)
    if summary.expired:
        yield ""
        yield paint(f"EXPIRED BASELINE ({len(summary.expired)}): these entries accept nothing any more", "red")
        for entry in summary.expired:
            day = entry.expires.isoformat() if entry.expires else "?"
            yield from _prose("", f"{entry.id}: expired on {day}; it was accepted as: {entry.reason}", width)


def _renewal(summary: Summary) -> str:
    """What to do about entries that say nothing of the sort of failure, or of which no conversation is kept."""
    accepted = [found.accepted for found in (*summary.standing("accepted"), *summary.unseen) if found.accepted]
    if summary.left is not None:
        return ""
    wide = sorted({entry.id for entry in accepted if not entry.fingerprints})
    bare = sorted({entry.id for entry in accepted} - summary.played.keys() - set(wide))
    told = [
        f"{_named(wide)}: any failure of it is accepted, a new one too" * bool(wide),
        f"{_named(bare)}: no conversation is kept that shows it" * bool(bare),
    ]
    return f"{'; '.join(filter(None, told))}: --update-baseline writes what a run can tell" if any(told) else ""


def _named(ids: Sequence[str], most: int = FEW) -> str:
    """So many ids, and how many there are besides."""
    return ", ".join(ids[:most]) + (f" and {len(ids) - most} more" if len(ids) > most else "")


def _troubles(summary: Summary, width: int, paint: Paint) -> Iterator[str]:
    for title, rows in (
        ("IT COULD NOT BE JUDGED", summary.not_begun),
        ("ERRORS OF THE TESTER'S OWN, NOT VERDICTS", summary.errors),
    ):
        if rows:
            yield from ("", paint(title, "red"))
        for row in rows[:MAX_LISTED]:
            named = row.where and rows != summary.not_begun
            yield from _prose("", f"{row.where}: {row.message}" if named else row.message or "unknown", width)
            for line in row.detail.splitlines()[-20:]:
                yield f"    | {printable(line, max(20, width - 6))}"
        if len(rows) > MAX_LISTED:
            yield f"  ... and {len(rows) - MAX_LISTED} more"
    if not summary.complete:
        yield ""
        yield paint("INCOMPLETE RUN: what is missing here was not tried to the end", "red")
        for worker, why in summary.unfinished.items():
            yield f"  worker {printable(worker, 40)}: {printable(why, 200)}"


def _last(summary: Summary, width: int, paint: Paint, results: Path | None) -> Iterator[str]:
    colour = "green" if summary.exit_code == 0 else "red"
    for line in textwrap.wrap(printable(summary.sentence, 1000), width, break_on_hyphens=False):
        yield paint(line, colour)
    if results is not None:
        yield f"results: {printable(str(results), 1000)}"


def replay(summary: Summary, witness: str, results: Path | None) -> str:
    """The command that plays the conversation again, as one types it into a shell."""
    impl = printable(summary.run.asked or summary.run.impl or "IMPL", 200)
    if summary.run.command == "wireproof":
        return f"wireproof replay {_path(witness, results)} --impl={shlex.quote(impl)}"
    # with "=": pytest takes an option's value that exists as a path for something to collect
    return f"pytest --impl={shlex.quote(impl)} --replay={_path(witness, results)}"


def _script(witness: str, results: Path | None) -> str:
    """The command that runs the script of a conversation, or "" where none was written: it reaches servers only."""
    name = witness.removesuffix(".json") + ".py"
    try:
        written = results is not None and (results / name).is_file()
    except (OSError, ValueError):  # a name that no file system takes
        written = False
    return f"python3 {_path(name, results)} HOST:PORT" if written else ""


def _path(name: str, results: Path | None) -> str:
    """A path under the results, quoted for a shell."""
    return shlex.quote(printable(str(results / name) if results is not None else name, 1000))
