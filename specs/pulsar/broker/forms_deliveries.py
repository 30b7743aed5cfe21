"""MESSAGE: what a broker may push, to whom, and in which order.

Source: 001_c0ea8805bb7ed422.txt, "Consumer". What a MESSAGE brings is found before any rule is asked (`case.Delivery`).
"""

from __future__ import annotations

import google_crc32c

from specs.pulsar.broker.book import BOOK
from specs.pulsar.broker.case import Case
from specs.pulsar.broker.causes_messages import ACKNOWLEDGED, UNKNOWN
from specs.pulsar.broker.causes_missing import LISTED
from specs.pulsar.broker.duties import ACTIVE, ONE_OF_THEM, ONLY_THE_MASTER, both
from specs.pulsar.broker.effects_subscriptions import SINGLE, bits, consumers_of
from specs.pulsar.broker.forms_sends import SAME_ID
from specs.pulsar.broker.order import Disorder, disorder
from specs.pulsar.calls import Asked, Misuse, Trait
from specs.pulsar.states import FAILOVER, FORBIDDEN, SHARED, Again, Fate
from specs.rules import Broken

NO_BATCHES = 4
"""A client of a lower version knows no batches."""
NO_COMPRESSION = 3
"""A client of a lower version knows no compression."""
TWICE = "PULSAR-E2E-03"
ORDER = "PULSAR-MSG-03"
FROM_THE_OLDEST = "PULSAR-RED-05"
PARTS = "PULSAR-ACK-12"
BATCHES = "PULSAR-BAT-11"
COMPRESSION = "PULSAR-CMP-04"
OPEN_CONSUMER = "PULSAR-MSG-01"
MESSAGE_ID = "PULSAR-MSG-02"
DEBT = "PULSAR-FLOW-09"
form = BOOK.form

# -- to whom -----------------------------------------------------------------------------------------------------------


@form(Asked.CLOSE_CONSUMER.requirement, on="MESSAGE", if_=lambda case: bool(case.conn.gone), also=OPEN_CONSUMER)
def a_closed_consumer_gets_nothing(case: Case) -> str:
    """Behind SUCCESS to CLOSE_CONSUMER nothing is pushed to it (seed, "CloseConsumer")."""
    closed = case.pushed.consumer is None and case.body.consumer_id in case.conn.gone
    return f"MESSAGE for consumer {case.body.consumer_id}, which is not open" if closed else ""


@form(OPEN_CONSUMER, on="MESSAGE")
def a_message_names_a_consumer_of_its_connection(case: Case) -> str:
    """MESSAGE has the consumer_id of an open consumer (seed, "Message")."""
    if case.pushed.consumer is None:
        return f"MESSAGE for consumer {case.body.consumer_id}, which is not open"
    return "MESSAGE of a subscription that is gone" if case.pushed.sub is None else ""


@form("PULSAR-FLOW-06", on="MESSAGE", if_=lambda case: case.consumer.resumed)
def permits_end_with_their_consumer(case: Case) -> str:
    """Permits of a consumer that is closed are not those of the next one with its id (seed, "Flow control")."""
    return "" if case.consumer.granted else "MESSAGE before any permit"


def _others_are_fed(case: Case) -> bool:
    found = case.pushed
    if any(there.granted for number, there in case.conn.consumers.items() if number != found.key[1]):
        return True
    return any(key != found.key and there.granted for key, there in consumers_of(case.before, case.consumer.sub))


@form("PULSAR-FLOW-05", on="MESSAGE", if_=_others_are_fed)
def permits_belong_to_one_consumer(case: Case) -> str:
    """What one consumer permits is not pushed to another (seed, "Flow")."""
    return "" if case.consumer.granted else "MESSAGE before any permit, another consumer had given some"


@form("PULSAR-FLOW-01", on="MESSAGE")
def nothing_comes_before_a_permit(case: Case) -> str:
    """No MESSAGE before FLOW (seed, "Flow control")."""
    return "" if case.consumer.granted else "MESSAGE before any permit"


# -- what --------------------------------------------------------------------------------------------------------------


def _checked(case: Case) -> bool:
    return bool(case.message.check) or case.message.headers is None


@form("PULSAR-CHK-02", on="MESSAGE", if_=_checked)
def the_magic_is_0x0e01(case: Case) -> str:
    """The number before the checksum is 0x0e01 (seed, "Payload command")."""
    rest = case.message.rest
    wrong = case.message.headers is None and rest[:1] == b"\x0e" and rest[1:2] not in (b"\x01", b"\x02")
    return f"a MESSAGE whose payload part begins with {rest[:2].hex()}" if wrong else ""


