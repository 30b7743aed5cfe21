"""summary.json: a run's verdicts for machines. Fields may be added, never changed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from records.text import printable
from reports.left import Left
from reports.result import Acceptance, Result
from reports.summary import Summary

SCHEMA: Final = 1


def document(summary: Summary) -> dict[str, object]:
    """The summary as plain data. Text from elsewhere is printable."""
    run = summary.run
    impl = {name: printable(getattr(run, name)) for name in ("protocol", "role", "profile", "version")}
    return {
        "schema": SCHEMA,
        "run": run.run,
        "at": printable(run.at),
        "impl": {"name": printable(run.impl), **impl},
        "suite_version": printable(run.suite_version),
        "seed": run.seed,
        "budget": printable(run.budget),
        "strict": summary.strict,
        "partial": run.partial,
        "complete": summary.complete,
        "verdict": summary.verdict,
        "exit_code": summary.exit_code,
        "sentence": printable(summary.sentence),
        "counts": dict(summary.counts),
        "plans": summary.plans,
        "steps": summary.steps,
        "sections": [
            {"name": printable(section.name), "basis": printable(section.basis), **section.counts}
            for section in summary.sections
        ],
        "requirements": {printable(found.id): _result(found) for found in summary.results},
        "freedoms": {printable(name): count for name, count in summary.freedoms.items()},
        "obstacles": {printable(name): count for name, count in summary.obstacles.items()},
        "stale": {printable(entry.entry.id): entry.why for entry in summary.stale},
        "expired": {printable(entry.id): _deviation(entry) for entry in summary.expired},
        "unfinished": {printable(worker): printable(why) for worker, why in summary.unfinished.items()},
        "left": _left(summary.left) if summary.left else None,
        "troubles": [
            {"where": printable(row.where), "message": printable(row.message), "detail": printable(row.detail, 4000)}
            for row in summary.troubles
        ],
    }


def _result(found: Result) -> Mapping[str, object]:
    fault = found.fault
    return {
        "level": printable(found.requirement.level),
        "verdict": found.verdict,
        "judged": found.judged,
        "exercised": found.exercised,
        "message": printable(found.message),
        "witness": printable(found.witness) if found.witness else None,
        "section": printable(found.requirement.section),
        "basis": printable(found.requirement.basis),
        "standing": found.standing,
        "failed_as": printable(found.failed_as) if found.failed_as else None,
        "faults": len(found.faults),
        "reproduced": fault.reproduced if fault else None,
        "tried": fault.tried if fault else None,
        "shown": fault.shown if fault and fault.chances else None,
        "chances": fault.chances if fault and fault.chances else None,
        "deviation": _deviation(found.accepted) if found.accepted else None,
        "unseen": {"judged": found.unseen.judged, "replayed": found.unseen.replayed} if found.unseen else None,
    }


def _left(left: Left) -> Mapping[str, object]:
    """What a run that made a baseline estimates to be left to find."""
    numbers = {name: getattr(left, name) for name in ("rounds", "plans", "sorts", "once", "twice", "quiet")}
    return {**numbers, "unknown": round(left.unknown, 3), "next_round": round(left.next_round, 3)}


def _deviation(entry: Acceptance) -> Mapping[str, object]:
    return {
        "id": printable(entry.id),
        "reason": printable(entry.reason),
        "issue": printable(entry.issue),
        "expires": entry.expires.isoformat() if entry.expires else None,
    }


def to_json(summary: Summary) -> str:
    """summary.json's text: ASCII, and safe inside a page, since no `<`, `>` or `&` is left as it is."""
    text = json.dumps(document(summary), indent=1)
    # These three stand only inside strings in JSON, where the escape means the same.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026") + "\n"


def write(summary: Summary, results: Path) -> Path:
    """Write `results`/summary.json, whole or not at all; answers its path. Raises OSError."""
    results.mkdir(parents=True, exist_ok=True)
    path = results / "summary.json"
    draft = results / f".summary.{os.getpid()}.tmp"
    try:
        draft.write_text(to_json(summary), encoding="ascii")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return path
