"""processRecords and its records. Source: 002_696459db5d1db11c.txt, "ProcessRecords", "Base 64 Encoding"."""

from strategies.kcl import big, sessions
from suites.table import hunts

ROLES = ("child",)
DISCIPLINES = ("lock-step",)

test_records = hunts(
    "Octets of every value, keys with traps, long numbers.", sessions.RECORDS.programs, sessions.RECORDS.interpret, 1.5
)
test_big_batches = hunts("Thousands of records, and lines of megabytes.", big.batches(), big.interpret, 0.5, heavy=True)
