"""Whole sessions: everything at once, on one to three connections."""

from strategies.stomp import sessions

ROLES = ("server",)


def test_sessions(hunt):
    hunt(sessions.sessions(), sessions.interpret)
