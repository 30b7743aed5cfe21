"""Collects what a client is told and what is said to it, so that both are legal unless something else is asked for.

Source of what is legal: STOMP 1.2, all frames; 1.1 and 1.0 where the session speaks them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from specs.plan import Control, Plan, Ref, Say, SendBytes, Step, Wait
from specs.stomp.client.duties import SHORT_MS
from specs.stomp.client.memory import RECEIVE_MS, connecting, greeting
from specs.stomp.frames import Frame, Style
from specs.stomp.states import Config
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
PLAIN: Sequence[bytes] = tuple(CONNECTED_WITH[nth] for nth in (0, 1, 3))
"""Those of them that are nothing special: what goes wrong behind them has another reason."""
OFFERED: Sequence[tuple[int, ...]] = ((), (60_000, 0), (), (60_000, 60_000))
"""Heart-beats that a client offers, in milliseconds, where the server wants and gives none: nothing comes of it, and no
time has to pass to see that."""
_AROUND = (b"\n", b"\n\n\n", b"\r\n", b"\r\n\n")
QUIET_MS = SHORT_MS // 2
"""How long a client waits for a message that must not come, or need not."""


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
        self._sessions = 1

    def plan(self) -> Plan:
        """What was collected."""
        return Plan(tuple(self.steps), frozenset(self.features))

    def fresh(self) -> int:
        """A number that this plan has not used."""
        self._serial += 1
        return self._serial

    def called(self, kind: str, number: int) -> str:
        """What a subscription or a transaction is called: plainly, with what has to be escaped, alike but for letter
        case, or alike but for the end. Where a library takes ids from its user, these are they."""
        how = self.flavour % 4 if self.version != "1.0" else 0
        if how == 1 and not self.hurry:  # who speaks before CONNECTED has come does not know how to escape (E-33)
            return f"{kind}:{number}\\c"
        if how == 2:
            return f"{kind.upper() if number % 2 else kind}{number // 2}"
        return f"{kind}-{'long-' * 12}{number}" if how == 3 else f"{kind}{number}"

    def numbered(self, letter: str, number: int) -> str:
        """What a server calls a message, or its acknowledgement: any text (N-13), also one that looks like a number."""
        how = self.flavour // 4 % 4
        if how == 1:
            return f"00{number}"
        if how == 2:
            return f"{2**64 + number}"
        return f"{letter}{number}" + "x" * 90 * (how == 3)

    # -- what the client is told -------------------------------------------------------------------------------------

    def do(self, op: str, when: str | None = None, **given: Any) -> None:
        """Tell the client something."""
        self.steps.append(Control(0, op, given, when or self.when))

    def connect(self, versions: Sequence[str] = (), wish: str | None = None, more: bytes | None = None,
                beats: Sequence[int] = ()) -> None:  # fmt: skip
        """The client connects, and is let in."""
        self._asks(versions, wish, more, beats)
        self._greets()

    def _asks(self, versions: Sequence[str], wish: str | None, more: bytes | None, beats: Sequence[int]) -> None:
        given: dict[str, Any] = {"versions": list(versions)} if versions else {}
        passcode = PASSCODES[self.opening % len(PASSCODES)]
        if passcode:
            given |= {"login": "guest", "passcode": passcode}
        host = HOSTS[self.opening // 16 % len(HOSTS)]
        given |= {"host": host} if host else {}
        if more is None:
            more = CONNECTED_WITH[self.opening // 4 % len(CONNECTED_WITH)]
            if not beats and self.version != "1.0" and more in PLAIN:
                beats = OFFERED[self.opening // 2 % len(OFFERED)]
        given |= {"heart_beat": list(beats)} if beats else {}
        self.steps.append(connecting(self.config, **given))
        if b"session:" in more and (wish == "" or "1.0" in (self.version, wish)):
            more = b""  # a server of 1.0 always names the session (E-32), and once
        eol = b"\n"
        if self.wire & CRLF and self.opening & 1 and self.version == "1.2" and wish is None and not more:
            eol = b"\r\n"
        self.greet = (self.version if wish is None else wish, more, eol)

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

    def cut(self) -> None:
        """The connection ends under the client, which has time to notice."""
        self.steps += [Wait(0), Control(0, "drop", {}), Wait(0)]
        self.receive(QUIET_MS)
        self.steps.append(Wait(0))

    def refused(self, opening: int, why: bytes = b"") -> None:
        """The client is told to connect, and gets an ERROR in place of CONNECTED; `why` are header lines of it. As a
        server does, the tester names versions that it would take, of which the client's is one."""
        self._begins_anew(opening)
        self._asks((), None, None, ())
        self.steps.append(SendBytes(0, (b"ERROR\n", Ref("greeting", f"!{self.version}"), why + b"\nno\0"), self.when))
        self.steps += [Wait(0), Control(0, "drop", {}), Wait(0)]

    def _begins_anew(self, opening: int) -> None:
        for ear in self.ears:
            ear.ended = True
        self._sessions, self._fresh, self.opening = self._sessions + 1, 2, opening

    def again(self, opening: int, beats: Sequence[int] = (), more: bytes | None = None) -> None:
        """The client is told to connect once more, when its connection has ended. Its subscriptions and transactions
        are others, at other destinations: a library may renew by itself what it had."""
        self._begins_anew(opening)
        self.connect(more=more, beats=beats)
        self.serve()

    def place(self, number: int) -> str:
        """A destination, which no other session of the plan has."""
        name = PLACES[number % len(PLACES)]
        name = name if self.version != "1.0" or name.isalnum() else "a"
        name += str(self._sessions) * (self._sessions > 1)
        return self.config.queue.template.replace("{name}", name)

    def send(self, body: bytes = b"x", headers: Mapping[str, str] | None = None, *, place: int = 0, tx: str = "",
             receipt: bool | str = False, when: str | None = None, serve: bool = True) -> None:  # fmt: skip
        """The client sends; `receipt`: it asks for one, perhaps by a name that the application gives."""
        given: dict[str, Any] = {"destination": self.place(place), "body_hex": (b"#%d " % self.fresh() + body).hex(),
                                 "headers": dict(headers or {}), "receipt": receipt}  # fmt: skip
        self.do("send", when, **given, **({"transaction": tx} if tx else {}))
        if serve:
            self.serve()

    def subscribe(self, place: int = 0, mode: str = "auto") -> Ear:
        """The client subscribes."""
        if self.version == "1.0" and mode == "client-individual":
            mode = "client"
        ear = Ear(self.called("s", len(self.ears)), self.place(place), mode)
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
        eol, after, mixed = b"\n", b"", 0
        if style & CRLF and self.version == "1.2":
            eol, mixed = b"\r\n", self._serial // 2 % 7 if self._serial % 2 else 0
            self.features.add("crlf")
        if style & EOLS:
            after = _AROUND[self._serial % (4 if self.version == "1.2" else 2)]
            self.features.add("eols")
        cuts: tuple[int, ...] = ()
        if style & CUTS:
            odd = (1 + self._serial % 11, 17 + self._serial % 31, -1 - self._serial % 2)
            inside = (len(command) + 1, -len(body) - len(after) - 2)  # CR LF: of the first line, and of the blank one
            begins = self._serial % 3 == 1 or body[:1] in (b"\n", b"\r")
            headed = (-len(body) - len(after) - 1,) if begins else odd  # and of what comes behind that
            cuts = tuple(range(1, 200)) if self._serial % 3 == 0 else inside if eol == b"\r\n" else headed
            self.features.add("cuts")
        how = when or self.when
        if style & JOIN and upto == 1:
            how = "join"
            self.features.add("together")
        frame = Frame(command, tuple(headers), body)
        self.steps.append(Say(0, frame, cuts, how, Style(self.version, eol, b"", after, mixed), upto))

    def message(self, ear: Ear, body: bytes = b"x", headers: Sequence[tuple[str, str]] = (), *, style: int = 0,
                form: int = 0, when: str | None = None, raw: bool = False, like: int = 0) -> int:  # fmt: skip
        """A MESSAGE for a subscription; its place among those of the plan. `form`: whether it has a length and a type,
        and what its ids look like. `raw`: its body is as it stands, and not told from others. `like`: the number that
        its message-id has, if it is not its own."""
        number = self.fresh()
        body = body if raw else b"#%d " % number + body
        odd = ("", "", "é", ":x", "\\c", " ")[form // 16 % 6] if self.version != "1.0" else ""
        known: list[tuple[str, Any]] = [
            ("destination", ear.place), ("message-id", self.numbered("m", like or number) + odd),
            ("subscription", self.id_of(ear)),
        ]  # fmt: skip
        if ear.mode != "auto" or form & 8:
            known.append(("ack", f"{self.numbered('a', number)}{odd}"))
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

    def end(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """The client leaves, and the connection ends; `meanwhile` says what comes before the RECEIPT of DISCONNECT."""
        self.steps.append(Wait(0))
        self.do("disconnect")
        meanwhile()
        self.serve()
        self.steps += [Wait(0), Control(0, "drop", {}), Wait(0)]
