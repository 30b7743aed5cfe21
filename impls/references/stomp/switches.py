"""Every freedom that STOMP leaves to a server, as a named switch.

A server that takes another legal turn at each of these points is still a conforming server, so nothing that judges
servers may object to any combination. Where the text asks for an ERROR, be it only by implication, there is no switch.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from itertools import combinations
from typing import Any

VERSIONS = ("1.0", "1.1", "1.2")


def _subsets() -> tuple[str, ...]:
    """All lists of versions that a server may support, the complete one first."""
    return tuple(",".join(some) for size in (3, 2, 1) for some in combinations(VERSIONS, size))


def switch(*values: bool | int | str) -> Any:
    """A dataclass field that takes one of `values`; the first is its default."""
    return field(default=values[0], metadata={"values": values})


SMALL: Mapping[str, int] = {"max_headers": 12, "max_line": 256, "max_body": 8192}
"""The sizes of a server with little memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """One behaviour out of all legal ones. Raises ValueError for a value that is not among the legal ones.

    The fields made by `switch` are the freedoms; those with a plain default are sizes and credentials, which take any
    value. Sizes are octets unless the name tells otherwise.
    """

    # Connecting (STOMP 1.2, Connecting, Protocol Negotiation, Heart-beating)
    versions: str = switch(*_subsets())
    unknown_host: str = switch("accept", "refuse")
    missing_host: str = switch("accept", "refuse")
    connected_headers: str = switch("full", "minimal")  # session and server, where they are optional
    version_in_1_0: bool = switch(True, False)  # a version header for a client that sent no accept-version
    heart_beat: str = switch("500,500", "0,0", "100,0", "0,100", "100,2000")
    overdue_client: str = switch("close", "error", "ignore")
    extra_beats: bool = switch(False, True)

    # Delivery (STOMP 1.2, SUBSCRIBE, ACK, NACK, MESSAGE)
    queue_order: str = switch("round-robin", "first", "random", "idle-first")
    prefetch: int | str = switch("unlimited", 1, 2, 10)
    self_delivery: bool = switch(True, False)  # topics only
    copies: str = switch("each", "one")  # what several subscriptions of one connection to a topic get
    nack: str = switch("requeue-front", "requeue-back", "discard", "dead-letter")
    redelivery: str = switch("front", "back", "never", "random", "delayed")  # after a lost connection
    redelivered_id: str = switch("keep", "change")
    redelivered_header: bool = switch(False, True)
    unsubscribed: str = switch("requeue", "drop")  # unacknowledged messages of a removed subscription
    late_ack: str = switch("error", "ignore")  # ACK of a removed subscription's message
    settled_meanwhile: str = switch("ignore", "error")  # COMMIT of an ACK that has nothing to settle any more
    ack_of_auto: str = switch("error", "ignore")
    client_ack_1_0: str = switch("cumulative", "single")  # STOMP 1.0 does not say which
    anonymous_subscription: str = switch("none", "destination")  # subscription header of 1.0 without an id

    # Identifiers
    message_id: str = switch("number", "random", "colon", "odd")
    message_id_scope: str = switch("message", "copy")  # may copies for several subscriptions share their id?
    ack_id: str = switch("separate", "same")  # same as the message-id, which is then one for each copy
    ack_style: str = switch("plain", "odd")
    ack_on_auto: bool = switch(False, True)
    senders_ack: bool = switch(False, True)  # that of a SEND is a user header where the MESSAGE need not have one

    # Receipts (STOMP 1.2, RECEIPT)
    receipt_order: str = switch("after", "before", "random")  # relative to MESSAGEs that the frame causes
    transaction_receipts: str = switch("at-once", "at-commit")
    abort_receipts: str = switch("never", "given")  # of frames in a transaction, with at-commit

    # How frames are written (STOMP 1.2, STOMP Frames, Repeated Header Entries, content-length)
    extra_headers: bool = switch(False, True)
    shuffle_headers: bool = switch(False, True)
    repeated_headers: str = switch("keep", "drop")
    empty_content_length: bool = switch(False, True)
    line_end: str = switch("lf", "crlf")  # crlf in 1.2 sessions only
    trailing_eols: str = switch("none", "lf", "crlf", "several")
    error_body: bool = switch(True, False)

    # Questionable input
    unknown_command: str = switch("error", "ignore")
    raw_colon: str = switch("refuse", "keep")
    bare_cr: str = switch("refuse", "keep")
    nul_in_header: str = switch("refuse", "drop")
    invalid_utf8: str = switch("refuse", "replace")
    odd_content_length: str = switch("refuse", "accept")  # "+5", " 5", "005"
    odd_destination: str = switch("accept", "refuse")  # blanks, non-ASCII, characters that need escaping
    silent_close: bool = switch(False, True)  # malformed input: close without the ERROR
    over_limit: str = switch("error", "close")
    limits: str = switch("large", "small")  # small: those of an embedded server, in place of the sizes below
    connections: str = switch("any", "three", "thirty")  # at once; one more is refused
    empty_names: str = switch("refuse", "accept")  # of subscriptions and transactions
    destinations: str = switch("exact", "any-case", "trimmed")
    long_destination: str = switch("accept", "refuse")

    # Closing and time
    disconnect: str = switch("server-closes", "client-closes")
    output_delay_ms: int = switch(0, 3, 20)  # at most; drawn for each frame, order kept on each connection
    work_delay_ms: int = switch(0, 3, 20)  # at most, between two frames of one connection

    # Who shares one window. It stands behind all the others, so that what a number draws for them stays
    prefetch_scope: str = switch("subscription", "connection")
    one_too_many: str = switch("at-connect", "at-once")  # is refused when it says CONNECT, or before it says anything
    subscribers: str = switch("any", "one")  # of a queue, at a time; one more is refused

    # Sizes, names and credentials: not drawn
    login: str = ""  # empty: anyone may enter
    passcode: str = ""
    hosts: str = "/,localhost,127.0.0.1"  # the known ones, for unknown_host
    max_line: int = 64 * 1024
    max_headers: int = 1000
    max_head: int = 1024 * 1024
    max_body: int = 16 * 1024 * 1024
    max_queue: int = 64 * 1024 * 1024  # kept in one queue
    max_kept: int = 256 * 1024 * 1024  # kept in all queues
    max_owed: int = 64 * 1024 * 1024  # unacknowledged or in transactions, on one connection
    max_open: int = 10_000  # subscriptions, transactions, and messages owed to one connection, each
    linger_ms: int = 1000  # how long client-closes waits
    redelivery_delay_ms: int = 50  # at most, for delayed redelivery

    def __post_init__(self) -> None:
        for name, values in SWITCHES.items():
            if getattr(self, name) not in values:
                raise ValueError(f"{name} must be one of {values}, not {getattr(self, name)!r}")
        if self.limits == "small":
            for name, size in SMALL.items():
                object.__setattr__(self, name, min(size, getattr(self, name)))

    @property
    def window(self) -> int:
        """How many unacknowledged messages a subscription may have."""
        return self.max_open if self.prefetch == "unlimited" else int(self.prefetch)


SWITCHES: Mapping[str, tuple[bool | int | str, ...]] = {
    each.name: each.metadata["values"] for each in fields(Switches) if "values" in each.metadata
}


def draw(seed: int) -> dict[str, Any]:
    """One legal value for each switch."""
    chance = random.Random(seed)
    return {name: chance.choice(values) for name, values in SWITCHES.items()}


def from_text(name: str, text: str) -> Any:
    """The value of switch `name` that is written `text`. Raises ValueError, naming what is legal."""
    kinds = {each.name: each.default for each in fields(Switches)}
    if name not in kinds:
        raise ValueError(f"no switch is called {name!r}; known: {', '.join(sorted(kinds))}")
    if name not in SWITCHES:
        return int(text) if isinstance(kinds[name], int) else text
    for value in SWITCHES[name]:
        if str(value).lower() == text.lower():
            return value
    raise ValueError(f"{name} must be one of {', '.join(map(str, SWITCHES[name]))}, not {text!r}")
