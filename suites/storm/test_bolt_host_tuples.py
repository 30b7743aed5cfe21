"""Tuples, emits, task ids. Source: 000_a44a7e31e51ca0fa.txt, "Bolts"."""

from strategies.storm import hosting
from suites.table import hunts

ROLES = ("bolt-host",)

test_tuples = hunts("Tuples, acked and failed in any order.", hosting.TUPLES.programs, hosting.TUPLES.interpret, 1.5)
test_emits = hunts("Emits of every kind, and their task ids.", hosting.EMITS.programs, hosting.EMITS.interpret, 2)
test_mixtures = hunts("Everything at once.", hosting.MIXED.programs, hosting.MIXED.interpret, 1.5)
