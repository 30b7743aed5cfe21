"""Faults of the connection to a STOMP server, whichever it is: what happens to one of its frames, and who is to blame.

What the text leaves free is among them, with nobody to blame: frames that change places where their order means
nothing, delays that are short enough, a connection that the client has to close.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from impls.driver.link import Transport
from specs.plan import Plan
from specs.protocol import find
from specs.stomp.frames import BEAT, Frame, encode
from specs.stomp.states import Config
from strategies.stomp import writer as plans
from tests.mutants.kit import QUEUE, TOPIC, Witness, connecting, ids, one, plan, round_trip
from tests.mutants.link import (
    Change,
    Fault,
    FaultyTransport,
    Wire,
    alter,
    close_before,
    close_behind,
    close_within,
    cut,
    delay,
    drop,
    duplicate,
    garble,
    keep,
    rewrite,
    swap,
)


@dataclass(frozen=True, slots=True)
class LinkMutant:
    """A fault of the connection. `blames` are the requirements that may be blamed, none when nobody may be."""

    name: str
    fault: Fault
    witness: Witness
    blames: frozenset[str]
    level: str = "MUST"
    unseen: str = ""

    def wrap(self, transport: Transport, config: Config) -> FaultyTransport:
        """`transport` with the fault in front of it."""
        stomp = find("stomp")
        wire = Wire(lambda: stomp.decoder("server", config, {}), encode, lambda frame: frame == BEAT)
        return FaultyTransport(transport, wire, self.fault)

    def __str__(self) -> str:
        return self.name


def _is(command: str) -> Callable[[Any], bool]:
    return lambda frame: isinstance(frame, Frame) and frame.command == command


def _fault(command: str, change: Change, nth: int | None = 0, endless: bool = False) -> Fault:
    return Fault(change, _is(command), nth, endless)


def _header(name: str, value: str) -> Change:
    def edit(frame: Frame) -> Frame:
        return replace(frame, headers=tuple((n, value if n == name else v) for n, v in frame.headers))

    return alter(edit, encode)


def _without(name: str) -> Change:
    return alter(lambda frame: replace(frame, headers=tuple(h for h in frame.headers if h[0] != name)), encode)


def _shorter(frame: Frame) -> Frame:
    body = frame.body[:-1]
    headers = tuple((n, f"{len(body)}" if n == "content-length" else v) for n, v in frame.headers)
    return replace(frame, headers=headers, body=body)


@plan
def _acked(w: plans.Writer) -> None:
    line = w.line()
    sub = w.subscribe(line, QUEUE, "client")
    w.send(line, QUEUE)
    w.wait()
    w.acknowledge(line, sub, 0, receipt=w.receipt())


@plan
def _two_receipts(w: plans.Writer) -> None:
    line = w.line()
    w.say(line, "BEGIN", [("transaction", "t"), w.receipt()], when="join")
    w.say(line, "COMMIT", [("transaction", "t"), w.receipt()], when="now")


@plan
def _two_messages(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, TOPIC)
    w.send(line, TOPIC, when="join")
    w.send(line, TOPIC, when="now")


@plan
def _at_once(w: plans.Writer) -> None:
    line = w.bare(0)
    w.say(line, "CONNECT", [("accept-version", w.version), ("host", w.config.host)], when="join")
    w.say(line, "BEGIN", [("transaction", "t"), w.receipt()], when="now")


@plan
def _leaving(w: plans.Writer) -> None:
    w.disconnect(w.line())


BEGIN = one("BEGIN", ("transaction", "t"))
FAULTY = one("BEGIN")
SOME = round_trip(("a", "1"), body=b"hello")
LATE = 5000
_CLOSED = "ERROR-07 SUB-05 RECEIPT-01 CONNECT-02 SUB-10"


_UNSEEN: dict[str, str] = {}


def _all() -> list[LinkMutant]:
    rows: list[tuple[str, Fault, Callable[[Config], Plan], str, str]] = [
        ("drop-connected", _fault("CONNECTED", drop), connecting(), "CONNECT-02", "MUST"),
        ("drop-receipt", _fault("RECEIPT", drop), BEGIN, "RECEIPT-01", "MUST"),
        ("drop-message", _fault("MESSAGE", drop), SOME, "SUB-05", "MUST"),
        ("drop-error", _fault("ERROR", drop), FAULTY, "TXN-01 INV-10", "SHOULD"),
        ("drop-farewell", _fault("RECEIPT", drop), _leaving, "DISC-03 RECEIPT-01", "MUST"),
        ("drop-second-receipt", _fault("RECEIPT", drop, 1), _two_receipts, "RECEIPT-01 TXN-03", "MUST"),
        ("duplicate-connected", _fault("CONNECTED", duplicate), connecting(), "CONNECT-02 INV-33", "MUST"),
        ("duplicate-receipt", _fault("RECEIPT", duplicate), BEGIN, "RECEIPT-06", "MUST"),
        ("duplicate-message", _fault("MESSAGE", duplicate), SOME, "MSG-10", "MUST"),
        ("duplicate-error", _fault("ERROR", duplicate), FAULTY, "ERROR-02", "MUST"),
        ("duplicate-farewell", _fault("RECEIPT", duplicate), _leaving, "DISC-04 RECEIPT-06", "MUST"),
        ("swap-message-and-receipt", _fault("MESSAGE", swap), round_trip(ask=True), "", ""),
        ("swap-receipts", _fault("RECEIPT", swap), _two_receipts, "", ""),
        ("swap-messages", _fault("MESSAGE", swap), _two_messages, "", ""),
        ("swap-connected-and-receipt", _fault("CONNECTED", swap), _at_once, "CONNECT-11", "MUST"),
        ("alter-version", _fault("CONNECTED", _header("version", "1.3")), connecting(), "NEGO-01", "MUST"),
        ("alter-receipt-id", _fault("RECEIPT", _header("receipt-id", "other")), BEGIN, "RECEIPT-02", "MUST"),
        ("alter-subscription", _fault("MESSAGE", _header("subscription", "other")), SOME, "MSG-04", "MUST"),
        ("alter-destination", _fault("MESSAGE", _header("destination", "/other")), SOME, "MSG-02", "SHOULD"),
        ("alter-user-header", _fault("MESSAGE", _header("a", "2")), SOME, "SEND-04 MSG-08", "MUST"),
        ("alter-ack", _fault("MESSAGE", _header("ack", "other")), _acked, "ACK-01", "MUST"),
        ("lose-subscription", _fault("MESSAGE", _without("subscription")), SOME, "MSG-04 HDR-01", "MUST"),
        ("lose-message-id", _fault("MESSAGE", _without("message-id")), SOME, "MSG-03 HDR-01", "MUST"),
        ("lose-ack", _fault("MESSAGE", _without("ack")), _acked, "MSG-05", "MUST"),
        ("lose-receipt-id", _fault("RECEIPT", _without("receipt-id")), BEGIN, "RECEIPT-02 HDR-01", "MUST"),
        ("lose-version", _fault("CONNECTED", _without("version")), connecting(), "CONNECTED-01 HDR-01", "MUST"),
        ("shorten-body", _fault("MESSAGE", alter(_shorter, encode)), SOME, "BODY-02", "MUST"),
        ("truncate-body", _fault("MESSAGE", rewrite(lambda d: d.replace(b"hello", b"hell"))), SOME,
         "CLEN-06 FRAME-01 SUB-05 CLEN-02", "MUST"),
        ("lengthen-body", _fault("MESSAGE", rewrite(lambda d: d.replace(b"hello", b"hello!"))), SOME,
         "CLEN-06 FRAME-01 CLEN-02", "MUST"),
        ("cut-receipt", _fault("RECEIPT", cut), BEGIN, "RECEIPT-01 FRAME-01", "MUST"),
        ("garble-receipt", _fault("RECEIPT", garble), BEGIN, "FRAME-08", "MUST"),
        ("lower-case-receipt", _fault("RECEIPT", rewrite(lambda d: d.replace(b"RECEIPT", b"receipt"))), BEGIN,
         "FRAME-08 FRAME-05", "MUST"),
        ("delay-a-little", _fault("MESSAGE", delay(200)), SOME, "", ""),
        ("delay-all-a-little", Fault(delay(50), nth=None), _acked, "", ""),
        ("delay-connected", _fault("CONNECTED", delay(LATE)), connecting(), "CONNECT-02", "MUST"),
        ("delay-receipt", _fault("RECEIPT", delay(LATE)), BEGIN, "RECEIPT-01", "MUST"),
        ("delay-message", _fault("MESSAGE", delay(LATE)), SOME, "SUB-05", "MUST"),
        ("delay-error", _fault("ERROR", delay(LATE)), FAULTY, "TXN-01 INV-10", "SHOULD"),
        ("close-on-connect", _fault("CONNECTED", close_before), connecting(), _CLOSED, "MUST"),
        ("close-behind-connected", _fault("CONNECTED", close_behind), BEGIN, _CLOSED, "MUST"),
        ("close-before-receipt", _fault("RECEIPT", close_before), BEGIN, _CLOSED, "MUST"),
        ("close-within-receipt", _fault("RECEIPT", close_within), BEGIN, _CLOSED + " FRAME-01", "MUST"),
        ("close-behind-message", _fault("MESSAGE", close_behind), round_trip(ask=True), _CLOSED, "MUST"),
        ("close-before-farewell", _fault("RECEIPT", close_before), _leaving, "DISC-03 RECEIPT-01", "MUST"),
        ("close-behind-error", _fault("ERROR", close_behind), FAULTY, "", ""),
        ("open-after-error", _fault("ERROR", keep, endless=True), FAULTY, "ERROR-01", "MUST"),
        ("open-after-farewell", _fault("RECEIPT", keep, endless=True), _leaving, "", ""),
    ]  # fmt: skip
    return [
        LinkMutant(name, fault, witness, frozenset(ids(blames)), level, _UNSEEN.get(name, ""))
        for name, fault, witness, blames, level in rows
    ]


LINK_MUTANTS: tuple[LinkMutant, ...] = tuple(_all())
