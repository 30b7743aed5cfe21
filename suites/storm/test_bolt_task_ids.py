"""Lists of task ids that come late. Source: 000_a44a7e31e51ca0fa.txt, "Bolts"."""

import pytest

from strategies.storm import bolts

ROLES = ("bolt",)


@pytest.mark.weight(2)
def test_withheld_lists(hunt):
    """Tuples and heartbeats come where a list is waited for."""
    hunt(bolts.LISTS.programs, bolts.LISTS.interpret)
