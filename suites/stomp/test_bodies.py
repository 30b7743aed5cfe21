"""Bodies, content-length, content-type. Source: STOMP 1.2, Body, Header content-length, content-type."""

from strategies.stomp import misuse
from strategies.stomp.aimed import LAWS, misusing
from suites.table import hunts

ROLES = ("server",)

test_bodies = hunts(
    "Octets of every value, with and without content-length.",
    LAWS["M-9 content-length"].programs,
    LAWS["M-9 content-length"].interpret,
)
test_wrong_lengths = hunts(
    "content-length that does not fit, is no number, or comes before the octets it counts.",
    misuse.misuses(),
    misusing("INV-16", "INV-17", "INV-18", "INV-19", "INV-20", "CLEN-08"),
    avoids=True,
)
