"""Heart-beating. Source: STOMP 1.2, Heart-beating."""

from strategies.stomp import beats
from suites.table import hunts

ROLES = ("server",)
DISCIPLINES = ("lock-step",)

test_rhythms = hunts(
    "Agreed intervals kept and missed, by EOLs, frames and single octets.", beats.rhythms(), beats.interpret, 8
)
