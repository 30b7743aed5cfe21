"""Whole conversations with a bolt. Source: 000_a44a7e31e51ca0fa.txt, "Bolts", "Handling Heartbeats"."""

import pytest

from strategies.storm import bolts

ROLES = ("bolt",)


@pytest.mark.weight(3)
def test_sessions(hunt):
    """Legal conversations with everything in them."""
    hunt(bolts.sessions(), bolts.interpret)
