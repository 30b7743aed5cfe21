"""The final action, and slow children. Source: 002_696459db5d1db11c.txt, "Shutdown"; what hosts do."""

import pytest

from strategies.kcl import hosting

ROLES = ("host",)
DISCIPLINES = ("lock-step",)


def test_endings(hunt):
    """Every final action."""
    hunt(hosting.ENDINGS.programs, hosting.ENDINGS.interpret)


@pytest.mark.weight(0.5)
def test_slow_children(hunt):
    """A child takes its time."""
    hunt(hosting.SLOW.programs, hosting.SLOW.interpret)
