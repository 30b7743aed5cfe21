"""Which requirement is the likeliest behind a symptom of a client; asked only after a breach.

Source: docs/ambiguities.md, "What a client may do"; 001_c0ea8805bb7ed422.txt.
"""

from __future__ import annotations

from typing import Any

from specs.causes import Causes, Named
from specs.codec import Malformed
from specs.pulsar.batches import unbatch
from specs.pulsar.client.case import Case
from specs.pulsar.client.case_reports import Outcome, Reported
from specs.pulsar.client.forms_commands import FOLLOWED
from specs.pulsar.client.forms_making import THERE
from specs.pulsar.client.oddities import BARE, HARMLESS, PASSED_OVER, UNKNOWN_CONSUMER, Oddity, Unreadable

MATCHED = "PULSAR-REQ-03"
"""Answers are matched to requests by their ids, whatever their order."""
BATCH_GIVEN = "PULSAR-BAT-07"
"""The consumer gives the entries of a batch in order, with their own properties and key."""
BATCH_OF_ONE = "PULSAR-BAT-10"
"""A batch of one is a batch."""
SUBSCRIBED_ELSEWHERE = "PULSAR-CLC-02"
"""When its consumer is closed the client looks up and subscribes again; the connection stays."""
LARGE = 4_500_000
"""Octets of a payload that make a frame of nearly 5 MB."""

# -- a message that was pushed does not reach the application ---------------------------------------------------------

NOT_GIVEN = Causes("not given")


@NOT_GIVEN.cause(BATCH_OF_ONE, could=lambda case: case.message.batched and case.message.name.many == 1)
def a_batch_of_one_was_not_taken_apart(case: Reported) -> str:
    """Num_messages_in_batch present with value 1 still means batch layout: practice."""
    return (
        f"the one message of the batch {case.message.name.entry} did not reach the application" if case.message else ""
    )


@NOT_GIVEN.cause(BATCH_GIVEN, could=lambda case: case.message.batched)
def a_message_of_a_batch_was_lost(case: Reported) -> str:
    """The consumer gives the entries in order (follows from the seed, Batch)."""
    return f"the message {case.message.name.entry} did not reach the application" if case.message else ""


@NOT_GIVEN.cause(BARE, could=lambda case: case.message.oddity is Oddity.NO_CHECKSUM,
                 also=Oddity.NO_CHECKSUM.row)  # fmt: skip
def a_message_without_a_checksum_was_lost(case: Reported) -> str:
    """A payload part without magic and checksum is accepted: practice."""
    return (
        f"the message {case.message.name.entry}, without a checksum, did not reach the application"
        if case.message
        else ""
    )


@NOT_GIVEN.cause(Oddity.BROKER_METADATA.row, could=lambda case: case.message.oddity is Oddity.BROKER_METADATA)
def a_message_with_metadata_of_the_broker_was_lost(case: Reported) -> str:
    """A client that announced version 18 skips the block 0x0e02: practice."""
    name = case.message.name if case.message else None
    return f"the message {name.entry}, behind metadata of the broker, did not reach the application" if name else ""


@NOT_GIVEN.cause("PULSAR-FRM-06", could=lambda case: case.message.crowded)
def a_message_was_lost_among_those_of_others(case: Reported) -> str:
    """Commands of different producers and consumers may interleave (seed, intro): what came alone was taken."""
    alone = case.message is not None and case.state.alone
    return "a message among those of others did not reach the application" if alone else ""


# -- a message that was not pushed reaches the application ------------------------------------------------------------

NOT_PUSHED = Causes("not pushed")
UNREADABLE = " ".join(dict.fromkeys((*(each.kept for each in Unreadable), UNKNOWN_CONSUMER)))


def _batches_of_one(case: Reported) -> list[bytes]:
    pushed = (each for _, end in case.state.of_topic("consumer", case.topic) for each in end.queue)
    return [each.payload for each in pushed if each.batched and each.name.many == 1]


@NOT_PUSHED.cause(BATCH_OF_ONE, could=lambda case: bool(_batches_of_one(case)))
def a_batch_of_one_was_given_as_a_message(case: Reported) -> str:
    """Num_messages_in_batch present with value 1 still means batch layout: practice."""
    if case.outcome is not Outcome.STRANGE:
        return ""
    try:
        (only,) = unbatch(bytes.fromhex(case.told.get("payload_hex", "")), 1)
    except Malformed:
        return ""
    return "a batch of one was given as it lies" if only.payload in _batches_of_one(case) else ""


@NOT_PUSHED.cause(
    UNREADABLE, could=lambda case: bool(case.state.unread), which=lambda case: case.state.unread[-1].unread
)
def a_message_that_cannot_be_read_was_given(case: Reported) -> Named:
    """What cannot be read, or is for nobody, is not given to the application (seed, Ack)."""
    oddity = case.state.unread[-1]
    return Named(oddity.unread, "a message that cannot be read reached the application", oddity.name, (oddity.row,))


@NOT_PUSHED.cause(Oddity.OTHER_MAGIC.row, could=lambda case: Oddity.OTHER_MAGIC in case.state.tried)
def a_message_of_another_magic_was_given(case: Reported) -> str:
    """Magic 0x0e09: practice."""
    return "a message with another magic reached the application"


