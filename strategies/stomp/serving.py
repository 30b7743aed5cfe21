"""What a client is told, and what the tester, which is its server, says to it.

Source: STOMP 1.2, all frames; 1.1 and 1.0 where the session speaks them. Everything that the client is told is legal,
and so is everything that it is answered: what breaks a rule is in strategies/stomp/serving_badly.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis.strategies import SearchStrategy

from specs.plan import Control, Plan, Ref, Say, SendBytes, Step, Wait
from specs.stomp.client.duties import SHORT_MS
from specs.stomp.client.memory import RECEIVE_MS, connecting, greeting
from specs.stomp.frames import Frame, Style
from specs.stomp.states import Config
from strategies.common import Op, Program, programs
from strategies.stomp import texts
from strategies.stomp.writer import CRLF, CUTS, EOLS, EXTRA, JOIN, ORDER, REPEAT

HEAD = 4
MODES = ("auto", "client", "client-individual")
BODIES: Sequence[bytes] = (
    b"x", b"a\0b", b"", "é漢😀".encode(), b"\0", b"\n\n", b"\xff\xfe\x00\x80", b"\0MESSAGE\nforged:1\n\n\0", b" x ",
    b"line\r\nline\r\n", bytes(range(256)), b"\0\0\n\0", b"x" * 5000, b"\\n\\c", b"a:b\n\nc", b"\xe9\xe8",
)  # fmt: skip
PASSCODES = ("", "secret", "p:q\\c", "a\\n", "::", "\\", "é")
HOSTS = ("", "vhost", "a:b", "h\\c")
PLACES = ("a", "b", "a b", "é", "a:b", "a/b", "A", "x\\n")
TYPES = (
    None,
    "text/plain",
    "application/octet-stream",
    "text/plain;charset=utf-8",
    'text/plain; charset="utf-8"',
    None,
)
CONNECTED_WITH: Sequence[bytes] = (
    b"", b"server:wireproof/1 a comment\nsession:s1\n", b"session:a:b:c\n", b"heart-beat:0,0\n", b"content-length:0\n",
    b"x-path:c:\\new\\c\n", b"server:x/1:2\nheart-beat:0,0\n",
)  # fmt: skip
"""What stands in CONNECTED beside the version. There are no escapes in it, and values may hold colons (E-01)."""
_AROUND = (b"\n", b"\n\n\n", b"\r\n", b"\r\n\n")
EVERYTHING: Mapping[str, int] = {
    "message": 6, "send": 5, "burst": 2, "subscribe": 2, "ack": 4, "nack": 2, "tx": 3, "unsubscribe": 2, "eols": 2,
    "texts": 4, "words": 4, "many": 2, "again": 1, "alike": 2, "two": 2,
}  # fmt: skip


@dataclass(slots=True)
class Ear:
    """A subscription. `open` are messages that were received and not settled, as their places in the plan."""

    name: str
    place: str
    mode: str
    open: list[int] = field(default_factory=list)
    ended: bool = False


class Serving:
    """Collects steps: what the client is told (`do`), and what is said to it. `wire` are the ways of writing of
    `strategies.stomp.writer`, of which `style` of a frame picks some."""

    def __init__(self, config: Config, head: Sequence[int] = (0,) * HEAD, *, hurry: bool = False) -> None:
        self.config, self.hurry = config, hurry
        self.version = config.version
        self.wire, self.flavour, self.opening, self.style = head
        self.when = "now" if hurry else "turn"
        self.steps: list[Step] = []
        self.features: set[str] = {"together"} if hurry else set()
        self.ears: list[Ear] = []
        self.said = 0
        self._serial = 0
        self._fresh = 2

    def plan(self) -> Plan:
        """What was collected."""
        return Plan(tuple(self.steps), frozenset(self.features))

    def fresh(self) -> int:
        """A number that this plan has not used."""
        self._serial += 1
        return self._serial

    # -- what the client is told -------------------------------------------------------------------------------------

    def do(self, op: str, when: str | None = None, **given: Any) -> None:
        """Tell the client something."""
        self.steps.append(Control(0, op, given, when or self.when))

    def connect(self, versions: Sequence[str] = (), wish: str | None = None, more: bytes | None = None,
                beats: Sequence[int] = ()) -> None:  # fmt: skip
        """The client connects, and is let in."""
        given: dict[str, Any] = {"versions": list(versions)} if versions else {}
        passcode = PASSCODES[self.opening % len(PASSCODES)]
        if passcode:
            given |= {"login": "guest", "passcode": passcode}
        host = HOSTS[self.opening // 16 % len(HOSTS)]
        given |= {"host": host} if host else {}
        given |= {"heart_beat": list(beats)} if beats else {}
        self.steps.append(connecting(self.config, **given))
        more = CONNECTED_WITH[self.opening // 4 % len(CONNECTED_WITH)] if more is None else more
        if "1.0" in (self.version, wish) and b"session:" in more:
            more = b""  # one is there always
        eol = b"\n"
        if self.wire & CRLF and self.opening & 1 and self.version == "1.2" and wish is None and not more:
            eol = b"\r\n"
        self.greet = (self.version if wish is None else wish, more, eol)
        self._greets()

    def _greets(self) -> None:
        wish, more, eol = self.greet
        if eol != b"\n":
            self.features.add("crlf-connected")
        whole = greeting(self.config, wish, more, eol, self.when)
        if self.wire & CUTS and self.opening & 2 and isinstance(whole.data, tuple):
            first, ref, rest = whole.data
            self.steps.append(SendBytes(0, (first, ref), self.when))
            self.steps.append(SendBytes(0, (Ref("parting"), rest), "now"))
        else:
            self.steps.append(whole)

    def serve(self, upto: int = 4) -> None:
        """Let the client in if it connects only now, and answer what it wants to have receipted."""
        if self._fresh:
            self._fresh -= 1
            self._greets()
        headers: list[tuple[str, Any]] = [("receipt-id", Ref("receipt", (0, self.version)))]
        style = self.style
        if style & 1:
            headers.append(("content-length", "0"))
        if style & 2:
            headers.insert(0, ("x-more", self.value(style // 8) or "x"))
        self.say("RECEIPT", headers, style=style, upto=upto)

    def value(self, number: int, more: int = 0) -> str:
        """A header value that the version can write, and not an empty one where older versions may not have it."""
        found = texts.pick(texts.VALUES[self.version], number, more)
        return found if found or self.version == "1.2" else "x"

    def headers(self, count: int, a: int, b: int) -> dict[str, str]:
        """User headers."""
        found = {}
        for n in range(count):
            empty = self.version == "1.2" and (b + n) % 16 == 7
            found[texts.name_of(a + 37 * n, self.version)] = "" if empty else self.value(b + 11 * n, a)
        return found

    def place(self, number: int) -> str:
        """A destination."""
        name = PLACES[number % len(PLACES)]
        name = name if self.version != "1.0" or name.isalnum() else "a"
        return self.config.queue.template.replace("{name}", name)

    def send(self, body: bytes = b"x", headers: Mapping[str, str] | None = None, *, place: int = 0, tx: str = "",
             receipt: bool = False, when: str | None = None, serve: bool = True) -> None:  # fmt: skip
        """The client sends."""
        given: dict[str, Any] = {"destination": self.place(place), "body_hex": (b"#%d " % self.fresh() + body).hex(),
                                 "headers": dict(headers or {}), "receipt": receipt}  # fmt: skip
        self.do("send", when, **given, **({"transaction": tx} if tx else {}))
        if serve:
            self.serve()

    def subscribe(self, place: int = 0, mode: str = "auto") -> Ear:
        """The client subscribes."""
        if self.version == "1.0" and mode == "client-individual":
            mode = "client"
        ear = Ear(f"s{len(self.ears)}", self.place(place), mode)
        self.ears.append(ear)
        self.do("subscribe", destination=ear.place, sub=ear.name, ack=mode)
        self.serve()
        return ear

    def ear(self, number: int = 0, mode: str | None = None) -> Ear:
        """An open subscription, perhaps of a mode."""
        found = [ear for ear in self.ears if not ear.ended and mode in (None, ear.mode)]
        if found:
            return found[number % len(found)]
        return self.subscribe(number, mode or MODES[number % len(MODES)])

    def id_of(self, ear: Ear) -> Ref:
        """What the client calls a subscription, once that is known."""
        return Ref("sub", (ear.name, self.version))

    def here(self) -> Ref:
        """Nothing, once there is a session."""
        return Ref("here", (0, self.version))

    def receive(self, ms: int = RECEIVE_MS, when: str | None = None) -> None:
        """The client waits for a message."""
        self.do("receive", when, timeout_ms=ms)

    # -- what is said to it ------------------------------------------------------------------------------------------

    def say(self, command: str, headers: Sequence[tuple[str, Any]], body: bytes = b"", *, style: int = 0,
            when: str | None = None, upto: int = 1) -> None:  # fmt: skip
        """Say a frame; `style` picks among the ways of writing that the plan's head allows."""
        style &= self.wire
        headers = list(headers)
        if style & EXTRA:
            headers.append(("x-other", "1"))
        if style & ORDER:
            headers.reverse()
        if style & REPEAT and self.version == "1.2" and command == "MESSAGE":
            self.features.add("repeat")
            name = ("message-id", "subscription", "destination", "ack")[self._serial % 4]
            headers += [(name, "other")] if any(known == name for known, _ in headers) else []
        eol, after = b"\n", b""
        if style & CRLF and self.version == "1.2":
            eol = b"\r\n"
            self.features.add("crlf")
        if style & EOLS:
            after = _AROUND[self._serial % (4 if self.version == "1.2" else 2)]
            self.features.add("eols")
        cuts: tuple[int, ...] = ()
        if style & CUTS:
            cuts = tuple(range(1, 200)) if self._serial % 3 == 0 else (1 + self._serial % 11, 17 + self._serial % 31)
            self.features.add("cuts")
        how = when or self.when
        if style & JOIN and upto == 1:
            how = "join"
            self.features.add("together")
        frame = Frame(command, tuple(headers), body)
        self.steps.append(Say(0, frame, cuts, how, Style(self.version, eol, b"", after), upto))

    def message(self, ear: Ear, body: bytes = b"x", headers: Sequence[tuple[str, str]] = (), *, style: int = 0,
                form: int = 0, when: str | None = None, raw: bool = False) -> int:  # fmt: skip
        """A MESSAGE for a subscription; its place among those of the plan. `form`: whether it has a length and a type,
        and what its ids look like. `raw`: its body is as it stands, and not told from others."""
        number = self.fresh()
        body = body if raw else b"#%d " % number + body
        odd = ("", "", "é", ":x", "\\c", " ")[form // 16 % 6] if self.version != "1.0" else ""
        known: list[tuple[str, Any]] = [
            ("destination", ear.place), ("message-id", f"m{number}{odd}"), ("subscription", self.id_of(ear)),
        ]  # fmt: skip
        if ear.mode != "auto" or form & 8:
            known.append(("ack", f"{number}a{odd}"))
        if b"\0" in body or form % 2 == 0:
            known.append(("content-length", f"{len(body)}"))
        kind = TYPES[form // 2 % len(TYPES)]
        if kind is not None and self.version != "1.0":
            known.append(("content-type", kind))
        self.say("MESSAGE", [*known, *headers], body, style=style, when=when)
        self.said += 1
        return self.said - 1

    def given(self, ear: Ear, *args: Any, **options: Any) -> int:
        """A MESSAGE that the client receives."""
        at = self.message(ear, *args, **options)
        self.receive()
        if ear.mode != "auto":
            ear.open.append(at)
        return at

    def settle(self, ear: Ear, verb: str, number: int, tx: str = "", *, style: int = 0) -> None:
        """The client acknowledges a message that it has received, and in the mode client all before it."""
        if not ear.open:
            self.given(ear, style=style)
        if not ear.open:
            return
        at = ear.open[number % len(ear.open)]
        whole = ear.mode == "client"
        ear.open = [other for other in ear.open if (other > at if whole else other != at)]
        self.do(verb, ref=Ref("ref", at), **({"transaction": tx} if tx else {}))
        self.serve()

    def end(self, how: int = 0) -> None:
        """The client leaves, or the connection ends under it."""
        self.steps.append(Wait(0))
        self.do("disconnect")
        self.serve()
        self.steps += [Wait(0), Control(0, "drop", {}), Wait(0)]


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


def _tx(s: Serving, op: Op) -> None:
    """A transaction, or two that are open together."""
    a, b, c, d, e = op.args
    names = [f"t{s.fresh()}" for _ in range(1 + a % 2)]
    for name in names:
        s.do("begin", transaction=name)
        s.serve()
    for n in range(b % 4):
        s.send(tx=names[(c >> n) % len(names)], receipt=bool(d >> n & 1))
    if d & 32:
        s.send()
    if d & 16:
        ear = s.ear(e, "client-individual" if s.version != "1.0" else "client")
        if not ear.open:
            s.given(ear)
        verb = "nack" if d & 64 and s.version != "1.0" else "ack"
        s.settle(ear, verb, 0, names[0])
    for name in names if e & 1 else names[::-1]:
        s.do("commit" if d & 128 or e & 2 else "abort", transaction=name)
        s.serve()


def _unsubscribe(s: Serving, op: Op) -> None:
    ear = s.ear(op.args[0])
    ear.ended = True
    s.do("unsubscribe", sub=ear.name)
    s.serve()
    if op.args[1] % 2:
        s.given(s.subscribe(op.args[2], ear.mode))


def _eols(s: Serving, op: Op) -> None:
    """Line ends, and a message behind them."""
    a, b, c, _, _ = op.args
    eol = b"\r\n" if a & 1 and s.version == "1.2" else b"\n"
    ear = s.ear(c)
    s.steps.append(SendBytes(0, (s.here(), eol * (1 + b % 5)), s.when))
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
    for ear in (other, one) if c & 1 else (one, other):
        s.given(ear, style=d, form=c)


_OPS: Mapping[str, Callable[[Serving, Op], None]] = {
    "message": _message, "send": _send, "burst": _burst, "subscribe": _subscribe, "ack": _ack, "nack": _nack, "tx": _tx,
    "unsubscribe": _unsubscribe, "eols": _eols, "texts": _texts, "words": _words, "many": _many, "again": _again,
    "alike": _alike, "two": _two,
}  # fmt: skip


def conversations(*kinds: str, most: int = 8) -> SearchStrategy[Program]:
    """Conversations with ops of some kinds, of all when none is named."""
    return programs({kind: EVERYTHING[kind] for kind in kinds} if kinds else EVERYTHING, head=HEAD, most=most)


def play(s: Serving, ops: Sequence[Op]) -> None:
    """What ops mean, while the client is connected."""
    for op in ops:
        _OPS[op.kind](s, op)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The plan that a program means. Head: ways of writing, nothing, how the session is opened, how RECEIPTs look."""
    s = Serving(config, program.head, hurry=hurry)
    s.connect()
    play(s, program.ops)
    s.end()
    return s.plan()


VERSIONS = ("1.0", "1.1", "1.2")
UNOFFERED = ("!9.9", "!2.0", "!1.3", "!0.9", "!1.20")


def negotiations() -> SearchStrategy[Program]:
    """Versions that are offered, and chosen."""
    return programs({"send": 2, "message": 2, "ack": 3, "tx": 1}, head=HEAD, most=3)


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
    wish = offered[which // 4 % len(offered)]
    s.connect(offered, "" if wish == "1.0" and which & 64 else wish)
    s.version = wish
    if wish == "1.0":
        _raw_of_1_0(s, config)
    play(s, [op for op in program.ops if op.kind != "message" or wish == config.version])
    s.end()
    return s.plan()


def _raw_of_1_0(s: Serving, config: Config) -> None:
    """In a session of 1.0 a backslash is a backslash. It is said as octets: then both ends have the same version."""
    ear = s.subscribe(0, "client")
    head = b"MESSAGE\ndestination:" + ear.place.encode() + b"\nmessage-id:raw\nk:a\\nb\\\\c\nsubscription:"
    s.steps.append(SendBytes(0, (head, s.id_of(ear), b"\n\nraw\0"), s.when))
    s.said += 1
    s.receive()
    ear.open.append(s.said - 1)


BEATS = ((0, 0), (200, 0), (0, 200), (300, 300), (200, 500), (500, 200), (1000, 0))
"""What the client can do and wants, in milliseconds."""
OURS: Sequence[tuple[int, int] | None] = (
    None,
    (0, 0),
    (0, 200),
    (400, 300),
    (0, 400),
    (400, 0),
    (600, 100),
    (500, 500),
)
"""What the tester can do and wants; None: it does not say."""
TICK_MS, TICKS, MORE = 100, 16, 12


def rhythms() -> SearchStrategy[Program]:
    """Sessions in which time passes."""
    return programs({"send": 1, "message": 1}, head=HEAD, most=2, least=1)


def beating(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """The tester keeps its own heart-beats, by half of the interval, or by all of it."""
    which, ours, how, ticks = program.head
    s = Serving(config, (0, 0, 0, 0))
    asked, mine = BEATS[which % len(BEATS)], OURS[ours % len(OURS)]
    s.connect(more=b"" if mine is None else b"heart-beat:%d,%d\n" % mine, beats=asked)
    s.serve()
    play(s, program.ops[:1])
    s.steps.append(Wait(0))
    every = 0 if mine is None else mine[0]
    exact = how & 1 and every >= asked[1]
    for n in range(1, TICKS + ticks % MORE):
        s.steps.append(Wait(TICK_MS))
        if every and n * TICK_MS % (every if exact else every // 2) == 0:
            s.steps.append(SendBytes(0, (s.here(), b"\r\n" if how & 2 and s.version == "1.2" else b"\n"), "now"))
    if len(program.ops) > 1:
        play(s, program.ops[1:2])
    s.end()
    return s.plan()


QUIET_MS = SHORT_MS // 2
"""How long a client waits for a message that must not come, or need not."""
