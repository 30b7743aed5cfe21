"""What a bad child may do to a host. Source: the text is silent; the catalogue of invalid inputs."""

from strategies.kcl import unruly
from suites.table import hunts

ROLES = ("host",)
DISCIPLINES = ("lock-step",)

test_misuses = hunts(
    "Each invalid input behind a legal beginning.", unruly.misuses(), unruly.interpret, 5, avoids=True, deals=unruly.ROW
)
