"""The final action, and the end of STDIN. Source: 002_696459db5d1db11c.txt, "Shutdown"."""

from strategies.kcl import sessions
from suites.table import hunts

ROLES = ("child",)
DISCIPLINES = ("lock-step",)

test_endings = hunts(
    "Every final action, and the end of STDIN in every state.",
    sessions.ENDINGS.programs,
    sessions.ENDINGS.interpret,
    1.5,
)
