"""Commands, emits, ids. Source: 000_a44a7e31e51ca0fa.txt, "Spouts"."""

import pytest

from strategies.storm import hosting

ROLES = ("spout-host",)


@pytest.mark.weight(1.5)
def test_commands(hunt):
    """Commands that wait for the sync of others."""
    hunt(hosting.COMMANDS.programs, hosting.COMMANDS.interpret)


@pytest.mark.weight(1.5)
def test_emits(hunt):
    """Emits of every kind, and their task ids."""
    hunt(hosting.SPOUT_EMITS.programs, hosting.SPOUT_EMITS.interpret)


@pytest.mark.weight(1.5)
def test_settling(hunt):
    """Acks and fails for ids of every kind."""
    hunt(hosting.SETTLING.programs, hosting.SETTLING.interpret)
