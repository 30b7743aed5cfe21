"""Whole conversations with the host of a bolt. Source: 000_a44a7e31e51ca0fa.txt, "Bolts"."""

import pytest

from strategies.storm import hosting

ROLES = ("bolt-host",)


@pytest.mark.weight(3)
def test_sessions(hunt):
    """Legal conversations with everything in them."""
    hunt(hosting.sessions(hosting.BOLT), hosting.interpret)
