"""A stretch of a table of traps, one entry after the other: values and names of headers, bodies, receipts, ids, modes.

Sessions meet a trap now and then, among much else. Here each op says a whole stretch at once and waits at its end, so
that few conversations are enough for all of a table, also with a server that is slow to answer.
Source: STOMP 1.2, Value Encoding, Body, Header content-length, Header receipt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Ref
from specs.stomp.states import Config
from strategies.common import Op, Program, programs
from strategies.stomp.sessions import version_of
from strategies.stomp.texts import BODIES, LONG_BODIES, NAMES, VALUES
from strategies.stomp.writer import PLACES, Line, Writer

HEAD = 1
_LONGEST = 32
"""Entries of one stretch."""
_OPEN = 8
"""Subscriptions and transactions that are open at once."""
MIXED = (
    b"a\r\nb\r\n" * 1000,
    b"a\r\n\0\r\n" * 150,
    b"\0" * 4000,
    bytes(range(256)) * 3,
    bytes(range(255, -1, -1)) * 20,
    "é漢😀".encode() * 120,
    b"\r",
    b"\n\0",
    b"\0\0\n",
    b" ",
    b"\t\0 ",
    b"\xef\xbb\xbfx",
    b"x\n",
    b"x\0",
)
"""Bodies that are long and hold what is mostly tried in short ones, and ends that are easily lost."""
_BODIES = (*BODIES, *MIXED, *LONG_BODIES)
_MODES = ("auto", "client", "client-individual")
_AGAIN = tuple(product(_MODES, _MODES))
"""The mode of a subscription, and that of the next one with its id."""
_SETTLED = tuple(product(("", "ABORT", "COMMIT"), ("ACK", "NACK"), _MODES[1:]))
"""How the transaction ends in which a delivery is settled, if it is in one, and how it is settled."""
_TO = (PLACES[1], PLACES[0])
"""A topic-like place and a queue-like one; both are listened to."""


def parades() -> SearchStrategy[Program]:
    """Up to three stretches."""
    kinds = {
        "values": 4,
        "names": 3,
        "bodies": 3,
        "receipts": 3,
        "ids": 2,
        "txs": 2,
        "lengths": 1,
        "modes": 2,
        "acks": 2,
        "mixed": 2,
    }
    return programs(kinds, head=HEAD, most=3)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Head: the version. Op: where its stretch begins (two numbers), how long it is, how many entries stand in one
    frame, and where the frames go."""
    writer = Writer(config, version=version_of(program.head[0], config), hurry=hurry)
    line, listener = writer.line(0), writer.line(1)
    for number, place in enumerate(_TO):
        writer.subscribe(listener, place, identity=f"w{number}", receipt=writer.receipt())
    for op in program.ops:
        with _at_once(writer):
            _SHOWS[op.kind](writer, line, op)
        writer.wait()
    return writer.plan()


@contextmanager
def _at_once(writer: Writer) -> Iterator[None]:
    """What is said here waits for no turn."""
    before, writer.when = writer.when, "now"
    yield
    writer.when = before


def _stretch(table: Sequence[Any], op: Op, most: int = _LONGEST) -> list[Any]:
    start = op.args[0] + 256 * op.args[1]
    return [table[(start + n) % len(table)] for n in range(1 + op.args[2] % most)]


def _each(entries: Sequence[str], op: Op) -> Iterator[Sequence[str]]:
    """One to four entries at a time."""
    width = 1 + op.args[3] % 4
    for at in range(0, len(entries), width):
        yield entries[at : at + width]


def _short(writer: Writer, texts: Sequence[str]) -> list[str]:
    """Those that fit into a header line which the server must take."""
    return [text for text in texts if len(text) <= writer.config.sizes.line - 8]


def _place(op: Op) -> Ref:
    return _TO[op.args[4] % 2]


def _values(writer: Writer, line: Line, op: Op) -> None:
    for some in _each(_short(writer, _stretch(VALUES[writer.version], op)), op):
        writer.send(line, _place(op), headers=[(f"h{n}", text) for n, text in enumerate(some)])


def _names(writer: Writer, line: Line, op: Op) -> None:
    """What may stand in a value may stand in a name as well, but for the versions that have no escapes."""
    version = writer.version
    table = NAMES[version] if version == "1.0" else (*NAMES[version], *(text for text in VALUES[version] if text))
    for some in _each(_short(writer, _stretch(table, op)), op):
        headers = [(name, f"v{n}") for n, name in enumerate(dict.fromkeys(some))]
        writer.send(line, _place(op), headers=headers)


def _bodies(writer: Writer, line: Line, op: Op) -> None:
    """Every other stretch states the length also where no NUL asks for it."""
    for body in _stretch(_BODIES, op):
        if len(body) <= writer.config.sizes.body:
            stated = [("content-length", f"{len(body)}")] if op.args[3] & 1 and body else []
            writer.send(line, _place(op), body, stated)


def _receipts(writer: Writer, line: Line, op: Op) -> None:
    """The text in front of a number, or behind it."""
    for text in _short(writer, _stretch(VALUES[writer.version], op)):
        number = f"{writer.fresh()}"
        asked = ("receipt", number + text if op.args[3] & 1 else text + number)
        writer.send(line, _place(op), receipt=asked)


def _ids(writer: Writer, line: Line, op: Op) -> None:
    """Subscriptions side by side, ended one by one."""
    names = dict.fromkeys(text for text in _short(writer, _stretch(VALUES[writer.version], op, _OPEN)) if text)
    free = (name for name in names if all(sub.id != name for sub in line.subs))
    subs = [writer.subscribe(line, PLACES[3], identity=name, receipt=writer.receipt()) for name in free]
    writer.wait()
    writer.send(line, PLACES[3], receipt=writer.receipt())
    writer.wait()
    for sub in subs:
        writer.unsubscribe(line, sub, receipt=writer.receipt())


