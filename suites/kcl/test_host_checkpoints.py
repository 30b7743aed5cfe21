"""Checkpoints. Source: 002_696459db5d1db11c.txt, "Checkpointing Behavior", "Checkpoint"."""

from strategies.kcl import hosting
from suites.table import hunts

ROLES = ("host",)

test_checkpoints = hunts(
    "Requests that succeed and fail, with numbers and without.",
    hosting.CHECKPOINTS.programs,
    hosting.CHECKPOINTS.interpret,
    2,
)
