"""Tuples, emits, acks and fails. Source: 000_a44a7e31e51ca0fa.txt, "Bolts"."""

from strategies.storm import bolts
from suites.table import hunts

ROLES = ("bolt",)

test_emits = hunts(
    "Emits of every kind from one tuple after the other.", bolts.EMITS.programs, bolts.EMITS.interpret, 2
)
test_settling = hunts(
    "Tuples that stay open, and are acked and failed in any order.",
    bolts.SETTLING.programs,
    bolts.SETTLING.interpret,
    1.5,
)
test_bursts = hunts("Several tuples and heartbeats in one write.", bolts.BURSTS.programs, bolts.BURSTS.interpret)
