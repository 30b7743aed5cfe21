"""Ways of saying the same thing that must not matter. Source: STOMP 1.2, all sections."""

import pytest

from strategies.stomp.aimed import LAWS

ROLES = ("server",)


@pytest.mark.weight(0.7)
@pytest.mark.parametrize("law", list(LAWS))
def test_law(hunt, law):
    """A session said in another way has the same allowed results."""
    hunt(LAWS[law].programs, LAWS[law].interpret)
