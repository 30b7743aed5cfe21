"""What a client is told, and what the tester, which is its server, says to it.

Source: STOMP 1.2, all frames; 1.1 and 1.0 where the session speaks them. Everything that the client is told is legal,
and so is everything that it is answered: what breaks a rule is in strategies/stomp/serving_badly.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Control, Plan, Ref, Say, SendBytes, Wait
from specs.stomp.features import LINE_ENDS
from specs.stomp.states import Config
from strategies.common import Op, Program, programs
from strategies.stomp.desk import BODIES, HEAD, MODES, TYPES, Serving
from strategies.stomp.writer import CRLF, REPEAT

EVERYTHING: Mapping[str, int] = {
    "message": 6, "send": 5, "burst": 2, "subscribe": 2, "ack": 4, "nack": 2, "tx": 3, "unsubscribe": 3, "eols": 2,
    "texts": 4, "words": 4, "many": 2, "again": 1, "alike": 2, "two": 2,
    "apart": 2,
}  # fmt: skip

# -- ops ---------------------------------------------------------------------------------------------------------------


def _send(s: Serving, op: Op) -> None:
    a, b, c, d, _ = op.args
    kind = TYPES[c % len(TYPES)]
    headers = {} if kind is None else {"content-type": kind}
    s.send(BODIES[a % len(BODIES)], headers, place=b, receipt=bool(d & 1))


def _burst(s: Serving, op: Op) -> None:
    """Several messages, one behind the other."""
    a, b, _, d, _ = op.args
    for n in range(2 + a % 4):
        s.send(BODIES[(b + n) % len(BODIES)], receipt=bool(d >> n & 1), when="now" if n else None, serve=False)
    s.serve(8)


def _words(s: Serving, op: Op) -> None:
    """A message with headers that are easily spoilt."""
    a, b, c, d, e = op.args
    s.send(b"w", s.headers(1 + c % 3, a, b), place=d, receipt=bool(e & 1))


def _subscribe(s: Serving, op: Op) -> None:
    if len(s.ears) < 6:
        s.subscribe(op.args[0], MODES[op.args[1] % 3])


def _message(s: Serving, op: Op) -> None:
    a, b, c, d, _ = op.args
    s.given(s.ear(a), BODIES[b % len(BODIES)], style=d, form=c, raw=c % 32 == 31 and bool(BODIES[b % len(BODIES)]))


def _texts(s: Serving, op: Op) -> None:
    """A message with headers that are easily spoilt, some of them repeated."""
    a, b, c, d, e = op.args
    headers = list(s.headers(1 + c % 3, a, b).items())
    if e % 4 == 1 and s.version != "1.0":
        headers.append((headers[0][0], "later"))
    s.given(s.ear(e), b"t", headers, style=d, form=c)


def _many(s: Serving, op: Op) -> None:
    """Messages at once, received one after the other."""
    a, b, c, d, _ = op.args
    ear = s.ear(a)
    places = [s.message(ear, BODIES[(b + n) % len(BODIES)], style=d, form=c + n, when=None if n == 0 else "now")
              for n in range(2 + c % 3)]  # fmt: skip
    for at in places:
        s.receive()
        if ear.mode != "auto":
            ear.open.append(at)


def _ack(s: Serving, op: Op) -> None:
    s.settle(
        s.ear(op.args[0], MODES[1 + op.args[1] % 2] if s.version != "1.0" else "client"),
        "ack",
        op.args[2],
        style=op.args[3],
    )


def _nack(s: Serving, op: Op) -> None:
    if s.version == "1.0":
        _ack(s, op)
    else:
        s.settle(s.ear(op.args[0], MODES[1 + op.args[1] % 2]), "nack", op.args[2], style=op.args[3])


def _apart(s: Serving, op: Op) -> None:
    """Several messages are open, and each is settled by itself: the last one first, or in another order."""
    a, b, c, d, e = op.args
    ear = s.ear(a, "client-individual" if s.version != "1.0" else "client")
    for n in range(2 + b % 3):
        s.given(ear, form=e + n)
    while ear.open:
        verb = "nack" if c & 1 and s.version != "1.0" else "ack"
        s.settle(ear, verb, d if d & 128 else -1)
        c //= 2


def _tx(s: Serving, op: Op) -> None:
    """A transaction, or two that are open together, of which one may stay open. A name may be used again, and so may
    what was settled in a transaction that is aborted."""
    a, b, c, d, e = op.args
    ends = "commit" if d & 128 or e & 2 else "abort"
    names = [s.called("t", s.fresh()) for _ in range(1 + a % 2)]
    for name in names:
        s.do("begin", transaction=name)
        s.serve()
    for n in range(b % 4):
        s.send(tx=names[(c >> n) % len(names)], receipt=bool(d >> n & 1))
    if d & 32:
        s.send()
    settled: list[int] = []
    if d & 16:
        ear = s.ear(e, "client-individual" if s.version != "1.0" else "client")
        if not ear.open:
            s.given(ear)
        verb = "nack" if d & 64 and s.version != "1.0" else "ack"
        settled = ear.open[:1]
        s.settle(ear, verb, 0, names[0])
    kept = names[1:] if b & 12 == 12 else []
    for name in names if e & 1 else names[::-1]:
        if name not in kept:
            s.do(ends, transaction=name)
            s.serve()
    for at in settled if ends == "abort" and c & 64 else []:
        s.do("ack", ref=Ref("ref", at))
        s.serve()
    if a & 8:
        s.do("begin", transaction=names[0])
        s.serve()
        s.send(tx=names[0])
        s.do("commit", transaction=names[0])
        s.serve()


def _unsubscribe(s: Serving, op: Op) -> None:
    """One subscription ends, perhaps while a later one stays, and perhaps another one begins."""
    ear = s.ear(op.args[0])
    if op.args[1] & 2 and len(s.ears) < 6:
        s.subscribe(op.args[3], MODES[op.args[4] % 3])
    ear.ended = True
    s.do("unsubscribe", sub=ear.name)
    s.serve()
    if op.args[1] % 4:
        s.given(s.subscribe(op.args[2], ear.mode))


def _eols(s: Serving, op: Op) -> None:
    """Line ends, and a message behind them."""
    a, b, c, _, _ = op.args
    eol = b"\r\n" if a & 1 and s.version == "1.2" else b"\n"
    ear = s.ear(c)
    s.steps.append(SendBytes(0, (s.here(), eol * (1 + b % 5)), s.when))
    s.features.add(LINE_ENDS)
    s.given(ear)


def _again(s: Serving, op: Op) -> None:
    """A message that is not acknowledged, or by NACK, comes again."""
    a, b, _, _, _ = op.args
    ear = s.ear(a, "client-individual" if s.version != "1.0" else "client")
    at = s.message(ear, b"again", form=a)
    step = next(each for each in reversed(s.steps) if isinstance(each, Say) and each.frame.command == "MESSAGE")
    s.receive()
    ear.open.append(at)
    if s.version != "1.0":
        s.settle(ear, "nack", len(ear.open) - 1)
        headers = tuple((n, f"{v}again" if n == "ack" else v) for n, v in step.frame.headers)
        s.steps.append(replace(step, frame=replace(step.frame, headers=(*headers, ("redelivered", "true")))))
        s.said += 1
        s.receive()
        if b % 2:
            ear.open.append(s.said - 1)
            s.settle(ear, "ack", len(ear.open) - 1)


def _alike(s: Serving, op: Op) -> None:
    """Headers that look like those of the protocol stand before and behind these."""
    a, b, _, d, _ = op.args
    if s.version == "1.0":
        _message(s, op)
        return
    ear, number = s.ear(a), s.fresh()
    names = ("Subscription", "Message-Id", "ACK", "Destination", "Content-Length", "Foo")
    name = names[b % len(names)]
    headers: list[tuple[str, Any]] = [(name, "1"), ("destination", ear.place), ("message-id", f"m{number}")]
    headers += [("subscription", s.id_of(ear)), ("ack", f"a{number}"), ("foo", "2"), (name.upper() + "-x", "3")]
    s.say("MESSAGE", headers, b"#%d alike" % number, style=d & ~REPEAT)
    s.said += 1
    s.receive()
    if ear.mode != "auto":
        ear.open.append(s.said - 1)


def _two(s: Serving, op: Op) -> None:
    """Two subscriptions to one destination: each gets its own."""
    a, b, c, d, _ = op.args
    place = a if s.version != "1.0" else 0
    one, other = s.subscribe(place, MODES[b % 3]), s.subscribe(place if s.version != "1.0" else 1, MODES[b // 3 % 3])
    pair = (other, one) if c & 1 else (one, other)
    for ear in pair:
        s.given(ear, style=d, form=c)
    if b & 32:
        pair[0].ended = True
        s.do("unsubscribe", sub=pair[0].name)
        s.serve()
        s.given(pair[1], style=d)


_OPS: Mapping[str, Callable[[Serving, Op], None]] = {
    "message": _message, "send": _send, "burst": _burst, "subscribe": _subscribe, "ack": _ack, "nack": _nack, "tx": _tx,
    "unsubscribe": _unsubscribe, "eols": _eols, "texts": _texts, "words": _words, "many": _many, "again": _again,
    "alike": _alike, "two": _two, "apart": _apart,
}  # fmt: skip


def conversations(*kinds: str, most: int = 8) -> SearchStrategy[Program]:
    """Conversations with ops of some kinds, of all when none is named."""
    return programs({kind: EVERYTHING[kind] for kind in kinds} if kinds else EVERYTHING, head=HEAD, most=most)


def play(s: Serving, ops: Sequence[Op]) -> None:
    """What ops mean, while the client is connected."""
    for op in ops:
        _OPS[op.kind](s, op)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The plan that a program means. Head: ways of writing, names, how the session is opened, how RECEIPTs
    look."""
    s = Serving(config, program.head, hurry=hurry)
    s.connect()
    play(s, program.ops)
    s.end()
    return s.plan()


