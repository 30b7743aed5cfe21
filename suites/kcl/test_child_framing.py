"""Lines, members and what user code prints beside them.

Source: 002_696459db5d1db11c.txt, "Action messages", "High Level Description"."""

import pytest

from strategies.kcl import sessions

ROLES = ("child",)
DISCIPLINES = ("lock-step",)


def test_ways_of_writing(hunt):
    """Members in every order, texts escaped in every way, octets in any pieces."""
    hunt(sessions.FRAMING.programs, sessions.FRAMING.interpret)


@pytest.mark.weight(1.5)
def test_output_of_user_code(hunt):
    """User code prints half lines and half messages."""
    hunt(sessions.OUTPUT.programs, sessions.OUTPUT.interpret)
