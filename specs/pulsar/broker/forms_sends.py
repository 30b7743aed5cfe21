"""How a broker answers SENDs.

Source: 001_c0ea8805bb7ed422.txt, "Producer".
"""

from __future__ import annotations

from collections.abc import Iterator

from specs.pulsar.broker.book import BOOK
from specs.pulsar.broker.case import Case
from specs.pulsar.broker.causes import NOT_TAKEN, RECEIPT, SENDING
from specs.pulsar.calls import Misuse, Trait
from specs.pulsar.states import FORBIDDEN, Entry, Fate

CHECKSUM_ERROR = 9
"""ServerError.ChecksumError."""
QUOTA = (7, 8)
"""ServerErrors that say that a topic is full, which it may be at any time."""
UNIQUE = "PULSAR-SEND-07"
RISING = "PULSAR-SEND-08"
SAME_ID = "PULSAR-SEND-09"
DEDUPLICATED = "PULSAR-SEND-16"
SEPARATE = "PULSAR-FRM-06"
ONE_ENTRY = Trait.BATCHED.value
form = BOOK.form


def _of_nobody(case: Case) -> str:
    """What an answer to a producer that is not there breaks."""
    odd = case.conn.may_close
    if case.body.producer_id in case.conn.ended_producers or odd is Misuse.SEND_BEHIND_CLOSE:
        return Misuse.SEND_BEHIND_CLOSE.requirement
    return Misuse.SEND_OF_NOBODY.requirement if odd is Misuse.SEND_OF_NOBODY else RECEIPT


def _not_there(case: Case) -> bool:
    """True for a receipt without a producer, and where a SEND of a producer that is not there is refused instead."""
    return case.producer is None and (case.kind == "SEND_RECEIPT" or _of_nobody(case) != RECEIPT)


@form(f"{RECEIPT} {Misuse.SEND_BEHIND_CLOSE.requirement} {Misuse.SEND_OF_NOBODY.requirement}",
      on="SEND_RECEIPT, SEND_ERROR", if_=_not_there, which=_of_nobody)  # fmt: skip
def a_receipt_names_a_producer(case: Case) -> str:
    """Nothing is accepted from a producer that is not there, or was closed (seed, "CloseProducer")."""
    number = case.body.producer_id
    return f"receipt for producer {number}, which is not open" if case.kind == "SEND_RECEIPT" else ""


@form(Fate.FAILED.value, on="SEND_ERROR", if_=lambda case: case.producer is None)
def an_error_names_a_producer(case: Case) -> str:
    """A SEND without a producer may be refused."""
    odd = case.conn.may_close in (Misuse.SEND_OF_NOBODY, Misuse.SEND_BEHIND_CLOSE)
    known = odd or case.body.producer_id in case.conn.ended_producers
    return "" if known else f"SEND_ERROR for producer {case.body.producer_id}, which is not open"


def _entries(case: Case) -> Iterator[Entry]:
    source = case.number, case.body.producer_id
    return (entry for entry in case.before.entries if entry.source == source)


def _several(case: Case) -> bool:
    return case.producer is not None and len(case.conn.producers) > 1


@form(SEPARATE, on="SEND_RECEIPT, SEND_ERROR", if_=_several)
def answers_are_not_given_to_another_producer(case: Case) -> str:
    """Commands of several producers interleave without limit (seed, introduction)."""
    if case.send is not None or any(entry.seq == case.body.sequence_id for entry in _entries(case)):
        return ""
    for name, producer in case.conn.producers.items():
        if any(case.before.entries[at].seq == case.body.sequence_id for at in producer.sends):
            return f"the answer to the send {case.body.sequence_id} of producer {name} went to {case.body.producer_id}"
    return ""


def _batches(case: Case) -> bool:
    return case.producer is not None and any(entry.batched and entry.many > 1 for entry in _entries(case))


@form(ONE_ENTRY, on="SEND_RECEIPT", if_=_batches)
def a_batch_has_one_receipt(case: Case) -> str:
    """A batch is one entry: one receipt, one message id (seed, "SendReceipt")."""
    number = case.body.sequence_id
    if case.send is not None:
        return ""
    stored = [entry for entry in _entries(case) if entry.fate is Fate.STORED]
    inside = bool(stored) and stored[-1].seq < number < stored[-1].seq + stored[-1].many
    return f"a second receipt, {number}, for the messages of one batch" if inside else ""


@form(RECEIPT, on="SEND_RECEIPT", if_=lambda case: case.producer is not None)
def a_receipt_repeats_the_number_of_its_send(case: Case) -> str:
    """SEND_RECEIPT has the producer_id and sequence_id of its SEND (seed, "SendReceipt")."""
    producer = case.producer
    if case.send is not None or producer is None or not producer.sends:
        return ""
    oldest = case.before.entries[producer.sends[0]]
    return f"receipt for {case.body.sequence_id}, what is open is {oldest.seq}" if oldest.fate is Fate.SENT else ""


@form(Fate.FAILED.value, on="SEND_RECEIPT", if_=lambda case: case.producer is not None)
def a_send_is_answered_once(case: Case) -> str:
    """At most one answer for each SEND (schema)."""
    wrong = case.send is None
    return f"a second or invented answer to the send {case.body.sequence_id}" if wrong else ""


def _of_fate(case: Case, fate: Fate) -> bool:
    """True for a receipt of such a SEND; at rest, where there was one."""
    if case.frame is None:
        return any(each.fate is fate for each in case.before.entries)
    return case.send is not None and case.entry.fate is fate


