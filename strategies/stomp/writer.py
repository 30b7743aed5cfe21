"""Builds a plan step by step, remembering what it has opened, so that what it says is legal unless asked otherwise.

Source of what is legal: STOMP 1.2, all client frames; 1.1 and 1.0 where the session speaks them.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any

from specs.plan import Close, Plan, Ref, Say, SendBytes, Step, Wait
from specs.stomp.bundle import connect
from specs.stomp.frames import Frame, Style
from specs.stomp.headers import TAG
from specs.stomp.states import Config
from strategies.stomp.texts import RECEIPTS, VALUES, pick, root, twisted

PLACES = (Ref("queue", "a"), Ref("topic", "a"), Ref("queue", "ab"), Ref("topic", "A"))
"""Destinations of a plan: one begins with another, one differs in case alone."""
CRLF, EOLS, CUTS, JOIN, ORDER, EXTRA, REPEAT = (1 << bit for bit in range(7))
"""Ways of writing a frame that must not matter; a plan's head says which it uses."""
_AROUND = (b"\n", b"\r\n", b"\n\n\n", b"\r\n\n")

Headers = Sequence[tuple[str, Any]]


@dataclass(slots=True)
class Sub:
    """A subscription that the plan opened. `taken` are the numbers of deliveries that it has acknowledged, `rejected`
    is how many of those with NACK: so many more may come. `again`: its id was used before on this connection, so that
    its deliveries cannot be counted."""

    id: str
    place: Ref
    mode: str
    taken: set[int] = field(default_factory=set)
    rejected: int = 0
    again: bool = False

    def open_ones(self, sent: int) -> list[int]:
        """The numbers of deliveries that may be acknowledged, when so many messages were sent to its destination."""
        return [nth for nth in range(sent + self.rejected) if nth not in self.taken]


@dataclass(slots=True)
class Line:
    """One connection of the plan."""

    number: int
    version: str
    subs: list[Sub] = field(default_factory=list)
    txs: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    ended: bool = False


