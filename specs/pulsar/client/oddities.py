"""What a broker must not say to a client, or need not: the rows of invalid input, and what a client makes of each.

Source: docs/ambiguities.md, "What a client may do"; 001_c0ea8805bb7ed422.txt, "Ack" (validation_error).
"""

from __future__ import annotations

from enum import Enum

NOT_DECOMPRESSED = "PULSAR-CMP-02"
"""A payload that cannot be decompressed is not delivered, and acknowledged with DecompressionError."""
BARE = "PULSAR-CHK-08"
"""A message without magic and checksum is accepted."""
UNKNOWN_CONSUMER = "PULSAR-MSG-04"
"""A MESSAGE for a consumer that is not there is ignored."""

REFUSED_SIZE = "PULSAR-FRM-10"
"""A frame over the maximum is refused without waiting for all its bytes."""
SIZES = "PULSAR-FRM-14"
"""Sizes that contradict each other are detected."""
OLDEST_RECEIPT = "PULSAR-SEND-15"
"""At a receipt for another message than the oldest open one the client may connect anew (P-98)."""


class Unreadable(Enum):
    """Why a message cannot be read: what must not be broken, what should be done, and the validation_error to give.

    `kept`: it is not given to the application. `refused`: it is acknowledged with the error.
    """

    kept: str
    refused: str
    error: int

    def __init__(self, kept: str, refused: str, error: int) -> None:
        self.kept, self.refused, self.error = kept, refused, error

    __hash__ = object.__hash__

    SIZE = NOT_DECOMPRESSED, "PULSAR-CMP-03", 0
    COMPRESSION = NOT_DECOMPRESSED, NOT_DECOMPRESSED, 1
    CHECKSUM = "PULSAR-CHK-06", "PULSAR-CHK-07", 2
    BATCH = "PULSAR-BAT-08", "PULSAR-BAT-09", 3


HARMLESS = "PULSAR-REQ-04"
"""An answer to an unknown request id does no harm."""
SURVIVES = "PULSAR-FRM-13"
"""A frame that cannot be parsed ends the connection, never the process."""


class Oddity(Enum):
    """A row of invalid input. `unread`: what it breaks to give it to the application."""

    row: str
    unread: str

    def __init__(self, row: str, unread: str = "") -> None:
        self.row, self.unread = row, unread

    __hash__ = object.__hash__

    @property
    def death(self) -> str:
        """The end of a client behind it, as an action."""
        return f"ends behind {self.name}"

    @property
    def dead(self) -> tuple[str, ...]:
        """What it breaks to die of it. A message that cannot be read is dropped (seed, Ack), and a frame that cannot be
        parsed ends no process. Of the rest the text says nothing, unless it says that it is ignored."""
        if self is Oddity.UNKNOWN_REQUEST:
            return HARMLESS, self.row
        if self is Oddity.NO_CONSUMER:
            return self.row, UNKNOWN_CONSUMER
        return (SURVIVES, self.row) if self in UNPARSABLE else (self.unread, self.row) if self.unread else (self.row,)

    CHECKSUM = "PULSAR-INV-CLIENT-01", Unreadable.CHECKSUM.kept
    NO_CHECKSUM = ("PULSAR-INV-CLIENT-02",)
    OTHER_MAGIC = ("PULSAR-INV-CLIENT-03",)
    BROKER_METADATA = ("PULSAR-INV-CLIENT-04",)
    METADATA_SIZE = ("PULSAR-INV-CLIENT-05",)
    NO_PAYLOAD = ("PULSAR-INV-CLIENT-06",)
    NO_CONSUMER = "PULSAR-INV-CLIENT-07", UNKNOWN_CONSUMER
    ZLIB_GARBAGE = "PULSAR-INV-CLIENT-08", NOT_DECOMPRESSED
    LZ4_GARBAGE = "PULSAR-INV-CLIENT-09", NOT_DECOMPRESSED
    WRONG_SIZE = "PULSAR-INV-CLIENT-10", NOT_DECOMPRESSED
    BATCH_TOO_SHORT = "PULSAR-INV-CLIENT-11", Unreadable.BATCH.kept
    BATCH_METADATA_SIZE = "PULSAR-INV-CLIENT-12", Unreadable.BATCH.kept
    BATCH_PAYLOAD_SIZE = "PULSAR-INV-CLIENT-13", Unreadable.BATCH.kept
    BATCH_NEGATIVE_SIZE = "PULSAR-INV-CLIENT-14", Unreadable.BATCH.kept
    OVER_LIMIT = ("PULSAR-INV-CLIENT-15",)
    EMPTY_FRAME = ("PULSAR-INV-CLIENT-16",)
    NO_COMMAND = ("PULSAR-INV-CLIENT-17",)
    OCTETS_BEHIND = ("PULSAR-INV-CLIENT-18",)
    NO_SUB_MESSAGE = ("PULSAR-INV-CLIENT-19",)
    TWO_SUB_MESSAGES = ("PULSAR-INV-CLIENT-20",)
    UNKNOWN_REQUEST = ("PULSAR-INV-CLIENT-21",)
    ERROR_OF_NOTHING = ("PULSAR-INV-CLIENT-22",)
    UNKNOWN_CLOSE = ("PULSAR-INV-CLIENT-23",)
    OUT_OF_PLACE = ("PULSAR-INV-CLIENT-24",)
    END_OF_TOPIC = ("PULSAR-INV-CLIENT-25",)
    CONNECT_REFUSED = ("PULSAR-INV-CLIENT-26",)
    CHALLENGE = ("PULSAR-INV-CLIENT-27",)
    EARLY_PING = ("PULSAR-INV-CLIENT-28",)
    UNKNOWN_RECEIPT = ("PULSAR-INV-CLIENT-29",)
    RECEIPT_AHEAD = ("PULSAR-INV-CLIENT-30",)
    SEND_CHECKSUM = ("PULSAR-INV-CLIENT-31",)
    SEND_REFUSED = ("PULSAR-INV-CLIENT-32",)
    SUBSCRIBE_REFUSED = ("PULSAR-INV-CLIENT-33",)
    PRODUCER_REFUSED = ("PULSAR-INV-CLIENT-34",)
    OVER_PERMITS = ("PULSAR-INV-CLIENT-35",)


UNPARSABLE = frozenset((
    Oddity.OTHER_MAGIC, Oddity.METADATA_SIZE, Oddity.NO_PAYLOAD, Oddity.OVER_LIMIT, Oddity.EMPTY_FRAME,
    Oddity.NO_COMMAND, Oddity.NO_SUB_MESSAGE,
))  # fmt: skip
"""Octets that are no frame, and frames whose parts do not fit."""
PASSED_OVER = (Oddity.UNKNOWN_CLOSE, Oddity.UNKNOWN_RECEIPT)
"""Nobody says what a client does about consumers and producers that it has not: it should not mind."""
