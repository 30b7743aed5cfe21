"""What the frames of a client call for, as closed sets: what was asked, what a client must not say, and ways to SEND
that must not matter. Each member names the requirement that says what a broker makes of it.

Source: 001_c0ea8805bb7ed422.txt, "Interactions"; catalogue of invalid inputs.
"""

from __future__ import annotations

from enum import Enum

from specs.pulsar.machine import BEFORE_CONNECT, LOOKUP_BEFORE_CONNECT, SECOND_CONNECT

SIZES_LIE = "PULSAR-FRM-14"
"""Sizes that contradict each other are detected."""
_ACKS = "PULSAR-INV-BROKER-34"
_CUMULATIVE = "PULSAR-INV-BROKER-35"
_NO_CONSUMER, _NO_PRODUCER, _UNKNOWN_ID = "PULSAR-CLC-04", "PULSAR-CLP-08", "PULSAR-INV-BROKER-39"
_BAD_TOPIC, _NO_TOPIC = "PULSAR-INV-BROKER-29", "PULSAR-LOOK-09"
_LOOKED_UP, _SUBSCRIBE, _UNSUBSCRIBE = "PULSAR-LOOK-08", "PULSAR-SUB-01", "PULSAR-SUB-13"


class Misuse(Enum):
    """What the tester said that a client must not say. `requirement` says what a broker makes of it, `beside` what is
    the same in other words, and `liberty` how much a broker may do after it: see the constants below. None: it must end
    the connection."""

    requirement: str
    beside: tuple[str, ...]
    liberty: int

    def __init__(self, ids: str, liberty: int) -> None:
        self.requirement, *beside = ids.split()
        self.beside, self.liberty = tuple(beside), liberty

    __hash__ = object.__hash__

    EARLY = BEFORE_CONNECT, 3
    EARLY_LOOKUP = LOOKUP_BEFORE_CONNECT, 3
    TWICE = SECOND_CONNECT, 3
    CREDENTIALS = "PULSAR-CONN-04 PULSAR-INV-BROKER-03", 3
    OVER_LIMIT = "PULSAR-FRM-10 PULSAR-INV-BROKER-05", 3
    SIZES = f"PULSAR-INV-BROKER-06 {SIZES_LIE}", 3
    LYING_SEND = f"{SIZES_LIE} PULSAR-INV-BROKER-14", 3
    NO_FRAME = "PULSAR-FRM-13", 3
    NO_COMMAND = "PULSAR-INV-BROKER-08", 3
    NO_SUB_MESSAGE = "PULSAR-INV-BROKER-10", 3
    FROM_BROKER = "PULSAR-INV-BROKER-12", 3
    OCTETS_BEHIND = "PULSAR-INV-BROKER-07", 3
    UNKNOWN_TYPE = "PULSAR-INV-BROKER-09", 3
    TWO_SUB_MESSAGES = "PULSAR-INV-BROKER-11", 3
    FLOW_OF_NOTHING = "PULSAR-INV-BROKER-32", 3
    TOO_MANY_PERMITS = "PULSAR-INV-BROKER-33", 3
    ACK_OF_NOTHING = _CUMULATIVE, 3
    HALF_CLOSED = "PULSAR-INV-BROKER-44", 3
    SEND_OF_NOBODY = "PULSAR-SEND-11 PULSAR-INV-BROKER-18", 2
    SEND_BEHIND_CLOSE = "PULSAR-CLP-01 PULSAR-INV-BROKER-19", 2
    MISCOUNTED = "PULSAR-INV-BROKER-16", 2
    BROKEN_BATCH = "PULSAR-INV-BROKER-17", 2
    FALLING = "PULSAR-INV-BROKER-20", 2
    LOW_HIGHEST = "PULSAR-INV-BROKER-22", 2
    PRODUCER_IN_USE = "PULSAR-INV-BROKER-23", 2
    PRODUCER_PENDING = "PULSAR-INV-BROKER-24", 2
    CONSUMER_IN_USE = "PULSAR-INV-BROKER-26", 2
    CHECKSUM = "PULSAR-CHK-05 PULSAR-INV-BROKER-13", 1
    FLOW_OF_NOBODY = "PULSAR-INV-BROKER-31", 1
    ACK_OF_NOBODY = _ACKS, 1
    REDELIVER_OF_NOBODY = "PULSAR-INV-BROKER-37", 1
    REQUEST_AGAIN = "PULSAR-INV-BROKER-42", 1
    UNSUBSCRIBE_OF_NOBODY = "PULSAR-INV-BROKER-38", 1
    CUMULATIVE = f"PULSAR-ACK-07 {_CUMULATIVE}", 1
    CLOSE_OF_NO_CONSUMER = f"{_NO_CONSUMER} {_UNKNOWN_ID}", 1
    CLOSE_OF_NO_PRODUCER = f"{_NO_PRODUCER} {_UNKNOWN_ID}", 1
    STRANGE_ACK = f"PULSAR-ACK-05 {_ACKS}", 0
    ACK_OF_OTHERS = "PULSAR-INV-BROKER-36", 0
    SEND_WITHOUT_PAYLOAD = "PULSAR-INV-BROKER-15", 0

    @property
    def stays(self) -> tuple[str, ...]:
        """What a connection breaks that stays open: what has no effect before CONNECT, and what is refused behind it,
        may be passed over, which misses a recommendation (P-97)."""
        return (
            self.beside
            if self in (Misuse.EARLY, Misuse.EARLY_LOOKUP, Misuse.TWICE)
            else (self.requirement, *self.beside)
        )


