"""Whole sessions: everything at once, on one to three connections. Source: STOMP 1.2, all sections."""

from strategies.stomp import sessions
from suites.table import hunts

ROLES = ("server",)

test_sessions = hunts(
    "Legal sessions with everything in them.", sessions.sessions(sessions.EVERYTHING), sessions.interpret, 3
)
