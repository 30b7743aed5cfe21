"""Lines and JSON. Source: 000_a44a7e31e51ca0fa.txt, "The Protocol"."""

from strategies.storm import hosting
from suites.table import hunts

ROLES = ("spout-host",)

test_ways_of_writing = hunts(
    "A child that writes in every way.", hosting.SPOUT_FRAMING.programs, hosting.SPOUT_FRAMING.interpret
)
