"""Legal sessions: ops and what they mean.

Head numbers: version (0: the claimed one), wire (which ways of writing frames are used), ending (who listens from the
beginning, and what is done at the end to make losses and repetitions visible).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan
from specs.stomp.headers import RESERVED
from specs.stomp.states import Config
from strategies.common import Op, Program, programs
from strategies.stomp import repeats
from strategies.stomp.repeats import LISTENER
from strategies.stomp.texts import BODIES, LONG_BODIES, MIME_TYPES, name_of, pick, twisted
from strategies.stomp.writer import PLACES, REPEAT, Line, Sub, Writer

HEAD = 3
VISITOR = 40
"""From here on connections are numbered that take no part."""
_MODES = ("auto", "client", "client-individual")
_WIRES = (0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 1 | 2, 4 | 8, 1 | 2 | 4 | 8 | 16 | 32, 2 | 8, 127)
_VERSIONS = (None,) * 13 + ("1.1", "1.1", "1.0")
_MANY = (4, 5, 7, 8, 9, 10, 11, 12, 15, 16)

EVEN: Mapping[str, int] = {
    "send": 8, "sub": 5, "unsub": 2, "ack": 4, "nack": 2, "begin": 2, "commit": 2, "abort": 1, "connect": 1,
    "disconnect": 1, "hang": 1,
}  # fmt: skip
EVERYTHING: Mapping[str, int] = {name: 3 * weight for name, weight in EVEN.items()} | {
    "burst": 1, "last": 1, "again": 1, "alike": 1, "cut": 1, "halved": 1, "visit": 2,
}  # fmt: skip


def sessions(kinds: Mapping[str, int] = EVEN, *, most: int = 20, least: int = 1) -> SearchStrategy[Program]:
    """Legal sessions with the given weights of ops."""
    return programs(kinds, head=HEAD, most=most, least=least)


def interpret(
    program: Program,
    config: Config,
    *,
    hurry: bool = False,
    wires: Sequence[int] = _WIRES,
    slots: int = 3,
    places: int = len(PLACES),
) -> Plan:
    """The plan that a program means; total, pure, and the same for every run.

    `wires` are the sets of ways of writing frames among which the head chooses; `slots` and `places` as in `Writer`.
    """
    writer = Writer(
        config,
        version=version_of(program.head[0], config),
        wire=wires[program.head[1] % len(wires)],
        hurry=hurry,
        slots=slots,
        places=places,
    )
    play(writer, program)
    return writer.plan()


def version_of(number: int, config: Config) -> str:
    """The session's version: nearly always the claimed one, else another that the server speaks."""
    chosen = _VERSIONS[number % len(_VERSIONS)]
    usable = chosen is not None and chosen in config.supports and chosen < config.version
    return chosen if usable and chosen is not None else config.version


def play(writer: Writer, program: Program) -> None:
    """Write the ops of a program and its ending."""
    if program.head[2] & 48:
        _listen(writer, program.head[2])
    for op in program.ops:
        _OPS[op.kind](writer, op)
    _finish(writer, program.head[2])


def _line(writer: Writer, op: Op) -> Line:
    return writer.line(op.args[0] % writer.slots)


def _others(writer: Writer, line: Line) -> list[Line]:
    return [other for other in writer.open_lines() if other is not line]


def _style(op: Op) -> int:
    return op.args[0] // 3


def _asked(writer: Writer, flags: int) -> tuple[str, str] | None:
    """Mostly a receipt header of its own; by flags none, one with traps, or one that is used again and again."""
    if flags & 8:
        return None
    if flags & 4 and flags & 48 == 48:
        return ("receipt", "again")
    return writer.receipt(1 + (flags >> 5) + 8 * (writer.fresh() % 29) if flags & 4 else 0)


def _listen(writer: Writer, how: int) -> None:
    """A connection that takes no other part, subscribed to the topics or to the second queue of the plan."""
    line = writer.connect(LISTENER)
    for number in (1, 3) if how & 16 else (2,):
        if number < writer.places:
            writer.subscribe(line, PLACES[number], identity=f"w{number}", receipt=writer.receipt())


