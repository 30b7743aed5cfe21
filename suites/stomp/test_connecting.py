"""Connecting and negotiation. Source: 003_30478fd2f19f0da0.txt L43-73; STOMP 1.2, Protocol Negotiation."""

from strategies.stomp import misuse, negotiation
from strategies.stomp.aimed import misusing
from suites.table import hunts

ROLES = ("server",)

test_openings = hunts(
    "Sessions opened with every list of versions, in every order.",
    negotiation.openings(),
    negotiation.interpret,
    always_calm=True,
)
test_refused_openings = hunts(
    "CONNECT frames that need not or must not be accepted, and frames before CONNECT.",
    misuse.misuses(),
    misusing("INV-32", "INV-33", "INV-34", "INV-35", "INV-36", "INV-37", "CONNECT-03", "NEGO-02", "NEGO-05"),
    avoids=True,
)
