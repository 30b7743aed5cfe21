"""The final action, and slow children. Source: 002_696459db5d1db11c.txt, "Shutdown"; what hosts do."""

from strategies.kcl import hosting
from suites.table import hunts

ROLES = ("host",)
DISCIPLINES = ("lock-step",)

test_endings = hunts("Every final action.", hosting.ENDINGS.programs, hosting.ENDINGS.interpret)
test_slow_children = hunts("A child takes its time.", hosting.SLOW.programs, hosting.SLOW.interpret, 0.5)