def _send(writer: Writer, op: Op) -> None:
    line = _line(writer, op)
    _, where, what, text, flags = op.args
    headers: list[tuple[str, str]] = []
    chosen = (where >> 2) % 4
    if chosen and line.txs:
        headers.append(("transaction", line.txs[(chosen - 1) % len(line.txs)]))
    headers += _user_headers(writer, what, text, flags)
    if flags & 32:
        headers.append(("content-type", pick(MIME_TYPES, text)))
    if flags & 64 and line.version == "1.2":
        headers[-1:] = _repeated(headers[-1], text) if flags & 3 and not flags & 32 else [*headers[-1:], ("Foo", "")]
    if flags & 128 and line.version == "1.2":
        headers.append(pick_forged(text))
    body = BODIES[what % len(BODIES)] if text % 16 != 15 else LONG_BODIES[what % len(LONG_BODIES)]
    if what & 128 and body and line.version != "1.0":
        headers.append(("content-length", f"{len(body)}"))
    tag = flags & 3 > 0 or flags & 16 == 0
    if not tag:
        headers = [pair for pair in headers if pair[0] != "content-length"]
    writer.send(
        line, PLACES[where % writer.places], body, headers, tag=tag, receipt=_asked(writer, flags), style=_style(op)
    )


def _user_headers(writer: Writer, what: int, text: int, flags: int) -> list[tuple[str, str]]:
    """Up to four headers with traps in their names and values, some of them twisted from each other; or many."""
    version, count = writer.version, (0, 1, 2, 4)[flags & 3]
    if count == 4 and text % 8 == 7:
        return [(f"h{n}", f"{what + n}") for n in range(_MANY[what % len(_MANY)])]
    headers = [(name_of(text + 3 * i, version), writer.value(text + 61 * i, what + i)) for i in range(count)]
    if count > 1 and what & 64 and version != "1.0":
        name, value = headers[0]
        twins = (twisted(name, what % 16, version), value), (name, twisted(value, what % 16, version) if value else "x")
        if twins[0][0] not in RESERVED:
            headers[1] = twins[0]
        headers[0] = twins[1]
    return [pair for n, pair in enumerate(headers) if pair[0] not in [name for name, _ in headers[:n]]]


def _repeated(header: tuple[str, str], number: int) -> list[tuple[str, str]]:
    """A header twice, with two values; the first may be empty."""
    name, value = header
    first = "" if number & 4 else value
    return [(name, first), (name, ("later", f"{value}x", "0", "" if first else "later")[number % 4])]


def pick_forged(number: int) -> tuple[str, str]:
    """A header that only the server may set on a MESSAGE."""
    return (("message-id", "forged"), ("subscription", "forged"), ("ack", "forged"))[number % 3]


def _sub(writer: Writer, op: Op) -> None:
    line = _line(writer, op)
    if len(line.subs) >= 8:
        return
    _, where, name, mode, flags = op.args
    kind = _MODES[mode % 3] if line.version != "1.0" else _MODES[mode % 2]
    elsewhere = [sub.id for other in _others(writer, line) for sub in other.subs]
    identity = writer.identity("", name, {sub.id for sub in line.subs}, elsewhere)
    headers = [("x-extra", "1")] if flags & 32 and line.version == "1.2" else []
    asked = None if flags & 8 and flags & 64 else _asked(writer, flags & ~8)
    writer.subscribe(line, PLACES[where % writer.places], kind, identity, headers, receipt=asked, style=_style(op))