@form(Fate.SIZES.value, on="MESSAGE", if_=lambda case: case.message.headers is None)
def the_sizes_of_a_message_agree(case: Case) -> str:
    """METADATA_SIZE does not lie beyond the frame (seed, "Payload command")."""
    return f"a MESSAGE whose sizes lie: {case.message.odd or 'no metadata'}"


@form("PULSAR-CHK-01", on="MESSAGE", if_=_checked)
def the_checksum_is_big_endian(case: Case) -> str:
    """The checksum has 4 octets, big-endian (seed, "Payload command"; it says 2, which is an erratum)."""
    frame = case.message
    assert frame.headers is not None
    if frame.check != "bad":
        return ""
    right = google_crc32c.value(len(frame.headers).to_bytes(4, "big") + frame.headers + frame.payload)
    backwards = int.from_bytes(frame.stated.to_bytes(4, "big"), "little")
    return "the checksum of a MESSAGE is right only when it is read backwards" if backwards == right else ""


@form("PULSAR-CHK-03", on="MESSAGE", if_=_checked)
def the_checksum_is_right(case: Case) -> str:
    """CRC-32C over METADATA_SIZE, METADATA and PAYLOAD (seed, "Payload command")."""
    stored = case.pushed.entry is not None and case.pushed.entry.check == "bad"  # as it was sent: CHK-04
    return "the checksum of a MESSAGE is wrong" if case.message.check == "bad" and not stored else ""


@form("PULSAR-E2E-02", on="MESSAGE", causes=UNKNOWN)
def what_is_delivered_was_sent(case: Case) -> str:
    """Everything that is delivered was sent (seed, "Message")."""
    return "MESSAGE that nobody sent" if case.pushed.entry is None else ""


def _was_acknowledged(case: Case) -> bool:
    if case.frame is None:
        return any(place.acked for sub in case.before.subs.values() for place in sub.places.values())
    return bool(case.place.acked) or case.place.again is not None


@form("PULSAR-ACK-01", on="MESSAGE, messages at rest", if_=_was_acknowledged, causes=ACKNOWLEDGED, steady=True)
def what_is_acknowledged_does_not_come_again(case: Case) -> str:
    """An acknowledged message is not delivered again (seed, "Ack"). Nothing answers an ACK: one that the end of a
    connection overtook may not count."""
    if case.frame is None or case.place.acked != "yes":
        return ""
    place = case.place
    wrong = place.may <= 0 or (place.pushed and place.again is not Again.REDELIVER)
    return "an acknowledged message came again" if wrong else ""


@form(" ".join(dict.fromkeys(fate.value for fate in FORBIDDEN)), on="MESSAGE",
      if_=lambda case: case.entry.fate in FORBIDDEN, which=lambda case: case.entry.fate.value)  # fmt: skip
def what_must_not_be_stored_is_not_delivered(case: Case) -> str:
    """A SEND with a wrong checksum, one whose sizes lie, and one behind CLOSE_PRODUCER are not stored."""
    return "what must not be stored was delivered"


@form(SAME_ID, on="MESSAGE", if_=lambda case: case.entry.id is not None, also=MESSAGE_ID)
def a_message_has_the_id_of_its_receipt(case: Case) -> str:
    """MESSAGE tells the message id (seed, "Message")."""
    given, known = case.pushed.given, case.entry.id
    return "" if known == given else f"MESSAGE with the id {given}, its receipt had {known}"


@form(MESSAGE_ID, on="MESSAGE", if_=lambda case: case.entry.id is None)
def a_message_does_not_have_the_id_of_another(case: Case) -> str:
    """MESSAGE tells the message id (seed, "Message")."""
    given = case.pushed.given
    wrong = any(entry.id == given and entry.topic == case.entry.topic for entry in case.before.entries)
    return f"MESSAGE with the id {given} of another one" if wrong else ""


# -- within permits ----------------------------------------------------------------------------------------------------


def _spent(case: Case) -> str:
    consumer = case.consumer
    wrong = consumer.window <= 0
    return f"MESSAGE without a permit: {consumer.used} messages pushed, {consumer.granted} permitted" if wrong else ""


def _batched(case: Case) -> bool:
    return case.pushed.consumer is not None and (case.pushed.consumer.batched or case.entry.batched)


