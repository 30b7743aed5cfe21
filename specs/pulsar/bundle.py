"""What Pulsar hands to the other layers. See `specs.protocol.Protocol`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from specs.events import Event
from specs.plan import Control, Plan, Ref, Say, Step, Wait
from specs.protocol import Fact as Key
from specs.protocol import Protocol
from specs.pulsar import broker, client, frames
from specs.pulsar.calls import Misuse
from specs.pulsar.features import FEATURES
from specs.pulsar.frames import draft
from specs.pulsar.machine import BROKER
from specs.pulsar.memory import PORT, PulsarMemory
from specs.pulsar.model import PulsarModel
from specs.pulsar.states import Config
from specs.requirement import load

VERSIONS = {"seed": 7, "modern": 19}
"""What the tester announces, as a rule."""


def configure(role: str, profile: str, facts: Mapping[str, Any], learnt: Mapping[str, Any]) -> Config:
    """The model's config."""
    return Config(
        role, profile, facts["tenant"], facts["namespace"], facts["partitioned"], int(facts["keepalive_s"] * 1000),
        facts["auth"], facts["bad_auth"], facts["denied"], facts["terminated"], facts["dedup"], VERSIONS[profile],
        int(facts["timeout_s"] * 1000),
    )  # fmt: skip


def smoke(config: Config) -> Plan:
    """The least that must work before anything is judged: CONNECT and PING."""
    if config.role == "client":
        return _first_producer(config)
    return Plan((Say(0, _hello(config)), Say(0, draft("PING"))))


def waking(config: Config) -> Plan | None:
    """A broker may make its namespaces when it serves already: who asks for a topic is told that there is none."""
    if config.role == "client":
        return None
    ask = draft("PARTITIONED_METADATA", topic=Ref("topic", "t"), request_id=0)
    return Plan((Say(0, _hello(config)), Say(0, ask)))


def _hello(config: Config) -> Any:
    method, _, data = config.auth.partition(":")
    login = {"auth_method_name": method, "auth_data": data.encode()} if config.auth else {}
    return draft("CONNECT", client_version="wireproof", protocol_version=config.version, **login)


def _first_producer(config: Config) -> Plan:
    """A client is told to make a producer."""
    url, topic = Ref("url"), Ref("topic", "t")
    answers = (
        draft("CONNECTED", server_version=Ref("after", (0, "CONNECT")), protocol_version=config.version),
        draft(
            "PARTITIONED_METADATA_RESPONSE",
            request_id=Ref("open", (0, "PARTITIONED_METADATA")),
            response=0,
            partitions=0,
        ),
        draft(
            "LOOKUP_RESPONSE",
            request_id=Ref("open", (0, "LOOKUP")),
            response=1,
            brokerServiceUrl=url,
            authoritative=True,
        ),
        draft(
            "PRODUCER_SUCCESS", request_id=Ref("open", (0, "PRODUCER")), producer_name=Ref("name-of", (0, "PRODUCER"))
        ),
        draft("SUCCESS", request_id=Ref("open", (0, "CLOSE_PRODUCER"))),
    )
    told: tuple[Step, ...] = (Control(0, "connect", {}), Control(0, "producer", {"topic": topic}))
    return Plan(
        (
            *told,
            *(Say(0, each) for each in answers[:4]),
            Wait(0),
            Control(0, "disconnect", {}),
            Say(0, answers[4]),
            Wait(0),
        )
    )


def from_url(url: str) -> tuple[str, int, Mapping[str, Any]]:
    """`pulsar://host:port`."""
    parts = urlsplit(url)
    return parts.hostname or "127.0.0.1", parts.port or PORT, {}


protocol = Protocol(
    name="pulsar",
    roles={"broker": "client", "client": "broker"},
    wires={"client": "callers"},
    profiles=("seed", "modern"),
    facts={
        "tenant": Key(str, "public", "topics are persistent://tenant/namespace/name"),
        "namespace": Key(str, "default", "see tenant"),
        "partitioned": Key(str, "", "a local topic name with {n} partitions: part-{n}-{name}; only n = 0 when empty"),
        "keepalive_s": Key(int, 0, "seconds between the PINGs of the broker, or of the client; not waited for when 0"),
        "timeout_s": Key(int, 0, "seconds that it waits for an answer to a PING; as keepalive_s when 0"),
        "auth": Key(str, "", "method:data, credentials that are good, or that a client is given; no login when empty"),
        "bad_auth": Key(str, "", "data that must be refused; not tried when empty"),
        "denied": Key(str, "", "a local topic name that may not be published to: denied-{name}"),
        "terminated": Key(str, "", "a local topic name that takes no messages: terminated-{name}"),
        "dedup": Key(bool, False, "whether repeated sequence ids are dropped"),
    },
    requirements=load(Path(__file__).with_name("requirements.toml")),
    model=PulsarModel(),
    decoder=frames.decoder,
    encode=frames.encode,
    resolve=frames.resolve,
    memory=PulsarMemory,
    configure=configure,
    describe=frames.describe,
    to_json=frames.to_json,
    from_json=frames.from_json,
    features=FEATURES,
    schemes={"pulsar": from_url},
    smoke=smoke,
    refuses=lambda frame: bool(frame.kind == "ERROR"),
    waking=waking,
    crash=Misuse.NO_FRAME.requirement,
    beat=lambda frame: bool(frame.kind == "PING"),
    books={"broker": (broker.BOOK,), "client": (client.BOOK, client.SURVIVAL)},
    machines={
        "connection to a broker": BROKER,
        "a connection of a client": client.CONNECTION,
        "a producer or consumer of a client": client.ENDPOINT,
        "a client": client.CLIENT,
    },
)

__all__ = ["Event", "protocol"]
