"""Heart-beating. Source: STOMP 1.2, Heart-beating."""

from strategies.stomp import beats
from suites.table import hunts

ROLES = ("server",)
DISCIPLINES = ("lock-step",)

test_pointed_rhythms = hunts(
    "Heart-beats, and what is easily taken for them.", beats.pointed(), beats.keeping, 3, deals=beats.ROW
)
test_rhythms = hunts(
    "Agreed intervals kept and missed, by EOLs, frames and single octets.", beats.rhythms(), beats.interpret, 6
)
