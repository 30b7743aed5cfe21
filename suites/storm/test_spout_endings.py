"""The end of STDIN. Source: the text is silent."""

from strategies.storm import spouts
from suites.table import hunts

ROLES = ("spout",)
DISCIPLINES = ("lock-step",)

test_endings = hunts("The end of STDIN in every state.", spouts.ENDINGS.programs, spouts.ENDINGS.interpret)
