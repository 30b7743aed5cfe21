"""Commands, emits, ids. Source: 000_a44a7e31e51ca0fa.txt, "Spouts", "Handling Heartbeats"."""

import pytest

from strategies.storm import spouts

ROLES = ("spout",)
DISCIPLINES = ("lock-step",)


@pytest.mark.weight(2)
def test_emits(hunt):
    """Emits of every kind."""
    hunt(spouts.EMITS.programs, spouts.EMITS.interpret)


@pytest.mark.weight(1.5)
def test_settling(hunt):
    """Acks and fails for ids of every kind."""
    hunt(spouts.SETTLING.programs, spouts.SETTLING.interpret)


def test_commands(hunt):
    """Commands with little to do, and rests between them."""
    hunt(spouts.COMMANDS.programs, spouts.COMMANDS.interpret)
