"""Commands, emits, ids. Source: 000_a44a7e31e51ca0fa.txt, "Spouts"."""

from strategies.storm import hosting
from suites.table import hunts

ROLES = ("spout-host",)

test_commands = hunts(
    "Commands that wait for the sync of others.", hosting.COMMANDS.programs, hosting.COMMANDS.interpret, 1.5
)
test_emits = hunts(
    "Emits of every kind, and their task ids.", hosting.SPOUT_EMITS.programs, hosting.SPOUT_EMITS.interpret, 1.5
)
test_settling = hunts(
    "Acks and fails for ids of every kind.", hosting.SETTLING.programs, hosting.SETTLING.interpret, 1.5
)
