"""Tuples, emits, task ids. Source: 000_a44a7e31e51ca0fa.txt, "Bolts"."""

import pytest

from strategies.storm import hosting

ROLES = ("bolt-host",)


@pytest.mark.weight(1.5)
def test_tuples(hunt):
    """Tuples, acked and failed in any order."""
    hunt(hosting.TUPLES.programs, hosting.TUPLES.interpret)


@pytest.mark.weight(2)
def test_emits(hunt):
    """Emits of every kind, and their task ids."""
    hunt(hosting.EMITS.programs, hosting.EMITS.interpret)


@pytest.mark.weight(1.5)
def test_mixtures(hunt):
    """Everything at once."""
    hunt(hosting.MIXED.programs, hosting.MIXED.interpret)
