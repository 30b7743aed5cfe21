"""What a bad child may do to its host. Source: the text is silent; the catalogue of invalid inputs."""

from strategies.storm import unruly
from suites.table import hunts

ROLES = ("bolt-host", "spout-host")
DISCIPLINES = ("lock-step",)

test_misuses = hunts(
    "Each invalid input behind a legal beginning.", unruly.misuses(), unruly.interpret, 4, avoids=True, deals=unruly.ROW
)
