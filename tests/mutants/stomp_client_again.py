"""STOMP clients that are wrong behind a cut, in what comes while they wait, and in frames in many pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from impls.references.stomp.client import Caller, Channel, Delivery, Phase, Subscription
from impls.references.stomp.client_wire import Header
from impls.references.stomp.parser import Frame
from strategies.common import Op, Program
from strategies.stomp import serving_more
from tests.mutants.faults import on
from tests.mutants.record import Witness
from tests.mutants.stomp_client_kit import mutant

QUIET, TORN, UNANSWERED, UNREAD, UNSETTLED, SETTLED, OPEN, REFUSED = range(8)
"""How the first connection of a witness ends."""
TURNED_AWAY = 24
"""The client is refused once before it is let in again."""
BEATING = 64 + 2
"""Heart-beats of the server are asked for on the first connection."""


def returning(how: int, a: int = 0, b: int = 0, *, beats: int = 0, ops: Sequence[Op] = ()) -> Witness:
    """A connection that ends so, and another behind it."""
    program = Program((0, 0, 0, 0, how, a, b, beats, 0), tuple(ops))
    return lambda config: serving_more.returning(program, config)


def meeting(kind: str, *args: int) -> Witness:
    """A command that asks for a receipt, and messages that come before it."""
    op = Op(kind, (*args, *(0,) * (5 - len(args))))
    return lambda config: serving_more.meeting(Program((0, 0, 0, 0), (op,)), config)


def tearing(size: int, pieces: int, form: int = 0) -> Witness:
    """A large message in many segments."""
    return lambda config: serving_more.tearing(Program((0, 0, 0, 0, size, pieces, form), (Op("message"),)), config)


# -- behind a cut ------------------------------------------------------------------------------------------------------


def _first(channel: Channel) -> bool:
    return channel.caller.channels[0] is channel


@mutant("old-octets", "CLI-14", returning(TORN), "CLI-15 CLI-03")
class OldOctets(Channel):
    """What was left of the connection before stands before what comes on the next one."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        before = self.caller.channels[-1:]
        if before:
            self.reader = before[0].reader


@mutant("old-watch", "HB-02", returning(QUIET, beats=BEATING), "CLI-12 CLI-15 CLI-14",
        switches={"silent_server": "close"})  # fmt: skip
class OldWatch(Channel):
    """The timer that watches the server goes on behind the end of its connection, and ends the next one."""

    def listen(self) -> None:
        left = self.heard + 2 * self.beat_in - self.caller.now
        if left > 0:
            self.caller.later(left, self.listen)
        elif self.caller.channel is not None:
            self.caller.channel.end("the server is silent")


@mutant("acks-again", "ACK-03", returning(SETTLED), "CLI-13")
class AcksAgain(Caller):
    """What was acknowledged on the connection before is acknowledged once more on the next one."""

    def connected(self, channel: Channel) -> None:
        super().connected(channel)
        for name in getattr(self, "acked", ()):
            channel.say("ACK", [("id", name)])

    def naming(self, channel: Channel, delivery: Delivery) -> list[Header]:
        found = super().naming(channel, delivery)
        self.acked = [*getattr(self, "acked", ()), found[0][1]]
        return found


mutant("returns-deaf", "CLI-03", returning(QUIET))(
    "On a second connection no message is taken.",
    on(Channel, "on_message").skips(when=lambda self: not _first(self)),
)


@mutant("falls-back-when-refused", "CONNECT-07", returning(QUIET, b=TURNED_AWAY), "HDR-02 NEGO-07 CLI-14")
class FallsBackWhenRefused(Channel):
    """Behind a CONNECT that was refused by an ERROR comes one as in 1.0, without versions."""

    def open_with(self, host: str, login: str | None, passcode: str | None) -> None:
        before = self.caller.channels[-2:-1]
        if before and not before[0].version and before[0].why.startswith("ERROR"):
            self.say("CONNECT", [("host", host)])
        else:
            super().open_with(host, login, passcode)


mutant("refused-for-good", "CLI-14", returning(QUIET, b=TURNED_AWAY), "CLI-15")(
    "Who was refused once is never connected again, as far as the application is told.",
    on(Caller, "connected").skips(when=lambda self: any(not each.version for each in self.channels)),
)
mutant("returns-never", "CLI-14", returning(QUIET), "CLI-15")(
    "A second connection is never opened, as far as the application is told.",
    on(Caller, "connected").skips(when=lambda channel: not _first(channel)),
)
mutant("returns-mute", "CLI-15", returning(QUIET))(
    "On a second connection a SEND stays where it is.",
    on(Channel, "say").skips(when=lambda self, command: command == "SEND" and not _first(self)),
)


@mutant("old-transaction", "CLI-13", returning(OPEN))
class OldTransaction(Caller):
    """What is sent on the next connection is part of the transaction that was open on the one before."""

    old = ""

    def reset(self) -> None:
        self.old = next(iter(getattr(self, "transactions", {}).values()), "")
        super().reset()

    def in_transaction(self, given: Mapping[str, Any]) -> list[Header]:
        return super().in_transaction(given) or ([("transaction", self.old)] if self.old else [])