def _comes_again(case: Case) -> bool:
    return bool(case.place.pushed and case.pushed.sub is not None and case.pushed.sub.redelivered)


@form(DEBT, on="MESSAGE", if_=_batched)
def batches_come_within_permits(case: Case) -> str:
    """Not more entries than permits, and none once as many messages were pushed (practice)."""
    return _spent(case)


@form(DEBT, on="MESSAGE", if_=lambda case: case.profile == "seed" and _batched(case), level="SHOULD")
def nothing_is_pushed_once_all_permits_are_used(case: Case) -> str:
    """Permits are counted in messages (seed, "Flow"): once as many were pushed, nothing comes before the next FLOW.
    Real brokers read as many entries at a time as there are permits."""
    consumer = case.consumer
    wrong = 0 < consumer.granted <= consumer.used
    return f"a batch was pushed with {consumer.used} messages pushed, {consumer.granted} permitted" if wrong else ""


@form("PULSAR-RED-06", on="MESSAGE", if_=_comes_again, unless=_batched)
def redelivery_needs_permits(case: Case) -> str:
    """What comes again needs permits as anything else."""
    return _spent(case)


@form("PULSAR-FLOW-02", on="MESSAGE", unless=lambda case: _batched(case) or _comes_again(case))
def messages_come_within_permits(case: Case) -> str:
    """Never more messages than permitted (seed, "Flow control")."""
    return _spent(case)


# -- in its turn -------------------------------------------------------------------------------------------------------


def _in_turn(case: Case) -> bool:
    """False for what another consumer got since: nobody knows in which order."""
    return not case.pushed.overtaken


def _shared_out(case: Case) -> bool:
    found = case.pushed
    return found.key == case.sub.ousted or (_in_turn(case) and case.place.owner not in (None, found.key))


@form(f"{ONE_OF_THEM} {ONLY_THE_MASTER}", on="MESSAGE", if_=_shared_out, also=TWICE,
      which=lambda case: ONLY_THE_MASTER if case.sub.kind == FAILOVER else ONE_OF_THEM)  # fmt: skip
def one_consumer_gets_a_message(case: Case) -> str | Broken:
    """Each message goes to one of the consumers (seed, "Subscribe")."""
    found, place = case.pushed, case.place
    if found.key == case.sub.ousted:
        return both(case.sub)
    if place.skip or place.may > 0 or place.owner is None:
        return ""
    return Broken(both(case.sub), steady=place.owner[0] != found.key[0])


def _older(case: Case) -> bool:
    if case.frame is None:
        return any(place.skip for sub in case.before.subs.values() if sub.members for place in sub.places.values())
    return _in_turn(case) and case.place.skip


@form(Asked.UNSUBSCRIBE.requirement, on="MESSAGE",
      if_=lambda case: case.sub.reborn and _in_turn(case))  # fmt: skip
def a_subscription_that_was_ended_begins_anew(case: Case) -> str:
    """UNSUBSCRIBE ends the subscription (schema)."""
    return "a message older than the subscription was delivered" if case.place.skip else ""


@form("PULSAR-SUB-10", on="MESSAGE, messages at rest", if_=_older)
def a_new_subscription_begins_at_the_end(case: Case) -> str:
    """Unless initialPosition is Earliest (practice)."""
    return "" if case.frame is None else "a message older than the subscription was delivered"


def _listed(case: Case) -> bool:
    sub = case.sub
    return sub.redelivered and _in_turn(case) and (sub.kind == SHARED or case.place.may <= 0)


@form(LISTED, on="MESSAGE", steady=True, if_=_listed)
def only_what_was_asked_for_comes_again(case: Case) -> str:
    """REDELIVER brings what it lists (seed, "RedeliverUnacknowledgedMessages"). Nobody says how often what was asked
    for comes again: once too often is a fault if it always is."""
    return "a message came again that was not asked for" if case.place.may <= 0 else ""


@form(
    LISTED,
    on="MESSAGE",
    level="SHOULD",
    if_=lambda case: case.profile == "seed" and _in_turn(case) and case.place.pushed and case.sub.redelivered,
)
def a_list_is_obeyed_by_exclusive_subscriptions_too(case: Case) -> str:
    """REDELIVER with a list asks for those messages (seed, "RedeliverUnacknowledgedMessages"). Real brokers begin again
    at the oldest message of an Exclusive or Failover subscription, whatever is listed."""
    place = case.place
    wrong = place.unlisted and place.again is Again.REDELIVER
    return "a message came again that REDELIVER did not list" if wrong else ""


