"""Two results beside each other: `python -m reports compare OLD NEW`, for the summary of a pull request.

OLD and NEW are folders that `--results` named, or folders that hold several of them. What is told is what differs:
requirements that newly fail, are mended, newly judged, or judged no longer. Exit status: 0 nothing got worse; 1 it did;
4 the arguments are wrong.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NoReturn

from records import reader
from records.rows import RecordError
from records.text import printable
from reports.document import document
from reports.markdown import listed, plain
from reports.summary import baseline, fold

WRONG: Final = 4
MAX_OCTETS: Final = 64 << 20
"""Octets of a summary that are read."""
MAX_RUNS: Final = 1_000
"""Results in one folder."""
JUDGED: Final = ("passed", "failed", "warned", "accepted")
"""Standings of a requirement about which a run could say something."""


class CannotCompare(Exception):
    """What the arguments name cannot be compared; says why, and what to give."""


@dataclass(frozen=True, slots=True)
class Row:
    """One requirement in one run. `unseen`: the baseline says that it fails, and in this run it did not."""

    level: str = ""
    standing: str = ""
    message: str = ""
    unseen: bool = False


NOT_LISTED: Final = Row()


@dataclass(frozen=True, slots=True)
class Told:
    """What a summary says of one run."""

    name: str
    protocol: str
    role: str
    profile: str
    version: str
    budget: str
    verdict: str
    sentence: str
    rows: Mapping[str, Row] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The implementation, for people."""
        return " ".join(part for part in (self.name, self.protocol, self.role) if part) or "an implementation"

    @property
    def judged(self) -> int:
        """How many requirements could be judged."""
        return sum(row.standing in JUDGED for row in self.rows.values())


@dataclass(frozen=True, slots=True)
class Change:
    """A requirement that stands otherwise in the new run."""

    id: str
    before: Row
    after: Row


Is = Callable[[Row, Row], bool]


def _newly_failing(before: Row, after: Row) -> bool:
    return after.standing == "failed" and before.standing != "failed"


def _mended(before: Row, after: Row) -> bool:
    return after.standing == "passed" and before.standing in ("failed", "warned", "accepted")


def _newly_accepted(before: Row, after: Row) -> bool:
    return after.standing == "accepted" and before.standing != "accepted" and not before.unseen


def _newly_warned(before: Row, after: Row) -> bool:
    return after.standing == "warned" and before.standing not in ("failed", "warned", "accepted")


def _newly_judged(before: Row, after: Row) -> bool:
    return after.standing == "passed" and before.standing not in JUDGED and not before.unseen


def _unseen(before: Row, after: Row) -> bool:
    return after.unseen and not before.unseen


def _no_longer_judged(before: Row, after: Row) -> bool:
    return before.standing in JUDGED and after.standing not in JUDGED and not after.unseen


