"""STOMP clients that are wrong in how they open a session, keep it alive, or leave it."""

from __future__ import annotations

from typing import Any

from impls.references.stomp.client import Caller, Channel, Phase, ServerReader
from impls.references.stomp.client_speaker import CONNECTED
from impls.references.stomp.parser import Frame
from tests.mutants.faults import on
from tests.mutants.stomp_client_kit import beating, chosen, giant, misuse, mutant, plan, send, tell

OPEN = plan()
KNOWN = ("1.0", "1.1", "1.2")
PATIENT = {"operation_ms": 1e9}
"""No command has a time limit of its own, so that what hangs hangs."""
SENDS = plan(send())


def _without(*names: str) -> Any:
    return on(Channel, "say").takes(
        headers=lambda command, headers: [h for h in headers if command != "CONNECT" or h[0] not in names]
    )


mutant("begins-early", "CONNECT-01", OPEN)(
    "A transaction is begun before the session is opened.",
    on(Channel, "open_with").before(lambda self: self.say("BEGIN", [("transaction", "t0")])),
)
mutant("leaves-first", "CONNECT-01", OPEN)(
    "A DISCONNECT goes out first, to end whatever was there.",
    on(Channel, "open_with").before(lambda self: self.say("DISCONNECT", [])),
)
mutant("opens-by-stomp", "CONNECT-06", OPEN, level="SHOULD")(
    "Sessions are opened by STOMP.",
    on(Channel, "say").takes(command=lambda command: "STOMP" if command == "CONNECT" else command),
)
mutant("no-host", "CONNECT-07", OPEN, "HDR-02")("CONNECT has no host.", _without("host"))
mutant("no-versions", "CONNECT-07", OPEN, "HDR-02")("CONNECT names no versions.", _without("accept-version"))
mutant("versions-descend", "NEGO-04", chosen(1, 0), level="SHOULD")(
    "The highest version is named first.",
    on(Channel, "accept_version").gives(lambda found: ",".join(found.split(",")[::-1])),
)
mutant("versions-by-blanks", "NEGO-04", chosen(1, 0), level="SHOULD")(
    "Versions are separated by a comma and a blank.",
    on(Channel, "accept_version").gives(lambda found: found.replace(",", ", ")),
)
mutant("escaped-passcode", "ENC-06", plan(opening=2))(
    "The passcode is escaped in CONNECT.",
    on(Channel, "open_with").takes(
        passcode=lambda passcode: passcode and passcode.replace("\\", "\\\\").replace(":", "\\c")
    ),
)
mutant("cut-passcode", "CLI-01", plan(opening=2))(
    "The passcode ends at its first colon.",
    on(Channel, "open_with").takes(passcode=lambda passcode: passcode and passcode.partition(":")[0]),
)
mutant("lower-login", "CLI-01", plan(opening=1))(
    "The login is written in capitals.", on(Channel, "open_with").takes(login=lambda login: login and login.upper())
)
mutant("no-passcode", "CLI-01", plan(opening=1))("The passcode is left out.", _without("passcode"))
mutant("escaped-connected", "ENC-06", plan(connect={"more": b"x-path:c:\\new\\c\n"}))(
    "CONNECTED is read as if it were escaped.",
    on(ServerReader, "read_headers").takes(command=lambda command: "MESSAGE" if command == "CONNECTED" else command),
)
mutant("beats-with-blank", "HB-01", plan(connect={"beats": (200, 0)}))(
    "The numbers of heart-beat are separated by a comma and a blank.",
    on(Channel, "say").takes(
        headers=lambda headers: [(n, v.replace(",", ", ") if n == "heart-beat" else v) for n, v in headers]
    ),
)
mutant("beats-as-seconds", "HB-01", plan(connect={"beats": (200, 0)}))(
    "Heart-beats are offered in seconds.",
    on(Channel, "say").takes(
        headers=lambda headers: [(n, v.replace("200", "0.2") if n == "heart-beat" else v) for n, v in headers]
    ),
)
mutant("never-beats", "HB-11", beating(1, 2))("No heart-beat is ever sent.", on(Channel, "start_beats").skips())
mutant("beats-once", "HB-11", beating(1, 2))(
    "Only one heart-beat is sent.", on(Channel, "beat").skips(when=lambda calls: calls > 1)
)
mutant("slow-beats", "HB-11", beating(1, 2))(
    "Heart-beats come twelve times too late.", on(Channel, "beat_after").gives(lambda found: found * 24)
)


