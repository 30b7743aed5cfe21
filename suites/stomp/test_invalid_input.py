"""Invalid input of every kind. Source: STOMP 1.2, ERROR, and the grammar."""

import pytest

from strategies.stomp import misuse, refusals

ROLES = ("server",)


@pytest.mark.weight(3)
def test_misuses(hunt):
    """Each invalid input behind a legal session, with witnesses."""
    hunt(misuse.misuses(), misuse.interpret, avoids=True)


@pytest.mark.weight(3)
def test_refused_frames(hunt):
    """A frame that has to be refused has no effect, whatever its command and whatever is wrong with it."""
    hunt(refusals.refusals(), refusals.interpret)