VERSIONS = ("1.0", "1.1", "1.2")
UNOFFERED = ("!9.9", "!2.0", "!1.3", "!0.9", "!1.20")


def negotiations() -> SearchStrategy[Program]:
    """Versions that are offered, and chosen."""
    return programs({"send": 2, "message": 2, "ack": 3, "nack": 2, "tx": 1, "words": 3}, head=HEAD, most=3)


def negotiating(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The client offers several versions, of which the server chooses one; or it chooses another."""
    wire, which, opening, style = program.head
    s = Serving(config, (wire & ~CRLF, 0, opening, 0), hurry=hurry)
    older = VERSIONS[: VERSIONS.index(config.version)]
    offered = [each for n, each in enumerate(older) if which >> n & 1] + [config.version]
    if style % 3 == 2 and config.version != "1.0":
        others = [f"!{each}" for each in older if each not in offered]
        choices = (*UNOFFERED, *others)
        s.connect(offered, choices[style // 3 % len(choices)])
        s.steps.append(Wait(0))
        s.do("subscribe", destination=s.place(0), sub="s0", ack="auto")
        s.do("send", destination=s.place(0), body_hex=b"early".hex(), headers={}, receipt=False)
        s.steps += [Wait(0), Control(0, "drop", {}), Wait(0)]
        return s.plan()
    wish = offered[which // 4 % (2 * len(offered) - 1) // 2]  # mostly an older one, if there is one
    s.connect(offered, "" if wish == "1.0" and which & 64 else wish)
    s.version = wish
    if wish == "1.0":
        _raw_of_1_0(s, opening)
    if wish == "1.1":
        s.send(b"raw", {"k": "a\rb\nc:d\\e"})  # 1.1 has no escape for CR, which stands as it is
    if opening & 64 and wish != config.version:  # what versions write in several ways
        _words(s, Op("words", (opening, style, which, 0, 0)))
    if opening & 32 and wish != "1.0":
        s.ear(0, "client-individual")
        s.subscribe(1)
    play(s, [op for op in program.ops if op.kind != "message" or wish == config.version])
    s.end()
    return s.plan()


def _raw_of_1_0(s: Serving, ways: int) -> None:
    """In a session of 1.0 a backslash is a backslash, both ways: one alone shows what is wrong with it. What the client
    is given is said as octets: then both ends have the same version."""
    if ways % 4:
        s.send(b"raw", {"k": "a\\nb:c\\\\d"})
    if ways % 4 == 1:
        return
    ear = s.subscribe(0, "client")
    head = b"MESSAGE\ndestination:" + ear.place.encode() + b"\nmessage-id:raw\nk:a\\nb\\\\c\nsubscription:"
    s.steps.append(SendBytes(0, (head, s.id_of(ear), b"\n\nraw\0"), s.when))
    s.said += 1
    s.receive()
    ear.open.append(s.said - 1)
