"""Checkpoints. Source: 002_696459db5d1db11c.txt, "Checkpointing Behavior", "Checkpoint"."""

import pytest

from strategies.kcl import sessions

ROLES = ("child",)
DISCIPLINES = ("lock-step",)


@pytest.mark.weight(2)
def test_checkpoints(hunt):
    """Requests granted, refused and left waiting."""
    hunt(sessions.CHECKPOINTS.programs, sessions.CHECKPOINTS.interpret)
