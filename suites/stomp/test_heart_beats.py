"""Heart-beating. Source: STOMP 1.2, Heart-beating."""

import pytest

from strategies.stomp import beats

ROLES = ("server",)
DISCIPLINES = ("lock-step",)


@pytest.mark.weight(8)
def test_rhythms(hunt):
    """Agreed intervals kept and missed, by EOLs, frames and single octets."""
    hunt(beats.rhythms(), beats.interpret)
