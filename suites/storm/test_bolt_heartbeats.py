"""Heartbeats. Source: 000_a44a7e31e51ca0fa.txt, "Handling Heartbeats"."""

from strategies.storm import bolts
from suites.table import hunts

ROLES = ("bolt",)

test_heartbeats = hunts(
    "One, several, between everything else, and what is none.",
    bolts.HEARTBEATS.programs,
    bolts.HEARTBEATS.interpret,
    1.5,
)