def _not_stored(fate: Fate) -> None:
    @form(fate.value, on="SEND_RECEIPT, sends at rest", if_=lambda case: _of_fate(case, fate))
    def what_must_not_be_stored_is_not_confirmed(case: Case) -> str:
        """A SEND with a wrong checksum, one whose sizes lie, and one behind CLOSE_PRODUCER are not stored."""
        return "" if case.frame is None else f"a receipt came for the send {case.entry.seq}, which must not be stored"


for _fate in FORBIDDEN:
    _not_stored(_fate)


@form("PULSAR-SEND-06", on="SEND_RECEIPT", if_=lambda case: case.send is not None and len(case.producer.sends) > 1,
      also="PULSAR-FRM-15")  # fmt: skip
def receipts_come_in_the_order_of_the_sends(case: Case) -> str:
    """Receipts of one producer come in the order of its SENDs."""
    assert case.send is not None
    assert case.producer is not None
    earlier = (case.before.entries[at] for at in case.producer.sends[: case.send[0]])
    before = next((entry for entry in earlier if entry.fate is Fate.SENT), None)
    return "" if before is None else f"receipt for {case.entry.seq} before the one for {before.seq}"


@form(DEDUPLICATED, on="SEND_RECEIPT",
      if_=lambda case: case.send is not None and (case.dropped or case.duplicate_of is not None))  # fmt: skip
def a_repeated_number_is_not_stored_twice(case: Case) -> str:
    """With deduplication on a repeated sequence id is confirmed and not stored again (schema). No other one is said to
    be known."""
    if case.dropped and not case.used_before:
        return f"the sequence id {case.entry.seq} was not used before, and its message is said to be known already"
    first = None if case.dropped else case.duplicate_of
    if first is None or case.given == first.id:
        return ""
    return f"the sequence id {case.entry.seq} was confirmed before, and is stored again as {case.given}"


def _stored(case: Case) -> bool:
    """True for the receipt of a message that was not stored before."""
    return case.send is not None and not case.dropped and case.duplicate_of is None


@form(UNIQUE, on="SEND_RECEIPT", if_=_stored)
def a_receipt_has_a_message_id(case: Case) -> str:
    """SEND_RECEIPT tells the id of the message (seed, "SendReceipt")."""
    return "a receipt without a message id" if case.given is None else ""


@form(SAME_ID, on="SEND_RECEIPT", if_=lambda case: _stored(case) and case.entry.id is not None)
def the_id_is_the_one_that_a_consumer_got(case: Case) -> str:
    """The receipt's id is the one that consumers see."""
    same = case.given == case.entry.id
    return "" if same else f"the receipt has {case.given}, the consumer got {case.entry.id}"


@form(UNIQUE, on="SEND_RECEIPT", if_=_stored)
def a_message_id_is_given_once(case: Case) -> str:
    """message_id is unique in the cluster (seed, "SendReceipt")."""
    return f"the id {case.given} was given twice" if case.given in case.before.ids else ""


@form(RISING, on="SEND_RECEIPT", if_=_stored)
def ids_rise_on_a_topic(case: Case) -> str:
    """On one topic ids rise in the order in which messages are stored."""
    given, floor, producer = case.given, case.entry.floor, case.producer
    assert given is not None
    assert producer is not None
    if producer.top is not None and given <= producer.top:
        return f"the id {given} follows {producer.top} on one producer"
    return f"the id {given} was given after {floor} on one topic" if floor is not None and given <= floor else ""


# -- errors ------------------------------------------------------------------------------------------------------------


def _crossed_checksum(case: Case) -> bool:
    producer = case.producer
    return case.send is None and producer is not None and any(
        case.before.entries[at].fate is Fate.CHECKSUM for at in producer.sends
    )  # fmt: skip


@form(Misuse.CHECKSUM.requirement, on="SEND_ERROR", if_=lambda case: case.producer is not None)
def a_wrong_checksum_is_answered_with_its_number(case: Case) -> str:
    """SEND_ERROR has the ids of the SEND with the wrong checksum (practice)."""
    return f"SEND_ERROR for {case.body.sequence_id}, which is not open" if _crossed_checksum(case) else ""


@form(Fate.FAILED.value, on="SEND_ERROR", if_=lambda case: case.producer is not None, unless=_crossed_checksum)
def an_error_answers_a_send(case: Case) -> str:
    """At most one answer for each SEND (schema)."""
    return f"SEND_ERROR for {case.body.sequence_id}, which is not open" if case.send is None else ""


@form(RECEIPT, on="SEND_ERROR", if_=lambda case: case.send is not None and case.entry.fate is Fate.SENT, causes=SENDING)
def nothing_is_refused_for_no_reason(case: Case) -> str:
    """Each SEND that is in order is stored and confirmed (seed, "SendReceipt")."""
    allowed = case.body.error in QUOTA
    return "" if allowed else f"{NOT_TAKEN}: {case.entry.seq} was refused for no reason, error {case.body.error}"


@form(Misuse.CHECKSUM.requirement, on="SEND_ERROR", also=" ".join(Misuse.CHECKSUM.beside),
      if_=lambda case: case.send is not None and case.entry.fate is Fate.CHECKSUM)  # fmt: skip
def a_wrong_checksum_is_called_so(case: Case) -> str:
    """A SEND with a wrong checksum is answered ChecksumError (practice)."""
    right = case.body.error == CHECKSUM_ERROR
    return "" if right else f"the wrong checksum was answered with error {case.body.error}"
