"""What is refused has no effect: every command, wrong in every way, where its effect would show.

Before the wrong frame there are deliveries outstanding, a transaction with work in it, and a message that waits at a
queue; a witness listens, and a collector comes afterwards. So it shows when a frame that gets its ERROR was carried out
all the same. Source: 003_30478fd2f19f0da0.txt L42, L107-110, L126-127; STOMP 1.2, ERROR, Value Encoding, BEGIN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Ref
from specs.stomp.states import Config
from strategies.common import Program, programs
from strategies.stomp.texts import twisted
from strategies.stomp.writer import PLACES, Line, Sub, Writer

HEAD = 6
QUEUE, TOPIC, LATE, _ = PLACES
TX = "tx"


class Scene(NamedTuple):
    """What a wrong frame finds: a subscription with deliveries that are not acknowledged, and a transaction."""

    writer: Writer
    line: Line
    sub: Sub


Part = bytes | Ref
_COMMANDS = ("SEND", "ACK", "COMMIT", "SUBSCRIBE", "NACK", "ACK", "BEGIN", "COMMIT", "ABORT", "ACK")
Wrong = Callable[[Scene, int, int], None]


def refusals() -> SearchStrategy[Program]:
    """One wrong frame; everything is in the head."""
    return programs({"none": 1}, head=HEAD, most=1, least=0)


def _parts(scene: Scene, command: str) -> list[Part]:
    """A frame of `command` that would be legal, up to the end of its last header line."""
    head = command.encode()
    if command == "SEND":
        return [b"SEND\nk:%d\ndestination:" % scene.writer.fresh(), TOPIC]
    if command == "SUBSCRIBE":
        return [b"SUBSCRIBE\nid:late\ndestination:", LATE]
    if command in ("ACK", "NACK"):
        lines: list[Part] = [head]
        for name, value in scene.writer.handle(scene.line, scene.sub.id, 0):
            lines += [b"\n%b:" % name.encode(), value if isinstance(value, Ref) else value.encode()]
        return lines
    return [head + b"\ntransaction:" + (b"new" if command == "BEGIN" else TX.encode())]


def _with(*lines: bytes) -> Wrong:
    """Any command with one more header line."""

    def wrong(scene: Scene, a: int, b: int) -> None:
        command = _COMMANDS[b % len(_COMMANDS)]
        command = "ACK" if command == "NACK" and scene.line.version == "1.0" else command
        line = b"\n%b\nreceipt:%b\n\n" % (lines[a % len(lines)], scene.writer.receipt(0)[1].encode())
        first, *rest = _parts(scene, command)
        scene.writer.blurt(scene.line, first, *rest, line + (b"x\0" if command == "SEND" else b"\0"))

    return wrong


def _commanded(*commands: bytes) -> Wrong:
    """A SEND by another name."""

    def wrong(scene: Scene, a: int, b: int) -> None:
        head = commands[a % len(commands)] + b"\nk:%d\ndestination:" % scene.writer.fresh()
        asked = b"\nreceipt:%b" % scene.writer.receipt(0)[1].encode() if b & 1 else b""
        scene.writer.blurt(scene.line, head, TOPIC, asked + b"\n\nx\0")

    return wrong


def _unknown_end(scene: Scene, a: int, b: int) -> None:
    other = twisted(TX, a, scene.line.version)
    verb = "ABORT" if b & 1 else "COMMIT"
    scene.writer.say(scene.line, verb, [("transaction", other), scene.writer.receipt()])


def _unknown_transaction(scene: Scene, a: int, b: int) -> None:
    writer, other = scene.writer, ("transaction", twisted(TX, a, scene.line.version))
    if b & 1:
        writer.say(scene.line, "ACK", [*writer.handle(scene.line, scene.sub.id, 0), other, writer.receipt()])
    else:
        writer.say(scene.line, "SEND", [("destination", TOPIC), other, ("k", f"{writer.fresh()}")], b"x")
    if b & 2:
        writer.say(scene.line, "COMMIT", [("transaction", TX), writer.receipt()], when="now")


def _nameless_end(scene: Scene, a: int, b: int) -> None:
    headers = ((), (("Transaction", TX),), (("TRANSACTION", TX),))[a % 3]
    scene.writer.say(scene.line, ("COMMIT", "ABORT")[b % 2], [*headers, scene.writer.receipt()])


def _unknown_ack(scene: Scene, a: int, b: int) -> None:
    writer, verb = scene.writer, "NACK" if b & 1 and scene.line.version != "1.0" else "ACK"
    real = writer.handle(scene.line, scene.sub.id, 0)
    name = real[0][0]
    headers = (
        [(name, "unknown"), *real[1:]],
        real[1:],
        [(name.title(), real[0][1]), *real[1:]],
        [(name, ""), *real[1:]],
        [(name, scene.sub.id), *real[1:]],
    )[a % 5]
    inside = [("transaction", TX)] if b & 2 else []
    writer.say(scene.line, verb, [*headers, *inside, writer.receipt()])


def _needless_ack(scene: Scene, a: int, b: int) -> None:
    """ACK of a delivery that wants none: a server may take it or refuse it. In 1.2 such a delivery has mostly no name
    by which to acknowledge it, so this is said in 1.1 where that is spoken."""
    writer, version = scene.writer, scene.writer.version
    if version == "1.2" and "1.1" in writer.config.supports:
        writer.version = "1.1"
    line = writer.connect(4)
    writer.version = version
    sub = writer.subscribe(line, PLACES[3], receipt=writer.receipt())
    writer.send(scene.line, PLACES[3], receipt=writer.receipt())
    writer.wait()
    writer.say(line, "ACK", [*writer.handle(line, sub.id, 0), writer.receipt()])
    line.ended = True


def _unknown_subscription(scene: Scene, a: int, b: int) -> None:
    other = twisted(scene.sub.id, a, scene.line.version)
    headers = (("id", other), ("Id", scene.sub.id), ("id", "unknown"))[0 if b & 1 else b // 2 % 3]
    scene.writer.say(scene.line, "UNSUBSCRIBE", [headers, scene.writer.receipt()])
    scene.writer.wait()


WRONG: Mapping[str, Wrong] = {
    "ENC-04": _with(b"a:\\t", b"a:x\\Cy", b"a\\t:x", b"a:\\N", b"a:\\0", b"a:\\R", b"a\\C:x", b"a:\\\xc3\xa9"),
    "ENC-05": _with(b"a:x\\", b"a\\:x", b"a:\\", b"a:x\\\\\\"),
    "FRAME-05": _commanded(b"send", b"Send", b"sEND", b"SENd"),
    "TXN-08": _unknown_end,
    "ACK-03": _unknown_ack,
    "TXN-12": _unknown_transaction,
    "INV-27": _commanded(b"SEND ", b" SEND", b"SEND\t", b"SENDS", b"SEN", b"XSEND", b"SEND,"),
    "TXN-01": _nameless_end,
    "UNSUB-01": _unknown_subscription,
    "ACK-05": _needless_ack,
    "ENC-09": _with(b"nocolon", b":x", b" ", b"x y"),
    "CLEN-09": _with(b"content-length:abc", b"content-length:", b"content-length:-1", b"content-length:1,0"),
}  # fmt: skip
"""Ways of being wrong, by the requirement that says what follows."""
_OFTEN = (*WRONG, "ENC-04", "ENC-05")
_ALONE = ("ENC-04", "FRAME-05", "ENC-05", "INV-27", "ENC-09", "CLEN-09")


def interpret(program: Program, config: Config, *, hurry: bool = False, names: Sequence[str] = _OFTEN) -> Plan:
    """Head: which of the ways in `names`, its two choices, deliveries and mode, the transaction, and what stands behind
    the wrong frame."""
    which, a, b, held, work, around = program.head
    writer = Writer(config, hurry=hurry)
    scene = _prepared(writer, held, work)
    writer.flavour = around >> 5  # what a refusal repeats is the value that was sent
    WRONG[names[which % len(names)]](scene, a, b)
    writer.flavour = 0
    for n in range(around >> 2 & 7):
        _once_more(writer, scene, n, a, b)
    if around & 1:
        writer.send(scene.line, TOPIC, b"behind", receipt=writer.receipt(), when="now")
    writer.wait()
    _afterwards(writer, scene, around)
    return writer.plan()


def _once_more(writer: Writer, scene: Scene, nth: int, a: int, b: int) -> None:
    """Another wrong frame, of those that are wrong by themselves, on a connection of its own."""
    line = writer.connect(3)
    commands = (0, 3, 6)  # SEND, SUBSCRIBE, BEGIN
    wrong = WRONG[_ALONE[(b + nth) % len(_ALONE)]]
    wrong(Scene(writer, line, scene.sub), a // 8 + nth, commands[(a + nth) % len(commands)])
    writer.wait()
    line.ended = True


def _prepared(writer: Writer, held: int, work: int) -> Scene:
    witness, line = writer.line(1), writer.line(0)
    writer.subscribe(witness, TOPIC, receipt=writer.receipt())
    if work & 8:
        writer.send(witness, LATE, receipt=writer.receipt())
    mode = "client-individual" if held & 1 and line.version != "1.0" else "client"
    sub = writer.subscribe(line, QUEUE, mode, writer.identity("", held // 8), receipt=writer.receipt())
    for _ in range(1 + (held >> 1) % 3):
        writer.send(witness, QUEUE, receipt=writer.receipt())
    writer.wait()
    writer.say(line, "BEGIN", [("transaction", TX), writer.receipt()])
    for _ in range(work % 3):
        writer.send(line, TOPIC, headers=[("transaction", TX)])
    if work & 4 and held >> 1 & 3:
        writer.acknowledge(line, sub, 1, tx=TX)
    return Scene(writer, line, sub)


def _afterwards(writer: Writer, scene: Scene, around: int) -> None:
    """The wrong frame's connection ends, if the server has not ended it; then everything that is left is collected."""
    if around & 2:
        writer.hang(scene.line)
    collector = writer.connect(2)
    for place in (QUEUE, LATE):
        writer.subscribe(collector, place, receipt=writer.receipt())
    writer.wait()
    writer.send(collector, TOPIC, b"marker", receipt=writer.receipt())
