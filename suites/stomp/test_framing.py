"""Frames and encoding. Source: 003_30478fd2f19f0da0.txt L30-42; STOMP 1.2, STOMP Frames, Value Encoding."""

from strategies.stomp import misuse, parade
from strategies.stomp.aimed import FRAMING, TEXTS, misusing
from suites.table import hunts

ROLES = ("server",)

test_frames = hunts("Frames in every way of writing them.", FRAMING.programs, FRAMING.interpret)
test_encoding = hunts(
    "Names and values with every trap of escaping, trimming and UTF-8.", TEXTS.programs, TEXTS.interpret
)
test_every_trap = hunts(
    "Every text and body with a trap in it, a stretch of the table at a time.", parade.parades(), parade.interpret, 2
)
test_broken_encoding = hunts(
    "Undefined escapes and header lines that the grammar does not know.",
    misuse.misuses(),
    misusing("INV-14", "INV-15", "INV-21", "INV-22", "INV-23", "INV-24", "INV-26", "INV-43"),
    avoids=True,
)
