"""Commands, emits, ids. Source: 000_a44a7e31e51ca0fa.txt, "Spouts", "Handling Heartbeats"."""

from strategies.storm import spouts
from suites.table import hunts

ROLES = ("spout",)
DISCIPLINES = ("lock-step",)

test_emits = hunts("Emits of every kind.", spouts.EMITS.programs, spouts.EMITS.interpret, 2)
test_settling = hunts("Acks and fails for ids of every kind.", spouts.SETTLING.programs, spouts.SETTLING.interpret, 1.5)
test_commands = hunts(
    "Commands with little to do, and rests between them.", spouts.COMMANDS.programs, spouts.COMMANDS.interpret
)
