"""Faults of a client: lookups and partitions."""

from __future__ import annotations

from typing import Any

from impls.references.pulsar.channel import Channel
from impls.references.pulsar.client import Caller
from impls.references.pulsar.wire import Message
from tests.mutants.faults import has, on
from tests.mutants.pulsar_client_parts import client

# -- lookups -----------------------------------------------------------------------------------------------------------


@client("no-lookup-again", "LOOK-01", accept="CLP-06 CLC-02", history=True)
class NoLookupAgain(Caller):
    """Looks a topic up once."""

    def reset(self, url: str) -> None:
        super().reset(url)
        self.found: dict[str, Channel] = {}

    async def channel_for(self, topic: str) -> Channel:
        """See `Caller`."""
        known = self.found.get(topic)
        if known is None or known.hung_up:
            known = self.found[topic] = await super().channel_for(topic)
        return known


@client("goes-where-it-was", "LOOK-05", history=True, program=("interpret", (0, 0, 0), ("closed", 0, 1, 0, 0, 3)))
class GoesWhereItWas(Caller):
    """Looks a topic up again, and goes where it was at first."""

    def reset(self, url: str) -> None:
        super().reset(url)
        self.first: dict[str, Channel] = {}

    async def channel_for(self, topic: str) -> Channel:
        """See `Caller`."""
        found = await super().channel_for(topic)
        known = self.first.setdefault(topic, found)
        return found if known.hung_up else known


class Looking(Caller):
    """Looks topics up in another way."""

    change: dict[str, Any] = {}  # noqa: RUF012 - a constant of each class

    async def channel_for(self, topic: str) -> Channel:
        """See `Caller`."""
        url, authoritative = self.url, False
        for _ in range(21):
            channel = await self.channel(url)
            asked = {"topic": topic, "authoritative": authoritative, **self.change}
            _, answer = await channel.ask("LOOKUP", asked)
            url, authoritative = self.read(answer)
            if answer.get("response") == 1:
                return await self.channel(url)
        return channel

    def read(self, answer: Message) -> tuple[str, bool]:
        """Where to go."""
        return answer["brokerServiceUrl"], answer.get("authoritative", False)


client("authoritative-at-once", "LOOK-03", accept="LOOK-04")(
    "Asks for an authoritative answer at once.", has(Looking, change={"authoritative": True})
)
client("never-authoritative", "LOOK-04", history=True)(
    "Does not pass on that an answer must be authoritative.", has(Looking, change={"authoritative": False})
)
client("stays-where-it-is", "LOOK-05", accept="LOOK-04", history=True)(
    "Stays with the broker that it knows.",
    on(Looking, "read").instead(lambda self, answer: (self.url, answer.get("authoritative", False))),
)


@client("asks-the-one-it-knows", "LOOK-04", history=True)
class AsksTheOneItKnows(Looking):
    """Does not go where a redirect leads, but asks again where it was."""

    def read(self, answer: Message) -> tuple[str, bool]:
        url = answer["brokerServiceUrl"] if answer.get("response") == 1 else self.url
        return url, answer.get("authoritative", False)


@client("comes-back-home", "LOOK-05", history=True)
class ComesBackHome(Caller):
    """Whatever was made before is made again at the address that it was given, wherever the topic is."""

    async def channel_for(self, topic: str) -> Channel:
        """See `Caller`."""
        channel = await super().channel_for(topic)
        known = {each.topic for user in self.users() for each in user.parts}
        return await self.channel(self.url) if topic in known else channel


@client("partitions-from-one", "PART-02", history=True)
class PartitionsFromOne(Caller):
    """Counts partitions from 1."""

    async def partitions(self, topic: str) -> list[str]:
        """See `Caller`."""
        found = await super().partitions(topic)
        return found if found == [topic] else [f"{topic}-partition-{number + 1}" for number in range(len(found))]


@client("last-partition-left-out", "PART-02", history=True)
class LastPartitionLeftOut(Caller):
    """Leaves the last of several partitions out."""

    async def partitions(self, topic: str) -> list[str]:
        """See `Caller`."""
        found = await super().partitions(topic)
        return found[:-1] or found


@client("always-partitioned", "PART-03", accept="PART-02")
class AlwaysPartitioned(Caller):
    """Takes every topic for partitioned."""

    async def partitions(self, topic: str) -> list[str]:
        """See `Caller`."""
        found = await super().partitions(topic)
        return [f"{topic}-partition-0"] if found == [topic] else found


@client("partitions-again", "PART-04", accept="PART-02", level="SHOULD", history=True)
class PartitionsAgain(Caller):
    """Asks for partitions before each lookup."""

    async def channel_for(self, topic: str) -> Channel:
        """See `Caller`."""
        await self.partitions(topic)
        return await super().channel_for(topic)
