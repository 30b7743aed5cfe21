"""Whole conversations with a child. Source: 002_696459db5d1db11c.txt, all sections."""

import pytest

from strategies.kcl import sessions

ROLES = ("child",)
DISCIPLINES = ("lock-step",)


@pytest.mark.weight(3)
def test_sessions(hunt):
    """Legal conversations with everything in them."""
    hunt(sessions.sessions(), sessions.interpret)
