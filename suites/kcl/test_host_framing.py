"""Lines, members and what a child writes beside them.

Source: 002_696459db5d1db11c.txt, "Action messages", "High Level Description"."""

from strategies.kcl import hosting
from suites.table import hunts

ROLES = ("host",)

test_ways_of_writing = hunts(
    "Members in every order, texts escaped in every way, octets in any pieces.",
    hosting.FRAMING.programs,
    hosting.FRAMING.interpret,
)
test_talk = hunts("Lines that mean nothing, and STDERR.", hosting.TALK.programs, hosting.TALK.interpret)
