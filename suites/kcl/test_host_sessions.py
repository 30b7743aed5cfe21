"""Whole conversations with a host. Source: 002_696459db5d1db11c.txt, all sections."""

import pytest

from strategies.kcl import hosting

ROLES = ("host",)


@pytest.mark.weight(3)
def test_sessions(hunt):
    """Legal conversations with everything in them."""
    hunt(hosting.sessions(), hosting.interpret)