class Writer:
    """Collects steps. `hurry`: say everything without waiting for turns, except behind CONNECT. `slots` and `places`
    are how many connections and destinations legal sessions use: few make them meet more often."""

    def __init__(
        self,
        config: Config,
        *,
        version: str | None = None,
        wire: int = 0,
        hurry: bool = False,
        slots: int = 3,
        places: int = len(PLACES),
    ) -> None:
        self.config = config
        self.slots, self.places = slots, places
        self.version = version or config.version
        self.wire = wire
        self.when = "now" if hurry else "turn"
        self.steps: list[Step] = []
        self.features: set[str] = {"together"} if hurry else set()
        self.lines: dict[int, Line] = {}
        self.sent: dict[Ref, int] = {}
        self.flavour = 0
        self._serial = 0
        self._roots: dict[str, str] = {}

    def plan(self) -> Plan:
        """What was collected."""
        return Plan(tuple(self.steps), frozenset(self.features))

    # -- frames ---------------------------------------------------------------------------------------------------

    def fresh(self) -> int:
        """A number that this plan has not used."""
        self._serial += 1
        return self._serial

    def receipt(self, flavour: int | None = None) -> tuple[str, str]:
        """A receipt header with a value of its own, or with traps in it, as `self.flavour` says where none is given."""
        flavour = self.flavour if flavour is None else flavour
        text = f"r{self.fresh()}"
        if flavour % 4 == 3:
            text = f"{self._serial}" if flavour & 4 else f"Rr{self._serial}z"
            text = twisted(text, flavour // 8, self.version, shorter=False)
        elif flavour % 4 == 2:
            text = root(8 + flavour // 4 % 13, self.version) + f"{self._serial}"
        elif flavour:
            tail = pick(RECEIPTS, flavour)
            text += tail if tail.strip() == tail or self.version != "1.0" else ""
            text = text if self.version == "1.2" else text.replace("\n", "").replace("\r", "")
        return ("receipt", text)

    def identity(self, kind: str, number: int, taken: Container[str] = (), elsewhere: Sequence[str] = ()) -> str:
        """An id that is not `taken`, for a subscription ("") or a transaction ("t"): a plain one, the first of its kind
        in this plan or one that is easily confused with it, one of those `elsewhere`, or one with traps. 0 gives the
        plainest."""
        form, which = number % 8, number // 8
        known = self._roots.get(kind)
        if known is None:
            known = self._roots[kind] = root(which, self.version) if form & 1 else f"{kind}0"
        elif form & 3 == 1:
            known = twisted(known, which, self.version)
        elif form & 3 == 2 and elsewhere:
            known = elsewhere[which % len(elsewhere)]
        elif form == 7:
            known = self.value(which, number)
        elif form & 3 == 0:
            known = f"{kind}{which % 2}"
        free = (name for n in range(200) if (name := f"{kind}{n}") not in taken)
        return known if known and known not in taken else next(free)

    def say(
        self,
        line: Line,
        command: str,
        headers: Headers = (),
        body: bytes = b"",
        *,
        style: int = 0,
        when: str | None = None,
    ) -> None:
        """Send a frame; `style` picks among the ways of writing it that the plan's head allows."""
        style &= self.wire
        headers = list(headers)
        if style & EXTRA and command != "SEND":
            headers.append(("x-other", "1"))
        if style & REPEAT and headers and self.version == "1.2":
            self.features.add("repeat")
            others = [pair for pair in headers if pair[0] != TAG]  # by its tag a message is known
            name, value = others[style % len(others)]
            headers.append((name, PLACES[0] if name == "destination" and value != PLACES[0] else "other"))
        elif style & ORDER and len({name for name, _ in headers}) == len(headers) > 1:
            headers.reverse()
            self.features.add("order")
        eol, before, after, mixed = b"\n", b"", b"", 0
        if style & CRLF and line.version == "1.2":
            eol, mixed = b"\r\n", self._serial // 2 % 7 if self._serial % 2 else 0
            self.features.add("crlf")
        if style & EOLS:
            after = _AROUND[self._serial % (4 if line.version == "1.2" else 1)]
            self.features.add("eols")
        cuts: tuple[int, ...] = ()
        if style & CUTS:
            odd = (1 + self._serial % 11, 17 + self._serial % 31, -1 - self._serial % 2)
            inside = (len(command) + 1, -len(body) - len(after) - 2)  # CR LF: of the first line, and of the blank one
            begins = self._serial % 3 == 1 or body[:1] in (b"\n", b"\r")
            headed = (-len(body) - len(after) - 1,) if begins else odd  # and of what comes behind that
            cuts = tuple(range(1, 400)) if self._serial % 3 == 0 else inside if eol == b"\r\n" else headed
            self.features.add("cuts")
        how = when or self.when
        if style & JOIN:
            how = "join"
            self.features.add("together")
        frame = Frame(command, tuple(headers), body)
        self.steps.append(Say(line.number, frame, cuts, how, Style(line.version, eol, before, after, mixed)))

    def blurt(self, line: Line, *parts: bytes | Ref, when: str | None = None) -> None:
        """Send raw octets."""
        self.steps.append(SendBytes(line.number, parts, when or self.when))

    def wait(self, ms: int = 0) -> None:
        """Wait for `ms`, or for the tester's turn."""
        self.steps.append(Wait(ms))

    # -- connections ----------------------------------------------------------------------------------------------

    def line(self, slot: int = 0) -> Line:
        """The open connection in one of a few slots, connected if need be."""
        found = self.lines.get(slot)
        return found if found is not None and not found.ended else self.connect(slot)

    def open_lines(self) -> list[Line]:
        """The connections that have not ended."""
        return [line for line in self.lines.values() if not line.ended]

    def bare(self, slot: int) -> Line:
        """A connection on which nothing has been said."""
        old = self.lines.get(slot)
        number = slot if old is None else old.number + 100
        line = self.lines[slot] = Line(number, self.version)
        return line

    def connect(
        self, slot: int, *, command: str = "CONNECT", extra: Headers = (), style: int = 0, early: bool = False
    ) -> Line:
        """A new connection with a session of the plan's version."""
        line = self.bare(slot)
        base = connect(self.config, version=self.version, command=command)
        if command == "STOMP":
            self.features.add("stomp")
        self.say(line, command, (*base.headers, *extra), style=style & ~(REPEAT | JOIN))
        if not early:
            self.wait()
        return line

    def hang(self, line: Line, how: str = "close") -> None:
        """Close a connection without a word."""
        self.steps.append(Close(line.number, how))
        line.ended = True

    # -- legal frames ---------------------------------------------------------------------------------------------

    def send(
        self,
        line: Line,
        place: Ref | str,
        body: bytes = b"x",
        headers: Headers = (),
        *,
        tag: bool = True,
        receipt: tuple[str, str] | None = None,
        style: int = 0,
        when: str | None = None,
    ) -> None:
        """SEND; its tag (or, without one, a unique body) tells it from every other."""
        number = self.fresh()
        all_headers: list[tuple[str, Any]] = [("destination", place)]
        if tag:
            all_headers.append((TAG, f"{number}"))
        else:
            body = b"#%d " % number + body
        all_headers += headers
        if b"\0" in body and not any(name == "content-length" for name, _ in headers):
            all_headers.append(("content-length", f"{len(body)}"))
        if receipt is not None:
            all_headers.append(receipt)
        if isinstance(place, Ref):
            self.sent[place] = self.sent.get(place, 0) + 1
        self.say(line, "SEND", all_headers, body, style=style, when=when)

    def subscribe(
        self,
        line: Line,
        place: Ref | str,
        mode: str = "auto",
        identity: str | None = None,
        headers: Headers = (),
        *,
        receipt: tuple[str, str] | None = None,
        style: int = 0,
    ) -> Sub:
        """SUBSCRIBE with an id that is free. The mode auto is named by every other one of a connection."""
        taken = {sub.id for sub in line.subs}
        if identity is None or identity in taken:
            identity = next(f"{n}" for n in range(200) if f"{n}" not in taken)
        named = any(name == "ack" for name, _ in headers)
        extra = [("ack", mode)] if not named and (mode != "auto" or len(line.used) % 2) else []
        asked = [receipt] if receipt is not None else []
        self.say(line, "SUBSCRIBE", [("id", identity), ("destination", place), *extra, *headers, *asked], style=style)
        sub = Sub(identity, place if isinstance(place, Ref) else PLACES[0], mode, again=identity in line.used)
        line.used.add(identity)
        line.subs.append(sub)
        return sub

    def unsubscribe(self, line: Line, sub: Sub, *, receipt: tuple[str, str] | None = None, style: int = 0) -> None:
        """UNSUBSCRIBE by id alone."""
        line.subs.remove(sub)
        self.say(line, "UNSUBSCRIBE", [("id", sub.id), *([receipt] if receipt else [])], style=style)

    def acknowledge(
        self,
        line: Line,
        sub: Sub,
        nth: int,
        *,
        verb: str = "ACK",
        tx: str | None = None,
        receipt: tuple[str, str] | None = None,
        style: int = 0,
    ) -> None:
        """ACK or NACK of the nth delivery of a subscription."""
        covered = (set(range(nth + 1)) if sub.mode == "client" else {nth}) - sub.taken
        sub.taken |= covered
        sub.rejected += len(covered) if verb == "NACK" else 0
        headers: list[tuple[str, Any]] = self.handle(line, sub.id, nth)
        if tx is not None:
            headers.append(("transaction", tx))
        if receipt is not None:
            headers.append(receipt)
        self.say(line, verb, headers, style=style)

    def handle(self, line: Line, sub: str, nth: int) -> list[tuple[str, Any]]:
        """The headers by which the version of the session names a delivery."""
        key = (line.number, sub, nth)
        if line.version == "1.2":
            return [("id", Ref("ack", key))]
        return [("message-id", Ref("message-id", key)), ("subscription", sub)]

    def disconnect(self, line: Line, *, receipt: bool = True, style: int = 0) -> None:
        """DISCONNECT; open transactions and subscriptions end with it."""
        self.say(line, "DISCONNECT", [self.receipt()] if receipt else [], style=style & ~(REPEAT | JOIN))
        line.ended = True

    def value(self, number: int, more: int = 0) -> str:
        """A header value that the plan's version can write."""
        return pick(VALUES[self.version], number, more)
