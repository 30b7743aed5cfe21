"""Whole conversations with a bolt. Source: 000_a44a7e31e51ca0fa.txt, "Bolts", "Handling Heartbeats"."""

from strategies.storm import bolts
from suites.table import hunts

ROLES = ("bolt",)

test_sessions = hunts("Legal conversations with everything in them.", bolts.sessions(), bolts.interpret, 3)
