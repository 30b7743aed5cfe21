"""Faults in opening a session: CONNECT and STOMP, negotiation, CONNECTED, and many connections."""

from __future__ import annotations

from impls.references.stomp.reference import Frame, Phase, Refused, Server, Session
from strategies.stomp import writer as plans
from tests.mutants.faults import on
from tests.mutants.kit import TOPIC, connect_with, connecting, mutant, next_frame, plan


def _negotiates(choose) -> type[Session]:
    """A session that chooses its version in its own way: from the offers and the versions that the server knows."""

    class Negotiating(Session):
        said = ""

        def negotiate(self, frame: Frame) -> str:
            chosen = choose(self.offered(frame), self.switches.versions.split(","))
            self.said = chosen or super().negotiate(frame)
            return min(self.said, "1.2")

        def emit(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> None:
            if command == "CONNECTED":
                headers = [(name, self.said if name == "version" else value) for name, value in headers]
            super().emit(command, headers, body)

    return Negotiating


# -- negotiation -------------------------------------------------------------------------------------------------------


mutant("lowest-version", "NEGO-01", connecting(accept_version="1.1,1.2"))(
    "The lowest common version is chosen.",
    _negotiates(lambda offered, known: min([v for v in offered if v in known], default=None)),
)
mutant("first-version", "NEGO-01", connecting(accept_version="1.1,1.2"), accept="NEGO-04")(
    "The first version that the client lists is chosen.",
    _negotiates(lambda offered, known: next((v for v in offered if v in known), None)),
)
mutant("last-version", "NEGO-01", connecting(accept_version="1.2,1.1"), accept="NEGO-04")(
    "The last version that the client lists is chosen, as if the list were always in order.",
    _negotiates(lambda offered, known: next((v for v in reversed(offered) if v in known), None)),
)
mutant("only-neighbours", "NEGO-01", connecting(accept_version="1.0,1.2"))(
    "A client that leaves a version out of the middle of its list gets the lower one.",
    _negotiates(lambda offered, known: "1.0" if sorted(offered) == ["1.0", "1.2"] else None),
)
mutant("own-version", "NEGO-01", connecting(accept_version="1.0"), accept="NEGO-02")(
    "The server's own highest version is announced to a client of 1.0.",
    _negotiates(lambda offered, known: "1.2" if offered == ["1.0"] else None),
)
mutant("future-version", "NEGO-01", connecting(accept_version="1.2,1.3"), accept="NEGO-05")(
    "Whatever the client offers in the line of 1.x is accepted, known or not.",
    _negotiates(lambda offered, known: max([v for v in offered if v.startswith("1.")], default=None)),
)
mutant("versions-as-text", "NEGO-01", connecting(accept_version="1.2,10.0"), accept="NEGO-03 NEGO-05")(
    "A version is known when a known one is a part of it, so that 10.0 stands for 1.0.",
    _negotiates(lambda offered, known: "1.0" if "10.0" in offered else None),
)
mutant("unknown-version-fatal", "NEGO-05", connecting(accept_version="1.2,1.3"), accept="CONNECT-02")(
    "One version that the server does not know spoils the whole list.",
    on(Session, "offered").gives(
        lambda found: found if all(version in ("1.0", "1.1", "1.2") for version in found) else []
    ),
)
mutant("order-of-versions", "NEGO-04", connecting(accept_version="1.2,1.1"), accept="NEGO-01 CONNECT-02")(
    "A list of versions that does not increase is refused.",
    on(Session, "offered").gives(lambda found: found if found == sorted(found) else []),
)
mutant("silent-client-is-new", "NEGO-02", connecting(accept_version=None))(
    "A client that says nothing about versions gets a session of 1.2.",
    on(Session, "offered").instead(lambda: ["1.2"], when=lambda frame: "accept-version" not in frame.first),
)
mutant("any-version", "NEGO-03", connecting(accept_version="2.0"), accept="INV-34")(
    "A client with which no version is in common gets the server's own.",
    _negotiates(lambda offered, known: None if set(offered) & set(known) else "1.2"),
)


@mutant("no-version-in-silence", "NEGO-03", connecting(accept_version="2.0"), accept="INV-34 CONNECT-04")
class NoVersionInSilence(Session):
    """A client with which no version is in common is cut off without an ERROR."""

    def on_first(self, frame: Frame) -> None:
        try:
            self.negotiate(frame)
        except Refused:
            self.end()
        else:
            super().on_first(frame)


@mutant("no-version-stays-open", "ERROR-01", connecting(accept_version="2.0"), accept="NEGO-03 INV-34 ERROR-02")
class NoVersionStaysOpen(Session):
    """A client with which no version is in common gets an ERROR, and may try again on the same connection."""

    def on_first(self, frame: Frame) -> None:
        try:
            self.negotiate(frame)
        except Refused as refused:
            self.emit("ERROR", [("message", str(refused))])
            return
        super().on_first(frame)


mutant("refused-in-silence", "INV-34", connecting(accept_version=""), accept="NEGO-03")(
    "An empty list of versions gets no answer at all.",
    on(Session, "on_first").skips(when=lambda frame: frame.first.get("accept-version") == ""),
)


# -- CONNECT and STOMP -------------------------------------------------------------------------------------------------


mutant("stomp-unknown", "CONNECT-05", plan(lambda w: w.connect(0, command="STOMP")))(
    "Only CONNECT opens a session.",
    on(Session, "on_first").takes(
        frame=lambda frame: frame if frame.command != "STOMP" else frame._replace(command="?")
    ),
)


@plan
def _stomp_chooses(w: plans.Writer) -> None:
    connect_with(w, w.bare(0), "STOMP", accept_version="1.1,1.2")


mutant("stomp-means-1.1", "CONNECT-05", _stomp_chooses, accept="NEGO-01")(
    "A session that was opened by STOMP speaks 1.1, the version that brought the command.",
    on(Session, "negotiate").instead(
        lambda: "1.1", when=lambda self, frame: frame.command == "STOMP" and "1.1" in self.offered(frame)
    ),
)


@mutant("extra-header-refused", "CONNECT-13", connecting(x="1"), accept="CONNECT-02")
class ExtraHeaderRefused(Session):
    """A header of CONNECT that the server does not know is refused."""

    def admit(self, frame: Frame, version: str) -> None:
        super().admit(frame, version)
        if not frame.first.keys() <= {"accept-version", "host", "login", "passcode", "heart-beat", "receipt"}:
            raise Refused("what is that?")


mutant("connect-receipted", "CONNECT-12", connecting(receipt="c"), accept="RECEIPT-06")(
    "A receipt header on CONNECT is answered, behind CONNECTED.",
    on(Session, "on_first").after(
        lambda self, frame: self.receipt(frame.first["receipt"]), when=lambda frame: "receipt" in frame.first
    ),
)
mutant("connect-receipted-first", "CONNECT-12", connecting(receipt="c"), accept="RECEIPT-06 CONNECT-11")(
    "A receipt header on CONNECT is answered, before CONNECTED.",
    on(Session, "on_first").before(
        lambda self, frame: self.emit("RECEIPT", [("receipt-id", frame.first["receipt"])]),
        when=lambda frame: "receipt" in frame.first,
    ),
)


@plan
def _nothing_first(w: plans.Writer) -> None:
    w.say(w.bare(0), "SEND", [("destination", TOPIC), w.receipt()], b"x")


class _Impatient(Session):
    """Carries out frames before CONNECT."""

    def on_first(self, frame: Frame) -> None:
        if frame.command in ("CONNECT", "STOMP"):
            super().on_first(frame)
        else:
            self.at_once(frame)

    def at_once(self, frame: Frame) -> None:
        self.emit("RECEIPT", [("receipt-id", frame.first["receipt"])])


mutant("frame-before-connect", "CONNECT-11", _nothing_first, accept="INV-32 RECEIPT-03")(
    "Frames before CONNECT are carried out.", _Impatient
)


@plan
def _subscribed_first(w: plans.Writer) -> None:
    sender = w.line()
    w.say(w.bare(1), "SUBSCRIBE", [("id", "0"), ("destination", TOPIC)])
    w.send(sender, TOPIC, when="now")
    w.wait()


mutant("subscribed-before-connect", "CONNECT-11", _subscribed_first, accept="INV-32 MSG-09")(
    "SUBSCRIBE takes effect before CONNECT.",
    on(_Impatient, "at_once").instead(lambda self, frame: getattr(self, "on_" + frame.command)(frame)),
)


@mutant("waits-for-connect", "INV-32", _nothing_first, accept="CONNECT-11", level="SHOULD")
class WaitsForConnect(_Impatient):
    """Frames before CONNECT are ignored, and the connection stays open."""

    def at_once(self, frame: Frame) -> None:
        pass

    def on_drained(self) -> None:
        pass


@plan
def _connect_twice(w: plans.Writer) -> None:
    line = w.line()
    connect_with(w, line)


mutant("connected-twice", "INV-33", _connect_twice, level="SHOULD")(
    "A second CONNECT opens the session once more.",
    on(Session, "on_CONNECT").instead(lambda self, _frame: self.on_first(_frame)),
)


@plan
def _pipelined(w: plans.Writer) -> None:
    line = w.bare(0)
    w.say(line, "CONNECT", [("accept-version", w.version), ("host", w.config.host)], when="join")
    w.say(line, "BEGIN", [("transaction", "t"), w.receipt()], when="now")


@mutant("early-frames-lost", "CONNECT-14", _pipelined, accept="FRAME-06", level="SHOULD")
class EarlyFramesLost(Session):
    """What stands behind CONNECT in the same segment is thrown away."""

    def on_connected(self, frame: Frame) -> None:
        super().on_connected(frame)
        while next_frame(self.parser):
            pass


# -- CONNECTED ---------------------------------------------------------------------------------------------------------


def _connected(change) -> type[Session]:
    """A session with the headers of CONNECTED changed."""

    class Changing(Session):
        def emit(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> None:
            super().emit(command, change(headers) if command == "CONNECTED" else headers, body)

    return Changing


mutant("connected-without-version", "CONNECTED-01", connecting(), accept="HDR-01", smoke=False)(
    "CONNECTED does not say which version was chosen.", _connected(lambda headers: headers[1:])
)
mutant("server-without-name", "CONNECTED-03", connecting(), smoke=False)(
    "The server header has a version and no name.",
    _connected(lambda headers: [(n, "/1.0" if n == "server" else v) for n, v in headers]),
)


@plan
def _two_sessions(w: plans.Writer) -> None:
    w.line()
    w.line(1)


@plan
def _session_after_session(w: plans.Writer) -> None:
    w.hang(w.line())
    w.line(1)


mutant("one-session-id", "CONNECTED-04", _two_sessions)(
    "All sessions have one id.", on(Server, "session_id").instead(lambda: "session")
)
mutant("session-id-again", "CONNECTED-04", _session_after_session)(
    "The id of a session that has ended is given to the next one.",
    on(Server, "session_id").instead(lambda self: f"session-{len(self.sessions)}"),
)
mutant("beats-in-seconds", "HB-01", connecting(heart_beat="0,0"), smoke=False)(
    "heart-beat is written in seconds, with a fraction.",
    _connected(lambda headers: [(n, "0.5,0.5" if n == "heart-beat" else v) for n, v in headers]),
)


# -- many connections --------------------------------------------------------------------------------------------------


mutant("one-client-at-a-time", "CONNECT-02", _two_sessions, accept="LINGER-01 ROB-02")(
    "CONNECT is not answered while there is another session.",
    on(Session, "on_connected").skips(
        when=lambda self: any(other.phase is Phase.LIVE for other in self.server.sessions.values())
    ),
)


@plan
def _many_sessions(w: plans.Writer) -> None:
    for _ in range(8):
        w.hang(w.connect(0))
    w.connect(0)


@mutant(
    "connections-leak",
    "LINGER-01",
    _many_sessions,
    accept="CONNECT-02 ROB-01",
)
class ConnectionsLeak(Server):
    """Connections that clients ended without a word are never freed: from the ninth on nobody gets in."""

    limit = 8

    def open(self) -> Session:
        session = super().open()
        if session.number > self.limit:
            session.on_connected = lambda frame: None  # type: ignore[method-assign]
        return session


@mutant("refused-without-error", "CONNECT-04", connecting(login="a", passcode="b"), accept="CONNECT-03", level="SHOULD")
class RefusedWithoutError(Session):
    """Login and passcode that do not fit end the connection without an ERROR."""

    def admit(self, frame: Frame, version: str) -> None:
        if frame.first.get("login"):
            self.end()
            self.phase = Phase.GONE
        super().admit(frame, version)

    def on_connected(self, frame: Frame) -> None:
        if self.phase is not Phase.GONE:
            super().on_connected(frame)
