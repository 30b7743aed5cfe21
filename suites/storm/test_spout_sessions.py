"""Whole conversations with a spout. Source: 000_a44a7e31e51ca0fa.txt, "Spouts"."""

import pytest

from strategies.storm import spouts

ROLES = ("spout",)
DISCIPLINES = ("lock-step",)


@pytest.mark.weight(3)
def test_sessions(hunt):
    """Legal conversations with everything in them."""
    hunt(spouts.sessions(), spouts.interpret)
