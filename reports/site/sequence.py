"""A recorded conversation as data for the page of a failure: events, a sequence diagram, and octets.

A trace file may be missing, torn, from another version or made by somebody hostile. What cannot be read is left out or
said in a sentence; nothing here raises on account of it, and everything has a limit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from records.text import octets, printable
from reports.transcript import MAX_TRACE, Trace, dicts, number, role_of, unhex, worth_telling

MAX_EVENTS: Final = 80
"""Events shown; more are left out in the middle."""
MAX_LINES: Final = 9
"""Lines of one event in the diagram."""
MAX_CHARS: Final = 74
"""Characters of one line in the diagram."""
MAX_TEXT: Final = 4000
"""Characters of one event in the table."""
MAX_OCTETS: Final = 2048
"""Octets shown of one write or read."""
MAX_WIRE: Final = 120
"""Writes and reads shown."""
MAX_LANES: Final = 8
"""Connections with a line of their own in the diagram; further ones share the last."""


@dataclass(frozen=True, slots=True)
class Told:
    """One event. `way` is "out" (the tester said it), "in" (the implementation did) or "" (neither).

    `kind` is "said", "noise", "closed", "quiet", "fact", "gap" (events left out) or what the trace calls it.
    """

    ms: str
    conn: str
    way: str
    kind: str
    lines: tuple[str, ...]
    deciding: bool

    @property
    def text(self) -> str:
        """The event in one text."""
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class Octets:
    """One write or read: its octets as text with escapes, and as rows of a hex dump."""

    ms: str
    conn: str
    way: str
    text: str
    dump: tuple[str, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Step:
    """One row of the diagram: where its arrow runs (`x1` to `x2` at `y`), and its lines from `top` on."""

    told: Told
    number: int
    top: int
    y: int
    x1: int
    x2: int
    bottom: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diagram:
    """A drawing in px. `lanes` are (x, name) of the tester's connections; `peer` is the implementation's x."""

    width: int
    height: int
    lanes: tuple[tuple[int, str], ...]
    peer: int
    steps: tuple[Step, ...]


def read(text: str) -> tuple[Trace | None, str]:
    """The trace that a document holds, or None and why there is none."""
    if not text:
        return None, "The trace file of this failure is lost; what the records say of it is all that is left."
    if len(text) > MAX_TRACE:
        return None, f"The trace file is larger than {MAX_TRACE >> 20} MiB and is not read."
    try:
        found = json.loads(text)
        json.dumps(found)  # what nests too deeply to be written again is no trace of ours
    except (ValueError, RecursionError) as error:
        return None, f"The trace file is torn or no trace: {printable(str(error), 200)}."
    if not isinstance(found, dict):
        return None, "The trace file holds no trace."
    return found, ""


def to_json(trace: Trace) -> str:
    """The trace as a file for `--replay`: all of it, in ASCII."""
    return json.dumps(trace) + "\n"


def conversation(trace: Trace) -> list[Told]:
    """The events, at most MAX_EVENTS and a "gap" that says how many are left out."""
    events = dicts(trace.get("conversation"))
    events, deciding = worth_telling(events, trace.get("deciding"))
    role = role_of(trace)
    told = [_told(event, role, index == deciding) for index, event in enumerate(events)]
    if len(told) <= MAX_EVENTS:
        return told
    head, tail = MAX_EVENTS - MAX_EVENTS // 2, MAX_EVENTS // 2
    middle = told[head : len(told) - tail]
    kept = [one for one in middle if one.deciding]
    gap = Told("", "", "", "gap", (f"{len(middle) - len(kept)} events left out",), False)
    return [*told[:head], gap, *kept, *told[len(told) - tail :]]


def _told(event: Mapping[str, object], role: str, deciding: bool) -> Told:
    by, kind = event.get("by"), event.get("event")
    kind = printable(kind, 40) if isinstance(kind, str) else "?"
    way = "" if not isinstance(by, str) else "in" if by == role else "out"
    said = event.get("text")
    text = said[:MAX_TEXT] if isinstance(said, str) else ""
    missing = len(said) - MAX_TEXT if isinstance(said, str) else 0
    lines = [printable(line, MAX_TEXT) for line in text.split("\n")]
    if missing > 0:
        lines.append(f"... [+{missing}]")
    if kind == "quiet":
        way, lines = "", [f"nothing came for {number(event.get('ms_quiet'))} ms", *filter(None, lines)]
    elif kind == "closed":
        how = event.get("how")
        lines = [f"closed the connection{f' ({printable(how, 40)})' if isinstance(how, str) else ''}"]
    elif kind == "noise":
        lines = ["no frame: " + lines[0], *lines[1:]]
    elif kind != "said":
        lines = [f"[{kind}] {lines[0]}".rstrip(), *lines[1:]]
    return Told(number(event.get("ms")), number(event.get("conn")) if way else "", way, kind, tuple(lines), deciding)


def wire(trace: Trace) -> list[Octets]:
    """What went over the wire, at most MAX_WIRE pieces and MAX_OCTETS of each."""
    found = []
    for event in dicts(trace.get("wire"))[:MAX_WIRE]:
        way, data = event.get("dir"), unhex(event.get("hex"))
        known = {"sent": "out", "received": "in"}.get(way if isinstance(way, str) else "", "")
        shown = data[:MAX_OCTETS]
        text = octets(data, MAX_OCTETS) if known else f"[{printable(str(way), 60)}]"
        dump = tuple(_dumped(at, shown[at : at + 16]) for at in range(0, len(shown), 16))
        found.append(Octets(number(event.get("ms")), number(event.get("conn")), known, text, dump, len(data)))
    return found


def _dumped(at: int, data: bytes) -> str:
    seen = "".join(chr(octet) if 0x20 <= octet < 0x7F else "·" for octet in data)
    return f"{at:06x}  {data[:8].hex(' '):<23}  {data[8:].hex(' '):<23}  {seen}"


LEFT: Final = 70
LANE: Final = 46
LINE: Final = 17
CHAR: Final = 7.3
"""Width of a character in px, a little more than any usual fixed font of 12 px has."""


def diagram(told: list[Told], peer: str) -> Diagram:
    """The drawing of a conversation with the implementation `peer`."""
    names = list(dict.fromkeys(one.conn for one in told if one.way))
    order = sorted(names, key=lambda name: (not name.isdigit(), int(name) if name.isdigit() else 0, name))
    lanes = {name: LEFT + LANE * min(place, MAX_LANES - 1) for place, name in enumerate(order)}
    last = max(lanes.values(), default=LEFT)
    shown = [_shown(one) for one in told]
    widest = max((len(line) for lines in shown for line in lines), default=20)
    far = last + 40 + round(max(widest, len(peer[:40]), 56) * CHAR)
    steps, y = [], 62
    for place, (one, lines) in enumerate(zip(told, shown, strict=True), 1):
        top = y
        line = top + LINE * len(lines) + 8
        near = lanes.get(one.conn, LEFT)
        x1, x2 = (near, far) if one.way == "out" else (far, near)
        y = line + 20
        steps.append(Step(one, place, top, line, x1, x2, y - 6, lines))
    legend = tuple((x, ", ".join(n for n in order if lanes[n] == x)) for x in dict.fromkeys(lanes.values()))
    return Diagram(far + 70, y + 14, legend, far, tuple(steps))


def _shown(told: Told) -> tuple[str, ...]:
    """The lines of an event as the diagram has room for them."""
    lines = [line if len(line) <= MAX_CHARS else f"{line[: MAX_CHARS - 1]}…" for line in told.lines]
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    if len(lines) > MAX_LINES:
        lines = [*lines[: MAX_LINES - 1], f"… {len(lines) - MAX_LINES + 1} more lines"]
    return tuple(lines)
