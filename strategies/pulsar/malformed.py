"""Octets that are no frames, frames that are no commands, and the largest ones that are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from specs.plan import Close, Ref
from specs.pulsar.batches import batch
from specs.pulsar.frames import SAFE_TOTAL, SECOND, Draft, draft
from strategies.pulsar.writer import Line, Pen, Writer

Numbers = tuple[int, ...]
Misuse = Callable[[Writer, Numbers], None]


def ready(w: Writer, n: Numbers) -> tuple[Line, Pen]:
    """A producer and a consumer with permits, with some messages."""
    line = w.line()
    ear = w.ear(line, "t", "s", n[4] % 2)
    w.flow(ear, 100)
    pen = w.pen(line, "t")
    for _ in range(n[3] % 3):
        w.send(pen)
    return line, pen


def _size(w: Writer, n: Numbers) -> None:
    """A frame that is announced too large."""
    line = w.line()
    sizes = (6_000_000, 5_253_121, 16_777_216, 1 << 31, (1 << 32) - 1)
    w.blurt(line, sizes[n[0] % 5].to_bytes(4, "big") + bytes(100))


def _short(w: Writer, n: Numbers) -> None:
    """A frame that ends inside its command."""
    w.blurt(w.line(), (9 - 1 - n[0] % 5).to_bytes(4, "big") + bytes.fromhex("0000000508129201") + b"\x00" * 8)


def _behind(w: Writer, n: Numbers) -> None:
    line, _pen = ready(w, n)
    w.say(line, Draft("PING", rest=(b"\x00", b"\x00\x00\x00\x09", b"abcdefgh")[n[0] % 3]))


def _garbage(w: Writer, n: Numbers) -> None:
    bodies = (b"\xff" * 7, b"\x08", b"\x08\x05", b"\x08\x05\x2a\x00", b"\x08\x04\x22\x02\x0a\x00", b"", b"\x00" * 5)
    body = bodies[n[0] % len(bodies)]
    w.blurt(w.line(), (4 + len(body)).to_bytes(4, "big") + len(body).to_bytes(4, "big") + body)


def _lying(w: Writer, n: Numbers) -> None:
    """CMD_SIZE beyond the frame."""
    sizes = (6, 255, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
    w.blurt(
        w.line(), bytes.fromhex("00000009") + sizes[n[0] % len(sizes)].to_bytes(4, "big") + bytes.fromhex("0812920100")
    )


def _unknown(w: Writer, n: Numbers) -> None:
    kinds = (1, 69, 99, 127)
    w.blurt(w.line(), bytes.fromhex("0000000600000002") + bytes((8, kinds[n[0] % 4])))


def _hollow(w: Writer, n: Numbers) -> None:
    """A type without its sub-message."""
    kinds = (4, 5, 10, 11, 18, 23)
    w.blurt(w.line(), bytes.fromhex("0000000600000002") + bytes((8, kinds[n[0] % 6])))


def _double(w: Writer, n: Numbers) -> None:
    """Two sub-messages in one command."""
    line, _ = ready(w, n)
    w.settle()
    asked = {"topic": Ref("topic", "t"), "request_id": w.request(line)}
    w.say(line, Draft("LOOKUP", asked, extra=SECOND))


def _checksum(w: Writer, n: Numbers) -> None:
    """SENDs with a wrong checksum among good ones."""
    _, pen = ready(w, n)
    for i in range(1 + n[1] % 3):
        if n[2] >> i & 1:
            w.send(pen)
        w.send(pen, 0, None if n[3] % 4 else b"", check="bad", messages=n[0] % 3 if n[3] % 4 else 0)
    w.send(pen, check="good" if n[4] // 2 % 2 else "")
    w.wait()


def _metadata(w: Writer, n: Numbers) -> None:
    """METADATA_SIZE beyond the frame."""
    line, pen = ready(w, n)
    size = (1000, 1 << 31, (1 << 32) - 1)[n[0] % 3]
    w.settle()
    w.say(
        line, Draft("SEND", {"producer_id": pen.id, "sequence_id": pen.seq}, rest=size.to_bytes(4, "big") + b"abcdef")
    )


def _simple(w: Writer, n: Numbers) -> None:
    """SEND without a payload part."""
    line, pen = ready(w, n)
    w.settle()
    w.say(line, draft("SEND", producer_id=pen.id, sequence_id=pen.seq))


def _batch_lies(w: Writer, n: Numbers) -> None:
    """A batch that cannot be taken apart: nothing that a broker looks at."""
    _, pen = ready(w, n)
    payloads = (
        b"\xff\xff\xff\xff",
        batch([({"payload_size": 1000}, b"x")]),
        batch([({"payload_size": -5}, b"x")]),
        b"",
    )
    w.send(
        pen, 0, payloads[n[0] % 4], meta={"num_messages_in_batch": 1 + n[1] % 3}, fields={"num_messages": 1 + n[1] % 3}
    )
    w.send(pen)
    w.wait()


def _last_word(w: Writer, n: Numbers) -> None:
    """Part of a frame, then nothing."""
    line, _ = ready(w, n)
    w.blurt(line, bytes.fromhex("0000000900000005081292")[: 1 + n[0] % 10])
    w.settle()
    w.hang(0, ("close", "reset")[n[1] % 2])


def _half(w: Writer, n: Numbers) -> None:
    """Our side of the connection ends."""
    ready(w, n)
    w.settle()
    line = w.lines.pop(0)
    w.steps.append(Close(line.number, "eof"))
    w.wait()


def largest(w: Writer, n: Numbers) -> None:
    """As large as every reading of the limit allows."""
    line = w.line()
    ear, pen = w.ear(line, "t", "s"), w.pen(line, "t")
    w.flow(ear, 10)
    w.send(pen, payload=b"\x0e\x01" * ((SAFE_TOTAL - 120 - n[0]) // 2))
    w.send(pen)
    w.wait()


MALFORMED: Mapping[str, Misuse] = {
    "half": _half, "size": _size, "short": _short, "behind": _behind, "garbage": _garbage, "lying": _lying,
    "unknown": _unknown, "hollow": _hollow, "double": _double, "checksum": _checksum, "metadata": _metadata,
    "simple": _simple, "batch-lies": _batch_lies, "last-word": _last_word,
}  # fmt: skip