@BOOK.freedom("P-36")
def another_connection_may_be_seen_first(case: Case) -> bool:
    """Two connections have no order (the text is silent): what another consumer got since may have been on its way."""
    return not _in_turn(case)


@form(TWICE, on="MESSAGE", freed_by=(another_connection_may_be_seen_first,))
def nothing_is_delivered_twice(case: Case) -> str:
    """Without a cut, a redelivery or a close nothing is delivered twice."""
    return "a message was delivered twice" if case.place.may <= 0 else ""


def _from(case: Case) -> bool:
    """True where that the broker closed the other consumer may still be on its way, on another connection."""
    return case.pushed.first is not None and case.pushed.first[0] != case.pushed.key[0]


@form(
    "PULSAR-RED-04",
    on="MESSAGE",
    if_=lambda case: case.sub.kind in SINGLE and case.place.again is Again.REDELIVER and _in_turn(case),
)
def redelivery_goes_to_who_asked(case: Case) -> str | Broken:
    """Exclusive and Failover: to the same consumer (seed, "RedeliverUnacknowledgedMessages")."""
    found = case.pushed
    wrong = found.first is not None and found.first == case.place.owner
    return Broken("what a consumer asked for again went to another one", steady=_from(case)) if wrong else ""


def _among_others(case: Case) -> bool:
    return case.sub.kind == FAILOVER and not case.sub.stale and _in_turn(case)


@form(ACTIVE, on="MESSAGE", if_=lambda case: _among_others(case) and case.consumer.active is not None)
def only_the_active_consumer_receives(case: Case) -> str:
    """Who was told that it is not active gets nothing (schema, version 12)."""
    wrong = case.consumer.active is False and case.entry.at > case.sub.moved
    return "MESSAGE to a consumer that was told it is not active" if wrong else ""


@form(ONLY_THE_MASTER, on="MESSAGE", if_=_among_others)
def one_consumer_of_a_failover_subscription_receives(case: Case) -> str | Broken:
    """Exactly one consumer, the master, receives (seed, "Subscribe")."""
    found = case.pushed
    wrong = found.first is not None and found.first == case.sub.master
    return Broken("two consumers of a Failover subscription receive", steady=_from(case)) if wrong else ""


@form("PULSAR-FAIL-02", on="MESSAGE", if_=_among_others)
def the_first_by_name_is_the_master(case: Case) -> str | Broken:
    """The master is the first by consumer_name (seed, "Subscribe")."""
    found = case.pushed
    if found.first is None or found.consumer is None:
        return ""
    there = case.before.consumer(found.first)
    why = f"MESSAGE to {found.consumer.name!r} while {there.name if there else ''!r} is connected"
    return Broken(why, steady=_from(case))


# -- in order ----------------------------------------------------------------------------------------------------------


def _ordered(case: Case) -> bool:
    sub = case.pushed.sub
    return sub is not None and sub.kind in SINGLE and sub.alone and not sub.loose and _in_turn(case)


def _fresh(case: Case) -> bool:
    return _ordered(case) and not case.place.pushed


@form("PULSAR-SEND-12", on="MESSAGE", if_=_fresh)
def messages_of_a_producer_come_in_order(case: Case) -> str:
    """Messages of one producer are stored in the order of its SENDs (seed, "Send")."""
    found = disorder(case)
    return found.value if found is Disorder.OVERTOOK else ""


@form(ORDER, on="MESSAGE", if_=_ordered)
def messages_come_in_order_and_without_gaps(case: Case) -> str:
    """Exclusive and Failover: the order of publishing, without gaps."""
    found = disorder(case)
    return found.value if found in (Disorder.LEFT_OUT, Disorder.BEHIND) else ""


@form(FROM_THE_OLDEST, on="MESSAGE", if_=lambda case: (_ordered(case) and case.place.again is Again.REDELIVER)
      or (_ordered(case) and disorder(case) in (Disorder.NOT_ALL, Disorder.LATE)))  # fmt: skip
def redelivery_begins_with_the_oldest(case: Case) -> str:
    """Exclusive: in order, from the oldest message that is not acknowledged."""
    found = disorder(case)
    return found.value if found in (Disorder.NOT_ALL, Disorder.LATE) else ""


# -- as the client can read it -----------------------------------------------------------------------------------------


