"""Lists of task ids that come late. Source: 000_a44a7e31e51ca0fa.txt, "Bolts"."""

from strategies.storm import bolts
from suites.table import hunts

ROLES = ("bolt",)

test_withheld_lists = hunts(
    "Tuples and heartbeats come where a list is waited for.", bolts.LISTS.programs, bolts.LISTS.interpret, 2
)