def _unsub(writer: Writer, op: Op) -> None:
    line = _line(writer, op)
    if not line.subs:
        _sub(writer, op)
        return
    sub = line.subs[op.args[1] % len(line.subs)]
    writer.unsubscribe(line, sub, receipt=_asked(writer, op.args[4] & ~8), style=_style(op) & ~REPEAT)
    if op.args[3] % 3 == 2 and line.version != "1.0":  # its id again at once, for something else
        place, mode = PLACES[op.args[2] % writer.places], _MODES[op.args[3] // 3 % 3]
        writer.subscribe(line, place, mode, sub.id, receipt=writer.receipt())
        writer.send(line, place, receipt=writer.receipt())


def _open_subs(line: Line) -> list[Sub]:
    """Subscriptions that want acknowledgements, those with ids used before only if there are no others."""
    found = [sub for sub in line.subs if sub.mode != "auto"]
    return [sub for sub in found if not sub.again] or found


def _ack(writer: Writer, op: Op) -> None:
    line = _line(writer, op)
    subs = _open_subs(line)
    if not subs:
        _sub(writer, Op("sub", (*op.args[:3], 1 + op.args[3] % 2, op.args[4])))
        return
    sub = subs[op.args[1] % len(subs)]
    free = sub.open_ones(writer.sent.get(sub.place, 0))
    if not free:
        _send(writer, Op("send", (op.args[0], PLACES.index(sub.place), 0, 0, 0)))
        return
    chosen = (op.args[1] >> 3) % 3
    tx = line.txs[(chosen - 1) % len(line.txs)] if chosen and line.txs else None
    verb = "NACK" if op.kind == "nack" and line.version != "1.0" else "ACK"
    nth = free[op.args[2] % 3 % len(free)]
    writer.acknowledge(line, sub, nth, verb=verb, tx=tx, receipt=_asked(writer, op.args[4]), style=_style(op))


def _begin(writer: Writer, op: Op) -> None:
    line = _line(writer, op)
    if len(line.txs) >= 4:
        return
    elsewhere = [tx for other in _others(writer, line) for tx in other.txs]
    tx = writer.identity("t", op.args[1], line.txs, elsewhere)
    line.txs.append(tx)
    asked = _asked(writer, op.args[4])
    writer.say(line, "BEGIN", [("transaction", tx), *([asked] if asked else [])], style=_style(op))


def _end(writer: Writer, op: Op) -> None:
    line = _line(writer, op)
    if not line.txs:
        _begin(writer, op)
        return
    tx = line.txs.pop(op.args[1] % len(line.txs))
    asked = _asked(writer, op.args[4])
    headers = [("transaction", tx), *([asked] if asked else [])]
    if op.args[4] & 32:
        headers.append(("content-length", "0"))
    writer.say(line, op.kind.upper(), headers, style=_style(op))


def _connect(writer: Writer, op: Op) -> None:
    slot, kind, text = op.args[0] % writer.slots, op.args[1] % 4, op.args[2]
    if slot in writer.lines and not writer.lines[slot].ended:
        return
    if kind == 1:
        writer.connect(slot, command="STOMP", style=_style(op))
    elif kind == 2:
        value = writer.value(text, op.args[3]).replace("\r", "").replace("\n", "")
        writer.connect(slot, extra=[("x-first", "1"), ("x-raw", value or "b")], style=_style(op))
    else:
        writer.connect(slot, style=_style(op), early=kind == 3 and op.args[4] & 3 == 3)


def _visit(writer: Writer, op: Op) -> None:
    """Sessions that do nothing come before and behind a SEND, one of them of another version: what the others say is
    still read, and written, by their own."""
    line, others = _line(writer, op), sorted(writer.config.supports - {writer.version})
    if not others or len(line.subs) >= 8:
        return
    versions = [others[op.args[1] % len(others)], writer.version]
    if op.args[4] & 1:
        versions.reverse()
    _visited(writer, versions[0])
    writer.send(line, PLACES[2], headers=[("v", writer.value(op.args[3], op.args[2]))], receipt=_asked(writer, 0))
    _visited(writer, versions[1])
    identity = writer.identity("", op.args[2], {sub.id for sub in line.subs}, ())
    writer.subscribe(line, PLACES[2], "auto", identity, (), receipt=writer.receipt())


def _visited(writer: Writer, version: str) -> None:
    slot, before, writer.version = VISITOR + writer.fresh(), writer.version, version
    writer.connect(slot)
    writer.version = before
    del writer.lines[slot]


def _disconnect(writer: Writer, op: Op) -> None:
    line = writer.lines.get(op.args[0] % writer.slots)
    if line is not None and not line.ended:
        writer.disconnect(line, receipt=not op.args[1] & 1, style=_style(op))


def _hang(writer: Writer, op: Op) -> None:
    line = writer.lines.get(op.args[0] % writer.slots)
    if line is not None and not line.ended:
        writer.hang(line, "reset" if op.args[1] & 1 else "close")


_OPS: Mapping[str, Callable[[Writer, Op], None]] = {
    "send": _send, "sub": _sub, "unsub": _unsub, "ack": _ack, "nack": _ack, "begin": _begin, "commit": _end,
    "abort": _end, "connect": _connect, "visit": _visit, "disconnect": _disconnect, "hang": _hang,
    "burst": repeats.burst, "last": repeats.burst, "again": repeats.again, "alike": repeats.alike, "cut": repeats.cut,
    "halved": repeats.halved, "txs": repeats.again, "subs": repeats.again,
}  # fmt: skip


def _finish(writer: Writer, ending: int) -> None:
    """Make what was lost, repeated or kept visible: markers, ended connections, a collector at each queue."""
    live = [line for slot, line in writer.lines.items() if not line.ended and slot != LISTENER]
    if ending & 1:
        writer.wait()
        for place in PLACES:
            if live and any(sub.place == place for line in live for sub in line.subs):
                writer.send(live[-1], place, b"marker", receipt=writer.receipt())
    if ending & 2:
        writer.wait()
        for line in live:
            writer.disconnect(line) if ending & 4 else writer.hang(line)
        collector = writer.connect(9)
        for place in (PLACES[0], PLACES[2]):
            if writer.sent.get(place):
                writer.subscribe(collector, place, identity=f"c{PLACES.index(place)}", receipt=writer.receipt())
        writer.wait()
        for place in (PLACES[0], PLACES[2]):
            if writer.sent.get(place):
                writer.send(collector, place, b"marker", receipt=writer.receipt())
    elif ending & 8:
        for line in live:
            writer.disconnect(line)
