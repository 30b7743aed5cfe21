"""What a client reports of what it was told, and what its silence and the ends of its connections show.

Topics: "reports"; "hangs up" (it closed a connection), "waits" (nothing was said for a while), "rests" (nothing will
be). Source: 001_c0ea8805bb7ed422.txt, "Producer", "Flow control", "Batch messages", "Keep Alive".
"""

from __future__ import annotations

from specs.pulsar.client.book import BOOK
from specs.pulsar.client.case import GIVES_UP_MS, Case
from specs.pulsar.client.case_reports import Outcome, Reported
from specs.pulsar.client.causes import BATCH_GIVEN, FAILED, HUNG_UP, MATCHED, NOT_GIVEN, NOT_PUSHED
from specs.pulsar.client.forms_again import WANTED_AGAIN
from specs.pulsar.client.forms_making import PARTITIONED, PLAIN
from specs.pulsar.client.forms_sends import IN_ORDER, PRODUCER_FIRST, READY, SAME_PROPERTIES, WHOLE_PAYLOAD
from specs.pulsar.client.machine import Stage
from specs.pulsar.client.oddities import OLDEST_RECEIPT, Oddity
from specs.pulsar.client.state import base
from specs.rules import Broken

TAKES = "PULSAR-FLOW-08"
"""A client takes every message that it has permitted."""
UNDISTURBED = "PULSAR-KA-09"
"""PING and PONG do not disturb other traffic, and nothing else ends a connection on which nothing is wrong."""
MAKES = ("producer", "subscribe")
BESIDE = ("receive", "redeliver")
"""What a client is told to do without any request that would be answered."""
REFUSALS = {"producer": Oddity.PRODUCER_REFUSED, "subscribe": Oddity.SUBSCRIBE_REFUSED}


@BOOK.freedom("P-63")
def it_may_have_waited_long_enough(case: Reported) -> bool:
    """How long a client waits for a broker the text does not say."""
    return (case.state.waits or case.state.lacks_receipt) and case.state.idle >= GIVES_UP_MS


@BOOK.freedom("P-49")
def it_was_told_what_a_broker_must_not_say(case: Reported) -> bool:
    """What becomes of what the client was told then the text does not say."""
    return case.state.odd or case.state.doubt


@BOOK.freedom("P-53")
def it_may_wait_where_nobody_listens(case: Reported) -> bool:
    """Nothing says on which of its connections a client speaks."""
    return case.state.beyond


@BOOK.freedom("P-51")
def a_message_over_the_limit_may_be_refused(case: Reported) -> bool:
    """Max_message_size (the newer protocol page)."""
    return case.state.too_large(case.op, case.given)


LIBERTIES = (it_may_have_waited_long_enough, it_was_told_what_a_broker_must_not_say, it_may_wait_where_nobody_listens,
             a_message_over_the_limit_may_be_refused)  # fmt: skip


def _fails(case: Reported) -> str:
    return f"{case.op} failed: {case.value.get('error')!s:.200}" if case.outcome is Outcome.FAILED else ""


@BOOK.form(TAKES, on="reports", if_=lambda case: case.op == "receive" and case.outcome is not Outcome.EXCUSED,
           freed_by=LIBERTIES)  # fmt: skip
def to_receive_does_not_fail(case: Reported) -> str:
    """The client takes every message it has permitted (follows from the seed, Flow control)."""
    return _fails(case)


@BOOK.form(MATCHED, on="reports", causes=FAILED, freed_by=LIBERTIES,
           if_=lambda case: case.op not in BESIDE and case.outcome is not Outcome.EXCUSED)  # fmt: skip
def what_was_answered_well_does_not_fail(case: Reported) -> str:
    """Answers are matched by id (follows from the seed, Producer)."""
    return _fails(case)


@BOOK.form(WANTED_AGAIN, on="reports", freed_by=LIBERTIES,
           if_=lambda case: case.op == "redeliver" and case.wants and case.outcome is not Outcome.EXCUSED)  # fmt: skip
