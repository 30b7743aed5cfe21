"""The final action, and the end of STDIN. Source: 002_696459db5d1db11c.txt, "Shutdown"."""

import pytest

from strategies.kcl import sessions

ROLES = ("child",)
DISCIPLINES = ("lock-step",)


@pytest.mark.weight(1.5)
def test_endings(hunt):
    """Every final action, and the end of STDIN in every state."""
    hunt(sessions.ENDINGS.programs, sessions.ENDINGS.interpret)
