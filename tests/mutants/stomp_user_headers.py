"""Faults in the headers that senders add of their own."""

from __future__ import annotations

from impls.references.stomp.reference import Frame, Server, Session
from strategies.stomp import writer as plans
from tests.mutants.faults import has
from tests.mutants.kit import QUEUE, mutant, plan, round_trip

# -- headers -----------------------------------------------------------------------------------------------------------


def _passes(change) -> type[Session]:
    """A session that passes on other user headers than it was given."""

    class Passing(Session):
        def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
            return change(super().pass_through(frame))

    return Passing


mutant("user-headers-lost", "SEND-04", round_trip(("a", "1")), accept="MSG-08")(
    "User headers are not passed on.", _passes(lambda headers: [h for h in headers if h[0] in ("k", "content-type")])
)
mutant("values-cut-at-100", "SEND-04", round_trip(("a", "x" * 101)), accept="MSG-08")(
    "Header values are cut after 100 characters.",
    _passes(lambda headers: [(name, value[:100]) for name, value in headers]),
)
mutant("eight-headers", "MSG-08", round_trip(*((f"h{n}", "x") for n in range(8))), accept="SEND-04")(
    "No more than eight user headers are passed on.", _passes(lambda headers: headers[:8])
)
mutant("names-lowered", "SEND-04", round_trip(("Content", "1")), accept="MSG-08 FRAME-05")(
    "Names of user headers come back in lower case.",
    _passes(lambda headers: [(name.lower(), value) for name, value in headers]),
)
mutant("like-a-reserved-name", "SEND-04", round_trip(("receipts", "1")), accept="MSG-08")(
    "A user header is taken for a reserved one because its name begins like it.",
    _passes(lambda headers: [h for h in headers if not h[0].startswith("receipt")]),
)
mutant("reserved-in-any-case", "SEND-04", round_trip(("Ack", "1")), accept="MSG-08 FRAME-05")(
    "A user header is taken for a reserved one because it is spelled like it but for its case.",
    _passes(lambda headers: [h for h in headers if h[0].lower() not in ("ack", "destination")]),
)
mutant("dashes-become-underscores", "SEND-04", round_trip(("a-b", "1")), accept="MSG-08")(
    "Names of user headers are made into identifiers.",
    _passes(lambda headers: [(n if n == "content-type" else n.replace("-", "_"), v) for n, v in headers]),
)
mutant("numbers-normalised", "SEND-04", round_trip(("a", "1.50")), accept="MSG-08")(
    "A value that looks like a number is written as a number.",
    _passes(
        lambda headers: [(n, f"{float(v):g}" if "." in v and v.replace(".", "").isdecimal() else v) for n, v in headers]
    ),
)
mutant("empty-entry-for-header", "REPEAT-02", round_trip(("a", ""), ("a", "1")), accept="ENC-08", level="SHOULD")(
    "Of repeated headers the first that is not empty counts.",
    _passes(lambda headers: sorted(headers, key=lambda h: h[1] == "")),
)


class _Forgeable(Session):
    """Lets the sender's own header replace the server's."""

    name = ""

    def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
        forged = [(self.name, frame.first[self.name])] if self.name in frame.first else []
        return super().pass_through(frame) + forged

    def message_headers(self, subscription, message, ack) -> list[tuple[str, str]]:
        return sorted(super().message_headers(subscription, message, ack), key=lambda h: h not in message.headers)


mutant("subscription-forged", "SEND-09", round_trip(("subscription", "forged")), accept="MSG-04 MSG-09")(
    "A sender can say which subscription a MESSAGE is for.", has(_Forgeable, name="subscription")
)
mutant("message-id-forged", "SEND-09", round_trip(("message-id", "forged")), accept="MSG-03")(
    "A sender can choose the message-id.", has(_Forgeable, name="message-id")
)
mutant("ack-forged", "SEND-09", round_trip(("ack", "forged"), mode="client"), accept="MSG-06")(
    "A sender can choose by which value its message is acknowledged.", has(_Forgeable, name="ack")
)


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
