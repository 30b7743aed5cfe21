"""Opening a session: which versions are offered and in which order, and what else CONNECT says.

Source: 003_30478fd2f19f0da0.txt L43-73; STOMP 1.2, Protocol Negotiation, CONNECT or STOMP Frame.
"""

from __future__ import annotations

from itertools import permutations

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Say
from specs.stomp.bundle import connect
from specs.stomp.frames import Frame, Style
from specs.stomp.states import Config
from strategies.common import Program, programs
from strategies.stomp.writer import PLACES, Writer

HEAD = 1
_TOKENS = ("1.0", "1.1", "1.2", "1.3", "2.0", "9.9", "10.0", "1.10", "0.9")
_SHORT = [",".join(tokens) for size in (1, 2, 3) for tokens in permutations(_TOKENS[:5], size)]
_PAIRS = [f"{a},{b}" for a in _TOKENS for b in _TOKENS if a != b]
LISTS = (*_SHORT, *_PAIRS, "1.0,1.1,1.2,1.3,2.0,9.9")


def openings() -> SearchStrategy[Program]:
    """Up to four sessions, each opened in its own way."""
    return programs({"open": 1}, head=HEAD, most=4)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Each op opens one connection: args choose the versions offered, STOMP or CONNECT, extra headers, and heart-beats.

    Where a session must result it is used for one round trip, so that its version shows in more than CONNECTED.
    """
    writer = Writer(config, hurry=hurry)
    for slot, op in enumerate(program.ops):
        versions, form, extra, beats, more = op.args
        line = writer.bare(slot)
        offered = LISTS[versions % len(LISTS)] if versions else config.version
        frame = connect(config, version=offered)
        headers = list(frame.headers)
        if form & 2:
            raw = writer.value(extra).replace("\r", "").replace("\n", "") or "b"
            # whether STOMP is escaped is open (docs/ambiguities.md, E-03): it gets nothing that would tell
            headers += [("x-first", "1"), ("x-raw", "b" if form & 1 else raw)]
        if beats & 1:
            headers.append(("heart-beat", ("0,0", "10000,10000", "0,30000", "60000,0")[beats // 2 % 4]))
        if form & 4:
            headers.reverse()
            writer.features.add("order")
        command = "STOMP" if form & 1 else "CONNECT"
        if form & 1:
            writer.features.add("stomp")
        spoken = max((v for v in offered.split(",") if v in config.supports), default=None)
        early = form & 24 == 24 or (spoken is None and form & 8 > 0)
        how = "join" if early else "turn"
        writer.steps.append(Say(line.number, Frame(command, tuple(headers)), when=how, style=Style(config.version)))
        if early:
            writer.send(line, PLACES[0], receipt=writer.receipt(), when="now")
        writer.wait()
        if spoken is None:
            continue
        line.version = spoken
        if more & 1 and spoken != "1.0":
            sub = writer.subscribe(line, PLACES[1], receipt=writer.receipt())
            writer.send(line, PLACES[1], receipt=writer.receipt())
            writer.unsubscribe(line, sub, receipt=writer.receipt())
        else:
            writer.send(line, PLACES[0], receipt=writer.receipt())
        if more & 2:
            writer.disconnect(line)
    return writer.plan()