def _txs(writer: Writer, line: Line, op: Op) -> None:
    """Transactions side by side, every other one given up."""
    names = dict.fromkeys(text for text in _short(writer, _stretch(VALUES[writer.version], op, _OPEN)) if text)
    for name in names:
        writer.say(line, "BEGIN", [("transaction", name)])
        writer.send(line, _place(op), headers=[("transaction", name)])
    for n, name in enumerate(names):
        verb = "ABORT" if n % 2 and op.args[3] & 1 else "COMMIT"
        writer.say(line, verb, [("transaction", name), writer.receipt()])


def _lengths(writer: Writer, line: Line, op: Op) -> None:
    """Frames without a body that say so: from 1.2 on any frame may."""
    stated = [("content-length", "0")] if line.version == "1.2" else []
    mode = ("client", "client-individual")[op.args[3] % 2] if line.version != "1.0" else "client"
    sub = writer.subscribe(line, PLACES[2], mode, f"l{writer.fresh()}", stated, receipt=writer.receipt())
    tx = [("transaction", f"l{writer.fresh()}"), *stated]
    for verb in ("BEGIN", "SEND", "COMMIT"):
        if verb == "SEND":
            writer.send(line, PLACES[2], b"", tx)
        else:
            writer.say(line, verb, [*tx, writer.receipt()])
    writer.wait()
    writer.say(line, "ACK", [*writer.handle(line, sub.id, 0), *stated, writer.receipt()])
    line.subs.remove(sub)
    writer.say(line, "UNSUBSCRIBE", [("id", sub.id), *stated, writer.receipt()])
    other = writer.connect(2)
    writer.say(other, "DISCONNECT", [*stated, writer.receipt()])
    other.ended = True


def _modes(writer: Writer, line: Line, op: Op) -> None:
    """An id that is used again, in another mode and for another destination."""
    for before, mode in _stretch(_AGAIN, op, len(_AGAIN)):
        if line.version == "1.0" and "client-individual" in (before, mode):
            continue
        name = f"m{writer.fresh()}"
        writer.unsubscribe(line, writer.subscribe(line, PLACES[3], before, name), receipt=writer.receipt())
        writer.wait()
        sub = writer.subscribe(line, PLACES[2], mode, name, receipt=writer.receipt())
        writer.send(line, PLACES[2])
        writer.send(line, PLACES[2], receipt=writer.receipt())
        writer.wait()
        for nth in (1, 0) if mode == "client-individual" else (1,) if mode == "client" else ():
            writer.acknowledge(line, sub, nth, receipt=writer.receipt())
        writer.unsubscribe(line, sub, receipt=writer.receipt())
        writer.wait()


def _acks(writer: Writer, line: Line, op: Op) -> None:
    """The second of three deliveries is settled, and what comes behind it shows that it was, or that it was not."""
    for end, verb, mode in _stretch(_SETTLED, op, len(_SETTLED)):
        if line.version == "1.0" and (verb, mode) != ("ACK", "client"):
            continue
        sub = writer.subscribe(line, PLACES[2], mode, f"s{writer.fresh()}", receipt=writer.receipt())
        for _ in range(3):
            writer.send(line, PLACES[2], receipt=writer.receipt())
        writer.wait()
        tx = f"t{writer.fresh()}" if end else None
        if tx is not None:
            writer.say(line, "BEGIN", [("transaction", tx)])
        writer.acknowledge(line, sub, 1, verb=verb, tx=tx, receipt=writer.receipt())
        if tx is not None:
            writer.say(line, end, [("transaction", tx), writer.receipt()])
        writer.wait()
        if end == "ABORT":
            writer.acknowledge(line, sub, 1, verb=verb, receipt=writer.receipt())
        writer.acknowledge(line, sub, 2, receipt=writer.receipt())
        writer.send(line, PLACES[2], receipt=writer.receipt())
        writer.wait()
        writer.unsubscribe(line, sub, receipt=writer.receipt())
        writer.wait()


def _mixed(writer: Writer, line: Line, op: Op) -> None:
    """Between sessions of two versions: what one of them writes is read by its own, and written by that of the other.
    No text that one of them could not write is among it."""
    others = sorted(writer.config.supports - {writer.version})
    if not others:
        _values(writer, line, op)
        return
    writer.wait()
    claimed, writer.version = writer.version, others[op.args[3] % len(others)]
    other = writer.connect(3 + writer.fresh())
    sub = writer.subscribe(other, PLACES[1], identity=f"x{writer.fresh()}", receipt=writer.receipt())
    writer.wait()
    for said_by, version in ((other, writer.version), (line, claimed)):
        writer.version = version
        for some in _each(_short(writer, _stretch(VALUES["1.0"], op, _OPEN)), op):
            writer.send(said_by, PLACES[1], headers=[(f"h{n}", text) for n, text in enumerate(some)])
        writer.wait()
    writer.version = other.version
    writer.unsubscribe(other, sub, receipt=writer.receipt())
    writer.wait()
    writer.version = claimed


_SHOWS: Mapping[str, Callable[[Writer, Line, Op], None]] = {
    "values": _values, "names": _names, "bodies": _bodies, "receipts": _receipts, "ids": _ids, "txs": _txs,
    "lengths": _lengths, "modes": _modes, "acks": _acks, "mixed": _mixed,
}  # fmt: skip
