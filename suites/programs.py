"""The shortest conversations of a baseline's entries: NAME.baseline.json, beside the manifest NAME.toml.

`--update-baseline` writes one for each sort of failure that it accepts, and for the recommendations that were missed. A
run plays them before anything else, so that a known failure is seen each time, and an entry is called stale by its own
conversation and not by luck. The file is meant to be read, and kept with the manifest under version control.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Final

from records.text import printable
from reports.result import Acceptance, sort_of
from reports.summary import Summary
from specs.plan import Plan
from specs.protocol import Protocol
from suites.pursuit import Fault
from suites.trace import plan_from_json, plan_to_json

SCHEMA: Final = 1
MAX_OCTETS: Final = 8 << 20
"""Octets of a file."""
MAX_PROGRAM: Final = 64 << 10
"""Characters of one conversation; a longer one is not kept."""
MAX_PROGRAMS: Final = 1_000
WHAT: Final = (
    "The shortest conversation for each known deviation, written by --update-baseline and played first by each run."
)


class ProgramsError(Exception):
    """The file is not what --update-baseline writes; names the file and says what to do."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One conversation, and what it shows: a failure of `requirement` at `level`, of the sort `fingerprint`, which the
    model itself calls `sort`. It was `shown` in `tried` plays; `always`: counts only if each play shows it.
    It took `took_ms`. `suspected`: it has not been confirmed, so that showing it again is no proof."""

    requirement: str
    fingerprint: str
    sort: str
    level: str
    also: tuple[str, ...]
    why: str
    found_by: str
    plan: Plan
    set_aside: frozenset[str] = frozenset()
    always: bool = False
    suspected: bool = False
    shown: int = 0
    tried: int = 0
    took_ms: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from others: one is kept for each sort of failure."""
        return self.requirement, sort_of(self.fingerprint)


def path_of(manifest: Path) -> Path:
    """Where the conversations of a manifest or of a file of deviations are kept."""
    return manifest.with_name(f"{manifest.stem}.baseline.json")


def of_fault(fault: Fault) -> Stored:
    """The shortest conversation of a fault that was found."""
    return Stored(
        requirement=fault.requirement, fingerprint=fault.fingerprint(), sort=fault.sort, level=fault.level,
        also=fault.also, why=fault.why, found_by=fault.property, plan=fault.plan, set_aside=fault.set_aside,
        always=fault.steady, suspected=fault.verdict != "fail", shown=fault.reproduced, tried=fault.tried,
        took_ms=round(fault.recording.took_s * 1000),
    )  # fmt: skip


def joined(kept: Iterable[Stored], found: Iterable[Stored]) -> list[Stored]:
    """The conversations that are kept with those found since then: one for each sort of failure, and what is confirmed
    in place of what is only suspected."""
    all_of_them = {each.key: each for each in kept}
    for each in found:
        before = all_of_them.get(each.key)
        if before is None or before.suspected:
            all_of_them[each.key] = each
    return list(all_of_them.values())


def trusted(each: Stored, accepted: Mapping[str, Acceptance], decisive: Set[str], today: date) -> Stored:
    """The conversation as it is, where what it shows decides nothing or is accepted; else as one that is only
    suspected: what decides a run is confirmed in that run."""
    entry = accepted.get(each.requirement)
    known = entry is not None and not entry.expired(today) and entry.accepts_sort(each.fingerprint)
    return each if known or each.level not in decisive else replace(each, suspected=True)


# --- reading ----------------------------------------------------------------------------------------------------------


def load(path: Path, protocol: Protocol) -> list[Stored]:
    """The conversations in a file; none where there is no file. Those that this release cannot play are left out.
    Raises ProgramsError."""
    if not path.exists():
        return []
    remedy = "run --update-baseline, which writes it anew, or remove it"
    try:
        given = _listed(path)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        why = printable(f"{type(error).__name__}: {error}", 200)
        raise ProgramsError(f"{path}: these are no conversations of a baseline ({why}); {remedy}") from None
    return list(_playable(given, protocol))


def _listed(path: Path) -> list[Any]:
    if path.stat().st_size > MAX_OCTETS:
        raise ValueError(f"it is larger than {MAX_OCTETS} octets")
    document = json.loads(path.read_text("utf-8"))
    if document["schema"] > SCHEMA:
        raise ValueError(f"schema {document['schema']!r} is of a newer release than this one")
    given = document["programs"]
    if not isinstance(given, list) or len(given) > MAX_PROGRAMS:
        raise ValueError(f"`programs` is not a list of at most {MAX_PROGRAMS}")
    return given


