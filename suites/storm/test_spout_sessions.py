"""Whole conversations with a spout. Source: 000_a44a7e31e51ca0fa.txt, "Spouts"."""

from strategies.storm import spouts
from suites.table import hunts

ROLES = ("spout",)
DISCIPLINES = ("lock-step",)

test_sessions = hunts("Legal conversations with everything in them.", spouts.sessions(), spouts.interpret, 3)
