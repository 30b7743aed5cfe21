"""Whole conversations with the host of a spout. Source: 000_a44a7e31e51ca0fa.txt, "Spouts"."""

from strategies.storm import hosting
from suites.table import hunts

ROLES = ("spout-host",)

test_sessions = hunts(
    "Legal conversations with everything in them.", hosting.sessions(hosting.SPOUT), hosting.interpret, 3
)
