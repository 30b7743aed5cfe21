"""What a bad host may send to a child. Source: the text is silent; the catalogue of invalid inputs."""

from strategies.kcl import misuse
from suites.table import hunts

ROLES = ("child",)
DISCIPLINES = ("lock-step",)

test_misuses = hunts(
    "Each invalid input behind a legal beginning.", misuse.misuses(), misuse.interpret, 4, avoids=True, deals=misuse.ROW
)
