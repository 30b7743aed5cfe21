"""Faults of a client: messages that its application wants again."""

from __future__ import annotations

from impls.references.pulsar.promises import Failed
from impls.references.pulsar.receiving import CUMULATIVE, Incoming, PartitionedReceiver, Receiver
from impls.references.pulsar.wire import Message
from tests.mutants.faults import on
from tests.mutants.pulsar_client_parts import client

PLAIN = ("interpret", (2, 2, 0), ("again", 0, 0, 0, 1, 0))
SHARED = ("interpret", (2, 2, 0), ("again", 1, 0, 0, 1, 0))
ACKED = ("interpret", (2, 2, 0), ("again", 1, 0, 1, 1, 0))
WAITING = ("interpret", (2, 2, 0), ("again", 1, 0, 0, 0, 0))

client("redelivery-unasked", "RED-09", history=True, program=PLAIN)(
    "Does not ask for anything again.", on(Receiver, "ask_again").skips()
)
client("redelivery-refused", "RED-09", history=True, program=PLAIN)(
    "Cannot ask for anything again.",
    on(PartitionedReceiver, "redeliver").raises(lambda: Failed("nothing can be asked for again")),
)
client("redelivery-of-one", "RED-09", history=True, program=SHARED)(
    "Asks again for the first message only.", on(Receiver, "ask_again").takes(messages=lambda messages: messages[:1])
)
client("redelivery-of-the-next", "RED-08", accept="RED-09", history=True, program=SHARED)(
    "Asks again for the messages behind those that it means.",
    on(Receiver, "ask_again").takes(
        messages=lambda messages: [{**each, "entryId": each["entryId"] + 9} for each in messages]
    ),
)


@client("redelivery-by-the-first", "RED-09", accept="RED-08", history=True, program=(
    "interpret", (2, 2, 0), ("consumer", 0, 0, 0, 0, 0), ("again", 0, 0, 0, 1, 1)))  # fmt: skip
class RedeliveryByTheFirst(Receiver):
    """Asks for messages again by the first consumer of the connection."""

    def ask_again(self, messages: list[Message]) -> None:
        number = self.id
        self.id = min([number, *(self.channel.receivers if self.channel else ())])
        super().ask_again(messages)
        self.id = number


@client("redelivery-of-the-acknowledged", "RED-10", level="SHOULD", history=True, program=ACKED)
class RedeliveryOfTheAcknowledged(Receiver):
    """Asks again for what it has acknowledged, too."""

    def ask_again(self, messages: list[Message]) -> None:
        super().ask_again([*messages, *vars(self).get("done", [])] if messages else messages)

    def say_ack(self, kind: int, group: list[Message]) -> None:
        vars(self).setdefault("done", []).extend(group)
        super().say_ack(kind, group)


@client("redelivered-known", "FLOW-08", accept="BAT-07", history=True, program=PLAIN)
class RedeliveredKnown(Receiver):
    """Passes over a message that it has given to the application before."""

    def on_message(self, body: Message, rest: bytes) -> None:
        known = vars(self).setdefault("known", set())
        found = (body["message_id"]["ledgerId"], body["message_id"]["entryId"])
        if found not in known:
            super().on_message(body, rest)

    def take(self) -> Incoming:
        message = super().take()
        vars(self).setdefault("known", set()).add(message.id)
        return message


@client("redelivered-unacknowledged", "ACK-13", history=True, program=PLAIN)
class RedeliveredUnacknowledged(Receiver):
    """Does not acknowledge a message that came again."""

    def ask_again(self, messages: list[Message]) -> None:
        vars(self).setdefault("again", set()).update(self.unacked)
        super().ask_again(messages)

    def ack(self, message: Incoming, cumulative: bool) -> None:
        if message.id not in vars(self).get("again", ()):
            super().ack(message, cumulative)


@client("redelivery-acknowledges", "ACK-13", history=True, program=PLAIN)
class RedeliveryAcknowledges(Receiver):
    """Acknowledges what it asks for again."""

    def ask_again(self, messages: list[Message]) -> None:
        super().ask_again(messages)
        if self.unacked:
            self.say_ack(CUMULATIVE, [self.ids[max(self.unacked)]])


@client("redelivery-drops-what-waits", "FLOW-08", accept="BAT-07 FRM-15", history=True, program=WAITING)
class RedeliveryDropsWhatWaits(Receiver):
    """Drops what waits for the application, and asks again for what that was given only."""

    def redeliver(self) -> None:
        waiting = {each.id for each in self.queue}
        for each in [each for each in self.unacked if each in waiting]:
            del self.unacked[each]
        super().redeliver()


client("redelivery-takes-permits", "FLOW-07", level="SHOULD", history=True, program=(
    "interpret", (2, 2, 0), ("again", 0, 0, 0, 4, 0)))(
    "Does not permit again what it has dropped because it comes again.",
    on(Receiver, "redeliver").before(lambda self: self.queue.clear()),
)  # fmt: skip
client("redelivery-for-everybody", "VER-02", accept="VER-04", history=True, program=("oddly", (0, 1, 4, 1, 0, 0)))(
    "Asks for messages again where the broker does not know of it.",
    on(Receiver, "redeliver").instead(lambda self: self.ask_again([])),
)


@client("waiting-ones-thrown-away", "RED-09", accept="FLOW-08", history=True, program=(
    "interpret", (2, 2, 0), ("again", 1, 0, 0, 6, 0)))  # fmt: skip
class WaitingOnesThrownAway(Receiver):
    """Does not ask again for what waits for the application, unless that holds something else, and forgets it."""

    def ask_again(self, messages: list[Message]) -> None:
        if vars(self).get("took"):
            super().ask_again(messages)

    def take(self) -> Incoming:
        vars(self)["took"] = True
        return super().take()
