"""Connecting and negotiation. Source: 003_30478fd2f19f0da0.txt L43-73; STOMP 1.2, Protocol Negotiation."""

from strategies.stomp import misuse, negotiation
from strategies.stomp.aimed import misusing

ROLES = ("server",)


def test_openings(hunt):
    """Sessions opened with every list of versions, in every order."""
    hunt(negotiation.openings(), negotiation.interpret, always_calm=True)


def test_refused_openings(hunt):
    """CONNECT frames that need not or must not be accepted, and frames before CONNECT."""
    names = ("INV-32", "INV-33", "INV-34", "INV-35", "INV-36", "INV-37", "CONNECT-03", "NEGO-02", "NEGO-05")
    hunt(misuse.misuses(), misusing(*names), avoids=True)
