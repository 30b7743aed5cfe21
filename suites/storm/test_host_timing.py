"""Heartbeats and timeouts. Source: 000_a44a7e31e51ca0fa.txt, "Handling Heartbeats"."""

import pytest

from strategies.storm import timing

ROLES = ("bolt-host", "spout-host")
DISCIPLINES = ("lock-step",)


@pytest.mark.weight(3)
def test_timeouts(hunt):
    """Children that live, hang, are stopped, talk, or never begin."""
    hunt(timing.cases(), timing.interpret, always_calm=True)