def to_ask_again_does_not_fail(case: Reported) -> str:
    """A consumer can ask for what is not acknowledged (seed, RedeliverUnacknowledgedMessages)."""
    return _fails(case)


# -- producers and consumers -------------------------------------------------------------------------------------------


def _is_made(case: Reported) -> bool:
    return case.op in MAKES and case.outcome is Outcome.DONE


def _one(case: Reported) -> str:
    return PRODUCER_FIRST if case.op == "producer" else MATCHED


def _whose(case: Reported) -> str:
    return "" if not _is_made(case) else PARTITIONED if case.wanted > 1 else _one(case)


def _is_made_beside(case: Reported) -> bool:
    """True when it was asked for on a connection that what we said may have ended, and on which the client goes on."""
    wanted = case.given.get("topic", case.topic)
    return case.state.sought(wanted) or any(
        base(topic)[0] == wanted for line in case.state.lines.values() for topic in line.beside
    )


@BOOK.form(f"{PARTITIONED} {PRODUCER_FIRST} {MATCHED}", on="reports", which=_whose, unless=_is_made_beside)
def what_is_reported_as_made_was_made(case: Reported) -> Broken | str:
    """A producer or consumer is there once its answer came (seed, Producer, Consumer), for each partition."""
    if len({end.topic for end in case.opened}) >= case.wanted:
        return ""
    refused = tuple(each.row for each in (REFUSALS[case.op], Oddity.CONNECT_REFUSED) if each in case.state.tried)
    why = f"{case.op} of a topic with {case.wanted} partitions opened {len(case.opened)}"
    return Broken(why, also=(PLAIN, *refused))


@BOOK.form(READY, on="reports", if_=lambda case: _is_made(case) and any(end.held for end in case.opened))
def nothing_is_reported_as_made_before_it_is_ready(case: Reported) -> str:
    """Producer_ready=false: wait for the second PRODUCER_SUCCESS (the newer protocol page)."""
    return f"{case.op} is said to be done before it was ready" if _is_at(case, Stage.PENDING) else ""


def _is_at(case: Reported, stage: Stage) -> bool:
    return any(end.stage is stage for end in case.opened)


@BOOK.form(f"{PRODUCER_FIRST} {MATCHED}", on="reports", which=lambda case: _one(case) if _is_made(case) else "")
def nothing_is_reported_as_made_before_its_answer(case: Reported) -> str:
    """As above."""
    return f"{case.op} is said to be done before its answer came" if _is_at(case, Stage.ASKED) else ""


@BOOK.form(Oddity.SEND_CHECKSUM.row, on="reports",
           if_=lambda case: case.op in ("send", "await") and Oddity.SEND_CHECKSUM in case.state.tried)  # fmt: skip
def what_was_refused_is_not_reported_as_sent(case: Reported) -> str:
    """SEND_ERROR: the send fails, or is tried again until its receipt comes."""
    false = case.outcome is Outcome.DONE and case.refused
    return "the client reports that it has sent what we refused" if false else ""


def _alone(case: Reported) -> bool:
    """True for a message that was reported on and of which it is known what was sent: a batch is no matter of this."""
    return case.op in ("send", "await") and bool(case.sent) and all(each.many == 1 for each in case.sent)


@BOOK.form(MATCHED, on="reports", if_=_alone, freed_by=LIBERTIES)
def nothing_is_reported_as_sent_before_its_receipt(case: Reported) -> str:
    """SEND_RECEIPT has the producer_id and the sequence_id of its SEND (seed, SendReceipt)."""
    early = case.outcome is Outcome.DONE and not any(each.receipted or each.refused for each in case.sent)
    return f"{case.op} is said to be done before its receipt came" if early else ""


# -- messages ----------------------------------------------------------------------------------------------------------


def _of_batch(case: Reported, alone: str) -> str:
    if case.outcome is not Outcome.MESSAGE or case.message is None:
        return ""
    return BATCH_GIVEN if case.message.batched else alone


@BOOK.form(TAKES, on="reports", if_=lambda case: case.outcome in (Outcome.NOTHING, Outcome.MESSAGE) and case.message,
           causes=NOT_GIVEN)  # fmt: skip
