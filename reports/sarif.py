"""SARIF 2.1.0: what a run found wrong, for the machines that show findings beside code.

Requirements are the rules, failures the results. What passed or could not be judged is no result: readers of SARIF
take every result for a finding. A failure that the baseline accepts is a result that is suppressed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from records.text import printable
from reports import terminal
from reports.result import Result, rank
from reports.summary import Summary

SCHEMA_URI: Final = "https://json.schemastore.org/sarif-2.1.0.json"
MAX_TEXT: Final = 2000
_LEVELS: Final = ("error", "warning", "warning", "note")
"""By rank: MUST, SHOULD, ASSUMED, MAY."""
_SHOWN: Final = ("failed", "warned", "accepted")


def render(summary: Summary, results: Path | None = None) -> str:
    """The log of one run, as ASCII. `results` is where the traces are, for the command that replays a failure."""
    text = json.dumps({"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [_run(summary, results)]}, indent=1)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026") + "\n"


def _run(summary: Summary, results: Path | None) -> dict[str, Any]:
    run = summary.run
    names = [printable(text, 120) or "-" for text in (run.protocol, run.role, run.profile, run.impl)]
    places = {found.id: place for place, found in enumerate(summary.results)}
    driver = {
        "name": "Wireproof",
        "version": printable(run.suite_version, 80) or "unknown",
        "rules": [_rule(found, summary.strict) for found in summary.results],
    }
    return {
        "tool": {"driver": driver},
        "automationDetails": {"id": "/".join(["wireproof", *(name.replace("/", "-") for name in names), ""])},
        "invocations": [_invocation(summary)],
        "results": [
            _result(summary, found, places[found.id], results) for found in summary.results if found.standing in _SHOWN
        ],
        "columnKind": "unicodeCodePoints",
        "properties": {
            "run": printable(run.run, 200),
            "implementation": printable(run.impl, 200),
            "implementationVersion": printable(run.version, 200),
            "protocol": printable(run.protocol, 80),
            "role": printable(run.role, 80),
            "profile": printable(run.profile, 80),
            "verdict": summary.verdict,
            "seed": run.seed,
            "complete": summary.complete,
            "partial": run.partial,
        },
    }


def _rule(found: Result, strict: bool) -> dict[str, Any]:
    told = found.requirement
    statement = printable(told.statement, MAX_TEXT) or "Not in the list of requirements."
    source = printable(told.source, MAX_TEXT)
    return {
        "id": printable(told.id, 200),
        "shortDescription": {"text": statement},
        "help": {"text": f"{statement} Source: {source}" if source else statement},
        "defaultConfiguration": {"level": _level(told.level, strict)},
        "properties": {
            "level": printable(told.level, 40),
            "section": printable(told.section, 200),
            "basis": printable(told.basis, 80),
        },
    }


def _result(summary: Summary, found: Result, place: int, results: Path | None) -> dict[str, Any]:
    level = found.failed_as or found.requirement.level
    fault, run = found.fault, summary.run
    told = [f"{printable(level, 40)}: {printable(found.message, MAX_TEXT) or 'fails'}"]
    if fault and fault.expected:
        told.append(f"Expected: {printable(fault.expected, MAX_TEXT)}")
    if fault and fault.tried:
        told.append(printable(terminal.seen(fault), MAX_TEXT))
    if found.witness and results is not None:
        told.append(f"Replay: {terminal.replay(summary, found.witness, results)}")
    name = printable(run.impl, 200) or "implementation"
    where: dict[str, Any] = {"logicalLocations": [{"name": name, "kind": "module"}]}
    if found.witness:
        where["physicalLocation"] = {"artifactLocation": {"uri": _uri(found.witness), "uriBaseId": "RESULTS"}}
    made: dict[str, Any] = {
        "ruleId": printable(found.id, 200),
        "ruleIndex": place,
        "kind": "fail",
        "level": _level(level, summary.strict),
        "message": {"text": "\n".join(told)},
        "locations": [where],
        "partialFingerprints": {"requirement/v1": _fingerprint(summary, found)},
        "properties": {"standing": found.standing, "judged": found.judged, "exercised": found.exercised},
    }
    if found.accepted:
        reason = f"{found.accepted.reason} {found.accepted.issue}".strip()
        made["suppressions"] = [
            {
                "kind": "external",
                "status": "accepted",
                "justification": printable(reason, MAX_TEXT) or "in the baseline",
            }
        ]
    return made


def _level(level: str, strict: bool) -> str:
    """The level of a result; with `strict` a recommendation that is missed decides as well."""
    return "error" if strict and rank(level) == 1 else _LEVELS[rank(level)]


def _invocation(summary: Summary) -> dict[str, Any]:
    told = [_notification("stale baseline entry", f"{s.entry.id}: {s.why}", "error") for s in summary.stale]
    told += [_notification("expired baseline entry", f"{e.id}: {e.reason}", "error") for e in summary.expired]
    told += [_notification(row.where, row.message or "unknown", "error") for row in summary.troubles]
    if not summary.complete:
        told.append(_notification("run", "the run is incomplete", "warning"))
    made: dict[str, Any] = {
        "executionSuccessful": summary.complete and not summary.troubles,
        "exitCode": summary.exit_code,
        "toolExecutionNotifications": told,
    }
    began = _moment(summary.run.at)
    return made | ({"startTimeUtc": began} if began else {})


def _notification(where: str, message: str, level: str) -> dict[str, Any]:
    place = printable(where, 200)
    text = printable(message, MAX_TEXT)
    return {"level": level, "message": {"text": f"{place}: {text}" if place else text}}


def _moment(text: str) -> str:
    """A moment as SARIF writes it; empty when it is none."""
    try:
        found = datetime.fromisoformat(text)
        found = (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    return f"{found.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def _uri(path: str) -> str:
    return quote(path.replace("\\", "/").encode("utf-8", "surrogatepass"), safe="/")[:MAX_TEXT]


def _fingerprint(summary: Summary, found: Result) -> str:
    """The same for the same failure of the same implementation in every run."""
    run = summary.run
    parts: Mapping[str, str] = {"protocol": run.protocol, "role": run.role, "impl": run.impl, "requirement": found.id}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
