"""Every freedom that STOMP leaves to a client, as a named switch.

A client that takes another legal turn at each of these points is still a conforming client, so nothing that judges
clients may object to any combination. `ADVISED` names what the text recommends where it leaves the choice.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from impls.references.stomp.switches import switch


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSwitches:
    """One behaviour out of all legal ones. Raises ValueError for a value that is not among the legal ones.

    The fields made by `switch` are the freedoms; those with a plain default are sizes in octets and times in
    milliseconds, which take any value.
    """

    # Connecting (STOMP 1.2, Connecting, Protocol Negotiation, Heart-beating)
    command: str = switch("CONNECT", "STOMP")  # STOMP only where more than 1.0 is offered
    plain_1_0: bool = switch(False, True)  # who offers 1.0 alone need not name versions or a host
    no_beats: str = switch("omit", "say")  # the heart-beat header of a client that was told of none
    beat: str = switch("half", "most", "whole")  # of the interval agreed on passes in silence, at most
    beats: str = switch("when-silent", "always")
    beat_octets: str = switch("lf", "crlf")  # crlf in 1.2 sessions only
    odd_beats: str = switch("close", "none")  # a heart-beat header of the server that cannot be read
    silent_server: str = switch("ignore", "close")

    # How frames are written (STOMP 1.2, STOMP Frames, content-length, content-type)
    line_end: str = switch("lf", "crlf")  # crlf in 1.2 only, and in CONNECT where nothing else is offered
    trailing_eols: str = switch("none", "lf", "crlf", "several")
    extra_headers: bool = switch(False, True)
    header_order: str = switch("plain", "reversed", "shuffled")
    content_length: str = switch("body", "always", "when-needed")
    content_type: str = switch("octets", "none", "text")  # of a SEND whose application names none
    default_ack: str = switch("say", "omit")  # ack:auto
    ack_extra: bool = switch(False, True)  # headers of older versions on ACK and NACK
    anonymous_1_0: bool = switch(False, True)  # a subscription of 1.0 needs no id
    pieces: str = switch("whole", "octets", "some")

    # Identifiers
    sub_ids: str = switch("given", "number", "odd")
    transaction_ids: str = switch("given", "number", "odd")
    receipt_ids: str = switch("given", "number", "odd")

    # What is waited for (STOMP 1.2, RECEIPT, ACK, DISCONNECT)
    receipts: str = switch("asked", "every")
    waits: bool = switch(True, False)  # an op is over when its receipt has come, or when its frame has left
    ack_ms: int = switch(0, 5)  # cumulative ACKs are held back so long: the last one speaks for all
    settled_again: str = switch("error", "ignore")  # an ack of what is settled sends nothing; is it an error?
    ack_of_auto: str = switch("error", "ignore")
    unsubscribed: str = switch("drop", "keep")  # messages that nobody has received yet
    leaving: str = switch("wait", "hurry", "plain", "close")

    # What comes from the server
    on_error: str = switch("close", "wait")  # hang up after an ERROR, or wait until the server has
    backlog: str = switch("keep", "drop")  # messages that nobody had received when the connection ended
    unknown_frame: str = switch("close", "ignore")
    stray_message: str = switch("drop", "close")  # of no subscription
    lame_message: str = switch("deliver", "close")  # without destination or message-id
    stray_receipt: str = switch("ignore", "close")
    raw_colon: str = switch("refuse", "keep")
    bare_cr: str = switch("refuse", "keep")
    nul_in_header: str = switch("refuse", "drop")
    invalid_utf8: str = switch("refuse", "replace")
    odd_content_length: str = switch("refuse", "accept")  # "+5", " 5", "005"

    # Transactions (STOMP 1.2, BEGIN)
    begins: str = switch("told", "used")  # BEGIN is sent when that is told, or before the first frame that needs it

    # Not drawn
    max_line: int = 64 * 1024
    max_headers: int = 1000
    max_head: int = 1024 * 1024
    max_body: int = 16 * 1024 * 1024
    operation_ms: float = 5_000  # how long an op waits for the server
    linger_ms: float = 1_000  # how long the server may take to hang up after its ERROR

    def __post_init__(self) -> None:
        for name, values in CLIENT_SWITCHES.items():
            if getattr(self, name) not in values:
                raise ValueError(f"{name} must be one of {values}, not {getattr(self, name)!r}")


CLIENT_SWITCHES: Mapping[str, tuple[Any, ...]] = {
    each.name: each.metadata["values"] for each in fields(ClientSwitches) if "values" in each.metadata
}

ADVISED: Mapping[str, Any] = {
    "command": "CONNECT",
    "content_length": "body",
    "content_type": "octets",
    "leaving": "wait",
}
"""What the text recommends. The other values of these switches are no breach of a MUST."""


def draw(seed: int) -> dict[str, Any]:
    """One legal value for each switch."""
    chance = random.Random(seed)
    return {name: chance.choice(values) for name, values in CLIENT_SWITCHES.items()}


def from_text(name: str, text: str) -> Any:
    """The value of switch `name` that is written `text`. Raises ValueError, naming what is legal."""
    if name in CLIENT_SWITCHES:
        for value in CLIENT_SWITCHES[name]:
            if str(value).lower() == text.lower():
                return value
        raise ValueError(f"{name} must be one of {', '.join(map(str, CLIENT_SWITCHES[name]))}, not {text!r}")
    kinds = {each.name: each.default for each in fields(ClientSwitches)}
    if name not in kinds:
        raise ValueError(f"no switch is called {name!r}; known: {', '.join(sorted(CLIENT_SWITCHES))}")
    return int(text) if isinstance(kinds[name], int) else float(text)