def what_was_pushed_reaches_the_application(case: Reported) -> str:
    """The client takes every message it has permitted (follows from the seed, Flow control)."""
    if case.outcome is Outcome.MESSAGE or case.message is None:
        return ""
    return f"the message {case.message.name.entry} did not reach the application"


@BOOK.form(f"{BATCH_GIVEN} {IN_ORDER}", on="reports", which=lambda case: _of_batch(case, IN_ORDER))
def messages_reach_the_application_in_order(case: Reported) -> str:
    """In the order in which they were pushed (follows from the seed, intro, Batch)."""
    at, i = case.found or (0, 0)
    passed_over = any(before.sure for before in case.state.endpoints[at].queue[:i])
    return "messages reach the application in another order" if passed_over else ""


@BOOK.form(f"{BATCH_GIVEN} {SAME_PROPERTIES}", on="reports", which=lambda case: _of_batch(case, SAME_PROPERTIES))
def a_message_keeps_its_properties_and_key(case: Reported) -> str:
    """Properties survive (seed, Metadata), those of each message of a batch (follows from the seed, Batch)."""
    message = case.message
    assert message is not None
    given = case.told.get("properties") or {}
    if given != dict(message.properties):
        return f"the properties {message.properties!r:.200} reached the application as {given!r:.200}"
    if (case.told.get("key") or None) != (message.key or None):
        return f"the key {message.key!r} reached the application as {case.told.get('key')!r}"
    return ""


@BOOK.form(WHOLE_PAYLOAD, on="reports", causes=NOT_PUSHED,
           if_=lambda case: case.outcome in (Outcome.MESSAGE, Outcome.STRANGE, Outcome.NOTHING),
           unless=_is_made_beside)  # fmt: skip
def what_reaches_the_application_was_pushed(case: Reported) -> str:
    """The payload is all that is left of the frame (seed, Payload command); what cannot be read is not given."""
    if case.outcome is not Outcome.STRANGE:
        return ""
    payload = bytes.fromhex(case.told.get("payload_hex", ""))
    return f"the application got a message that was not pushed: {payload[:60]!r}"


# -- connections -------------------------------------------------------------------------------------------------------


def _probing(case: Case) -> bool:
    keepalive = case.state.config.soonest_ms
    return bool(keepalive) and any(
        line.probe and not line.over and line.low + GIVES_UP_MS >= keepalive for line in case.state.lines.values()
    )


@BOOK.form("PULSAR-KA-08", on="hangs up, waits", if_=_probing)
def a_client_whose_ping_is_not_answered_closes(case: Case) -> Broken | str:
    """A client that sends PING closes when no PONG comes (seed, Keep Alive)."""
    latest = case.state.config.latest_ms
    for line in case.state.lines.values():
        if line.probe and not line.over and line.low > latest + GIVES_UP_MS:
            return Broken(f"the client's PING was not answered for {line.low} ms, the connection is open", ends=True)
    return ""


@BOOK.form(UNDISTURBED, on="rests", if_=lambda case: case.state.connected, causes=HUNG_UP)
def a_connection_on_which_nothing_is_wrong_stays(case: Case) -> str:
    """PING and PONG do not disturb other traffic (follows from the seed, Keep Alive)."""
    return "the client closed a connection on which nothing was wrong" if case.state.hung else ""


@BOOK.tried("PULSAR-KA-07", on="rests", if_=lambda case: case.state.connected)
def the_client_says_no_ping(case: Case) -> bool:
    """The client need not send PING (seed, Keep Alive)."""
    return not any(line.pinged for line in case.state.lines.values())


@BOOK.tried(OLDEST_RECEIPT, on="rests", if_=lambda case: Oddity.RECEIPT_AHEAD in case.state.tried)
def a_receipt_out_of_turn_is_one_for_the_message_that_it_names(case: Case) -> bool:
    """A SEND_RECEIPT refers to its message by the sequence id (seed, Send). Who gives the connection up may (P-98)."""
    return not any(line.misuse and line.over for line in case.state.lines.values())
