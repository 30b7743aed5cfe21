"""Tuples, emits, acks and fails. Source: 000_a44a7e31e51ca0fa.txt, "Bolts"."""

import pytest

from strategies.storm import bolts

ROLES = ("bolt",)


@pytest.mark.weight(2)
def test_emits(hunt):
    """Emits of every kind from one tuple after the other."""
    hunt(bolts.EMITS.programs, bolts.EMITS.interpret)


@pytest.mark.weight(1.5)
def test_settling(hunt):
    """Tuples that stay open, and are acked and failed in any order."""
    hunt(bolts.SETTLING.programs, bolts.SETTLING.interpret)


def test_bursts(hunt):
    """Several tuples and heartbeats in one write."""
    hunt(bolts.BURSTS.programs, bolts.BURSTS.interpret)
