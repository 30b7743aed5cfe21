"""Servers that break a rule, plead no limits, or end the connection, and what a client is told behind that.

Source: STOMP 1.2, Value Encoding, Header content-length, Size Limits, ERROR; our own minimum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Control, Plan, Ref, SendBytes, Wait
from specs.stomp.headers import SPECIAL
from specs.stomp.states import Config
from strategies.common import Program, programs
from strategies.stomp.desk import HEAD, QUIET_MS, Ear, Serving
from strategies.stomp.serving import EVERYTHING, play

Misuse = Callable[[Serving, Ear, int, int], None]
_ESCAPES = (b"\\t", b"\\C", b"\\0", b"\\x41", b"\\R", b"\\ ", b"\\a", b"\\\xc3\xa9")
_GARBAGE: Sequence[bytes] = (
    b"HTTP/1.1 400 Bad Request\r\n\r\n\0", b"\0\0\0", b"MESSAGE\n\0", b"\x16\x03\x01\x02\x00\x01\0\n\n\0", b"FOO\n\n\0",
    b"message\ndestination:x\n\n\0", b"CONNECTED\nversion:1.2\n\n\0", b"RECEIPT\nreceipt-id:never\n\n\0",
    b"RECEIPT\n\n\0", b"MESSAGE\n\nx\0", b"MESSAGE\ndestination:/x\nmessage-id:1\nsubscription:nobody\n\nx\0",
    b"MESSAGE\nnocolon\n\nx\0", b"MESSAGE\n:x\n\nx\0", b"SEND\ndestination:/x\n\nx\0", b"\xff\xfe\0", b":\n\n\0",
    b"MESSAGE\ncontent-length:abc\n\nx\0", b"MESSAGE\ncontent-length:-1\n\nx\0", b"ERROR\n\n\0", b"\r\r\r\0",
    b"CONNECTED\nversion\n\n\0", b"MESSAGE\ncontent-length:99999999999999999999\n\nx\0",
)  # fmt: skip


ROW = HEAD
"""The place of the head number that chooses the misuse."""
APART_MS = 10
"""What is said behind such a pause is read by itself."""


def _raw(s: Serving, ear: Ear, lines: bytes, body: bytes, when: str | None = None, apart: int = 0) -> None:
    """A MESSAGE; what is behind so many octets of its body, if any are given, comes apart."""
    number = s.fresh()
    head = (
        b"MESSAGE\ndestination:" + ear.place.encode() + b"\nmessage-id:m%d\nack:a%d\nsubscription:" % (number, number)
    )
    whole, first = body + b"\0", apart or len(body) + 1
    s.steps.append(SendBytes(0, (head, s.id_of(ear), b"\n" + lines + b"\n" + whole[:first]), when or s.when))
    if whole[first:]:
        s.steps += [Wait(APART_MS), SendBytes(0, whole[first:], "now")]
    s.said += 1


def _undefined(s: Serving, ear: Ear, a: int, b: int) -> None:
    escape = _ESCAPES[a % len(_ESCAPES)]
    line = (b"k:x%by\n", b"k%b:x\n", b"k:%b\n", b"k:\\\\%b\n")[b % 4] % escape
    if b & 4:  # in a RECEIPT, where a client looks at one header alone
        s.send(b"asks", receipt=True, serve=False)
        whole = (b"RECEIPT\nreceipt-id:", Ref("receipt", (0, s.version)), b"\n" + line + b"\n\0")
        s.steps.append(SendBytes(0, whole, s.when))
        return
    _raw(s, ear, line, b"#bad escape")


def _trailing(s: Serving, ear: Ear, a: int, b: int) -> None:
    _raw(s, ear, (b"k:x\\\n", b"k\\:x\n", b"k:\\\n", b"k:x\\\\\\\n")[a % 4], b"#bad end")


def _short(s: Serving, ear: Ear, a: int, b: int) -> None:
    """The length is too small, and the rest looks like a frame, or like nothing."""
    forged = b"\0MESSAGE\ndestination:/f\nmessage-id:f\nsubscription:f\n\n#forged\0"
    body = (b"#0123456789", b"#ab\0cd", "#é漢".encode(), b"#" + forged)[b % 4]
    length = 1 + a % (len(body) - 1)
    if body[length : length + 1] == b"\0":
        length -= 1
    plain = SPECIAL.search(ear.place) is None  # nothing is wrong yet with what comes first
    _raw(s, ear, b"content-length:%d\n" % length, body, apart=length if b & 4 and plain else 0)


def _garbage(s: Serving, ear: Ear, a: int, b: int) -> None:
    s.steps.append(SendBytes(0, (s.here(), _GARBAGE[a % len(_GARBAGE)]), s.when))


def _error(s: Serving, ear: Ear, a: int, b: int) -> None:
    """An ERROR about nothing that was said, or about a SEND whose RECEIPT the client waits for."""
    headers: list[tuple[str, Any]] = [("message", "no: way\\" if s.version != "1.0" else "no")] if a & 1 else []
    if a & 8:
        s.send(b"refused", receipt=True, serve=False)
        headers.append(("receipt-id", Ref("receipt", (0, s.version))))
    elif a & 2:
        headers.append(("receipt-id", "77"))
    s.say("ERROR", headers, b"" if a & 4 else b"The reason\n is here", style=b)


def _torn(s: Serving, ear: Ear, a: int, b: int) -> None:
    """The connection ends inside of a frame."""
    whole = b"MESSAGE\ndestination:/x\nmessage-id:1\nsubscription:s0\ncontent-length:9\n\n#cut off"
    s.steps.append(SendBytes(0, (s.here(), whole[: 1 + a % len(whole)]), s.when))


def _nothing(s: Serving, ear: Ear, a: int, b: int) -> None:
    pass


MISUSES: Mapping[str, Misuse] = {
    "undefined": _undefined, "trailing": _trailing, "short": _short, "garbage": _garbage, "error": _error,
    "torn": _torn, "nothing": _nothing,
}  # fmt: skip
_WHEEL = ("undefined", "trailing", "short", "garbage", "error", "torn", "nothing", "garbage", "short", "undefined")


def misuses() -> SearchStrategy[Program]:
    """A session, one thing that breaks a rule, and what comes behind."""
    kinds = ("message", "send", "ack", "subscribe")
    return programs({kind: EVERYTHING[kind] for kind in kinds}, head=HEAD + 3, most=3)


def misusing(program: Program, config: Config, *, hurry: bool = False, only: str = "") -> Plan:
    """Behind the misuse a good message is said, the client is asked for messages and told to send, and at last the
    connection ends: by then whatever it was told has to end."""
    *head, which, a, b = program.head
    s = Serving(config, (head[0], head[1], head[2], 0), hurry=hurry)
    s.connect()
    play(s, program.ops[: len(program.ops) - 1])
    ear = s.ear()
    name = only or _WHEEL[which % len(_WHEEL)]
    if config.version == "1.0" and name in ("undefined", "trailing"):
        name = "garbage"
    if head[3] & 1:
        s.receive(when="now")
    MISUSES[name](s, ear, a, b)
    if name not in ("torn", "nothing"):
        s.message(ear, b"behind", when="now")
        s.receive(QUIET_MS, "now")
        s.receive(QUIET_MS, "now")
    if head[3] & 2:
        s.do("send", "now", destination=ear.place, body_hex=b"late".hex(), headers={}, receipt=True)
    s.steps += [Wait(1), Control(0, "drop", {}, "now"), Wait(0)]
    s.receive(QUIET_MS)
    s.do("disconnect")
    s.steps.append(Wait(0))
    return s.plan()


def giants() -> SearchStrategy[Program]:
    """Frames beyond what a client has to take."""
    return programs({"message": 1}, head=HEAD + 2, most=1)


def growing(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """One very large frame. The client takes it, or not; it goes on living."""
    *head, which, size = program.head
    s = Serving(config, (head[0], head[1], 0, 0), hurry=hurry)
    s.connect()
    ear = s.ear()
    number = (1 << 17, 1 << 18, 1 << 20)[size % 3]
    if which % 3 == 0:
        s.message(ear, b"x" * number)
    elif which % 3 == 1:
        s.message(ear, headers=[("k", "x" * (number // 4))])
    else:
        s.message(ear, headers=[(f"k{n}", "x") for n in range(200 + size)])
    s.receive(QUIET_MS)
    s.steps += [Wait(1), Control(0, "drop", {}), Wait(0)]
    s.receive(QUIET_MS)
    s.do("disconnect")
    s.steps.append(Wait(0))
    return s.plan()
