"""Checkpoints. Source: 002_696459db5d1db11c.txt, "Checkpointing Behavior", "Checkpoint"."""

from strategies.kcl import sessions
from suites.table import hunts

ROLES = ("child",)
DISCIPLINES = ("lock-step",)

test_checkpoints = hunts(
    "Requests granted, refused and left waiting.", sessions.CHECKPOINTS.programs, sessions.CHECKPOINTS.interpret, 2
)
test_slow_user_code = hunts(
    "User code works for almost a second.", sessions.SLOW.programs, sessions.SLOW.interpret, 0.5
)
