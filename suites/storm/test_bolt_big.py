"""Big tuples. Source: the text is silent about how big a message may be."""

import pytest

from strategies.storm import big

ROLES = ("bolt",)
DISCIPLINES = ("lock-step",)


@pytest.mark.weight(0.5)
def test_big_tuples(hunt):
    """Lines of kilobytes and megabytes."""
    hunt(big.tuples(), big.interpret)
