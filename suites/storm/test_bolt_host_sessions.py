"""Whole conversations with the host of a bolt. Source: 000_a44a7e31e51ca0fa.txt, "Bolts"."""

from strategies.storm import hosting
from suites.table import hunts

ROLES = ("bolt-host",)

test_sessions = hunts(
    "Legal conversations with everything in them.", hosting.sessions(hosting.BOLT), hosting.interpret, 3
)