@mutant("old-subscriptions", "CLI-03", returning(UNREAD), "SUB-03")
class OldSubscriptions(Caller):
    """Numbers begin anew with a connection, and the subscriptions before are still known by theirs."""

    def reset(self) -> None:
        known = getattr(self, "known", {})
        super().reset()
        self.known: dict[str, Subscription] = known

    def subscription_id(self, channel: Channel, name: str, destination: str) -> str:
        return str(len(self.subscriptions))

    def meant(self, first: Mapping[str, str]) -> Subscription | None:
        found = super().meant(first)
        return found if found is None else self.known.setdefault(str(found.id), found)


# -- meanwhile ---------------------------------------------------------------------------------------------------------


def _waits(self: Caller) -> bool:
    return self.awaited.startswith("receipt")


mutant("deaf-while-waiting", "CLI-03", meeting("send"))(
    "A message that comes while a RECEIPT is waited for is lost.", on(Caller, "message").skips(when=_waits)
)
mutant("only-receipts-while-waiting", "CLI-15", meeting("send"), "CLI-03")(
    "Whatever comes while a RECEIPT is waited for, and is none, ends the session.",
    on(Caller, "message").instead(lambda channel: channel.end("that is no RECEIPT"), when=_waits),
)
mutant("keeps-one", "CLI-03", meeting("send", 0, 2))(
    "Of messages that come while a RECEIPT is waited for only the last is kept.",
    on(Caller, "message").before(lambda self: self.inbox.clear(), when=_waits),
)
mutant("deaf-while-settling", "CLI-03", meeting("ack"))(
    "A message that comes while the RECEIPT of an ACK is waited for is lost.",
    on(Caller, "message").skips(
        when=lambda self: _waits(self) and any(d.ref not in self.refs or d not in d.subscription.open
                                               for d in self.refs.values())
    ),
)  # fmt: skip


@mutant("deaf-while-subscribing", "CLI-03", meeting("subscribe", 0, 0, 16))
class DeafWhileSubscribing(Caller):
    """A message of a subscription that comes before the RECEIPT of its SUBSCRIBE is lost."""

    youngest = ""

    def do_subscribe(self, given: Mapping[str, Any]) -> Any:
        self.youngest = given["sub"]
        return super().do_subscribe(given)

    def message(self, channel: Channel, frame: Frame) -> None:
        meant = self.meant(frame.first)
        if meant is None or meant.name != self.youngest or not _waits(self):
            super().message(channel, frame)


mutant("transactions-wait-on", "CLI-03", meeting("tx"), "CLI-15")(
    "The RECEIPT of BEGIN, COMMIT and ABORT is not the one that is waited for.",
    on(Caller, "frame_of_transaction").gives(lambda found: found and f"{found}-tx"),
)


@mutant("waits-for-another", "CLI-03", meeting("unsubscribe"), "CLI-15")
class WaitsForAnother(Caller):
    """The RECEIPT of UNSUBSCRIBE is not the one that is waited for."""

    def send_frame(self, command: str, *given: Any) -> str | None:
        found = super().send_frame(command, *given)
        return f"{found}-u" if command == "UNSUBSCRIBE" and found else found


mutant("receipt-for-id", "CLI-09", meeting("ack"), "ACKMODE-02 ACK-03 HDR-02")(
    "An ACK that asks for a receipt has no id.",
    on(Caller, "with_receipt").gives(
        lambda found: found[1:] if found[0][0] == "id" and found[-1][0] == "receipt" and len(found) == 2 else found
    ),
)

# -- in many pieces ----------------------------------------------------------------------------------------------------


@mutant("twenty-reads", "FRAME-06", tearing(1, 40), "CLI-15 CLI-03")
class TwentyReads(Channel):
    """A frame has to be there after twenty reads."""

    reads = 0

    def received(self, data: bytes) -> None:
        self.reads += 1
        super().received(data)
        if self.reader.held == 0:
            self.reads = 0
        elif self.reads > 20:
            self.end("a frame is not over")


@mutant("large-in-one", "FRAME-06", tearing(2, 3), "CLI-15 CLI-03")
class LargeInOne(Channel):
    """A frame of more than 8 KiB has to come in one read."""

    def received(self, data: bytes) -> None:
        super().received(data)
        if self.phase is not Phase.GONE and self.reader.held > 8192:
            self.end("too much")


@mutant("nul-at-the-end", "FRAME-06", tearing(0, 7, 1), "CLI-15 CLI-03 CLEN-01")
class NulAtTheEnd(Channel):
    """A NUL at the end of what was read ends the frame, wherever that is."""

    def received(self, data: bytes) -> None:
        whole = self.reader.held == 0
        super().received(data)
        if not whole and data[-1:] == b"\0" and self.reader.held:
            self.reader = self.reader_type(self.switches)
            self.reader.agree(self.version)


mutant("trims-segments", "FRAME-06", tearing(0, 7, 2), "CLI-15 CLI-03")(
    "Line ends at the beginning of what was read are passed over, wherever that is.",
    on(Channel, "received").takes(data=lambda data: data.lstrip(b"\n") or data),
)


@mutant("sixty-four", "CLI-03", tearing(3, 0), "CLI-15")
class SixtyFour(Caller):
    """A body of more than 65,000 octets is cut."""

    def message(self, channel: Channel, frame: Frame) -> None:
        super().message(channel, frame._replace(body=frame.body[:65000]))
