"""Faults of a client that take two things for one: what stands beside what ends, what was counted before, a part for
the whole."""

from __future__ import annotations

import itertools

from impls.references.pulsar.channel import Channel
from impls.references.pulsar.receiving import Incoming, Receiver
from impls.references.pulsar.sending import Sender
from impls.references.pulsar.wire import Message
from tests.mutants.pulsar_client_endings import scene
from tests.mutants.pulsar_client_parts import client


@client("closed-with-the-other-kind", "FLOW-08", accept="FLOW-07 BAT-07 FRM-06", history=True,
        program=scene("a_producer_and_a_consumer_side_by_side", 0))  # fmt: skip
class ClosedWithTheOtherKind(Sender):
    """A producer that is closed takes the consumer with it that was made as the same one of its connection."""

    async def close(self) -> None:
        channel = self.channel
        if channel is not None and self.id in channel.senders and channel.receivers:
            beside = list(channel.senders).index(self.id)
            if beside < len(channel.receivers):
                channel.receivers.pop(list(channel.receivers)[beside])
        await super().close()


@client("number-again-behind-an-error", "PROD-04", accept="SUB-04 REQ-03", history=True,
        program=scene("one_is_refused_and_others_go_on", 2))  # fmt: skip
class NumberAgainBehindAnError(Channel):
    """The number of a request that was refused is that of the next one."""

    def answered(self, name: str, body: Message) -> None:
        if name == "ERROR" and ("rest", body["request_id"]) in self.open:
            self.requests = itertools.count(body["request_id"])
        super().answered(name, body)


@client("room-kept-when-it-is-lost", "FLOW-07", level="SHOULD", history=True, flow="half",
        program=scene("some_were_taken_before_the_consumer_was_lost", 0))  # fmt: skip
class RoomKeptWhenItIsLost(Receiver):
    """What it was to permit when its consumer was lost it permits beside what the new one has room for."""

    def opened(self, channel: Channel) -> None:
        kept = self.given_back
        super().opened(channel)
        self.given_back = kept


@client("room-for-what-it-wants-again", "FLOW-07", level="SHOULD", history=True,
        program=scene("wanted_again_when_there_is_room_again", 0))  # fmt: skip
class RoomForWhatItWantsAgain(Receiver):
    """It permits once more what it has given to the application, when that wants it again."""

    def redeliver(self) -> None:
        waiting = {each.id for each in self.queue}
        given = sum(entry not in waiting for entry in self.unacked)
        super().redeliver()
        if given:
            self.used(given)


@client("last-of-a-batch-for-all", "ACK-13", history=True, program=scene("all_of_a_batch_but_one", 4))
class LastOfABatchForAll(Receiver):
    """The last message of a batch is acknowledged for the whole of it."""

    def ack(self, message: Incoming, cumulative: bool) -> None:
        left = self.unacked.get(message.id)
        if not cumulative and left and len(left) > 1 and message.at == max(left) > 1:
            left.intersection_update({message.at})
        super().ack(message, cumulative)


@client("number-of-the-last-again", "SEND-03", accept="SEND-02 SEND-14", history=True,
        program=scene("more_is_sent_while_the_rest_is_sent_again", 0))  # fmt: skip
class NumberOfTheLastAgain(Sender):
    """Comes back with messages under way, and goes on from the number of the last one, not behind it."""

    def opened(self, channel: Channel, answer: Message) -> None:
        fresh = self.fresh
        super().opened(channel, answer)
        if self.unconfirmed and not fresh:
            self.next_sequence = self.unconfirmed[-1].last
