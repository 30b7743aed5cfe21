"""processRecords and its records. Source: 002_696459db5d1db11c.txt, "Action messages", "Base 64 Encoding"."""

import pytest

from strategies.kcl import hosting

ROLES = ("host",)


@pytest.mark.weight(1.5)
def test_records(hunt):
    """Octets of every value, keys with traps, long numbers."""
    hunt(hosting.RECORDS.programs, hosting.RECORDS.interpret)
