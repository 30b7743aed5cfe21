"""processRecords and its records. Source: 002_696459db5d1db11c.txt, "Action messages", "Base 64 Encoding"."""

from strategies.kcl import hosting
from suites.table import hunts

ROLES = ("host",)

test_records = hunts(
    "Octets of every value, keys with traps, long numbers.", hosting.RECORDS.programs, hosting.RECORDS.interpret, 1.5
)
