"""Messages that can be read and that the client refuses all the same, by an ACK with validation_error.

Source: 001_c0ea8805bb7ed422.txt, "Ack" (validation_error) and "Framing"; docs/ambiguities.md, "What a client may do".
"""

from __future__ import annotations

from typing import NamedTuple

from specs.causes import Causes, Named
from specs.pulsar.client.case import Said
from specs.pulsar.client.oddities import BARE, Oddity, Unreadable
from specs.pulsar.client.state import Pushed

ACKS = "PULSAR-ACK-13"
"""A client acknowledges what it has been given, after its application did."""
REFUSED = Causes("refused")


class Refused(NamedTuple):
    """A message that can be read and was refused: its entry, and as it was pushed, where it still waits."""

    entry: tuple[int, int]
    pushed: Pushed | None


def refused(case: Said) -> Refused | None:
    """The first one that an ACK refuses; None when there is none."""
    if not case.body.HasField("validation_error"):
        return None
    entry = next((each.entry for each in case.acked if each.refusal is None), None)
    queue = () if case.consumer is None else case.consumer.queue
    return None if entry is None else Refused(entry, next((one for one in queue if one.name.entry == entry), None))


def _for_want_of_a_checksum(case: Said) -> bool:
    found = refused(case)
    bare = found is not None and found.pushed is not None and found.pushed.oddity is Oddity.NO_CHECKSUM
    return bare and case.body.validation_error == Unreadable.CHECKSUM.error


@REFUSED.cause(BARE, could=_for_want_of_a_checksum, also=Oddity.NO_CHECKSUM.row)
def a_message_without_a_checksum_is_refused(case: Said) -> str:
    """A payload part without magic and checksum is accepted: practice. The seed has them in its frame."""
    found = refused(case)
    return f"the message {found.entry}, without a checksum, was refused with ChecksumMismatch" if found else ""


@REFUSED.cause(ACKS)
def nothing_is_wrong_with_it(case: Said) -> Named | str:
    """What was refused, and with which reason, tells one such fault from another."""
    found = refused(case)
    if found is None:
        return ""
    one = found.pushed
    traits = () if one is None else (
        "empty" * (not one.payload), "of a batch" * one.batched, "with properties" * bool(one.properties),
    )  # fmt: skip
    kind = " ".join(filter(None, (f"refused_with_reason_{case.body.validation_error}", *traits)))
    return Named(ACKS, f"the message {found.entry} was refused, nothing is wrong with it", kind)
