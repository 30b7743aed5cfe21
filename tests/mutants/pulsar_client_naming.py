"""Faults of a client: the credentials that it shows, and the names by which it calls topics."""

from __future__ import annotations

from impls.references.pulsar.channel import Channel
from impls.references.pulsar.client import Caller
from impls.references.pulsar.wire import Message
from tests.mutants.faults import on
from tests.mutants.pulsar_client_parts import client

LOGIN = {"auth": "token:wireproof"}
PRODUCES = ("interpret", (2, 2, 0), ("producer", 11, 11, 10, 8, 0))
CONSUMES = ("interpret", (2, 2, 0), ("receive", 0, 0, 0, 0, 0))
COMES_BACK = ("interpret", (2, 2, 0), ("drop", 0, 0, 0, 0, 0))


def _without(found: Message, *names: str) -> Message:
    return {name: part for name, part in found.items() if name not in names}


client("credentials-forgotten", "AUTH-03", facts=LOGIN, program=PRODUCES)(
    "Credentials are not shown.",
    on(Channel, "greeting").gives(lambda found: _without(found, "auth_method_name", "auth_data")),
)
client("method-only", "AUTH-03", facts=LOGIN, program=PRODUCES)(
    "Only the method of credentials is named.",
    on(Channel, "greeting").gives(lambda found: _without(found, "auth_data")),
)
client("data-only", "AUTH-03", facts=LOGIN, program=PRODUCES)(
    "Only the data of credentials are sent.",
    on(Channel, "greeting").gives(lambda found: _without(found, "auth_method_name")),
)
client("data-as-hex", "AUTH-03", facts=LOGIN, program=PRODUCES)(
    "The data of credentials are written as hex.",
    on(Channel, "greeting").gives(
        lambda found: found | {"auth_data": found["auth_data"].hex().encode()} if "auth_data" in found else found
    ),
)
client("credentials-once", "AUTH-03", facts=LOGIN, program=COMES_BACK, history=True)(
    "Only the first connection shows the credentials.",
    on(Channel, "greeting").gives(
        lambda self, found: _without(found, "auth_method_name", "auth_data") if self.caller.channels else found
    ),
)
client("method-in-capitals", "AUTH-03", facts=LOGIN, program=PRODUCES)(
    "The method of credentials is written in capitals.",
    on(Channel, "greeting").gives(
        lambda found: found | {"auth_method_name": found["auth_method_name"].upper()} if "auth_data" in found else found
    ),
)


class Names(Channel):
    """Calls topics by other names."""

    kind = ""

    def say(self, name: str, body: Message) -> None:
        super().say(name, body | {"topic": self.called(body["topic"])} if name == self.kind else body)

    def called(self, topic: str) -> str:
        """What a topic is called."""
        return topic.removeprefix("persistent://")


@client("producer-of-a-local-name", "PROD-14", program=PRODUCES, accept="LOOK-01 PART-02 PART-03")
class ProducerOfALocalName(Names):
    """A producer is asked for by the local name of its topic."""

    kind = "PRODUCER"

    def called(self, topic: str) -> str:
        return topic.rpartition("/")[2]


@client("producer-without-domain", "PROD-14", program=PRODUCES, accept="LOOK-01 PART-02 PART-03", profile="seed")
class ProducerWithoutDomain(Names):
    """A producer is asked for by a name without the kind of its topic."""

    kind = "PRODUCER"


@client("consumer-without-domain", "SUB-14", program=CONSUMES, accept="LOOK-01 PART-02 PART-03")
class ConsumerWithoutDomain(Names):
    """A consumer is asked for by a name without the kind of its topic."""

    kind = "SUBSCRIBE"


@client("short-names", "SUB-14", program=CONSUMES, accept="PROD-14 LOOK-01 PART-02 PART-03 LOOK-05", profile="seed")
class ShortNames(Caller):
    """Every topic of which something is made is called by its local name."""

    async def command(self, op: str, given: dict[str, object]) -> object:
        if op in ("producer", "subscribe"):
            given = {**given, "topic": str(given["topic"]).rpartition("/")[2]}
        return await super().command(op, given)
