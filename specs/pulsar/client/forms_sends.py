"""What a SEND must be: its frame, its metadata, its sequence id, and whether it says what the client was told to send.

Source: 001_c0ea8805bb7ed422.txt, "Payload command", "Message metadata", "Batch messages", "Send".
"""

from __future__ import annotations

from specs.pulsar.client.book import BOOK
from specs.pulsar.client.case import Content, Match, Said
from specs.pulsar.client.forms_frames import OLD_BROKER
from specs.pulsar.client.machine import TALKING, Stage
from specs.pulsar.client.state import Sent

EARLIEST_MS, LATEST_MS = 1_577_836_800_000, 4_102_444_800_000
"""2020 and 2100: no clock that runs shows another publish time. In seconds or microseconds it is far outside."""
CHECKSUMS = 6
"""Since this version a broker knows checksums."""
BATCHES = 4
"""Since this version it knows batches."""
COMPRESSION, NEW_COMPRESSION = 3, 8
"""Since these versions it knows LZ4 and ZLIB, and ZSTD and SNAPPY."""
PRODUCER_FIRST = "PULSAR-PROD-01"
"""A producer exists before anything is sent."""
SAME_PROPERTIES = "PULSAR-MD-05"
"""Properties and key are those that the application gave."""
WHOLE_PAYLOAD = "PULSAR-FRM-04"
"""The payload is all that is left of the frame."""
IN_ORDER = "PULSAR-FRM-15"
"""What is on one connection is handled in order."""
BATCH_LAYOUT = "PULSAR-BAT-02"
"""A batch is laid out as MD_SIZE, MD, PAYLOAD, again and again, with no gap and nothing after the last."""
READY = "PULSAR-PROD-13"
"""With producer_ready=false the client waits for the second PRODUCER_SUCCESS."""
ASCENDING, RESENT = "PULSAR-SEND-03", "PULSAR-SEND-14"
"""Sequence ids rise. What had no receipt is sent again after a reconnect, with the same ids, in order."""


def _unreadable(case: Said, content: Content) -> str:
    return f"the payload of a SEND cannot be read: {case.contents[1]}" if case.content is content else ""


def _is_of(case: Said, *stages: Stage) -> bool:
    return case.producer is not None and case.producer.stage in stages


@BOOK.excuse(on="SEND", when=TALKING, if_=lambda case: case.producer is None)
def the_client_may_not_have_read_that_its_producer_is_closed(case: Said) -> bool:
    """A SEND may cross the CLOSE_PRODUCER of the broker."""
    return case.state.endpoint("producer", case.number, case.body.producer_id) is not None


@BOOK.form("PULSAR-SEND-01", on="SEND", when=TALKING)
def a_send_names_a_producer_that_there_is(case: Said) -> str:
    """SEND names an existing producer (seed, Send)."""
    return "" if case.producer else f"SEND for producer {case.body.producer_id}, which was never created"


@BOOK.form(READY, on="SEND", when=TALKING, if_=lambda case: case.producer.held)
def a_producer_that_is_not_ready_waits(case: Said) -> str:
    """Producer_ready=false: wait for the second PRODUCER_SUCCESS (the newer protocol page)."""
    return "SEND before the second PRODUCER_SUCCESS" if _is_of(case, Stage.PENDING) else ""


@BOOK.form(PRODUCER_FIRST, on="SEND", when=TALKING)
def a_producer_is_there_before_anything_is_sent(case: Said) -> str:
    """A producer exists before anything is sent (seed, Producer)."""
    return "SEND before PRODUCER_SUCCESS" if _is_of(case, Stage.ASKED, Stage.PENDING) else ""


@BOOK.form("PULSAR-MD-01", on="SEND", when=TALKING)
def the_metadata_have_what_is_required(case: Said) -> str:
    """Producer_name, sequence_id and publish_time are set (seed, Metadata)."""
    return "SEND whose metadata lack a required field" if case.meta is None else ""


@BOOK.form("PULSAR-CHK-03", on="SEND", when=TALKING, if_=lambda case: bool(case.frame.check))
def the_checksum_is_that_of_what_follows_it(case: Said) -> str:
    """CRC-32C over METADATA_SIZE, METADATA, PAYLOAD (seed, Payload command)."""
    return "the checksum of a SEND is wrong" if case.frame.check == "bad" else ""


@BOOK.form("PULSAR-CHK-02", on="SEND", when=TALKING,
           if_=lambda case: min(case.line.speaks_version, case.line.announced) >= CHECKSUMS)  # fmt: skip
def a_broker_that_knows_checksums_gets_one(case: Said) -> str:
    """The magic 0x0e01 and the checksum stand before the metadata (seed, Payload command)."""
    return "" if case.frame.check else f"SEND without a checksum to a broker of version {case.line.version}"


NO_CHECKSUM_FOR_OLD_BROKERS = "PULSAR-CHK-09"