@NOT_PUSHED.cause(UNKNOWN_CONSUMER, could=lambda case: case.state.odd)
def a_message_for_nobody_was_given(case: Reported) -> str:
    """What comes behind something odd may be anything."""
    return "the application got a message that was not pushed"


# -- what the client was told failed, or nothing follows ---------------------------------------------------------------

FAILED = Causes("failed")


@FAILED.cause("PULSAR-FRM-08", level="SHOULD", could=lambda case: len(case.given.get("payload_hex", "")) // 2 > LARGE)
def a_frame_of_5_megabytes_was_not_sent(case: Reported) -> str:
    """A frame of 5 MB is allowed (seed, Framing)."""
    return f"{case.op} of a message of nearly 5 MiB failed"


NOTHING_FOLLOWS = Causes("nothing follows")


def _topic(case: Case) -> str:
    return str(case.state.told[0][1].get("topic", "")) if case.state.told else ""


@NOTHING_FOLLOWS.cause(FOLLOWED, could=lambda case: any(not each.followed for each in case.state.redirects.values()))
def a_redirect_was_not_followed(case: Case) -> str:
    """Redirect: ask again at that URL (seed, Lookup)."""
    place = next((each.place for each in case.state.redirects.values() if not each.followed), "")
    return f"redirected to {place}, and nothing follows"


@NOTHING_FOLLOWS.cause(
    THERE, could=lambda case: bool(case.state.named.get(_topic(case), frozenset()) - {case.state.address})
)
def what_was_found_was_not_opened(case: Case) -> str:
    """Connect: open the producer or consumer at that URL (seed, LookupResponse)."""
    made = any(end.topic == _topic(case) for end in case.state.endpoints)
    return "" if made or not case.state.address else f"{_topic(case)} was found at another address, and nothing follows"


# -- the client hung up ------------------------------------------------------------------------------------------------

HUNG_UP = Causes("hung up")


def _hung(case: Case) -> Any:
    return case.state.hung


@HUNG_UP.cause("PULSAR-KA-06", could=lambda case: case.state.config.keepalive_ms and case.state.probed, level="SHOULD")
def other_frames_were_taken_for_no_sign_of_life(case: Case) -> str:
    """Any frame counts as sign of life: practice."""
    hung = _hung(case)
    return (
        "the client closed the connection although it got other frames behind its PING"
        if hung and hung.unanswered
        else ""
    )


@HUNG_UP.cause("PULSAR-CLP-07", could=lambda case: case.state.took("producer"))
def the_connection_went_with_a_producer(case: Case) -> str:
    """CLOSE_PRODUCER from the broker leaves the TCP connection open (seed, CloseProducer)."""
    gone = _hung(case) and not _hung(case).odd and _hung(case).closed == "producer"
    return "the client closed the connection when its producer was closed" if gone else ""


@HUNG_UP.cause(SUBSCRIBED_ELSEWHERE, could=lambda case: case.state.took("consumer"))
def the_connection_went_with_a_consumer(case: Case) -> str:
    """CLOSE_CONSUMER leaves it open as well (seed, CloseConsumer)."""
    gone = _hung(case) and not _hung(case).odd and _hung(case).closed == "consumer"
    return "the client closed the connection when its consumer was closed" if gone else ""


@HUNG_UP.cause(UNKNOWN_CONSUMER, could=lambda case: case.state.crossed, also=Oddity.NO_CONSUMER.row)
def the_connection_went_with_a_message_that_crossed_the_end_of_its_consumer(case: Case) -> str:
    """A MESSAGE for a consumer that is not there is ignored (follows from the seed, Message); this one the broker may
    say, so that nobody has a reason to give it up (P-49)."""
    why = "the client closed the connection over a message that crossed its CLOSE_CONSUMER"
    return why if _hung(case) and not _hung(case).odd else ""


def _passed_over(case: Case) -> str:
    return next((each.row for each in PASSED_OVER if each in case.state.tried), "")


@HUNG_UP.cause(
    " ".join(each.row for each in PASSED_OVER), could=lambda case: bool(_passed_over(case)), which=_passed_over
)
def what_is_of_nobody_was_not_passed_over(case: Case) -> str:
    """Nobody says what a client does about consumers and producers that it has not: it should not mind."""
    return (
        "the client closed the connection over something that it must ignore" if _hung(case) and _hung(case).odd else ""
    )


def _harm(case: Case) -> str:
    return next((each.row for each in NOT_MINDED if each in case.state.tried), HARMLESS)


NOT_MINDED = (Oddity.UNKNOWN_REQUEST, Oddity.NO_CONSUMER)


@HUNG_UP.cause(" ".join((*(each.row for each in NOT_MINDED), HARMLESS)), could=lambda case: case.state.odd, which=_harm)
def what_is_for_nothing_did_harm(case: Case) -> Named | str:
    """An answer to an unknown request id, or a MESSAGE for no consumer, does no harm (follows from the seed). Who gives
    the broker up that says one is only advised against it: docs/ambiguities.md, P-49."""
    if not _hung(case) or not _hung(case).odd:
        return ""
    rows = [each.row for each in NOT_MINDED if each in case.state.tried]
    also = tuple(name for name in (HARMLESS, *rows) if name != _harm(case))
    why = "the client closed the connection over something that it should ignore"
    return Named(_harm(case), why, also=also, level="SHOULD")
