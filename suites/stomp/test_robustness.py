"""What no input may do. Source: STOMP 1.2, Conformance; beyond it, what a server owes its other clients."""

from strategies.stomp import misuse
from strategies.stomp.aimed import misusing
from suites.table import hunts

ROLES = ("server",)

test_hostile_clients = hunts(
    "Junk, cuts, floods and unknown commands; other connections go on.",
    misuse.misuses(),
    misusing("INV-25", "INV-27", "INV-28", "INV-29", "INV-30", "INV-31", "INV-40", "INV-41", "INV-42"),
    avoids=True,
)
