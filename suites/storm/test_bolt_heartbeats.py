"""Heartbeats. Source: 000_a44a7e31e51ca0fa.txt, "Handling Heartbeats"."""

import pytest

from strategies.storm import bolts

ROLES = ("bolt",)


@pytest.mark.weight(1.5)
def test_heartbeats(hunt):
    """One, several, between everything else, and what is none."""
    hunt(bolts.HEARTBEATS.programs, bolts.HEARTBEATS.interpret)
