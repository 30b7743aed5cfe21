"""Faults that reach beyond the connection on which something went wrong."""

from __future__ import annotations

from impls.driver.link import LinkError
from impls.references.stomp.reference import Frame, Message, Server, Session, Subscription
from strategies.stomp import writer as plans
from tests.mutants.kit import TOPIC, mutant, plan

# -- others ------------------------------------------------------------------------------------------------------------


@plan
def _fault_beside(w: plans.Writer) -> None:
    line = w.line()
    w.line(1)
    w.say(line, "BEGIN")


@mutant(
    "error-for-all",
    "ROB-02",
    _fault_beside,
)
class ErrorForAll(Session):
    """An ERROR is sent to every connection."""

    def fail(self, why: str, frame: Frame | None = None, *headers: tuple[str, str]) -> None:
        for other in [*self.server.sessions.values()]:
            Session.fail(other, why)


@plan
def _fault_then_open(w: plans.Writer) -> None:
    w.say(w.line(), "BEGIN")
    w.wait()
    w.line(1)


@mutant("nobody-after-error", "ROB-01", _fault_then_open, accept="ROB-02 CONNECT-02")
class NobodyAfterError(Server):
    """After the first ERROR the server takes no more connections."""

    def open(self) -> Session:
        if getattr(self, "broken", False):
            raise LinkError("cannot connect: connection refused")
        session = super().open()
        fail = session.fail

        def broken(*args: object) -> None:
            self.broken = True
            fail(*args)  # type: ignore[arg-type]

        session.fail = broken  # type: ignore[method-assign]
        return session


@plan
def _cut_off(w: plans.Writer) -> None:
    line, other = w.line(), w.line(1)
    w.subscribe(other, TOPIC, receipt=w.receipt())
    w.blurt(line, b"SEND\ndestination:", TOPIC, b"\nk:1\ncontent-length:9\n\nabc")
    w.hang(line)


@mutant("half-a-message", "ROB-03", _cut_off, accept="CLEN-08 MSG-09")
class HalfAMessage(Session):
    """A SEND that was cut off is delivered as far as it came."""

    def hang_up(self) -> None:
        head = self.parser._head
        if head is not None and head[0] == "SEND":
            self.handle(Frame(*head, bytes(self.parser._buffer[self.parser._at :]), 0))
        super().hang_up()


@plan
def _junk(w: plans.Writer) -> None:
    w.blurt(w.bare(1), b"GET / HTTP/1.1\r\n\r\n")
    w.wait()
    w.line()


@mutant(
    "junk-jams",
    "ROB-04",
    _junk,
    accept="ROB-01 ROB-02 CONNECT-02",
)
class JunkJams(Server):
    """After an HTTP request no more CONNECT is answered."""

    jammed = False

    def open(self) -> Session:
        session = super().open()
        parser = session.parser
        feed, first = parser.feed, session.on_first

        def watch(data: bytes) -> None:
            self.jammed |= b"HTTP/" in data
            feed(data)

        parser.feed = watch  # type: ignore[method-assign]
        session.on_first = lambda frame: None if self.jammed else first(frame)  # type: ignore[method-assign]
        return session


@plan
def _lost_beside(w: plans.Writer) -> None:
    line, other = w.line(), w.line(1)
    w.subscribe(other, TOPIC, receipt=w.receipt())
    w.subscribe(line, TOPIC, receipt=w.receipt())
    w.hang(line)
    w.send(other, TOPIC)


@mutant("ghost-swallows", "SUB-05", _lost_beside, accept="ROB-02 SUB-04")
class GhostSwallows(Server):
    """Delivering to a connection that was lost fails, and the subscribers behind it get nothing."""

    def open(self) -> Session:
        session = super().open()
        session.on_lost_connection = lambda: None  # type: ignore[method-assign]
        deliver = session.deliver

        def guarded(subscription: Subscription, message: Message) -> None:
            for other in subscription.destination.subscribers:
                if other.session.hung:
                    return
            deliver(subscription, message)

        session.deliver = guarded  # type: ignore[method-assign]
        return session
