"""What every frame of a client must be, whatever it says: topics "simple frame" and "payload frame".

Source: 001_c0ea8805bb7ed422.txt, "Framing", "Connection establishment", "Producer".
"""

from __future__ import annotations

from specs.pulsar.client.book import BOOK
from specs.pulsar.client.case import Said
from specs.pulsar.client.machine import ONE_COMMAND, REQUESTS, TALKING
from specs.pulsar.client.oddities import SIZES
from specs.pulsar.client.state import FAMILY

SINCE = {
    "PING": 1, "REDELIVER_UNACKNOWLEDGED_MESSAGES": 2, "CONSUMER_STATS": 8, "GET_LAST_MESSAGE_ID": 12,
    "GET_TOPICS_OF_NAMESPACE": 12, "AUTH_RESPONSE": 14, "GET_SCHEMA": 13, "GET_OR_CREATE_SCHEMA": 15,
}  # fmt: skip
"""Commands that a broker of an older version does not know. SEEK came without a version of its own; PONG answers
PING."""
NEWEST = max(SINCE.values())
FRAMES = "simple frame, payload frame"
OLD_BROKER = "PULSAR-VER-02"
"""No command newer than the broker's version is sent to it."""


@BOOK.form(ONE_COMMAND, on=FRAMES)
def a_frame_has_one_command(case: Said) -> str:
    """Only one sub-message is set, and type names it (seed, intro)."""
    return "" if case.frame.whole else f"{case.kind} with more than one sub-message"


@BOOK.form("PULSAR-FRM-03", on="simple frame")
def nothing_is_behind_a_simple_command(case: Said) -> str:
    """Simple frame: TOTAL_SIZE = CMD_SIZE + 4 (seed, Simple command)."""
    return f"{case.kind}: {case.frame.odd}" if case.frame.odd else ""


@BOOK.form("PULSAR-CHK-01", on="payload frame", if_=lambda case: case.frame.rest)
def the_checksum_has_four_octets(case: Said) -> str:
    """Four octets, big-endian: the seed's two are an erratum (docs/ambiguities.md). With two, the metadata end in
    place."""
    rest = case.frame.rest
    fits = rest[:2] == b"\x0e\x01" and 8 + int.from_bytes(rest[4:8], "big") <= len(rest)
    return "the checksum of a SEND has two octets" if fits else ""


@BOOK.form(SIZES, on="payload frame")
def the_sizes_in_a_payload_frame_agree(case: Said) -> str:
    """METADATA_SIZE is not beyond the frame (seed, Payload command)."""
    return f"SEND: {case.frame.odd}" if case.frame.odd else ""


@BOOK.form("PULSAR-VER-04", on=FRAMES, when=TALKING, also=OLD_BROKER,
           if_=lambda case: case.line.version == 0 and not case.foreign)  # fmt: skip
def a_broker_that_names_no_version_is_of_version_0(case: Said) -> str:
    """Absent protocol_version counts as 0 (follows from the seed, Connect)."""
    return f"{case.kind} to a broker that names no version" if SINCE.get(case.kind, 0) else ""


@BOOK.form(OLD_BROKER, on=FRAMES, when=TALKING, if_=lambda case: case.line.speaks_version < NEWEST or case.foreign)
def a_command_is_one_that_the_broker_knows(case: Said) -> str:
    """No command newer than the broker's version is sent to it (seed, Connect), and none that only a broker says."""
    if case.foreign:
        return f"{case.kind} from a client"
    if SINCE.get(case.kind, 0) > case.line.speaks_version:
        return f"{case.kind} to a broker of version {case.line.version}"
    return ""


@BOOK.form("PULSAR-PROD-04", on="simple frame", when=TALKING, if_=lambda case: case.kind in REQUESTS)
def a_request_has_a_number_of_its_own(case: Said) -> str:
    """Request ids are unique within LOOKUP, within PARTITIONED_METADATA, and within the rest (seed, Producer)."""
    number = case.body.request_id
    used = (FAMILY.get(case.kind, "rest"), number) in case.line.used
    return f"the request id {number} is used twice" if used else ""