mutant("beats-put-off", "HB-11", beating(3, 8, 4))(
    "Whatever comes puts off the client's own heart-beats.",
    on(Channel, "received").before(lambda self: setattr(self, "said", self.caller.now)),
)


class Impatient(Channel):
    """The server is taken for dead when it owes nothing."""

    missing = False

    def on_connected(self, frame: Frame) -> None:
        super().on_connected(frame)
        if ("heart-beat" not in frame.first) is self.missing and not self.beat_in and self.phase is Phase.LIVE:
            self.beat_in = 300
            self.caller.later(600, self.listen)


@mutant("header-less-server-is-dead", "HB-02", beating(0, 0))
class HeaderlessServerIsDead(Impatient):
    """A server that says nothing of heart-beats is taken for dead when it is silent."""

    missing = True


mutant("unwilling-server-is-dead", "CLI-12", beating(0, 1))(
    "A server that will not beat is taken for dead when it is silent.", type("Unwilling", (Impatient,), {})
)


@mutant("half-the-interval", "CLI-12", beating(4, 6), switches={"silent_server": "close"})
class HalfTheInterval(Channel):
    """A server is taken for dead after a third of the interval."""

    def start_beats(self) -> None:
        self.beat_in = self.beat_in // 6
        super().start_beats()


@mutant("octets-are-no-life", "CLI-12", beating(3, 3, 8), "CLI-15 FRAME-06", switches={"silent_server": "close"})
class OctetsAreNoLife(Channel):
    """Octets of a frame that is not complete do not count as a sign of life."""

    def received(self, data: bytes) -> None:
        heard = self.heard
        super().received(data)
        if self.reader.held:
            self.heard = heard


@mutant("no-margin", "HB-09", beating(2, 3, 1), "CLI-12", "SHOULD", switches={"silent_server": "close"})
class NoMargin(Channel):
    """A server is taken for dead as soon as the interval is over."""

    def start_beats(self) -> None:
        self.beat_in = self.beat_in / 2 - 0.5 if self.beat_in else 0
        super().start_beats()


mutant("any-version", "NEGO-07", chosen(0, 20))(
    "Any version is taken that is known.", on(Channel, "takes").gives(lambda version, found: found or version in KNOWN)
)


@mutant("newer-version", "NEGO-07", chosen(0, 2))
class NewerVersion(Channel):
    """A version that is not known is taken for the one on offer."""

    def on_connected(self, frame: Frame) -> None:
        if frame.first.get("version") not in KNOWN:
            frame = frame._replace(first={**frame.first, "version": self.offered[-1]})
        super().on_connected(frame)


@mutant("goes-on-unconnected", "CLI-11", chosen(0, 20))
class GoesOnUnconnected(Channel):
    """The application is told that the version was not on offer, and the session is used all the same."""

    def takes(self, version: str) -> bool:
        if version not in self.offered:
            self.caller.settle(CONNECTED, {"error": f"the server speaks {version}"})
        return version in KNOWN


mutant("wants-session", "CLI-14", OPEN)(
    "A CONNECTED without session is refused.",
    on(Channel, "on_connected").instead(
        lambda self: self.end("no session"), when=lambda frame: "session" not in frame.first
    ),
)
mutant("wants-server", "CLI-14", OPEN)(
    "A CONNECTED without server is passed over.",
    on(Channel, "on_connected").skips(when=lambda frame: "server" not in frame.first),
)
mutant("wants-beats", "CLI-14", OPEN)(
    "A CONNECTED without heart-beat is refused.",
    on(Channel, "on_connected").instead(
        lambda self: self.end("no beats"), when=lambda frame: "heart-beat" not in frame.first
    ),
)


@mutant("wants-beats-back", "CLI-14", plan(opening=2))
class WantsBeatsBack(Channel):
    """A client that has offered heart-beats does not know what to do with a CONNECTED that has none."""

    def on_connected(self, frame: Frame) -> None:
        if "heart-beat" not in frame.first and self.wanted != (0, 0):
            self.end("no beats")
        else:
            super().on_connected(frame)


mutant("one-line-connected", "CLI-14", plan(connect={"more": b"server:a/1\nsession:s1\n"}))(
    "A CONNECTED with more than its version is refused.",
    on(Channel, "on_connected").instead(
        lambda self: self.end("what is this"), when=lambda frame: len(frame.headers) > 1
    ),
)


@mutant("whole-connected", "FRAME-06", plan(wire=4, opening=2))
class WholeConnected(Channel):
    """CONNECTED has to come in one read."""

    def received(self, data: bytes) -> None:
        if self.phase is Phase.WAITING and data and b"\0" not in data:
            self.end("no frame")
        else:
            super().received(data)


