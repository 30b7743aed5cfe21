"""Lines, members and what user code prints beside them.

Source: 002_696459db5d1db11c.txt, "Action messages", "High Level Description"."""

from strategies.kcl import sessions
from suites.table import hunts

ROLES = ("child",)
DISCIPLINES = ("lock-step",)

test_ways_of_writing = hunts(
    "Members in every order, texts escaped in every way, octets in any pieces.",
    sessions.FRAMING.programs,
    sessions.FRAMING.interpret,
)
test_output_of_user_code = hunts(
    "User code prints half lines and half messages.", sessions.OUTPUT.programs, sessions.OUTPUT.interpret, 1.5
)
