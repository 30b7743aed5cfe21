"""What a bad host may send to a bolt or a spout. Source: the text is silent; the catalogue of invalid inputs."""

from strategies.storm import misuse
from suites.table import hunts

ROLES = ("bolt", "spout")
DISCIPLINES = ("lock-step",)

test_misuses = hunts(
    "Each invalid input behind a legal beginning.", misuse.misuses(), misuse.interpret, 3, avoids=True, deals=misuse.ROW
)
