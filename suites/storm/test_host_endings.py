"""The end of the child. Source: the text is silent; "Handling Heartbeats" says what it is noticed for."""

from strategies.storm import unruly
from suites.table import hunts

ROLES = ("bolt-host", "spout-host")
DISCIPLINES = ("lock-step",)

test_endings = hunts(
    "The child ends before it has begun, idle, with something open, inside a message.",
    unruly.misuses(),
    unruly.aimed("INV-HOST-22", "HS-18", "INV-HOST-21"),
    deals=unruly.ROW,
)
