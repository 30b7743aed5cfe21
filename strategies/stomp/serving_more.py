"""Sessions that come again after a cut, what is said while the client waits for something else, and frames in many
pieces.

Source: STOMP 1.2, Connecting, RECEIPT, MESSAGE, Size Limits, Heart-beating; 003_30478fd2f19f0da0.txt L30, L194-212,
L250-255.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Ref, Say, SendBytes, Wait
from specs.stomp.states import Config
from strategies.common import Op, Program, programs
from strategies.stomp.desk import BODIES, HEAD, Ear, Serving
from strategies.stomp.serving import EVERYTHING, play
from strategies.stomp.serving_rhythms import BEATS

_WORK = ("message", "send", "ack", "nack", "tx", "subscribe", "unsubscribe", "texts", "words")


def _some(*kinds: str) -> Mapping[str, int]:
    return {kind: EVERYTHING[kind] for kind in kinds}


# -- after a cut -------------------------------------------------------------------------------------------------------

STALE_MS = 700
"""A silence in which a timer that was set for the connection before would have rung."""
_TORN: Sequence[bytes] = (
    b"MESSAGE\ndestination:/x\nmessage-id:1\nsubscription:s0\ncontent-length:900\n\n#cut",
    b"MESSAGE\ndestination:/x\nmessage-id:1\n", b"MESS", b"RECEIPT\nreceipt-id:", b"\r",
)  # fmt: skip
"""What stands at the end of a connection that is cut."""


def _quiet(s: Serving, a: int, b: int) -> None:
    pass


def _torn(s: Serving, a: int, b: int) -> None:
    """It ends inside of a frame."""
    s.steps.append(SendBytes(0, (s.here(), _TORN[a % len(_TORN)]), s.when))


def _unanswered(s: Serving, a: int, b: int) -> None:
    """The client waits for a RECEIPT that does not come any more."""
    s.send(b"lost", receipt=True, serve=False)


def _unread(s: Serving, a: int, b: int) -> None:
    """There are messages that nobody has received."""
    for n in range(1 + a % 3):
        s.message(s.ear(b), BODIES[(a + n) % len(BODIES)])


def _unsettled(s: Serving, a: int, b: int) -> None:
    """Messages were received and are open."""
    for _ in range(1 + a % 3):
        s.given(s.ear(b, "client" if a & 4 or s.version == "1.0" else "client-individual"))


def _settled(s: Serving, a: int, b: int) -> None:
    """The last thing that the client was told is an acknowledgement."""
    ear = s.ear(b, "client")
    s.settle(ear, "ack", 0)


def _open(s: Serving, a: int, b: int) -> None:
    """A transaction is open, with something in it."""
    name = s.called("t", s.fresh())
    s.do("begin", transaction=name)
    s.serve()
    s.send(tx=name)


def _refused(s: Serving, a: int, b: int) -> None:
    """The server ends it by an ERROR."""
    s.say("ERROR", [("message", "no")] if a & 1 else [], b"why" * (b & 1))


_CUTS: Sequence[Callable[[Serving, int, int], None]] = (
    _quiet, _torn, _unanswered, _unread, _unsettled, _settled, _open, _refused,
)  # fmt: skip


REFUSALS: Sequence[bytes] = (b"", b"message:access refused\n", b"message:try again\ncontent-length:2\n")
"""Header lines of an ERROR in place of CONNECTED."""


def returns() -> SearchStrategy[Program]:
    """Sessions that are cut, and what is done in those that follow."""
    return programs(_some(*_WORK), head=HEAD + 5, most=4)


def returning(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The connection is cut, and the client is told to connect again. Head: as in `serving`; how it is cut (two
    numbers), the heart-beats before and after it, and how the next session is opened. Half of the ops stand before. By
    some numbers the server refuses to let the client in at first."""
    *head, how, a, b, beats, opening = program.head
    s = Serving(config, (head[0], head[1], head[2], head[3]), hurry=hurry)
    first = BEATS[beats % len(BEATS)] if beats & 64 else (0, 0)
    s.connect(more=b"heart-beat:200,200\n" if any(first) and s.version != "1.0" else None, beats=first)
    half = len(program.ops) // 2
    play(s, program.ops[:half])
    _CUTS[how % len(_CUTS)](s, a, b)
    s.cut()
    for nth in range((b & 24 == 24) + (b & 120 == 120)):
        s.refused(opening, REFUSALS[(b + nth) % len(REFUSALS)])
    s.again(opening, more=None if not any(first) else b"")
    if any(first):
        s.send(b"early")
        s.steps.append(Wait(STALE_MS))
    play(s, program.ops[half:])
    s.given(s.ear(a), b"again", style=head[3])
    s.send(b"again", receipt=bool(b & 2))
    s.end()
    return s.plan()


# -- meanwhile ---------------------------------------------------------------------------------------------------------


LEAVING_MS = 30
"""Time in which a client that leaves may do something with what comes behind its DISCONNECT."""


