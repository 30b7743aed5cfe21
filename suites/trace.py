"""Trace files: the shortest conversation that shows a fault, for people, for `--replay`, and for judging again.

The shape is a contract with the reports (records/, reports/transcript.py, reports/script.py): fields may be added.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from impls.driver.drive import Recording, Setting
from impls.launching.manifest import Implementation
from specs.plan import Close, Control, Plan, Reach, Ref, Say, SendBytes, Step, Wait
from specs.protocol import Protocol
from specs.recorded import event_to_json
from suites.hunt import Fault

SCHEMA = 2
"""Version of a trace file. 2 says what is needed to judge it again: facts, learnt and blamed, and whole events."""
KEEP = 4096
"""Octets of one write or one read that a trace keeps."""


def plan_to_json(plan: Plan, protocol: Protocol) -> dict[str, Any]:
    """A plan as JSON data."""
    return {"features": sorted(plan.features), "steps": [_step_to_json(step, protocol) for step in plan.steps]}


def _step_to_json(step: Step, protocol: Protocol) -> dict[str, Any]:
    if isinstance(step, Say):
        return {
            "do": "say",
            "conn": step.conn,
            "frame": protocol.to_json(step.frame),
            "cuts": list(step.cuts),
            "when": step.when,
            "style": protocol.to_json(step.style),
            **({"upto": step.upto} if step.upto > 1 else {}),
        }
    if isinstance(step, SendBytes):
        parts = (step.data,) if isinstance(step.data, bytes) else step.data
        data = [protocol.to_json(part) if isinstance(part, Ref) else {"hex": part.hex()} for part in parts]
        return {"do": "blurt", "conn": step.conn, "data": data, "when": step.when}
    if isinstance(step, Wait):
        return {"do": "wait", "ms": step.ms}
    if isinstance(step, Control):
        value = protocol.to_json(step.value)
        return {"do": "do", "conn": step.conn, "name": step.name, "value": value, "when": step.when}
    if isinstance(step, Reach):
        return {"do": "reach", "conn": step.conn, "where": protocol.to_json(step.where)}
    return {"do": "hang", "conn": step.conn, "how": step.how}


def plan_from_json(data: Mapping[str, Any], protocol: Protocol) -> Plan:
    """The inverse of `plan_to_json`. Raises KeyError, TypeError or ValueError when the data is something else."""
    return Plan(tuple(_step_from_json(step, protocol) for step in data["steps"]), frozenset(data.get("features", ())))


def _step_from_json(data: Mapping[str, Any], protocol: Protocol) -> Step:
    if data["do"] == "say":
        frame, style = protocol.from_json(data["frame"]), protocol.from_json(data.get("style"))
        return Say(
            data["conn"], frame, tuple(data.get("cuts", ())), data.get("when", "turn"), style, data.get("upto", 1)
        )
    if data["do"] == "blurt":
        parts = tuple(bytes.fromhex(p["hex"]) if "hex" in p else protocol.from_json(p) for p in data["data"])
        return SendBytes(data["conn"], parts, data.get("when", "turn"))
    if data["do"] == "wait":
        return Wait(data["ms"])
    if data["do"] == "hang":
        return Close(data["conn"], data.get("how", "close"))
    if data["do"] == "do":
        return Control(data["conn"], data["name"], protocol.from_json(data.get("value")), data.get("when", "turn"))
    if data["do"] == "reach":
        return Reach(data["conn"], protocol.from_json(data["where"]))
    raise ValueError(f"a plan has no step {data['do']!r}")


def conversation(recording: Recording, protocol: Protocol) -> list[dict[str, Any]]:
    """The events of a recording, as JSON data with the text that people read."""
    return [
        {"ms": round(ms, 2), **event_to_json(event, protocol)}
        for ms, event in zip(recording.stamps, recording.events, strict=True)
    ]


def document(
    fault: Fault, setting: Setting, impl: Implementation, learnt: Mapping[str, Any], run_seed: int, suite: str
) -> dict[str, Any]:
    """The whole trace of a fault. `learnt` is what discovery found out."""
    protocol, recording = setting.protocol, fault.recording
    requirement = protocol.requirements[fault.requirement]
    return {
        "schema": SCHEMA,
        "suite_version": suite,
        "impl": {
            "name": impl.name,
            "version": impl.version,
            "protocol": impl.protocol,
            "role": impl.role,
            "profile": impl.profile,
        },
        "property": fault.property,
        "seed": run_seed,
        "requirement": fault.requirement,
        "level": fault.level,
        "also": list(fault.also),
        "statement": requirement.statement,
        "source": requirement.source,
        "expected": fault.expected,
        "why": fault.why,
        "reproduced": fault.reproduced,
        "tried": fault.tried,
        "features": list(fault.features),
        "deciding": fault.deciding,
        "plan": plan_to_json(fault.plan, protocol),
        "config": _plain(asdict(setting.config)),
        "facts": _plain(dict(impl.facts)),
        "learnt": _plain(dict(learnt)),
        "set_aside": sorted(fault.set_aside),
        "fingerprint": fault.fingerprint(),
        "sort": fault.sort,
        "always": fault.steady,
        "verdict": fault.verdict,
        "took_ms": round(recording.took_s * 1000),
        "blamed": _blamed(recording, fault.deciding),
        "conversation": conversation(recording, protocol),
        "wire": [
            {"ms": round(ms, 2), "conn": conn, "dir": what.replace(" ", "-"), "hex": data[:KEEP].hex()}
            for ms, conn, what, data in recording.wire
        ],
        "script": _script(recording, protocol),
    }


def _plain(data: Any) -> Any:
    return json.loads(json.dumps(data, default=sorted))


def _blamed(recording: Recording, deciding: int) -> list[str]:
    """What the model itself blamed at the deciding event; the report may name a cause behind it instead."""
    blames = [blame.breach for blame in recording.judgement.faults if blame.at == deciding]
    return sorted({name for breach in blames for name in (breach.requirement, *breach.also)})


def _script(recording: Recording, protocol: Protocol) -> list[dict[str, Any]]:
    """The same conversation as writes, pauses and closes; what was learnt on the way is matched out of what comes.

    A write before which something had been received waited for its turn; one that followed another at once did not.
    """
    steps: list[dict[str, Any]] = []
    heard = True
    for _, conn, what, data in recording.wire:
        if what == "sent":
            parts = _parts(data, recording, conn, protocol)
            steps.append({"do": "send", "conn": conn, "when": "turn" if heard else "now", "parts": parts})
            heard = False
        elif what == "received":
            heard = True
        elif what == "closed by us":
            steps.append({"do": "close", "conn": conn})
        elif what == "reached":
            steps.append({"do": "reach", "conn": conn, "where": data.decode("utf-8", "replace")})
    return [*steps, {"do": "wait", "ms": 500}]


def _parts(data: bytes, recording: Recording, conn: int, protocol: Protocol) -> list[dict[str, Any]]:
    """One write. What the implementation had made up (an acknowledgement id) is taken from the replay's own answers."""
    if protocol.replayed is None:
        return [{"hex": data.hex()}]
    received = b"".join(octets for _, c, what, octets in recording.wire if what == "received" and c == conn)
    parts = protocol.replayed(data, received)
    return [{"hex": p.hex()} if isinstance(p, bytes) else {"match": p[0], "nth": p[1]} for p in parts]


def save(trace: Mapping[str, Any], results: Path, number: int = 1) -> str:
    """Write a trace to results/traces; answers its path relative to `results`. `number`: which one of its
    requirement."""
    folder = results / "traces"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (f"{trace['requirement']}.json" if number == 1 else f"{trace['requirement']}-{number}.json")
    part = path.with_suffix(".part")
    part.write_text(json.dumps(trace, indent=1), encoding="ascii")
    part.replace(path)
    return str(path.relative_to(results))
