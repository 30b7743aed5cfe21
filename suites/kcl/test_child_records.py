"""processRecords and its records. Source: 002_696459db5d1db11c.txt, "ProcessRecords", "Base 64 Encoding"."""

import pytest

from strategies.kcl import big, sessions

ROLES = ("child",)
DISCIPLINES = ("lock-step",)


@pytest.mark.weight(1.5)
def test_records(hunt):
    """Octets of every value, keys with traps, long numbers."""
    hunt(sessions.RECORDS.programs, sessions.RECORDS.interpret)


@pytest.mark.weight(0.5)
def test_big_batches(hunt):
    """Thousands of records, and lines of megabytes."""
    hunt(big.batches(), big.interpret)
