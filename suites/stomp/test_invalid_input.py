"""Invalid input of every kind. Source: STOMP 1.2, ERROR, and the grammar."""

import pytest

from strategies.stomp import misuse

ROLES = ("server",)


@pytest.mark.weight(3)
def test_misuses(hunt):
    """Each invalid input behind a legal session, with witnesses."""
    hunt(misuse.misuses(), misuse.interpret, avoids=True)
