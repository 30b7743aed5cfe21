"""Repeated headers, limits, lingering. Source: STOMP 1.2, sections of these names."""

from strategies.stomp import misuse
from strategies.stomp.aimed import REPEATS, misusing

ROLES = ("server",)


def test_repeated_headers(hunt):
    """Every defined header repeated with another value."""
    hunt(REPEATS.programs, REPEATS.interpret)


def test_limits(hunt):
    """More of everything than a server must take, and clients that come and go."""
    hunt(misuse.misuses(), misusing("INV-39", "LINGER-01"), avoids=True)