# -- leaving -----------------------------------------------------------------------------------------------------------

mutant("leaves-without-receipt", "DISC-02", OPEN, level="SHOULD", switches={"leaving": "plain"})(
    "DISCONNECT asks for no receipt.", type("Plain", (Caller,), {})
)
mutant("leaves-in-a-hurry", "DISC-02", OPEN, level="SHOULD", switches={"leaving": "hurry"})(
    "The connection is closed before the RECEIPT of DISCONNECT has come.", type("Hurry", (Caller,), {})
)
mutant("leaves-without-a-word", "DISC-02", OPEN, level="SHOULD", switches={"leaving": "close"})(
    "The connection is closed without DISCONNECT.", type("Mute", (Caller,), {})
)
mutant("begins-behind", "DISC-05", OPEN)(
    "A transaction is begun behind DISCONNECT.",
    on(Channel, "say").after(
        lambda self: self.say("BEGIN", [("transaction", "t0")]), when=lambda command: command == "DISCONNECT"
    ),
)
mutant("sends-behind", "DISC-05", OPEN)(
    "A last message is sent behind DISCONNECT.",
    on(Channel, "say").after(
        lambda self: self.say("SEND", [("destination", "/x")]), when=lambda command: command == "DISCONNECT"
    ),
)
mutant("leaves-twice", "CLI-10", OPEN)(
    "DISCONNECT is sent twice.",
    on(Channel, "say").after(
        lambda self: self.say("DISCONNECT", []), when=lambda command, headers: command == "DISCONNECT" and headers
    ),
)


@mutant("settles-behind", "CLI-10", plan(lambda s: s.given(s.ear(0, "client"))))
class SettlesBehind(Caller):
    """What was not acknowledged is acknowledged behind DISCONNECT."""

    def leave(self, channel: Channel) -> None:
        super().leave(channel)
        for subscription in self.subscriptions.values():
            for delivery in subscription.open[:1]:
                channel.say("ACK", self.naming(channel, delivery))

    def live(self) -> Channel:
        assert self.channel is not None
        return self.channel


# -- living ------------------------------------------------------------------------------------------------------------

mutant("waits-for-ever", "CLI-15", misuse("nothing", asks=1), switches=PATIENT)(
    "Whatever waits when the connection ends waits for ever.", on(Caller, "over").skips()
)
mutant("hangs-on-garbage", "CLI-15", misuse("garbage", 11, asks=1), switches=PATIENT)(
    "Octets that are no frame make the client wait for ever.",
    on(Channel, "on_malformed").instead(lambda self: setattr(self, "phase", Phase.GONE)),
)
mutant("hangs-on-error", "CLI-15", misuse("error", 0, asks=1), switches=PATIENT)(
    "An ERROR makes the client wait for ever.",
    on(Channel, "on_error").instead(lambda self: setattr(self, "phase", Phase.GONE)),
)
mutant("hangs-in-mid-frame", "CLI-15", misuse("torn", 40, asks=1), switches=PATIENT)(
    "A connection that ends inside of a frame makes the client wait for ever.",
    on(Channel, "received").skips(when=lambda self, data: not data and self.reader.held > 0),
)
mutant("forgets-to-send", "CLI-15", plan(send(b"one"), send(b"two")))(
    "The second frame is kept back until there is a third.",
    on(Channel, "say").skips(when=lambda command, calls: command == "SEND" and calls == 3),
)
mutant("never-unsubscribes", "CLI-15", plan(lambda s: s.ear(0), tell("unsubscribe", sub="s0")))(
    "UNSUBSCRIBE is not sent.", on(Channel, "say").skips(when=lambda command: command == "UNSUBSCRIBE")
)
mutant("never-commits", "CLI-15", plan(tell("begin", transaction="t"), tell("commit", transaction="t")))(
    "COMMIT is not sent.", on(Channel, "say").skips(when=lambda command: command == "COMMIT")
)
mutant("tires", "CLI-15", plan(send(), send(), send()))(
    "The connection is closed behind the third frame.",
    on(Channel, "say").after(
        lambda self: self.end("tired"), when=lambda command, calls: command == "SEND" and calls >= 4
    ),
)


@mutant("deaf-to-giants", "FRAME-09", giant(), switches=PATIENT)
class DeafToGiants(Channel):
    """When very much comes at once nothing is read any more."""

    deaf = False

    def received(self, data: bytes) -> None:
        self.deaf = self.deaf or len(data) > 100_000
        if not self.deaf:
            super().received(data)
