"""Octets that are no STOMP frames, frames whose lines or lengths lie, and frames that never end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from strategies.stomp.writer import PLACES, Line, Writer

Misuse = Callable[[Writer, Line, int, int], None]
"""Says one bad thing on a line; the numbers choose among its forms."""
QUEUE, TOPIC = PLACES[0], PLACES[1]


def delivery(w: Writer, line: Line, mode: str) -> str:
    """One message delivered to a new subscription on `line`; the subscription's id."""
    sub = w.subscribe(line, PLACES[2], mode, receipt=w.receipt())
    w.send(line, PLACES[2], receipt=w.receipt())
    w.wait()
    return sub.id


def raw(w: Writer, line: Line, lines: Sequence[bytes], body: bytes = b"x", *, command: bytes = b"SEND") -> None:
    """A SEND (or another frame) with header lines given as octets, between a destination and a receipt."""
    known = [b"\nk:%d\nreceipt:%b\n" % (w.fresh(), w.receipt(0)[1].encode()), *[text + b"\n" for text in lines]]
    w.blurt(line, command + b"\ndestination:", TOPIC, *known, b"\n" + body + b"\0")


def undefined_escape(w: Writer, line: Line, a: int, b: int) -> None:
    escape = (b"\\t", b"\\C", b"\\0", b"\\:", b"\\x41", b"\\R", b"\\\xc3\xa9", b"\\ ")[a % 8]
    text = (b"a:x%by", b"a%b:x", b"a:%b", b"a:\\\\%b")[b % 4] % escape
    if b % 16 == 15:
        w.say(line, "BEGIN", [("transaction", "bad"), w.receipt()])
        w.send(line, TOPIC, b"inside", [("transaction", "bad")], receipt=None)
        verb = (b"COMMIT", b"ABORT")[a % 2]
        w.blurt(line, verb + b"\ntransaction:bad\nx:a%b\nreceipt:%b\n\n\0" % (escape, w.receipt(0)[1].encode()))
    elif b % 16 == 13:
        sub = delivery(w, line, "client")
        (name, ref), *_ = w.handle(line, sub, 0)
        known = b"\nx:a%b\nreceipt:%b\n\n\0" % (escape, w.receipt(0)[1].encode())
        w.blurt(line, b"ACK\n" + name.encode() + b":", ref, known)
    elif b % 8 == 7:
        w.blurt(line, b"BEGIN\ntransaction:t%b\nreceipt:%b\n\n\0" % (escape, w.receipt(0)[1].encode()))
    elif b % 8 == 6:
        w.blurt(
            line, b"SUBSCRIBE\nid:s%b\nreceipt:%b\ndestination:" % (escape, w.receipt(0)[1].encode()), TOPIC, b"\n\n\0"
        )
    else:
        raw(w, line, [text])


def trailing_backslash(w: Writer, line: Line, a: int, b: int) -> None:
    raw(w, line, [(b"a:x\\", b"a\\:x", b"a:\\", b"a:x\\\\\\")[a % 4]])


def short_length(w: Writer, line: Line, a: int, b: int) -> None:
    body = (b"0123456789", b"ab\0cd", "é漢".encode(), b"x" * 300)[b % 4]
    raw(w, line, [b"content-length:%d" % (a % len(body))], body)


_NO_LENGTHS = (
    (b"abc", 1), (b"", 1), (b"-1", 1), (b"1e1", 10), (b"0x5", 5), (b"5.0", 5), (b"1,0", 10), (b"NaN", 1),
)  # fmt: skip
"""What is no content-length, and the octets that it would mean to whoever reads it as a number in some notation."""


def bad_length(w: Writer, line: Line, a: int, b: int) -> None:
    text, size = _NO_LENGTHS[a % 8]
    raw(w, line, [b"content-length:" + text], b"x" * (1 if b % 2 else size))


def padded_length(w: Writer, line: Line, a: int, b: int) -> None:
    raw(w, line, [b"content-length:" + (b"+1", b" 1", b"1 ", b"001", b"+0001")[a % 5]])


