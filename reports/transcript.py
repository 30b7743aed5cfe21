"""The conversation in a trace file, as lines that people read.

Every part of a trace file may be missing or odd: it may be cut, older, or made by hand. What cannot be shown is left
out; nothing here raises on account of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from records.text import octets, printable

MAX_TRACE: Final = 16 << 20
"""Octets of a trace file that is still read."""
MAX_EVENTS: Final = 40
"""Events shown; more are left out in the middle."""
MAX_ROWS: Final = 6
"""Lines for one event."""
Trace = Mapping[str, object]


def load(results: Path, witness: str) -> Trace | None:
    """The trace file `witness` under `results`; None when it is missing, outside, too large or no trace."""
    try:
        path = (results / witness).resolve()
        # The name comes from a file of records, which somebody else may have written.
        if not path.is_relative_to(results.resolve()) or not path.is_file() or path.stat().st_size > MAX_TRACE:
            return None
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def lines(trace: Trace, width: int = 100, limit: int = MAX_EVENTS) -> list[str]:
    """One conversation: time in ms, connection, direction, what was said. The deciding event is marked with `!`; what
    came behind it is only counted.

    `-->` is said by the tester, `<--` by the implementation. At most `limit` events, none longer than MAX_ROWS lines
    of `width` characters.
    """
    events = dicts(trace.get("conversation"))
    events, deciding = worth_telling(events, trace.get("deciding"))
    until = len(events) if deciding is None else deciding + 1
    behind = sum(event.get("event") != "quiet" for event in events[until:])
    events = events[:until]
    told = [_told(event, role_of(trace)) for event in events]
    if not told:
        told, deciding = [_wired(event) for event in dicts(trace.get("wire"))], None
    shown = []
    head = limit - limit // 2
    for index, (ms, conn, arrow, text) in enumerate(told):
        left_out = len(told) - limit
        if left_out > 0 and head <= index < head + left_out:
            if index == head:
                shown.append(f"{'':10}... {left_out} events left out")
            continue
        mark = "!" if deciding == index else " "
        shown += _wrapped(f"{mark}{ms:>8} #{conn} {arrow} ", text, width)
    if behind:
        shown.append(f"{'':10}... {behind} {'event' if behind == 1 else 'events'} after that")
    return shown


def worth_telling(events: Sequence[Trace], deciding: object) -> tuple[Sequence[Trace], int | None]:
    """The events without the notes that time has passed in which nobody listened for a silence, and where among them
    the deciding one stands."""
    kept = [at for at, event in enumerate(events) if at == deciding or not _passed(event)]
    known = isinstance(deciding, int) and not isinstance(deciding, bool) and deciding in kept
    return [events[at] for at in kept], kept.index(deciding) if known else None  # type: ignore[arg-type]


def _passed(event: Trace) -> bool:
    return event.get("event") == "quiet" and event.get("final") is not True and number(event.get("ms_quiet")) == "0"


def text_of(trace: Trace, name: str) -> str:
    """A text field of the trace; empty when it is missing or no text."""
    value = trace.get(name)
    return value if isinstance(value, str) else ""


def role_of(trace: Trace) -> str:
    """The role of the implementation under test."""
    impl = trace.get("impl")
    role = impl.get("role") if isinstance(impl, dict) else None
    return role if isinstance(role, str) else ""


def _told(event: Mapping[str, object], role: str) -> tuple[str, str, str, str]:
    """Time, connection, arrow and text of one event of the conversation."""
    by, kind = event.get("by"), event.get("event")
    arrow = "   " if not isinstance(by, str) else "<--" if by == role else "-->"
    said = event.get("text")
    text = printable(said, 4000) if isinstance(said, str) else ""
    if kind == "closed":
        arrow, text = ("   " if arrow == "   " else arrow.replace("--", "-x")), f"[closed] {text}".rstrip()
    elif kind == "quiet":
        arrow, text = "   ", f"[nothing came for {number(event.get('ms_quiet'))} ms] {text}".rstrip()
    elif kind != "said":
        text = f"[{printable(str(kind), 40)}] {text}".rstrip()
    return number(event.get("ms")), number(event.get("conn")), arrow, text


def _wired(event: Mapping[str, object]) -> tuple[str, str, str, str]:
    """The same for an event of the wire, when the conversation is missing."""
    way = event.get("dir")
    if way in ("sent", "received"):
        arrow, text = "-->" if way == "sent" else "<--", octets(unhex(event.get("hex")), 1000)
    else:
        arrow, text = "   ", f"[{printable(str(way), 40)}]"
    return number(event.get("ms")), number(event.get("conn")), arrow, text


def unhex(value: object) -> bytes:
    """Octets written as hexadecimal digits; none when they are not."""
    try:
        return bytes.fromhex(value) if isinstance(value, str) else b""
    except ValueError:
        return b""


def dicts(value: object) -> Sequence[Mapping[str, object]]:
    """The objects in a list from a trace file; none when it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def number(value: object) -> str:
    """A number as a person reads it; "?" for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -1e12 < value < 1e12:
        return "?"
    return str(value) if isinstance(value, int) else f"{value:.1f}"


def _wrapped(lead: str, text: str, width: int) -> list[str]:
    """`text` after `lead`, cut into pieces of equal length: spaces in what was said are never lost."""
    room = max(20, width - len(lead))
    pieces = [text[at : at + room] for at in range(0, len(text), room)] or [""]
    if len(pieces) > MAX_ROWS:
        missing = len(text) - room * (MAX_ROWS - 1)
        pieces = [*pieces[: MAX_ROWS - 1], f"... [+{missing}]"]
    return [(lead if not index else " " * len(lead)) + piece for index, piece in enumerate(pieces)]