KINDS: Final[Mapping[str, Is]] = {
    "Newly failing": _newly_failing,
    "Mended": _mended,
    "Newly seen to fail, and accepted by the baseline": _newly_accepted,
    "Recommendations newly missed": _newly_warned,
    "Newly judged": _newly_judged,
    "No longer judged": _no_longer_judged,
    "Known deviations that did not show this time": _unseen,
}
"""What is told, in this order; each change is told under the first that it is."""
REGRESSION: Final = "Newly failing"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One implementation in both; None where it is in one only."""

    old: Told | None
    new: Told | None

    @property
    def changes(self) -> dict[str, list[Change]]:
        """What differs, by kind; only kinds of which there is something."""
        found: dict[str, list[Change]] = {kind: [] for kind in KINDS}
        for name in dict.fromkeys((*_rows(self.new), *_rows(self.old))):
            before, after = _rows(self.old).get(name, NOT_LISTED), _rows(self.new).get(name, NOT_LISTED)
            kind = next((kind for kind, holds in KINDS.items() if holds(before, after)), "")
            if kind:
                found[kind].append(Change(name, before, after))
        return {kind: changes for kind, changes in found.items() if changes}

    @property
    def worse(self) -> str:
        """Why the new results are worse than the old ones; empty when they are not."""
        if self.old is None:
            return "it is new here, and does not pass" if self.new is not None and self.new.verdict != "pass" else ""
        if self.new is None:
            return "it was judged before, and these results do not have it"
        if self.new.verdict in ("error", "inconclusive") and self.old.verdict in ("pass", "fail"):
            return f"the new run came to no verdict: {self.new.sentence}"
        failing = len(self.changes.get(REGRESSION, ()))
        return f"{failing} newly failing" if failing else ""


def _rows(told: Told | None) -> Mapping[str, Row]:
    return told.rows if told is not None else {}


# --- reading ----------------------------------------------------------------------------------------------------------


def load(folder: Path) -> list[Told]:
    """What the results in a folder say: its own, or those of the folders below it. Raises CannotCompare."""
    if not folder.is_dir():
        raise CannotCompare(f"there is no folder {printable(str(folder))!r}; give one that --results named")
    if _is_result(folder):
        return [_told(folder)]
    below = [each for each in sorted(folder.rglob("*")) if each.is_dir() and _is_result(each)]
    if not below:
        raise CannotCompare(f"no results are in {printable(str(folder))!r}; give a folder that --results named")
    if len(below) > MAX_RUNS:
        raise CannotCompare(f"{printable(str(folder))!r} holds {len(below)} results; give one with {MAX_RUNS} at most")
    return [_told(each) for each in below]


def _is_result(folder: Path) -> bool:
    return (folder / "summary.json").is_file() or any((folder / "records").glob("*.jsonl"))


def _told(folder: Path) -> Told:
    path = folder / "summary.json"
    try:
        if not path.is_file():
            return _of(_folded(folder))
        if path.stat().st_size > MAX_OCTETS:
            raise CannotCompare(f"{printable(str(path))!r} is larger than {MAX_OCTETS} octets, so it is no summary")
        return _of(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError, AttributeError, RecursionError, RecordError) as error:
        why = printable(f"{type(error).__name__}: {error}", 200)
        raise CannotCompare(f"{printable(str(path))!r} is no summary of a run ({why}); run it again") from None


def _folded(folder: Path) -> Any:
    """The summary of the newest run whose records are there: that of a killed run was not written."""
    rows = reader.read(folder).latest()
    if not rows:
        raise ValueError("there is neither a summary nor a record")
    strict = any(getattr(row, "strict", False) for row in rows)
    return document(fold(rows, baseline(rows), strict, datetime.now(UTC).date()))


def _of(given: Any) -> Told:
    impl = given["impl"] if isinstance(given.get("impl"), dict) else {}
    rows = {str(name): _row(row) for name, row in given["requirements"].items()}
    said = {name: printable(str(impl.get(name, "")), 80) for name in ("name", "protocol", "role", "profile", "version")}
    return Told(
        **said, budget=printable(str(given.get("budget", "")), 40), verdict=str(given["verdict"]),
        sentence=printable(str(given.get("sentence", "")), 1000), rows=rows,
    )  # fmt: skip


def _row(row: Any) -> Row:
    return Row(
        level=str(row.get("failed_as") or row.get("level", "")),
        standing=str(row["standing"]),
        message=str(row.get("message", "")),
        unseen=row.get("unseen") is not None,
    )


# --- pairing ----------------------------------------------------------------------------------------------------------


def paired(old: Sequence[Told], new: Sequence[Told]) -> list[Comparison]:
    """Implementations of the same name, protocol, role and profile beside each other; then those that are the only ones
    left of their name, protocol and role, or of their protocol and role."""
    pairs: list[Comparison] = []
    old_left, new_left = list(old), list(new)
    for parts in (("name", "protocol", "role", "profile"), ("name", "protocol", "role"), ("protocol", "role")):
        olds, news = _by(old_left, parts), _by(new_left, parts)
        for key in news.keys() & olds.keys():
            if len(news[key]) == len(olds[key]) == 1:
                pairs.append(Comparison(olds[key][0], news[key][0]))
                old_left.remove(olds[key][0])
                new_left.remove(news[key][0])
    pairs += [Comparison(None, each) for each in new_left] + [Comparison(each, None) for each in old_left]
    return sorted(pairs, key=_title)


def _by(told: Sequence[Told], parts: Sequence[str]) -> dict[tuple[str, ...], list[Told]]:
    found: dict[tuple[str, ...], list[Told]] = {}
    for each in told:
        found.setdefault(tuple(getattr(each, part) for part in parts), []).append(each)
    return found


def _title(pair: Comparison) -> str:
    told = pair.new or pair.old
    return told.title if told is not None else ""


# --- telling ----------------------------------------------------------------------------------------------------------


def render(pairs: Sequence[Comparison]) -> str:
    """What changed, as GitHub-flavoured Markdown."""
    lines: list[str] = ["## Wireproof: what changed", ""]
    for pair in pairs:
        lines += [*_pair(pair), ""]
    return "\n".join(lines).rstrip() + "\n"


def _pair(pair: Comparison) -> Iterator[str]:
    yield f"### {plain(_title(pair), 200)}"
    yield ""
    if pair.worse:
        yield f"**Worse**: {plain(pair.worse, 800)}."
    else:
        yield "Nothing got worse." if pair.changes else "Nothing changed."
    yield ""
    yield from _heads(pair)
    for kind, changes in pair.changes.items():
        yield from ("", f"#### {kind} ({len(changes)})", "")
        yield from listed(_one(kind, change) for change in changes)


def _heads(pair: Comparison) -> Iterator[str]:
    yield "| | verdict | judged | version | profile | budget |"
    yield "|---|---|---:|---|---|---|"
    for word, told in (("old", pair.old), ("new", pair.new)):
        if told is not None:
            said = (told.verdict, str(told.judged), told.version, told.profile, told.budget)
            yield f"| {word} | " + " | ".join(plain(each, 80) for each in said) + " |"
    if pair.old is None or pair.new is None:
        return
    if pair.new.judged < pair.old.judged:
        yield ""
        fewer = pair.old.judged - pair.new.judged
        yield f"The new run judged {pair.new.judged} requirements, {fewer} fewer than the old."
    for part in ("profile", "budget"):
        if getattr(pair.old, part) != getattr(pair.new, part):
            yield ""
            yield f"The {part} is not the same, so that what is judged may differ for that reason."


def _one(kind: str, change: Change) -> str:
    """A requirement in one line: where it stood, and what came."""
    shown = change.before if kind == "Mended" else change.after
    told = f": {plain(shown.message)}" if shown.message else ""
    was = f" (was {plain(change.before.standing, 40)})" if change.before.standing else ""
    return f"**{plain(change.id, 80)}** {plain(shown.level, 20)}{told}{was}"


# --- the command ------------------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """One whose complaint ends with the exit status that this project gives wrong arguments."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG, f"{self.prog}: {message}; write {self.prog} OLD NEW, two folders of results\n")


def main(argv: Sequence[str], prog: str = "python -m reports compare") -> int:
    """Compare two results; answers the exit status."""
    parser = _Parser(prog=prog, description="What changed between two results.")
    parser.add_argument(
        "old", type=Path, metavar="OLD", help="a folder that --results named, or one that holds several"
    )
    parser.add_argument("new", type=Path, metavar="NEW", help="the same of the newer run")
    try:
        chosen = parser.parse_args(list(argv))
    except SystemExit as ended:  # --help ends with 0
        return ended.code if isinstance(ended.code, int) else WRONG
    try:
        pairs = paired(load(chosen.old), load(chosen.new))
    except CannotCompare as error:
        sys.stderr.write(f"{prog}: {error}\n")
        return WRONG
    text = render(pairs)
    # whoever reads it in a terminal reads no Markdown: there nothing can act as markup
    sys.stdout.write(html.unescape(text) if sys.stdout.isatty() else text)
    step = os.environ.get("GITHUB_STEP_SUMMARY")
    if step:
        with Path(step).open("a", encoding="utf-8") as file:
            file.write(text + "\n")
    return 1 if any(pair.worse for pair in pairs) else 0
