"""Codecs and servers that are wrong about one value: `strategies.msgpack.sweeps` goes through all boundaries."""

from __future__ import annotations

import sys
import unicodedata

from impls.references.msgpack.codec import Codec, Decoding
from impls.references.msgpack.octets import Pairs
from impls.references.msgpack.server import Reading
from specs.msgpack import values as v
from tests.mutants.faults import on
from tests.mutants.msgpack_codec import asks_for
from tests.mutants.msgpack_codec import mutant as codec_mutant
from tests.mutants.msgpack_kit import call, mutant, plan

LARGEST = sys.float_info.max


def of_15_bits(data: bytes) -> int:
    """The size of a bin for whoever reads it as a signed number of 16 bits."""
    return len(data) & 0x7FFF if len(data) < 1 << 16 else len(data)


codec_mutant("bin-of-15-bits", "01", asks_for(b"x" * 32_768))(
    "The size of a bin is kept in 15 bits.", on(Decoding, "binary").takes(data=lambda data: data[: of_15_bits(data)])
)
codec_mutant("largest-is-infinite", "05", asks_for(v.double(LARGEST)))(
    "The largest float is taken for infinity.",
    on(Decoding, "number").takes(value=lambda value: value * 2 if value in (LARGEST, -LARGEST) else value),
)
codec_mutant("nil-in-maps-lost", "01", asks_for(v.Map((("a", None), ("b", 1)))))(
    "A pair whose value is nil is lost.",
    on(Decoding, "pairs").gives(lambda found: Pairs((key, part) for key, part in found if part is not None)),
)
codec_mutant("last-nil-lost", "01", asks_for((1, None)))(
    "An array that ends with nil loses it.",
    on(Codec, "decode").gives(lambda found: found[:-1] if type(found) is list and found[-1:] == [None] else found),
)
codec_mutant("letters-composed", "01", asks_for("e\u0301"))(
    "A letter and its accent become one character.",
    on(Decoding, "text").gives(lambda found: unicodedata.normalize("NFC", found) if isinstance(found, str) else found),
)
codec_mutant("mark-lost", "01", asks_for("\ufeffa"))(
    "A byte order mark at the beginning of a text is lost.",
    on(Decoding, "text").gives(lambda found: found.removeprefix("\ufeff") if isinstance(found, str) else found),
)
mutant("nil-in-maps-lost", "01", plan(call("echo", v.Map((("a", None), ("b", 1))))))(
    "A pair whose value is nil is lost.",
    on(Reading, "pairs").gives(lambda found: Pairs((key, part) for key, part in found if part is not None)),
)
mutant("letters-composed", "01", plan(call("echo", "e\u0301")))(
    "A letter and its accent become one character.",
    on(Reading, "text").gives(lambda found: unicodedata.normalize("NFC", found) if isinstance(found, str) else found),
)
mutant("bin-of-15-bits", "01", plan(call("echo", b"x" * 32_768)))(
    "The size of a bin is kept in 15 bits.", on(Reading, "binary").takes(data=lambda data: data[: of_15_bits(data)])
)
