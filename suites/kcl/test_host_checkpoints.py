"""Checkpoints. Source: 002_696459db5d1db11c.txt, "Checkpointing Behavior", "Checkpoint"."""

import pytest

from strategies.kcl import hosting

ROLES = ("host",)


@pytest.mark.weight(2)
def test_checkpoints(hunt):
    """Requests that succeed and fail, with numbers and without."""
    hunt(hosting.CHECKPOINTS.programs, hosting.CHECKPOINTS.interpret)
