"""Framing. Source: 001_c0ea8805bb7ed422.txt."""

from strategies.pulsar import aimed, misuse
from suites.table import hunts

ROLES = ("broker",)

test_pieces = hunts("Frames in pieces, and several in one piece.", aimed.PIECES.programs, aimed.PIECES.interpret)
test_large = hunts("Messages of nearly 5 MiB.", misuse.misuses(), misuse.big, 0.3)
