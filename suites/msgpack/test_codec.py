"""Codecs: octets to values and back. Source: MessagePack specification, Type system, Formats, Timestamp."""

from strategies.msgpack import sweeps, typed, vectors
from suites.table import hunts

ROLES = ("codec",)

test_vectors = hunts("Vectors of every kind.", vectors.vectors(), vectors.interpret, 2)
test_boundaries = hunts(
    "Every boundary of every format, alone and in containers.",
    sweeps.sweeps(),
    sweeps.vectors,
    3,
    deals=sweeps.ROW_DEALT,
)
test_formats = hunts(
    "Values of every format, in every legal encoding.",
    vectors.vectors("value", "wide", "sizes", "nested"),
    vectors.interpret,
)
test_numbers = hunts("Integers around every power of two.", vectors.vectors("number"), vectors.interpret)
test_extensions = hunts(
    "Extensions of every type and size, timestamps in their three forms and malformed.",
    vectors.vectors("ext", "stamp"),
    vectors.interpret,
)
test_no_values = hunts(
    "What is cut off, what is never used, sizes that lie; and values behind it.",
    vectors.vectors("never", "cut", "liar", "again"),
    vectors.interpret,
)
test_odd_values = hunts(
    "Text that is none, keys of every kind, great depth.", vectors.vectors("text", "keys", "deep"), vectors.interpret
)
test_messages = hunts(
    "Messages that a document declares; boundaries where the codec knows no documents.",
    typed.messages(),
    typed.interpret,
    1.5,
    deals=sweeps.ROW_DEALT,
)
test_ends = hunts(
    "Messages with the ends of every type of integers, and messages in others.",
    typed.messages("widths", "inside", most=1),
    typed.interpret,
    deals=sweeps.ROW_DEALT,
)
test_missing = hunts(
    "Messages with a field of each type, and without it.",
    typed.messages("missing", most=1),
    typed.interpret,
    deals=sweeps.ROW_DEALT,
)
