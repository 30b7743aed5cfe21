"""Whole sessions: everything at once, on one to three connections. Source: STOMP 1.2, all sections."""

import pytest

from strategies.stomp import sessions

ROLES = ("server",)


@pytest.mark.weight(3)
def test_sessions(hunt):
    """Legal sessions with everything in them."""
    hunt(sessions.sessions(sessions.EVERYTHING), sessions.interpret)
