"""Whole conversations with the host of a spout. Source: 000_a44a7e31e51ca0fa.txt, "Spouts"."""

import pytest

from strategies.storm import hosting

ROLES = ("spout-host",)


@pytest.mark.weight(3)
def test_sessions(hunt):
    """Legal conversations with everything in them."""
    hunt(hosting.sessions(hosting.SPOUT), hosting.interpret)