def _playable(given: Iterable[Any], protocol: Protocol) -> Iterator[Stored]:
    for each in given:
        try:
            yield stored(each, protocol)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue  # its entry has no conversation then, which the summary says


def stored(given: Mapping[str, Any], protocol: Protocol) -> Stored:
    """A conversation as a file or a trace has it. Raises KeyError, TypeError or ValueError when it is none."""
    name = given["requirement"]
    if name not in protocol.requirements:
        raise ValueError(f"{name!r} is no requirement")
    return Stored(
        requirement=name,
        fingerprint=str(given.get("fingerprint", "")),
        sort=str(given.get("sort", "")),
        level=str(given["level"]),
        also=tuple(map(str, given.get("also", ()))),
        why=str(given.get("why", "")),
        found_by=str(given.get("property", "")),
        plan=plan_from_json(given["plan"], protocol),
        set_aside=frozenset(map(str, given.get("set_aside", ()))),
        always=given.get("always") is True,
        suspected=given.get("suspected") is True or given.get("verdict", "fail") != "fail",
        shown=int(given.get("shown", 0)),
        tried=int(given.get("tried", 0)),
        took_ms=int(given.get("took_ms", 0)),
    )


def renewed(before: Iterable[Stored], summary: Summary, results: Path, protocol: Protocol) -> list[Stored]:
    """What is kept after a run that made a baseline: the conversations of the failures that it saw, as their traces
    tell them, and of those that it did not see and that stay in the baseline."""
    listed = summary.failing.keys() | {found.id for found in (*summary.standing("warned"), *summary.unseen)}
    kept = {each.key: each for each in before if each.requirement in listed}
    faults = [fault for found in summary.results if found.id in listed for fault in found.faults if fault.trace]
    for fault in faults:
        path = results / fault.trace
        if fault.requirement in listed and path.resolve().is_relative_to(results.resolve()) and path.is_file():
            try:
                each = stored(json.loads(path.read_text("utf-8")), protocol)
            except (ValueError, KeyError, TypeError, AttributeError):
                continue  # a conversation of which the trace cannot say all
            kept[each.key] = replace(each, shown=fault.reproduced, tried=fault.tried)
    return list(kept.values())


# --- writing ----------------------------------------------------------------------------------------------------------


def written(programs: Sequence[Stored], protocol: Protocol) -> str:
    """The file: the conversations by requirement, a line for each step."""
    texts = [_text(each, protocol) for each in sorted(programs, key=lambda each: (each.requirement, each.fingerprint))]
    kept = [text for text in texts if len(text) <= MAX_PROGRAM][:MAX_PROGRAMS]
    size = 0
    for number, text in enumerate(kept):
        size += len(text) + 2
        if size > MAX_OCTETS - len(WHAT) - 200:
            kept = kept[:number]
            break
    head = f' "schema": {SCHEMA},\n "what": {json.dumps(WHAT)},\n'
    return "{\n" + head + ' "programs": [' + ",".join(f"\n{text}" for text in kept) + "\n ]\n}\n"


def _text(each: Stored, protocol: Protocol) -> str:
    said = {
        "requirement": each.requirement,
        "level": each.level,
        "why": printable(each.why, 400),
        "fingerprint": each.fingerprint,
        "sort": each.sort,
        "also": list(each.also),
        "property": each.found_by,
        "always": each.always,
        "suspected": each.suspected,
        "shown": each.shown,
        "tried": each.tried,
        "took_ms": each.took_ms,
        "set_aside": sorted(each.set_aside),
    }
    plan = plan_to_json(each.plan, protocol)
    lines = [f"   {json.dumps(name)}: {json.dumps(value)},\n" for name, value in said.items() if value]
    steps = ",\n".join(f"    {json.dumps(step)}" for step in plan["steps"])
    features = json.dumps(plan["features"])
    return "  {\n" + "".join(lines) + f'   "plan": {{"features": {features}, "steps": [\n{steps}\n   ]}}\n  }}'


def save(path: Path, programs: Sequence[Stored], protocol: Protocol) -> None:
    """Write the file, whole or not at all; without conversations there is none. Raises OSError."""
    if not programs:
        path.unlink(missing_ok=True)
        return
    draft = path.with_name(f".{path.name}.tmp")
    try:
        draft.write_text(written(programs, protocol), encoding="ascii")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
