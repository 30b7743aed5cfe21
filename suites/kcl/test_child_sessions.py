"""Whole conversations with a child. Source: 002_696459db5d1db11c.txt, all sections."""

from strategies.kcl import sessions
from suites.table import hunts

ROLES = ("child",)
DISCIPLINES = ("lock-step",)

test_sessions = hunts("Legal conversations with everything in them.", sessions.sessions(), sessions.interpret, 3)
