"""Heartbeats and timeouts. Source: 000_a44a7e31e51ca0fa.txt, "Handling Heartbeats"."""

from strategies.storm import timing
from suites.table import hunts

ROLES = ("bolt-host", "spout-host")
DISCIPLINES = ("lock-step",)

test_timeouts = hunts(
    "Children that live, hang, are stopped, talk, or never begin.",
    timing.cases(),
    timing.interpret,
    3,
    always_calm=True,
)