def meetings() -> SearchStrategy[Program]:
    """Commands that ask for a receipt, and messages that come before it does."""
    kinds = {"send": 3, "subscribe": 3, "unsubscribe": 3, "ack": 3, "nack": 2, "tx": 3, "disconnect": 1}
    return programs(kinds, head=HEAD, most=5)


def meeting(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Whatever the client is told asks for a receipt; before that comes, messages do, which it receives behind."""
    s = Serving(config, program.head, hurry=hurry)
    s.connect()
    ears = [s.subscribe(0, "auto"), s.subscribe(1, "client" if s.version == "1.0" else "client-individual")]
    left = False
    for op in program.ops:
        if not left:
            left = _meet(s, op, ears)
    if not left:
        s.given(ears[0], b"last")
        s.end()
    return s.plan()


def _meet(s: Serving, op: Op, ears: list[Ear]) -> bool:
    """One command; True when the client leaves by it."""
    a, b, c, d, e = op.args
    ear, settling = ears[a % 2], ears[1]
    at: list[int] = []

    def push() -> None:
        at.extend(s.message(ear, BODIES[(c + n) % len(BODIES)], style=d, form=e + n) for n in range(1 + b % 3))

    if op.kind == "disconnect":
        s.end(lambda: _behind(s, push))
        return True
    if op.kind == "tx":
        _transaction(s, push, b)
    elif op.kind in ("ack", "nack"):
        if not settling.open:
            s.given(settling)
        verb = "ack" if s.version == "1.0" else op.kind
        _asked(s, verb, push, ref=_taken(settling))
    elif op.kind == "subscribe" and len(s.ears) < 8:
        other = Ear(s.called("s", len(s.ears)), s.place(2 + b), "auto")
        s.ears.append(other)
        ear = other if c & 16 else ear
        _asked(s, "subscribe", push, destination=other.place, sub=other.name, ack="auto")
    elif op.kind == "unsubscribe":
        other = s.subscribe(2 + c)
        other.ended = True
        _asked(s, "unsubscribe", push, sub=other.name)
    else:
        _asked(s, "send", push, destination=s.place(b), body_hex=(b"#%d" % s.fresh()).hex(), headers={})
    for place in at:
        s.receive()
        if ear.mode != "auto":
            ear.open.append(place)
    return False


def _behind(s: Serving, push: Callable[[], None]) -> None:
    """What comes behind DISCONNECT, and time to do something with it."""
    push()
    s.steps.append(Wait(LEAVING_MS))


def _taken(ear: Ear) -> Any:
    """The first message that is open, which is settled by this."""
    return Ref("ref", ear.open.pop(0))


def _asked(s: Serving, name: str, push: Callable[[], None], **given: Any) -> None:
    """A command that asks for a receipt, and what is said before that comes."""
    s.do(name, receipt=True, **given)
    push()
    s.serve()


def _transaction(s: Serving, push: Callable[[], None], b: int) -> None:
    """Each step of a transaction asks for a receipt."""
    name = s.called("t", s.fresh())
    _asked(s, "begin", push if b & 1 else _nothing, transaction=name)
    s.send(tx=name, receipt=bool(b & 2))
    _asked(s, "commit" if b & 4 else "abort", push if not b & 1 else _nothing, transaction=name)


def _nothing() -> None:
    pass


# -- in many pieces ----------------------------------------------------------------------------------------------------


def torn_ones() -> SearchStrategy[Program]:
    """Frames that are large, or cut at every octet."""
    return programs({"message": 1}, head=HEAD + 3, most=2, least=1)


SIZES = (1 << 10, 1 << 12, 1 << 14, (1 << 16) - 100, 1 << 17, 1 << 20)
"""Sizes of bodies: those of more than 64 KiB a client need not take."""
MOST_PIECES = 64


def tearing(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """A large message that comes in many segments, with NULs and line ends where they are cut, and one behind it."""
    *head, size, pieces, form = program.head
    s = Serving(config, (head[0], head[1], head[2], 0), hurry=hurry)
    s.connect()
    ear = s.ear(form)
    number = SIZES[size % len(SIZES)]
    filling = (b"x", b"\0", b"\n", b"ab\0\n", "é漢".encode(), bytes(range(256)), b"\0\nMESSAGE\n\n")[form % 7]
    at = s.message(ear, (filling * (number // len(filling) + 1))[:number])
    said = next(step for step in reversed(s.steps) if isinstance(step, Say) and step.frame.command == "MESSAGE")
    if pieces % MOST_PIECES:
        every = max(1, number // (1 + pieces % MOST_PIECES))
        s.steps[s.steps.index(said)] = replace(said, cuts=tuple(range(every, number + 200, every))[: 2 * MOST_PIECES])
        s.features.add("cuts")
    s.receive()
    if ear.mode != "auto":
        ear.open.append(at)
    if number <= SIZES[3]:
        s.given(ear, b"behind")
        play(s, program.ops[1:])
        s.end()
    else:
        s.cut()
        s.do("disconnect")
        s.steps.append(Wait(0))
    return s.plan()
