"""Repeated headers, limits, lingering. Source: STOMP 1.2, sections of these names."""

from strategies.stomp import misuse
from strategies.stomp.aimed import REPEATS, misusing
from suites.table import hunts

ROLES = ("server",)

test_repeated_headers = hunts("Every defined header repeated with another value.", REPEATS.programs, REPEATS.interpret)
test_limits = hunts(
    "More of everything than a server must take, and clients that come and go.",
    misuse.misuses(),
    misusing("INV-39", "LINGER-01"),
    avoids=True,
)
