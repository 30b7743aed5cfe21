"""Faults in the headers that senders add of their own."""

from __future__ import annotations

from impls.references.stomp.reference import Frame, Server, Session
from strategies.stomp import writer as plans
from tests.mutants.kit import QUEUE, mutant, plan, round_trip

# -- headers -----------------------------------------------------------------------------------------------------------


def _passes(change) -> type[Session]:
    """A session that passes on other user headers than it was given."""

    class Passing(Session):
        def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
            return change(super().pass_through(frame))

    return Passing


@mutant("user-headers-lost", "SEND-04", round_trip(("a", "1")), accept="MSG-08")
class UserHeadersLost(_passes(lambda headers: [h for h in headers if h[0] in ("k", "content-type")])):
    """User headers are not passed on."""


@mutant("values-cut-at-100", "SEND-04", round_trip(("a", "x" * 101)), accept="MSG-08")
class ValuesCutAt100(_passes(lambda headers: [(name, value[:100]) for name, value in headers])):
    """Header values are cut after 100 characters."""


@mutant("eight-headers", "MSG-08", round_trip(*((f"h{n}", "x") for n in range(8))), accept="SEND-04")
class EightHeaders(_passes(lambda headers: headers[:8])):
    """No more than eight user headers are passed on."""


@mutant("names-lowered", "SEND-04", round_trip(("Content", "1")), accept="MSG-08 FRAME-05")
class NamesLowered(_passes(lambda headers: [(name.lower(), value) for name, value in headers])):
    """Names of user headers come back in lower case."""


@mutant("like-a-reserved-name", "SEND-04", round_trip(("receipts", "1")), accept="MSG-08")
class LikeAReservedName(_passes(lambda headers: [h for h in headers if not h[0].startswith("receipt")])):
    """A user header is taken for a reserved one because its name begins like it."""


@mutant("reserved-in-any-case", "SEND-04", round_trip(("Ack", "1")), accept="MSG-08 FRAME-05")
class ReservedInAnyCase(_passes(lambda headers: [h for h in headers if h[0].lower() not in ("ack", "destination")])):
    """A user header is taken for a reserved one because it is spelled like it but for its case."""


@mutant("dashes-become-underscores", "SEND-04", round_trip(("a-b", "1")), accept="MSG-08")
class DashesBecomeUnderscores(
    _passes(lambda headers: [(n if n == "content-type" else n.replace("-", "_"), v) for n, v in headers])
):
    """Names of user headers are made into identifiers."""


@mutant("numbers-normalised", "SEND-04", round_trip(("a", "1.50")), accept="MSG-08")
class NumbersNormalised(
    _passes(
        lambda headers: [(n, f"{float(v):g}" if "." in v and v.replace(".", "").isdecimal() else v) for n, v in headers]
    )
):
    """A value that looks like a number is written as a number."""


@mutant("empty-entry-for-header", "REPEAT-02", round_trip(("a", ""), ("a", "1")), accept="ENC-08", level="SHOULD")
class FirstNotEmpty(_passes(lambda headers: sorted(headers, key=lambda h: h[1] == ""))):
    """Of repeated headers the first that is not empty counts."""


class _Forgeable(Session):
    """Lets the sender's own header replace the server's."""

    name = ""

    def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
        forged = [(self.name, frame.first[self.name])] if self.name in frame.first else []
        return super().pass_through(frame) + forged

    def message_headers(self, subscription, message, ack) -> list[tuple[str, str]]:
        return sorted(super().message_headers(subscription, message, ack), key=lambda h: h not in message.headers)


@mutant("subscription-forged", "SEND-09", round_trip(("subscription", "forged")), accept="MSG-04 MSG-09")
class SubscriptionForged(_Forgeable):
    """A sender can say which subscription a MESSAGE is for."""

    name = "subscription"


@mutant("message-id-forged", "SEND-09", round_trip(("message-id", "forged")), accept="MSG-03")
class MessageIdForged(_Forgeable):
    """A sender can choose the message-id."""

    name = "message-id"


@mutant("ack-forged", "SEND-09", round_trip(("ack", "forged"), mode="client"), accept="MSG-06")
class AckForged(_Forgeable):
    """A sender can choose by which value its message is acknowledged."""

    name = "ack"


@plan
def _header_of_another(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, QUEUE)
    w.send(line, QUEUE, headers=[("a", "1")])
    w.send(line, QUEUE, headers=[("a", "2")])


@mutant("headers-remembered", "SEND-04", _header_of_another, accept="MSG-08")
class HeadersRemembered(Session):
    """Headers of one SEND show through on the next."""

    memory: dict[str, str]

    def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
        self.memory = getattr(self, "memory", {})
        return [(name, self.memory.setdefault(name, value) if name == "a" else value)
                for name, value in super().pass_through(frame)]  # fmt: skip


@plan
def _half_a_frame(w: plans.Writer) -> None:
    other = w.line(1)
    w.blurt(w.line(), b"BEGIN\ntrans")
    w.say(other, "BEGIN", [("transaction", "t"), w.receipt()])


@mutant("parser-shared", "ROB-02", _half_a_frame, accept="ROB-01 FRAME-06 ERROR-07 RECEIPT-01 CONNECT-02")
class ParserShared(Server):
    """All connections read into one buffer, so that half a frame of one gets between the octets of another."""

    def open(self) -> Session:
        session = super().open()
        self.shared = getattr(self, "shared", None) or session.parser
        session.parser = self.shared
        return session