@BOOK.form(NO_CHECKSUM_FOR_OLD_BROKERS, on="SEND", when=TALKING, if_=lambda case: case.line.speaks_version < CHECKSUMS)
def a_broker_that_does_not_know_checksums_gets_none(case: Said) -> str:
    """A client does not send the checksum to a broker that advertised less than v6 (follows from the seed, Connect).
    The seed shows no frame without one, and forbids newer commands alone; docs/ambiguities.md, P-62."""
    return f"SEND with a checksum to a broker of version {case.line.version}" if case.frame.check else ""


@BOOK.form("PULSAR-MD-02", on="SEND", when=TALKING)
def the_publish_time_is_in_milliseconds(case: Said) -> str:
    """Publish_time is milliseconds since 1970 UTC (seed, Metadata)."""
    if EARLIEST_MS <= case.meta.publish_time <= LATEST_MS:
        return ""
    return f"publish_time {case.meta.publish_time} is not now, in milliseconds since 1970"


@BOOK.form("PULSAR-FRM-11", on="SEND", when=TALKING, if_=lambda case: bool(case.line.limit))
def a_message_is_not_over_the_limit_of_the_broker(case: Said) -> str:
    """The client respects CONNECTED.max_message_size (the newer protocol page)."""
    size = len(case.frame.headers or b"") + len(case.frame.payload)
    return f"a message over max_message_size {case.line.limit}" if size > case.line.limit else ""


@BOOK.form("PULSAR-MD-06", on="SEND", when=TALKING)
def metadata_and_command_agree(case: Said) -> str:
    """Metadata name the producer as ProducerSuccess did, and the sequence id of the command (seed, Metadata, Send)."""
    name, meta, body = case.producer.name, case.meta, case.body
    if meta.producer_name == name and meta.sequence_id == body.sequence_id:
        return ""
    return f"metadata say {meta.producer_name!r} {meta.sequence_id}, it is {name!r} {body.sequence_id}"


@BOOK.excuse(on="SEND", when=TALKING, if_=lambda case: case.chunked)
def chunks_are_not_judged(case: Said) -> bool:
    """A message over max_message_size may be sent in chunks (docs/ambiguities.md)."""
    return True


# -- what is in it -----------------------------------------------------------------------------------------------------


@BOOK.form("PULSAR-BAT-04", on="SEND", when=TALKING, if_=lambda case: case.batched and case.meta.compression)
def a_batch_is_compressed_as_a_whole(case: Said) -> str:
    """With compression the whole batch is compressed at once (seed, Metadata)."""
    return _unreadable(case, Content.APART)


@BOOK.form("PULSAR-MD-08", on="SEND", when=TALKING, if_=lambda case: case.meta.compression)
def the_original_size_is_said(case: Said) -> str:
    """If compression is set, uncompressed_size is the original size (seed, Metadata)."""
    return _unreadable(case, Content.SIZE)


@BOOK.form("PULSAR-BAT-01", on="SEND", when=TALKING, if_=lambda case: case.batched)
def a_batch_says_how_many_messages_it_has(case: Said) -> str:
    """Num_messages_in_batch is the number of entries (seed, Metadata): with another number the batch can be read."""
    return _unreadable(case, Content.COUNT)


@BOOK.form("PULSAR-BAT-03", on="SEND", when=TALKING, if_=lambda case: case.batched)
def an_entry_says_how_long_its_payload_is(case: Said) -> str:
    """Payload_size = length of that entry's payload (seed, Batch)."""
    return _unreadable(case, Content.ENTRY)


@BOOK.form(BATCH_LAYOUT, on="SEND", when=TALKING, if_=lambda case: case.batched)
def a_batch_is_laid_out_entry_by_entry(case: Said) -> str:
    """MD_SIZE, MD, PAYLOAD repeated, no gap, nothing after the last (seed, Batch)."""
    return _unreadable(case, Content.LAYOUT)


@BOOK.form("PULSAR-CMP-04", on="SEND", when=TALKING, if_=lambda case: case.meta.compression)
def only_brokers_that_know_a_compression_get_it(case: Said) -> str:
    """LZ4 and ZLIB only towards v3 peers; ZSTD and SNAPPY are newer (seed, Metadata). No command: a recommendation."""
    version, kind = case.line.speaks_version, case.meta.compression
    old = (kind > 2 and version < NEW_COMPRESSION) or version < COMPRESSION
    return f"compression {kind} to a broker of version {version}" if old else ""


@BOOK.form(OLD_BROKER, on="SEND", when=TALKING, level="SHOULD",
           if_=lambda case: case.batched and case.line.speaks_version < NEW_COMPRESSION)  # fmt: skip
def only_brokers_that_know_batches_get_them(case: Said) -> str:
    """A batch is no command of its own: not to send it to an old broker is a recommendation."""
    return "a batch to a broker of version 3 or older" if case.line.speaks_version < BATCHES else ""


@BOOK.form("PULSAR-BAT-05", on="SEND", when=TALKING)
def the_command_says_how_many_messages_there_are(case: Said) -> str:
    """CommandSend.num_messages = number in the batch (seed, Send)."""
    count = len(case.contents[0]) if case.batched else 1
    given = case.body.num_messages
    return f"num_messages is {given}, {count} are in it" if given != count else ""