SURVIVES, LISTENS, DEAF = 1, 2, 3
"""Liberties after a misuse. A broker should survive it: to end the connection is to miss a recommendation. It may end
the connection, but if it does not, it answers whatever comes behind it. It may end the connection, or stop to
listen."""
ODD_SENDS = (Misuse.MISCOUNTED, Misuse.BROKEN_BATCH, Misuse.FALLING, Misuse.LOW_HIGHEST)
"""SENDs that a broker may take or leave: what they say of themselves is not true, or not in order."""


class Trait(Enum):
    """A way to SEND that must not matter; the value is the requirement that says so."""

    __hash__ = object.__hash__

    BARE = "PULSAR-CHK-08"
    UNKNOWN = "PULSAR-FRM-12"
    BIG = "PULSAR-FRM-08"
    PIECES = "PULSAR-FRM-07"
    PROPERTIES = "PULSAR-MD-04"
    COMPRESSED = "PULSAR-CMP-01"
    BATCHED = "PULSAR-BAT-06"


class Asked(Enum):
    """What was asked, in the circumstance that decides the answer: the requirement, those beside it, the kind of the
    request, and what must come: the answer, ERROR, or either of them."""

    requirement: str
    beside: tuple[str, ...]
    kind: str
    want: str

    def __init__(self, ids: str, kind: str, want: str = "success") -> None:
        self.requirement, *beside = ids.split()
        self.beside, self.kind, self.want = tuple(beside), kind, want

    __hash__ = object.__hash__

    PRODUCER = "PULSAR-PROD-02", "PRODUCER"
    PRODUCER_AGAIN = "PULSAR-CLP-04", "PRODUCER"
    PRODUCER_LOOKED_UP = _LOOKED_UP, "PRODUCER"
    PRODUCER_DENIED = "PULSAR-PROD-08", "PRODUCER", "error"
    PRODUCER_NAME_TAKEN = "PULSAR-PROD-09 PULSAR-INV-BROKER-25", "PRODUCER", "error"
    PRODUCER_BAD_TOPIC = f"PULSAR-PROD-10 {_BAD_TOPIC}", "PRODUCER", "error"
    PRODUCER_IN_USE = Misuse.PRODUCER_IN_USE.requirement, "PRODUCER", "either"
    PRODUCER_PENDING = Misuse.PRODUCER_PENDING.requirement, "PRODUCER", "either"
    SUBSCRIBE = _SUBSCRIBE, "SUBSCRIBE"
    SUBSCRIBE_NEW = "PULSAR-SUB-02", "SUBSCRIBE"
    SUBSCRIBE_NAMELESS = "PULSAR-SUB-12", "SUBSCRIBE"
    SUBSCRIBE_LOOKED_UP = _LOOKED_UP, "SUBSCRIBE"
    SUBSCRIBE_SHARED = "PULSAR-SUB-07", "SUBSCRIBE"
    SUBSCRIBE_EXCLUSIVE_TAKEN = "PULSAR-SUB-05 PULSAR-INV-BROKER-27", "SUBSCRIBE", "error"
    SUBSCRIBE_OTHER_TYPE = "PULSAR-SUB-11 PULSAR-INV-BROKER-28", "SUBSCRIBE", "error"
    SUBSCRIBE_BAD_TOPIC = _BAD_TOPIC, "SUBSCRIBE", "error"
    SUBSCRIBE_UNNAMED = "PULSAR-INV-BROKER-30", "SUBSCRIBE", "either"
    SUBSCRIBE_IN_USE = Misuse.CONSUMER_IN_USE.requirement, "SUBSCRIBE", "either"
    UNSUBSCRIBE = _UNSUBSCRIBE, "UNSUBSCRIBE"
    UNSUBSCRIBE_AMONG_OTHERS = _UNSUBSCRIBE, "UNSUBSCRIBE", "error"
    UNSUBSCRIBE_NOBODY = Misuse.UNSUBSCRIBE_OF_NOBODY.requirement, "UNSUBSCRIBE", "error"
    CLOSE_CONSUMER = "PULSAR-CLC-01", "CLOSE_CONSUMER"
    CLOSE_NO_CONSUMER = f"{_NO_CONSUMER} {_UNKNOWN_ID}", "CLOSE_CONSUMER", "either"
    CLOSE_PRODUCER = "PULSAR-CLP-03", "CLOSE_PRODUCER"
    CLOSE_NO_PRODUCER = f"{_NO_PRODUCER} {_UNKNOWN_ID}", "CLOSE_PRODUCER", "either"
    LOOKUP = "PULSAR-LOOK-02", "LOOKUP"
    LOOKUP_BAD_TOPIC = f"{_NO_TOPIC} {_BAD_TOPIC}", "LOOKUP", "error"
    PARTITIONS = "PULSAR-PART-01", "PARTITIONED_METADATA"
    PARTITIONS_BAD_TOPIC = f"{_NO_TOPIC} {_BAD_TOPIC}", "PARTITIONED_METADATA", "error"
    SEEK = "PULSAR-SEEK-01", "SEEK"
    SEEK_NOWHERE = "PULSAR-INV-BROKER-41", "SEEK", "error"
    STATS = "PULSAR-STAT-01", "CONSUMER_STATS"
    STATS_OF_NOBODY = "PULSAR-INV-BROKER-40", "CONSUMER_STATS", "error"
    LAST = "PULSAR-LAST-01", "GET_LAST_MESSAGE_ID"
    ACK = "PULSAR-ACK-10", "ACK", "either"
    TOPICS = "PULSAR-REQ-02", "GET_TOPICS_OF_NAMESPACE"
