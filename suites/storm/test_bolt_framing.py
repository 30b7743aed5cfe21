"""Lines and JSON. Source: 000_a44a7e31e51ca0fa.txt, "The Protocol"."""

from strategies.storm import bolts
from suites.table import hunts

ROLES = ("bolt",)

test_ways_of_writing = hunts(
    "Members in every order, texts escaped in every way, lines and pieces of any length.",
    bolts.FRAMING.programs,
    bolts.FRAMING.interpret,
)