def _old_client_among(case: Case, version: int, trait: Trait) -> bool:
    if case.frame is not None:
        return trait in case.entry.traits
    return any(
        case.before.conn(key[0]).version < version and any(trait in case.before.entries[at].traits for at in sub.places)
        for sub in case.before.subs.values() for key in sub.members
    )  # fmt: skip


@form(BATCHES, on="MESSAGE, messages at rest", if_=lambda case: _old_client_among(case, NO_BATCHES, Trait.BATCHED))
def old_clients_get_no_batches(case: Case) -> str:
    """A batch is not pushed to a consumer below version 4 (seed, "Connect"; P-62)."""
    wrong = case.frame is not None and case.conn.version < NO_BATCHES
    return "a batch was pushed to a client of version 3 or older" if wrong else ""


@form(COMPRESSION, on="MESSAGE, messages at rest",
      if_=lambda case: _old_client_among(case, NO_COMPRESSION, Trait.COMPRESSED))  # fmt: skip
def old_clients_get_nothing_compressed(case: Case) -> str:
    """Compressed messages are not pushed to a consumer below version 3 (seed, "Metadata"; P-62)."""
    wrong = case.frame is not None and case.conn.version < NO_COMPRESSION
    return "a compressed message was pushed to a client of version 2 or older" if wrong else ""


@form("PULSAR-CHK-10", on="MESSAGE", if_=lambda case: case.conn.limit >= 6 and bool(case.entry.check))
def old_clients_get_no_checksum(case: Case) -> str:
    """A broker leaves out the checksum towards consumers below version 11 (practice)."""
    if bool(case.message.check) == (case.conn.version >= 11):
        return ""
    has = "with a checksum" if case.message.check else "without checksum"
    return f"MESSAGE {has} to a client of version {case.conn.version}"


# -- once more ---------------------------------------------------------------------------------------------------------


def _parts(case: Case) -> tuple[int, int]:
    """The messages of a batch that an ack_set names, and those that are left of it; all of it may be named, too."""
    whole = (1 << case.entry.many) - 1
    return bits(case.body.ack_set) & whole, case.place.left or whole


@BOOK.freedom("P-43")
def an_ack_of_a_part_may_be_lost(case: Case) -> bool:
    """Nothing answers an ACK (seed, "Ack"): more of a batch may come than is left of it."""
    given, left = _parts(case)
    return case.place.vague and given & left == left


@BOOK.freedom("P-87")
def a_seek_may_have_done_nothing(case: Case) -> bool:
    """A SEEK that was refused, or never answered, need not have had an effect (seed, "Seek")."""
    given, _ = _parts(case)
    return case.place.sought != 0 and given == case.place.sought


@BOOK.freedom("P-20")
def a_batch_may_say_another_number(case: Case) -> bool:
    """Nothing says that a broker looks at a SEND whose counts differ (the text is silent)."""
    return case.entry.odd is Misuse.MISCOUNTED


@form(
    PARTS,
    on="MESSAGE",
    if_=lambda case: bool(case.body.ack_set),
    freed_by=(an_ack_of_a_part_may_be_lost, a_seek_may_have_done_nothing, a_batch_may_say_another_number),
)
def an_ack_set_names_what_is_left(case: Case) -> str:
    """The ack_set of a MESSAGE are the messages of a batch that are not acknowledged (schema)."""
    given, left = _parts(case)
    return "" if given == left else f"MESSAGE with the ack_set {given:b}, what is left is {left:b}"


@form(PARTS, on="MESSAGE", level="SHOULD", if_=lambda case: not case.body.ack_set and case.place.left)
def single_messages_of_a_batch_stay_acknowledged(case: Case) -> str:
    """ack_set acknowledges single messages of a batch (schema)."""
    again = case.place.pushed
    return "single messages of a batch were acknowledged, all of it came again" if again else ""


@form("PULSAR-RED-07", on="MESSAGE",
      if_=lambda case: bool(case.place.pushed) and case.sub.kind == SHARED)  # fmt: skip
def redeliveries_are_counted(case: Case) -> str:
    """redelivery_count rises on Shared subscriptions (schema). It may begin anew when all consumers have come and
    gone."""
    place = case.place
    wrong = (
        place.again is Again.REDELIVER and place.owner == case.pushed.key and case.conn.version >= 12
        and not case.body.redelivery_count
    )  # fmt: skip
    return "a message redelivered with redelivery_count 0" if wrong else ""