# -- sequence ids ------------------------------------------------------------------------------------------------------


@BOOK.excuse(on="SEND", when=TALKING, if_=lambda case: case.producer.guessed)
def what_follows_messages_that_were_not_judged_is_not_judged(case: Said) -> bool:
    """Behind what may end a connection nothing on it is judged, so a SEND there may have been the last or the next."""
    return True


def _known(case: Said) -> Sent | None:
    """What was sent before with this sequence id."""
    return next((sent for sent in case.producer.sent if sent.sequence == case.body.sequence_id), None)


@BOOK.form(RESENT, on="SEND", when=TALKING, if_=lambda case: case.again, also=ASCENDING)
def what_had_no_receipt_is_sent_again_as_it_was(case: Said) -> str:
    """Messages without receipt are sent again after a reconnect, same ids, in order (follows from the seed)."""
    end, sequence = case.producer, case.body.sequence_id
    known = _known(case)
    if sequence not in end.resend and known is not None and known.receipted:
        return f"the message {sequence} was sent again although its receipt came"
    if sequence != end.resend[0]:
        return f"after the reconnect {sequence} is sent, open is {end.resend[0]}"
    items = case.contents[0]
    if known is not None and items and known.payload != items[0].payload:
        return f"the message {sequence} was sent again with another payload"
    return ""


@BOOK.form(SAME_PROPERTIES, on="SEND", when=TALKING, if_=lambda case: case.again)
def what_is_sent_again_keeps_its_properties_and_key(case: Said) -> str:
    """Properties survive (seed, Metadata): the message is the same."""
    known, items = _known(case), case.contents[0]
    if known is None or not items or known.payload != items[0].payload or known.head is None:
        return ""
    (key, properties), (given_key, given) = known.head, items[0].head
    if (key or None, properties) == (given_key or None, given):
        return ""
    return f"the message {known.sequence} was sent again with {given_key!r:.60} {given!r:.200}, not {key!r:.60}"


def _first_in_a_name(case: Said) -> bool:
    return not case.again and not case.producer.sent and bool(case.producer.next)


@BOOK.form(ASCENDING, on="SEND", when=TALKING, if_=lambda case: not case.again and bool(case.producer.sent))
def sequence_ids_rise(case: Said) -> str:
    """Sequence ids are strictly increasing within a producer session (follows from the seed, Send)."""
    last = case.producer.sent[-1].sequence
    sequence = case.body.sequence_id
    return f"the sequence id {sequence} follows {last}" if sequence <= last else ""


@BOOK.form("PULSAR-PROD-12", on="SEND", when=TALKING, if_=_first_in_a_name)
def a_producer_goes_on_from_the_last_sequence_id_of_its_name(case: Said) -> str:
    """After ProducerSuccess.last_sequence_id = n the first new id is n + 1 (the newer protocol page)."""
    sequence, wanted = case.body.sequence_id, case.producer.next
    return (
        f"the first sequence id is {sequence}, the last one of the name was {wanted - 1}" if sequence != wanted else ""
    )


@BOOK.form("PULSAR-SEND-02", on="SEND", when=TALKING, if_=lambda case: not case.again and case.expected is not None)
def sequence_ids_count_up_from_0(case: Said) -> str:
    """Sequence ids count up from 0 (seed, Send): a recommendation."""
    sequence = case.body.sequence_id
    return f"the sequence id is {sequence}, {case.expected} is next" if sequence != case.expected else ""


# -- as it was told ----------------------------------------------------------------------------------------------------


def _told(case: Said, match: Match) -> str:
    return case.fit[1] if case.fit[0] is match else ""


@BOOK.form(WHOLE_PAYLOAD, on="SEND", when=TALKING, if_=lambda case: not case.again)
def a_message_is_one_that_the_client_was_told_to_send(case: Said) -> str:
    """The payload is all that is left of the frame (seed, Payload command), and all of what the application gave."""
    return _told(case, Match.UNASKED)


@BOOK.form(IN_ORDER, on="SEND", when=TALKING, if_=lambda case: not case.again)
def messages_are_sent_in_the_order_of_the_application(case: Said) -> str:
    """Commands on one connection are in order, per producer (follows from the seed, intro)."""
    return _told(case, Match.EARLY)


@BOOK.form(SAME_PROPERTIES, on="SEND", when=TALKING, if_=lambda case: not case.again)
def properties_and_key_are_sent_as_they_were_given(case: Said) -> str:
    """Properties survive, order and duplicates included (seed, Metadata)."""
    return _told(case, Match.CHANGED) or _told(case, Match.OTHER_KEY)


@BOOK.form("PULSAR-MD-07", on="SEND", when=TALKING, if_=lambda case: not case.again and case.keyed)
def a_key_goes_to_one_partition(case: Said) -> str:
    """On a partitioned topic messages with the same partition_key go to the same partition (seed, Metadata)."""
    return _told(case, Match.OTHER_PARTITION)