def huge_length(w: Writer, line: Line, a: int, b: int) -> None:
    number = (2**31, 2**32 + 1, 2**63 + 1, 2**64 + 1, 10**17, 10**29)[a % 6]
    raw(w, line, [b"content-length:%d" % number])


def repeated_length(w: Writer, line: Line, a: int, b: int) -> None:
    body = b"0123456789"
    w.features.add("lengths")
    raw(w, line, [b"content-length:10", b"content-length:%d" % (3, 5, 20)[a % 3]], body)


def broken_line(*forms: bytes) -> Misuse:
    def misuse(w: Writer, line: Line, a: int, b: int) -> None:
        raw(w, line, [forms[a % len(forms)]])

    return misuse


def unknown_command(w: Writer, line: Line, a: int, b: int) -> None:
    command = (b"FOO", b"send", b"Send", b"SEND ", b" SEND", b"SENDX", b"MESSAGES", b"PING")[a % 8]
    raw(w, line, [], command=command)


def no_blank_line(w: Writer, line: Line, a: int, b: int) -> None:
    w.blurt(line, b"SEND\nk:%d\ndestination:" % w.fresh(), TOPIC, b"\n\0")


def lone_nul(w: Writer, line: Line, a: int, b: int) -> None:
    w.blurt(line, b"\0" * (1 + a % 3))


def too_much(w: Writer, line: Line, a: int, b: int) -> None:
    fresh = w.connect(4)
    form = a % 5
    if form == 0:
        raw(w, fresh, [b"long:" + b"x" * 65_536])
    elif form == 1:
        raw(w, fresh, [b"h%d:x" % n for n in range(2000)])
    elif form == 2:
        raw(w, fresh, [], b"x" * (1 << 20))
    elif form == 3:
        w.blurt(fresh, b"X" * 4096 + b"\n\n\0")
    else:
        w.blurt(fresh, b"SEND\nlong:" + b"x" * 300_000)
        w.hang(fresh)
    fresh.ended = True


def junk_first(w: Writer, line: Line, a: int, b: int) -> None:
    fresh = w.bare(4)
    hello = bytes.fromhex("16030100c8010000c40303") + bytes(range(200))
    w.blurt(fresh, (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", hello, bytes(range(256)), b"\xff" * 64, b"\r\r\n")[a % 5])
    w.hang(fresh)


def cut_off(w: Writer, line: Line, a: int, b: int) -> None:
    fresh = w.connect(4)
    start = b"SEND\nk:%d\ndestination:" % w.fresh()
    rest = b"\ncontent-length:5\n\nhello\0"
    keep = len(rest) - 1 - a % 6 if b & 4 else (a * 7 + b) % len(rest)  # often inside of the body, or just behind it
    w.blurt(fresh, start, TOPIC, rest[:keep])
    w.hang(fresh, "reset" if b % 2 else "close")


def unfinished(w: Writer, line: Line, a: int, b: int) -> None:
    """A frame whose end comes late (legal): nothing may follow from it before."""
    number = w.fresh()
    body = (b"hello", b"a\0b\0c", "é漢😀".encode())[b % 3]
    head = b"\nk:%d\nreceipt:%b\ncontent-length:%d\n\n" % (number, w.receipt(0)[1].encode(), len(body))
    keep = a % len(body)
    w.blurt(line, b"SEND\ndestination:", TOPIC, head + body[:keep])
    w.wait(30)
    w.blurt(line, body[keep:] + b"\0")


def escaped_cr(w: Writer, line: Line, a: int, b: int) -> None:
    r"""A `\\r` or a CR LF in a 1.1 session, where neither has a meaning."""
    if "1.1" not in w.config.supports:
        return
    w.version, before = "1.1", w.version
    old = w.connect(4)
    w.version = before
    raw(w, old, [(b"a:x\\ry", b"a\\r:x", b"a:\\r")[a % 3]] if b % 4 else [b"a:x\r"])
    w.wait()
    old.ended = True
