"""Lines and JSON. Source: 000_a44a7e31e51ca0fa.txt, "The Protocol"."""

from strategies.storm import spouts
from suites.table import hunts

ROLES = ("spout",)
DISCIPLINES = ("lock-step",)

test_ways_of_writing = hunts(
    "Members in every order, texts escaped in every way, lines and pieces of any length.",
    spouts.FRAMING.programs,
    spouts.FRAMING.interpret,
)
