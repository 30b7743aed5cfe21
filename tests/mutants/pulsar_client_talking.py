"""Faults of a client: its first word, signs of life, request ids."""

from __future__ import annotations

from impls.references.pulsar.channel import Channel
from impls.references.pulsar.client import Caller
from impls.references.pulsar.promises import Failed
from impls.references.pulsar.receiving import Receiver
from impls.references.pulsar.wire import Malformed, Message
from tests.mutants.faults import on
from tests.mutants.pulsar_client_parts import client

# -- connecting --------------------------------------------------------------------------------------------------------


client("ping-before-connect", "CONN-01", accept="CONN-03")(
    "Says PING before CONNECT.", on(Channel, "greeting").before(lambda self: self.say("PING", {}))
)


@client("does-not-wait", "CONN-03", accept="VER-02")
class DoesNotWait(Caller):
    """Does not wait for CONNECTED."""

    async def channel(self, url: str) -> Channel:
        """See `Caller`."""
        found = next((each for each in self.live_channels() if each.url == url), None)
        if found is None:
            found = self.channel_type(self, url)
            self.channels.append(found)
        return found


@client("every-second-ping", "KA-01", history=True, accept="KA-09")
class EverySecondPing(Channel):
    """Does not answer every second PING."""

    pings = 0

    def say(self, name: str, body: Message) -> None:
        self.pings += name == "PONG"
        if name != "PONG" or self.pings % 2:
            super().say(name, body)


client(
    "unknown-answers", "INV-CLIENT-21", level="SHOULD", accept="REQ-04 FRM-13 INV-CLIENT-27 INV-CLIENT-28 INV-CLIENT-29"
)(
    "Hangs up at an answer that nobody waits for.",
    on(Channel, "answered").raises(
        lambda: Malformed("nobody asked"),
        when=lambda self, body: not any(number == body.get("request_id") for _, number in self.open),
    ),
)


@client("refusal-unheard", "REQ-03", accept="INV-CLIENT-33 INV-CLIENT-34 PROD-01")
class RefusalUnheard(Receiver):
    """Takes the refusal of a consumer for its success."""

    async def open(self) -> None:
        """See `Receiver`."""
        try:
            await super().open()
        except Failed as failed:
            if failed.code is None:
                raise


@client("one-request-id", "PROD-04", accept="REQ-03")
class OneRequestId(Channel):
    """Gives every request the same id."""

    def say(self, name: str, body: Message) -> None:
        super().say(name, {**body, "request_id": 0} if "request_id" in body else body)

    def answered(self, name: str, body: Message) -> None:
        oldest = next(iter(self.open), None)
        super().answered(name, body if oldest is None else {**body, "request_id": oldest[1]})


client("pong-when-idle", "KA-01", accept="KA-09", history=True)(
    "Does not answer PING while a message has no receipt.",
    on(Channel, "say").skips(
        when=lambda self, name: name == "PONG" and any(sender.unconfirmed for sender in self.senders.values())
    ),
)
