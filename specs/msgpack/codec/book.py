"""The rulebook of a codec, and what a question can be about.

Source: MessagePack specification. Questions are answered in their order; a question carries what its answer must be:
"value" (what the octets stand for), "error", "either", or "free".
"""

from __future__ import annotations

from collections.abc import Mapping

from specs.msgpack.changes import (
    CUT_OFF,
    EXTENSIONS,
    FLOATS,
    INTEGERS,
    KEYS,
    NOT_UTF8,
    SMALLEST,
    TEXT_OR_BINARY,
    TIMESTAMPS,
)
from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.server.causes import GAPS, LONGER, OMITTED_IS_DEFAULT, OPTIONAL, WIDE_INTEGERS
from specs.msgpack.lines import Ask
from specs.msgpack.machine import CODEC, LIMITS, READ
from specs.msgpack.registry import REQUIREMENTS
from specs.rules import Rulebook

BOOK = Rulebook("codec", REQUIREMENTS, CODEC)

NEVER_USED = "MP-FMT-03"
SAME_VALUE = Promise.SAME_VALUE.value
VECTORS: Mapping[str, str] = {
    "": READ, "01": READ, "02": SMALLEST, "03": NEVER_USED, "04": INTEGERS, "05": FLOATS, "06": TEXT_OR_BINARY,
    "07": NOT_UTF8, "08": EXTENSIONS, "09": TIMESTAMPS, "10": CUT_OFF, "11": LIMITS, "12": KEYS,
}  # fmt: skip
"""What a question about octets is about, by the word that plans have for it (`Ask.rule`)."""
MESSAGES: Mapping[str, str] = {
    "": SAME_VALUE, "ENC-01": SAME_VALUE, "ENC-03": Promise.MISSING.value, "ENC-04": Promise.NIL.value,
    "ENC-05": OPTIONAL, "ENC-06": LONGER, "ENC-07": Promise.WIDTH.value, "ENC-08": WIDE_INTEGERS, "ENC-10": GAPS,
    "DEF-04": OMITTED_IS_DEFAULT,
}  # fmt: skip
"""What a question about a message of a document is about, likewise."""
ANY_VECTOR = " ".join(dict.fromkeys(VECTORS.values()))
ANY_MESSAGE = " ".join(dict.fromkeys(MESSAGES.values()))


def subject(ask: Ask) -> str:
    """The requirement that a question is about."""
    return MESSAGES[ask.rule] if ask.way == "idl" else VECTORS[ask.rule]


def shown(ask: Ask) -> str:
    """A question about octets, for people."""
    return f"{ask.op} of {ask.octets[:60].hex()}{'…' if len(ask.octets) > 60 else ''}"
