"""The end of STDIN. Source: the text is silent."""

from strategies.storm import bolts
from suites.table import hunts

ROLES = ("bolt",)
DISCIPLINES = ("lock-step",)

test_endings = hunts("The end of STDIN in every state.", bolts.ENDINGS.programs, bolts.ENDINGS.interpret)
