"""Why a status is missing, from what was printed in its place."""

from __future__ import annotations

import json

from specs.kcl.states import Conv


def explained(conv: Conv, how: str = "") -> tuple[str, str]:
    """Why the status is missing, from what was printed instead of it."""
    what = f"no status for {conv.action}"
    tail = conv.tail
    lines = [line.strip() for line in tail.split(b"\n") if line.strip()]
    if conv.partial and not conv.prints:
        return "FRAME-03", f"{what}: a line was begun and not ended"
    if b'"action"' in tail and len(lines) > 1 and _whole(lines):
        return "FRAME-03", f"{what}: it was spread over several lines"
    for line in lines:
        mine = b'"action"' in line and (b'"status"' in line or b'"checkpoint"' in line) and b"{" in line
        if mine and (not line.startswith(b"{") or (conv.prints and not _message_first(line))):
            return "FRAME-13", f"{what}: a message stands behind other output, {line[:120]!r}"
    for line in lines:
        if b"responseFor" in line and b"{" in line:
            behind = line[line.rfind(b"}") + 1 :].strip()
            if b'"action"' in line and (behind or conv.prints):
                return "FRAME-13", f"{what}: other output stands behind it, {line[:120]!r}"
            if b'"action"' in line and line.count(b"{") > 1:
                return "FRAME-03", f"{what}: several messages stand on one line, {line[:120]!r}"
            if b"action" not in line:
                return "FRAME-06", f"{what}: a message has no action, {line[:120]!r}"
            return "FRAME-01", f"{what}: what came is no JSON object with a text as action, {line[:120]!r}"
    if conv.hurt:
        return conv.hurt, f"{what}, and it did not end either"
    how = how or "nothing came"
    if conv.action == "initialize":
        return "INIT-04", f"{what}: {how}"
    if conv.asked and not conv.steps:
        return "STAT-01", f"{what}: {how} after the answer to a checkpoint"
    named = {"processRecords": "REC-07", "shutdown": "SHUT-02", "shutdownRequested": "SHUT-08"}
    finals = {"leaseLost": "SHUT-09", "shardEnded": "SHUT-10"}
    return {**named, **finals}.get(conv.action, "STAT-01"), f"{what}: {how}"


def _message_first(line: bytes) -> bool:
    """True when a whole JSON object begins the line: what stands in its way is behind it."""
    try:
        json.JSONDecoder().raw_decode(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return True


def _whole(lines: list[bytes]) -> bool:
    try:
        return isinstance(json.loads(b"\n".join(lines)), dict)
    except ValueError:
        return False
