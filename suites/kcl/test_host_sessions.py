"""Whole conversations with a host. Source: 002_696459db5d1db11c.txt, all sections."""

from strategies.kcl import hosting
from suites.table import hunts

ROLES = ("host",)

test_sessions = hunts("Legal conversations with everything in them.", hosting.sessions(), hosting.interpret, 3)
