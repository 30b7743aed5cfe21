"""Every freedom that the protocol leaves to a broker, as a named switch.

A broker that takes another legal turn at each of these points still conforms, so nothing that judges brokers may object
to any combination of them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

NEWEST = {"seed": 7, "modern": 21}
OLDEST = {"seed": 6, "modern": 12}
"""The protocol versions that a broker of each profile may have."""


def switch(*values: bool | int | str) -> Any:
    """A dataclass field that takes one of `values`; the first is its default."""
    return field(default=values[0], metadata={"values": values})


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """One behaviour out of all legal ones. Raises ValueError for a value that is not among the legal ones.

    The fields made by `switch` are the freedoms; those with a plain default are sizes, credentials and features, which
    take any value. `recommended` alone names recommendations that may be missed: False answers CONNECTED with the
    broker's own version, gives the general error code where a better one exists, counts no redeliveries, leaves the
    checksum to clients that are older than version 11, and passes over commands before CONNECT and a second CONNECT.
    """

    # Connecting, versions and life (Connection establishment, Keep Alive)
    versions: str = switch("newest", "oldest", "any")  # of the profile
    optional_fields: str = switch("few", "all")
    missing_checksum: str = switch("add", "keep")  # of a message that was sent without one
    liveness: str = switch("trust", "ask")  # of who holds what somebody else asks for; ask: PING, and wait
    ping: str = switch("always", "when-silent")
    recommended: bool = switch(True, False)
    cleanup_delay_ms: int = switch(0, 20)  # until what a lost connection held is free

    # Answers
    answer_delay_ms: int = switch(0, 3, 20)  # at most; drawn for each request, so answers may change places
    persist_delay_ms: int = switch(0, 3, 20)  # at most, until a message is stored
    receipt_order: str = switch("receipt-first", "message-first")  # of a SEND that also causes a MESSAGE
    output_delay_ms: int = switch(0, 3, 20)  # at most; drawn for each frame, order kept on each connection
    work_delay_ms: int = switch(0, 3, 20)  # at most, between two frames of one connection
    lookup: str = switch("connect", "redirect")  # redirect: to itself, where authoritative is true
    proxied: bool = switch(False, True)  # proxy_through_service_url, to clients of version 10 and newer

    # Names and ids
    producer_names: str = switch("number", "random", "odd")
    ids: str = switch("plain", "rollover", "big", "sparse")
    id_partition: bool = switch(True, False)  # of partitioned topics

    # Dispatch (Flow control, Message, Subscribe)
    shared_order: str = switch("round-robin", "first", "random", "most-permits", "fewest-pending")
    redelivered: str = switch("first", "last", "mixed")  # against messages that were never pushed; not Exclusive
    redelivery_order: str = switch("oldest", "newest", "random")  # among themselves; not Exclusive and Failover
    redelivery_delay_ms: int = switch(0, 3, 20)  # at most, after RedeliverUnacknowledgedMessages
    burst: int = switch(0, 1, 3)  # messages pushed at a time, 0 for as many as are permitted
    batch_permits: str = switch("debt", "window", "whole")  # window: entries are read for the permits there are, then
    # pushed; whole: a batch waits until there are permits for all of it
    part_permits: str = switch("left", "all")  # of a batch that comes again in part: for what is left, or for all of it
    dispatch_delay_ms: int = switch(0, 3, 20)  # at most, until something new is pushed
    failover: str = switch("name", "joined", "priority", "hash")  # seed: always by name
    alphabet: str = switch("octets", "letters")  # in which names of consumers are sorted; letters: whatever their case
    takeover: str = switch("leave", "rewind")  # what the old master holds when another one takes over
    failover_delay_ms: int = switch(0, 20)
    active_change: str = switch("after", "before")  # ActiveConsumerChange and the SUCCESS of the consumer that joins
    exclusive_redelivery: str = switch("rewind", "listed")
    standby_redelivery: str = switch("ignore", "release")
    exclusive_count: bool = switch(False, True)  # redelivery_count beside Shared

    # What the text leaves open
    keeps: str = switch("all", "needed")  # needed: not what every subscription is done with, nor what came without one
    acks: str = switch("at-once", "late")  # late: overtaken by REDELIVER, CLOSE_CONSUMER and the end
    ack_unpushed: str = switch("ignore", "ack")
    early_flow: str = switch("drop", "honour")  # FLOW before the SUCCESS of its SUBSCRIBE
    zero_flow: str = switch("close", "ignore")
    huge_flow: str = switch("close", "accept")  # 2^31 permits and more
    id_in_use: str = switch("again", "error", "close")  # PRODUCER or SUBSCRIBE with an id that is open
    close_unknown: str = switch("success", "error")
    send_after_close: str = switch("error", "silent", "close")
    unknown_producer: str = switch("close", "ignore")
    lying_metadata: str = switch("error", "close")
    lying_batch: str = switch("store", "error", "close")  # one that cannot be taken apart
    empty_ack: str = switch("ignore", "close")  # without a message id, which versions below 12 cannot read
    unknown_command: str = switch("close", "ignore")
    two_commands: str = switch("typed", "close")
    trailing: str = switch("ignore", "close")  # octets behind the command of a simple frame
    short_names: str = switch("accept", "refuse")  # topics without a scheme
    seek_order: str = switch("close-first", "success-first")
    max_frame: int = switch(5_253_116, 5_242_876, 5_232_640)  # TOTAL_SIZE: 5 MiB and 10 KiB, 5 MiB, 10 KiB less
    unloads: str = switch("never", "never", "sometimes")  # the broker closes producers and consumers of its own accord

    # How frames are written (Protocol Buffers)
    field_order: str = switch("number", "reverse", "random")
    unknown_fields: bool = switch(False, True)
    pieces: str = switch("whole", "octets", "some")
    ack_sets: str = switch("left", "all")  # of a batch: when some of it is acknowledged, or of every one

    # Not drawn
    profile: str = "modern"
    url: str = "pulsar://127.0.0.1:6650"  # what lookups answer
    other_url: str = ""  # what lookups answer instead, if there is one
    keepalive_ms: float = 30_000
    liveness_ms: float = 5_000  # how long whoever is asked whether it lives may take
    max_message_size: int = 5 * 1024 * 1024
    auth: str = "secret:good"  # METHOD:DATA, the only good data of this method
    auth_required: bool = False  # False: with no method, or another one, anyone may enter
    auth_steps: int = 0  # challenges before a client with good credentials of version 14 and newer enters
    denied: str = "denied-"  # topics whose local name begins so may not be published to
    deduplication: bool = False
    batch_index_acks: bool = True
    terminated: str = "terminated-"  # topics whose local name begins so take no messages
    max_open: int = 10_000  # producers and consumers of one connection, each
    max_unacked: int = 50_000  # of one consumer
    max_topic: int = 256 * 1024 * 1024
    max_kept: int = 512 * 1024 * 1024  # of all topics; idle ones are forgotten, the oldest first
    max_out: int = 16 * 1024 * 1024  # nothing more is pushed to a client that left so many octets unread
    linger_ms: float = 20  # how long late acks stay

    def __post_init__(self) -> None:
        for name, values in SWITCHES.items():
            if getattr(self, name) not in values:
                raise ValueError(f"{name} must be one of {values}, not {getattr(self, name)!r}")
        if self.profile not in NEWEST:
            raise ValueError(f"profile must be one of {', '.join(NEWEST)}, not {self.profile!r}")


SWITCHES: Mapping[str, tuple[bool | int | str, ...]] = {
    each.name: each.metadata["values"] for each in fields(Switches) if "values" in each.metadata
}


def draw(seed: int) -> dict[str, Any]:
    """One legal value for each switch; half of them the default."""
    chance = random.Random(seed)
    return {name: chance.choice(values) if chance.random() < 0.5 else values[0] for name, values in SWITCHES.items()}


def from_text(name: str, text: str) -> Any:
    """The value of switch `name` that is written `text`. Raises ValueError, naming what is legal."""
    kinds = {each.name: each.default for each in fields(Switches)}
    if name not in kinds:
        raise ValueError(f"no switch is called {name!r}; known: {', '.join(sorted(kinds))}")
    if name not in SWITCHES:
        default = kinds[name]
        if isinstance(default, bool):
            return text.lower() == "true"
        return int(text) if isinstance(default, int) else float(text) if isinstance(default, float) else text
    for value in SWITCHES[name]:
        if str(value).lower() == text.lower():
            return value
    raise ValueError(f"{name} must be one of {', '.join(map(str, SWITCHES[name]))}, not {text!r}")
