"""Conversations with a STOMP server in lines that can be read: `0> SEND destination:/queue/q k:1 | body` is what the
tester says on connection 0, `0< RECEIPT receipt-id:r` what it hears, `0x` that the server closes, `0c` that the tester
does, `+1500` a pause in milliseconds. Header values have no blanks; a server's body has its length stated."""

from __future__ import annotations

from specs.events import Closed, Quiet, Said
from specs.model import judge
from specs.protocol import find
from specs.stomp.frames import Frame
from specs.stomp.model import StompModel
from specs.stomp.states import Config

PREFIX = "STOMP-1.2-"
_REQUIREMENTS = find("stomp").requirements


def event(line, swap=("", "")):
    """The event that a line stands for. `swap`: a word of header values, and what it stands for."""
    line = line.strip()
    if line[0] == "+":
        return Quiet(int(line[1:]), int(line[1:]))
    number, way, rest = int(line[:1]), line[1], line[2:].strip()
    if way in "xc":
        return Closed(number, "server" if way == "x" else "client")
    head, bar, body = rest.partition(" | ")
    command, *fields = head.split(" ")
    headers = [tuple(field.replace(*swap).split(":", 1)) if swap[0] else tuple(field.split(":", 1)) for field in fields]
    if bar and way == "<":
        headers.append(("content-length", f"{len(body)}"))
    return Said(number, "client" if way == ">" else "server", Frame(command, tuple(headers), body.encode()))


def connected(*versions):
    """Connections 0, 1, … with sessions of these versions."""
    lines = []
    for number, version in enumerate(versions):
        named = f" version:{version}" if version != "1.0" else ""
        lines += [f"{number}> CONNECT accept-version:{version} host:/", f"{number}< CONNECTED{named}"]
    return "\n".join(lines) + "\n"


def faults(text, config=None, set_aside=(), swap=("", "")):
    """What a server is blamed for beside what is `set_aside`, by name and level, when it says nothing more behind these
    lines. What the model has no rule for is an error of ours."""
    events = [event(line, swap) for line in text.splitlines() if line.strip()]
    events.append(Quiet(10_000, 10_000, final=True))
    found = judge(StompModel(), config or Config(), events, "server", frozenset(set_aside))
    assert found.verdict in ("pass", "fail", "inconclusive"), found
    return {
        (
            each.breach.requirement.removeprefix(PREFIX),
            each.breach.level or _REQUIREMENTS[each.breach.requirement].level,
        )
        for each in found.faults
    }
